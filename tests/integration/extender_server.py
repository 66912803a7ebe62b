"""HTTP extenders for the cases: one server, an extender a path, each for pods with a resource of its own.

What an extender thinks of a node stands in the node's name: it lets pass what contains "yes", turns away
"never" for good and all others for now, and scores by the last digit.
"""
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import kube

DOMAIN = "extender.example/"
NAMES = ("names", "whole", "broken", "ignored", "binds", "preempts", "hung")


def names_of(args):
    if args.get("NodeNames") is not None:
        return args["NodeNames"]
    return [n["metadata"]["name"] for n in args["Nodes"].get("items") or []]


def filtered(args):
    kept = [n for n in names_of(args) if "yes" in n]
    answer = {"FailedNodes": {n: "it is no" for n in names_of(args) if n not in kept and "never" not in n},
              "FailedAndUnresolvableNodes": {n: "it is never" for n in names_of(args) if "never" in n}}
    if args.get("NodeNames") is not None:
        return dict(answer, NodeNames=kept)
    return dict(answer, Nodes={"metadata": {}, "items": [
        n for n in args["Nodes"].get("items") or [] if n["metadata"]["name"] in kept]})


def scored(args):
    return [{"Host": n, "Score": int((re.findall(r"[0-9]$", n) or ["0"])[0])} for n in names_of(args)]


def preempted(args):
    return {"NodeNameToMetaVictims": {
        n: victims for n, victims in args["NodeNameToMetaVictims"].items() if "yes" in n}}


class Server:
    """The extenders; `calls` are the verbs that each was asked, `go` lets the one that hangs answer."""

    def __init__(self, admin):
        self.admin, self.calls, self.go = admin, [], threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                args = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                _, extender, verb = self.path.split("/")
                code, answer = outer.answer(extender, verb, args)
                body = json.dumps(answer).encode()
                self.send_response(code)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = "http://127.0.0.1:%d/" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, extender, verb, args):
        self.calls.append((extender, verb))
        if extender in ("broken", "ignored"):
            return 500, {}
        if extender == "hung":
            self.go.wait(60)
        if verb == "bind":
            return 200, {"Error": self.bind(args)}
        return 200, {"filter": filtered, "prioritize": scored, "preempt": preempted}[verb](args)

    def bind(self, args):
        try:
            self.admin.create("/api/v1/namespaces/%(PodNamespace)s/pods/%(PodName)s/binding" % args, {
                "apiVersion": "v1", "kind": "Binding",
                "metadata": {"name": args["PodName"], "namespace": args["PodNamespace"]},
                "target": {"kind": "Node", "name": args["Node"]}})
        except kube.ApiError as error:
            return str(error)
        return ""

    def configuration(self):
        names = {"filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 5,
                 "nodeCacheCapable": True}
        each = {
            "names": names,
            "whole": {"filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 1},
            "broken": {"filterVerb": "filter"},
            "ignored": {"filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 1,
                        "ignorable": True},
            "binds": {"bindVerb": "bind"},
            "preempts": {"preemptVerb": "preempt", "nodeCacheCapable": True},
            "hung": dict(names, httpTimeout="60s"),
        }
        return [dict({"urlPrefix": self.url + name, "httpTimeout": "5s", "managedResources": [
            {"name": DOMAIN + name}]}, **more)
            for name, more in each.items()]

    def close(self):
        self.go.set()
        self.server.shutdown()
        self.server.server_close()
