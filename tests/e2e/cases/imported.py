"""What happened elsewhere as a recording: a published trace, and the audit log of a cluster where pods went the same way."""
import csv
import json
import os
import subprocess
import time

import checks
import kube
import objects
from cases.record import BERTH, NOT_UPSTREAM, pod, replay
from suite import case

SECONDS = 60
POLICY = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  verbs: [create, update, patch, delete]
  resources: [{group: "", resources: [nodes, nodes/status, pods, pods/status, pods/binding]}]
- level: None
"""


def berth(*words, status=0):
    done = subprocess.run([BERTH, *words], capture_output=True, text=True, timeout=SECONDS, check=False)
    checks.expect(done.returncode == status, "berth %s ends with %s: %s%s", " ".join(words), done.returncode, done.stdout, done.stderr)
    return done.stdout if status == 0 else done.stderr


def binds(path):
    """Where pods went in a recording: UID to node."""
    told = [json.loads(line) for line in berth("tap", "--read", path, "-o", "json", "--message", "bind").splitlines()]
    return {each["body"]["uid"]: each["body"]["node_name"] for each in told}


def identical(path, decisions):
    status, said = replay(path)
    checks.expect(status == 0 and said["identical"] and said["decisions"] == decisions, "played back: %s", said)


def table(path, heads, rows, encoding="utf-8"):
    with open(path, "w", encoding=encoding, newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([heads.split(","), *rows])


NODES = "sn,cpu_milli,memory_mib,gpu,model"
PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time"


def trace(directory):
    """Three nodes, of which two have GPUs; pods that come and go, one that waits for another's GPU, and one for nothing."""
    nodes, pods = os.path.join(directory, "nodes.csv"), os.path.join(directory, "pods.csv")
    table(nodes, NODES, [["plain", 8000, 16384, 0, ""], ["one", 8000, 16384, 1, "T4"], ["two", 8000, 16384, 2, "V100M16"]])
    rows = [["small-%d" % i, 500, 512, 0, 0, "", "LS", "Running", 10 * i, 5000 + i, 10 * i] for i in range(8)]
    rows += [["t4", 1000, 1024, 1, 1000, "T4", "LS", "Running", 100, 900, 100],
             ["next-t4", 1000, 1024, 1, 500, "T4", "LS", "Running", 200, 5000, 900],
             ["both", 1000, 1024, 2, 1000, "V100M16|V100M32", "LS", "Running", 300, "", 300],
             ["never", 1000, 1024, 1, 1000, "A10", "BE", "Pending", 400, "", ""]]
    table(pods, PODS, rows, "utf-8-sig")  # as spreadsheets write it
    return nodes, pods


@case("import-openb", NOT_UPSTREAM)
def openb(world):
    """A trace in openb's columns: decided by the scheduler's core, played back identical, and with another configuration."""
    nodes, pods = trace(world.directory)
    path = os.path.join(world.directory, "day")
    said = berth("import", "openb", "--nodes", nodes, "--pods", pods, "-o", path, "--begin", "2024-05-01T00:00:00Z")
    checks.expect("12 pods in" in said and "11 placed, 1 left without a node" in said, "it says: %s", said)
    identical(path, 11)
    placed = binds(path)
    checks.expect(placed["t4"] == placed["next-t4"] == "one" and placed["both"] == "two" and "never" not in placed, "pods went to %s", placed)
    spread = {placed["small-%d" % i] for i in range(8)}
    checks.expect(len(spread) == 3, "small pods went to %s", spread)
    whole = [json.loads(line) for line in berth("follow", "--read", path, "--at", "2024-05-01T00:10:00Z").splitlines()][1]
    reasons = {d["name"]: d.get("message", "") for d in whole["decisions"]}
    checks.expect("1 Insufficient alibabacloud.com/gpu-milli" in reasons["next-t4"] and "3 node(s) didn't match" in reasons["never"],
                  "after ten minutes it was said: %s", reasons)
    config = os.path.join(world.directory, "most.yaml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(objects.configuration("x", profiles=[{"schedulerName": "default-scheduler", "pluginConfig": [
            {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}}}]}]))
    other = path + ".most"
    berth("import", "openb", "--nodes", nodes, "--pods", pods, "-o", other, "--config", config)
    identical(other, 11)
    packed = binds(other)
    checks.expect(len({packed["small-%d" % i] for i in range(8)}) == 1, "filled up, small pods went to %s", packed)
    refused(world, nodes, pods)
    ends(world)


