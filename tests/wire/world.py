"""Objects with everything in them that the scheduler reads: (collection, body, status or None)."""

CORE, STORAGE, APPS = "/api/v1/", "/apis/storage.k8s.io/v1/", "/apis/apps/v1/"
RESOURCE = "/apis/resource.k8s.io/v1/"
SPACE = "namespaces/wire/"
PREFERRED, REQUIRED = "preferredDuringSchedulingIgnoredDuringExecution", "requiredDuringSchedulingIgnoredDuringExecution"
MANY = "name with \"quotes\", \\, \u00e9, \u4e16\u754c, \t and <html>&"


def meta(name, **more):
    return dict({"name": name, "labels": {"app": name, "empty": "", "tier/x": "Z.9"},
                 "annotations": {"note": MANY, "empty": ""}}, **more)


def plain(kind, api, name, **more):
    metadata = more.pop("metadata", {})
    return dict({"apiVersion": api, "kind": kind, "metadata": meta(name, **metadata)}, **more)


def selector(value="a"):
    return {"matchLabels": {"app": value}, "matchExpressions": [
        {"key": "tier", "operator": "In", "values": ["x", "y"]}, {"key": "gone", "operator": "DoesNotExist"}]}


def node_terms():
    return [{"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["a", "b"]},
                                  {"key": "cores", "operator": "Gt", "values": ["3"]}]},
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-a"]}]}]


def pod_terms():
    return [{"labelSelector": selector(), "topologyKey": "zone", "namespaces": ["wire", "other"]},
            {"labelSelector": {}, "topologyKey": "host", "namespaceSelector": {}},
            {"topologyKey": "rack", "namespaceSelector": selector("b")}]


def weighted(terms):
    return [{"weight": 7 + i, "podAffinityTerm": term} for i, term in enumerate(terms)]


def affinity():
    both = {REQUIRED: pod_terms(), PREFERRED: weighted(pod_terms())}
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": node_terms()},
                             PREFERRED: [{"weight": 100, "preference": node_terms()[0]}]},
            "podAffinity": both, "podAntiAffinity": both}


def spread():
    return [{"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 3,
             "labelSelector": selector(), "matchLabelKeys": ["pod-template-hash"],
             "nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor"},
            {"maxSkew": 1, "topologyKey": "host", "whenUnsatisfiable": "ScheduleAnyway"}]


def volumes():
    sources = [{"persistentVolumeClaim": {"claimName": "data", "readOnly": True}},
               {"persistentVolumeClaim": {"claimName": "logs"}},
               {"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"],
                                                               "resources": {"requests": {"storage": "1Gi"}}}}}},
               {"csi": {"driver": "a.example.com", "readOnly": True}}, {"csi": {"driver": "b.example.com"}},
               {"rbd": {"monitors": ["m1", "m2"], "image": "i", "pool": "p", "readOnly": True}},
               {"iscsi": {"iqn": "iqn.2026-01.x:y", "lun": 0, "targetPortal": "1.2.3.4", "readOnly": True}},
               {"gcePersistentDisk": {"pdName": "disk", "readOnly": True}},
               {"awsElasticBlockStore": {"volumeID": "aws://us-east-1a/vol-1", "readOnly": True}},
               {"azureDisk": {"diskName": "d", "kind": "Managed", "readOnly": True,
                              "diskURI": "/subscriptions/s/resourceGroups/g/providers/microsoft.compute/disks/d"}},
               {"azureFile": {"secretName": "azure-storage-account-q-secret", "shareName": "s", "readOnly": True}},
               {"cinder": {"volumeID": "c", "readOnly": True}}, {"vsphereVolume": {"volumePath": "[ds] v"}},
               {"portworxVolume": {"volumeID": "pw", "readOnly": True}},
               {"image": {"reference": "registry/volume:1"}},
               {"emptyDir": {"sizeLimit": "1Gi"}}, {"hostPath": {"path": "/x"}}, {"configMap": {"name": "m"}}]
    return [dict(source, name="v%d" % i) for i, source in enumerate(sources)]


def container(name, **more):
    return dict({"name": name, "image": "registry:5000/app",
                 "resources": {"requests": {"cpu": "100m", "memory": "1.5Gi", "ephemeral-storage": "1G",
                                            "example.com/gpu": "2", "hugepages-2Mi": "4Mi"},
                               "limits": {"cpu": "2", "memory": "2Gi", "example.com/gpu": "2",
                                          "hugepages-2Mi": "4Mi"}},
                 "ports": [{"containerPort": 80, "hostPort": 8080 + len(name), "protocol": "UDP", "hostIP": "1.2.3.4"},
                           {"containerPort": 81}]}, **more)


