"""Configuration files: one that says everything, mutations of it, and faults that mutations seldom make.

A case is a name and a text. The same seed gives the same cases.
"""
import copy
import glob
import json
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
POINTS = ["preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve",
          "permit", "preBind", "bind", "postBind", "multiPoint", "placementGenerate", "placementScore",
          "podGroupPostFilter"]  # the last is 1.37's
PLUGINS = ["SchedulingGates", "PrioritySort", "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity",
           "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone",
           "PodTopologySpread", "InterPodAffinity", "DynamicResources", "DefaultPreemption",
           "NodeResourcesBalancedAllocation", "ImageLocality", "DefaultBinder", "NodeDeclaredFeatures"]
STRANGE = ["AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits", "NodeResourcesAllocatable", "*", ""]


def term(key="disk", operator="In", values=("ssd",)):
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


ARGS = {
    "DefaultPreemption": {"minCandidateNodesPercentage": 20, "minCandidateNodesAbsolute": 50},
    "DynamicResources": {"filterTimeout": "5s", "bindingTimeout": "1m30s"},
    "InterPodAffinity": {"hardPodAffinityWeight": 7, "ignorePreferredTermsOfExistingPods": True},
    "NodeAffinity": {"addedAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            term(), {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["a"]}]},
            term("cpus", "Gt", ["4"]), term("gpu", "Exists", [])]},
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "preference": term("zone", "NotIn", ["z1", "z2"])}]}},
    "NodeResourcesBalancedAllocation": {"resources": [{"name": "cpu", "weight": 1}, {"name": "example.com/gpu"}]},
    "NodeResourcesFit": {
        "ignoredResources": ["example.com/foo"], "ignoredResourceGroups": ["example.org"],
        "scoringStrategy": {"type": "RequestedToCapacityRatio", "resources": [{"name": "memory", "weight": 3}],
                            "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]}}},
    "PodTopologySpread": {"defaultingType": "List", "defaultConstraints": [
        {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway",
         "nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Honor", "matchLabelKeys": ["pod-template-hash"]},
        {"maxSkew": 3, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 2}]},
    "VolumeBinding": {"bindTimeoutSeconds": 300},
}

EXTENDER = {
    "urlPrefix": "https://127.0.0.1:8888/scheduler", "filterVerb": "filter", "preemptVerb": "preempt",
    "prioritizeVerb": "prioritize", "weight": 5, "bindVerb": "bind", "enableHTTPS": True, "httpTimeout": "100ms",
    "tlsConfig": {"insecure": True, "serverName": "extender.local"}, "nodeCacheCapable": True, "ignorable": True,
    "managedResources": [{"name": "example.com/foo", "ignoredByScheduler": True}, {"name": "example.com/bar"}]}


def everything():
    """A file with every field that there is."""
    sets = {p: {"enabled": [], "disabled": []} for p in POINTS}
    sets["score"] = {"enabled": [{"name": "ImageLocality", "weight": 10}, {"name": "TaintToleration"}],
                     "disabled": [{"name": "NodeResourcesFit"}]}
    sets["filter"] = {"disabled": [{"name": "NodePorts"}]}
    sets["preFilter"] = {"disabled": [{"name": "NodePorts"}]}
    sets["multiPoint"] = {"enabled": [{"name": "InterPodAffinity", "weight": 4}], "disabled": [{"name": "NodeDeclaredFeatures"}]}
    return dict(
        HEAD, parallelism=8, percentageOfNodesToScore=30, podInitialBackoffSeconds=2, podMaxBackoffSeconds=20,
        enableProfiling=False, enableContentionProfiling=True, delayCacheUntilActive=True,
        leaderElection={"leaderElect": True, "leaseDuration": "30s", "renewDeadline": "20s", "retryPeriod": "1.5s",
                        "resourceLock": "leases", "resourceName": "mine", "resourceNamespace": "there"},
        clientConnection={"kubeconfig": "/etc/kubernetes/scheduler.conf", "acceptContentTypes": "application/json",
                          "contentType": "application/json", "qps": 12.5, "burst": 40},
        profiles=[{"schedulerName": "one", "percentageOfNodesToScore": 50, "plugins": sets,
                   "pluginConfig": [{"name": n, "args": a} for n, a in ARGS.items()]},
                  {"schedulerName": "two", "plugins": {p: copy.deepcopy(sets[p]) for p in ("queueSort", "score")},
                   "pluginConfig": [{"name": "NodePorts", "args": {"any": [1, "thing"]}}, {"name": "Foreign", "args": {"x": 1}}]}],
        extenders=[EXTENDER, {"urlPrefix": "http://10.0.0.1", "filterVerb": "f"}])


def seeds():
    yield dict(HEAD)
    yield everything()
    yield dict(HEAD, extenders=[EXTENDER])
    yield dict(HEAD, profiles=[{"plugins": {"queueSort": {"enabled": [{"name": "PrioritySort"}]}}}, ])
    yield dict(HEAD, profiles=[{"schedulerName": "a"}, {"schedulerName": "b", "plugins": {"multiPoint": {"disabled": [{"name": "*"}], "enabled": [
        {"name": n} for n in ("PrioritySort", "NodeName", "DefaultBinder")]}}}])
    for name, args in ARGS.items():
        yield dict(HEAD, profiles=[{"pluginConfig": [{"name": name, "args": args}]}])
        yield dict(HEAD, profiles=[{"pluginConfig": [{"name": name, "args": dict(
            args, apiVersion=HEAD["apiVersion"], kind=name + "Args")}]}])
        yield dict(HEAD, profiles=[{"pluginConfig": [{"name": name, "args": {}}]}])
    for point in POINTS:
        for enabled in ("NodeAffinity", "PrioritySort", "DefaultBinder", "EBSLimits", "NodeResourcesAllocatable"):
            yield dict(HEAD, profiles=[{"plugins": {point: {"enabled": [{"name": enabled}]}}}])
        yield dict(HEAD, profiles=[{"plugins": {point: {"disabled": [{"name": "*"}]}}}])


# ---- texts ----

def scalar(value, rng):
    text = json.dumps(value)
    plain = isinstance(value, str) and value.replace("-", "").replace(".", "").replace("/", "").isalnum()
    ambiguous = isinstance(value, str) and (value[:1].isdigit() or value.lower() in (
        "y", "n", "yes", "no", "on", "off", "true", "false", "null") or value[:1] in ".-/")
    return value if plain and not ambiguous and rng.random() < 0.8 else text


def block(value, indent, rng):
    pad = "  " * indent
    if isinstance(value, dict) and value:
        lines = []
        for key, child in value.items():
            deep = isinstance(child, (dict, list)) and child
            lines.append("%s%s:%s" % (pad, key if key.isalnum() and not key.isdigit() else json.dumps(key),
                                      "\n" + block(child, indent + 1, rng) if deep else " " + scalar(child, rng)))
        return "\n".join(lines)
    if isinstance(value, list) and value:
        return "\n".join("%s-%s" % (pad, "\n" + block(v, indent + 1, rng) if isinstance(v, (dict, list)) and v
                                    else " " + scalar(v, rng)) for v in value)
    return pad + scalar(value, rng)


def text_of(document, rng):
    if rng.random() < 0.25:
        return json.dumps(document, indent=rng.choice([None, 1]))
    return block(document, 0, rng) + "\n"


# ---- mutations ----

def places(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, path + (key,))


def parent_of(document, path):
    for key in path[:-1]:
        document = document[key]
    return document


WRONG = [None, True, False, 0, 1, -1, 101, 1.5, 2147483648, -2147483649, "", "x", "15", "15s", "1h2m", "-1s", "3x", "0",
         "a/b/c", "example.com/foo", "requests.cpu/x", "leases", "NodeAffinity", [], {}, ["x"], [1], {"x": 1}, [{}], [None], "!", "é"]


def mutate(document, rng):
    path = rng.choice([p for p in places(document) if p] or [None])
    if path is None:
        return
    up, key = parent_of(document, path), path[-1]
    what = rng.randrange(9)
    if what == 0:
        del up[key]
    elif what in (1, 2, 3):
        up[key] = copy.deepcopy(rng.choice(WRONG))
    elif what == 4 and isinstance(up, dict):
        up[key + "x" if rng.random() < 0.5 else key.capitalize()] = up.pop(key)
    elif what == 5 and isinstance(up, list):
        up.insert(rng.randrange(len(up) + 1), copy.deepcopy(up[key]))
    elif what == 6 and isinstance(up, list):
        rng.shuffle(up)
    elif what == 7 and isinstance(up.get("name") if isinstance(up, dict) else None, str):
        up["name"] = rng.choice(PLUGINS + STRANGE)
    elif isinstance(up, dict):
        up[rng.choice(["zoo", "Name", "weight", "args", "enabled"])] = copy.deepcopy(rng.choice(WRONG))
    else:
        up.append(copy.deepcopy(rng.choice(WRONG)))


def spoil(text, rng):
    """A fault in the text itself."""
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    what = rng.randrange(4)
    if what == 0:
        lines.insert(at, lines[at])
    elif what == 1:
        lines[at] = " " * rng.randrange(4) + lines[at].lstrip()
    elif what == 2:
        place = rng.randrange(len(text))
        return text[:place] + rng.choice("{}[]:,\"'\t#&*!|>%@-x0") + text[place + rng.randrange(2):]
    else:
        return text[:rng.randrange(len(text))]
    return "\n".join(lines)


def written():
    """Files that lie here, and what the unit tests have."""
    for path in sorted(glob.glob(os.path.join(HERE, "configs", "*.yaml")) + glob.glob(os.path.join(HERE, "configs", "*.json"))
                       + glob.glob(os.path.join(HERE, "../golden/config", "*.in"))):
        with open(path, encoding="utf-8") as f:
            yield {"name": os.path.basename(path), "text": f.read()}


def emptied():
    """Each field of the file that says everything, and minDomains and the policies where they may stand, with nothing in it."""
    whole = everything()
    args = next(c["args"] for c in whole["profiles"][0]["pluginConfig"] if c["name"] == "PodTopologySpread")
    for constraint in args["defaultConstraints"]:
        for field, value in (("minDomains", 2), ("nodeAffinityPolicy", "Ignore"), ("nodeTaintsPolicy", "Honor")):
            constraint.setdefault(field, value)
    for path in places(whole):
        for empty in (0, "", None, [], {}, False) if path else ():
            document = copy.deepcopy(whole)
            parent_of(document, path)[path[-1]] = empty
            yield "empty-%s-%s" % (".".join(map(str, path)), json.dumps(empty)), document


def cases(count, seed):
    yield from written()
    for name, document in emptied():
        yield {"name": name, "text": json.dumps(document)}
    rng = random.Random(0)
    known = list(seeds())
    for i, document in enumerate(known):
        yield {"name": "seed-%d" % i, "text": text_of(document, rng)}
    for i in range(count):
        rng = random.Random("%s-%d" % (seed, i))
        document = copy.deepcopy(rng.choice(known) if rng.random() < 0.6 else known[1])
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            mutate(document, rng)
        text = text_of(document, rng)
        yield {"name": "gen-%s-%d" % (seed, i), "text": spoil(text, rng) if rng.random() < 0.15 else text}