def answered(kind, body):
    """A line of an audit log: it was created."""
    return json.dumps({"stage": "ResponseComplete", "verb": "create", "stageTimestamp": "2026-01-01T00:00:00.000000Z",
                       "objectRef": {"resource": kind, "namespace": "default", "name": body["metadata"]["name"]},
                       "responseStatus": {"code": 201}, "responseObject": body}) + "\n"


def ends(world):
    """Of pods that nobody here can place a day comes to its end: another scheduler's, and one for which an extender is to be asked."""
    log, config, path = (os.path.join(world.directory, name) for name in ("strange.log", "extender.yaml", "strange"))
    bodies = [dict(objects.pod(name, {"cpu": "100m"}, schedulerName=scheduler), kind="Pod")
              for name, scheduler in (("theirs", "volcano"), ("ours", "default-scheduler"))]
    for i, body in enumerate(bodies):
        body["metadata"].update(namespace="default", uid="uid-%d" % i, resourceVersion=str(10 + i), creationTimestamp="2026-01-01T00:00:00Z")
    node = objects.node("n", {"cpu": "4", "memory": "8Gi", "pods": "110"})
    node["metadata"].update(uid="uid-n", resourceVersion="5")
    with open(log, "w", encoding="utf-8") as file:
        file.writelines([answered("nodes", dict(node, kind="Node"))] + [answered("pods", body) for body in bodies])
    with open(config, "w", encoding="utf-8") as file:
        file.write(objects.configuration("x", extenders=[{"urlPrefix": "http://127.0.0.1:1/", "filterVerb": "filter"}]))
    for more, placed in ([], 1), (["--config", config], 0):
        said = berth("import", "audit", log, "-o", path, *more)
        checks.expect("2 pods in" in said and "%d placed, %d left without" % (placed, 2 - placed) in said, "it says: %s", said)
        checks.expect(os.path.getsize(path) < 1 << 20, "it has %d bytes", os.path.getsize(path))
        identical(path, placed)
        os.unlink(path)


def refused(world, nodes, pods):
    """What cannot be read is named, and leaves no file."""
    path, bad = os.path.join(world.directory, "bad.day"), os.path.join(world.directory, "bad.csv")
    for text, wanted in (("sn,cpu_milli,memory_mib,gpu,model\nn,8x,1,0,\n", "bad.csv: line 2: not a number: 8x"),
                         ("sn,cpu_milli,memory_mib,gpu,model\nn,1e12,1,0,\n", "bad.csv: line 2: not from 0 to 1000000000: 1e12"),
                         ("sn,cpu,memory_mib,gpu,model\nn,8,1,0,\n", "bad.csv: line 1: there is no column cpu_milli"),
                         ("\n\nsn,cpu,memory_mib,gpu,model\n\nn,8,1,0,\n", "bad.csv: line 3: there is no column cpu_milli"),
                         ("", "bad.csv: line 0: there is no line with names of columns"),
                         ("sn,cpu_milli,memory_mib,gpu,model\n,8,1,0,\n", "bad.csv: line 2: ")):
        with open(bad, "w", encoding="utf-8") as file:
            file.write(text)
        said = berth("import", "openb", "--nodes", bad, "--pods", pods, "-o", path, status=1)
        checks.expect(wanted in said and not os.path.exists(path), "of %r it says: %s", text, said)
    for words in (["openb", "--nodes", world.directory, "--pods", pods], ["openb", "--nodes", nodes, "--pods", world.directory],
                  ["audit", world.directory], ["audit", nodes, "--cluster", world.directory]):
        said = berth("import", *words, "-o", path, status=1)
        checks.expect(said == "berth import: %s: Is a directory\n" % world.directory and not os.path.exists(path), "of a directory it says: %s", said)
    said = berth("import", "openb", "--nodes", nodes, "--pods", pods, "-o", path, "--config", bad, status=1)
    checks.expect(not os.path.exists(path), "a configuration that is none leaves a file: %s", said)
    for words in (["openb", "-o", path], ["audit", "-o", path], ["audit", bad], ["audit", bad, "--nodes", nodes, "-o", path]):
        berth("import", *words, status=1)
    with open(bad, "w", encoding="utf-8") as file:
        file.write(json.dumps({"stage": "ResponseComplete", "verb": "create", "objectRef": {"resource": "pods", "namespace": "default", "name": "p"},
                               "responseStatus": {"code": 201}, "stageTimestamp": "2026-01-01T00:00:00.000000Z"}) + "\n")
    said = berth("import", "audit", bad, "-o", path, status=1)
    checks.expect("RequestResponse" in said and not os.path.exists(path), "a log without objects: %s", said)
    with open(bad, "w", encoding="utf-8"):
        pass
    said = berth("import", "audit", bad, "-o", path, status=1)
    checks.expect("bad.csv: nothing in it is about nodes or pods" in said and not os.path.exists(path), "an empty log: %s", said)
    with open(bad, "w", encoding="utf-8") as file:
        for year in ("2000", "2200"):
            file.write(json.dumps({"stage": "ResponseComplete", "verb": "create", "objectRef": {"resource": "nodes", "name": "n" + year},
                                   "responseStatus": {"code": 201}, "stageTimestamp": year + "-01-01T00:00:00.000000Z",
                                   "responseObject": objects.node("n" + year, {"cpu": "4"})}) + "\n")
    said = berth("import", "audit", bad, "-o", path, status=1)
    checks.expect("bad.csv: it covers more than a hundred years" in said and not os.path.exists(path), "a log of two hundred years: %s", said)


