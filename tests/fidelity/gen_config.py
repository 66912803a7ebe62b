"""Random KubeSchedulerConfigurations that kube-scheduler accepts.

What must stay true: a disabled plugin never leaves a later extension point of it without the state that
an earlier one computes, since that is an error upstream and says nothing about a decision.
"""
from gen_objects import GPU, HOST, HUGE, NIC, ZONE

VERSION = "kubescheduler.config.k8s.io/v1"
SCORE = ["TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity",
         "NodeResourcesBalancedAllocation", "ImageLocality"]
FILTER = ["NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
          "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread",
          "InterPodAffinity", "DynamicResources", "NodeDeclaredFeatures"]
MULTI_POINT = (["SchedulingGates", "PrioritySort"] + FILTER +
               ["DefaultPreemption", "NodeResourcesBalancedAllocation", "ImageLocality", "DefaultBinder"])
# A plugin that another plugin's work needs, or without which no pod is bound.
KEPT = ["PrioritySort", "DefaultBinder"]


def named(names):
    return [{"name": name} for name in names]


def args(kind, **fields):
    return {"name": kind, "args": dict(fields, apiVersion=VERSION, kind=kind + "Args")}


class Config:
    def __init__(self, r, objects):
        self.r, self.objects = r, objects

    def chance(self, p):
        return self.r.random() < p

    def some(self, values, most):
        return self.r.sample(values, self.r.randint(1, min(most, len(values))))

    # ---- arguments ----

    def strategy(self):
        r = self.r
        names = self.some(["cpu", "memory", "ephemeral-storage", GPU, HUGE, NIC], 4)
        s = {"type": r.choice(["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]),
             "resources": [{"name": n, "weight": r.randint(1, 100 if self.chance(.2) else 9)} for n in names]}
        if s["type"] == "RequestedToCapacityRatio":
            points = sorted(r.sample(range(0, 101), r.randint(1, 4)))
            s["requestedToCapacityRatio"] = {"shape": [{"utilization": u, "score": r.randint(0, 10)} for u in points]}
        return s

    def fit(self):
        fields = {}
        if self.chance(.7):
            fields["scoringStrategy"] = self.strategy()
        if self.chance(.3):
            fields["ignoredResources"] = self.some([GPU, NIC, "other.com/x"], 2)
        if self.chance(.2):
            fields["ignoredResourceGroups"] = self.some(["example.com", "other.com"], 2)
        return args("NodeResourcesFit", **fields)

    def balanced(self):
        names = self.some(["cpu", "memory", "ephemeral-storage", GPU, HUGE], 4)
        return args("NodeResourcesBalancedAllocation", resources=[{"name": n, "weight": 1} for n in names])

    def node_affinity(self):
        odd, self.objects.p["odd"] = self.objects.p["odd"], 0
        added = {}
        if self.chance(.6):
            added["requiredDuringSchedulingIgnoredDuringExecution"] = {
                "nodeSelectorTerms": [self.objects.node_term(0) for _ in range(self.r.randint(1, 3))]}
        if not added or self.chance(.6):
            added["preferredDuringSchedulingIgnoredDuringExecution"] = self.objects.preferred_node_terms(0)
        self.objects.p["odd"] = odd
        return args("NodeAffinity", addedAffinity=added)

    def spread(self):
        if self.chance(.15):
            return args("PodTopologySpread", defaultingType="System")
        pairs = [(k, w) for k in (ZONE, HOST, "rack") for w in ("ScheduleAnyway", "DoNotSchedule")]
        found = [{"topologyKey": k, "whenUnsatisfiable": w, "maxSkew": self.r.randint(1, 3)}
                 for k, w in self.r.sample(pairs, self.r.randint(0, 3))]
        return args("PodTopologySpread", defaultingType="List", defaultConstraints=found)

    def inter_pod_affinity(self):
        fields = {"hardPodAffinityWeight": self.r.choice([0, 1, 5, 50, 100])}
        if self.chance(.4):
            fields["ignorePreferredTermsOfExistingPods"] = self.chance(.7)
        return args("InterPodAffinity", **fields)

    def preemption(self):
        percentage, absolute = self.r.choice([(0, 1), (10, 1), (50, 0), (100, 100), (0, 3), (1, 2)])
        return args("DefaultPreemption", minCandidateNodesPercentage=percentage, minCandidateNodesAbsolute=absolute)

    def plugin_config(self):
        makers = [(.6, self.fit), (.3, self.balanced), (.3, self.node_affinity), (.4, self.spread),
                  (.4, self.inter_pod_affinity), (.3, self.preemption)]
        return [make() for p, make in makers if self.chance(p)]

    # ---- which plugins ----

    def score(self, there):
        """Some rules with other weights, in an order of their own, and some without."""
        there = [n for n in SCORE if n in there]
        if self.chance(.05) or not there:
            return {"disabled": named(["*"])}
        chosen = self.some(there, 7)
        point = {"enabled": [{"name": n, "weight": self.r.choice([0, 1, 2, 5, 20, 100])} for n in chosen]}
        gone = [n for n in SCORE if n not in chosen and self.chance(.3)]
        if gone:
            point["disabled"] = named(gone)
        elif self.chance(.15):
            point["disabled"] = named(["*"])
        return point

    def filter(self, there):
        there = [n for n in FILTER if n in there]
        if self.chance(.3) and there:
            return {"enabled": named(self.some(there, 4))}  # only their order
        return {"disabled": named(self.some([n for n in FILTER if n not in ("VolumeBinding", "DynamicResources")], 3))}

    def multi_point(self, there):
        """Takes out of `there` what it switches off."""
        k = self.r.random()
        if k < .6:
            gone = self.some([n for n in MULTI_POINT if n not in KEPT], 4)
            there -= set(gone)
            return {"disabled": named(gone)}
        if k < .8:
            return {"enabled": [dict(name=n, weight=self.r.randint(1, 9)) for n in self.some(SCORE, 3)]}
        order = [n for n in MULTI_POINT if n in KEPT or self.chance(.7)]
        self.r.shuffle(order)
        there &= set(order)
        return {"disabled": named(["*"]), "enabled": named(order)}

    def plugins(self):
        found, there = {}, set(MULTI_POINT)
        if self.chance(.35):
            found["multiPoint"] = self.multi_point(there)
        if self.chance(.5):
            found["score"] = self.score(there)
        if self.chance(.25):
            found["filter"] = self.filter(there)
        if self.chance(.08):
            found["preScore"] = {"disabled": named(self.some(["NodeResourcesBalancedAllocation", "NodeResourcesFit"], 2))}
        if self.chance(.1):
            found["postFilter"] = {"disabled": named([self.r.choice(["DynamicResources", "DefaultPreemption", "*"])])}
        return found

    def profile(self, name):
        p = {"schedulerName": name}
        plugins, settings = self.plugins(), self.plugin_config()
        if plugins:
            p["plugins"] = plugins
        if settings:
            p["pluginConfig"] = settings
        return p

    def draw(self):
        """A configuration; the objects that are drawn later may name its profiles."""
        names = ["default-scheduler"]
        if self.chance(.3):
            names += ["second", "third"][:self.r.randint(1, 2)]
        self.objects.schedulers = names
        profiles = [self.profile(name) for name in names]
        found = {"apiVersion": VERSION, "kind": "KubeSchedulerConfiguration", "profiles": profiles}
        if self.chance(.1):
            # What lies between is walks.py's, and so is a profile that scores nothing: a percentage has it
            # take the first node that will do, and the oracle looks at all of them.
            most = [0, 100] if all(map(scores, profiles)) else [0, 0]
            found["percentageOfNodesToScore"] = self.r.choice(most)
            profiles[0]["percentageOfNodesToScore"] = self.r.choice(most)
        return found


def scores(profile):
    """Surely."""
    plugins = profile.get("plugins", {})
    return not any({"name": "*"} in plugins.get(point, {}).get("disabled", []) for point in ("multiPoint", "score"))


def without(config, plugins):
    """The same configuration with some plugins switched off everywhere."""
    config = config or {"apiVersion": VERSION, "kind": "KubeSchedulerConfiguration",
                        "profiles": [{"schedulerName": "default-scheduler"}]}
    for profile in config["profiles"]:
        points = profile.setdefault("plugins", {})
        points.setdefault("multiPoint", {}).setdefault("disabled", []).extend(named(plugins))
        for point in points.values():
            if "enabled" in point:
                point["enabled"] = [e for e in point["enabled"] if e["name"] not in plugins]
        profile["pluginConfig"] = [c for c in profile.get("pluginConfig", []) if c["name"] not in plugins]
    return config
