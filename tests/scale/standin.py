"""The small API server with a full cluster, and what is told of its objects as they change.

What must hold: every wait has a bound, and only the process that was started here is stopped.
"""
import json
import os
import re
import socket
import subprocess
import threading
import time

import checks
import cluster
import kube

SPACE = "waiting"  # the namespace of the pods that are to be placed: behind the cluster's, where new ones cost least
PODS = "/api/v1/namespaces/%s/pods" % SPACE
BATCH = 400        # pods in one request that creates many


class StandIn:
    def __init__(self, directory, nodes, pods, patience=600):
        os.makedirs(directory, exist_ok=True)
        self.port_file, self.kubeconfig = os.path.join(directory, "port"), os.path.join(directory, "kubeconfig")
        if os.path.exists(self.port_file):
            os.unlink(self.port_file)
        self.log = os.path.join(directory, "apiserver.log")
        begun = time.monotonic()
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [cluster.SmallCluster.PROGRAM, "--fill", "nodes=%d,pods=%d" % (nodes, pods), "--kubelet", "none",
                 "--watch-history", "65536", "--port-file", self.port_file, "--write-kubeconfig", self.kubeconfig],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        try:
            checks.wait_until(patience, lambda: os.path.exists(self.port_file) or self.process.poll() is not None,
                              "the stand-in is not filled")
            if self.process.poll() is not None:
                raise RuntimeError("the stand-in ended, see " + self.log)
        except BaseException:
            self.stop()
            raise
        self.nodes = nodes
        self.filled_s = time.monotonic() - begun
        with open(self.port_file) as file:
            self.port = int(file.read())
        self.client = kube.Client(self.kubeconfig)
        self.client.create("/api/v1/namespaces", {"metadata": {"name": SPACE}})

    @property
    def pid(self):
        return self.process.pid

    def create(self, texts):
        """Objects, each as JSON, a request for each BATCH; created by the stand-in in one go each."""
        for first in range(0, len(texts), BATCH):
            self.client.create("/fill", '{"items":[%s]}' % ",".join(texts[first:first + BATCH]))

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(20)


class Changes:
    """What a watch tells, as it comes: each line's version, and what a pattern finds in it.

    The stream is read as HTTP/1.0, which has no chunks, and no line is parsed as JSON: at thousands of events a
    second a harness that does more would be what is measured.
    """

    def __init__(self, standin, path, pattern):
        self.pattern, self.seen, self.changed = re.compile(pattern), [], threading.Condition()
        self.socket = socket.create_connection(("127.0.0.1", standin.port), 30)
        version = standin.client.get("/api/v1/namespaces?limit=1")["metadata"]["resourceVersion"]
        self.socket.sendall(("GET %s%swatch=true&resourceVersion=%s HTTP/1.0\r\nHost: localhost\r\n\r\n" % (
            path, "&" if "?" in path else "?", version)).encode())
        self.socket.settimeout(None)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        rest = b""
        while True:
            try:
                data = self.socket.recv(1 << 18)
            except OSError:
                return
            if not data:
                return
            now = time.time()
            lines = (rest + data).split(b"\n")
            rest = lines.pop()
            found = [self.found(line, now) for line in lines]
            with self.changed:
                self.seen += [one for one in found if one]
                self.changed.notify_all()

    def found(self, line, now):
        match = self.pattern.search(line)
        version = re.search(rb'"resourceVersion":"(\d+)"', line)
        return (now, int(version.group(1)), match.group(1).decode()) if match and version else None

    def wait(self, seconds, condition):
        """The first value of condition(what was seen) that is true; a failure when there is none in time."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while True:
                value = condition(self.seen)
                if value:
                    return value
                left = deadline - time.monotonic()
                checks.expect(left > 0, "what was waited for did not come within %g s (%d changes)", seconds,
                              len(self.seen))
                self.changed.wait(left)

    def stop(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.thread.join(10)
        self.socket.close()


def binds(standin):
    """Pods of the namespace as they get a node: each once, as one without a node is not told of."""
    return Changes(standin, PODS + "?fieldSelector=spec.nodeName!%3D", rb'"name":"([^"]+)"')


def leases(standin):
    """Who holds the lease, whenever it is written."""
    return Changes(standin, kube.LEASES, rb'"holderIdentity":"([^"]*)"')


def ceiling(standin, count, connections=4, window=32):
    """Pods a second that the stand-in itself can do: Binding and event of each, requests sent ahead of the answers."""
    names = ["ceiling-%06d" % i for i in range(count)]
    standin.create([json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": SPACE},
                                "spec": {"schedulerName": "nobody", "containers": [
                                    {"name": "c", "image": "i"}]}}) for name in names])
    watch = binds(standin)
    requests = [request for i, name in enumerate(names) for request in bind_one(name, i % standin.nodes)]
    threads = [threading.Thread(target=send_all, args=(standin.port, requests[i::connections], window), daemon=True)
               for i in range(connections)]
    begun = time.time()
    for thread in threads:
        thread.start()
    try:
        last = watch.wait(300, lambda seen: len(seen) >= count and seen[-1][0])
    finally:
        watch.stop()
    for thread in threads:
        thread.join(30)
    return count / (last - begun)


def post(path, body):
    text = json.dumps(body)
    return ("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        path, len(text), text)).encode()


def bind_one(name, node):
    target = "node-%06d" % node
    yield post("%s/%s/binding" % (PODS, name), {"metadata": {"name": name},
                                                "target": {"kind": "Node", "name": target}})
    yield post("/api/v1/namespaces/%s/events" % SPACE, {
        "metadata": {"name": name + ".1", "namespace": SPACE}, "reason": "Scheduled", "type": "Normal",
        "involvedObject": {"kind": "Pod", "namespace": SPACE, "name": name},
        "message": "Successfully assigned %s/%s to %s" % (SPACE, name, target)})


def send_all(port, requests, window):
    with socket.create_connection(("127.0.0.1", port), 60) as connection:
        for first in range(0, len(requests), window):
            some = requests[first:first + window]
            connection.sendall(b"".join(some))
            answered, rest = 0, b""
            while answered < len(some):
                data = connection.recv(1 << 18)
                checks.expect(data, "the stand-in closed a connection")
                rest += data
                answered += rest.count(b"HTTP/1.1 ")
                rest = rest[-8:]


