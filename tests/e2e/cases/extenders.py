"""HTTP extenders that change while everything runs, and the ways to one over TLS."""
import json
import os
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import checks
import cluster
import kube
import objects
from suite import case

OWN = "it looks into processes of berth"


class Extender:
    """Lets pods pass to one node, and binds them if it is asked to."""

    def __init__(self, world, node, tls=None):
        self.node, self.asked, self.bound, self.peers = node, [], [], []
        self.go = threading.Event()
        self.go.set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                args = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path == "/bind":
                    answer = outer.bind(world.admin, args)
                else:
                    outer.asked.append(args["Pod"]["metadata"]["name"])
                    outer.go.wait(60)
                    answer = outer.answer(self.path, args)
                if tls:
                    outer.peers.append(self.connection.getpeercert())
                body = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_):
                pass  # who was turned away, or has gone while the answer was made

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def bind(self, admin, args):
        self.bound.append(args["PodName"])
        admin.create("%s/%s/binding" % (kube.PODS, args["PodName"]), {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": args["PodName"], "uid": args["PodUID"]},
            "target": {"apiVersion": "v1", "kind": "Node", "name": args["Node"]}})
        return {}

    def answer(self, _path, args):
        return {"NodeNames": [n for n in args["NodeNames"] if n == self.node]}

    def says(self, **more):
        return dict({"urlPrefix": "http%s://127.0.0.1:%d" % ("s" if "tlsConfig" in more else "", self.port),
                     "filterVerb": "filter", "nodeCacheCapable": True, "httpTimeout": "5s"}, **more)

    def stop(self):
        self.go.set()
        self.server.shutdown()
        self.server.server_close()


class Reloaded:
    """berth with a configuration file whose extenders change."""

    def __init__(self, world):
        self.subject = world.prepare(lease=(15, 10, 2))
        with open(self.subject.config) as file:
            self.text = file.read()
        self.subject.start()
        self.admin, self.pods, self.count = world.admin, world.pods(), 0
        self.place(None)

    def use(self, *extenders):
        with open(self.subject.config + ".new", "w") as file:
            file.write(self.text + "extenders: %s\n" % json.dumps(extenders))
        changes = self.changes()
        os.rename(self.subject.config + ".new", self.subject.config)
        checks.wait_until(30, lambda: self.changes() > changes, "the file was not read again")

    def changes(self):
        return sum("proc=scheduler" in line and "configuration changed" in line for line in self.subject.log_lines())

    def create(self):
        self.count += 1
        name = "pod-%02d" % self.count
        self.admin.create(kube.PODS, objects.pod(name))
        return name

    def where(self, name):
        checks.wait_until(60, lambda: name in self.pods.items and self.pods.items[name][1], name + " is not bound")
        return self.pods.items[name][1]

    def place(self, node):
        name = self.create()
        got = self.where(name)
        checks.expect(node in (None, got), "%s is on %s, not on %s", name, got, node)

    def status(self):
        done = subprocess.run([os.path.join(cluster.TOP, "build/bin/berth"), "status", "-v", "--run-dir",
                               self.subject.rundir], capture_output=True, text=True, timeout=60)
        return done.stdout


@case("extenders-live", not_upstream=OWN)
def extenders_live(world):
    """None, one, another while it is being asked, one that binds, none again: no restart, no mixture."""
    objects.small_nodes(world.admin, 3)
    first, second, third = (Extender(world, "node-%04d" % i) for i in range(3))
    try:
        berth = Reloaded(world)
        before = berth.subject.pids()
        berth.use(first.says())
        berth.place("node-0000")
        berth.place("node-0000")
        first.go.clear()
        waits = berth.create()
        checks.wait_until(30, lambda: waits in first.asked, "the extender is not asked")
        berth.use(second.says())
        checks.expect(berth.where(waits) == "node-0001", "%s is on %s", waits, berth.where(waits))
        berth.place("node-0001")
        berth.use(third.says(bindVerb="bind", weight=1))
        berth.place("node-0002")
        checks.expect(len(third.bound) == 1, "the extender has bound %s", third.bound)
        berth.use(second.says(), third.says(bindVerb="bind"))
        stuck = berth.create()
        checks.wait_until(30, lambda: berth.pods.items.get(stuck, ("", "", None))[2], "no node passes both")
        berth.use()
        checks.expect(berth.where(stuck), "not bound")
        asked = len(second.asked)
        berth.place(None)
        checks.expect(len(second.asked) == asked, "it is asked although nobody names it")
        after = berth.subject.pids()
        checks.expect("extender" in after, "no process calls extenders")
        checks.expect({n: p for n, p in after.items() if n != "extender"} == before, "somebody was restarted: %s, %s", before, after)
    finally:
        for each in (first, second, third):
            each.stop()


@case("extenders-tls", not_upstream=OWN)
def extenders_tls(world):
    """An extender behind TLS that wants to know who asks: own CA and certificate, a wrong CA, none at all."""
    objects.small_nodes(world.admin, 2)
    pki = os.path.join(world.cluster.directory, "pki")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(pki + "/apiserver.crt", pki + "/apiserver.key")
    server.load_verify_locations(pki + "/ca.crt")
    server.verify_mode = ssl.CERT_OPTIONAL
    extender = Extender(world, "node-0001", server)
    own = {"certFile": pki + "/scheduler-cert.crt", "keyFile": pki + "/scheduler-cert.key"}
    try:
        berth = Reloaded(world)
        berth.use(extender.says(enableHTTPS=True, tlsConfig=dict(own, caFile=pki + "/ca.crt")))
        berth.place("node-0001")
        names = [value for entry in extender.peers[-1]["subject"] for key, value in entry if key == "commonName"]
        checks.expect(names == ["system:kube-scheduler"], "it was asked by %s", names)
        other = os.path.join(world.directory, "other.crt")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", other + ".key", "-subj", "/CN=other", "-days", "2", "-out", other],
                       check=True, capture_output=True)
        berth.use(extender.says(enableHTTPS=True, tlsConfig=dict(own, caFile=other)))
        asked, name = len(extender.asked), berth.create()
        checks.wait_until(30, lambda: berth.pods.items.get(name, ("", "", None))[2], "a wrong CA is no failure")
        why = berth.pods.items[name][2][1]
        checks.expect("certificate" in why and len(extender.asked) == asked, "not refused for it: %s", why)
        berth.use(extender.says(enableHTTPS=True, tlsConfig={"insecure": True}))
        checks.expect(berth.where(name) == "node-0001", "%s is on %s", name, berth.where(name))
        checks.expect(not extender.peers[-1], "who asks shows a certificate that is not configured")
    finally:
        extender.stop()
