"""A recording without the names of its cluster: none of them is in its bytes, and it is decided the same."""
import ctypes
import json
import os
import re
import signal
import subprocess
import time

import checks
import cluster
import kube
import objects
from cases.record import BERTH, planted, record, replay
from suite import case

NOT_UPSTREAM = "only berth records what it does"
SPACES = ("payments-prod", "acmeworks", "target")  # the last one is a word that berth says itself
NODES = ["falcon-eu-%d" % i for i in range(4)] + ["oakhurst.dc.acmeworks.example", "falcon", "zeppelin7", "10.17.3.44"]
TEAM = "fraud-squad"
TIER = "acmeworks.example/tier"
IMAGE = "registry.acmeworks.example/fraud/scorer:2.1"
# None of these may be in the file, in capitals or not.
TELLING = ("payments", "acmeworks", "falcon", "oakhurst", "zeppelin", "fraud", "squad", "scorer", "ledger", "checkout", "alice", "wonderland",
           "s3cret", "hunter", "10.17.3.44", "bigspender", "quantum-lane", "halcyon", "brightwater", "marigold", "gwendolyn",
           "lighthouse", "stonebridge", "periwinkle")


def pieces(path):
    """All members of a recording, unpacked: name to bytes."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    with open(path, "rb") as file:
        data = file.read()
    checks.expect(data.startswith(b"BERTHSYS1\n"), "no recording")
    at, found = 10, {}
    while data[at:at + 1] == b"M":
        name = data[at + 2:at + 2 + data[at + 1]].decode()
        at += 2 + data[at + 1]
        found[name] = b""
        while True:
            size = int.from_bytes(data[at:at + 4], "big")
            at += 4
            if size == 0:
                break
            room = ctypes.create_string_buffer(1 << 20)
            got = library.ZSTD_decompress(room, ctypes.c_size_t(1 << 20), data[at:at + size], ctypes.c_size_t(size))
            checks.expect(got <= 1 << 20, "a piece of %s is no zstd frame", name)
            found[name] += room.raw[:got]
            at += size
    checks.expect(data[at:at + 1] == b"E", "it is not whole")
    return found


def nothing_is_told(path, more=()):
    """Of every telling name not a byte sequence is in the file, nor its name in base64's plain form."""
    for name, data in pieces(path).items():
        for telling in TELLING + tuple(more):
            checks.expect(telling.lower().encode() not in data.lower(), "%s is in %s", telling, name)
            checks.expect(not re.search(telling, name, re.I), "%s is a member's name", name)


def told(path):
    """What berth tap --read says of it."""
    done = subprocess.run([BERTH, "tap", "--read", path, "-o", "json"], capture_output=True, text=True, timeout=60, check=False)
    checks.expect(done.returncode == 0 and not done.stderr, "it cannot be read: %s", done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def decisions(frames):
    """(what, namespace, pod, node) in their order."""
    found = []
    for each in frames:
        body = each["body"]
        if each["from"] == "scheduler" and each["message"] == "bind":
            found.append(("bind", body["namespace_name"], body["name"], body["node_name"]))
        elif each["from"] == "scheduler" and each["message"] in ("preempt", "pod_failed"):
            found.append((each["message"], body["pod"]["namespace_name"], body["pod"]["name"], body.get("node_name", "")))
    return found


def one_to_one(before, after):
    """Names of one kind and theirs then: never two for one, in the same order."""
    pairs = dict(zip(before, after))
    checks.expect(len(before) == len(after) and [pairs[name] for name in before] == list(after), "not always the same: %s", pairs)
    checks.expect(len(set(pairs.values())) == len(pairs), "two became one: %s", pairs)
    checks.expect([pairs[name] for name in sorted(pairs)] == sorted(pairs.values()), "another order: %s", pairs)
    return pairs


def same_decisions(path, redacted):
    was, now = decisions(told(path)), decisions(told(redacted))
    checks.expect([each[0] for each in was] == [each[0] for each in now] and len(was) > 12, "decisions: %s, %s", was, now)
    checks.expect({"bind", "preempt", "pod_failed"} == {each[0] for each in was}, "not all kinds of decisions: %s", was)
    maps = [one_to_one([each[i] for each in was], [each[i] for each in now]) for i in (1, 2, 3)]
    checks.expect(all(was != now for was, now in maps[0].items()) and
                  all(was != now for was, now in maps[2].items() if was), "these stayed: %s", maps)
    return was, now


def volume(name, source):
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": dict(source, **{
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "persistentVolumeReclaimPolicy": "Retain"})}


