"""Random scenarios about devices that take of their nodes' own resources (DRANodeAllocatableResources):
those of gen_devices.py, where some devices say so, in the words of both releases.

Pods name their claims in containers or not, and ask for something as a whole or not; some pods are on
nodes already, of lower priority, with what their status says that their claims take there.
"""
import random

import gen_devices

AMOUNTS = {"cpu": ["1", "500m", "250m", "2", "1500u", "3"], "memory": ["1Gi", "512Mi", "1G", "2Gi", "1536Mi"],
           "ephemeral-storage": ["1Gi", "5Gi"], "hugepages-2Mi": ["2Mi", "8Mi", "32Mi"]}


class Rooms:
    def __init__(self, made):
        self.r = random.Random("rooms/" + made["name"])
        self.made = made
        self.made["name"] = made["name"].replace("-devices", "-rooms")
        self.errors = self.chance(.1)

    def chance(self, p):
        return self.r.random() < p

    def amount(self, resource):
        return self.r.choice(AMOUNTS[resource])

    def resources(self, most):
        return self.r.sample(sorted(AMOUNTS), self.r.choice(range(1, most + 1)))

    # ---- devices ----

    def mapping(self, device, resource):
        """(as 1.37 says it, as 1.36 does)"""
        keys = sorted(device.get("capacity", {}))
        if keys and (device.get("allowMultipleAllocations") or self.errors) and self.chance(.6):
            key = self.r.choice(keys + ["none"])
            times = self.r.choice([None, "1", "2", "500m", "100u", "1Mi"])
            return ({"capacityKey": key, **({"capacityMultiplier": times} if times else {})},
                    {"capacityKey": key, **({"allocationMultiplier": times} if times else {})})
        if self.chance(.05):
            return {}, {}
        amount = self.amount(resource)
        return {"deviceMultiplier": amount}, {"allocationMultiplier": amount}

    def device(self, device):
        new, old = {}, {}
        for resource in self.resources(3):
            new[resource] = {}
            if self.chance(.8):
                new[resource]["mapping"], old[resource] = self.mapping(device, resource)
            if self.chance(.4):
                new[resource]["overhead"] = {k: self.amount(resource) for k in ("perPod", "perContainer") if self.chance(.7)}
        device["nodeAllocatableResources"] = new
        if old:
            device["nodeAllocatableResourceMappings"] = old

    # ---- pods ----

    def container(self, container, claims):
        resources = container.setdefault("resources", {})
        named = [{"name": c["name"]} for c in claims if self.chance(.8)]
        if named:
            resources["claims"] = named
        if self.chance(.3):
            resources.setdefault("requests", {})["memory"] = self.amount("memory")
        if self.chance(.2):
            resource = self.r.choice(["cpu", "memory", "hugepages-2Mi"])
            limit = resources.setdefault("requests", {}).get(resource) or self.amount(resource)
            resources.setdefault("limits", {})[resource] = resources["requests"][resource] = limit

    def pod(self, pod):
        spec = pod["spec"]
        claims = spec.get("resourceClaims", [])
        if claims and self.chance(.3):
            spec["containers"].append({"name": "second", "image": "img", "resources": {"requests": {"cpu": "100m"}}})
        if claims and self.chance(.2):
            spec.setdefault("initContainers", []).append({"name": "before", "image": "img", "resources": {"requests": {"cpu": "1"}}})
        for container in spec.get("initContainers", []) + spec["containers"]:
            self.container(container, claims)
        if self.chance(.3):
            whole = {"requests": {k: self.r.choice(["4", "6"]) if k == "cpu" else "8Gi" for k in ("cpu", "memory") if self.chance(.7)}}
            if self.chance(.5):
                whole["limits"] = {"cpu": "6", "memory": "8Gi"}
            spec["resources"] = whole
        if self.chance(.1):
            spec["overhead"] = {"cpu": "100m"}

    def status(self, claim, containers):
        """(as 1.37 says it, as 1.36 does), in one."""
        found = {"resourceClaimName": claim, "containers": containers, "resources": {}, "mapping": [], "overhead": []}
        for resource in self.resources(2):
            amount = self.amount(resource)
            found["resources"][resource] = amount
            found["mapping"].append({"name": resource, "quantity": amount})
            if self.chance(.4):
                found["overhead"].append({"name": resource, "perPod": amount, **({"perContainer": amount} if self.chance(.5) else {})})
        return found

    def there(self, number, nodes, claims):
        """A pod on a node, of a lower priority; some have a claim that takes of the node."""
        name = "there%d" % number
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", "uid": "pod-" + name},
               "spec": {"nodeName": self.r.choice(nodes), "priority": -1,
                        "containers": [{"name": "c", "image": "img", "resources": {"requests": {"cpu": self.r.choice(["100m", "1", "2"])}}}]}}
        if self.chance(.3):
            pod["spec"]["resources"] = {"requests": {"cpu": "3"}}
        if self.chance(.6):
            claim = self.r.choice(claims) if claims and self.chance(.8) else None
            own = claim["metadata"]["name"] if claim else "gone"
            pod["status"] = {"nodeAllocatableResourceClaimStatuses": [self.status(own, self.r.choice([[], ["c"]]))]}
            if claim and self.chance(.5):
                claim["status"].setdefault("reservedFor", []).append({"resource": "pods", "name": name, "uid": "pod-" + name})
        return pod

    def build(self):
        objects = self.made["objects"]
        for o in objects:
            if o["kind"] == "Node":
                more = {"ephemeral-storage": "20Gi", "hugepages-2Mi": self.r.choice(["0", "16Mi", "64Mi"])}
                o["status"]["allocatable"].update(more)
            if o["kind"] == "ResourceSlice":
                for device in o["spec"].get("devices", []):
                    if self.chance(.6):
                        self.device(device)
        for step in self.made["pods"]:
            if "op" not in step:
                self.pod(step)
            elif step["op"] == "apply":
                for device in step["object"]["spec"].get("devices", []):
                    self.device(device)
        nodes = [o["metadata"]["name"] for o in objects if o["kind"] == "Node"]
        claims = [o for o in objects if o["kind"] == "ResourceClaim" and o.get("status", {}).get("allocation")
                  and len(o["status"].get("reservedFor", [])) < 2]
        objects += [self.there(i, nodes, claims) for i in range(self.r.choice([0, 1, 2, 4]))]
        self.made["featureGates"] = {"DRANodeAllocatableResources": True}
        if self.chance(.2):
            self.made["featureGates"].update({"PodLevelResources": False, "InPlacePodLevelResourcesVerticalScaling": False,
                                              "PodLevelResourcesFixDefaulting": False, "PodLevelResourcesFixKubeletQOSClass": False})
        return self.made


def scenario(seed, index):
    return Rooms(gen_devices.scenario(seed, index)).build()


def of_release(value, release):
    """Without the fields and gates that the release does not know."""
    if isinstance(value, list):
        return [of_release(v, release) for v in value]
    if not isinstance(value, dict):
        return value
    unknown = {"1.36": ("nodeAllocatableResources", "mapping", "overhead", "PodLevelResourcesFixDefaulting",
                        "PodLevelResourcesFixKubeletQOSClass"), "1.37": ("nodeAllocatableResourceMappings", "resources")}[release]
    status = "resourceClaimName" in value and "containers" in value
    return {k: of_release(v, release) for k, v in value.items()
            if k not in unknown or (k == "resources" and not status) or (k == "overhead" and "containers" in value and not status)}
