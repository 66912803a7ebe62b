"""A cluster under load is upgraded: kube-apiserver becomes the next release on the same etcd and the same port.

What must be true: berth is at the new release within a minute, nothing is lost or done twice, and what it
decides from then on is the new release's.
"""
import checks
import cluster
import kube
import objects
from cases.releases import follows, said
from cases.serving import Served
from feeder import Feeder
from suite import case

OLD, NEW = "1.36", "1.37"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
SELECTED = "volume.kubernetes.io/selected-node"
COMPLETED = "pv.kubernetes.io/bind-completed"
TAINT = {"key": "storage", "value": "only", "effect": "NoSchedule"}


def two_storages(client):
    """Of two nodes one has more CPU and memory, the other more room for volumes. 1.37 looks at the room
    (its gate StorageCapacityScoring), and weighs it more than what is free of the rest."""
    client.create("/apis/storage.k8s.io/v1/storageclasses", {
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "local"},
        "provisioner": "csi.example", "volumeBindingMode": "WaitForFirstConsumer"})
    client.create("/apis/storage.k8s.io/v1/csidrivers", {
        "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "csi.example"},
        "spec": {"storageCapacity": True}})
    for name, cpu, room in (("large", "100", "11Gi"), ("roomy", "4", "10Ti")):
        client.create(kube.NODES, objects.node(name, {"cpu": cpu, "memory": cpu + "Gi"}, taints=[TAINT]))
        client.create("/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities", {
            "apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": {"name": name},
            "storageClassName": "local", "capacity": room,
            "nodeTopology": {"matchLabels": {"kubernetes.io/hostname": name}}})


def make_volume(client, claim):
    """What a provisioner does when the scheduler has chosen a node for a claim: a volume there, bound to it."""
    node, name = claim["metadata"]["annotations"][SELECTED], "pv-" + claim["metadata"]["name"]
    client.create("/api/v1/persistentvolumes", {
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": {
            "capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local",
            "csi": {"driver": "csi.example", "volumeHandle": name},
            "claimRef": {key: claim["metadata"][key] for key in ("name", "namespace", "uid")},
            "nodeAffinity": {"required": objects.node_affinity("kubernetes.io/hostname", [node])["nodeAffinity"][
                "requiredDuringSchedulingIgnoredDuringExecution"]}}})
    claim["metadata"]["annotations"][COMPLETED] = "yes"
    claim["spec"]["volumeName"] = name
    client.put(CLAIMS + "/" + claim["metadata"]["name"], claim)


def chosen(client, name):
    """A claim, when the scheduler has chosen a node for it."""
    claim = client.get(CLAIMS + "/" + name)
    return claim if SELECTED in claim["metadata"].get("annotations", {}) else None


def place_with_volume(client, pods, name):
    """The node of a pod whose claim waits for it, and which may go to those two nodes alone."""
    client.create(CLAIMS, {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": "local",
            "resources": {"requests": {"storage": "10Gi"}}}})
    client.create(kube.PODS, objects.pod(
        name, {"cpu": "1", "memory": "1Gi"}, tolerations=[{"key": TAINT["key"], "operator": "Exists"}],
        affinity=objects.node_affinity("kubernetes.io/hostname", ["large", "roomy"]),
        volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": name}}]))
    make_volume(client, checks.wait_until(60, lambda: chosen(client, name), "no node is chosen for %s" % name))
    checks.expect(pods.wait(60, lambda items: items.get(name, ("", ""))[1]), "%s is not bound", name)
    return pods.items[name][1]


@case("release-upgraded", not_upstream="it does not follow the API server's version",
      not_small="release-followed is about that one")
def release_is_upgraded(world):
    """kube-apiserver 1.36 is stopped under load, and 1.37 takes its place: followed within a minute, every pod
    bound once, nobody restarted; where storage has more room counts from then on, and did not before."""
    if world.options.release != NEW or cluster.missing("real", OLD):
        return print("skipped release-upgraded: only with --release %s, and where %s is built, too" % (NEW, OLD))
    where = world.new_cluster("upgraded", release=OLD)
    objects.small_nodes(where.admin, 20)
    two_storages(where.admin)
    pods = world.pods(where)
    served = Served(world, where=where).ready()
    scheduler = served.subject
    total = 600
    feeder = Feeder(where.admin, total)
    feeder.allow(total // 4)
    follows(scheduler, OLD)
    checks.expect(place_with_volume(where.admin, pods, "before") == "large", "1.36 looks at room for volumes")
    before = scheduler.pids()

    feeder.allow(total // 2)
    checks.expect(feeder.wait_created(total // 4 + 50), "the load does not come")
    where.become(NEW)
    feeder.allow(total * 3 // 4)
    follows(scheduler, NEW)
    version = where.admin.get("/version")["gitVersion"]
    checks.expect(said(scheduler).get("api_server") == version, "it says %s of %s", said(scheduler), version)
    checks.wait_until(30, lambda: "[+]release ok" in served.get("/readyz?verbose").text, "/readyz has no release")
    checks.expect(place_with_volume(where.admin, pods, "after") == "roomy", "1.37 looks at room for volumes, too")

    feeder.finish()
    checks.all_bound(pods, total + 2, 120)
    names = {uid: name for name, (uid, _, _) in pods.items.items()}
    checks.one_binding_each(where.log, names, names)
    checks.no_overcommit(where.admin)
    checks.expect(scheduler.pids() == before, "somebody was restarted: %s, %s", scheduler.pids(), before)
