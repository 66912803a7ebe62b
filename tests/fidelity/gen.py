#!/usr/bin/env python3
"""Prints random scenarios for the oracle and for berth, one JSON document a line.

    gen.py [COUNT [SEED [MODE]]] [--index K] [--without PLUGIN,…]

Modes: plain, preempt (full nodes of low priority, pending pods of high priority), drive (what
oracle/drive can play on a real API server), drive,preempt, volumes (about little else), devices (resource
claims, and nothing else), claims (the same, of what devices/gen.py makes), and mix (default: plain and preempt,
a few of them with volumes).
A scenario is the same whenever SEED, its index and MODE are; its name holds all three. --index prints
that one alone. --without switches plugins off in every profile."""
import argparse
import copy
import json
import random

import gen_claims
import gen_config
import gen_devices
import gen_rooms
from gen_objects import NAMESPACES, Objects

from gen_volumes import add_volumes, small

MODES = ["mix", "plain", "preempt", "drive", "drive,preempt", "volumes", "devices", "claims", "rooms"]


class Steps:
    """What happens between the attempts: objects come, change and go; pods are tried again.

    Never applied is a pending version of a pod that may be bound by then: no API server allows it."""

    def __init__(self, r, objects, nodes, running, waiting):
        self.r, self.objects = r, objects
        self.nodes = {n["metadata"]["name"]: n for n in nodes}
        self.running, self.waiting, self.tried = list(running), list(waiting), []
        self.count = 0

    def name(self, prefix):
        self.count += 1
        return "%s%d" % (prefix, self.count)

    @staticmethod
    def apply(found):
        return {"op": "apply", "object": copy.deepcopy(found)}

    @staticmethod
    def delete(found):
        step = {"op": "delete", "kind": found["kind"], "name": found["metadata"]["name"]}
        if "namespace" in found["metadata"]:
            step["namespace"] = found["metadata"]["namespace"]
        return step

    def some_node(self):
        return self.nodes[self.r.choice(sorted(self.nodes))]

    def node_changes(self):
        n = copy.deepcopy(self.some_node())
        name, fresh = n["metadata"]["name"], self.objects.node(n["metadata"]["name"], False)
        what = self.r.choice(["labels", "taints", "unschedulable", "allocatable", "all"])
        if what == "labels":
            n["metadata"] = fresh["metadata"]
        elif what == "taints":
            n["spec"]["taints"] = [self.objects.taint()] if self.r.random() < .6 else []
        elif what == "unschedulable":
            n["spec"]["unschedulable"] = not n["spec"].get("unschedulable", False)
        elif what == "allocatable":
            n["status"] = fresh["status"]
        else:
            n = fresh
        self.nodes[name] = n
        return self.apply(n)

    def node_comes(self):
        name = self.r.choice(self.objects.nodes) if self.r.random() < .5 else self.name("m")
        self.nodes[name] = self.objects.node(name, False)
        if name not in self.objects.nodes:
            self.objects.nodes.append(name)
        return self.apply(self.nodes[name])

    def node_goes(self):
        if len(self.nodes) < 2:
            return self.node_comes()
        found = self.some_node()
        del self.nodes[found["metadata"]["name"]]
        return self.delete(found)

    def pod_appears_bound(self):
        p = self.objects.bound(self.name("late"))
        p["status"]["phase"] = "Running"
        self.running.append(p)
        return self.apply(p)

    def pod_changes(self):
        if not self.running:
            return self.pod_appears_bound()
        k = self.r.randrange(len(self.running))
        p = copy.deepcopy(self.running[k])
        what = self.r.random()
        if what < .5 or self.objects.drive:
            p["metadata"]["labels"] = self.objects.labels()
        elif what < .75:
            p["spec"]["containers"][0]["resources"] = self.objects.resources()
        elif what < .9:
            self.objects.terminate(p)
        else:
            p["status"]["phase"] = self.r.choice(["Succeeded", "Failed"])
        self.running[k] = p
        return self.apply(p)

    def pod_moves(self):
        """What no API server allows, and the scenario must survive."""
        if not self.running + self.tried:
            return self.pod_waits()
        p = copy.deepcopy(self.r.choice(self.running + self.tried))
        if self.r.random() < .5:
            p["spec"].pop("nodeName", None)
        else:
            p["spec"]["nodeName"] = self.r.choice(self.objects.nodes)
        return self.apply(p)

    def pod_goes(self):
        pool = self.running
        if not self.objects.drive:  # whose pending pods are gone by then
            pool = self.r.choice([self.running, self.running, self.waiting, self.tried])
        if not pool:
            return self.pod_appears_bound()
        return self.delete(pool.pop(self.r.randrange(len(pool))))

    def pod_waits(self):
        p = self.objects.pending(self.name("x"), .3)
        self.waiting.append(p)
        return self.apply(p)

    def waiting_pod_changes(self):
        """What the API server lets be changed in a pod that nobody has tried yet."""
        if not self.waiting:
            return self.pod_waits()
        p = self.r.choice(self.waiting)
        p["metadata"]["labels"] = self.objects.labels()
        p["spec"].pop("schedulingGates", None)
        p["spec"]["tolerations"] = p["spec"].get("tolerations", []) + [self.objects.toleration()]
        return self.apply(p)

    def pod_is_tried(self):
        if self.waiting and self.r.random() < .7:
            self.tried.append(self.waiting.pop(self.r.randrange(len(self.waiting))))
            p = self.tried[-1]
        elif self.tried:
            p = self.r.choice(self.tried)
        else:
            return self.pod_waits()
        return self.try_again(p)

    @staticmethod
    def try_again(p):
        return {"op": "schedule", "namespace": p["metadata"]["namespace"], "name": p["metadata"]["name"]}

    def surroundings_change(self):
        o, space = self.objects, self.r.choice(NAMESPACES)
        k = self.r.random()
        if k < .35:
            return self.apply(o.service("s0", space))
        if k < .5:
            return self.apply(o.budget("b0", space, []))
        if k < .7:
            return self.apply({"apiVersion": "v1", "kind": "Namespace",
                               "metadata": {"name": space, "labels": {"team": self.r.choice(["b", "r", "x"])}}})
        return self.apply(o.owner_object(self.r.choice(["ReplicaSet", "StatefulSet", "ReplicationController"]),
                                         "own", space))

    def one(self):
        kinds = [(.15, self.node_changes), (.07, self.node_comes), (.07, self.node_goes),
                 (.15, self.pod_appears_bound), (.15, self.pod_changes), (.12, self.pod_goes),
                 (.06, self.surroundings_change)]
        if not self.objects.drive:
            kinds += [(.02, self.pod_moves), (.08, self.pod_waits), (.04, self.waiting_pod_changes),
                      (.15, self.pod_is_tried)]
        return self.r.choices([make for _, make in kinds], [p for p, _ in kinds])[0]()

    def mixed_with(self, pods):
        found = []
        for p in pods:
            found += [self.one() for _ in range(self.r.choice([0, 0, 1, 2, 3]))]
            found.append(p)
            self.tried.append(p)
            if self.objects.preempt and not self.objects.drive and self.r.random() < .4:
                found.append(self.try_again(p))  # its victims may still be terminating
        return found + [self.one() for _ in range(self.r.randint(0, 2))]


