#!/usr/bin/env python3
"""Feature gates that say when something happens and not where a pod goes: kube-scheduler and berth, each
with the gates on and off, on the small API server.

SchedulerPopFromBackoffQ: a pod that was turned away is woken at once by a pod that goes. With the gate it
is bound before its backoff of a second is over, as nothing else is to be done; without it, behind that.
NominatedNodeNameForExpectation: a pod whose volume is still to be bound (nobody ever does so here) says in
status.nominatedNodeName where it will be; without the gate it says nothing.

Both programs have to do so: kube-scheduler, as else the check would be wrong.
"""
import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path[:0] = [os.path.join(TOP, "tests/e2e"), os.path.join(TOP, "tests/e2e/cases")]
import kube  # noqa: E402
import objects  # noqa: E402
import play  # noqa: E402
from metrics_differ import node_of, wait  # noqa: E402

GATES = ("SchedulerPopFromBackoffQ", "NominatedNodeNameForExpectation")
STORAGE, VOLUMES, CLAIMS = "/apis/storage.k8s.io/v1/storageclasses", "/api/v1/persistentvolumes", \
    "/api/v1/namespaces/default/persistentvolumeclaims"
ROUNDS = 4          # of which the fastest counts: a busy machine makes them slower, and nothing makes them faster
BACKOFF_S = 0.75    # the first one is a second; it is seen a little after it began


@contextlib.contextmanager
def life(program, words, folder):
    """A client of a small API server with that scheduler; both end behind it."""
    kubeconfig = os.path.join(folder, "kubeconfig")
    with open(os.path.join(folder, "log"), "w", encoding="utf-8") as log:
        api = subprocess.Popen(["build/bin/apiserver", "--write-kubeconfig", kubeconfig], stdout=log, stderr=log)
        subject = None
        try:
            wait(10, lambda: os.path.exists(kubeconfig) and os.path.getsize(kubeconfig) > 0, "no API server")
            subject = subprocess.Popen(program + ["--kubeconfig=" + kubeconfig, "--secure-port=0"] + words,
                                       stdout=log, stderr=log)
            yield kube.Client(kubeconfig)
        finally:
            for process in filter(None, (subject, api)):
                process.terminate()
                process.wait(30)


def status_of(client, name):
    return client.get(kube.PODS + "/" + name).get("status", {})


def turned_away(client, name):
    return any(c.get("reason") == "Unschedulable" for c in status_of(client, name).get("conditions", []))


def until(condition):
    end = time.monotonic() + 30
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)


def backoff_s(client, number):
    """How long a pod that is woken at once waits for its next attempt."""
    filler, late = "filler%d" % number, "late%d" % number
    client.create(kube.PODS, objects.pod(filler, {"cpu": "3"}, nodeName="n", terminationGracePeriodSeconds=0))
    client.create(kube.PODS, objects.pod(late, {"cpu": "3"}, terminationGracePeriodSeconds=0))
    until(lambda: turned_away(client, late))
    began = time.monotonic()
    client.delete(kube.PODS + "/" + filler)
    until(lambda: node_of(client, late))
    took = time.monotonic() - began
    client.delete(kube.PODS + "/" + late)
    return took


def nominated_for(client):
    """What the status of a pod says whose volume is being bound."""
    client.create(STORAGE, {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "local"},
                            "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"})
    client.create(VOLUMES, {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local",
        "hostPath": {"path": "/v"}}})
    client.put(VOLUMES + "/v/status", dict(client.get(VOLUMES + "/v"), status={"phase": "Available"}))
    client.create(CLAIMS, {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": "local", "volumeMode": "Filesystem",
        "resources": {"requests": {"storage": "1Gi"}}}, "status": {"phase": "Pending"}})
    client.create(kube.PODS, objects.pod("bound-late", volumes=[
        {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]))
    until(lambda: client.get(VOLUMES + "/v")["spec"].get("claimRef"))
    time.sleep(1)  # it is written before
    return client.get(VOLUMES + "/v")["spec"].get("claimRef") is not None, \
        status_of(client, "bound-late").get("nominatedNodeName", "")


def seen(program, words, on):
    """What is wrong with it, a line each."""
    with tempfile.TemporaryDirectory() as folder:
        if "run" in program:
            words = words + ["--run-dir=" + os.path.join(folder, "run")]
        with life(program, words, folder) as client:
            client.create(kube.NODES, objects.node("n", {"cpu": "4", "memory": "8Gi", "pods": "99"}))
            client.create(kube.PODS, objects.pod("first"))
            wait(60, lambda: node_of(client, "first"), "nothing is scheduled")
            fastest = min(backoff_s(client, i) for i in range(ROUNDS))
            assumed, nominated = nominated_for(client)
    if (fastest < BACKOFF_S) != on:
        yield "%s: waits for %.2f s at least" % (GATES[0], fastest)
    if not assumed or nominated != ("n" if on else ""):
        yield "%s: is nominated for '%s'%s" % (GATES[1], nominated, "" if assumed else " and binds no volume")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", default="1.36", choices=play.RELEASES, help="of Kubernetes")
    parser.add_argument("--kube-scheduler", help="default: what controlplane build makes for that release")
    parser.add_argument("--berth", default="build/bin/berth")
    args = parser.parse_args()
    kube_scheduler = args.kube_scheduler or play.kube_scheduler_of(args.release)
    # The small API server has no DeviceTaintRules.
    others = [] if args.release == "1.36" else ["DRADeviceTaintRules=false"]
    failed = 0
    for program, words in (([kube_scheduler], ["--leader-elect=false"]),
                           ([args.berth, "run"], ["--emulated-version=" + args.release])):
        for on in (True, False):
            gates = ["%s=%s" % (name, str(on).lower()) for name in GATES] + others
            wrong = list(seen(program, words + ["--feature-gates=" + ",".join(gates)], on))
            failed += bool(wrong)
            for line in wrong:
                print("FAILED %s %s: %s" % (os.path.basename(program[0]), "on" if on else "off", line))
    print("%d passed, %d failed" % (4 - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    os.chdir(TOP)
    sys.exit(main())
