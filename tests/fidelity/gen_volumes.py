"""Gives a random scenario volumes: claims of all kinds, the volumes, classes and CSI objects behind them,
in-tree disks, attach limits, and changes of all these between the attempts.

gen.py adds them to some of its scenarios; its mode volumes is about nothing else.

What must stay true: nothing is drawn that upstream leaves to chance. Volumes of a class differ in size,
no two are reserved for one claim, and nothing is reserved or provisioned before the first attempt, as the
oracle's controller would do that at a moment of its own. Claims that are really bound cost the oracle a
second for each pod, so that most scenarios stop at the reservation (noBind)."""
import copy

ZONE, REGION, HOST = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region", "kubernetes.io/hostname")
BETA_ZONE, BETA_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
EBS_ZONE, GCE_ZONE = "topology.ebs.csi.aws.com/zone", "topology.gke.io/zone"
CINDER_ZONE = "topology.cinder.csi.openstack.org/zone"
ZONES = ["z0", "z1", "z2", "us-a-a", "us-a-b"]
IN_TREE = ["kubernetes.io/aws-ebs", "kubernetes.io/gce-pd", "kubernetes.io/cinder", "kubernetes.io/azure-disk",
           "kubernetes.io/portworx-volume", "kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"]
DRIVERS = ["csi.a", "csi.b", "ebs.csi.aws.com", "pd.csi.storage.gke.io", "cinder.csi.openstack.org"]
MODES = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]
SELECTED, COMPLETED = "volume.kubernetes.io/selected-node", "pv.kubernetes.io/bind-completed"
BETA_CLASS = "volume.beta.kubernetes.io/storage-class"


def space_of(pod):
    return pod["metadata"].get("namespace", "default")


