"""Random questions to `berth whatif`, each then really done: everything goes where it was said.

The scheduler takes the first of equally good nodes, as `berth whatif` does. BERTH_SEED says which
questions these are; BERTH_QUESTIONS how many (CI: 8 on the small API server, 12 on the real one).
"""
import json
import os
import random
import subprocess

import checks
import cluster
import kube
import objects
from cases.whatif import BERTH, deployment, places, pods_of, told
from suite import case

ROUND = 10  # questions that a cluster is asked before it is emptied
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
CLASSES = {"low": -10, "middle": 10, "high": 1000}
TAINT = {"key": "kept", "value": "yes", "effect": "NoSchedule"}
PRIORITY_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
REPLICA_SETS = "/apis/apps/v1/namespaces/default/replicasets"


def seed_of():
    done = subprocess.run([os.path.join(cluster.TOP, "tests/seed")], stdout=subprocess.PIPE, text=True, check=True)
    return int(done.stdout)


def class_of(name):
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": CLASSES[name]}


def some_node(dice, name):
    taints = [dict(TAINT, effect=dice.choice(["NoSchedule", "PreferNoSchedule"]))] if dice.random() < 0.2 else None
    room = {"cpu": "%dm" % dice.randrange(1500, 8000, 100), "memory": "%dMi" % dice.randrange(2000, 16000, 100)}
    return objects.node(name, room, {ZONE: "z%d" % dice.randrange(3), "disk": dice.choice(["ssd", "hdd"])}, taints)


def some_spec(dice, app):
    """What a workload asks for beside CPU and memory."""
    mine = {"matchLabels": {"app": app}}
    kind = dice.randrange(8)
    spec = {}
    if kind == 0:
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": HOST, "labelSelector": mine}]}}
    elif kind == 1:
        spec["affinity"] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": ZONE, "labelSelector": mine}]}}
    elif kind == 2:
        spec["affinity"] = objects.node_affinity("disk", [dice.choice(["ssd", "hdd"])])
    elif kind == 3:
        spec["topologySpreadConstraints"] = [{"maxSkew": 1, "topologyKey": dice.choice([ZONE, HOST]), "labelSelector": mine,
                                              "whenUnsatisfiable": dice.choice(["DoNotSchedule", "ScheduleAnyway"])}]
    elif kind == 4:
        spec["affinity"] = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": dice.randrange(1, 100), "podAffinityTerm": {"topologyKey": ZONE, "labelSelector": mine}}]}}
    elif kind == 5:
        spec["nodeSelector"] = {ZONE: "z%d" % dice.randrange(3)}
    if dice.random() < 0.4:
        spec["tolerations"] = [{"key": "kept", "operator": "Exists"}]
    if dice.random() < 0.5:
        spec["priorityClassName"] = dice.choice(sorted(CLASSES))
    spec["terminationGracePeriodSeconds"] = 0
    return spec


def some_workload(dice, number):
    name = "app-%03d" % number
    requests = {"cpu": "%dm" % dice.randrange(100, 2500, 50), "memory": "%dMi" % dice.randrange(100, 3000, 50)}
    return deployment(name, dice.randrange(1, 6), requests, **some_spec(dice, name))