class Scenario:
    def __init__(self, seed, index, mode):
        self.r = random.Random("%d/%d/%s" % (seed, index, mode))
        self.name = "gen-%d-%d-%s" % (seed, index, mode)
        self.index = index
        if mode == "mix":
            mode = self.r.choice(["plain", "plain", "preempt"])
        self.words = mode.split(",")
        self.drive = "drive" in self.words

    def chance(self, p):
        return self.r.random() < p

    def size(self):
        """(nodes, bound pods, pending pods); large clusters now and then."""
        r = self.r
        if self.chance(.02) and not self.drive:
            nodes = r.randint(50, 200)
            return nodes, r.randint(0, 2 * nodes), r.randint(1, 4)
        nodes = r.choice([1, 2, 3, 3, 4, 5, 6, 7, 8, 10, 12])
        if "preempt" in self.words:
            nodes = min(nodes, 8)
            return nodes, r.randint(2 * nodes, 6 * nodes), r.randint(1, 6)
        return nodes, r.randint(0, 3 * nodes), r.randint(1, 10)

    def options(self):
        after = self.r.choice(["evict", "evict", "nominate", "none"])
        return {"afterPreemption": "evict" if self.drive else after, "omitAllFailures": self.index % 3 != 0,
                "pick": self.r.choice(["first", "first", "last"])}

    def another_scheduler(self, made, pods):
        """What somebody else decided, to be judged and followed."""
        named = ["%s/%s" % (p["metadata"]["namespace"], p["metadata"]["name"]) for p in pods]
        made["choices"] = {k: self.r.choice(self.objects.nodes + [""]) for k in named if self.chance(.6)}
        made["nominations"] = {k: self.r.choice(self.objects.nodes) for k in named if self.chance(.6)}

    def build(self):
        nodes, bound, pending = self.size()
        steps = self.chance(.25)
        self.objects = o = Objects(self.r, self.words, nodes)
        found, config = [], None
        if not self.drive:
            if self.chance(.3):
                config = gen_config.Config(self.r, o).draw()
            if self.chance(.1):
                found += o.priority_classes()
        node_objects = [o.node(name, not steps) for name in o.nodes]
        if self.chance(.01) and not self.drive:
            node_objects = []
        running = [o.bound("e%d" % i) for i in range(bound)]
        nominated = .4 if self.chance(.25) and not self.drive else 0
        waiting = [o.pending("w%d" % i, .8) for i in range(self.r.randint(0, 4))] if nominated else []
        pods = [o.pending("p%d" % i, nominated) for i in range(pending)]
        around = o.around([p["metadata"]["name"] for p in running])
        made = {"name": self.name, "objects": found + around + node_objects + running + waiting,
                "pods": pods, "options": self.options()}
        if config:
            made["config"] = config
        if steps and node_objects:
            alive = [p for p in running if p["status"]["phase"] not in ("Succeeded", "Failed")]
            made["pods"] = Steps(self.r, o, node_objects, alive, waiting).mixed_with(pods)
        elif nominated:
            made["pods"] = pods + [Steps.try_again(p) for p in waiting]
        if not self.drive and self.chance(.04):
            self.another_scheduler(made, pods)
        return made


