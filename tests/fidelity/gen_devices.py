"""Random scenarios about devices: slices, classes and claims as `devices/gen.py` draws them, and pods
that want them, one after another.

What `devices/differ.py` asks of the allocator alone is asked here of whole decisions: which nodes pass,
with which reasons and scores, and what the next pod finds after the one before got its devices. Claims
are shared, missing, going, in use, allocated for some nodes only or generated for another pod; classes
are missing; extended resources stand for devices on some nodes and for a device plugin on others.
Devices with binding conditions are left out: upstream would wait for a driver that is not there.
"""
import copy
import importlib.util
import os
import random

GROUP = "resource.k8s.io/v1"
EXTENDED = "example.com/gpu"
OTHER = "example.com/nic"
IMPLICIT = "deviceclass.resource.kubernetes.io/class-%d"
SHARED_MAX = 256  # pods that may have one claim

_spec = importlib.util.spec_from_file_location(
    "devices_gen", os.path.join(os.path.dirname(os.path.abspath(__file__)), "devices", "gen.py"))
_devices = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_devices)


def made(kind, body):
    return {"apiVersion": GROUP, "kind": kind, **body}


def given(claim):
    """The devices that the claim has."""
    results = claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results") or []
    return {tuple(r[k] for k in ("driver", "pool", "device")) for r in results}