def everything():
    spec = {"containers": [container("one", restartPolicy="Never", restartPolicyRules=[
                {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]),
                           {"name": "two-is-plain", "image": "app:v1",
                            "resources": {"claims": [{"name": "by-name"}, {"name": "by-template", "request": "r"}]}}],
            "initContainers": [container("init-1"), container("sidecar-22", restartPolicy="Always")],
            "schedulerName": "nobody", "schedulingGroup": {"podGroupName": "gang"},
            "nodeSelector": {"zone": "a", "empty": ""}, "affinity": affinity(),
            "tolerations": [{"key": "k", "operator": "Equal", "value": "v", "effect": "NoExecute",
                             "tolerationSeconds": 9}, {"operator": "Exists"}],
            "topologySpreadConstraints": spread(), "priorityClassName": "wire", "hostUsers": False,
            "schedulingGates": [{"name": "example.com/a"}, {"name": "example.com/b"}],
            "overhead": {"cpu": "250m", "memory": "120Mi"}, "runtimeClassName": "heavy",
            "volumes": volumes(), "resources": {"requests": {"cpu": "5", "memory": "10Gi"}},
            "resourceClaims": [{"name": "by-name", "resourceClaimName": "devices"},
                               {"name": "by-template", "resourceClaimTemplateName": "template"}]}
    owners = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "other", "uid": "11-22"},
              {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "set", "uid": "33-44", "controller": True}]
    return plain("Pod", "v1", "everything", spec=spec, metadata={"ownerReferences": owners, "finalizers": ["x.example.com/f"]})


def pod_status():
    when = "2026-01-02T03:04:05Z"
    resources = {"requests": {"cpu": "150m", "memory": "1Gi"}, "limits": {"memory": "2Gi"}}
    running = {"imageID": "", "image": "i", "ready": False, "restartCount": 0, "resources": resources,
               "allocatedResources": {"cpu": "175m", "memory": "1100Mi"}}
    return {"phase": "Pending", "nominatedNodeName": "node-a", "startTime": when,
            "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": MANY,
                 "lastProbeTime": when, "lastTransitionTime": when, "observedGeneration": 1},
                {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "m",
                 "lastTransitionTime": when},
                {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
            "containerStatuses": [dict(running, name="one"), {"name": "two-is-plain", "imageID": "", "image": "i",
                                                              "ready": True, "restartCount": 1}],
            "initContainerStatuses": [dict(running, name="sidecar-22")],
            "resources": resources, "allocatedResources": {"cpu": "175m", "memory": "1100Mi"},
            "resourceClaimStatuses": [{"name": "by-template", "resourceClaimName": "made"},
                                      {"name": "by-name"}],
            "nodeAllocatableResourceClaimStatuses": [{"resourceClaimName": "devices", "containers": ["two-is-plain"],
                                                      "resources": {"cpu": "1500m", "memory": "1Gi"}}]}


def node():
    status = {"allocatable": {"cpu": "3920m", "memory": "15Gi", "pods": "110", "example.com/gpu": "4",
                              "ephemeral-storage": "99G", "attachable-volumes-x": "7"},
              "capacity": {"cpu": "4", "memory": "16Gi", "pods": "110"},
              "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-02T03:04:05Z",
                              "reason": "r", "message": "m"}, {"type": "DiskPressure", "status": "Unknown"}],
              "images": [{"names": ["registry/a:1", "registry/a@sha256:00"], "sizeBytes": 123456789012},
                         {"names": ["b"]}],
              "declaredFeatures": ["FeatureA", "FeatureB"],
              "volumesAttached": [{"name": "kubernetes.io/csi/x", "devicePath": ""}]}
    spec = {"unschedulable": True, "podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"], "providerID": "x://y",
            "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"},
                       {"key": "t", "effect": "NoExecute", "timeAdded": "2026-01-02T03:04:05Z"}]}
    return plain("Node", "v1", "node-a", spec=spec), status


def persistent(name, **spec):
    return plain("PersistentVolume", "v1", name, spec=dict(
        {"capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce", "ReadOnlyMany"]}, **spec))