def without_assumed(steps):
    """The same steps, but no change of a pod that was tried before: it may stay assumed, and then the
    oracle waits in vain for its queue to see the change."""
    def name(p):
        return p["metadata"]["namespace"], p["metadata"]["name"]
    tried = {name(s) for s in steps if "op" not in s}
    return [s for s in steps if s.get("op") != "apply" or s["object"]["kind"] != "Pod" or name(s["object"]) not in tried]


def put_off_resizes(made):
    """Of a scenario with the gate InPlacePodVerticalScalingSchedulerPreemption: pods on nodes whose resize is put off,
    tried between the others; some nodes let nobody go for that."""
    r = random.Random("resizes/" + made["name"])
    for thing in made["objects"]:
        status, spec = thing.get("status", {}), thing.get("spec", {})
        if thing["kind"] == "Node" and r.random() < .3:
            spec["podPreemptionPolicy"] = {"disableResizePreemption": r.choice([[], ["a"], ["a", "b"]])}
            thing["spec"] = spec
        if thing["kind"] != "Pod" or not spec.get("nodeName") or r.random() < .5:
            continue
        for container in spec["containers"] if r.random() < .5 else ():
            container.setdefault("resources", {})["requests"] = {"cpu": r.choice(["0", "1", "2500m", "9"]), "memory": r.choice(["64Mi", "3Gi"])}
            container["resources"].pop("limits", None)
        pending = {"type": "PodResizePending", "status": "True", "reason": r.choice(["Deferred"] * 5 + ["Infeasible"])}
        thing["status"] = {**status, "conditions": [c for c in status.get("conditions", []) if c["type"] != "PodResizePending"] + [pending]}
        made["pods"].insert(r.randrange(len(made["pods"]) + 1), Steps.try_again(thing))
    return made


def scenario(seed, index, mode="mix", without=()):
    """The scenario number `index` of a seed."""
    if mode == "claims":
        return gen_claims.scenario(seed, index)
    r = random.Random("volumes/%d/%d" % (seed, index))
    if mode == "devices":
        return gen_devices.scenario(seed, index)
    if mode == "rooms":
        return gen_rooms.scenario(seed, index)
    if mode == "volumes" and r.random() < .75:
        made = small(r, "gen-%d-%d-volumes" % (seed, index))
    else:
        made = Scenario(seed, index, mode).build()
    if mode == "volumes" or (r.random() < .12 and "drive" not in mode):
        add_volumes(r, made)
    if made["options"].get("noBind"):
        made["pods"] = without_assumed(made["pods"])
    if without:
        made["config"] = gen_config.without(made.get("config"), without)
    return made


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("count", type=int, nargs="?", default=100)
    p.add_argument("seed", type=int, nargs="?", default=1)
    p.add_argument("mode", nargs="?", default="mix", choices=MODES)
    p.add_argument("--index", type=int, help="this one alone")
    p.add_argument("--without", default="", help="plugins to switch off in every profile, with commas between")
    args = p.parse_args()
    without = [name for name in args.without.split(",") if name]
    for k in range(args.count) if args.index is None else [args.index]:
        print(json.dumps(scenario(args.seed, k, args.mode, without)))


if __name__ == "__main__":
    main()
