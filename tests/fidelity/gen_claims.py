"""Makes scenarios of pods whose ResourceClaims are to be given devices, from what devices/gen.py asks the
allocator: its slices, classes, nodes and claims, and some pods that want one or several of the claims, some
of them the same. What is allocated already is a claim of nobody's. The same seed and index give the same scenario."""
import copy
import importlib.util
import os
import random

spec = importlib.util.spec_from_file_location(
    "devices_gen", os.path.join(os.path.dirname(os.path.abspath(__file__)), "devices", "gen.py"))
devices = importlib.util.module_from_spec(spec)
spec.loader.exec_module(devices)

API = "resource.k8s.io/v1"


def node(r, found):
    """With room for a few pods."""
    labels = dict(found["metadata"]["labels"], **{"kubernetes.io/hostname": found["metadata"]["name"]})
    cpu = r.choice(["1", "2", "4"])
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": found["metadata"]["name"], "labels": labels},
            "status": {"capacity": {"cpu": cpu, "memory": "8Gi", "pods": "10"}, "allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "10"}}}


def taken(case):
    """Claims that have devices; a name for what is not said."""
    out = []
    for c in case["allocated"]:
        results = c["status"]["allocation"]["devices"]["results"]
        if results:
            out.append({"apiVersion": API, "kind": "ResourceClaim", "metadata": dict(c["metadata"]),
                        "spec": {"devices": {"requests": [{"name": "r", "exactly": {
                            "deviceClassName": "class-0", "allocationMode": "ExactCount", "count": 1}}]}},
                        "status": {"allocation": {"devices": {"results": results}}}})
    return out


def pod(r, name, claims):
    wanted = r.sample(claims, min(len(claims), r.choice([1, 1, 1, 2, 2, 3])))
    found = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
             "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": r.choice(["100m", "600m", "1500m"])}}}],
                      "resourceClaims": [{"name": "n%d" % i, "resourceClaimName": c["metadata"]["name"]}
                                         for i, c in enumerate(wanted)]}}
    if r.random() < .2:
        found["spec"]["nodeSelector"] = {"zone": r.choice("abc")}
    return found


def scenario(seed, index):
    r = random.Random("claims/%d/%d" % (seed, index))
    generator = devices.Gen(seed * 1000003 + index)
    generator.on.discard("many")  # which upstream may search for longer than a filter's time
    generator.on.discard("binding")  # nobody would make the devices ready
    case = generator.case()
    claims = case["claims"] + [generator.claim(len(case["claims"]) + i) for i in range(r.randint(0, 3))]
    objects = [node(r, n) for n in case["nodes"]]
    objects += [dict(s, apiVersion=API, kind="ResourceSlice") for s in case["slices"]]
    objects += [dict(c, apiVersion=API, kind="DeviceClass") for c in case["classes"]]
    objects += [dict(c, apiVersion=API, kind="ResourceClaim") for c in claims] + taken(case)
    pods = [pod(r, "p%d" % i, claims) for i in range(r.randint(2, 6))]
    return {"name": "gen-%d-%d-claims" % (seed, index), "objects": copy.deepcopy(objects), "pods": pods, "options": {}}
