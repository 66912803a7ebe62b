"""Random scenarios of PodGroups of scheduling.k8s.io: nodes that are nearly full, pods and groups on
them, budgets, and steps one after the other: a group comes, a late member, a pod by itself, a node;
pods go. With claims: nodes have devices, some of them taken, and pods ask for devices, each with a claim
of its own, or all of a group by one. Words of both releases: what only one of them knows is left out for
the other.

What must stay true: a scenario is the same for the same seed, number and release; its outcome is
nearly always one alone: nodes differ in size, pods on nodes in when they started, and a group's pods
are alike where upstream takes them in any order.
"""
import random

CLASSES = {"low": 10, "mid": 50, "high": 100, "top": 1000}
VERSIONS = {"1.36": "v1alpha2", "1.37": "v1beta1"}
TREES = "scheduling.k8s.io/v1alpha3"
LABELS = ("a", "b", "c")
POOL = "pool"
RACK = "rack"  # that not every node has
DRIVER = "gpu.example.com"
DEVICES = "resource.k8s.io/v1"


def cpu_of(node):
    return int(node["status"]["allocatable"]["cpu"])


class Maker:
    """One scenario, from its own dice."""

    def __init__(self, release, gates, seed, number, claims):
        self.r = random.Random("groups/%s/%d/%d%s" % (release, seed, number, "/claims" if claims else ""))
        self.release, self.gates, self.claims = release, gates, claims
        self.topology = "TopologyAwareWorkloadScheduling=true" in gates
        self.trees = "CompositePodGroup=true" in gates
        self.counts = release != "1.36" or "GangScheduling=true" in gates
        self.priorities = release != "1.36" or "WorkloadAwarePreemption" in gates
        self.nodes, self.given, self.steps, self.groups = [], [], [], []
        self.pods = 0

    # ---- objects ----

    def node(self):
        taken = {cpu_of(n) for n in self.nodes}
        cpu = self.r.choice([c for c in range(3, 12) if c not in taken])
        name = "n%d" % len(self.nodes)
        room = {"cpu": str(cpu), "memory": "%dGi" % (cpu * 7 + len(self.nodes) * 3), "pods": "50"}
        self.nodes.append({"apiVersion": "v1", "kind": "Node", "metadata": {
            "name": name, "labels": {"kubernetes.io/hostname": name, POOL: self.r.choice("xy")}}, "spec": {},
            "status": {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}})
        if self.topology and self.r.random() < 0.8:
            self.nodes[-1]["metadata"]["labels"][RACK] = self.r.choice("abc")
        return self.nodes[-1]

    def pod(self, name, cpu, priority, group=None, **spec):
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {}}, "spec": dict(spec, containers=[
            {"name": "main", "image": "registry.example/app:1",
             "resources": {"requests": {"cpu": str(cpu), "memory": "1Gi"}}}])}
        if priority:
            body["spec"]["priorityClassName"] = priority
        if group:
            body["spec"]["schedulingGroup"] = {"podGroupName": group}
        return body

    def policy(self, least):
        return {"basic": {}} if least is None else {"gang": {"minCount": least}}

    def group(self, name, least, priority=None, whole=None, never=False):
        """whole: None, or whether it may only be disrupted as a whole."""
        spec = {"schedulingPolicy": self.policy(least)}
        if self.priorities:
            if priority:
                spec["priority"] = CLASSES[priority]
            if whole is not None:
                spec["disruptionMode"] = (("PodGroup" if whole else "Pod") if self.release == "1.36"
                                          else {"all" if whole else "single": {}})
        if never and "PodGroupPreemptionPolicy" in self.gates:
            spec["preemptionPolicy"] = "Never"
        if self.topology and self.r.random() < 0.7:
            key = self.r.choice((POOL, POOL, RACK, RACK, "kubernetes.io/hostname"))
            spec["schedulingConstraints"] = {"topology": [{"key": key}]}
        return {"apiVersion": "scheduling.k8s.io/" + VERSIONS[self.release], "kind": "PodGroup",
                "metadata": {"name": name}, "spec": spec}

    def tree(self, name, least, priority=None, parent=None):
        """A CompositePodGroup; least: None, or of how many of its groups."""
        spec = {"schedulingPolicy": {"basic": {}} if least is None else {"gang": {"minGroupCount": least}}}
        if priority:
            spec["priority"] = CLASSES[priority]
        whole = self.r.choice((None, None, False, True))
        if whole is not None:
            spec["disruptionMode"] = {"all" if whole else "single": {}}
        if parent:
            spec["parentCompositePodGroupName"] = parent
        if self.r.random() < 0.4:
            spec["schedulingConstraints"] = {"topology": [{"key": self.r.choice((POOL, POOL, RACK))}]}
        return {"apiVersion": TREES, "kind": "CompositePodGroup", "metadata": {"name": name}, "spec": spec}

    # ---- devices ----

    def devices_of(self, node):
        """A slice of the node's devices, all alike, and claims that have the first of them already."""
        name, count = node["metadata"]["name"], self.r.choice((0, 1, 2, 2, 3, 4))
        made = [{"apiVersion": DEVICES, "kind": "ResourceSlice", "metadata": {"name": "slice-" + name}, "spec": {
            "driver": DRIVER, "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}, "nodeName": name,
            "devices": [{"name": "d%d" % i} for i in range(count)]}}] if count else []
        for i in range(min(count, self.r.choice((0, 0, 0, 1, 2)))):
            taken = self.claim("taken-%s-%d" % (name, i), 1)
            result = {"request": "r", "driver": DRIVER, "pool": name, "device": "d%d" % i}
            here = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
            taken["status"] = {"allocation": {"devices": {"results": [result]},
                                              "nodeSelector": {"nodeSelectorTerms": [here]}},
                               "reservedFor": [{"resource": "pods", "name": "gone", "uid": "gone"}]}
            taken["metadata"]["finalizers"] = ["resource.kubernetes.io/delete-protection"]
            made.append(taken)
        return made

    def claim(self, name, count):
        return {"apiVersion": DEVICES, "kind": "ResourceClaim", "metadata": {"name": name}, "spec": {"devices": {
            "requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount",
                                                   "count": count}}]}}}

    def asks_for_devices(self, group):
        """How the group's pods ask: each by a claim of its own, all by one that they name, or by one of the group. As
        1.36 kube-scheduler places who shares a claim where its devices are not, and starts the group in part."""
        group["devices"] = self.r.choice((1, 1, 1, 2))
        group["claims"] = self.r.choice(("each", "each", "each", "one") +
                                        (("group", "group") if "DRAWorkloadResourceClaims=true" in self.gates else ()))
        if self.release == "1.36":
            group["claims"] = "each"
        if group["claims"] == "each":
            return []
        return [("create", self.claim(group["name"] + "-all", group["devices"]))]

    def give_claim(self, group, body):
        """Before the pod: its claim, if it has one of its own."""
        if not group.get("claims"):
            return []
        each = group["claims"] == "each"
        name = body["metadata"]["name"] + "-own" if each else group["name"] + "-all"
        body["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": name}]
        body["spec"]["containers"][0]["resources"]["claims"] = [{"name": "gpu"}]
        return [("create", self.claim(name, group["devices"]))] if each else []

    # ---- who is there ----

    def fill(self):
        """Pods on nodes; some belong to groups that came before."""
        there = []
        for _ in range(self.r.choice((0, 0, 1, 2))):
            name, priority = "old%d" % len(there), self.r.choice(("low", "mid", "high"))
            if self.trees and there: # a tree has one
                priority = there[0][1]
            there.append((name, priority))
            self.given.append(self.group(name, self.r.choice((None, 1, 2)), priority, self.r.choice((None, False, True))))
        if self.trees and there and self.r.random() < 0.6:
            for group in self.given:
                group["spec"]["parentCompositePodGroupName"] = "old"
            self.given.append(self.tree("old", None, there[0][1]))
        for node in self.nodes:
            left = cpu_of(node) - self.r.choice((0, 0, 1, 2))
            while left > 0:
                cpu = min(left, self.r.choice((1, 1, 2, 3)))
                left -= cpu
                group, priority = (self.r.choice(there) if there and self.r.random() < 0.4
                                   else (None, self.r.choice(("low", "low", "mid", "high"))))
                pod = self.pod("f%d" % self.pods, cpu, priority, group, nodeName=node["metadata"]["name"])
                if self.r.random() < 0.4:
                    pod["metadata"]["labels"]["app"] = self.r.choice(LABELS)
                started = "2026-01-01T%02d:%02d:00Z" % (self.r.randrange(24), self.pods)
                pod["status"] = {"phase": "Running", "startTime": started}
                self.pods += 1
                if self.r.random() < 0.9:
                    self.given.append(pod)
        for app in LABELS[:self.r.choice((0, 0, 1, 2))]:
            self.given.append({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": app},
                               "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}},
                               "status": {"disruptionsAllowed": self.r.choice((0, 0, 1, 2)), "currentHealthy": 1,
                                          "desiredHealthy": 1, "expectedPods": 1}})

    # ---- what happens ----

    def members(self, group, count):
        bodies = [self.pod("%s-%d" % (group["name"], group["count"] + i), group["cpu"], group["priority"], group["name"],
                           **group["spec"]) for i in range(count)]
        group["count"] += count
        claims = []
        for body in bodies:
            body["metadata"]["labels"].update(group["labels"])
            claims += self.give_claim(group, body)
        return claims + [("create", body) for body in bodies]

    def group_comes(self):
        r = self.r
        least = r.choice((None, 1, 2, 2, 3, 3, 4, 5))
        count = r.choice((1, 1, 2, 3)) if least is None else max(1, least + r.choice((-1, 0, 0, 0, 0, 1, 2)))
        priority = r.choice((None, "low", "mid", "high", "high", "top", "top"))
        group = {"name": "g%d" % len(self.groups), "least": least, "count": 0, "cpu": r.choice((1, 1, 2, 2, 3)),
                 "priority": priority, "spec": {}, "labels": {}}
        never = r.random() < 0.1
        if never:
            group["spec"]["preemptionPolicy"] = "Never"
        if r.random() < 0.15:
            group["spec"]["nodeSelector"] = {POOL: r.choice("xy")}
        if self.topology and r.random() < 0.3:
            group["labels"] = {"app": "a"}
            group["spec"].update(self.asks_of_pods())
        says = priority if r.random() < 0.95 else r.choice((None, "mid"))
        self.groups.append(group)
        first_of_all = self.asks_for_devices(group) if self.claims and r.random() < 0.8 else []
        bodies = first_of_all + self.members(group, count)
        itself = ("create", self.group(group["name"], least, says, r.choice((None, None, False, True)), never))
        if group.get("claims") == "group":
            itself[1]["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": group["name"] + "-all"}]
        first = r.random() < 0.3 and (count == 1 or (least or 0) >= count)
        first |= not self.counts # nothing holds pods until their group is there
        self.steps.append([itself] + bodies if first else bodies + [itself])

    def leaf(self, name, parent, priority):
        """A PodGroup of a tree, and its pods."""
        least = self.r.choice((None, 1, 1, 2, 2, 3))
        count = self.r.choice((0, 1, 1, 2)) if least is None else max(0, least + self.r.choice((-1, 0, 0, 0, 0, 1)))
        group = {"name": name, "least": least, "count": 0, "cpu": self.r.choice((1, 1, 2, 2, 3)), "priority": priority,
                 "spec": {}, "labels": {}, "leaf": True}
        self.groups.append(group)
        body = self.group(name, least, priority, self.r.choice((None, None, False, True)))
        body["spec"]["parentCompositePodGroupName"] = parent
        return self.members(group, count), [("create", body)]

    def tree_comes(self):
        """Its root comes last, when all below it are known."""
        name, priority = "t%d" % len(self.steps), self.r.choice((None, "low", "mid", "high", "high", "top", "top"))
        pods, leaves, middle, count = [], [], [], self.r.choice((1, 2, 2, 3))
        for i in range(count):
            child = name + "abc"[i]
            if self.r.random() < 0.3:
                below = self.r.choice((1, 2, 2))
                middle.append(("create", self.tree(child, self.least(below), priority, name)))
                new = [self.leaf(child + "xy"[k], child, priority) for k in range(below)]
            else:
                new = [self.leaf(child, name, priority)]
            pods += [step for part, _ in new for step in part]
            leaves += [step for _, part in new for step in part]
        says = priority if self.r.random() < 0.95 else self.r.choice((None, "mid"))
        self.steps.append(pods + leaves + middle + [("create", self.tree(name, self.least(count), says))])

    def least(self, groups):
        return self.r.choice((None, 1, groups, groups, max(1, groups - 1), groups + 1 if self.r.random() < 0.1 else groups))

    def asks_of_pods(self):
        """Filters that count pods; those on nodes have the label, too."""
        wanted, key = {"matchLabels": {"app": "a"}}, self.r.choice((POOL, RACK, "kubernetes.io/hostname"))
        kind = self.r.choice(("spread", "spread", "podAffinity", "podAntiAffinity"))
        if kind == "spread":
            return {"topologySpreadConstraints": [
                {"maxSkew": self.r.choice((1, 1, 2)), "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
                 "labelSelector": wanted}]}
        return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": wanted, "topologyKey": key}]}}}

    def step(self):
        kind = self.r.random()
        if not self.groups or kind < 0.45:
            if self.trees and self.r.random() < 0.8:
                self.tree_comes()
            else:
                self.group_comes()
        elif kind < 0.65:
            group = self.r.choice(self.groups)
            self.steps.append(self.members(group, 1))
        elif kind < 0.75:
            self.pods += 1
            self.steps.append([("create", self.pod("p%d" % self.pods, self.r.choice((1, 2, 3)), self.r.choice(("mid", "high", "top"))))])
        elif kind < 0.85 and len(self.nodes) < 6:
            node = self.node()
            self.steps.append([("create", body) for body in (self.devices_of(node) if self.claims else []) + [node]])
        elif kind < 0.93:
            names = [b["metadata"]["name"] for b in self.given if b["kind"] == "Pod"]
            if names:
                self.steps.append([("delete", self.r.choice(names))])
        else:
            # of a tree that waits for its backoff kube-scheduler has looked before whether it is complete
            group = self.r.choice([g for g in self.groups if not g.get("leaf")] or [{"name": "none", "count": 0}])
            self.steps.append([("delete", "%s-%d" % (group["name"], i)) for i in range(group["count"])])
        if self.r.random() < 0.8:
            self.steps.append([("finish", None)])


def scenario(release, gates, seed, number, claims=False):
    """given: objects that are there before the first step. steps: lists of ("create", object), ("delete",
    pod's name), ("finish", None): pods that are being deleted are gone. gangs: minCount by group."""
    made = Maker(release, gates, seed, number, claims)
    for _ in range(made.r.choice((2, 2, 3, 4))):
        made.node()
    nodes = list(made.nodes)
    if claims:
        nodes += [body for node in made.nodes for body in made.devices_of(node)]
    made.fill()
    for _ in range(made.r.choice((1, 2, 2, 3))):
        made.step()
    return {"number": number, "given": nodes + made.given, "steps": made.steps,
            "gangs": {g["name"]: g["least"] for g in made.groups if g["least"] and made.counts}}