def corners(world):
    """Names where the scheduler looks at none: JSON brings them all the same."""
    for body in (volume("ledger-nfs", {"nfs": {"server": "halcyon", "path": "/exports/brightwater"}}),
                 volume("ledger-host", {"hostPath": {"path": "/srv/marigold"}}),
                 volume("ledger-ceph", {"cephfs": {"monitors": ["10.17.3.44"], "user": "gwendolyn", "path": "/marigold"}})):
        world.admin.create("/api/v1/persistentvolumes", body)
    for space in SPACES:
        world.admin.create("/api/v1/namespaces/%s/serviceaccounts" % space, {
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "stonebridge"}})


def people(name, space, requests, **spec):
    body = objects.pod(name, requests, terminationGracePeriodSeconds=0, subdomain="lighthouse", serviceAccountName="stonebridge",
                       volumes=[{"name": "logs", "hostPath": {"path": "/var/log/marigold"}}], **spec)
    body["metadata"].update(namespace=space, labels={"team": TEAM, TIER: "bigspender", "app": name.split("-")[0]},
                            annotations={"owner": "alice@wonderland.example", "kubectl.kubernetes.io/last-applied": "{\"hunter\":\"s3cret\"}"})
    container = body["spec"]["containers"][0]
    container.update(image=IMAGE, command=["/opt/scorer", "--token=hunter2"], env=[{"name": "ALICE_PASSWORD", "value": "s3cret"}])
    return body


def create(world, body):
    world.admin.create("/api/v1/namespaces/%s/pods" % body["metadata"]["namespace"], body)


def furnish(world):
    for space in SPACES:
        world.admin.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace",
                                                  "metadata": {"name": space, "labels": {"cost": "quantum-lane"}}})
    world.admin.create("/apis/scheduling.k8s.io/v1/priorityclasses", {
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "ledger-first"}, "value": 1000,
        "description": "What periwinkle runs for the ledger"})
    for i, name in enumerate(NODES):
        taints = [{"key": "acmeworks.example/dedicated", "value": TEAM, "effect": "NoSchedule"}] if name == "zeppelin7" else None
        body = objects.node(name, {"cpu": "4", "memory": "%dGi" % (8 + i)},
                            {"topology.kubernetes.io/zone": "oakhurst-%d" % (i % 2), "acmeworks.example/rack": "r%d" % i}, taints)
        body["status"]["images"] = [{"names": [IMAGE], "sizeBytes": 300000000}] if i == 2 else []
        world.admin.create(kube.NODES, body)


def business(world):
    """Pods that choose by names, in three namespaces, until one has no room and one takes it."""
    apart = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": {
        "labelSelector": {"matchLabels": {"team": TEAM}}, "topologyKey": "topology.kubernetes.io/zone",
        "namespaces": list(SPACES)}}]}}
    spread = [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway",
               "labelSelector": {"matchLabels": {TIER: "bigspender"}}}]
    tolerate = [{"key": "acmeworks.example/dedicated", "operator": "Equal", "value": TEAM, "effect": "NoSchedule"}]
    # First, since by chance two of the others go to its node, and then it has no room.
    create(world, people("checkout-full", "target", {"cpu": "3"}, nodeSelector={"acmeworks.example/rack": "r6"}, tolerations=tolerate))
    checks.wait_until(60, lambda: "checkout-full" in bound(world), "checkout-full has no node")
    for i in range(12):
        create(world, people("checkout-7c9f4-x%dz" % i, SPACES[i % 3], {"cpu": "700m", "memory": "1Gi"},
                             affinity=apart, topologySpreadConstraints=spread, tolerations=tolerate if i % 2 else []))
    create(world, people("ledger-0", "payments-prod", {"cpu": "1"}, nodeSelector={"acmeworks.example/rack": "r4"}))
    create(world, people("ledger-1", "target", {"cpu": "1"}, nodeSelector={"acmeworks.example/rack": "nowhere-falcon"}))
    checks.wait_until(60, lambda: len(bound(world)) == 14, "not all pods have a node")
    create(world, people("ledger-2", "acmeworks", {"cpu": "3500m"}, nodeSelector={"acmeworks.example/rack": "r6"},
                         tolerations=tolerate, priorityClassName="ledger-first"))


def pods_of(world, space):
    return world.admin.get("/api/v1/namespaces/%s/pods" % space)["items"]


def bound(world):
    return {each["metadata"]["name"] for space in SPACES for each in pods_of(world, space) if each["spec"].get("nodeName")}