def persistents():
    sources = {"csi": {"driver": "a.example.com", "volumeHandle": "h"}, "local": {"path": "/x"},
               "host-path": {"path": "/x"}, "nfs": {"server": "s", "path": "/x"},
               "iscsi": {"iqn": "iqn.2026-01.x:y", "lun": 0, "targetPortal": "1.2.3.4"},
               "rbd": {"monitors": ["m"], "image": "i"}, "cephfs": {"monitors": ["m"]},
               "fc": {"targetWWNs": ["w"], "lun": 1},
               "gce-persistent-disk": {"pdName": "d"}, "aws-elastic-block-store": {"volumeID": "aws://us-east-1a/vol-9"},
               "azure-disk": {"diskName": "d", "diskURI": "https://x.blob.core.windows.net/y/d.vhd",
                                                        "kind": "Shared"},
               "azure-file": {"secretName": "s", "shareName": "h", "secretNamespace": "n"},
               "cinder": {"volumeID": "c"}, "vsphere-volume": {"volumePath": "[ds] v"},
               "portworx-volume": {"volumeID": "p"}}
    for name, source in sources.items():
        member = "".join([name.split("-")[0]] + [word.title() for word in name.split("-")[1:]])
        more = {"volumeMode": "Block"} if name == "csi" else {}
        if name == "local":
            more = {"nodeAffinity": {"required": {"nodeSelectorTerms": node_terms()}}, "storageClassName": "fast"}
        if name in ("csi", "gce-persistent-disk"):
            more.update(claimRef={"namespace": "wire", "name": "data", "uid": "55-66"}, storageClassName="fast",
                        volumeAttributesClassName="gold" if name == "csi" else None)
        yield CORE + "persistentvolumes", persistent("pv-" + name, **{member: source}, **more), \
            {"phase": "Available" if name == "csi" else "Pending"}


def claims():
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1500M"}}}
    yield plain("PersistentVolumeClaim", "v1", "data", spec=dict(
        spec, volumeName="pv-csi", storageClassName="fast", volumeMode="Block", selector=selector(),
        volumeAttributesClassName="gold"), metadata={"annotations": {"pv.kubernetes.io/bind-completed": "yes",
                                               "volume.kubernetes.io/selected-node": "node-a"},
                              "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "77",
                                                   "controller": True}]}), {"phase": "Bound"}
    yield plain("PersistentVolumeClaim", "v1", "no-class", spec=dict(spec, storageClassName="")), None
    yield plain("PersistentVolumeClaim", "v1", "default-class", spec=spec), None


