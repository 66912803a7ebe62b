"""A scenario for each feature gate that decides, whose two values decide it otherwise.

CASES gives each gate its objects and pods, and the gates that go with it at both values. What must
stay true: a gate that the tables call honoured has a case here, or a line in ELSEWHERE that says
which test tells its values apart.
"""

ELSEWHERE = {
    "AllAlpha": "flips, tests/unit/kube/release/test_feature_gates: it stands for others",
    "AllBeta": "flips, tests/unit/kube/release/test_feature_gates: it stands for others",
    "CBORServingAndStorage": "tests/unit/serve/test_zpages: pages for operators",
    "CompositePodGroup": "groups_differ.py --gates, tests/upstream scheduler/podgroup, tests/unit/scheduler/coordinator/test_gang_tree: groups are not decided pod by pod",
    "ComponentFlagz": "tests/unit/serve: pages for operators",
    "ComponentStatusz": "tests/unit/serve: pages for operators",
    "DRAConsumableCapacity": "tests/fidelity/devices/differ.py --gates",
    "DRADeviceBindingConditions": "tests/fidelity/devices/differ.py --gates",
    "DRADeviceTaintRules": "tests/fidelity/regressions: device-tainted-by-a-rule",
    "DRADeviceTaints": "tests/fidelity/devices/differ.py --gates",
    "DRAExtendedResource": "tests/fidelity/regressions/1.36: extended-resources-without-their-gate",
    "DRAFractionalCapacityRange": "tests/fidelity/devices/differ.py --gates",
    "DRAPartitionableDevices": "tests/fidelity/devices/differ.py --gates",
    "DRAPrioritizedList": "tests/fidelity/devices/differ.py --gates",
    "DRAResourceClaimDeviceStatus": "tests/fidelity/devices/differ.py --gates",
    "DRASchedulerFilterTimeout": "flips: filterTimeout in the configuration that is written",
    "DRAWorkloadResourceClaims": "tests/upstream dra/all, tests/unit/scheduler/coordinator/test_gang_claims: groups are not decided pod by pod",
    "GangScheduling": "tests/e2e, tests/unit/scheduler/coordinator: groups are not decided pod by pod",
    "GenericWorkload": "tests/e2e, tests/unit/scheduler/coordinator: groups are not decided pod by pod",
    "NominatedNodeNameForExpectation": "gates_live.py, tests/unit/scheduler/coordinator/test_expected_nomination: what is written before a bind",
    "PodGroupPreemptionPolicy": "tests/unit/scheduler/coordinator: groups are not decided pod by pod",
    "SchedulerPopFromBackoffQ": "gates_live.py, tests/scenario/queue/a_strict_backoff_*: when a pod is tried, not where it goes",
    "TopologyAwareWorkloadScheduling": "groups_differ.py --gates, tests/unit/scheduler/coordinator/test_gang_topology: where groups go",
    "WorkloadAwarePreemption": "groups_differ.py --gates, tests/unit/scheduler/coordinator/test_gang_release: for whom is evicted",
}


def node(name, labels=None, taints=None, **status):
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
            "spec": {"taints": taints} if taints else {},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}, **status}}


def pod(name, labels=None, status=None, requests=None, **spec):
    container = {"name": "c", "image": "i"}
    if requests:
        container["resources"] = {"requests": requests}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", "labels": labels or {}},
            "spec": {"containers": [container], **spec}, **({"status": status} if status else {})}


def taint(value, effect="NoSchedule"):
    return {"key": "sla", "value": value, "effect": effect}


def tolerating(name, operator, value, **spec):
    return pod(name, tolerations=[{"key": "sla", "operator": operator, "value": value}], **spec)


def comparisons():
    """Bounds on both sides, values that are no numbers, soft taints, and whose domains count."""
    nodes = [node("n1", taints=[taint("950")], labels={"zone": "a"}), node("n2", taints=[taint("0950")], labels={"zone": "b"}),
             node("n3", taints=[taint("-7")], labels={"zone": "c"}), node("n4", taints=[taint("x")], labels={"zone": "d"}),
             node("n5", taints=[taint("900", "PreferNoSchedule")], labels={"zone": "e"}),
             node("n6", taints=[taint("9223372036854775808")])]
    spread = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "nodeTaintsPolicy": "Honor",
               "labelSelector": {"matchLabels": {"app": "a"}}}]
    return nodes, [tolerating("greater", "Gt", "900"), tolerating("less", "Lt", "-6"), tolerating("equal", "Gt", "950"),
                   tolerating("zeros", "Gt", "0900"), tolerating("no-number", "Gt", "y"), tolerating("soft", "Lt", "901"),
                   tolerating("spread-1", "Gt", "-100", topologySpreadConstraints=spread, labels={"app": "a"}),
                   tolerating("spread-2", "Gt", "-100", topologySpreadConstraints=spread, labels={"app": "a"}),
                   tolerating("spread-3", "Gt", "-100", topologySpreadConstraints=spread, labels={"app": "a"})]


