#!/usr/bin/env python3
"""Prints random scenarios, one JSON document a line, that need only the rules berth has.

    gen.py [COUNT [SEED [KIND,…]]]

Kinds (default: all): plain (default weights), config (random weights, strategies, arguments),
nominated (pending pods with a claim on a node), preempt (PostFilter's messages), ops (nodes and
pods that come, change and go between the attempts), resize (pods whose status says other amounts
than their spec). The same COUNT, SEED and KIND give the same scenarios."""
import json
import random
import sys

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
LATER = ["VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread",
         "InterPodAffinity", "NodeDeclaredFeatures"]
KINDS = ["plain", "config", "nominated", "preempt", "ops", "resize"]


def chance(r, p):
    return r.random() < p


def requirement(r, sound):
    k = r.random()
    if not sound and k < .08:
        return r.choice([
            {"key": "gen", "operator": "Gt", "values": ["many"]},
            {"key": "gen", "operator": "Lt", "values": ["1", "2"]},
            {"key": "disk", "operator": "In"},
            {"key": "disk", "operator": "Exists", "values": ["ssd"]},
            {"key": "not/a/key", "operator": "Exists"},
            {"key": "disk", "operator": "In", "values": ["no good!"]},
            {"key": "disk", "operator": "Near", "values": ["ssd"]}])
    if k < .5:
        values = r.sample(["ssd", "hdd", "z0", "z1", "z2", "1", "5", "", "x"], r.randint(1, 4))
        return {"key": r.choice(["disk", ZONE, "gen", "nope"]), "operator": r.choice(["In", "NotIn"]),
                "values": values}
    if k < .75:
        return {"key": r.choice(["disk", "gen", "rack"]), "operator": r.choice(["Exists", "DoesNotExist"])}
    return {"key": r.choice(["gen", "gen", "disk"]), "operator": r.choice(["Gt", "Lt"]),
            "values": [r.choice(["0", "2", "3", "4", "6"] + ([] if sound else ["-2"]))]}


def field(r, sound):
    f = {"key": "metadata.name", "operator": r.choice(["In", "In", "NotIn"]),
         "values": ["n%d" % r.randint(0, 12)]}
    if not sound and chance(r, .1):
        f["operator"] = "Exists"
    return f


def term(r, sound=False, names=.1):
    t = {}
    if chance(r, names):
        t["matchFields"] = [field(r, sound) for _ in range(1 + chance(r, .2))]
    if not t or chance(r, .6):
        t["matchExpressions"] = [requirement(r, sound) for _ in range(r.randint(1, 2))]
    if not sound and chance(r, .04):
        t = {}
    return t


def preferred(r, names=.1):
    sound = names == 0 or not chance(r, .1)
    return [{"weight": r.randint(1, 100), "preference": term(r, sound, names)}
            for _ in range(r.randint(1, 3))]


def taint(r):
    return {"key": r.choice(["k1", "k2", "k3"]), "value": r.choice(["", "v", "w"]),
            "effect": r.choice(["NoSchedule", "PreferNoSchedule", "PreferNoSchedule", "NoExecute"])}


def toleration(r):
    k = r.random()
    if k < .12:
        return {"operator": "Exists"}
    if k < .18:
        return {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}
    if k < .21:
        return {"value": r.choice(["v", ""])}  # no key, Equal
    t = {"key": r.choice(["k1", "k2", "k3"])}
    if chance(r, .5):
        t["operator"] = "Exists"
    else:
        t["value"] = r.choice(["", "v", "w"])
        if chance(r, .3):
            t["operator"] = "Equal"
    if chance(r, .6):
        t["effect"] = r.choice(["NoSchedule", "PreferNoSchedule", "NoExecute"])
    return t


def images(r):
    found = []
    for j in r.sample(range(6), r.randint(1, 4)):
        names = ["img%d:v1" % j, "docker.io/img%d:v1" % j, "img%d:latest" % j, "reg:5000/img%d:latest" % j]
        found.append({"names": r.sample(names, r.randint(1, 3)), "sizeBytes": r.randint(1, 1400) * 1000003})
    return found


