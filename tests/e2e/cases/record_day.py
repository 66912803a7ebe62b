"""All that a cluster does is recorded while it goes on, and played back: the same is decided again.

BERTH_DAY_SECONDS=600 makes it ten minutes long.
"""
import os
import signal
import threading
import time

import checks
import gang
import kube
import objects
from cases import devices
from cases.record import NOT_UPSTREAM, Churn, busy, pod, record, replay
from cases.recorded import write
from suite import case

SECONDS = float(os.environ.get("BERTH_DAY_SECONDS", "24"))
VOLUMES, CLAIMS = "/api/v1/persistentvolumes", "/api/v1/namespaces/default/persistentvolumeclaims"
STORAGE = "/apis/storage.k8s.io/v1/storageclasses"
LOCALS = 6  # local volumes, each of a node


class Every(threading.Thread):
    """Does something every so often, until it is over; what fails is told."""

    def __init__(self, seconds, step):
        super().__init__(daemon=True)
        self.seconds, self.step, self.over, self.done, self.failed = seconds, step, threading.Event(), 0, None
        self.start()

    def run(self):
        try:
            while not self.over.wait(self.seconds):
                self.step(self.done)
                self.done += 1
        except Exception as error:  # told by the case
            self.failed = error

    def end(self):
        self.over.set()
        self.join(60)
        checks.expect(self.failed is None and not self.is_alive(), "it failed behind %d steps: %s", self.done, self.failed)


def delete(client, path):
    try:
        client.delete(path)
    except kube.ApiError as error:
        if error.status != 404:
            raise


def unless_changed(step):
    """True once it is done, or what it is about is gone; false: somebody else has written in between."""
    try:
        step()
    except kube.ApiError as error:
        if error.status not in (404, 409):
            raise
        return error.status == 404
    return True


def delete_protected(client, path):
    """As delete; the controllers that take finalizers away when nobody uses it any more are not here."""
    def let_go():
        left = client.get(path)
        left["metadata"].pop("finalizers", None)
        client.put(path, left)

    delete(client, path)
    checks.wait_until(10, lambda: unless_changed(let_go), "%s stays" % path)


# ---- volumes: local ones, whose claims wait for a pod --------------------------------------------------


def local_volume(i):
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["disk-%d" % i]}]}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "local-%d" % i},
            "spec": {"capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local",
                     "persistentVolumeReclaimPolicy": "Retain", "local": {"path": "/disk"},
                     "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}}}


def offer_volume(client, i):
    """Whoever creates one does not say its phase: the volume controller does."""
    volume = client.create(VOLUMES, local_volume(i))
    volume["status"] = {"phase": "Available"}
    client.put(VOLUMES + "/local-%d/status" % i, volume)


def install_volumes(client):
    client.create(STORAGE, {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "local"},
                            "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"})
    client.create_many(kube.NODES, [objects.node("disk-%d" % i, {"cpu": "4", "memory": "8Gi"}, {"kubernetes.io/hostname": "disk-%d" % i})
                                    for i in range(LOCALS)])
    for i in range(LOCALS):
        offer_volume(client, i)


def bind_volumes(client):
    """The volume controller's part: a volume that the scheduler has given to a claim becomes the claim's. What somebody
    else has written in between is looked at again."""
    for volume in client.list(VOLUMES)[0]:
        if volume["spec"].get("claimRef") and volume.get("status", {}).get("phase") != "Bound":
            unless_changed(lambda volume=volume: bind_volume(client, volume))


def bind_volume(client, volume):
    path, name = CLAIMS + "/" + volume["spec"]["claimRef"]["name"], volume["metadata"]["name"]
    bound = {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "10Gi"}}
    claim = client.get(path)
    if claim["spec"].get("volumeName") != name:
        claim["spec"]["volumeName"] = name
        claim["metadata"].setdefault("annotations", {})["pv.kubernetes.io/bind-completed"] = "yes"
        claim = client.put(path, claim)
    claim["status"] = bound
    client.put(path + "/status", claim)
    volume["status"] = {"phase": "Bound"}
    client.put(VOLUMES + "/" + name + "/status", volume)


