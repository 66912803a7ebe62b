"""A small Kubernetes client for tests: http.client, JSON, one keep-alive connection a thread.

It knows no kinds: a caller gives paths and objects.  What it adds to HTTP is the kubeconfig, errors
as exceptions, paged lists, creation from many threads, and watches that stop when told to.
"""
import base64
import http.client
import json
import os
import re
import socket
import ssl
import tempfile
import threading
import time
import urllib.parse

BROKEN = (OSError, http.client.HTTPException)
PODS = "/api/v1/namespaces/default/pods"
NODES = "/api/v1/nodes"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"


class ApiError(Exception):
    """The API server's refusal."""

    def __init__(self, method, path, status, answer):
        message = answer.get("message") if isinstance(answer, dict) else answer
        super().__init__("%s %s: %d %s" % (method, path, status, message))
        self.status = status


def not_yet_seen(status, text):
    """Whether a pod's PriorityClass is one that admission's own watch may not have brought yet."""
    return status == 403 and b"no PriorityClass with name" in text


def may(client, user, verb, resource, group="", **more):
    """Whether the API server lets that user do it: who may is known to it by watches of its own, a moment after roles
    are written."""
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {
        "user": user, "resourceAttributes": dict(more, verb=verb, resource=resource, group=group)}}
    return client.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"]


def read_kubeconfig(path):
    """The fields of a kubeconfig with one cluster and one user, in block or JSON form."""
    with open(path) as file:
        text = file.read()
    fields = re.findall(r'^[\s"-]*([a-z-]+)"?:[ \t]+"?([^"\s,]+)"?,?[ \t]*$', text, re.MULTILINE)
    return dict(fields)


def file_of(fields, name):
    """A certificate or key of a kubeconfig as a file, whether it is given by path or as data."""
    if name + "-data" not in fields:
        return fields.get(name), None
    kept = tempfile.NamedTemporaryFile(suffix=".pem")
    kept.write(base64.b64decode(fields[name + "-data"]))
    kept.flush()
    return kept.name, kept


def tls_of(fields):
    if not fields["server"].startswith("https:"):
        return None
    authority, keep_authority = file_of(fields, "certificate-authority")
    context = ssl.create_default_context(cafile=authority)
    certificate, keep_certificate = file_of(fields, "client-certificate")
    if certificate:
        key, keep_key = file_of(fields, "client-key")
        context.load_cert_chain(certificate, key)
    return context


