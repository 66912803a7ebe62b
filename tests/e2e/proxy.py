"""A proxy between a scheduler and the API server that can hold Bindings back, and pages of lists.

What it has taken it carries out, also when its client is gone by then: as a load balancer or a
broken network may do.  Plain HTTP/1.1 towards the scheduler, the cluster's own TLS behind it.
"""
import contextlib
import http.client
import http.server
import json
import threading
import urllib.parse

import kube

HOP_BY_HOP = ("connection", "transfer-encoding", "content-length", "host", "keep-alive")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # a burst of binds comes over connections of their own

    def handle_error(self, request, client_address):
        """Clients are killed here; what they leave is no error."""


class Proxy:
    """hold: seconds that a Binding is held before it is carried out; held: those taken so far;
    pages: seconds that each page of a list of pods comes late; swallow: (type, name) of watch events
    that never come, of watches that begin while json is set; swallowed: how many so far."""

    def __init__(self, kubeconfig):
        fields = kube.read_kubeconfig(kubeconfig)
        self.behind, self.context = urllib.parse.urlsplit(fields["server"]), kube.tls_of(fields)
        self.token = fields["token"]
        self.hold, self.held, self.done, self.pages = 0, 0, 0, 0
        self.json, self.swallow, self.swallowed = False, set(), 0
        self.changed, self.ended = threading.Condition(), threading.Event()
        self.server = Server(("127.0.0.1", 0), handler_of(self))
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def kubeconfig(self, path):
        """Write a kubeconfig of somebody who comes through here."""
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "c",
                  "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:%d" % self.server.server_port}}],
                  "users": [{"name": "u", "user": {"token": self.token}}],
                  "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}
        with open(path, "w") as file:
            json.dump(config, file, indent=1)
        return path

    def let_through(self, line):
        """A watch event, or None for one that is swallowed."""
        if not line.strip():
            return line
        event = json.loads(line)
        if (event["type"], event["object"].get("metadata", {}).get("name")) not in self.swallow:
            return line
        with self.changed:
            self.swallowed += 1
            self.changed.notify_all()
        return None

    def connect(self):
        return http.client.HTTPSConnection(self.behind.hostname, self.behind.port, context=self.context, timeout=600)

    def keep(self, seconds):
        """Hold one Binding; it is carried out whatever becomes of its client."""
        with self.changed:
            self.held += 1
            self.changed.notify_all()
        self.ended.wait(seconds)

    def carried_out(self):
        with self.changed:
            self.done += 1
            self.changed.notify_all()

    def wait(self, seconds, condition):
        with self.changed:
            return self.changed.wait_for(lambda: condition(self), seconds)

    def stop(self):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(10)


def handler_of(proxy):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def finish(self):
            try:
                super().finish()
            except OSError:
                pass  # the client went away

        def log_message(self, *arguments):
            pass

        def pass_on(self):
            """One request and its answer."""
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
            watch = proxy.json and "watch=true" in self.path
            if watch:  # events as lines
                headers = {name: value for name, value in headers.items() if name.lower() != "accept"}
                headers["Accept"] = "application/json"
            held = self.command == "POST" and self.path.endswith("/binding") and proxy.hold
            if held:
                proxy.keep(held)
            if self.path.startswith("/api/v1/pods?limit="):
                proxy.ended.wait(proxy.pages)
            with contextlib.closing(proxy.connect()) as behind:
                behind.request(self.command, self.path, body, headers)
                answer = behind.getresponse()
                if held:
                    text = answer.read()
                    proxy.carried_out()
                    self.answer_whole(answer, text)
                else:
                    self.answer_in_pieces(answer, watch)

        def begin(self, answer, length):
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            self.send_header(*length)
            self.end_headers()

        def answer_whole(self, answer, text):
            self.begin(answer, ("Content-Length", str(len(text))))
            self.wfile.write(text)

        def answer_in_pieces(self, answer, watch):
            self.begin(answer, ("Transfer-Encoding", "chunked"))
            while True:
                piece = proxy.let_through(answer.readline()) if watch else answer.read1(1 << 16)
                if piece is None:
                    continue
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                if not piece:
                    return

        def serve(self):
            try:
                self.pass_on()
            except (OSError, http.client.HTTPException):
                self.close_connection = True

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve

    return Handler
