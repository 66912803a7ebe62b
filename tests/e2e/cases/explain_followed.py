"""What berth explain says a node would need is done, word by word, until the pod is there."""
import os
import random
import re
import subprocess

import checks
import cluster
import kube
import objects
from cases.explain import explained
from suite import case

ROOM = {"cpu": "4", "memory": "8Gi", "pods": "10"}
GPU = "example.com/gpu"
CASES, ROUNDS = 50, 4
SIZES = {"": 1, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, " byte": 1, " bytes": 1}
OBSTACLES = ("cpu", "memory", "gpu", "pods", "taint", "cordon", "label", "affinity", "port", "keeps-away", "kept-away", "friend",
             "spread")


class Trial:
    """A node, a pod that is for it alone, and what keeps the one from the other."""

    def __init__(self, world, number, obstacles):
        self.world, self.obstacles = world, obstacles
        self.node, self.pod, self.fillers = "node-%02d" % number, "pod-%02d" % number, 0
        self.app = {"app": "app-%02d" % number}

    def filler(self, **spec):
        """A pod that is on the node already."""
        self.fillers += 1
        body = objects.pod("filler-%s-%d" % (self.node, self.fillers), nodeName=self.node, **spec)
        body["metadata"]["labels"] = {"filler": self.node}
        return body

    def away(self, labels):
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}
        return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}

    def build(self):
        has, fillers = self.obstacles, []
        room = dict(ROOM, pods="2" if "pods" in has else "10")
        taints = [{"key": "team", "value": "a", "effect": "NoSchedule"}, {"key": "old", "effect": "NoExecute"}]
        node = objects.node(self.node, room, taints=taints if "taint" in has else None, unschedulable="cordon" in has)
        requests = {"cpu": "6100m" if "cpu" in has else "100m", "memory": "9728Mi" if "memory" in has else "64Mi"}
        spec = {"nodeSelector": {"kubernetes.io/hostname": self.node}, "affinity": {}}
        if "gpu" in has:
            requests[GPU] = "2"
        if "label" in has:
            spec["nodeSelector"]["disk"] = "ssd"
        if "affinity" in has:
            spec["affinity"].update(objects.node_affinity("tier", ["front", "back"]))
        if "pods" in has:
            fillers += [self.filler(), self.filler()]
        if "keeps-away" in has:
            fillers.append(self.filler(affinity=self.away(self.app)))
        if "kept-away" in has:
            fillers += [self.filler(), self.filler()]
            spec["affinity"].update(self.away({"filler": self.node}))
        if "friend" in has:
            term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"friend-of": self.pod}}}
            spec["affinity"]["podAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        if "spread" in has:
            fillers += [self.filler(), self.filler()]
            spec["topologySpreadConstraints"] = [{
                "maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
                "nodeAffinityPolicy": "Ignore", "labelSelector": {"matchLabels": {"filler": self.node}}}]
        pod = objects.pod(self.pod, requests, **spec)
        pod["metadata"]["labels"] = self.app
        if "port" in has:
            port = [{"containerPort": 80, "hostPort": 8080}]
            fillers.append(self.filler())
            for body in (fillers[-1], pod):
                body["spec"]["containers"][0]["ports"] = port
        self.world.admin.create(kube.NODES, node)
        self.world.admin.create_many(kube.PODS, fillers)
        self.world.admin.create(kube.PODS, pod)

    # ---- doing what is said ----

    def change_node(self, change):
        path = kube.NODES + "/" + self.node
        node = self.world.admin.get(path)
        change(node)
        self.world.admin.put(path, node)
        self.world.admin.put(path + "/status", dict(node, metadata=dict(
            node["metadata"], resourceVersion=self.world.admin.get(path)["metadata"]["resourceVersion"])))

    def add_room(self, resource, amount):
        def change(node):
            for kind in ("capacity", "allocatable"):
                node["status"][kind][resource] = amount(node["status"][kind].get(resource, "0"))
        self.change_node(change)

    def take_pods(self, names):
        """Two parts may name the same one."""
        for name in names:
            if name in self.fillers_there():
                self.world.admin.delete(kube.PODS + "/" + name.split("/")[1])

    def fillers_there(self):
        """Names of the other pods on the node, the one last that is to stay."""
        there = [p["metadata"] for p in self.world.admin.list(kube.PODS)[0]
                 if p["spec"].get("nodeName") == self.node and p["metadata"]["name"] != self.pod]
        return ["default/" + meta["name"] for meta in sorted(there, key=lambda meta: "friend-of" in meta.get("labels", {}))]

    def do(self, part):
        """One part of a suggestion."""
        more = re.match(r"([\d.]+)(m?) CPU more", part)
        size = re.match(r"([\d.]+)(Ki|Mi|Gi| bytes?) memory more", part)
        gpus = re.match(r"(\d+) example.com/gpu more", part)
        fewer = re.match(r"(\d+) pods? (?:matching .* )?fewer ", part)
        label = re.match(r"label ([^ =]+)=([^ ]+)", part)
        friend = re.match(r"a pod (?:on the node|in .*) that matches ([^ =]+)=(\S+)", part)
        if more:
            extra = float(more[1]) * (1 if more[2] else 1000)
            self.add_room("cpu", lambda has: "%dm" % (int(has.rstrip("m")) * (1 if has.endswith("m") else 1000) + extra))
        elif size:
            extra = int(float(size[1]) * SIZES[size[2]])
            self.add_room("memory", lambda has: str(int(has[:-2]) * SIZES[has[-2:]] + extra))
        elif gpus:
            self.add_room(GPU, lambda has: str(int(has) + int(gpus[1])))
        elif fewer:
            self.take_pods(self.fillers_there()[:int(fewer[1])])
        elif part.startswith("uncordon the node"):
            self.change_node(lambda node: node["spec"].pop("unschedulable", None))
        elif part.endswith(("or take the taint off", "or take the taints off")):
            self.change_node(lambda node: node["spec"].pop("taints", None))
        elif label:
            self.change_node(lambda node: node["metadata"]["labels"].update({label[1]: label[2]}))
        elif friend:
            body = self.filler()
            body["metadata"]["labels"] = {friend[1]: friend[2]}
            self.world.admin.create(kube.PODS, body)
        elif re.search(r"pods? default/", part):
            self.take_pods(set(re.findall(r"default/[a-z0-9-]+", part)))
        else:
            raise checks.Failed("%s: nobody knows how to do this: %s" % (self.pod, part))

    def is_there(self):
        return self.world.admin.get(kube.PODS + "/" + self.pod)["spec"].get("nodeName") == self.node

    def follow(self, pods, subject):
        """True when the pod is there in the end. Where many pods are in the way some are named at a time."""
        checks.expect(pods.wait(60, lambda items: self.pod in items and (items[self.pod][1] or items[self.pod][2])),
                      "%s was neither placed nor told why not", self.pod)
        said = []
        for _ in range(ROUNDS):
            needs = explained(subject, self.pod, "--node", self.node).get("needs", {})
            said.append(needs)
            for text in needs.values():
                for part in text.split("; "):
                    self.do(part)
            try:
                checks.wait_until(10, self.is_there, "not yet")
                return
            except checks.Failed:
                continue
        raise checks.Failed("%s (%s) is not there after doing %s" % (self.pod, self.obstacles, said))


@case("explain-followed", not_upstream="berth explain is berth's")
def explain_followed(world):
    """Fifty pods, each for one node with one to three things in the way."""
    seed = subprocess.run([os.path.join(cluster.TOP, "tests", "seed")], stdout=subprocess.PIPE, text=True, check=True).stdout
    choice = random.Random("explain/" + os.environ.get("BERTH_SEED", seed.strip()))
    pods = world.pods()
    subject = world.scheduler()
    for number in range(CASES):
        first = OBSTACLES[number % len(OBSTACLES)]
        others = choice.sample([o for o in OBSTACLES if o != first], choice.randrange(3))
        trial = Trial(world, number, [first, *others])
        trial.build()
        trial.follow(pods, subject)