class DeviceScenario:
    def __init__(self, seed, index):
        self.r = random.Random("devices/%d/%d" % (seed, index))
        self.name = "gen-%d-%d-devices" % (seed, index)
        self.index = index
        self.gen = _devices.Gen(self.r.randrange(1 << 30))
        self.gen.on -= {"binding"}
        if self.chance(.7):  # else most scenarios end in an error, which says little
            self.gen.on -= {"errors", "invalid"}
        self.claims, self.leftovers, self.taken, self.count = [], [], [], 0

    def chance(self, p):
        return self.r.random() < p

    def node(self, name, labels):
        amounts = {"cpu": self.r.choice(["1", "4", "8"]), "memory": "16Gi", "pods": "110"}
        for resource in (EXTENDED, OTHER):
            if self.extended and self.chance(.3):  # a device plugin has them
                amounts[resource] = self.r.choice(["0", "1", "2"])
        node = {"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
                "spec": {}, "status": {"capacity": amounts, "allocatable": amounts}}
        if self.chance(.1):
            node["spec"]["taints"] = [{"key": "t", "effect": self.r.choice(["NoSchedule", "PreferNoSchedule"])}]
        return node

    # ---- what there is ----

    def classes(self):
        found = [made("DeviceClass", c) for c in self.gen.classes()]
        if self.extended:
            for c in self.r.sample(found, self.r.randint(1, 2)):
                c["spec"]["extendedResourceName"] = EXTENDED if self.chance(.8) else OTHER
        for i, c in enumerate(found):  # of two that mean one resource the newer counts
            c["metadata"]["creationTimestamp"] = "2023-05-0%dT00:00:00Z" % (1 + (i * 7) % 3)
        if self.chance(.1):
            found.pop(self.r.randrange(len(found)))
        return found

    def some_device(self):
        found = [(s["spec"], d) for s in self.gen.slices for d in s["spec"].get("devices", [])
                 if not d.get("allowMultipleAllocations")]
        return self.r.choice(found) if found else (None, None)

    def held(self):
        return set().union(*[given(claim) for claim in self.claims + self.leftovers + self.taken])

    def allocated(self, claim):
        """Somebody gave it devices before; for some nodes only, and to somebody, or not."""
        spec, device = self.some_device()
        # Of a device that two claims have, which no server holds, the oracle forgets both when one goes.
        if device is None or (spec["driver"], spec["pool"]["name"], device["name"]) in self.held():
            return
        first = claim["spec"]["devices"]["requests"][0]
        request = first["name"]
        if "firstAvailable" in first:
            request += "/" + self.r.choice(first["firstAvailable"])["name"]
        allocation = {"devices": {"results": [{"request": request, "driver": spec["driver"],
                                               "pool": spec["pool"]["name"], "device": device["name"]}]}}
        if self.chance(.6):
            allocation["nodeSelector"] = self.gen.selector() if self.chance(.5) else {"nodeSelectorTerms": [
                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [self.r.choice(self.gen.nodes)]}]}]}
        claim["status"] = {"allocation": allocation}
        holders = self.r.choice([0, 0, 1, 2, SHARED_MAX])
        if holders:
            claim["status"]["reservedFor"] = [{"resource": "pods", "name": "h%d" % i, "uid": "h%d" % i}
                                              for i in range(holders)]
        claim["metadata"]["finalizers"] = ["resource.kubernetes.io/delete-protection"]

    def claim(self):
        claim = made("ResourceClaim", self.gen.claim(self.count))
        self.count += 1
        if self.chance(.15):
            self.allocated(claim)
        if self.chance(.03):
            claim["metadata"]["deletionTimestamp"] = "2024-01-01T00:00:00Z"
            claim["metadata"]["finalizers"] = ["x.example.com/kept"]
        return claim

    # ---- who wants it ----

    def pod_claim(self, name, others):
        k = self.r.random()
        if k < .05:
            return {"name": name, "resourceClaimName": "nowhere"}
        if k < .35 and self.claims:
            chosen = self.r.choice(self.claims)["metadata"]["name"]
            # One claim twice would be allocated twice, and the API server would refuse the second; the oracle's does not.
            if chosen not in others:
                return {"name": name, "resourceClaimName": chosen}
        self.claims.append(self.claim())
        return {"name": name, "resourceClaimName": self.claims[-1]["metadata"]["name"]}

    def left(self, pod):
        """What an earlier attempt has made for the pod's extended resources, and did not use."""
        claim = made("ResourceClaim", {
            "metadata": {"name": "left-" + pod["metadata"]["name"], "namespace": "default",
                         "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
                         "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"],
                                              "uid": pod["metadata"]["uid"], "controller": True}]},
            "spec": {"devices": {"requests": [{"name": "container-0-request-0",
                                               "exactly": {"deviceClassName": "class-0", "allocationMode": "ExactCount",
                                                           "count": 1}}]}}})
        if self.chance(.5):
            self.allocated(claim)
        self.leftovers.append(claim)

    def generated(self, pod, entry):
        """The entry names a template, and the status says what was made of it: for this pod, or for another."""
        if entry["resourceClaimName"] == "nowhere" or not self.chance(.3):
            return
        claim = [c for c in self.claims if c["metadata"]["name"] == entry["resourceClaimName"]][0]
        name = entry.pop("resourceClaimName")
        entry["resourceClaimTemplateName"] = "template"
        status = {"name": entry["name"]}
        if not self.chance(.05):
            status["resourceClaimName"] = name
        pod["status"] = {"resourceClaimStatuses": pod.get("status", {}).get("resourceClaimStatuses", []) + [status]}
        uid = pod["metadata"]["uid"] if self.chance(.95) else "another"
        claim["metadata"].setdefault("ownerReferences", [
            {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": uid, "controller": True}])

    def some_extended(self, container, resources, most):
        """Some of the resources, each container as many as it likes."""
        requests = container["resources"]["requests"]
        for resource in resources:
            if self.chance(.8):
                requests[resource] = str(self.r.choice([0] + [1] * 4 + list(range(1, most + 1))))
                container["resources"].setdefault("limits", {})[resource] = requests[resource]

    def wants_extended(self, pod):
        """Containers, sidecars and init containers that ask for what devices may stand for."""
        found = [EXTENDED if self.chance(.7) else IMPLICIT % self.r.randrange(4)]
        if self.chance(.3):
            found.append(self.r.choice([OTHER, "another.example.com/x"] + [IMPLICIT % i for i in range(4)]))
        plain = pod["spec"]["containers"][0]
        for i in range(self.r.choice([0, 0, 0, 1, 1, 2, 3])):
            first = copy.deepcopy(plain)
            first["name"] = "i%d" % i
            self.some_extended(first, found, 3)
            if self.chance(.3):
                first["restartPolicy"] = "Always"
            pod["spec"].setdefault("initContainers", []).append(first)
        for i in range(self.r.choice([0, 0, 0, 1, 2])):
            other = copy.deepcopy(plain)
            other["name"] = "d%d" % i
            self.some_extended(other, found, 2)
            pod["spec"]["containers"].append(other)
        self.some_extended(plain, found, 2)

    def pod(self, index):
        name = "p%d" % index
        container = {"name": "c", "image": "img", "resources": {"requests": {"cpu": self.r.choice(["100m", "500m", "1"])}}}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", "uid": "pod-" + name},
               "spec": {"containers": [container], "resourceClaims": []}}
        if self.extended and self.chance(.7):
            self.wants_extended(pod)
        if not self.extended or self.chance(.3):
            found = pod["spec"]["resourceClaims"]
            for i in range(self.r.choice([1, 1, 1, 2])):
                found.append(self.pod_claim("g%d" % i, [c["resourceClaimName"] for c in found]))
        if self.extended and self.chance(.1):
            self.left(pod)
        if self.chance(.2):
            pod["spec"]["nodeSelector"] = {"kubernetes.io/hostname": self.r.choice(self.gen.nodes)}
        if self.chance(.2):
            pod["spec"]["priority"] = self.r.choice([0, 100])
        for entry in pod["spec"]["resourceClaims"]:
            self.generated(pod, entry)
        return pod

    def left_behind(self, pod):
        """An attempt that failed has made this for the pod, and nobody has deleted it yet."""
        claim = self.claim()
        claim["metadata"].setdefault("annotations", {})["resource.kubernetes.io/extended-resource-claim"] = "true"
        claim["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "controller": True,
                                                 "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}]
        self.claims.append(claim)

    def steps(self, pods, slices):
        """Some slices come late, and some pods are tried twice."""
        found, late = [], []
        if slices and self.chance(.3):
            late = [slices.pop(self.r.randrange(len(slices)))]
        for pod in pods:
            found.append(pod)
            if late and self.chance(.3):
                found.append({"op": "apply", "object": late.pop()})
            if self.chance(.1):
                found.append({"op": "schedule", "namespace": "default", "name": pod["metadata"]["name"]})
        return found

    def scoring(self, classes):
        """A configuration that scores by what devices may stand for. kube-scheduler's NodeResourcesBalancedAllocation
        crashes where such a class has selectors: either they are left out or it scores by other resources."""
        r = random.Random("scoring/" + self.name)
        known = ["cpu", "memory", EXTENDED, OTHER, "another.example.com/x"] + [IMPLICIT % i for i in range(4)]
        fit, balanced = r.sample(known, r.randint(1, 5)), r.sample(known, r.randint(1, 4))
        if EXTENDED not in fit and r.random() < .8:
            fit.append(EXTENDED)
        if r.random() < .5:
            balanced = r.sample(["cpu", "memory", "another.example.com/x"], r.randint(1, 3))
        else:
            balanced = sorted({EXTENDED, *balanced})
            for c in classes:
                c["spec"].pop("selectors", None)
        strategy = {"type": r.choice(["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]),
                    "resources": [{"name": n, "weight": r.randint(1, 9)} for n in fit]}
        if strategy["type"] == "RequestedToCapacityRatio":
            strategy["requestedToCapacityRatio"] = {"shape": [{"utilization": u, "score": r.randint(0, 10)}
                                                              for u in (0, 30, 100)]}
        version = "kubescheduler.config.k8s.io/v1"
        return {"apiVersion": version, "kind": "KubeSchedulerConfiguration", "profiles": [{"pluginConfig": [
            {"name": "NodeResourcesFit", "args": {"apiVersion": version, "kind": "NodeResourcesFitArgs",
                                                  "scoringStrategy": strategy}},
            {"name": "NodeResourcesBalancedAllocation",
             "args": {"apiVersion": version, "kind": "NodeResourcesBalancedAllocationArgs",
                      "resources": [{"name": n, "weight": 1} for n in balanced]}}]}]}

    def build(self):
        r = self.r
        self.extended = self.chance(.6)
        for _ in range(r.randint(1, 5)):
            self.gen.pool()
        labels = [{}, {"zone": "a"}, {"zone": "b", "gpu": ""}, {"zone": "c", "rank": "2"}, {"rank": "x"}]
        nodes = [self.node(n, r.choice(labels)) for n in self.gen.nodes]
        slices = [made("ResourceSlice", s) for s in self.gen.slices]
        classes = self.classes()
        if self.chance(.4):
            self.taken = [made("ResourceClaim", c) for c in self.gen.taken() if c["status"]["allocation"]["devices"]["results"]]
        pods = [self.pod(i) for i in range(r.choice([1, 2, 3, 4, 6]))]
        for pod in pods:
            if self.extended and self.chance(.05):
                self.left_behind(pod)
        pods = self.steps(pods, slices)
        configured = {"config": self.scoring(classes)} if self.extended and self.index % 2 else {}
        return {"name": self.name, **configured, "objects": nodes + slices + classes + self.taken + self.claims + self.leftovers, "pods": pods,
                "options": {"omitAllFailures": self.index % 3 != 0, "pick": r.choice(["first", "first", "last"])}}


def scenario(seed, index):
    return DeviceScenario(seed, index).build()


def taint_rule(r, number, devices):
    """A DeviceTaintRule, most often of one of these devices."""
    driver, pool, device = r.choice(devices)
    selector = {k: v for k, v in (("driver", driver), ("pool", pool), ("device", device)) if r.random() < .7}
    if r.random() < .1:
        selector["pool"] = "another"
    taint = {"key": "example.com/" + r.choice("ab"), "effect": r.choice(["NoSchedule", "NoExecute", "None"])}
    if r.random() < .5:
        taint["value"] = r.choice(["x", "y"])
    rule = {"taint": taint}
    if r.random() < .9:
        rule["deviceSelector"] = selector
    return made("DeviceTaintRule", {"metadata": {"name": "rule-%d" % number}, "spec": rule})


def add_taint_rules(made_scenario):
    """To a scenario of 1.37, where some have rules; one of them comes and goes between the pods."""
    r = random.Random("rules/" + made_scenario["name"])
    devices = [(o["spec"]["driver"], o["spec"]["pool"]["name"], d["name"])
               for o in made_scenario["objects"] if o["kind"] == "ResourceSlice" for d in o["spec"].get("devices", [])]
    if not devices or r.random() < .4:
        return made_scenario
    rules = [taint_rule(r, i, devices) for i in range(r.choice([1, 1, 2, 3]))]
    if r.random() < .3:
        made_scenario["pods"].insert(r.randrange(len(made_scenario["pods"]) + 1), {"op": "apply", "object": rules.pop()})
    made_scenario["objects"] += rules
    return made_scenario


def add_skips(made_scenario):
    """To a scenario of 1.37, where some have devices that only some nodes can do with, with the gate or without."""
    r = random.Random("skips/" + made_scenario["name"])
    if r.random() < .6:
        return made_scenario
    skips = ["*"] if r.random() < .5 else ["NodePrepareResources", "NodeUnprepareResources"]
    for o in made_scenario["objects"]:
        if o["kind"] == "Node" and r.random() < .5:
            o["status"]["declaredFeatures"] = ["Another"] * r.randint(0, 1) + ["DRAOptionalNodeOperations"]
        if o["kind"] == "ResourceSlice" and r.random() < .5:
            o["spec"]["skipNodeOperations"] = skips
        if o["kind"] == "ResourceClaim" and r.random() < .5:
            for result in o.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])[:1]:
                result["skipNodeOperations"] = skips
    if r.random() < .7:
        made_scenario.setdefault("featureGates", {})["DRAOptionalNodeOperations"] = True
    return made_scenario