def label_keys():
    """Pods of another version count only where keys do not."""
    def spread(when):
        return [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": when, "matchLabelKeys": ["version"],
                 "labelSelector": {"matchLabels": {"app": "a"}}}]
    old = [pod("old%d" % i, {"app": "a", "version": "1"}, nodeName="n1") for i in range(3)]
    new = {"app": "a", "version": "2"}
    return ([node("n1", {"zone": "a"}), node("n2", {"zone": "b"})] + old,
            [pod("hard", new, topologySpreadConstraints=spread("DoNotSchedule")),
             pod("soft", new, topologySpreadConstraints=spread("ScheduleAnyway")),
             pod("hard-2", new, topologySpreadConstraints=spread("DoNotSchedule"))])


def whole(name, cpu, memory=None, **more):
    return pod(name, resources={"requests": {"cpu": cpu, **({"memory": memory} if memory else {})}}, **more)


def pod_level():
    """Requests of pods as a whole: of those that are there, of those that come, less than containers ask for."""
    return ([node("n1"), node("n2"), whole("there", "3", nodeName="n1", requests={"cpu": "1"}),
             whole("low", "1", "1Gi", nodeName="n2", requests={"cpu": "1"})],
            [pod("two", requests={"cpu": "2"}), whole("wide", "3", requests={"cpu": "500m"}), whole("huge", "5"),
             pod("last", requests={"cpu": "1", "memory": "1Gi"})])


def resizes():
    """What the status of a pod as a whole says."""
    grown = {"resources": {"requests": {"cpu": "3"}}, "allocatedResources": {"cpu": "2"}, "phase": "Running"}
    both = {"resources": {"requests": {"memory": "6Gi"}}, "allocatedResources": {"memory": "7Gi"}, "phase": "Running"}
    return ([node("n1"), node("n2"), whole("there", "1", nodeName="n1", status=grown, requests={"cpu": "1"}),
             whole("with", "100m", nodeName="n2", status=both, requests={"cpu": "100m", "memory": "1Gi"})],
            [pod("two", requests={"cpu": "2"}), pod("two-more", requests={"cpu": "2", "memory": "2Gi"})])


def declared():
    """What a pod needs of a kubelet."""
    nodes = [node("n1"), node("n2", declaredFeatures=["RestartAllContainersOnContainerExits"])]
    wants = pod("wants")
    wants["spec"]["containers"][0].update(restartPolicy="Never", restartPolicyRules=[
        {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}])
    filled = pod("filled", nodeName="n2", requests={"cpu": "4"})
    big = pod("big", requests={"cpu": "1"})
    big["spec"]["containers"][0].update({k: wants["spec"]["containers"][0][k] for k in ("restartPolicy", "restartPolicyRules")})
    return nodes + [filled], [wants, big]


def drivers():
    """A driver that has to be there."""
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"},
              "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "s",
                       "csi": {"driver": "d.example.com", "volumeHandle": "h"},
                       "claimRef": {"namespace": "default", "name": "c", "uid": "u"}}, "status": {"phase": "Bound"}}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
             "metadata": {"name": "c", "namespace": "default", "uid": "u",
                          "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
             "spec": {"volumeName": "v", "storageClassName": "s", "accessModes": ["ReadWriteOnce"],
                      "resources": {"requests": {"storage": "1Gi"}}}, "status": {"phase": "Bound"}}
    driver = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "d.example.com"},
              "spec": {"preventPodSchedulingIfMissing": True}}
    there = {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "n2"},
             "spec": {"drivers": [{"name": "d.example.com", "nodeID": "n2"}]}}
    return ([node("n1"), node("n2"), pod("busy", nodeName="n2", requests={"cpu": "3"}), volume, claim, driver, there],
            [pod("p", volumes=[{"name": "x", "persistentVolumeClaim": {"claimName": "c"}}])])