class Asked:
    """A cluster that questions are asked about, and that then follows the answers."""

    def __init__(self, world, subject, pods, dice):
        self.world, self.subject, self.pods, self.dice = world, subject, pods, dice
        self.made, self.nodes, self.bodies, self.count = 0, {}, {}, 0
        self.kinds, self.started = {}, set()

    # -- the cluster --

    def remove(self, path):
        """It may have been evicted in between."""
        try:
            self.world.admin.delete(path)
        except kube.ApiError as error:
            if error.status != 404:
                raise

    def begin(self):
        for path, names in ((kube.PODS, list(self.pods.items)), (kube.NODES, list(self.nodes))):
            for name in names:
                self.remove(path + "/" + name)
        checks.expect(self.pods.wait(60, lambda items: not items), "pods are left: %s", self.pods.items)
        self.nodes, self.bodies = {}, {}
        for i in range(self.dice.randrange(4, 11)):
            node = some_node(self.dice, "n%02d" % i)
            self.nodes[node["metadata"]["name"]] = node
        self.world.admin.create_many(kube.NODES, self.nodes.values())
        self.settled()

    def settled(self):
        """The watcher of the tool has what the API server has: pods with their nodes, and nodes."""
        def same():
            done = subprocess.run([BERTH, "pods", "-A", "-o", "json", "--run-dir", self.subject.rundir], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, check=False)
            listed = subprocess.run([BERTH, "nodes", "-o", "json", "--run-dir", self.subject.rundir], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True, check=False)
            if done.returncode or listed.returncode:
                return False
            seen = {p["name"]: p.get("node", "") for p in json.loads(done.stdout)}
            known = {n["name"]: n["unschedulable"] for n in json.loads(listed.stdout)}
            return (seen == {name: item[1] for name, item in self.pods.items.items()} and
                    known == {name: bool(node["spec"].get("unschedulable")) for name, node in self.nodes.items()} and
                    all("startedUs" in p for p in json.loads(done.stdout) if p["name"] in self.started) and
                    all(p["status"] in ("Scheduled", "unschedulable") for p in json.loads(done.stdout)))
        checks.wait_until(60, same, "the watcher does not come to what there is")

    # -- what is really done --

    def send(self, pod):
        name = pod["metadata"]["name"]
        body = json.loads(json.dumps(pod))
        chosen = body["spec"].get("priorityClassName")
        if self.world.options.api == "small" and chosen:
            body["spec"]["priority"] = CLASSES[chosen]
        self.bodies[name] = body
        self.started.discard(name)
        self.world.admin.create(kube.PODS, body)
        checks.expect(self.pods.wait(60, lambda items: name in items and (items[name][1] or items[name][2])),
                      "%s is not decided", name)
        self.nominated(name)

    def nominated(self, name):
        """Who evicts somebody is tried again when they are gone."""
        def over():
            status = self.world.admin.get(kube.PODS + "/" + name)
            return status["spec"].get("nodeName") or not status.get("status", {}).get("nominatedNodeName")
        checks.wait_until(60, over, "%s stays nominated" % name)

    def delete(self, name):
        self.remove(kube.PODS + "/" + name)
        checks.expect(self.pods.wait(60, lambda items: name not in items), "%s is still there", name)

    def cordon(self, name):
        node = self.world.admin.get(kube.NODES + "/" + name)
        node["spec"]["unschedulable"] = True
        self.world.admin.put(kube.NODES + "/" + name, node)
        self.nodes[name]["spec"]["unschedulable"] = True

    def add_nodes(self, like, names):
        for name in names:
            node = json.loads(json.dumps(self.nodes[like]))
            node["metadata"]["name"] = name
            node["metadata"]["labels"][HOST] = name
            self.world.admin.create(kube.NODES, node)
            self.nodes[name] = node

    # -- questions --

    def start_pods(self):
        """As kubelets do, each at a time of its own: victims of one age would be equally good."""
        for name in sorted(name for name, item in self.pods.items.items() if item[1] and name not in self.started):
            at = "2026-01-%02dT%02d:%02d:00Z" % (1 + len(self.started) // 1440, len(self.started) // 60 % 24, len(self.started) % 60)
            self.world.admin.request("PATCH", kube.PODS + "/" + name + "/status", {"status": {"startTime": at}},
                                     content="application/merge-patch+json")
            self.started.add(name)

    def clear_of_pending(self):
        """Who waits would be tried with each change; a question is about the others."""
        for name in [name for name, item in self.pods.items.items() if not item[1]]:
            self.delete(name)

    def question(self):
        """Words, a manifest or None, workloads, and what is done to the cluster."""
        kind = self.dice.choice(["new", "new", "new", "drain", "drain", "fail", "delete", "add", "cordon"])
        loads, words, done = [], [], []
        nodes = sorted(name for name in self.nodes if not self.nodes[name]["spec"].get("unschedulable"))
        if len(nodes) < 3:
            kind = "new"
        if kind == "delete":
            bound = sorted(self.pods.items)
            for name in self.dice.sample(bound, min(len(bound), self.dice.randrange(1, 4))):
                words += ["--delete", "pod/default/" + name]
                done.append(lambda name=name: self.delete(name))
        if kind == "fail":
            zone = self.nodes[self.dice.choice(nodes)]["metadata"]["labels"][ZONE]
            words += ["--fail", "zone=" + zone]
            done.append(lambda: self.fail(zone))
        if kind in ("add", "fail") and self.dice.random() < 0.7:
            like, count = self.dice.choice(nodes), self.dice.randrange(1, 3)
            words += ["--add-nodes", str(count), "--like", like]
            body = self.nodes[like]
            done.append(lambda: self.add_like(body, count))
        if kind in ("cordon", "drain"):
            name = self.dice.choice(nodes)
            words += ["--" + kind, name]
            done.append(lambda: self.cordon(name))
            if kind == "drain":
                done.append(lambda: self.clear(name))
        if kind not in ("drain", "fail") or not words:
            for _ in range(self.dice.randrange(1, 4)):
                self.made += 1
                loads.append(some_workload(self.dice, self.made))
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        return words, loads, done

    def add_like(self, body, count):
        like = body["metadata"]["name"]
        names, number = [], 0
        while len(names) < count:
            number += 1
            if "%s-new-%d" % (like, number) not in self.nodes:
                names.append("%s-new-%d" % (like, number))
        self.nodes.setdefault(like, body)
        known = like in {n["metadata"]["name"] for n in self.world.admin.list(kube.NODES)[0]}
        self.add_nodes(like, names)
        if not known:
            del self.nodes[like]

    def clear(self, node):
        for name in [name for name, item in self.pods.items.items() if item[1] == node]:
            self.delete(name)

    def fail(self, zone):
        for name in [name for name, node in self.nodes.items() if node["metadata"]["labels"][ZONE] == zone]:
            self.clear(name)
            self.world.admin.delete(kube.NODES + "/" + name)
            del self.nodes[name]

    def ask(self):
        """One question, its answer, and what then becomes of it."""
        self.count += 1
        self.clear_of_pending()
        self.start_pods()
        self.settled()
        words, loads, done = self.question()
        manifest = {"apiVersion": "v1", "kind": "List", "items": [class_of(name) for name in sorted(CLASSES)] + loads}
        before = len(self.world.log.writes())
        answer = self.answer(words, manifest)
        written = [w for w in self.world.log.writes()[before:] if w.resource != "leases"]
        checks.expect(not written, "somebody has written: %s", checks.some(written))
        said = places(answer)
        moved = [pod["name"] for pod in answer["pods"] if pod["why"] != "new"]
        bodies = {name: self.bodies[name] for name in moved}
        for step in done:
            step()
        self.settled()
        for load in loads:
            for pod in pods_of(self.world, load):
                bodies[pod["metadata"]["name"]] = pod
        checks.expect(set(said) == set(bodies), "it is about %s, not about %s", sorted(said), sorted(bodies))
        for pod in answer["pods"]:
            self.send(bodies[pod["name"]])
        gone = {e["pod"].split("/")[1] for e in answer["evicted"]}
        wanted = {name: node for name, node in said.items() if name not in gone}

        def as_said(items):
            return not gone & set(items) and {name: item[1] for name, item in items.items() if name in said} == wanted
        self.pods.wait(30, as_said)  # what is bound already is still to be seen here
        went = {name: item[1] for name, item in self.pods.items.items() if name in said}
        checks.expect(as_said(self.pods.items), "question %d, %s with %s: it is said %s, evicted %s, of whom %s are there, and it is %s", self.count, words,
                      [load["metadata"]["name"] for load in loads], said, sorted(gone), sorted(gone & set(self.pods.items)), went)

    def answer(self, words, manifest):
        full = [BERTH, "whatif", "-o", "json", *words, "-f", "-", "--run-dir", self.subject.rundir]
        done = subprocess.run(full, input=json.dumps(manifest), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=60, check=False)
        checks.expect(done.returncode in (0, 3), "berth whatif %s ended with %s: %s", words, done.returncode, done.stderr)
        return json.loads(done.stdout)


@case("whatif-random", not_upstream="berth whatif is berth's")
def whatif_random(world):
    """Random questions are answered without a write, and what is then really done comes out the same."""
    seed = seed_of()
    count = int(os.environ.get("BERTH_QUESTIONS", "8" if world.options.api == "small" else "12"))
    pods = world.pods()
    world.admin.create_many(PRIORITY_CLASSES, [class_of(name) for name in CLASSES])
    subject = world.scheduler(flags=("--tie-break", "first"), backoff=1)
    asked = Asked(world, subject, pods, random.Random(seed))
    try:
        for i in range(count):
            if i % ROUND == 0:
                asked.begin()
            asked.ask()
    except checks.Failed as failure:
        raise checks.Failed("BERTH_SEED=%d: %s" % (seed, failure)) from failure
