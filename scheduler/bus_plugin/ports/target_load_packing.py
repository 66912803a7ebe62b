#!/usr/bin/python3
"""TargetLoadPacking, as scheduler-plugins (Trimaran) has it: packs pods onto nodes up to a target of real CPU load, and
spreads above it. The load comes from Prometheus; a node's load with the pod is

    what Prometheus says + what the pod will take + what pods take that came too late for Prometheus to show

in percent of the node's capacity. At 0 a node scores the target, at the target 100; above it falls from the target to 0.

usage: target_load_packing.py --kubeconfig FILE --prometheus URL SOCKET     (--help has the rest)
"""
import argparse
import json
import math
import re
import sys
import threading
import time
import urllib.parse
import urllib.request

import berth
from cluster import Objects, milli

REPORTING_SECONDS, UPDATE_SECONDS, CLEANUP_SECONDS = 60, 30, 300
# What node_exporter's usual recording rules give, averaged as load-watcher does it.
QUERY = "avg_over_time(instance:node_cpu:ratio[15m])"


def rounded(value):
    """To the nearest, halves away from zero: Go's math.Round of what is not negative."""
    whole = math.floor(value)
    return whole + (value - whole >= 0.5)


def predicted(spec, default_milli, multiplier):
    """Thousandths of a CPU that a pod will take: a container's limit, else its request times a factor, else a default."""
    total = milli(spec.get("overhead", {}).get("cpu", 0))
    for container in spec["containers"]:
        resources = container.get("resources", {})
        if "cpu" in resources.get("limits", {}):
            total += milli(resources["limits"]["cpu"])
        elif "cpu" in resources.get("requests", {}):
            total += rounded(float(milli(resources["requests"]["cpu"])) * multiplier)
        else:
            total += default_milli
    return total


def score(load_percent, capacity_milli, pod_milli, missing_milli, target):
    """0 to 100. The load is None where nothing is known of it: such a node is avoided."""
    if load_percent is None:
        return 0
    capacity, usage = float(capacity_milli), 0.0
    if capacity:
        usage = 100 * ((load_percent / 100) * capacity + float(pod_milli) + float(missing_milli)) / capacity
    if usage > 100:
        return 0
    if usage > target:
        return rounded(float(target) * (100 - usage) / (100 - float(target)))
    return rounded((100 - float(target)) * usage / float(target) + float(target))


class Load:
    """What Prometheus last said, by node, and until when that is."""

    def __init__(self, url, query):
        self.url = "%s/api/v1/query?%s" % (url.rstrip("/"), urllib.parse.urlencode({"query": query}))
        self.percent, self.end = {}, 0
        self.update()
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        while True:
            time.sleep(UPDATE_SECONDS if self.percent else 1)
            self.update()

    def update(self):
        try:
            self.ask()
        except Exception as error:  # it may be there again the next time
            print("prometheus: %s" % error, file=sys.stderr)

    def ask(self):
        end = int(time.time())
        with urllib.request.urlopen(self.url, timeout=10) as answer:
            result = json.load(answer)["data"]["result"]
        percent = {re.sub(r":\d+$", "", series["metric"].get("instance", "")): float(series["value"][1]) * 100 for series in result}
        self.percent, self.end = percent, end


class Recent:
    """Pods that were bound so late that Prometheus may not show them yet: when they were seen on their node."""

    def __init__(self):
        self.lock, self.nodes, self.cleaned = threading.Lock(), {}, 0.0

    def changed(self, old, new):
        was, is_on = [(pod or {}).get("spec", {}).get("nodeName", "") for pod in (old, new)]
        with self.lock:
            if was and not new:
                self.nodes.get(was, {}).pop(old["metadata"]["uid"], None)
            elif is_on and is_on != was:
                self.nodes.setdefault(is_on, {})[new["metadata"]["uid"]] = (int(time.time()), new["spec"])

    def missing(self, node, end, predict):
        with self.lock:
            self.clean()
            return sum(predict(spec) for at, spec in self.nodes.get(node, {}).values() if at > end - REPORTING_SECONDS)

    def clean(self):
        now = time.time()
        if now > self.cleaned + CLEANUP_SECONDS:
            self.cleaned = now
            for pods in self.nodes.values():
                for uid in [uid for uid, (at, _) in pods.items() if at + REPORTING_SECONDS <= now]:
                    del pods[uid]


class TargetLoadPacking(berth.Plugin):
    def __init__(self, options):
        super().__init__(options.name)
        self.options, self.recent = options, Recent()
        self.nodes = Objects(options.kubeconfig, "/api/v1/nodes")
        self.pods = Objects(options.kubeconfig, "/api/v1/pods", self.recent.changed)
        self.load = Load(options.prometheus, options.query)

    def predict(self, spec):
        return predicted(spec, milli(self.options.default_request), self.options.multiplier)

    def score(self, ask):
        pod = self.pods.pod(ask.pod)
        mine, end = self.predict(pod["spec"]), self.load.end
        return {node.name: self.score_node(node.name, mine, end) for node in ask.nodes}

    def score_node(self, name, mine, end):
        node = self.nodes.get(name) or {}
        capacity = node.get("status", {}).get("capacity", {}).get("cpu", 0)
        return score(self.load.percent.get(name), milli(capacity), mine, self.recent.missing(name, end, self.predict),
                     self.options.target)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("socket", nargs="+", help="scheduler.sock in berth's run directory")
    parser.add_argument("--name", default="TargetLoadPacking", help="as the profile has it")
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--prometheus", required=True, metavar="URL")
    parser.add_argument("--query", default=QUERY, help="a node's load from 0 to 1, by the label instance (default: %(default)s)")
    parser.add_argument("--target", type=int, default=40, help="percent (default: 40)")
    parser.add_argument("--default-request", default="1", help="cpu of a container that says nothing (default: 1)")
    parser.add_argument("--multiplier", type=float, default=1.5, help="of requests without a limit (default: 1.5)")
    options = parser.parse_args()
    plugin = TargetLoadPacking(options)
    for objects in (plugin.nodes, plugin.pods):
        objects.listed.wait()
    plugin.run(*options.socket)


if __name__ == "__main__":
    main()