def capacities():
    """A volume that is still to be made, and nodes with more and with less room for it."""
    def free(name, node_name, amount):
        return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
                "metadata": {"name": name, "namespace": "default"}, "storageClassName": "s", "capacity": amount,
                "nodeTopology": {"matchLabels": {"kubernetes.io/hostname": node_name}}}
    storage = [{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "s"},
                "provisioner": "d.example.com", "volumeBindingMode": "WaitForFirstConsumer"},
               {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "d.example.com"},
                "spec": {"storageCapacity": True}},
               {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "default"},
                "spec": {"storageClassName": "s", "accessModes": ["ReadWriteOnce"],
                         "resources": {"requests": {"storage": "5Gi"}}}}]
    return ([node("n1"), node("n2"), node("n3")] + storage + [free("f1", "n1", "10Gi"), free("f2", "n2", "100Gi")],
            [pod("p", volumes=[{"name": "x", "persistentVolumeClaim": {"claimName": "c"}}])])


RESOURCE = "resource.k8s.io/v1"


def device_class(name, *selectors):
    return {"apiVersion": RESOURCE, "kind": "DeviceClass", "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": e}} for e in selectors]}}


def slice_of(name, node_name, devices, **more):
    return {"apiVersion": RESOURCE, "kind": "ResourceSlice", "metadata": {"name": name},
            "spec": {"driver": "d.example.com", "nodeName": node_name,
                     "pool": {"name": node_name, "generation": 1, "resourceSliceCount": 1}, "devices": devices, **more}}


def claim(name, requests, **more):
    return {"apiVersion": RESOURCE, "kind": "ResourceClaim", "metadata": {"name": name, "namespace": "default"},
            "spec": {"devices": {"requests": requests, **more}}}


def wants(count, class_name="any", name="r"):
    return {"name": name, "exactly": {"deviceClassName": class_name, "allocationMode": "ExactCount", "count": count}}


def claiming(name, *claims):
    return pod(name, resourceClaims=[{"name": c, "resourceClaimName": c} for c in claims])


def device_lists():
    """Devices on one switch or another, on several, and pods that want them together or apart."""
    def devices(*switches):
        return [{"name": "d%d" % i, "attributes": {"switches": {"strings": s}, "ports": {"ints": [i, 7]}, "ready": {"bools": [True]},
                                                   "firmwares": {"versions": ["1.0.%d" % i]}}} for i, s in enumerate(switches)]
    attribute = "d.example.com/switches"
    return ([node("n1"), node("n2"), slice_of("s1", "n1", devices(["a"], ["b"], ["c", "a"])),
             slice_of("s2", "n2", devices(["a", "b"], ["b", "c"], ["b"])), device_class("any"),
             device_class("port", 'device.attributes["d.example.com"].ports.exists(p, p == 2)'),
             device_class("old", 'device.attributes["d.example.com"].firmwares.includes(semver("1.0.0"))'),
             claim("three", [wants(3)], constraints=[{"matchAttribute": attribute}]),
             claim("apart", [wants(2)], constraints=[{"distinctAttribute": attribute}]),
             claim("two", [wants(1, "port")]), claim("first", [wants(1, "old")])],
            [claiming("together", "three"), claiming("apart", "apart"), claiming("second", "two"), claiming("last", "first")])


def device_derived():
    """Devices that have in common what an expression makes of them, or not, and one that says nothing."""
    def derives(count, expression):
        request = wants(count)
        request["exactly"]["derivedAttributes"] = [{"name": "d.example.com/half", "expression": expression}]
        return [request]
    at = 'device.attributes["d.example.com"]'
    devices = [{"name": "d%d" % i, "attributes": {"index": {"int": i}}} for i in range(4)]
    match, distinct = [{"matchAttribute": "d.example.com/half"}], [{"distinctAttribute": "d.example.com/half"}]
    return ([node("n1"), node("n2"), device_class("any"), slice_of("s1", "n1", devices), slice_of("s2", "n2", devices[:1]),
             claim("three", derives(3, at + ".index % 2"), constraints=match), claim("two", derives(2, at + ".index % 2"), constraints=match),
             claim("apart", derives(2, at + ".index > 1"), constraints=distinct), claim("odd", derives(2, at + ".none"), constraints=match)],
            [claiming("three", "three"), claiming("two", "two"), claiming("apart", "apart"), claiming("odd", "odd")])