def node(r, i, with_images=True):
    labels = {HOST: "n%d" % i}
    if chance(r, .85):
        labels[ZONE] = "z%d" % r.randint(0, 2)
    if chance(r, .6):
        labels["disk"] = r.choice(["ssd", "hdd", ""])
    if chance(r, .7):
        labels["gen"] = r.choice(["1", "3", "5", "x", "-3", "007"])
    if chance(r, .4):
        labels["rack"] = r.choice(["r1", "r2"])
    capacity = {"cpu": r.choice(["1", "2", "4", "4", "8", "3500m", "64"]),
                "memory": r.choice(["2Gi", "4Gi", "8Gi", "32Gi", "5000000001", "1Ti"]),
                "pods": r.choice(["110", "110", "110", "3", "0"]),
                "ephemeral-storage": r.choice(["100Gi", "20Gi", "0"])}
    if chance(r, .35):
        capacity["example.com/gpu"] = str(r.randint(0, 4))
    if chance(r, .15):
        capacity["hugepages-2Mi"] = r.choice(["0", "64Mi", "1Gi"])
    if chance(r, .05):
        del capacity[r.choice(["cpu", "memory", "pods"])]
    status = {"capacity": capacity}
    if chance(r, .2):
        status["allocatable"] = dict(capacity, cpu=r.choice(["900m", "0", "1500m"]))
    if with_images and chance(r, .5):
        status["images"] = images(r)
    n = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n%d" % i, "labels": labels},
         "spec": {}, "status": status}
    if chance(r, .4):
        n["spec"]["taints"] = [taint(r) for _ in range(r.randint(1, 3))]
    if chance(r, .07):
        n["spec"]["unschedulable"] = True
    return n


CPU = ["0", "1m", "50m", "100m", "250m", "333m", "500m", "1", "1500m", "2", "0.1", "1e-1"]
MEMORY = ["0", "64Mi", "100M", "256Mi", "1Gi", "2Gi", "3000000000", "123456789", "0.5Gi", "1500m"]


def amounts(r, scalar):
    a = {}
    if chance(r, .8):
        a["cpu"] = r.choice(CPU)
    if chance(r, .65):
        a["memory"] = r.choice(MEMORY)
    if chance(r, .07):
        a["ephemeral-storage"] = r.choice(["1Gi", "10Gi", "30Gi"])
    if scalar and chance(r, .5):
        a[scalar] = "8Mi" if scalar.startswith("huge") else str(r.randint(0, 3))
    return a


def resources(r, scalar):
    a = amounts(r, scalar)
    if chance(r, .15):
        return {"limits": a}
    out = {"requests": a}
    if scalar and scalar in a:
        out["limits"] = {scalar: a[scalar]}
    return out


def container(r, name, scalar):
    image = r.choice(["img%d:v1", "img%d:v1", "img%d", "docker.io/img%d:v1", "reg:5000/img%d"]) % r.randint(0, 6)
    c = {"name": name, "image": image, "resources": resources(r, scalar)}
    if chance(r, .12):
        port = {"containerPort": 80, "hostPort": r.randint(8000, 8002),
                "protocol": r.choice(["TCP", "TCP", "UDP"])}
        if chance(r, .4):
            port["hostIP"] = r.choice(["127.0.0.1", "10.0.0.1", "0.0.0.0"])
        c["ports"] = [port]
    return c


def add_affinity(r, spec):
    a = {}
    if chance(r, .6):
        names = .9 if chance(r, .25) else .1
        a["requiredDuringSchedulingIgnoredDuringExecution"] = {
            "nodeSelectorTerms": [term(r, False, names) for _ in range(r.randint(1, 3))]}
    if chance(r, .6):
        a["preferredDuringSchedulingIgnoredDuringExecution"] = preferred(r)
    spec["affinity"] = {"nodeAffinity": a}


