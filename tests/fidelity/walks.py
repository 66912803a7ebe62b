#!/usr/bin/env python3
"""percentageOfNodesToScore: random clusters of 60 to 400 nodes in a few zones, with a percentage, a pod at a time.

The oracle decides with parallelism 1 over the nodes that the real SchedulePod has come to (options.walk); berth
simulate has to find the same best nodes, out of as many feasible ones, and to say the same where nothing fits. As
each walk begins where the one before ended, an error in one shows in all that follow. Above parallelism 1
kube-scheduler's own set is a matter of chance. Ends in "N passed, N failed": scenarios."""
import argparse
import json
import random
import sys

import play

FIELDS = ("result", "node", "bestNodes", "feasible", "numNodes", "message")


def node(r, i):
    labels = {"kubernetes.io/hostname": "n%03d" % i, "disk": r.choice(["ssd", "hdd"])}
    if r.random() < 0.9:
        labels["topology.kubernetes.io/zone"] = "z%d" % r.randrange(4)
    found = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n%03d" % i, "labels": labels}, "spec": {},
             "status": {"allocatable": {"cpu": str(r.choice([1, 2, 4, 8])), "memory": "8Gi", "pods": "10"}}}
    if r.random() < 0.1:
        found["spec"]["taints"] = [{"key": "k", "value": "v", "effect": "NoSchedule"}]
    return found


def pod(r, i):
    spec = {"containers": [{"name": "c", "image": "i",
                            "resources": {"requests": {"cpu": "%dm" % r.choice([100, 500, 1500, 3000, 7000, 9000])}}}]}
    if r.random() < 0.3:
        spec["nodeSelector"] = {"disk": "ssd"}
    if r.random() < 0.2:
        spec["tolerations"] = [{"operator": "Exists"}]
    if r.random() < 0.2:
        spec["topologySpreadConstraints"] = [{
            "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "labelSelector": {"matchLabels": {"app": "a"}},
            "whenUnsatisfiable": r.choice(["DoNotSchedule", "ScheduleAnyway"])}]
    if r.random() < 0.1:
        spec["schedulerName"] = "bare"
    return {"apiVersion": "v1", "kind": "Pod", "spec": spec,
            "metadata": {"name": "p%d" % i, "namespace": "default", "labels": {"app": r.choice("ab")}}}


def step(r, i, nodes):
    """A pod to schedule; now and then a node comes, changes or goes before it."""
    if r.random() < 0.12:
        fresh = node(r, r.randrange(len(nodes) + 5))
        nodes[fresh["metadata"]["name"]] = fresh
        yield {"op": "apply", "object": fresh}
    elif r.random() < 0.08:
        name = r.choice(sorted(nodes))
        del nodes[name]
        yield {"op": "delete", "kind": "Node", "name": name}
    yield pod(r, i)


def scenario(seed, index):
    r = random.Random("%s-%d" % (seed, index))
    nodes = {n["metadata"]["name"]: n for n in (node(r, i) for i in range(r.choice([60, 99, 100, 101, 150, 250, 400])))}
    objects = list(nodes.values())
    r.shuffle(objects)
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
              "percentageOfNodesToScore": r.choice([1, 20, 50, 70, 99, 100]),
              "profiles": [{"schedulerName": "default-scheduler"},
                           {"schedulerName": "bare", "percentageOfNodesToScore": r.choice([5, 60]),
                            "plugins": {"score": {"disabled": [{"name": "*"}]}, "preScore": {"disabled": [{"name": "*"}]}}}]}
    if r.random() < 0.3:
        config["profiles"][0]["percentageOfNodesToScore"] = r.choice([10, 40, 80])
    steps = [s for i in range(r.randint(10, 25)) for s in step(r, i, nodes)]
    return {"name": "walks-%s-%d" % (seed, index), "objects": objects, "pods": steps, "config": config,
            "options": {"walk": True, "omitRaw": True, "omitAllFailures": True, "afterPreemption": "none"}}


def told(text):
    """What is compared of each attempt; None where a program died."""
    return None if text is None else [{k: p.get(k) or None for k in FIELDS} for p in json.loads(text)["results"]]


def first_difference(wanted, got):
    if wanted is None or got is None or len(wanted) != len(got):
        return "%s attempts and %s" % tuple("no" if x is None else len(x) for x in (wanted, got))
    for i, (one, other) in enumerate(zip(wanted, got)):
        for k in FIELDS:
            if one[k] != other[k]:
                return "attempt %d, %s: kube-scheduler %s, berth %s" % (i, k, one[k], other[k])
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--release", default=play.RELEASES[0], choices=play.RELEASES)
    parser.add_argument("--oracle", help="default: what oracle/build makes for that release")
    parser.add_argument("--berth", default=play.BERTH)
    args = parser.parse_args()
    oracle = args.oracle or play.oracle_of(args.release)
    scenarios = [json.dumps(scenario(args.seed, i)) for i in range(args.count)]
    defaulted = list(play.answers([oracle, "-defaults-only", "-batch"], scenarios))
    wanted = play.answers([oracle, "-batch"], scenarios)
    got = play.answers([args.berth, "simulate", "--batch", "--release", args.release], [d or "{}" for d in defaulted])
    failed = 0
    for text, one, other in zip(scenarios, wanted, got):
        why = first_difference(told(one), told(other))
        failed += why != ""
        if why:
            print("FAILED %s: %s" % (json.loads(text)["name"], why[:400]))
    print("%d passed, %d failed" % (args.count - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