def device_groups():
    """Parts of one device: some that may be used together, some that have no group, some of another."""
    def part(name, *groups):
        consumed = {"counterSet": "memory", "counters": {"memory": {"value": "1"}}}
        return {"name": name, "consumesCounters": [{**consumed, **({"compatibilityGroups": list(groups)} if groups else {})}]}
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    slices = [slice_of("a", "n1", [part("x"), part("y", "g"), part("z", "g", "h"), part("u", "h")], pool=pool),
              slice_of("b", "n1", [], pool=pool, sharedCounters=[{"name": "memory", "counters": {"memory": {"value": "4"}}}])]
    del slices[1]["spec"]["devices"]
    return ([node("n1"), node("n2"), device_class("any"), claim("two", [wants(2)]), claim("three", [wants(3)]), claim("one", [wants(1)])]
            + slices, [claiming("three", "three"), claiming("two", "two"), claiming("one", "one")])


def deferred(name, on, cpu, granted="500m", reason="Deferred", **spec):
    """A pod on a node that asks for more than its kubelet has granted it."""
    status = {"phase": "Running",
              "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "PodResizePending", "status": "True", "reason": reason}],
              "containerStatuses": [{"name": "c", "allocatedResources": {"cpu": granted}, "resources": {"requests": {"cpu": granted}}}]}
    return pod(name, nodeName=on, status=status, requests={"cpu": cpu}, **spec)


def deferred_resizes():
    """Resizes that fit, that take victims, some of them in vain, and that are not to: by priority, policy, the node's
    or the pod's own, by what the node has at all, by taints and selectors that only count for who comes."""
    spared = node("n3")
    spared["spec"]["podPreemptionPolicy"] = {"disableResizePreemption": ["autoscaler"]}
    allowed = node("n4", taints=[taint("950")], labels={"zone": "d"})
    allowed["spec"].update(podPreemptionPolicy={"disableResizePreemption": []}, unschedulable=True)
    full = node("n5")
    full["status"]["allocatable"].update({"pods": "2", "example.com/gpu": "1"})
    objects = [node("n1"), node("n2"), spared, allowed, full]
    for i in range(1, 6):
        objects.append(pod("low-%d" % i, nodeName="n%d" % i, priority=-1, requests={"cpu": "2", "example.com/gpu": "1"} if i == 5 else {"cpu": "2"}))
    objects += [pod("lower", nodeName="n1", priority=-5, requests={"cpu": "1"}), pod("above", nodeName="n2", priority=7, requests={"cpu": "2"})]
    elsewhere = {"kubernetes.io/hostname": "n1"}
    fits = deferred("fits", "n2", "0")
    del fits["spec"]["containers"][0]["resources"]
    return objects, [deferred("one-goes", "n1", "1500m", priority=5), deferred("fits-now", "n1", "2"), deferred("nobody-lower", "n2", "1", priority=-2),
                     deferred("never", "n2", "1", preemptionPolicy="Never"), fits, deferred("too-large", "n2", "5", priority=9),
                     deferred("spared", "n3", "3"), deferred("tainted", "n4", "3", nodeSelector=elsewhere), deferred("many", "n5", "3"),
                     deferred("infeasible", "n2", "3", reason="Infeasible"), pod("new", requests={"cpu": "1"}),
                     deferred("again", "n4", "4", priority=3), deferred("lost", "gone", "1")]


def takes(of_node, old=None, **more):
    """A device that takes of its node: as 1.37 says it, and as 1.36 does."""
    return {"nodeAllocatableResources": of_node, "nodeAllocatableResourceMappings": old or {
        name: {k.replace("capacityM", "allocationM").replace("deviceM", "allocationM"): v for k, v in r["mapping"].items()}
        for name, r in of_node.items() if "mapping" in r}, **more}


