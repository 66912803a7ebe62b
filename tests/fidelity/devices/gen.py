#!/usr/bin/env python3
"""gen: random questions to the device allocator, a line of JSON each.

    gen.py SEED COUNT [sets] [groups] [derived]    attributes may be lists; devices may have compatibility
                                           groups; requests may derive attributes

Each case draws which features it uses, so that they meet in all combinations: several pools and
generations, incomplete and invalid pools, partitionable devices, consumable capacity, taints, admin
access, prioritised lists, constraints, All, perDeviceNodeSelection, binding conditions. The same
seed gives the same cases everywhere. Pools have different names across drivers; the README of
scheduler/devices says why.
"""
import json
import random
import sys

QUANTITIES = ["0", "1", "2", "3", "4", "10", "1Gi", "2Gi", "4Gi", "1500Mi", "500m", "1k", "100M"]
ATTRIBUTES = ["model", "numa", "ready", "version", "other.example.com/link"]


def maybe(rng, chance):
    return rng.random() < chance


class Gen:
    def __init__(self, seed, more=()):
        self.sets, self.groups = "sets" in more, "groups" in more
        self.derives = "derived" in more
        self.rng = rng = random.Random(seed)
        self.on = {name for name in (
            "counters", "capacity", "taints", "admin", "lists", "constraints", "all", "per_device",
            "binding", "shared", "generations", "incomplete", "invalid", "allocated", "selectors",
            "errors", "config", "many") if maybe(rng, 0.4)} | ({"counters"} if self.groups else set()) | (
                {"constraints"} if self.derives else set())
        self.drivers = ["gpu.example.com", "nic.example.com"][:rng.randint(1, 2)]
        self.nodes = ["node-%d" % i for i in range(rng.randint(1, 3))]
        self.slices = []
        self.pools = 0

    # ---- what there is ----

    def selector(self):
        rng = self.rng
        requirement = rng.choice([
            {"key": "zone", "operator": "In", "values": rng.sample(["a", "b", "c"], rng.randint(1, 2))},
            {"key": "zone", "operator": "NotIn", "values": ["a"]},
            {"key": "gpu", "operator": "Exists"},
            {"key": "gpu", "operator": "DoesNotExist"},
            {"key": "rank", "operator": "Gt", "values": ["1"]},
            {"key": "rank", "operator": "Lt", "values": ["2"]}])
        term = {"matchExpressions": [requirement]}
        if maybe(rng, 0.2):
            term["matchExpressions"].append({"key": "zone", "operator": "Exists"})
        if maybe(rng, 0.2):
            field = {"key": "metadata.name", "operator": rng.choice(["In", "NotIn"]),
                     "values": [rng.choice(self.nodes)]}
            term["matchFields"] = [field]
        return {"nodeSelectorTerms": [term]}

    def reach(self):
        kind = self.rng.randrange(4)
        if kind == 0:
            return {"nodeName": self.rng.choice(self.nodes)}
        if kind == 1:
            return {"allNodes": True}
        return {"nodeSelector": self.selector()}

    def attributes(self):
        rng, out = self.rng, {}
        if not maybe(rng, 0.1):
            out["model"] = {"string": rng.choice(["a100", "h100"])}
        if maybe(rng, 0.8):
            out["numa"] = {"int": rng.randint(0, 2)}
        if maybe(rng, 0.5):
            out["ready"] = {"bool": maybe(rng, 0.5)}
        if maybe(rng, 0.3):
            out["version"] = {"version": rng.choice(["1.0.0", "2.1.0"])}
        if maybe(rng, 0.3):
            out["other.example.com/link"] = {"int": rng.randint(0, 3)}
        if "numa" not in out and maybe(rng, 0.8):  # both: upstream takes one of them by chance
            out["gpu.example.com/numa"] = {"int": rng.randint(0, 2)}
        return {name: self.listed(value) for name, value in out.items()} if self.sets else out

    def listed(self, value):
        """The attribute, or a list of its kind with that value and others."""
        rng, (kind, one) = self.rng, next(iter(value.items()))
        if maybe(rng, 0.4):
            return value
        others = {"string": ["a100", "h100", "b200", "l4"], "int": [0, 1, 2, 3], "bool": [True, False],
                  "version": ["1.0.0", "2.1.0", "3.0.0"]}[kind]
        return {kind + "s": [one] + [rng.choice(others) for _ in range(rng.randint(0, 2))]}

    def policy(self):
        rng = self.rng
        kind = rng.randrange(4)
        if kind == 0:
            return {"default": "1Gi"}
        if kind == 1:
            step = {"step": "256Mi"} if maybe(rng, 0.6) else {}
            most = {"max": "3Gi"} if maybe(rng, 0.6) else {}
            return {"default": "1Gi", "validRange": {"min": "512Mi", **step, **most}}
        if kind == 2:
            return {"default": "1Gi", "validValues": ["512Mi", "1Gi", "2Gi"]}
        return {"default": "1", "validRange": {"min": "1", "step": rng.choice(["1", "3"])}}

    def device(self, name, sets, per_device):
        rng = self.rng
        device = {"name": name, "attributes": self.attributes()}
        if maybe(rng, 0.5 if "capacity" in self.on else 0.1):
            device["capacity"] = {"memory": {"value": rng.choice(["1Gi", "2Gi", "4Gi", "3", "4"])}}
            if maybe(rng, 0.3):
                device["capacity"]["cores"] = {"value": rng.choice(["4", "8"])}
            if "capacity" in self.on:
                for capacity in device["capacity"].values():
                    if maybe(rng, 0.5):
                        capacity["requestPolicy"] = self.policy()
        if "capacity" in self.on and maybe(rng, 0.5):
            device["allowMultipleAllocations"] = maybe(rng, 0.9)
        if sets and maybe(rng, 0.8):
            device["consumesCounters"] = [
                {"counterSet": s, "counters": {c: {"value": rng.choice(["0", "1", "2", "1Gi"])}
                                               for c in rng.sample(sorted(sets[s]), rng.randint(1, len(sets[s])))}}
                for s in rng.sample(sorted(sets), rng.randint(1, len(sets)))]
            for consumed in device["consumesCounters"] if self.groups else ():
                if maybe(rng, 0.7):
                    consumed["compatibilityGroups"] = rng.sample(["x", "y", "z"], rng.randint(0, 2))
            if "invalid" in self.on and maybe(rng, 0.05):
                device["consumesCounters"][0]["counterSet"] = "unknown"
            elif "invalid" in self.on and maybe(rng, 0.05):
                device["consumesCounters"][0]["counters"]["unknown"] = {"value": "1"}
        if "taints" in self.on and maybe(rng, 0.4):
            device["taints"] = [{"key": rng.choice(["broken", "slow"]), "value": rng.choice(["", "yes"]),
                                 "effect": rng.choice(["NoSchedule", "NoExecute", "None"])}
                                for _ in range(rng.randint(1, 2))]
        if "binding" in self.on and maybe(rng, 0.3):
            device["bindingConditions"] = ["attached"]
            device["bindingFailureConditions"] = ["failed"]
            device["bindsToNode"] = maybe(rng, 0.5)
        if per_device:
            device.update(self.reach())
        return device

    def pool(self):
        rng = self.rng
        driver = rng.choice(self.drivers)
        pool = "%s-%s" % (rng.choice("zyxab"), self.pools)
        self.pools += 1
        sets, counter_slices = {}, 0
        if "counters" in self.on and maybe(rng, 0.7):
            sets = {"set-%d" % i: {c: {"value": rng.choice(["1", "2", "3", "4Gi"])}
                                   for c in ["memory", "slots"][:rng.randint(1, 2)]}
                    for i in range(rng.randint(1, 2))}
            counter_slices = rng.randint(1, len(sets))
        per_device = "per_device" in self.on and maybe(rng, 0.5)
        local = not per_device and not ("shared" in self.on and maybe(rng, 0.7))
        common = {"nodeName": rng.choice(self.nodes)} if local else self.reach()
        device_slices = rng.choice([1, 1, 1, 2, 3])
        total = device_slices + counter_slices
        generation = rng.randint(1, 3)
        count = total
        if "incomplete" in self.on and maybe(rng, 0.3):
            count += rng.choice([-1, 1])
        names = iter(["device-%d" % i for i in range(60)])
        for i in range(total):
            spec = {"driver": driver, "pool": {"name": pool, "generation": generation,
                                               "resourceSliceCount": count}}
            if "generations" in self.on and maybe(rng, 0.25):
                spec["pool"]["generation"] += rng.choice([-1, 1])
            if i < counter_slices:
                mine = sorted(sets)[i::counter_slices]
                if "invalid" in self.on and maybe(rng, 0.1):
                    mine = sorted(sets)
                spec["sharedCounters"] = [{"name": s, "counters": sets[s]} for s in mine]
                spec.update(common if maybe(rng, 0.5) else {"allNodes": True})
            else:
                size = rng.randint(7, 20) if "many" in self.on else rng.randint(0, 4)
                devices = [next(names) for _ in range(size)]
                if "invalid" in self.on and devices and maybe(rng, 0.15):
                    devices.append(rng.choice(["device-0", devices[0]]))
                spec["devices"] = [self.device(name, sets, per_device) for name in devices]
                if per_device:
                    spec["perDeviceNodeSelection"] = True
                else:
                    spec.update(common if maybe(rng, 0.7) else self.reach())
            self.slices.append({"metadata": {"name": "slice-%02d-%s" % (rng.randrange(100), len(self.slices))},
                                "spec": spec})

    # ---- what is asked ----

    def expression(self):
        rng = self.rng
        driver = rng.choice(self.drivers)
        if self.sets and maybe(rng, 0.3):
            return rng.choice(['device.attributes["%s"].numa.includes(%d)' % (driver, rng.randint(0, 3)),
                               'device.attributes["%s"].?numa.orValue([]).size() < 2' % driver,
                               '"h100" in device.attributes["%s"].model' % driver])
        if "errors" in self.on and maybe(rng, 0.1):
            return rng.choice(["unknown == 1", 'device.attributes["gpu.example.com"].missing == 1',
                               "device.driver", 'device.attributes["%s"].numa == 1' % driver])
        if maybe(rng, 0.3):
            return "true"
        return rng.choice([
            'device.driver == "%s"' % driver,
            'has(device.attributes["%s"].numa) && device.attributes["%s"].numa <= %d' % (driver, driver, rng.randint(0, 2)),
            'device.attributes["%s"].?model.orValue("") != "a100"' % driver,
            '!("memory" in device.capacity["%s"]) || device.capacity["%s"].memory.compareTo(quantity("2Gi")) >= 0' %
            (driver, driver),
            'device.attributes["%s"].?version.hasValue()' % driver,
            "device.allowMultipleAllocations",
            'device.attributes["other.example.com"].?link.orValue(0) < 3'])

    def selectors(self, chance):
        if "selectors" not in self.on or not maybe(self.rng, chance):
            return {}
        return {"selectors": [{"cel": {"expression": self.expression()}} for _ in range(self.rng.randint(1, 2))]}

    def opaque(self):
        return {"opaque": {"driver": self.rng.choice(self.drivers),
                           "parameters": {"kind": "Config", "n": self.rng.randint(1, 9)}}}

    def classes(self):
        out = []
        for i in range(3):
            spec = self.selectors(0.5)
            if "config" in self.on and maybe(self.rng, 0.6):
                spec["config"] = [self.opaque() for _ in range(self.rng.randint(1, 2))]
            out.append({"metadata": {"name": "class-%d" % i}, "spec": spec})
        return out

    def choice(self, sub):
        rng = self.rng
        out = {"deviceClassName": "class-%d" % rng.randrange(3), **self.selectors(0.4)}
        if "errors" in self.on and maybe(rng, 0.03):
            out["deviceClassName"] = rng.choice(["missing", ""])
        if "all" in self.on and maybe(rng, 0.4):
            out["allocationMode"] = "All"
        else:
            out["allocationMode"] = "ExactCount"
            out["count"] = rng.choice([1, 1, 1, 2, 3])
            if "many" in self.on and maybe(rng, 0.3) and not "constraints" in self.on:
                out["count"] = rng.choice([5, 12, 17, 20, 33])
        if "taints" in self.on and maybe(rng, 0.5):
            out["tolerations"] = [rng.choice([
                {"operator": "Exists"}, {"key": "broken", "operator": "Equal", "value": "yes"},
                {"key": "slow", "operator": "Exists", "effect": "NoSchedule"},
                {"key": "broken", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60},
                {"key": "slow"}]) for _ in range(rng.randint(1, 2))]
        if "capacity" in self.on and maybe(rng, 0.5):
            out["capacity"] = {"requests": {"memory": rng.choice(
                ["1", "2", "1Gi", "600Mi", "1500Mi", "2Gi", "500m", "1k", "512Mi"])}}
            if maybe(rng, 0.1):
                out["capacity"]["requests"]["missing"] = "1"
        if self.derives and maybe(rng, 0.7):
            names = ["%s/%s" % (rng.choice(self.drivers), n) for n in ("numa", "model", "numa")]
            out["derivedAttributes"] = [{"name": n, "expression": self.derived()} for n in rng.sample(names, rng.randint(1, 2))]
        if not sub and "admin" in self.on and maybe(rng, 0.3):
            out["adminAccess"] = maybe(rng, 0.9)
        return out

    def derived(self):
        rng, driver = self.rng, self.rng.choice(self.drivers)
        if maybe(rng, 0.05):
            return rng.choice(["1.5", "unknown + 1", "[1, 2u]", "dyn([1, 'a'])", "{}", "dyn(1.5)", "dyn([[1]])", "dyn(null)", "quantity('1')", "dyn(2u)",
                               "dyn([])", "dyn(b'a')", "dyn([1, true])", "dyn(quantity('1'))", "dyn({'a': 1})", "[1.5]", "type(1)",
                               'device.attributes["%s"].none' % driver, "dyn(duration('1s'))"])
        return rng.choice(['device.attributes["%s"].?numa.orValue(7)' % driver, 'device.attributes["%s"].?model.orValue("x")' % driver,
                           'device.attributes["%s"].?model.orValue("x") == "a100"' % driver, 'semver("1.2.3-rc.1+b")', "[1, 2]", "1", '"a100"',
                           'device.attributes["%s"].?version.orValue(semver("1.0.0"))' % driver, "device.driver", "['a100', device.driver]",
                           'int(device.attributes["%s"].?numa.orValue(1)) %% 2' % driver, "[semver('1.0.0')]", "[true]", "device.allowMultipleAllocations",
                           'device.attributes["%s"]["numa"]' % driver, "[device.driver.size()]"])

    def constraint(self, names):
        rng = self.rng
        which = {} if maybe(rng, 0.4) else {"requests": rng.sample(names, rng.randint(1, min(2, len(names))))}
        if "errors" in self.on and maybe(rng, 0.03):
            return which
        kind = rng.choice(["matchAttribute", "distinctAttribute"])
        full = rng.choice(["%s/model", "%s/numa", "%s/numa", "%s/ready", "%s/version"]) % rng.choice(self.drivers)
        if maybe(rng, 0.1):
            full = "other.example.com/link"
        return {**which, kind: full}

    def claim(self, index):
        rng = self.rng
        requests, names = [], []
        for i in range(rng.choice([1, 1, 2, 2, 3])):
            name = "r%d" % i
            names.append(name)
            if "lists" in self.on and maybe(rng, 0.5):
                subs = [{"name": "s%d" % k, **self.choice(True)} for k in range(rng.randint(1, 4))]
                names += ["%s/%s" % (name, s["name"]) for s in subs]
                requests.append({"name": name, "firstAvailable": subs})
            else:
                requests.append({"name": name, "exactly": self.choice(False)})
        devices = {"requests": requests}
        if "constraints" in self.on:
            devices["constraints"] = [self.constraint(names) for _ in range(rng.randint(1, 2))]
        if "config" in self.on:
            devices["config"] = [{**({} if maybe(rng, 0.3) else {"requests": rng.sample(names, 1)}), **self.opaque()}
                                 for _ in range(rng.randint(1, 2))]
        return {"metadata": {"namespace": "default", "name": "claim-%d" % index}, "spec": {"devices": devices}}

    # ---- what is taken ----

    def taken(self):
        rng, results = self.rng, []
        for s in self.slices:
            for device in s["spec"].get("devices", []):
                if "allocated" not in self.on or not maybe(rng, 0.25):
                    continue
                result = {"request": "r", "driver": s["spec"]["driver"], "pool": s["spec"]["pool"]["name"],
                          "device": device["name"]}
                if device.get("allowMultipleAllocations"):
                    result["shareID"] = "00000000-0000-4000-8000-%012d" % len(results)
                    if device.get("capacity") and maybe(rng, 0.9):
                        result["consumedCapacity"] = {c: rng.choice(["1", "1Gi", "512Mi"]) for c in device["capacity"]}
                elif maybe(rng, 0.2):
                    result["adminAccess"] = True
                results.append(result)
        return [{"metadata": {"namespace": "default", "name": "taken"},
                 "spec": {}, "status": {"allocation": {"devices": {"results": results}}}}]

    def case(self):
        rng = self.rng
        for _ in range(rng.randint(1, 5)):
            self.pool()
        self.slices.sort(key=lambda s: s["metadata"]["name"])
        labels = [{}, {"zone": "a"}, {"zone": "b", "gpu": ""}, {"zone": "c", "rank": "2"}, {"rank": "x"}]
        return {"slices": self.slices, "classes": self.classes(),
                "claims": [self.claim(i) for i in range(rng.choice([1, 1, 2, 3]))],
                "allocated": self.taken(),
                "nodes": [{"metadata": {"name": n, "labels": rng.choice(labels)}} for n in self.nodes]}


if __name__ == "__main__":
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    for i in range(count):
        print(json.dumps(Gen(seed * 1000003 + i, sys.argv[3:]).case(), separators=(",", ":")))