def storage():
    yield "storageclasses", plain("StorageClass", "storage.k8s.io/v1", "fast", provisioner="a.example.com",
                                  volumeBindingMode="WaitForFirstConsumer", allowedTopologies=[
                                      {"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}]}])
    yield "csidrivers", plain("CSIDriver", "storage.k8s.io/v1", "a.example.com", spec={"storageCapacity": True})
    yield "csidrivers", plain("CSIDriver", "storage.k8s.io/v1", "b.example.com", spec={})
    yield "csinodes", plain("CSINode", "storage.k8s.io/v1", "node-a", spec={"drivers": [
        {"name": "a.example.com", "nodeID": "n", "topologyKeys": ["zone"], "allocatable": {"count": 0}},
        {"name": "b.example.com", "nodeID": "n", "topologyKeys": [], "allocatable": {}},
        {"name": "c.example.com", "nodeID": "n", "topologyKeys": []}]}, metadata={
            "annotations": {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/gce-pd,kubernetes.io/cinder"}})
    yield SPACE + "csistoragecapacities", plain("CSIStorageCapacity", "storage.k8s.io/v1", "room", capacity="100Gi",
                                                maximumVolumeSize="10Gi", storageClassName="fast",
                                                nodeTopology=selector())
    yield SPACE + "csistoragecapacities", plain("CSIStorageCapacity", "storage.k8s.io/v1", "none",
                                                storageClassName="fast", nodeTopology={})
    yield "volumeattachments", plain("VolumeAttachment", "storage.k8s.io/v1", "attached", spec={
        "attacher": "a.example.com", "nodeName": "node-a", "source": {"persistentVolumeName": "pv-csi"}})


def template():
    return {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def owners():
    yield CORE + SPACE + "services", plain("Service", "v1", "service", spec={
        "selector": {"app": "a", "tier": ""}, "ports": [{"port": 80, "targetPort": "web"}]})
    yield CORE + SPACE + "services", plain("Service", "v1", "plain", spec={"ports": [{"port": 80}]})
    yield CORE + SPACE + "replicationcontrollers", plain("ReplicationController", "v1", "rc", spec={
        "selector": {"app": "a"}, "template": template()})
    yield APPS + SPACE + "replicasets", plain("ReplicaSet", "apps/v1", "rs", spec={
        "selector": {"matchLabels": {"app": "a"}, "matchExpressions": [
            {"key": "app", "operator": "In", "values": ["a", "b"]}]}, "template": template()})
    yield APPS + SPACE + "statefulsets", plain("StatefulSet", "apps/v1", "ss", spec={
        "serviceName": "service", "selector": {"matchLabels": {"app": "a"}}, "template": template()})


def budget():
    status = {"disruptionsAllowed": 2, "currentHealthy": 3, "desiredHealthy": 1, "expectedPods": 3,
              "disruptedPods": {"going": "2026-01-02T03:04:05Z", "gone": "2026-01-02T03:04:06Z"}}
    return plain("PodDisruptionBudget", "policy/v1", "budget",
                 spec={"minAvailable": "50%", "selector": selector()}), status


def device_tolerations():
    return [{"key": "broken", "operator": "Equal", "value": "yes", "effect": "NoExecute", "tolerationSeconds": 0},
            {"operator": "Exists", "effect": "NoSchedule"}]


def config(requests):
    return [{"requests": requests, "opaque": {"driver": "d.example.com", "parameters": {
        "kind": "Config", "list": [1, "two", {"three": None}]}}}]


def devices():
    choice = {"deviceClassName": "gpu.example.com", "tolerations": device_tolerations(), "selectors": [
        {"cel": {"expression": "device.driver == 'd.example.com'"}}, {"cel": {"expression": "true"}}]}
    claim = plain("ResourceClaim", RESOURCE[6:-1], "devices", spec={"devices": {
        "requests": [
            {"name": "gpu", "exactly": dict(choice, allocationMode="ExactCount", count=2, capacity={
                "requests": {"memory": "1.5Gi", "d.example.com/cores": "4"}})},
            {"name": "all", "exactly": {"deviceClassName": "gpu.example.com", "allocationMode": "All",
                                          "adminAccess": False}},
            {"name": "any", "firstAvailable": [dict(choice, name="best", allocationMode="ExactCount", count=3,
                                                    capacity={"requests": {"memory": "2Gi"}}),
                                               {"name": "second", "deviceClassName": "other.example.com"}]}],
        "constraints": [{"requests": ["gpu", "any/best"], "matchAttribute": "d.example.com/numa"},
                        {"distinctAttribute": "d.example.com/slot"}],
        "config": config(["gpu"])}}, metadata={"finalizers": ["x.example.com/f"], "ownerReferences": [
            {"apiVersion": "v1", "kind": "Pod", "name": "everything", "uid": "88-99", "controller": True}]})
    status = {"allocation": {"devices": {"results": [
        {"request": "gpu", "driver": "d.example.com", "pool": "p", "device": "x", "adminAccess": False,
         "tolerations": device_tolerations(),
         "bindingConditions": ["Attached"], "bindingFailureConditions": ["Failed"],
         "shareID": "3f2e8b52-2a38-4a3e-9f62-65c7b1a1f4a0", "consumedCapacity": {"memory": "1536Mi"}}]},
        "allocationTimestamp": "2026-01-02T03:04:05Z",
        "nodeSelector": {"nodeSelectorTerms": node_terms()[1:]}},
        "reservedFor": [{"resource": "pods", "name": "everything", "uid": "88-99"},
                        {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "77-66"}],
        "devices": [{"driver": "d.example.com", "pool": "p", "device": "x",
                     "shareID": "3f2e8b52-2a38-4a3e-9f62-65c7b1a1f4a0", "conditions": [
                         {"type": "Attached", "status": "False", "reason": "Waits", "message": MANY,
                          "lastTransitionTime": "2026-01-02T03:04:05Z", "observedGeneration": 1}]}]}
    return claim, status


def classes():
    yield "deviceclasses", plain("DeviceClass", RESOURCE[6:-1], "gpu.example.com", spec={
        "selectors": [{"cel": {"expression": "device.driver == 'd.example.com'"}}],
        "config": [{"opaque": config([])[0]["opaque"]}], "extendedResourceName": "example.com/gpu"})
    yield "deviceclasses", plain("DeviceClass", RESOURCE[6:-1], "any.example.com", spec={})


def slice_of(name, **spec):
    return plain("ResourceSlice", RESOURCE[6:-1], name, spec=dict(
        spec, driver="d.example.com", pool={"name": name, "generation": 3, "resourceSliceCount": 2}))


def slices():
    attributes = {"numa": {"int": -2}, "d.example.com/slot": {"string": MANY[:40]}, "ready": {"bool": True},
                  "off": {"bool": False}, "driverVersion": {"version": "1.2.3-rc.1"},
                  "ports": {"ints": [0, -7, 9000000000000000001]}, "checks": {"bools": [True, False]},
                  "switches": {"strings": ["a", "b"]}, "firmwares": {"versions": ["1.0.0", "2.0.0-rc.1"]}}
    capacity = {"memory": {"value": "80Gi", "requestPolicy": {"default": "1Gi", "validRange": {
        "min": "1Gi", "max": "64Gi", "step": "512Mi"}}},
                "cores": {"value": "8", "requestPolicy": {"default": "2", "validValues": ["2", "4", "8"]}},
                "d.example.com/plain": {"value": "100m"}}
    yield "resourceslices", slice_of("local", nodeName="node-a", devices=[
        {"name": "x", "attributes": attributes, "capacity": capacity, "allowMultipleAllocations": True,
         "bindsToNode": True, "bindingConditions": ["Attached"], "bindingFailureConditions": ["Failed"],
         "taints": [{"key": "broken", "value": "yes", "effect": "NoExecute", "timeAdded": "2026-01-02T03:04:05Z"}],
         "nodeAllocatableResourceMappings": {"memory": {"capacityKey": "memory", "allocationMultiplier": "2"}}},
        {"name": "bare", "nodeAllocatableResourceMappings": {"cpu": {"allocationMultiplier": "500m"}}}])
    yield "resourceslices", slice_of("shared", allNodes=True, sharedCounters=[
        {"name": "set", "counters": {"memory": {"value": "80Gi"}, "a": {"value": "1"}}}])
    yield "resourceslices", slice_of("parts", nodeSelector={"nodeSelectorTerms": node_terms()[:1]}, devices=[
        {"name": "part", "consumesCounters": [{"counterSet": "set", "counters": {"memory": {"value": "40Gi"}}}]}])
    yield "resourceslices", slice_of("each", perDeviceNodeSelection=True, devices=[
        {"name": "here", "nodeName": "node-a"}, {"name": "everywhere", "allNodes": True},
        {"name": "there", "nodeSelector": {"nodeSelectorTerms": node_terms()[:1]}}])


def world():
    """What is created, in order; the last of a kind is deleted at the end."""
    yield CORE + "namespaces", plain("Namespace", "v1", "wire"), None
    yield "/apis/scheduling.k8s.io/v1/priorityclasses", plain("PriorityClass", "scheduling.k8s.io/v1", "wire",
                                                              value=-7, preemptionPolicy="Never"), None
    yield "/apis/node.k8s.io/v1/runtimeclasses", plain("RuntimeClass", "node.k8s.io/v1", "heavy", handler="h", overhead={
        "podFixed": {"cpu": "250m", "memory": "120Mi"}}), None
    yield (CORE + "nodes",) + node()
    yield CORE + "nodes", plain("Node", "v1", "node-plain"), None
    for path, body in storage():
        yield STORAGE + path, body, None
    yield from persistents()
    for body, status in claims():
        yield CORE + SPACE + "persistentvolumeclaims", body, status
    yield (RESOURCE + SPACE + "resourceclaims",) + devices()
    for path, body in list(classes()) + list(slices()):
        yield RESOURCE + path, body, None
    for path, body in owners():
        yield path, body, None
    yield ("/apis/policy/v1/" + SPACE + "poddisruptionbudgets",) + budget()
    yield CORE + SPACE + "pods", everything(), pod_status()
    yield CORE + SPACE + "pods", plain("Pod", "v1", "host", spec={
        "hostNetwork": True, "nodeName": "node-a", "restartPolicy": "Never", "preemptionPolicy": "PreemptLowerPriority",
        "containers": [{"name": "c", "image": "i", "restartPolicyRules": [], "ports": [{"containerPort": 99}]}]}), None
    yield CORE + SPACE + "pods", plain("Pod", "v1", "plain", spec={"containers": [{"name": "c", "image": "i"}]}), None