def device_room():
    """Devices that are some of their nodes' cpu and memory: pods that fit with them or not, and pods behind those."""
    def cores(name, count, **more):
        return {"name": name, **takes({"cpu": {"mapping": {"deviceMultiplier": str(count)}, **more}})}
    shared = {"name": "m", "allowMultipleAllocations": True, "capacity": {"memory": {"value": "6Gi"}},
              **takes({"memory": {"mapping": {"capacityKey": "memory", "capacityMultiplier": "1"}}})}
    asks = wants(1, "memory")
    asks["exactly"]["capacity"] = {"requests": {"memory": "3Gi"}}
    def named(name, requests, *claims):
        made = claiming(name, *claims)
        made["spec"]["containers"][0]["resources"] = {"requests": requests, "claims": [{"name": c} for c in claims]}
        return made
    whole = named("whole", {"cpu": "1"}, "c4")
    whole["spec"]["resources"] = {"requests": {"cpu": "2"}}
    return ([node("n1"), node("n2"), device_class("any", "device.allowMultipleAllocations == false"),
             device_class("memory", "device.allowMultipleAllocations == true"),
             slice_of("s1", "n1", [cores("a", 2), cores("b", 3), shared]),
             slice_of("s2", "n2", [cores("a", 3, overhead={"perPod": "500m", "perContainer": "100m"}), cores("b", 1)]),
             *(claim("c%d" % i, [wants(1)]) for i in range(5)), claim("m", [asks])],
            [named("first", {"cpu": "2"}, "c0"), named("second", {"cpu": "1"}, "c1"), pod("plain", requests={"cpu": "2"}),
             claiming("nameless", "c2"), named("memory", {"memory": "6Gi"}, "m"), whole, named("again", {"cpu": "100m"}, "c0"),
             named("last", {"cpu": "1"}, "c3")])


def device_skips():
    """Devices that their driver need not prepare, and nodes that can do without that or not; a claim that has such a device."""
    skips = {"skipNodeOperations": ["*"]}
    found = [{"request": "r", "driver": "d.example.com", "pool": "n2", "device": "a", **skips}]
    given = {**claim("given", [wants(1)]), "status": {"allocation": {"devices": {"results": found}}}}
    return ([node("n1"), node("n2", declaredFeatures=["DRAOptionalNodeOperations"]), node("n3"), device_class("any"), given,
             slice_of("s1", "n1", [{"name": "a"}, {"name": "b"}], **skips), slice_of("s2", "n2", [{"name": "a"}, {"name": "b"}], **skips),
             *(claim("c%d" % i, [wants(1)]) for i in range(3))],
            [claiming("has", "given"), claiming("first", "c0"), claiming("second", "c1"), claiming("third", "c2")])


NOT_RESIZED = {"InPlacePodLevelResourcesVerticalScaling": False, "PodLevelResourcesFixDefaulting": False,
               "PodLevelResourcesFixKubeletQOSClass": False}
UNDECLARED = {"ExtendWebSocketsToKubelet": False, "InPlacePodLevelResourcesVerticalScaling": False,
              "InPlacePodVerticalScalingInitContainers": False}

# The gate: its objects and pods, and the gates that go with it (those that the release knows).
CASES = {
    "DRADerivedAttributes": (device_derived, {}),
    "DRADeviceCompatibilityGroups": (device_groups, {}),
    "DRAListTypeAttributes": (device_lists, {}),
    "DRANodeAllocatableResources": (device_room, {}),
    "DRAOptionalNodeOperations": (device_skips, {}),
    "InPlacePodLevelResourcesVerticalScaling": (resizes, {}),
    "InPlacePodVerticalScalingSchedulerPreemption": (deferred_resizes, {}),
    "MatchLabelKeysInPodTopologySpread": (label_keys, {"MatchLabelKeysInPodTopologySpreadSelectorMerge": False}),
    "NodeDeclaredFeatures": (declared, UNDECLARED),
    "PodLevelResources": (pod_level, NOT_RESIZED),
    "StorageCapacityScoring": (capacities, {}),
    "TaintTolerationComparisonOperators": (comparisons, {}),
    "VolumeLimitScaling": (drivers, {}),
}


def scenarios(gate, known):
    """Without the gate, then with it; known: the gates of the release."""
    make, others = CASES[gate]
    found = []
    for value in (False, True):
        objects, pods = make()
        gates = {name: on for name, on in others.items() if name in known}
        if gate == "NodeDeclaredFeatures" and not value:
            gates["RestartAllContainersOnContainerExits"] = False
        found.append({"name": "%s=%s" % (gate, str(value).lower()), "objects": objects, "pods": pods,
                      "featureGates": {gate: value, **gates}})
    return found
