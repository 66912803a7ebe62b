#!/usr/bin/env python3
"""Prints random events and the pods that they may wake, for oracle/hints, one JSON document a line:

    gen_hints.py [COUNT [SEED [resizes]]]

Objects draw from few names, so that most events touch what the pod asks for; old and new differ in
one or two places. Every sixth line is an in-tree disk to be translated to CSI. resizes: pods on nodes, most of
whose resizes were put off, as hints have them with InPlacePodVerticalScalingSchedulerPreemption."""
import copy
import json
import random
import sys

KEYS = ["app", "zone", "rack", "disk"]
VALUES = ["a", "b"]
SPACES = ["ns", "ns", "other"]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
ZONES = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region",
         "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"]
DRIVERS = ["ebs.csi.aws.com", "pd.csi.storage.gke.io", "d"]


class Hints:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.version = 0

    def chance(self, percent):
        return self.r.randrange(100) < percent

    def some(self, make, most):
        return [make() for _ in range(self.r.randrange(most + 1))]

    def labels(self, keys=KEYS, values=VALUES):
        return {k: self.r.choice(values) for k in keys if self.chance(50)}

    def meta(self, name, namespace=None, **more):
        self.version += 1
        meta = {"name": name, "resourceVersion": str(self.version)}
        if namespace:
            meta["namespace"] = namespace
        return dict(meta, **more)

    # ---- pods ----

    def expression(self):
        operator = self.r.choice(["In", "NotIn", "Exists", "DoesNotExist"])
        found = {"key": self.r.choice(KEYS), "operator": operator}
        if operator.endswith("In") and not self.chance(4):  # without values: malformed
            found["values"] = self.r.sample(VALUES, self.r.randrange(1, 3))
        return found

    def selector(self):
        if self.chance(8):
            return None
        if self.chance(10):
            return {}
        found = {"matchLabels": self.labels(KEYS[:2])}
        if self.chance(30):
            found["matchExpressions"] = [self.expression()]
        return found

    def affinity_term(self):
        found = {"topologyKey": self.r.choice(["zone", "rack"])}
        for name, value in (("labelSelector", self.selector()),
                            ("namespaces", self.r.choice([None, [], ["ns"], ["other", "ns"]])),
                            ("namespaceSelector", self.r.choice([None, None, {}, self.selector()]))):
            if value is not None:
                found[name] = value
        return found

    def node_term(self):
        found = {}
        if self.chance(80):
            found["matchExpressions"] = [self.expression()]
        if self.chance(15):
            found["matchFields"] = [{"key": "metadata.name", "operator": self.r.choice(["In", "NotIn"]),
                                     "values": [self.r.choice(["n1", "n2"])]}]
        return found

    def spread(self):
        found = {"maxSkew": 1, "topologyKey": self.r.choice(["zone", "rack"]),
                 "whenUnsatisfiable": self.r.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"])}
        selector = self.selector()
        if selector is not None:
            found["labelSelector"] = selector
        if self.chance(25):
            found["matchLabelKeys"] = ["rack"]
        if self.chance(40):
            found["nodeTaintsPolicy"] = self.r.choice(["Honor", "Ignore"])
        return found

    def source(self):
        r, read_only = self.r, {"readOnly": True} if self.chance(40) else {}
        return r.choice([
            lambda: {"persistentVolumeClaim": {"claimName": r.choice(["c1", "c2"])}},
            lambda: {"persistentVolumeClaim": {"claimName": r.choice(["c1", "c2"])}},
            lambda: {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
            lambda: {"csi": {"driver": r.choice(DRIVERS)}},
            lambda: {"gcePersistentDisk": dict({"pdName": r.choice(["p1", "p2"])}, **read_only)},
            lambda: {"awsElasticBlockStore": dict(
                {"volumeID": r.choice(["vol-1", "aws://z/vol-1", "aws://z/x"])}, **read_only)},
            lambda: {"iscsi": dict({"targetPortal": "t", "iqn": r.choice(["q1", "q2"]), "lun": 0}, **read_only)},
            lambda: {"rbd": dict({"monitors": r.sample(["m1", "m2", "m3"], 2), "image": r.choice(["i1", "i2"]),
                                  "pool": "p"}, **read_only)},
            lambda: {"azureDisk": {"diskName": "d", "diskURI": "u", "kind": r.choice(["Managed", "Shared"])}},
            lambda: {"emptyDir": {}}])()

    def container(self):
        found = {"name": "c", "image": "i"}
        requests = {name: self.r.choice(amounts) for name, amounts in
                    (("cpu", ["1", "2"]), ("memory", ["1Gi", "2Gi"]), ("example.com/gpu", ["1", "2"]))
                    if self.chance(40)}
        if requests:
            found["resources"] = {"requests": requests}
        if self.chance(30):
            found["ports"] = [{"containerPort": 1, "protocol": "TCP", "hostPort": self.r.choice([80, 81])}]
            if self.chance(40):
                found["ports"][0]["hostIP"] = self.r.choice(["10.0.0.1", "0.0.0.0"])
        if self.chance(6):
            found["restartPolicyRules"] = [{"action": "RestartAllContainers"}]
        return found

    def toleration(self):
        found = {"key": self.r.choice(["k", "l", "node.kubernetes.io/unschedulable"])}
        if self.chance(50):
            found["operator"] = "Exists"
        if self.chance(40):
            found["effect"] = "NoSchedule"
        return found

    def pod_spec(self):
        spec = {"containers": self.some(self.container, 2), "tolerations": self.some(self.toleration, 2)}
        affinity = {}
        if self.chance(45):
            affinity["podAffinity"] = {REQUIRED: self.some(self.affinity_term, 2)}
        if self.chance(45):
            affinity["podAntiAffinity"] = {REQUIRED: self.some(self.affinity_term, 2)}
        if self.chance(30):
            affinity["nodeAffinity"] = {REQUIRED: {"nodeSelectorTerms": self.some(self.node_term, 2)}}
        if affinity:
            spec["affinity"] = affinity
        if self.chance(50):
            spec["topologySpreadConstraints"] = self.some(self.spread, 2)
        if self.chance(20):
            spec["nodeSelector"] = self.labels(["zone", "disk"])
        if self.chance(60):
            spec["volumes"] = [dict({"name": "v%d" % i}, **self.source()) for i in range(self.r.randrange(1, 3))]
        if self.chance(5):
            spec["hostNetwork"], spec["hostUsers"] = True, False
        if self.chance(10):
            spec["schedulingGates"] = [{"name": "g"}]
        return spec

    def pod(self, name):
        return {"metadata": self.meta(name, self.r.choice(SPACES), uid="u-" + name, labels=self.labels()),
                "spec": self.pod_spec(), "status": {}}

    def owned(self, pod):
        kind = self.r.choice(["ReplicaSet", "StatefulSet", "ReplicationController"])
        api = self.r.choice(["apps/v1", "v1"] + ["v1" if kind[-3:] == "ler" else "apps/v1"] * 4)
        pod["metadata"]["ownerReferences"] = [{"apiVersion": api, "kind": kind, "name": "o", "uid": "x",
                                               "controller": True}]

    def change_pod(self, pod):
        new = copy.deepcopy(pod)
        new["metadata"]["resourceVersion"] += "0"
        for what in self.r.sample(["labels", "tolerations", "requests", "gates", "rules", "nothing"], 2):
            if what == "labels":
                new["metadata"]["labels"] = self.labels()
            elif what == "tolerations":
                new["spec"]["tolerations"].append(self.toleration())
            elif what == "requests":
                new["spec"]["containers"] = self.some(self.container, 2)
            elif what == "gates":
                new["spec"].pop("schedulingGates", None)
            elif what == "rules" and new["spec"]["containers"]:
                new["spec"]["containers"][0]["restartPolicyRules"] = [{"action": "RestartAllContainers"}]
        return new

    # ---- other objects ----

    def taint(self):
        return {"key": self.r.choice(["k", "l"]), "effect": self.r.choice(["NoSchedule", "PreferNoSchedule"])}

    def node(self):
        allocatable = {"cpu": self.r.choice(["1", "2", "4"]), "memory": self.r.choice(["1Gi", "4Gi"]),
                       "pods": self.r.choice(["0", "1", "10"])}
        if self.chance(40):
            allocatable["example.com/gpu"] = self.r.choice(["1", "2"])
        spec = {"taints": self.some(self.taint, 1)}
        if self.chance(20):
            spec["unschedulable"] = True
        conditions = [{"type": kind, "status": self.r.choice(["True", "True", "False"])}
                      for kind in self.r.sample(["Ready", "MemoryPressure"], self.r.randrange(1, 3))]
        return {"metadata": self.meta(self.r.choice(["n1", "n2"]), labels=self.labels(["zone", "rack", "disk"])),
                "spec": spec,
                "status": {"allocatable": allocatable, "declaredFeatures": ["F"] if self.chance(30) else [],
                           "conditions": conditions}}

    def change_node(self, node):
        new, fresh = copy.deepcopy(node), self.node()
        new["metadata"]["resourceVersion"] += "0"
        for what in self.r.sample(["labels", "spec", "allocatable", "conditions", "declaredFeatures"], 2):
            if what == "labels":
                new["metadata"]["labels"] = fresh["metadata"]["labels"]
            elif what == "spec":
                new["spec"] = fresh["spec"]
            else:
                new["status"][what] = fresh["status"][what]
        return new

    def claim(self):
        return {"metadata": self.meta(self.r.choice(["c1", "c2", "p-v0"]), self.r.choice(SPACES)), "spec": {}}

    def zone_labels(self):
        values = ["us-a-1", "us-a-2", "us-a-1__us-a-2", "us-a-2__ us-a-1", "x__", "a__b", "us-a-1__us-b-1", ""]
        return {k: self.r.choice(values) for k in ZONES if self.chance(30)}

    def volume(self):
        return {"metadata": self.meta("pv", labels=self.zone_labels()),
                "spec": {"csi": {"driver": "d", "volumeHandle": "h"}}}

    def storage_class(self):
        found = {"metadata": self.meta("s"), "provisioner": "p"}
        if self.chance(80):
            found["volumeBindingMode"] = self.r.choice(["Immediate", "WaitForFirstConsumer"])
        if self.chance(60):
            found["allowedTopologies"] = [{"matchLabelExpressions": [
                {"key": "zone", "values": self.r.sample(VALUES, self.r.randrange(1, 3))}]}]
        return found

    def csi_node(self):
        drivers = []
        for name in self.r.sample(DRIVERS, self.r.randrange(3)):
            drivers.append({"name": name, "nodeID": "n"})
            if self.chance(70):
                drivers[-1]["allocatable"] = {"count": self.r.randrange(3)} if self.chance(80) else {}
        meta = self.meta("n1")
        if self.chance(60):
            meta["annotations"] = {"storage.alpha.kubernetes.io/migrated-plugins": self.r.choice(
                ["", "kubernetes.io/aws-ebs", "kubernetes.io/aws-ebs,kubernetes.io/cinder"])}
        return {"metadata": meta, "spec": {"drivers": drivers}}

    def csi_driver(self):
        spec = {"storageCapacity": self.chance(50)} if self.chance(80) else {}
        return {"metadata": self.meta(self.r.choice(DRIVERS)), "spec": spec}

    def csi_capacity(self):
        found = {"metadata": self.meta("k", "ns"), "storageClassName": "s"}
        for name in ("capacity", "maximumVolumeSize"):
            if self.chance(60):
                found[name] = self.r.choice(["1Gi", "2Gi", "500Mi"])
        return found

    def attachment(self):
        return {"metadata": self.meta("va"), "spec": {"attacher": self.r.choice(DRIVERS), "nodeName": "n1",
                                                      "source": {"persistentVolumeName": "pv"}}}

    def owner(self):
        kind = self.r.choice(["Service", "Service", "ReplicationController", "ReplicaSet", "StatefulSet"])
        found = {"kind": kind, "metadata": self.meta("o" if kind != "Service" else self.r.choice("st"),
                                                     self.r.choice(SPACES)), "spec": {}}
        if kind in ("Service", "ReplicationController"):
            if self.chance(85):
                found["spec"]["selector"] = self.labels(KEYS[:3]) or {"app": "a"}
        else:
            selector = self.selector()
            if selector is not None:
                found["spec"]["selector"] = selector
        return found

    # ---- lines ----

    def happened(self, make, change=None):
        old = make()
        how = self.r.choice(["add", "change", "change", "change", "gone"])
        if how == "add":
            return {"new": old}
        if how == "gone":
            return {"old": old}
        new = change(old) if change else make()
        if not change:  # the same object, later
            new["metadata"].update({k: old["metadata"][k] for k in ("name", "namespace") if k in old["metadata"]})
        return {"old": old, "new": new}

    def assigned(self):
        pod = self.pod("q")
        pod["spec"]["nodeName"] = "n1"
        pod["spec"].pop("schedulingGates", None)
        return pod

    def event(self):
        pod = self.pod("p")
        line = {"pod": pod}
        kinds = ["Node"] * 5 + ["AssignedPod"] * 6 + ["UnschedulablePod"] * 3 + [
            "PersistentVolumeClaim", "PersistentVolume", "PersistentVolume", "StorageClass", "CSINode", "CSINode",
            "CSIDriver", "CSIStorageCapacity", "VolumeAttachment"]
        kind = line["resource"] = self.r.choice(kinds)
        if self.chance(40):
            line["profile"] = "listed"
            if self.chance(60):
                pod["spec"].pop("topologySpreadConstraints", None)
            line["owners"] = self.some(self.owner, 4)
            if self.chance(50):
                self.owned(pod)
        if kind == "Node":
            line.update(self.happened(self.node, self.change_node))
        elif kind == "AssignedPod":
            line.update(self.happened(self.assigned, self.change_pod))
        elif kind == "UnschedulablePod":
            line["old"] = pod
            line["pod"] = line["new"] = self.change_pod(pod)
        else:
            make = {"PersistentVolumeClaim": self.claim, "PersistentVolume": self.volume,
                    "StorageClass": self.storage_class, "CSINode": self.csi_node, "CSIDriver": self.csi_driver,
                    "CSIStorageCapacity": self.csi_capacity, "VolumeAttachment": self.attachment}[kind]
            line.update(self.happened(make))
        return line

    def disk(self):
        r = self.r
        secret = r.choice(["azure-storage-account-acc-secret", "plain", "x-azure-storage-account-a-secret-secret-y",
                           "azure-storage-account--secret"])
        return r.choice([
            lambda: {"gcePersistentDisk": {"pdName": "p"}},
            lambda: {"awsElasticBlockStore": {"volumeID": r.choice(
                ["vol-1", "x", "aws://z/vol-1", "aws:///vol-1/", "aws://z/a/vol-1", "aws:///vol-%31?a#b",
                 "aws://vol-1", "aws:///vol-", "aws:///VOL-1"])}},
            lambda: {"cinder": {"volumeID": "c"}},
            lambda: {"azureDisk": {"diskName": "d", "diskURI": "/u", "kind": r.choice(["Managed", "managed", "Shared"])}},
            lambda: {"azureDisk": {"diskName": "d", "diskURI": "/u"}},
            lambda: {"azureFile": {"secretName": secret, "shareName": "s"}},
            lambda: {"vsphereVolume": {"volumePath": "[ds] a.vmdk"}},
            lambda: {"portworxVolume": {"volumeID": "x"}}])()

    def translation(self):
        source = self.disk()
        if self.chance(25):
            return {"inline": dict({"name": "v"}, **source), "namespace": "ns"}
        meta, spec = self.meta("pv", labels=self.zone_labels()), dict(source)
        if "azureFile" in spec and self.chance(40):
            spec["azureFile"]["secretNamespace"] = "secrets"
        if self.chance(70):
            spec["claimRef"] = {"namespace": "ns", "name": "c"}
        if self.chance(30):
            meta["annotations"] = {"kubernetes.io/azure-file-resource-group": "rg"}
        if self.chance(60):
            terms = [{"matchExpressions": [self.zone_expression() for _ in range(self.r.randrange(1, 3))]}
                     for _ in range(self.r.randrange(3))]
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
        return {"translate": {"metadata": meta, "spec": spec}}

    def zone_expression(self):
        if self.chance(15):
            return {"key": self.r.choice(ZONES), "operator": "Exists"}
        return {"key": self.r.choice(ZONES + ["disk"]), "operator": "In", "values": self.r.sample(VALUES, 1)}

    def line(self, index):
        return self.translation() if index % 6 == 5 else self.event()


    # ---- resizes ----

    def put_off(self, pod):
        """Its resize, on one of two nodes."""
        pod["spec"].pop("schedulingGates", None)
        pod["spec"]["nodeName"] = self.r.choice(["n1", "n1", "n2"])
        pod["status"]["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]

    def resize(self):
        """What happens on a node to who waits there for room, and elsewhere."""
        line = self.event()
        while line["resource"] not in ("Node", "AssignedPod", "UnschedulablePod"):
            line = self.event()
        waits = line["resource"] != "UnschedulablePod" and self.chance(15)
        if not waits:
            self.put_off(line["pod"])
        for which in ("old", "new"):
            thing = line.get(which)
            if line["resource"] == "UnschedulablePod":
                thing["spec"].pop("schedulingGates", None)
                thing["spec"]["nodeName"] = line["pod"]["spec"]["nodeName"]
                thing["status"] = line["pod"]["status"]
            elif thing and line["resource"] == "Node" and self.chance(60):
                thing["spec"]["podPreemptionPolicy"] = {"disableResizePreemption": self.r.choice([["a"], ["a", "b"]])}
        if line["resource"] == "AssignedPod":
            where = self.r.choice(["n1", "n2"])
            for which in ("old", "new"):
                if which in line:
                    line[which]["spec"]["nodeName"] = where
        return {"resizes": True, **line}


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    hints = Hints(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    resizes = sys.argv[3:] == ["resizes"]
    for index in range(count):
        print(json.dumps(hints.resize() if resizes else hints.line(index), separators=(",", ":")))


if __name__ == "__main__":
    main()
