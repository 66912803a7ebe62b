#!/usr/bin/env python3
"""An HTTP extender in 100 lines: nodes by label.  Python 3, standard library only.

filter      turns away nodes without the label `extender.example/allowed=true`; a node that has it as
            `never` is turned away for good, so that nobody is evicted there
prioritize  scores a node 0 to 10 by its label `extender.example/score`
preempt     agrees to every candidate but those with the label `extender.example/spare=true`
bind        with --bind: binds the pod itself, by --api, a URL without authentication (kubectl proxy)

Nodes come whole, or as names only (nodeCacheCapable); then their labels are read from --api.

    scheduler/extender/example/extender.py --port 8888
    curl -s localhost:8888/calls        # how often it was asked what

--slow SECONDS makes it answer late, --broken makes it answer with code 500: to see what happens then.
"""
import argparse
import http.client
import json
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PREFIX = "extender.example/"


class Cluster:
    """The API server, as far as it is needed."""

    def __init__(self, url):
        self.host = urllib.parse.urlsplit(url).netloc if url else None

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.host, timeout=10)
        try:
            connection.request(method, path, json.dumps(body) if body else None,
                               {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"{}")
        finally:
            connection.close()

    def labels(self, node):
        if not self.host:
            return {}
        return self.call("GET", "/api/v1/nodes/" + node)[1].get("metadata", {}).get("labels", {})


def nodes_of(args, cluster):
    """Names and labels, whichever way the nodes were sent."""
    if args.get("NodeNames") is not None:
        return {name: cluster.labels(name) for name in args["NodeNames"]}
    return {n["metadata"]["name"]: n["metadata"].get("labels", {})
            for n in args["Nodes"].get("items") or []}


def filter_nodes(args, cluster):
    kept, failed, never = [], {}, {}
    for name, labels in nodes_of(args, cluster).items():
        allowed = labels.get(PREFIX + "allowed")
        if allowed == "true":
            kept.append(name)
        else:
            (never if allowed == "never" else failed)[name] = "the example does not allow it"
    answer = {"FailedNodes": failed, "FailedAndUnresolvableNodes": never, "Error": ""}
    if args.get("NodeNames") is not None:
        return dict(answer, NodeNames=kept)
    return dict(answer, Nodes={"metadata": {}, "items": [
        n for n in args["Nodes"].get("items") or [] if n["metadata"]["name"] in kept]})


def prioritize(args, cluster):
    return [{"Host": name, "Score": int(labels.get(PREFIX + "score", 0))}
            for name, labels in nodes_of(args, cluster).items()]


def preempt(args, cluster):
    meta = args.get("NodeNameToMetaVictims")
    if meta is None:
        meta = {node: {"Pods": [{"UID": pod["metadata"]["uid"]} for pod in victims["Pods"]],
                       "NumPDBViolations": victims["NumPDBViolations"]}
                for node, victims in (args.get("NodeNameToVictims") or {}).items()}
    return {"NodeNameToMetaVictims": {
        node: victims for node, victims in meta.items()
        if cluster.labels(node).get(PREFIX + "spare") != "true"}}


def bind(args, cluster):
    path = "/api/v1/namespaces/%(PodNamespace)s/pods/%(PodName)s/binding" % args
    code, answer = cluster.call("POST", path, {
        "apiVersion": "v1", "kind": "Binding",
        "metadata": {"name": args["PodName"], "namespace": args["PodNamespace"],
                     "uid": args["PodUID"]},
        "target": {"kind": "Node", "name": args["Node"]}})
    return {"Error": "" if code < 300 else answer.get("message", "code %d" % code)}


VERBS = {"filter": filter_nodes, "prioritize": prioritize, "preempt": preempt, "bind": bind}


def handler(options, cluster, calls):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # connections are kept
        disable_nagle_algorithm = True

        def answer(self, code, value):
            body = json.dumps(value).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            self.answer(200, calls)

        def do_POST(self):
            verb = self.path.rsplit("/", 1)[-1]
            args = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            calls[verb] = calls.get(verb, 0) + 1
            options.stopped.wait(options.slow)
            if options.broken or verb not in VERBS:
                self.answer(500 if options.broken else 404, {"Error": "broken"})
            else:
                self.answer(200, VERBS[verb](args, cluster))

        def log_message(self, *_):
            pass
    return Handler


def parse(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--port", type=int, default=8888, help="0: a free one")
    parser.add_argument("--api", help="API server without authentication, http://host:port")
    parser.add_argument("--slow", type=float, default=0, help="seconds before each answer")
    parser.add_argument("--broken", action="store_true", help="answer with code 500")
    return parser.parse_args(argv)


def serve(options):
    """Starts to answer; returns the server and what it counts."""
    options.stopped = threading.Event()
    calls = {}
    server = ThreadingHTTPServer(("127.0.0.1", options.port),
                                 handler(options, Cluster(options.api), calls))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, calls


if __name__ == "__main__":
    given = parse()
    running, _ = serve(given)
    print("listening on http://127.0.0.1:%d" % running.server_port, flush=True)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        given.stopped.set()