def pod(r, name, kind):
    scalar = r.choice(["example.com/gpu", "example.com/gpu", "hugepages-2Mi"]) if chance(r, .15) else None
    spec = {"containers": [container(r, "c%d" % i, scalar) for i in range(1 + chance(r, .25) + chance(r, .1))]}
    p = {"apiVersion": "v1", "kind": "Pod",
         "metadata": {"name": name, "namespace": r.choice(["default", "default", "blue"])}, "spec": spec}
    if chance(r, .2):
        spec["initContainers"] = []
        for i in range(r.randint(1, 3)):
            c = container(r, "i%d" % i, scalar)
            if chance(r, .5):
                c["restartPolicy"] = "Always"
            spec["initContainers"].append(c)
    if chance(r, .1):
        spec["overhead"] = {"cpu": "100m", "memory": "32Mi"}
    if chance(r, .1):
        spec["resources"] = {"requests": {k: v for k, v in amounts(r, None).items() if k in ("cpu", "memory")}}
    if chance(r, .06):
        spec["volumes"] = [{"name": "v", "image": {"reference": "img%d:v1" % r.randint(0, 5)}}]
    if kind == "preempt":
        spec["priority"] = r.choice([0, 0, 10, 100])
        if chance(r, .15):
            spec["preemptionPolicy"] = "Never"
    elif chance(r, .5):
        spec["priority"] = r.choice([0, 0, 10, 100, 1000, -5])
    if chance(r, .4):
        spec["tolerations"] = [toleration(r) for _ in range(r.randint(1, 3))]
    if chance(r, .12):
        spec["nodeSelector"] = r.choice([{"disk": "ssd"}, {ZONE: "z0"}, {"disk": "hdd", ZONE: "z1"}, {},
                                         {"nope": "x"}, {"disk": ""}])
    if chance(r, .3):
        add_affinity(r, spec)
    return p


def resized(r, p):
    """A status as a kubelet in the middle of a resize would leave it."""
    states = []
    for c in p["spec"]["containers"]:
        states.append({"name": c["name"], "image": c["image"], "imageID": "", "ready": True, "restartCount": 0,
                       "allocatedResources": amounts(r, None), "resources": {"requests": amounts(r, None)}})
    p["status"]["containerStatuses"] = states
    if chance(r, .3):
        p["status"]["conditions"] = [{"type": "PodResizePending", "status": "True",
                                      "reason": r.choice(["Infeasible", "Deferred"])}]


def bound(r, name, nodes, kind):
    p = pod(r, name, kind)
    p["spec"]["nodeName"] = r.choice(nodes)
    p["status"] = {"phase": r.choice(["Running", "Running", "Pending", "Succeeded"] if chance(r, .1) else ["Running"]),
                   "startTime": "2024-06-01T%02d:%02d:00Z" % (r.randint(0, 23), r.randint(0, 59))}
    if kind == "resize" and chance(r, .6):
        resized(r, p)
    return p


def pending(r, name, nodes, kind):
    p = pod(r, name, kind)
    if chance(r, .02):
        p["spec"]["schedulingGates"] = [{"name": "g1"}, {"name": "g2"}]
    elif kind == "nominated" and chance(r, .4):
        p["status"] = {"phase": "Pending", "nominatedNodeName": r.choice(nodes + ["gone"])}
    return p


def strategy(r):
    names = r.sample(["cpu", "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi"], r.randint(1, 4))
    s = {"type": r.choice(["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]),
         "resources": [{"name": n, "weight": r.randint(1, 9)} for n in names]}
    if s["type"] == "RequestedToCapacityRatio":
        at = sorted(r.sample(range(0, 101), r.randint(1, 4)))
        s["requestedToCapacityRatio"] = {"shape": [{"utilization": u, "score": r.randint(0, 10)} for u in at]}
    return s


def plugin_config(r):
    out = []
    fit = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "NodeResourcesFitArgs"}
    if chance(r, .7):
        fit["scoringStrategy"] = strategy(r)
    if chance(r, .3):
        fit["ignoredResources"] = r.sample(["example.com/gpu", "other.com/x"], r.randint(1, 2))
    if chance(r, .2):
        fit["ignoredResourceGroups"] = ["example.com"]
    out.append({"name": "NodeResourcesFit", "args": fit})
    if chance(r, .5):
        names = r.sample(["cpu", "memory", "ephemeral-storage", "example.com/gpu"], r.randint(1, 4))
        out.append({"name": "NodeResourcesBalancedAllocation",
                    "args": {"apiVersion": "kubescheduler.config.k8s.io/v1",
                             "kind": "NodeResourcesBalancedAllocationArgs",
                             "resources": [{"name": n, "weight": 1} for n in names]}})
    if chance(r, .3):
        added = {}
        if chance(r, .6):
            added["requiredDuringSchedulingIgnoredDuringExecution"] = {
                "nodeSelectorTerms": [term(r, True, 0) for _ in range(r.randint(1, 2))]}
        if chance(r, .6):
            added["preferredDuringSchedulingIgnoredDuringExecution"] = preferred(r, 0)
        out.append({"name": "NodeAffinity", "args": {"apiVersion": "kubescheduler.config.k8s.io/v1",
                                                     "kind": "NodeAffinityArgs", "addedAffinity": added}})
    return out


def weights(r):
    """Some rules with other weights, some without, in an order of their own."""
    names = ["TaintToleration", "NodeAffinity", "NodeResourcesFit", "NodeResourcesBalancedAllocation", "ImageLocality"]
    chosen = r.sample(names, r.randint(1, 5))
    point = {"enabled": [{"name": n, "weight": r.randint(0, 20)} for n in chosen]}
    gone = [{"name": n} for n in names if n not in chosen and chance(r, .3)]
    if gone:
        point["disabled"] = gone
    return point


def configuration(r, kind):
    off = list(LATER)
    if kind != "preempt":
        off += ["DynamicResources", "DefaultPreemption"]
    elif chance(r, .3):
        off += r.sample(["DynamicResources", "DefaultPreemption"], 1)
    profile = {"schedulerName": "default-scheduler",
               "plugins": {"multiPoint": {"disabled": [{"name": n} for n in off]}}}
    if kind == "config":
        if chance(r, .6):
            profile["plugins"]["score"] = weights(r)
        if chance(r, .05):
            profile["plugins"]["score"] = {"disabled": [{"name": "*"}]}
        if chance(r, .08):
            profile["plugins"]["preScore"] = {"disabled": [{"name": r.choice([
                "NodeResourcesBalancedAllocation", "NodeResourcesFit"])}]}
        if chance(r, .1):
            profile["plugins"]["filter"] = {"disabled": [{"name": r.choice(["NodePorts", "NodeAffinity",
                                                                            "TaintToleration"])}]}
        profile["pluginConfig"] = plugin_config(r)
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
            "profiles": [profile]}