# ---- an audit log ----


class Elsewhere:
    """A cluster whose audit log tells nodes and pods, and a berth there, which takes the first of equal nodes."""

    def __init__(self, world):
        policy = os.path.join(world.directory, "policy.yaml")
        with open(policy, "w", encoding="utf-8") as file:
            file.write(POLICY)
        self.where = world.new_cluster("elsewhere", ["--audit-policy-file=" + policy])
        self.admin, self.pods = self.where.admin, world.pods(self.where)
        self.log = os.path.join(self.where.directory, "audit.log")
        self.before = os.path.join(world.directory, "before.json")
        self.went = {}  # UID to node, of all that were ever bound

    def node(self, name, cpu):
        self.admin.create_many(kube.NODES, [objects.node(name, {"cpu": cpu, "memory": "16Gi", "pods": "110"})])

    def dump(self):
        """As kubectl get -o json has it; what comes behind it is in the log as well."""
        nodes = self.admin.list(kube.NODES)[0]
        with open(self.before, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "v1", "kind": "List", "items": [dict(n, apiVersion="v1", kind="Node") for n in nodes]}, file)

    def settle(self, name, place):
        """It has a node (1), or was told that it waits (2)."""
        checks.expect(self.pods.wait(SECONDS, lambda items: name in items and items[name][place]), "%s: %s", name, self.pods.items.get(name))
        self.went.update({uid: node for uid, node, _ in self.pods.items.values() if node})

    def create(self, name, cpu, place=1):
        self.admin.create(kube.PODS, pod(name, {"cpu": cpu}))
        self.settle(name, place)

    def delete(self, name):
        self.admin.delete(kube.PODS + "/" + name)
        checks.expect(self.pods.wait(SECONDS, lambda items: name not in items), "%s does not go", name)


@case("import-audit", NOT_UPSTREAM, not_small="its audit log tells no objects")
def audit(world):
    """From the log alone pods go where they went: one after the other, one that waits for another's room, one for a node."""
    elsewhere = Elsewhere(world)
    elsewhere.node("a", "4")
    elsewhere.node("b", "8")
    elsewhere.dump()
    world.scheduler(where=elsewhere.where, flags=["--tie-break=first"])
    for i in range(6):
        elsewhere.create("small-%d" % i, "%dm" % (300 + 90 * i))
    elsewhere.create("large", "6")
    elsewhere.create("waits", "5500m", place=2)
    time.sleep(1.5)  # its backoff is over: it is tried as soon as there is room
    elsewhere.delete("large")
    elsewhere.settle("waits", 1)
    elsewhere.create("huge", "12", place=2)
    time.sleep(1.5)
    elsewhere.node("c", "16")
    elsewhere.settle("huge", 1)
    elsewhere.delete("small-0")
    path = os.path.join(world.directory, "day")
    said = berth("import", "audit", elsewhere.log, "--cluster", elsewhere.before, "-o", path)
    checks.expect("9 pods in" in said and "9 placed, 0 left" in said, "it says: %s", said)
    identical(path, 9)
    checks.expect(binds(path) == elsewhere.went, "pods went to %s, imported to %s", elsewhere.went, binds(path))
