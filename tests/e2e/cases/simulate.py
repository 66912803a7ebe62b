"""What berth simulate makes of the examples, and of a dump of a living cluster: what the live scheduler does with it."""
import json
import os
import random
import subprocess

import checks
import cluster
import kube
import objects
from suite import case

BERTH = os.path.join(cluster.TOP, "build/bin/berth")
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
SERVICES = "/api/v1/namespaces/default/services"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
REPLICA_SETS = "/apis/apps/v1/namespaces/default/replicasets"
LISTS = (("v1", "Node", kube.NODES), ("v1", "Pod", kube.PODS), ("v1", "Service", SERVICES),
         ("v1", "ConfigMap", CONFIG_MAPS), ("apps/v1", "ReplicaSet", REPLICA_SETS),
         ("scheduling.k8s.io/v1", "PriorityClass", CLASSES))
NODES, RUNNING, WAITING = 12, 40, 50


def simulated(*words, text=None):
    done = subprocess.run([BERTH, "simulate", *words], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=60, cwd=cluster.TOP, check=False)
    checks.expect(done.returncode == 0, "berth simulate %s ended with %s: %s", words, done.returncode, done.stderr)
    return done.stdout, done.stderr


@case("simulate-examples", not_upstream="berth simulate is berth's")
def simulate_examples(world):
    """examples/ in all formats: three of four pods find a node, one does not, and why."""
    files = ("examples/cluster.yaml", "examples/web.yaml")
    nodes = {"web-1": "node-2", "web-2": "node-1", "web-3": "node-2", "web-4": None}
    table, _ = simulated(*files)
    rows = [line.split() for line in table.splitlines()[1:]]
    checks.expect({row[0]: row[2] if row[1] == "scheduled" else None for row in rows} ==
                  {"default/" + name: node for name, node in nodes.items()}, "it says: %s", table)
    wide, _ = simulated("-o", "wide", *files)
    checks.expect("Insufficient cpu (NodeResourcesFit)\n                node-1, node-2\n" in wide, "it says: %s", wide)
    lines, _ = simulated("-o", "ndjson", *files)
    whole, _ = simulated("-o", "json", *files)
    results = [json.loads(line) for line in lines.splitlines()]
    checks.expect(json.loads(whole)["results"] == results and [r.get("node") for r in results] == list(nodes.values()),
                  "it says: %s", lines)
    yaml, _ = simulated("-o", "yaml", *files)
    checks.expect(yaml.count("\n- bestNodes:\n") == 3 and "  result: unschedulable\n" in yaml, "it says: %s", yaml)


def draw_pods(dice, count, prefix, **more):
    """Pods that differ in what they ask for and where they may be."""
    for number in range(count):
        spec = dict(more)
        labels = {"app": "app-%d" % dice.randrange(4)}
        if dice.random() < 0.3:
            spec["nodeSelector"] = {"topology.kubernetes.io/zone": dice.choice("abc")}
        if dice.random() < 0.3:
            spec["tolerations"] = [{"key": "special", "operator": "Exists"}]
        if dice.random() < 0.3:
            spec["topologySpreadConstraints"] = [
                {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "labelSelector": {"matchLabels": labels},
                 "whenUnsatisfiable": dice.choice(("DoNotSchedule", "ScheduleAnyway"))}]
        if dice.random() < 0.2:
            term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}
            spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        made = objects.pod("%s-%02d" % (prefix, number), {"cpu": "%dm" % dice.randrange(100, 1500),
                                                          "memory": "%dMi" % dice.randrange(100, 3000)}, **spec)
        made["metadata"]["labels"] = labels
        if "priorityClassName" in more:
            made["spec"]["priorityClassName"] = "class-%d" % dice.randrange(3)
        yield made


def dump(world):
    """As kubectl get nodes,pods,… -o yaml has it."""
    items = []
    for version, kind, path in LISTS:
        found = world.admin.list(path)
        items += [dict(item, apiVersion=version, kind=kind) for item in (found[0] if isinstance(found, tuple) else found)]
    return json.dumps({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items})


@case("simulate-dump", not_upstream="berth simulate is berth's")
def simulate_dump(world):
    """Fifty random pods wait while nobody schedules: what a dump simulates is what the live scheduler then does."""
    dice = random.Random(int(os.environ.get("BERTH_SEED", "1")))
    world.admin.create_many(kube.NODES, [objects.node(
        "node-%02d" % i, {"cpu": str(dice.choice((4, 8, 16))), "memory": "%dGi" % dice.choice((8, 16, 32))},
        {"topology.kubernetes.io/zone": "abc"[i % 3]},
        [{"key": "special", "effect": "NoSchedule"}] if i % 4 == 3 else None) for i in range(NODES)])
    for number in range(3):
        world.admin.create(CLASSES, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1000 * number,
                                     "metadata": {"name": "class-%d" % number}, "preemptionPolicy": "Never"})
    world.admin.create(SERVICES, {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "app"},
                                  "spec": {"selector": {"app": "app-0"}, "ports": [{"port": 80}]}})
    world.admin.create(CONFIG_MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}})
    pods = world.pods()
    first = world.scheduler(flags=["--tie-break=first"])
    for made in draw_pods(dice, RUNNING, "runs"):
        world.admin.create(kube.PODS, made)
    checks.expect(pods.wait(60, lambda items: len(items) == RUNNING and all(item[1] or item[2] for item in items.values())),
                  "not all are decided: %s", pods.items)
    first.stop()
    for name in [name for name, item in pods.items.items() if not item[1]]:
        world.admin.delete(kube.PODS + "/" + name)
    for made in draw_pods(dice, WAITING, "waits", priorityClassName=""):
        world.admin.create(kube.PODS, made)
    text, complaint = simulated("-o", "ndjson", "--release", world.options.release, text=dump(world))
    checks.expect("1 ConfigMap" in complaint or "2 ConfigMap" in complaint, "it complains: %s", complaint)
    said = {r["pod"].split("/")[1]: (r.get("node", ""), r.get("message")) for r in map(json.loads, text.splitlines())}
    waiting = ["waits-%02d" % number for number in range(WAITING)]
    checks.expect(sorted(said) == waiting and 10 < sum(bool(node) for node, _ in said.values()) < WAITING,
                  "it says: %s", said)
    world.scheduler(flags=["--tie-break=first"])
    nodes = {name: node for name, (node, _) in said.items()}
    # Who finds a node beside pods that came later is tried again by the live one after its backoff.
    settled = pods.wait(60, lambda items: all(items[name][1] == nodes[name] and (items[name][1] or items[name][2])
                                              for name in waiting))
    is_so = {name: (pods.items[name][1], pods.items[name][2][1] if pods.items[name][2] else None) for name in waiting}
    checks.expect(settled, "%s", {name: (said[name], is_so[name]) for name in waiting if nodes[name] != is_so[name][0]})