def operation(r, k, count, names, nodes):
    x = r.random()
    if x < .25:
        return {"op": "apply", "object": node(r, r.randrange(count + 2), False)}
    if x < .35 and len(nodes) > 1:
        return {"op": "delete", "kind": "Node", "name": nodes.pop(r.randrange(len(nodes)))}
    if x < .6:
        b = bound(r, "late%d" % k, ["n%d" % i for i in range(count)], "ops")
        b["status"]["phase"] = "Running"
        return {"op": "apply", "object": b}
    if x < .8 and names:
        p = names.pop(r.randrange(len(names)))
        return {"op": "delete", "kind": "Pod", "namespace": p["metadata"]["namespace"],
                "name": p["metadata"]["name"]}
    return {"op": "schedule", "namespace": "default", "name": "first"}


def scenario(seed, k, kinds):
    r = random.Random(seed * 1000003 + k)
    kind = r.choice(kinds)
    count = r.randint(1, 12)
    nodes = ["n%d" % i for i in range(count)]
    objects = [node(r, i, kind != "ops") for i in range(count)]
    if chance(r, .02):
        objects, nodes = [], ["n0"]
    running = [bound(r, "e%d" % i, nodes, kind) for i in range(r.randint(0, 3 * count))]
    objects += running
    first = pending(r, "first", nodes, kind)
    first["metadata"]["namespace"] = "default"
    steps = [pending(r, "p%d" % i, nodes, kind) for i in range(r.randint(1, 10))]
    if kind == "ops":
        objects.append(first)
        alive = [p for p in running if p["status"]["phase"] != "Succeeded"]
        mixed = []
        for i, p in enumerate(steps):
            for j in range(r.randint(0, 2)):
                mixed.append(operation(r, 10 * i + j, count, alive, nodes))
            mixed.append(p)
        steps = mixed
    if kind == "nominated":
        objects += [pending(r, "w%d" % i, nodes, kind) for i in range(r.randint(0, 4))]
    return {"name": "gen-%d-%d-%s" % (seed, k, kind), "objects": objects, "pods": steps,
            "config": configuration(r, kind),
            "options": {"afterPreemption": "none", "omitAllFailures": True, "pick": r.choice(["first", "last"])}}


def main(argv):
    count = int(argv[1]) if len(argv) > 1 else 100
    seed = int(argv[2]) if len(argv) > 2 else 1
    kinds = argv[3].split(",") if len(argv) > 3 else KINDS
    for unknown in set(kinds) - set(KINDS):
        sys.exit("gen.py: no kind \"%s\"; there are %s" % (unknown, ", ".join(KINDS)))
    for k in range(count):
        print(json.dumps(scenario(seed, k, kinds)))


if __name__ == "__main__":
    main(sys.argv)