def use_volume(client, number):
    """A pod with a claim comes; the one before the last goes, and its volume is there again."""
    name = "disk-user-%d" % number
    client.create(CLAIMS, {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
                           "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "local",
                                    "resources": {"requests": {"storage": "5Gi"}}}})
    client.create(kube.PODS, pod(name, {"cpu": "100m"}, priorityClassName="urgent",
                                 volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": name}}]))
    former = "disk-user-%d" % (number - 2)
    if number < 2:
        return
    delete(client, kube.PODS + "/" + former)
    delete_protected(client, CLAIMS + "/" + former)
    for volume in client.list(VOLUMES)[0]:
        if volume["spec"].get("claimRef", {}).get("name") == former:
            delete_protected(client, VOLUMES + "/" + volume["metadata"]["name"])
            offer_volume(client, int(volume["metadata"]["name"].rsplit("-", 1)[1]))


# ---- devices and groups --------------------------------------------------------------------------------


def install_devices(client):
    """Four nodes with devices of their own."""
    client.create(devices.GROUP + "/deviceclasses", {
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": devices.CLASS},
        "spec": {"selectors": [{"cel": {"expression": 'device.driver == "%s"' % devices.DRIVER}}]}})
    names = ["node-with-devices-%d" % i for i in range(4)]
    client.create_many(kube.NODES, [objects.node(name, {"cpu": "2", "memory": "4Gi"}) for name in names])
    client.create_many(devices.SLICES, [devices.slice_of(name, [devices.device("d%d" % k, "new") for k in range(4)], nodeName=name)
                                        for name in names])


def let_go(client, path):
    """The claim goes, behind its devices, as the claim controller has it."""
    def deallocate():
        claim = client.get(path)
        claim["status"] = {}
        client.put(path + "/status", claim)

    checks.wait_until(10, lambda: unless_changed(deallocate), "%s keeps its devices" % path)
    delete_protected(client, path)


def use_device(client, number):
    name = "device-user-%d" % number
    client.create(devices.CLAIMS, devices.claim(name))
    client.create(kube.PODS, pod(name, {"cpu": "100m"}, priorityClassName="urgent",
                                 resourceClaims=[{"name": "device", "resourceClaimName": name}]))
    former = "device-user-%d" % (number - 4)
    if number >= 4:
        delete(client, kube.PODS + "/" + former)
        let_go(client, devices.CLAIMS + "/" + former)


def group_comes(world, number):
    """One of two, one behind the other: the second one of them never has all its pods."""
    size = 3 if number % 2 == 0 else 5
    gang.create(world, gang.X, "group%d" % number, size, 3, {"cpu": "300m"}, priorityClassName="urgent")
    for i in range(3):
        if number >= 2:
            delete(world.admin, kube.PODS + "/group%d-%d" % (number - 2, i))


@case("record-day", not_upstream=NOT_UPSTREAM)
def record_day(world):
    """Churn with preemption, groups, devices, volumes and another configuration: played back all lives say the same."""
    scheduler, pods = busy(world)
    install_volumes(world.admin)
    install_devices(world.admin)
    path = os.path.join(world.directory, "day")
    command = record(scheduler, path, "--for", "%ds" % (SECONDS + 120))
    checks.expect("recording for" in command.stdout.readline(), "it does not begin")
    churn = Churn(world)
    churn.start()
    admin = world.admin
    placed = {kind: set() for kind in ("disk-user", "device-user", "churn", "group")}

    def look(_):
        bind_volumes(admin)
        for name, (_, node, _) in list(pods.items.items()):
            for kind, names in placed.items():
                if node and name.startswith(kind):
                    names.add(name)

    threads = [Every(0.05, look), Every(0.7, lambda number: use_volume(admin, number)),
               Every(0.5, lambda number: use_device(admin, number)), Every(4, lambda number: group_comes(world, number))]
    time.sleep(SECONDS / 2)
    write(scheduler.config, objects.configuration(scheduler.kubeconfig, backoff=2))
    os.kill(scheduler.process.pid, signal.SIGHUP)
    time.sleep(SECONDS / 2)
    for thread in threads[1:]:
        thread.end()
    churn.end()
    threads[0].end()
    placed = {kind: len(names) for kind, names in placed.items()}
    command.send_signal(signal.SIGINT)
    said, _ = command.communicate(timeout=120)
    checks.expect(command.returncode == 0, "it ended with %s: %s", command.returncode, said)
    status, found = replay(path)
    checks.expect(status == 0 and found["identical"] and not found["partly"], "not identical: %s", found)
    checks.expect(min(placed.values()) > 1, "not all kinds have been placed: %s", placed)
    print("    record-day: %d decisions of %.0f s played in %.2f s (x %.0f); seen on nodes: %s; %s" %
          (found["decisions"], found["recordedSeconds"], found["playedSeconds"],
           found["recordedSeconds"] / found["playedSeconds"], placed, said.strip().splitlines()[-1]), flush=True)