def refused(world, path):
    """Programs that decide otherwise do not show that the same is decided: there is no file then."""
    out = os.path.join(world.directory, "refused")
    done = subprocess.run([BERTH, "record", "--read", path, "--redact", "-o", out, "--programs", planted(world.directory)],
                          capture_output=True, text=True, timeout=120, check=False)
    checks.expect(done.returncode == 1 and "is not made: " in done.stderr and "not decided as it was even" in done.stderr, "it said: %s", done)
    checks.expect(not [name for name in os.listdir(world.directory) if name.startswith("refused")], "there is a file")


def explained(path, space, name):
    done = subprocess.run([BERTH, "explain", space + "/" + name, "--read", path, "-o", "json"], capture_output=True, text=True,
                          timeout=120, check=False)
    checks.expect(done.returncode == 0, "berth explain ended with %s: %s", done.returncode, done.stderr)
    return json.loads(done.stdout)


def recorded(world, scheduler, path, *flags):
    command = record(scheduler, path, *flags)
    checks.expect("recording for" in command.stdout.readline(), "it does not begin")
    return command


@case("record-redact", not_upstream=NOT_UPSTREAM)
def redacted(world):
    """A cluster with telling names is recorded: no byte of the redacted file tells one, and played back, read and explained it
    is the same day under other names, which keep their order. Where that cannot be shown, there is no file."""
    furnish(world)
    corners(world)
    scheduler = world.scheduler(backoff=1)
    checks.wait_until(60, lambda: os.path.exists(os.path.join(scheduler.rundir, "control")), "berth run does not start")
    path, shared = os.path.join(world.directory, "day"), os.path.join(world.directory, "shared")
    command = recorded(world, scheduler, path)
    business(world)
    checks.wait_until(60, lambda: "ledger-2" in bound(world), "ledger-2 has no node")
    time.sleep(1.5)
    command.send_signal(signal.SIGINT)
    said, _ = command.communicate(timeout=60)
    checks.expect(command.returncode == 0, "it ended with %s: %s", command.returncode, said)
    done = subprocess.run([BERTH, "record", "--read", path, "--redact", "-o", shared], capture_output=True, text=True, timeout=120,
                          check=False)
    checks.expect(done.returncode == 0 and re.search(r"shared: redacted: \d+ names are others, 6 lives come out identical", done.stdout),
                  "it ended with %s: %s", done.returncode, done.stdout + done.stderr)
    checks.expect(os.stat(shared).st_mode & 0o777 == 0o600, "others may read it")
    print("    record-redact: %s" % done.stdout.strip(), flush=True)
    nothing_is_told(shared, (os.path.basename(world.directory),))
    status, found = replay(shared)
    checks.expect(status == 0 and found["identical"] and found["lives"] == 6, "not identical: %s", found)
    was, now = same_decisions(path, shared)
    placed = next(i for i, each in enumerate(was) if each[0] == "bind" and each[2] == "ledger-0")
    last = next(i for i, each in enumerate(was) if each[2] == "ledger-1")
    checks.expect(explained(shared, *now[placed][1:3])["node"] == now[placed][3], "it is elsewhere: %s", now[placed])
    lost = explained(shared, *now[last][1:3])
    checks.expect(not lost.get("node") and lost["now"][0]["result"] != "scheduled", "of the pod without a node: %s", lost)
    refused(world, path)
    checks.expect(scheduler.terminate() == 0, "berth did not end well")
    scheduler = world.scheduler(flags=["--kube-api-content-type=application/json"])
    checks.wait_until(60, lambda: os.path.exists(os.path.join(scheduler.rundir, "control")), "berth run does not start")
    live(world, scheduler)
    checks.expect(scheduler.terminate() == 0, "berth did not end well")


def live(world, scheduler):
    """Recorded and redacted in one, from JSON: nothing else stays."""
    path = os.path.join(world.directory, "live")
    command = recorded(world, scheduler, path, "--redact")
    create(world, people("checkout-live", "acmeworks", {"cpu": "100m"}))
    checks.wait_until(30, lambda: "checkout-live" in bound(world), "it has no node")
    command.send_signal(signal.SIGINT)
    said, _ = command.communicate(timeout=60)
    checks.expect(command.returncode == 0 and "come out identical" in said, "it ended with %s: %s", command.returncode, said)
    checks.expect([name for name in os.listdir(world.directory) if name.startswith("live")] == ["live"], "something stays")
    nothing_is_told(path)
