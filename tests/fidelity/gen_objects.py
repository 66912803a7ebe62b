"""The nodes, pods and other objects of random scenarios, as somebody would send them to the API server.

What must stay true: everything is drawn from the given random.Random and from nothing else, and no two
pods have the same start time (among equals preemption's choice is left to chance upstream).
"""
ZONE, REGION, HOST = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region",
                      "kubernetes.io/hostname")
APPS = ["a", "b", "c"]
NAMESPACES = ["default", "blue", "red", "green"]
POD_LABELS = {"app": APPS, "tier": ["x", "y"], "rev": ["1", "2"]}
GPU, NIC, HUGE, HUGE_1G = "example.com/gpu", "example.com/nic", "hugepages-2Mi", "hugepages-1Gi"
CPU = ["0", "1m", "50m", "100m", "100m", "250m", "250m", "333m", "500m", "500m", "1", "1500m", "2", "0.1", "1e-1",
       "100u"]
MEMORY = ["0", "64Mi", "100M", "256Mi", "256Mi", "1Gi", "1Gi", "2Gi", "3000000000", "123456789", "0.5Gi", "1500m",
          "64Mi"]

HUGE_AMOUNTS = ["7E", "9223372036854775807", "1Ei"]  # whose sums do not fit into 64 bits

# How likely a feature is, in one scenario: the same for all of its pods, so that a scenario has a
# subject, and that not everything is unschedulable for a dozen reasons at once.
FEATURES = {"affinity": [0, .1, .3, .7], "anti": [0, .1, .3, .6], "spread": [0, .1, .4, .8],
            "node_affinity": [0, .1, .4, .8], "taints": [0, .2, .5], "tolerations": [.1, .5],
            "ports": [0, .05, .4], "scalars": [0, .1, .5], "init": [.05, .4], "pod_level": [0, .05, .3],
            "overhead": [0, .1], "images": [0, .4, .8], "owners": [0, .3], "terminating": [0, .05, .2],
            "resized": [0, 0, 0, .5], "gates": [0, .03], "priorities": [.2, .7], "services": [0, .5, 1],
            "budgets": [0, .4, .9], "namespaces": [.1, .5], "tight": [0, 0, .5], "selectors": [.05, .2],
            "never": [0, .05, .3], "odd": [0, 0, .1],
            "absurd": [0]}


