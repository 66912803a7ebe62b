#!/usr/bin/python3
"""Nodes by label, and pods that have to wait: what scheduler/bus_plugin/example/plugin.py does, on the library.

usage: example.py SOCKET… [--keys DIR]     SOCKET is scheduler.sock in berth's run directory
"""
import signal
import sys

import berth


class Example(berth.Plugin):
    name = "example"

    def filter(self, ask):
        return {node.name: "not allowed here" for node in ask.nodes
                if berth.as_dict(node.labels).get("bus.example/allowed") == "no"}

    def score(self, ask):
        return {node.name: int(berth.as_dict(node.labels).get("bus.example/score", 0)) for node in ask.nodes}

    def permit(self, ask):
        labels = berth.as_dict(ask.pod.labels)
        if "bus.example/wait" in labels:  # so many seconds from now
            self.later(float(labels["bus.example/wait"]), lambda: self.permit_pod(ask.pod.uid))
            return "wait"
        return ("deny", "denied by its label") if "bus.example/deny" in labels else None

    def bound(self, told):
        print("bound %s/%s to %s" % (told.namespace_name, told.name, told.node), flush=True)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    keys = arguments.pop() if "--keys" in arguments else None
    plugin = Example()
    signal.signal(signal.SIGTERM, lambda *_: plugin.stop())
    plugin.run(*[a for a in arguments if a != "--keys"], keys=keys)
