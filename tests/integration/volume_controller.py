"""What the cluster's volume controller and provisioners do, as far as the cases need it.

One for each case, in a thread: volumes become Available, claims are bound to the volumes that name
them, that they name or that fit, and claims with a selected node get a volume made for that node.
A class's parameters make a provisioner slow or let it fail:

  delay   seconds until a volume is made
  fails   how often it fails first; each time it takes the selected node away from the claim
"""
import threading
import time

import kube
import quantity

SELECTED = "volume.kubernetes.io/selected-node"
COMPLETED = "pv.kubernetes.io/bind-completed"
BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
STATIC = "kubernetes.io/no-provisioner"
MERGE = "application/merge-patch+json"


class Controller:
    """Works until stop(); what it could not do is tried again, as the real one does."""

    def __init__(self, it):
        self.it, self.admin = it, it.admin
        self.due, self.failed = {}, {}  # by UID of a claim: when it is provided, how often it failed
        self.changed, self.stopped = threading.Event(), False
        self.volumes = kube.Mirror(self.admin, it.path("PersistentVolume"), self.noted)
        self.claims = kube.Mirror(self.admin, it.path("PersistentVolumeClaim"), self.noted)
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()
        it.before_end.append(self.stop)

    def noted(self, item):
        self.changed.set()
        return item

    def stop(self):
        self.stopped = True
        self.changed.set()
        self.thread.join(10)
        self.volumes.stop()
        self.claims.stop()

    def work(self):
        while not self.stopped:
            self.changed.wait(self.pause())
            self.changed.clear()
            try:
                self.look()
            except (kube.ApiError,) + kube.BROKEN:
                # Somebody else wrote: the next look sees what.
                self.due["again"] = time.monotonic() + 0.1

    def pause(self):
        """Seconds until something is due."""
        self.due = {uid: at for uid, at in self.due.items() if at}
        return max(0.01, min(self.due.values()) - time.monotonic()) if self.due else None

    def look(self):
        self.due.pop("again", None)
        volumes, claims = list(self.volumes.items.values()), list(self.claims.items.values())
        for volume in volumes:
            if volume["status"].get("phase") == "Pending":
                self.patch(volume, {"status": {"phase": "Available"}}, status=True)
        for claim in claims:
            if COMPLETED not in annotations(claim) and "deletionTimestamp" not in claim["metadata"]:
                self.serve(claim, volumes)

    def patch(self, item, body, status=False):
        kind = "PersistentVolumeClaim" if "namespace" in item["metadata"] else "PersistentVolume"
        path = self.it.path(kind, item["metadata"]["name"]) + ("/status" if status else "")
        body.setdefault("metadata", {})["resourceVersion"] = item["metadata"]["resourceVersion"]
        return self.admin.request("PATCH", path, body, content=MERGE)

    # ---- one claim ----

    def serve(self, claim, volumes):
        named = claim["spec"].get("volumeName")
        mine = [v for v in volumes if (v["metadata"]["name"] == named if named else names(v, claim))]
        storage = self.admin.get(self.it.path("StorageClass", claim["spec"]["storageClassName"]))
        immediate = storage["volumeBindingMode"] == "Immediate"
        if not mine and immediate and not named:
            mine = sorted((v for v in volumes if fits(v, claim)), key=size)[:1]
        if mine:
            self.bind(claim, mine[0])
        elif not named and storage["provisioner"] != STATIC:
            if immediate or SELECTED in annotations(claim):
                self.provide(claim, storage)

    def bind(self, claim, volume):
        reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                     "namespace": claim["metadata"]["namespace"], "name": claim["metadata"]["name"],
                     "uid": claim["metadata"]["uid"]}
        owner = volume["spec"].get("claimRef")
        if owner and not names(volume, claim):
            return
        if not owner or owner.get("uid") != reference["uid"]:
            volume = self.patch(volume, {"spec": {"claimRef": reference}})
        if volume["status"].get("phase") != "Bound":
            self.patch(volume, {"status": {"phase": "Bound"}}, status=True)
        claim = self.patch(claim, {
            "metadata": {"annotations": {COMPLETED: "yes", BY_CONTROLLER: "yes"}},
            "spec": {"volumeName": volume["metadata"]["name"]}})
        self.patch(claim, {"status": {"phase": "Bound", "accessModes": claim["spec"]["accessModes"],
                                      "capacity": volume["spec"]["capacity"]}}, status=True)

    def provide(self, claim, storage):
        """Make a volume, or fail, when the time has come."""
        uid = claim["metadata"]["uid"]
        wishes = storage.get("parameters") or {}
        at = self.due.setdefault(uid, time.monotonic() + float(wishes.get("delay", 0)))
        if not at or at > time.monotonic():
            return
        if self.failed.get(uid, 0) < int(wishes.get("fails", 0)):
            del self.due[uid]
            self.failed[uid] = self.failed.get(uid, 0) + 1
            self.patch(claim, {"metadata": {"annotations": {SELECTED: None}}})
            return
        self.due[uid] = None  # done
        node = annotations(claim).get(SELECTED)
        self.it.create(made_for(claim, self.node_label(node) if node else None))

    def node_label(self, node):
        return self.admin.get(self.it.path("Node", node))["metadata"]["labels"]["kubernetes.io/hostname"]


def made_for(claim, node):
    spec = {"capacity": claim["spec"]["resources"]["requests"],
            "accessModes": claim["spec"]["accessModes"],
            "storageClassName": claim["spec"]["storageClassName"],
            "hostPath": {"path": "/mnt/made"},
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                         "namespace": claim["metadata"]["namespace"],
                         "name": claim["metadata"]["name"], "uid": claim["metadata"]["uid"]}}
    if node:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]}}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "spec": spec,
            "metadata": {"name": "pvc-" + claim["metadata"]["uid"]}}


def annotations(item):
    return item["metadata"].get("annotations") or {}


def names(volume, claim):
    """The volume says that it belongs to this claim."""
    owner = volume["spec"].get("claimRef") or {}
    return ((owner.get("namespace"), owner.get("name"))
            == (claim["metadata"]["namespace"], claim["metadata"]["name"])
            and owner.get("uid") in (None, "", claim["metadata"]["uid"]))


def size(volume):
    return quantity.parse(volume["spec"]["capacity"]["storage"])


def fits(volume, claim):
    wanted = quantity.parse(claim["spec"]["resources"]["requests"]["storage"])
    return (not volume["spec"].get("claimRef")
            and volume["spec"].get("storageClassName") == claim["spec"]["storageClassName"]
            and set(claim["spec"]["accessModes"]) <= set(volume["spec"]["accessModes"])
            and size(volume) >= wanted)