class Objects:
    """Draws objects for one scenario. `words` is its mode: any of drive and preempt."""

    def __init__(self, r, words, node_count):
        self.r = r
        self.drive, self.preempt = "drive" in words, "preempt" in words
        self.p = {name: r.choice(levels) for name, levels in FEATURES.items()}
        if self.drive:
            self.p.update(terminating=0, overhead=0, resized=0, odd=0, absurd=0)
        if self.preempt:
            self.p.update(priorities=1, never=r.choice([0, 0, .05]))
            for name in ("taints", "node_affinity", "spread", "anti", "affinity"):
                self.p[name] *= r.choice([0, .5, 1])
        self.nodes = ["n%d" % i for i in range(node_count)]
        self.starts = set()
        self.schedulers = ["default-scheduler"]
        self.classes = []

    def chance(self, p):
        return self.r.random() < p

    def has(self, feature):
        return self.r.random() < self.p[feature]

    def some(self, values, most):
        return self.r.sample(values, self.r.randint(1, min(most, len(values))))

    def start_time(self):
        second = self.r.randrange(86400)
        while second in self.starts:
            second = self.r.randrange(86400)
        self.starts.add(second)
        return "2024-06-01T%02d:%02d:%02dZ" % (second // 3600, second // 60 % 60, second % 60)

    # ---- selectors and terms ----

    def label_requirement(self):
        r = self.r
        key = r.choice(["app", "app", "app", "tier", "tier", "rev", "nope", ZONE])
        operator = r.choice(["In", "In", "NotIn", "Exists", "DoesNotExist"])
        found = {"key": key, "operator": operator}
        if operator in ("In", "NotIn"):
            found["values"] = self.some(POD_LABELS.get(key, ["z0", "z1", "x"]), 2)
        return found

    def label_selector(self, nothing=.04):
        """Of pods; with a small chance None (matches nothing) or empty (matches all)."""
        k = self.r.random()
        if k < nothing:
            return None
        if k < .55:
            return {"matchLabels": {"app": self.r.choice(APPS)}}
        if k < .62:
            return {"matchLabels": {"app": self.r.choice(APPS), "tier": self.r.choice(["x", "y"])}}
        if k < .70:
            return {}
        found = {"matchExpressions": [self.label_requirement() for _ in range(1 + self.chance(.25))]}
        if self.chance(.15):
            found["matchLabels"] = {"tier": self.r.choice(["x", "y"])}
        return found

    def namespace_selector(self):
        return self.r.choice([{}, {"matchLabels": {"team": "b"}}, {"matchLabels": {"team": "r"}},
                              {"matchExpressions": [{"key": "team", "operator": "Exists"}]},
                              {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]},
                              {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["b"]}]},
                              {"matchLabels": {"kubernetes.io/metadata.name": "red"}}])

    def affinity_term(self):
        t = {"topologyKey": self.r.choice([ZONE, ZONE, HOST, HOST, HOST, "rack", REGION])}
        selector = self.label_selector()
        if selector is not None:
            t["labelSelector"] = selector
        if self.chance(.15):
            t["namespaces"] = self.some(NAMESPACES, 2)
        if self.chance(.15):
            t["namespaceSelector"] = self.namespace_selector()
        if selector is not None and self.chance(.15):
            t[self.r.choice(["matchLabelKeys", "mismatchLabelKeys"])] = self.r.choice([["tier"], ["rev"], ["nope"]])
        return t

    def pod_affinity(self):
        found = {}
        if self.chance(.5):
            found["requiredDuringSchedulingIgnoredDuringExecution"] = [
                self.affinity_term() for _ in range(self.r.choice([1, 1, 1, 2, 3]))]
        if not found or self.chance(.6):
            found["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": self.r.randint(1, 100), "podAffinityTerm": self.affinity_term()}
                for _ in range(self.r.randint(1, 3))]
        return found

    def spread(self):
        """Constraints, each pair of topology key and what to do at most once, as the API wants it."""
        r, found = self.r, []
        pairs = [(k, w) for k in (ZONE, ZONE, HOST, HOST, "rack", REGION)
                 for w in ("DoNotSchedule", "ScheduleAnyway")]
        for key, when in dict.fromkeys(r.sample(pairs, r.choice([1, 1, 2, 2, 3]))):
            c = {"maxSkew": r.choice([1, 1, 1, 2, 3, 5]), "topologyKey": key, "whenUnsatisfiable": when}
            selector = self.label_selector()
            if selector is not None:
                c["labelSelector"] = selector
                if self.chance(.15):
                    c["matchLabelKeys"] = r.choice([["tier"], ["rev"], ["tier", "rev"], ["nope"]])
            if when == "DoNotSchedule" and self.chance(.25):
                c["minDomains"] = r.randint(1, 5)
            for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
                if self.chance(.25):
                    c[policy] = r.choice(["Honor", "Ignore"])
            found.append(c)
        return found

    def node_requirement(self):
        """Sound by the API server's rules, but for the odd ones that only an old object can have."""
        r = self.r
        if self.has("odd"):
            return r.choice([{"key": "gen", "operator": "Gt", "values": ["many"]},
                             {"key": "gen", "operator": "Gt", "values": ["-2"]},
                             {"key": "gen", "operator": "Lt", "values": ["1", "2"]},
                             {"key": "disk", "operator": "In"},
                             {"key": "disk", "operator": "Exists", "values": ["ssd"]},
                             {"key": "not/a/key", "operator": "Exists"},
                             {"key": "disk", "operator": "In", "values": ["no good!"]},
                             {"key": "disk", "operator": "Near", "values": ["ssd"]}])
        k = r.random()
        if k < .5:
            values = r.sample(["ssd", "hdd", "z0", "z1", "z2", "1", "5", "", "x"], r.randint(1, 5))
            return {"key": r.choice(["disk", "disk", ZONE, ZONE, "gen", "nope"]),
                    "operator": r.choice(["In", "In", "NotIn"]), "values": values}
        if k < .75:
            return {"key": r.choice(["disk", "gen", "rack"]), "operator": r.choice(["Exists", "DoesNotExist"])}
        return {"key": r.choice(["gen", "gen", "gen", "disk"]), "operator": r.choice(["Gt", "Lt"]),
                "values": [r.choice(["0", "2", "3", "4", "6"])]}

    def node_field(self):
        f = {"key": "metadata.name", "operator": self.r.choice(["In", "In", "In", "NotIn"]),
             "values": [self.r.choice(self.nodes + ["gone"])]}
        if self.has("odd"):
            f["operator"] = "Exists"
        return f

    def node_term(self, fields=.1):
        t = {}
        if self.chance(fields):
            t["matchFields"] = [self.node_field() for _ in range(1 + self.chance(.15))]
        if not t or self.chance(.5):
            t["matchExpressions"] = [self.node_requirement() for _ in range(self.r.choice([1, 1, 2]))]
        return {} if self.has("odd") else t

    def preferred_node_terms(self, fields=.1):
        return [{"weight": self.r.randint(1, 100), "preference": self.node_term(fields)}
                for _ in range(self.r.randint(1, 3))]

    def node_affinity(self):
        found = {}
        if self.chance(.5):
            fields = .95 if self.chance(.2) else .1
            found["requiredDuringSchedulingIgnoredDuringExecution"] = {
                "nodeSelectorTerms": [self.node_term(fields) for _ in range(self.r.choice([1, 2, 2, 3]))]}
        if not found or self.chance(.6):
            found["preferredDuringSchedulingIgnoredDuringExecution"] = self.preferred_node_terms()
        return found

    def toleration(self):
        r, k = self.r, self.r.random()
        if k < .12:
            return {"operator": "Exists"}
        if k < .18:
            return {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}
        t = {"key": r.choice(["k1", "k2", "k3"])}
        if self.has("odd"):
            return dict(t, operator=r.choice(["Lt", "Gt", "Near"]), value="5")
        if k > .97 and not self.drive:
            t = {"operator": "Equal"}  # no key: only an old object has it
        if self.chance(.5) and "operator" not in t:
            t["operator"] = "Exists"
        else:
            t["value"] = r.choice(["", "v", "w"])
            if self.chance(.3):
                t["operator"] = "Equal"
        if self.chance(.6):
            t["effect"] = r.choice(["NoSchedule", "PreferNoSchedule", "NoExecute"])
        return t

    # ---- nodes ----

    def taint(self):
        return {"key": self.r.choice(["k1", "k2", "k3"]), "value": self.r.choice(["", "v", "w"]),
                "effect": self.r.choice(["NoSchedule", "PreferNoSchedule", "PreferNoSchedule", "NoExecute"])}

    def images(self):
        found = []
        for j in self.r.sample(range(6), self.r.randint(1, 4)):
            names = ["img%d:v1" % j, "docker.io/img%d:v1" % j, "img%d:latest" % j, "reg:5000/img%d:latest" % j,
                     "img%d@sha256:0123" % j]
            found.append({"names": self.some(names, 3), "sizeBytes": self.r.randint(0, 1400) * 1000003})
        return found

    def node_labels(self, name):
        r, labels = self.r, {HOST: name}
        if self.chance(.85):
            labels[ZONE] = "z%d" % r.randint(0, 3) if self.chance(.97) else ""
        if self.chance(.5):
            labels[REGION] = "r%d" % r.randint(0, 1)
        if self.chance(.6):
            labels["disk"] = r.choice(["ssd", "hdd", ""])
        if self.chance(.7):
            labels["gen"] = r.choice(["1", "3", "5", "x", "5" if self.drive else "-3", "007"])
        if self.chance(.6):
            labels["rack"] = r.choice(["r1", "r2", "r3"])
        k = r.random()
        if k < .05:
            del labels[HOST]
        elif k < .08:
            labels[HOST] = "shared"
        return labels

    def capacity(self):
        r = self.r
        small = self.preempt or self.has("tight")
        found = {"cpu": r.choice(["2", "4", "4", "3500m"] if small else ["1", "2", "4", "4", "8", "3500m", "64", "6e0"]),
                 "memory": r.choice(["2Gi", "4Gi", "8Gi", "8Gi", "32Gi", "5000000001", "1Ti"]),
                 "pods": r.choice(["110", "110", "110", "110", "110", "7", "5", "0" if self.chance(.1) else "3"]),
                 "ephemeral-storage": r.choice(["100Gi", "100Gi", "20Gi", "0"])}
        for name, amounts in ((GPU, ["0", "1", "2", "4", "8"]), (NIC, ["1", "3"]), (HUGE, ["0", "64Mi", "1Gi"]),
                              (HUGE_1G, ["2Gi"])):
            if self.chance(.1 + self.p["scalars"]):
                found[name] = r.choice(amounts)
        if self.has("odd"):
            del found[r.choice(["cpu", "memory", "pods"])]
        if self.has("absurd"):
            found["memory"] = r.choice(HUGE_AMOUNTS)
        return found

    def node(self, name, images=True):
        n = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": self.node_labels(name)},
             "spec": {}, "status": {"capacity": self.capacity()}}
        if self.chance(.1):
            n["status"]["allocatable"] = dict(n["status"]["capacity"], cpu=self.r.choice(["900m", "0", "1500m", "3"]))
        if images and self.has("images"):
            n["status"]["images"] = self.images()
        if self.has("taints"):
            n["spec"]["taints"] = [self.taint() for _ in range(self.r.randint(1, 3))]
            n["spec"]["taints"] = list({(t["key"], t["effect"]): t for t in n["spec"]["taints"]}.values())
        if self.chance(.05):
            n["spec"]["unschedulable"] = True
        if self.chance(.05):
            features = ["GuaranteedQoSPodCPUResize", "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"]
            n["status"]["declaredFeatures"] = sorted(self.some(features, 3))  # as the API wants them
        return n

    # ---- pods ----

    def amounts(self, scalars=()):
        a = {}
        if self.chance(.8):
            a["cpu"] = self.r.choice(CPU)
        if self.chance(.65):
            a["memory"] = self.r.choice(HUGE_AMOUNTS if self.has("absurd") else MEMORY)
        if self.chance(.05):
            a["ephemeral-storage"] = self.r.choice(["1Gi", "10Gi", "30Gi"])
        for name in scalars:
            if self.chance(.6):
                a[name] = self.r.choice({HUGE: ["8Mi", "64Mi"], HUGE_1G: ["1Gi"]}.get(name, ["1", "1", "2", "0"]))
        return a

    def resources(self, scalars=()):
        a = self.amounts(scalars)
        if self.chance(.15):
            return {"limits": a}
        found = {"requests": a}
        limits = {name: a[name] for name in scalars if name in a}
        if limits:
            found["limits"] = limits
        return found

    def ports(self):
        ports = {}
        for _ in range(self.r.choice([1, 1, 2])):
            p = {"containerPort": 80, "hostPort": self.r.randint(8000, 8002)}
            if self.chance(.6):
                p["protocol"] = self.r.choice(["TCP", "TCP", "UDP", "SCTP"])
            if self.chance(.4):
                p["hostIP"] = self.r.choice(["127.0.0.1", "10.0.0.1", "0.0.0.0", "::", "fd00::1", ""])
            ports[p["hostPort"], p.get("protocol", "TCP")] = p
        return list(ports.values())

    def container(self, name, scalars, port=True):
        image = self.r.choice(["img%d:v1", "img%d:v1", "img%d", "docker.io/img%d:v1", "reg:5000/img%d", "img%d@sha256:0123"])
        c = {"name": name, "image": image % self.r.randint(0, 6), "resources": self.resources(scalars)}
        if port and self.has("ports"):
            c["ports"] = self.ports()
        return c

    def init_container(self, name, scalars):
        sidecar = self.chance(.5)
        c = self.container(name, scalars, sidecar or self.chance(.2))
        if sidecar:
            c["restartPolicy"] = "Always"
        return c

    def containers(self, spec):
        scalars = ()
        if self.has("scalars"):
            scalars = self.r.choice([(GPU,), (GPU,), (GPU,), (HUGE,), (HUGE,), (NIC,), (GPU, HUGE), (GPU, NIC, HUGE_1G),
                                     ("example.com/none",)])
        count = 1 + self.chance(.25) + self.chance(.1)
        spec["containers"] = [self.container("c%d" % i, scalars) for i in range(count)]
        if self.has("init"):
            spec["initContainers"] = [self.init_container("i%d" % i, scalars)
                                      for i in range(self.r.randint(1, 3))]
        if self.has("overhead"):
            spec["overhead"] = self.r.choice([{"cpu": "100m", "memory": "32Mi"}, {"cpu": "250m"}, {GPU: "1"}])
        if self.has("pod_level"):
            requests = {"cpu": "4", "memory": "8Gi"} if self.drive else self.amounts()  # not less than the containers'
            spec["resources"] = {"requests": {k: v for k, v in requests.items() if k in ("cpu", "memory")}}
            if self.chance(.2):
                spec["resources"]["limits"] = {"cpu": "4"}

    def labels(self):
        labels = {}
        if self.chance(.9):
            labels["app"] = self.r.choice(APPS)
        for name in ("tier", "rev"):
            if self.chance(.3):
                labels[name] = self.r.choice(POD_LABELS[name])
        return labels

    def set_priority(self, spec, bound):
        r = self.r
        if self.preempt:
            spec["priority"] = r.choice([-5, 0, 0, 10, 100] if bound else [0, 50, 1000, 1000, 2000])
            requests = spec["containers"][0]["resources"].setdefault("requests", {})
            requests["cpu"] = r.choice(["250m", "500m", "500m", "1"] if bound else ["500m", "1", "1", "1500m", "2"])
            spec["containers"][0]["resources"].get("limits", {}).pop("cpu", None)
        elif self.has("priorities"):
            spec["priority"] = r.choice([0, 0, 10, 10, 100, 1000, -5, 2000000000, -2147483648])
        if self.has("never"):
            spec["preemptionPolicy"] = "Never"
        if self.classes and self.chance(.3):
            spec.pop("priority", None)
            spec.pop("preemptionPolicy", None)
            spec["priorityClassName"] = r.choice(self.classes)

    def placement(self, spec):
        r, affinity = self.r, {}
        if self.has("tolerations"):
            spec["tolerations"] = [self.toleration() for _ in range(r.randint(1, 3))]
        if self.has("selectors"):
            spec["nodeSelector"] = r.choice([{"disk": "ssd"}, {ZONE: "z0"}, {"disk": "hdd", ZONE: "z1"}, {},
                                             {"nope": "x"} if self.chance(.3) else {"disk": "ssd"}, {"disk": ""}])
        if self.has("node_affinity"):
            affinity["nodeAffinity"] = self.node_affinity()
        if self.has("affinity"):
            affinity["podAffinity"] = self.pod_affinity()
        if self.has("anti"):
            affinity["podAntiAffinity"] = self.pod_affinity()
        if affinity:
            spec["affinity"] = affinity
        if self.has("spread"):
            spec["topologySpreadConstraints"] = self.spread()

    def owner(self):
        kind = self.r.choice(["ReplicaSet", "StatefulSet", "ReplicationController"])
        version = "v1" if kind == "ReplicationController" else "apps/v1"
        name = self.r.choice(["own", "own", "other"])
        return {"apiVersion": version, "kind": kind, "name": name, "uid": "uid-" + name,
                "controller": not self.chance(.1)}

    def rare(self, p):
        """What hardly any pod has."""
        spec, k = p["spec"], self.r.random()
        if k < .01:
            spec["hostNetwork"] = True
        elif k < .015 and not self.drive:
            spec["hostNetwork"], spec["hostUsers"] = True, False
        elif k < .02 and not self.drive:
            spec["containers"][0]["restartPolicy"] = "Never"
            spec["containers"][0]["restartPolicyRules"] = [
                {"action": self.r.choice(["RestartAllContainers", "Restart"]), "exitCodes": {"operator": "In", "values": [3]}}]
        elif k < .03:
            spec["volumes"] = [{"name": "v", "image": {"reference": "img%d:v1" % self.r.randint(0, 5)}}]
        elif k < .04:
            spec["volumes"] = [{"name": "v", "emptyDir": {}}]
        elif k < .05 and not self.drive:
            spec["schedulerName"] = "nobody"
        elif k < .055 and not self.drive:
            spec["priority"] = 2147483647

    def pod(self, name, bound):
        space = self.r.choice(NAMESPACES) if self.has("namespaces") else "default"
        p = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": space, "labels": self.labels()},
             "spec": {}}
        self.containers(p["spec"])
        self.set_priority(p["spec"], bound)
        self.placement(p["spec"])
        if self.has("owners"):
            p["metadata"]["ownerReferences"] = [self.owner()]
        if len(self.schedulers) > 1 and self.chance(.5):
            p["spec"]["schedulerName"] = self.r.choice(self.schedulers)
        if self.drive:
            p["spec"]["terminationGracePeriodSeconds"] = 0
        self.rare(p)
        return p

    def resize(self, p):
        """A status as a kubelet in the middle of a resize would leave it."""
        def state(c):
            found = {"name": c["name"], "image": c["image"], "imageID": "", "ready": True, "restartCount": 0}
            if self.chance(.9):
                found["allocatedResources"] = self.amounts()
            if self.chance(.9):
                found["resources"] = {"requests": self.amounts()}
            return found
        status = p["status"]
        status["containerStatuses"] = [state(c) for c in p["spec"]["containers"] if self.chance(.9)]
        if p["spec"].get("initContainers"):
            status["initContainerStatuses"] = [state(c) for c in p["spec"]["initContainers"]]
        if "resources" in p["spec"] and self.chance(.6):
            status["resources"] = {"requests": self.amounts()}
            status["allocatedResources"] = self.amounts()
        if self.chance(.4):
            status.setdefault("conditions", []).append(
                {"type": "PodResizePending", "status": "True", "reason": self.r.choice(["Infeasible", "Deferred"])})

    def terminate(self, p):
        p["metadata"]["deletionTimestamp"] = "2024-06-02T00:00:00Z"
        p["metadata"]["deletionGracePeriodSeconds"] = 30
        if self.chance(.5):
            p["status"].setdefault("conditions", []).append(
                {"type": "DisruptionTarget", "status": "True",
                 "reason": self.r.choice(["PreemptionByScheduler", "PreemptionByScheduler", "EvictionByEvictionAPI"])})

    def bound(self, name, node=None):
        p = self.pod(name, True)
        p["spec"]["nodeName"] = node or self.r.choice(self.nodes)
        p["spec"].pop("schedulerName", None)
        p["status"] = {"phase": "Running" if self.chance(.95) else "Pending", "startTime": self.start_time()}
        if self.has("resized"):
            self.resize(p)
        if self.has("terminating"):
            self.terminate(p)
        if not self.drive and self.chance(.01):
            p["status"]["phase"] = self.r.choice(["Succeeded", "Failed"])
        return p

    def pending(self, name, nominated=0.0):
        p = self.pod(name, False)
        if self.has("gates"):
            p["spec"]["schedulingGates"] = [{"name": "g1"}, {"name": "example.com/g2"}][:self.r.randint(1, 2)]
        elif self.chance(nominated):
            p["status"] = {"phase": "Pending", "nominatedNodeName": self.r.choice(self.nodes + ["gone"])}
        return p

    # ---- what stands around them ----

    def budget(self, name, space, pods):
        spec = {}
        selector = self.label_selector(.05)
        if selector is not None:
            spec["selector"] = selector
        status = {"disruptionsAllowed": self.r.randint(0, 2), "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
        if pods and self.chance(.15):
            status["disruptedPods"] = {p: "2024-06-01T00:00:00Z" for p in self.some(pods, 3)}
        return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                "metadata": {"name": name, "namespace": space}, "spec": spec, "status": status}

    def service(self, name, space):
        spec = {"ports": [{"port": 80}]}
        if self.chance(.9):
            spec["selector"] = {"app": self.r.choice(APPS)}
            if self.chance(.1):
                spec["selector"]["tier"] = self.r.choice(["x", "y"])
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": space}, "spec": spec}

    def owner_object(self, kind, name, space):
        labels = {"app": self.r.choice(APPS)}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
        metadata = {"name": name, "namespace": space}
        if not self.drive:
            metadata["uid"] = "uid-" + name
        if kind == "ReplicationController":
            return {"apiVersion": "v1", "kind": kind, "metadata": metadata,
                    "spec": {"selector": labels, "template": template, "replicas": 0}}
        selector = {"matchLabels": labels}
        if self.chance(.4):
            selector = {"matchExpressions": [{"key": "app", "operator": "In",
                                              "values": sorted({labels["app"], self.r.choice(APPS)})}]}
        spec = {"selector": selector, "template": template, "replicas": 0}
        if kind == "StatefulSet":
            spec["serviceName"] = "s"
        return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}

    def namespaces(self):
        labels = {"blue": {"team": "b"}, "red": {"team": "r", "env": "prod"}, "green": {}}
        return [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels[name]}}
                for name in labels if self.chance(.8)]

    def around(self, pods):
        """Services, owners and disruption budgets, for pods of these names."""
        found = self.namespaces()
        for space in NAMESPACES:
            for i in range(1 + self.chance(.2)):
                if self.has("services") and (space == "default" or self.chance(.6)):
                    found.append(self.service("s%d" % i, space))
                if self.has("budgets"):
                    found.append(self.budget("b%d" % i, space, pods))
        if self.p["owners"]:
            for space in ("default", "blue"):
                for kind in ("ReplicaSet", "StatefulSet", "ReplicationController"):
                    if self.chance(.7):
                        found.append(self.owner_object(kind, "own", space))
        return found

    def priority_classes(self):
        found = []
        for name, value in (("low", -10), ("middle", 100), ("high", 5000)):
            c = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
            if name == "middle" and self.chance(.3):
                c["globalDefault"] = True
            if name == "high" and self.chance(.3):
                c["preemptionPolicy"] = "Never"
            found.append(c)
        self.classes = ["low", "middle", "high", "high", "system-cluster-critical"]
        return found