class Volumes:
    def __init__(self, r, scenario):
        self.r, self.scenario = r, scenario
        self.nodes = [o for o in scenario["objects"] if o["kind"] == "Node"]
        self.names = [n["metadata"]["name"] for n in self.nodes] or ["n0"]
        self.objects, self.claims, self.before = [], {}, []
        self.count = self.size = 0
        # the oracle does not get over a pending version of a pod that is only assumed
        self.binds = r.random() < .15 or any("op" in step for step in scenario["pods"])
        self.left_to_bind = 2
        self.chances = {"share": r.choice([.1, .4, .8]), "static": r.choice([0, 1, 3]),
                        "dynamic": r.choice([0, 1, 3]), "bound": r.choice([1, 3]), "odd": r.choice([0, .1, .5]),
                        "exclusive": r.choice([0, .1, .5]), "terms": r.choice([.1, .5]),
                        "inline": r.choice([0, .1, .5]), "ephemeral": r.choice([0, .05, .3]),
                        "limits": r.choice([.2, .9]), "labels": r.choice([.1, .6])}

    def has(self, chance):
        return self.r.random() < self.chances[chance]

    def chance(self, p):
        return self.r.random() < p

    def name(self, prefix):
        self.count += 1
        return "%s-%d" % (prefix, self.count)

    # ---- places ----

    def term(self):
        r = self.r
        def requirement():
            key = r.choice([HOST, HOST, ZONE, ZONE, REGION, BETA_ZONE, BETA_REGION, EBS_ZONE, GCE_ZONE, "disk"])
            operator = r.choice(["In"] * 6 + ["NotIn", "Exists", "DoesNotExist"])
            found = {"key": key, "operator": operator}
            if operator in ("In", "NotIn"):
                values = self.names if key == HOST else ZONES if "zone" in key else ["r0", "r1", "ssd"]
                found["values"] = r.sample(values, min(len(values), r.randint(1, 3)))
            return found
        term = {"matchExpressions": [requirement() for _ in range(r.choice([1, 1, 1, 2]))]}
        if self.chance(.03):
            term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [r.choice(self.names)]}]}
        return term

    def place(self, volume):
        """Node affinity and zone labels, each perhaps."""
        r, labels = self.r, volume["metadata"].setdefault("labels", {})
        if self.has("terms"):
            terms = [self.term() for _ in range(r.choice([1, 1, 2]))]
            volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
        if self.has("labels"):
            for key, values in ((ZONE, ZONES), (BETA_ZONE, ZONES), (REGION, ["r0", "r1"]), (BETA_REGION, ["r0", "r1"])):
                if self.chance(.35):
                    joint = r.choice(["__", "__", "__", "____"]) if self.chance(.4) else None
                    several = r.sample(values, min(len(values), r.randint(2, 3)))
                    labels[key] = joint.join(several) if joint else r.choice(values)

    def dress_nodes(self):
        r = self.r
        for n in self.nodes:
            labels = n["metadata"].setdefault("labels", {})
            if self.chance(.2):
                labels.pop(ZONE, None)
            if self.chance(.3):
                labels[ZONE] = r.choice(ZONES)
            for key, chance in ((BETA_ZONE, .3), (EBS_ZONE, .4), (GCE_ZONE, .3), (CINDER_ZONE, .2)):
                if self.chance(chance):
                    labels[key] = labels.get(ZONE, r.choice(ZONES))
            if self.chance(.3):
                labels[r.choice([REGION, BETA_REGION])] = r.choice(["r0", "r1"])

    # ---- classes, drivers, room ----

    def make_classes(self):
        r = self.r
        self.classes = {"imm": {"provisioner": "csi.a", "volumeBindingMode": "Immediate"},
                        "local": {"provisioner": "kubernetes.io/no-provisioner",
                                  "volumeBindingMode": "WaitForFirstConsumer"},
                        "local2": {"provisioner": r.choice(["kubernetes.io/no-provisioner", "csi.b"]),
                                   "volumeBindingMode": "WaitForFirstConsumer"}}
        for name in ("dyn", "dyn2", "intree"):
            self.classes[name] = {"provisioner": r.choice(DRIVERS if name != "intree" else IN_TREE),
                                  "volumeBindingMode": "WaitForFirstConsumer"}
        for name in ("dyn", "dyn2", "local2"):
            if self.chance(.4):
                self.classes[name]["allowedTopologies"] = [self.topology() for _ in range(r.choice([1, 1, 2]))]
        for name, spec in self.classes.items():
            self.add(dict({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}}, **spec))

    def topology(self):
        r = self.r
        if self.chance(.05):
            return {"matchLabelExpressions": []}
        keys = r.sample([ZONE, HOST, BETA_ZONE, EBS_ZONE], r.choice([1, 1, 2]))
        return {"matchLabelExpressions": [
            {"key": k, "values": r.sample(self.names if k == HOST else ZONES, r.randint(1, min(3, len(self.names))))}
            for k in keys]}

    def make_drivers(self):
        for name in DRIVERS:
            if self.chance(.5):
                spec = {"storageCapacity": self.chance(.7)} if self.chance(.9) else {}
                self.add({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": name}, "spec": spec})
        for name in ("dyn", "dyn2", "local2", "intree"):
            for _ in range(self.r.choice([0, 1, 2, 3])):
                self.add(self.capacity(name))

    def capacity(self, class_name):
        r = self.r
        found = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
                 "metadata": {"name": self.name("cap"), "namespace": "default"}, "storageClassName": class_name}
        if self.chance(.85):
            key = r.choice([ZONE, HOST, "nope"])
            found["nodeTopology"] = r.choice([
                {}, {"matchLabels": {key: r.choice(self.names if key == HOST else ZONES)}},
                {"matchLabels": {HOST: r.choice(self.names)}},
                {"matchExpressions": [{"key": ZONE, "operator": r.choice(["In", "NotIn"]), "values": r.sample(ZONES, 2)}]}])
        if self.chance(.9):
            found["capacity"] = r.choice(["0", "1Gi", "2Gi", "3Gi", "100Gi"])
        if self.chance(.3):
            found["maximumVolumeSize"] = r.choice(["1Gi", "2Gi", "50Gi"])
        return found

    def csi_node(self, node):
        r = self.r
        def driver(name):
            found = {"name": name, "nodeID": node, "topologyKeys": r.sample([ZONE, HOST, EBS_ZONE, "nope"], r.randint(0, 2))}
            if self.has("limits"):
                found["allocatable"] = {"count": r.choice([0, 1, 1, 2, 2, 3, 5])} if self.chance(.9) else {}
            return found
        names = sorted(r.sample(DRIVERS, r.randint(0, len(DRIVERS))))
        found = {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": node},
                 "spec": {"drivers": [driver(name) for name in names]}}
        if self.chance(.6):
            found["metadata"]["annotations"] = {
                "storage.alpha.kubernetes.io/migrated-plugins": ",".join(r.sample(IN_TREE, r.randint(0, len(IN_TREE))))}
        return found

    def make_csi_nodes(self):
        for name in self.names + ["gone"]:
            if self.chance(.75):
                self.add(self.csi_node(name))

    def attachment(self, name=None):
        r = self.r
        volumes = [o["metadata"]["name"] for o in self.objects if o["kind"] == "PersistentVolume"]
        source = {"persistentVolumeName": r.choice(volumes) if volumes and self.chance(.95) else "nothing"}
        return {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment",
                "metadata": {"name": name or self.name("va")}, "status": {"attached": True},
                "spec": {"attacher": r.choice(DRIVERS[:3]) if self.chance(.97) else "", "nodeName": r.choice(self.names),
                         "source": source if self.chance(.95) else {}}}

    # ---- volumes ----

    def add(self, found):
        self.objects.append(found)
        return found

    def source(self, spec, name):
        """Mostly CSI; every in-tree disk, and disks without limits."""
        r, k = self.r, self.r.random()
        handle = "h-%s" % (name if self.chance(.9) else r.randint(0, 2))
        if k < .6:
            spec["csi"] = {"driver": r.choice(DRIVERS[:3]), "volumeHandle": handle}
            return
        bad = self.chance(.03)
        choices = [("awsElasticBlockStore", {"volumeID": "aws://z/bad" if bad else
                                             r.choice(["aws://z0/vol-%s", "aws:///vol-%s", "vol-%s"]) % name}),
                   ("gcePersistentDisk", {"pdName": name}), ("cinder", {"volumeID": name}),
                   ("azureDisk", {"diskName": name, "diskURI": "uri/" + name}), ("portworxVolume", {"volumeID": name}),
                   ("azureFile", {"shareName": name, "secretName": "s"}), ("vsphereVolume", {"volumePath": name}),
                   ("hostPath", {"path": "/x"}), ("local", {"path": "/x"}), ("nfs", {"server": "s", "path": "/"})]
        key, value = r.choice(choices)
        spec[key] = value

    def volume(self, name, class_name, gigabytes):
        r = self.r
        found = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
                 "spec": {"capacity": {"storage": "%dMi" % (gigabytes * 1024 + self.next_size())},
                          "accessModes": r.sample(MODES, r.randint(2, 4)), "persistentVolumeReclaimPolicy": "Retain"},
                 "status": {"phase": "Available"}}
        if class_name is not None:
            found["spec"]["storageClassName"] = class_name
        self.source(found["spec"], name)
        self.place(found)
        return found

    def next_size(self):
        """No two volumes are of one size."""
        self.size += 1
        return self.size

    def free_volume(self, class_name):
        r = self.r
        found = self.volume(self.name("free"), class_name, r.choice([0, 1, 1, 2, 5]))
        if self.chance(.15):
            found["status"]["phase"] = r.choice(["Pending", "Released", "Failed", "Bound"])
        if self.chance(.1):
            found["spec"]["claimRef"] = {"namespace": "default", "name": "somebody-else"}
        if self.chance(.15):
            found["spec"]["volumeMode"] = r.choice(["Block", "Filesystem"])
        if self.chance(.1):
            found["spec"]["volumeAttributesClassName"] = r.choice(["gold", "silver"])
        if self.chance(.05):
            found["metadata"]["deletionTimestamp"] = "2024-06-01T00:00:00Z"
        if self.chance(.5):
            found["metadata"]["labels"]["tier"] = r.choice(["x", "y"])
        if self.chance(.05):
            found["metadata"]["annotations"] = {BETA_CLASS: r.choice(["local", "local2"])}
        return found

    def make_free_volumes(self):
        for _ in range(self.r.choice([0, 2, 5, 9])):
            self.add(self.free_volume(self.r.choice(["local", "local", "local2", "dyn"])))

    # ---- claims ----

    def claim(self, space, name, class_name):
        r = self.r
        found = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": space},
                 "spec": {"accessModes": [r.choice(MODES[:3])] if not self.has("exclusive") else ["ReadWriteOncePod"],
                          "resources": {"requests": {"storage": r.choice(["500Mi", "1Gi", "1Gi", "2Gi", "4Gi"])}}},
                 "status": {"phase": "Pending"}}
        if class_name is not None:
            found["spec"]["storageClassName"] = class_name
        return found

    def bound_claim(self, space, name):
        r, class_name = self.r, self.r.choice(["imm", "local", "dyn", ""])
        found = self.claim(space, name, class_name)
        volume_name = "pv-" + self.name(name)
        found["spec"]["volumeName"] = volume_name
        found["status"]["phase"] = "Bound"
        found["metadata"]["annotations"] = {COMPLETED: "yes"}
        if not self.chance(.04):
            v = self.add(self.volume(volume_name, class_name, r.choice([1, 5])))
            v["status"]["phase"] = "Bound"
            v["spec"]["claimRef"] = {"namespace": space, "name": name}
        if self.has("odd"):
            k = r.random()
            if k < .3:
                del found["metadata"]["annotations"]
            elif k < .6:
                found["status"]["phase"] = "Lost"
            else:
                found["metadata"]["deletionTimestamp"] = "2024-06-01T00:00:00Z"
        return found

    def delayed_claim(self, space, name, class_name):
        r = self.r
        found = self.claim(space, name, class_name)
        if self.chance(.15):
            found["spec"]["selector"] = r.choice([
                {"matchLabels": {"tier": "x"}}, {}, {"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["y"]}]}])
        if self.chance(.1):
            found["spec"]["volumeMode"] = r.choice(["Block", "Filesystem"])
        if self.chance(.07):
            found["spec"]["volumeAttributesClassName"] = r.choice(["gold", "silver"])
        if not self.binds and self.chance(.1):
            # by the annotation alone, for which the oracle's controller makes no volume by itself
            del found["spec"]["storageClassName"]
            found["metadata"]["annotations"] = {BETA_CLASS: class_name}
            if self.chance(.6):
                found["metadata"]["annotations"][SELECTED] = r.choice(self.names)
            elif self.chance(.5):
                found["spec"]["storageClassName"] = r.choice(["local", "local2", "dyn", "dyn2", "imm"])
        elif class_name == "local" and self.chance(.05):
            found["metadata"]["annotations"] = {SELECTED: r.choice(self.names)}
        return found

    def odd_claim(self, space, name):
        r = self.r
        return r.choice([lambda: self.claim(space, name, "imm"), lambda: self.claim(space, name, "no-such-class"),
                         lambda: self.claim(space, name, ""), lambda: None])()

    def reserved_claim(self, space, name):
        """A volume is reserved for it; it comes when the scheduler has seen the volume."""
        found = self.delayed_claim(space, name, "local")
        v = self.add(self.free_volume("local"))
        v["status"]["phase"] = self.r.choice(["Available", "Pending"])
        v["spec"]["claimRef"] = {"namespace": space, "name": name}
        if self.chance(.5):
            v["spec"]["claimRef"]["uid"] = self.r.choice(["persistentvolumeclaim-%s-%s" % (space, name), "another"])
        found["metadata"]["uid"] = "persistentvolumeclaim-%s-%s" % (space, name)
        self.before.append({"op": "apply", "object": found})

    def new_claim(self, space):
        """Its name, and whether a pod that uses it will wait for the oracle's controller."""
        r, name = self.r, self.name("c")
        kinds = {"bound": 2 * self.chances["bound"], "static": self.chances["static"], "dynamic": self.chances["dynamic"],
                 "odd": self.chances["odd"], "reserved": .2 * self.chances["static"]}
        kind = r.choices(list(kinds), list(kinds.values()))[0]
        if kind == "reserved":
            self.reserved_claim(space, name)
            return name, True
        if kind == "bound":
            found = self.bound_claim(space, name)
        elif kind == "odd":
            found = self.odd_claim(space, name)
        else:
            found = self.delayed_claim(space, name, r.choice(["local", "local2"] if kind == "static" else ["dyn", "dyn2", "intree"]))
        if found is not None:
            self.add(found)
        return name, kind in ("static", "dynamic")

    def claim_for(self, pod, taken):
        """None when the oracle has waited for enough claims, and for an unbound claim the second time in one
        pod: it would get two volumes, and which one the next pod then sees is left to chance."""
        space = space_of(pod)
        known = self.claims.setdefault(space, [])
        if not known or not self.has("share"):
            known.append(self.new_claim(space))
        name, waits = self.r.choice(known)
        if waits and name in taken:
            return None
        if waits and self.binds:
            if self.left_to_bind == 0:
                return None
            self.left_to_bind -= 1
        taken.add(name)
        return name

    # ---- pods ----

    def disk(self):
        r = self.r
        only = {"readOnly": True} if self.chance(.4) else {}
        bad = self.chance(.01)
        return r.choice([
            {"gcePersistentDisk": dict({"pdName": r.choice(["d0", "d1"])}, **only)},
            {"awsElasticBlockStore": dict({"volumeID": "aws://z/bad" if bad else r.choice(["vol-0", "aws://z0/vol-0", "vol-1"])}, **only)},
            {"iscsi": dict({"targetPortal": "t", "iqn": r.choice(["i0", "i1"]), "lun": 0}, **only)},
            {"rbd": dict({"monitors": r.sample(["m0", "m1", "m2"], r.randint(1, 2)), "pool": r.choice(["rbd", "p"]),
                          "image": r.choice(["g0", "g1"])}, **only)},
            {"azureDisk": {"diskName": "d", "diskURI": r.choice(["u0", "u1"])}},
            {"cinder": {"volumeID": r.choice(["v0", "v1"])}}, {"portworxVolume": {"volumeID": r.choice(["v0", "v1"])}},
            {"azureFile": {"secretName": "s", "shareName": "x"}}, {"vsphereVolume": {"volumePath": "p"}},
            {"csi": {"driver": "csi.a"}}, {"emptyDir": {}}, {"configMap": {"name": "c"}}])

    def ephemeral(self, pod, volume):
        if self.binds:
            return {"emptyDir": {}}
        space, name = space_of(pod), "%s-%s" % (pod["metadata"]["name"], volume)
        if not self.chance(.08):
            k = self.r.random()
            found = self.bound_claim(space, name) if k < .6 else self.delayed_claim(space, name, self.r.choice(["local", "dyn"]))
            owner = "pod-%s-%s" % (space, pod["metadata"]["name"])
            bound = "nodeName" in pod["spec"]
            if not self.chance(.02 if bound else .06):
                found["metadata"]["ownerReferences"] = [
                    {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "controller": True,
                     "uid": pod["metadata"].get("uid", owner)}]
            self.add(found)
        return {"ephemeral": {"volumeClaimTemplate": {"spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}}

    def dress_pod(self, pod):
        r, volumes, taken = self.r, [], set()
        for i in range(r.choice([0, 1, 1, 1, 2, 3])):
            name = "v%d" % i
            if self.has("inline"):
                source = self.disk()
            elif self.has("ephemeral"):
                source = self.ephemeral(pod, name)
            else:
                claim = self.claim_for(pod, taken)
                source = {"persistentVolumeClaim": {"claimName": claim}} if claim else {"emptyDir": {}}
            volumes.append(dict({"name": name}, **source))
        if volumes:
            pod["spec"]["volumes"] = pod["spec"].get("volumes", []) + volumes

    # ---- changes between the attempts ----

    def kept(self, kind):
        return [o for o in self.objects if o["kind"] == kind]

    def change(self):
        """Of what the oracle's controller has no hand in."""
        r = self.r
        bound = [o for o in self.kept("PersistentVolumeClaim") if "volumeName" in o["spec"]]
        volumes = [o for o in self.kept("PersistentVolume") if o["status"]["phase"] == "Bound" and "claimRef" in o["spec"]
                   and o["spec"]["claimRef"]["name"] != "somebody-else"]
        k = r.random()
        if k < .3:
            found = self.csi_node(r.choice(self.names))
            return self.apply(found) if self.chance(.85) else self.delete(found, self.kept("CSINode"))
        if k < .5:
            there = self.kept("VolumeAttachment")
            if there and self.chance(.5):
                return self.delete(r.choice(there), there)
            return self.apply(self.attachment())
        if k < .6:
            return self.apply(self.capacity(r.choice(["dyn", "dyn2"])))
        if k < .8 and volumes:
            found = r.choice(volumes)
            if self.chance(.3):
                return self.delete(found, volumes)
            changed = copy.deepcopy(found)
            changed["metadata"].pop("labels", None)
            self.place(changed)
            return self.apply(changed)
        if bound:
            found = r.choice(bound)
            if self.chance(.3):
                return self.delete(found, bound)
            changed = copy.deepcopy(found)
            changed["status"]["phase"] = r.choice(["Bound", "Lost", "Bound"])
            changed["metadata"].pop("deletionTimestamp", None)
            changed["metadata"].setdefault("annotations", {})[COMPLETED] = "yes"
            return self.apply(changed)
        return self.apply(self.csi_node(r.choice(self.names)))

    def apply(self, found):
        """What was there under the name is known as it is now."""
        same = [o for o in self.objects if o["kind"] == found["kind"] and o["metadata"]["name"] == found["metadata"]["name"]
                and o["metadata"].get("namespace") == found["metadata"].get("namespace")]
        if not same:
            self.later.append(found)
        return {"op": "apply", "object": copy.deepcopy(found)}

    def delete(self, found, there):
        def key(o):
            return o["kind"], o["metadata"].get("namespace"), o["metadata"]["name"]
        if key(found) not in [key(o) for o in there] or key(found) in self.deleted:
            return self.apply(found)
        self.deleted.add(key(found))
        step = {"op": "delete", "kind": found["kind"], "name": found["metadata"]["name"]}
        if "namespace" in found["metadata"]:
            step["namespace"] = found["metadata"]["namespace"]
        return step

    def mix_changes(self, often):
        self.later, self.deleted = [], set()
        mixed = []
        for step in self.scenario["pods"]:
            while self.chance(often):
                mixed.append(self.change())
                self.objects += self.later
                self.later = []
            mixed.append(step)
        self.scenario["pods"] = mixed

    # ---- the whole ----

    def all_pods(self):
        found = [o for o in self.scenario["objects"] if o["kind"] == "Pod"]
        for step in self.scenario["pods"]:
            if "op" not in step:
                found.append(step)
        return found

    def add_all(self):
        self.dress_nodes()
        self.make_classes()
        self.make_drivers()
        self.make_csi_nodes()
        self.make_free_volumes()
        for pod in self.all_pods():
            self.dress_pod(pod)
        for _ in range(self.r.choice([0, 0, 2, 5])):
            self.add(self.attachment())
        initial = list(self.objects)
        if self.chance(.3):
            self.mix_changes(.4)
        self.scenario["objects"] = initial + self.scenario["objects"]
        self.scenario["pods"] = self.before + self.scenario["pods"]
        if not self.binds:
            # a pod that is only assumed cannot be tried again or driven out as others are, and has no start
            # time, for which upstream takes the current one
            self.scenario.setdefault("options", {}).update(noBind=True, afterPreemption="none")
            for i, step in enumerate(self.scenario["pods"]):
                if "op" not in step:
                    step.setdefault("status", {})["startTime"] = "2030-01-01T00:%02d:%02dZ" % (i // 60, i % 60)


def add_volumes(r, scenario):
    """Gives nodes and pods of the scenario what volumes need; r is all that is drawn from."""
    Volumes(r, scenario).add_all()


# ---- scenarios about nothing but volumes ----


def small(r, name):
    """A few nodes and pods that go nearly anywhere."""
    def labels(i):
        found = {HOST: "n%d" % i}
        if r.random() < .8:
            found[ZONE] = r.choice(ZONES)
        return found

    def pod(name, node=None, priority=0):
        found = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": r.choice(["default"] * 4 + ["blue"])},
                 "spec": {"priority": priority,
                          "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": r.choice(["100m", "500m"])}}}]}}
        if node:
            found["spec"]["nodeName"] = node
            found["status"] = {"phase": "Running", "startTime": "2024-06-01T00:%02d:00Z" % int(name[1:])}
        return found

    count = r.randint(1, 6)
    objects = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n%d" % i, "labels": labels(i)}, "spec": {},
                "status": {"capacity": {"cpu": "8", "memory": "16Gi", "pods": "110"}}} for i in range(count)]
    objects += [pod("e%d" % i, "n%d" % r.randrange(count), r.choice([0, 0, -5])) for i in range(r.randint(0, 3 * count))]
    pods = [pod("p%d" % i, None, r.choice([0, 0, 10])) for i in range(r.randint(1, 8))]
    return {"name": name, "objects": objects, "pods": pods, "options": {"omitAllFailures": True}}