class Client:
    """Requests with the rights of one kubeconfig; may be used by many threads at once."""

    def __init__(self, kubeconfig):
        fields = read_kubeconfig(kubeconfig)
        self.server = urllib.parse.urlsplit(fields["server"])
        self.context = tls_of(fields)
        self.headers = {"Content-Type": "application/json", "Accept": "application/json",
                        "User-Agent": "berth-e2e"}
        if "token" in fields:
            self.headers["Authorization"] = "Bearer " + fields["token"]
        self.local = threading.local()

    def connect(self, timeout):
        if self.context:
            return http.client.HTTPSConnection(self.server.hostname, self.server.port,
                                               context=self.context, timeout=timeout)
        return http.client.HTTPConnection(self.server.hostname, self.server.port, timeout=timeout)

    def exchange(self, method, path, body, headers):
        """One request on this thread's connection; a broken connection is thrown away."""
        if not getattr(self.local, "connection", None):
            self.local.connection = self.connect(60)
        try:
            self.local.connection.request(method, path, body, headers)
            answer = self.local.connection.getresponse()
            return answer.status, answer.read()
        except BROKEN:
            self.local.connection.close()
            self.local.connection = None
            raise

    def request(self, method, path, body=None, content="application/json", patience=5):
        """Send a request, again for `patience` seconds while the connection breaks, or while admission has not seen
        a PriorityClass that was just made; the answer decoded.

        A create that is sent again may find its own object: that is a success. A body that is text
        already is sent as it is.
        """
        data = body if isinstance(body, str) or body is None else json.dumps(body)
        data = data.encode() if data is not None else None
        headers = dict(self.headers, **{"Content-Type": content})
        deadline = time.monotonic() + patience
        again = False
        while True:
            try:
                status, text = self.exchange(method, path, data, headers)
            except BROKEN:
                if time.monotonic() > deadline:
                    raise
                again = True
                time.sleep(0.1)
                continue
            if (status in (429, 503) or not_yet_seen(status, text)) and time.monotonic() < deadline:
                time.sleep(0.2)
                continue
            break
        answer = json.loads(text) if text[:1] == b"{" else text.decode(errors="replace")
        if status >= 300 and not (again and method == "POST" and status == 409):
            raise ApiError(method, path, status, answer)
        return answer

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def create(self, path, body, **more):
        return self.request("POST", path, body, **more)

    def put(self, path, body):
        return self.request("PUT", path, body)

    def delete(self, path):
        return self.request("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions",
                                             "gracePeriodSeconds": 0})

    def list(self, path, limit=1000, **parameters):
        """All objects of a path, a page at a time: (objects, resource version of the list)."""
        objects, parameters = [], dict(parameters, limit=limit)
        while True:
            page = self.get(path + "?" + urllib.parse.urlencode(parameters))
            objects += page.get("items") or []
            if not page["metadata"].get("continue"):
                return objects, page["metadata"]["resourceVersion"]
            parameters["continue"] = page["metadata"]["continue"]

    def create_many(self, path, bodies, threads=8, created=None, patience=5):
        """Create objects from several threads, in about their order; the first error is raised.

        `created` is called after each one.
        """
        left, errors, lock = iter(bodies), [], threading.Lock()

        def work():
            while not errors:
                with lock:
                    body = next(left, None)
                if body is None:
                    return
                try:
                    self.create(path, body, patience=patience)
                except (ApiError,) + BROKEN as error:
                    errors.append(error)
                if created:
                    created()

        workers = [threading.Thread(target=work, daemon=True) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if errors:
            raise errors[0]

    def delete_all(self, path):
        for item in self.list(path)[0]:
            self.delete(path + "/" + item["metadata"]["name"])


class Watch:
    """One watch request: iterate over its events; stop() from another thread ends it."""

    def __init__(self, client, path, version, **parameters):
        parameters = dict(parameters, watch="true", allowWatchBookmarks="true",
                          resourceVersion=version)
        self.connection = client.connect(30)
        self.connection.connect()
        # A second handle on the socket, since a TLS socket cannot be shut down by another thread.
        self.raw = socket.socket(fileno=os.dup(self.connection.sock.fileno()))
        self.connection.request("GET", path + "?" + urllib.parse.urlencode(parameters),
                                headers=client.headers)
        self.connection.sock.settimeout(None)
        self.answer = self.connection.getresponse()
        if self.answer.status != 200:
            raise ApiError("WATCH", path, self.answer.status, self.answer.read().decode())

    def __iter__(self):
        while True:
            line = self.answer.readline()
            if not line:
                return
            yield json.loads(line)

    def stop(self):
        try:
            self.raw.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def close(self):
        self.raw.close()
        self.connection.close()


class Mirror:
    """A live copy of a collection, kept by list and watch in a thread.

    `shape` reduces an object to what a test looks at; objects are kept by name.
    """

    def __init__(self, client, path, shape=lambda item: item):
        self.client, self.path, self.shape = client, path, shape
        self.items, self.changed = {}, threading.Condition()
        self.stopped, self.watch, self.idle = False, None, threading.Event()
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.relist()
        self.thread.start()

    def relist(self):
        objects, self.version = self.client.list(self.path)
        with self.changed:
            self.items = {item["metadata"]["name"]: self.shape(item) for item in objects}
            self.changed.notify_all()

    def apply(self, event):
        """Take over one event; False when the watch cannot go on."""
        if event["type"] == "ERROR":
            return False
        item = event["object"]
        self.version = item["metadata"]["resourceVersion"]
        if event["type"] == "BOOKMARK":
            return True
        with self.changed:
            if event["type"] == "DELETED":
                self.items.pop(item["metadata"]["name"], None)
            else:
                self.items[item["metadata"]["name"]] = self.shape(item)
            self.changed.notify_all()
        return True

    def follow(self):
        """Watch until stopped; however a watch ends, the list that follows it misses nothing."""
        stale = False
        while not self.stopped:
            try:
                if stale:
                    self.relist()
                stale = True
                self.watch = Watch(self.client, self.path, self.version)
                all(not self.stopped and self.apply(event) for event in self.watch)
                self.watch.close()
            except (ApiError, ValueError, AttributeError) + BROKEN:
                # ValueError and AttributeError: a TLS connection cut off within a line.
                self.idle.wait(0.2)

    def wait(self, seconds, condition):
        """Wait until condition(items) holds; False when the time is over."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while not condition(self.items):
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                # A wave of events is looked at five times a second, not once an event.
                self.changed.wait(min(left, 0.2))
            return True

    def stop(self):
        self.stopped = True
        self.idle.set()
        if self.watch:
            self.watch.stop()
        self.thread.join(5)
