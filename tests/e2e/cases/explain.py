"""What an operator is told who asks why a pod is where it is."""
import json
import os
import subprocess

import checks
import cluster
import gang
import kube
import objects
from suite import case

ROOM = {"cpu": "4", "memory": "8Gi"}
TAINT = {"key": "dedicated", "value": "db", "effect": "NoSchedule"}


def asked(subject, *words, program="berth"):
    """(exit status, what it prints, what it complains of)."""
    done = subprocess.run([os.path.join(cluster.TOP, "build/bin", program), "explain", *words, "--run-dir", subject.rundir], timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def explained(subject, pod, *words):
    """The explanation as an object."""
    status, out, complaint = asked(subject, pod, "-o", "json", *words)
    checks.expect(status == 0, "berth explain %s ended with %s: %s", pod, status, complaint)
    return json.loads(out)


def nodes_of(explanation):
    """Node to (first filter that turns it away, its reasons), or to its total."""
    return {node["name"]: node.get("total", (node["filter"].get("plugin"), node["filter"].get("reasons")))
            for node in explanation["now"][0].get("nodes", [])}


def look_at_bound(world, pods, subject):
    """Its decision is told, and is what would be decided again."""
    world.admin.create(kube.PODS, objects.pod("small", {"cpu": "1"}))
    checks.all_bound(pods, 1, 60)
    node = pods.items["small"][1]
    said = explained(subject, "small")
    decisions = said["scheduler"]["decisions"]
    checks.expect(said["node"] == node and len(decisions) == 1 and decisions[0]["node"] == node
                  and decisions[0]["placed"], "small is on %s, and it is said: %s", node, decisions)
    now = said["now"][0]
    checks.expect(now["result"] == "scheduled" and node in now["bestNodes"], "small is on %s, the best are %s",
                  node, now.get("bestNodes"))
    checks.expect(nodes_of(said)[node] == decisions[0]["score"], "a score of %s is told as %s",
                  nodes_of(said)[node], decisions[0]["score"])
    status, text, _ = asked(subject, "pod", "small", "-n", "default", program="kubectl-berth")
    checks.expect(status == 0 and "on node " + node in text and "placed on " + node in text, "it says: %s", text)


def look_at_pending(world, pods, subject):
    """The counts are the condition's, the nodes those that are meant."""
    world.admin.create(kube.PODS, objects.pod("large", {"cpu": "6"}))
    checks.expect(pods.wait(60, lambda items: "large" in items and items["large"][2]), "large was not told of")
    message = pods.items["large"][2][1]
    said = explained(subject, "large")
    now = said["now"][0]
    checks.expect(now["message"] == message and said["scheduler"]["decisions"][0]["message"] == message,
                  "the condition is %s, and it is said: %s", message, now["message"])
    checks.expect(nodes_of(said) == {
        "plain-1": ("NodeResourcesFit", ["Insufficient cpu"]), "plain-2": ("NodeResourcesFit", ["Insufficient cpu"]),
        "tainted": ("TaintToleration", ["node(s) had untolerated taint(s)"]),
        "cordoned": ("NodeUnschedulable", ["node(s) were unschedulable"])}, "it is said: %s", nodes_of(said))
    checks.expect(said["queue"]["place"] == "unschedulable" and said["queue"]["attempts"] == 1 and any(
        line.startswith("NodeResourcesFit: ") for line in said["wokenBy"]), "it is said: %s", said["queue"])
    status, text, _ = asked(subject, "large", "--nodes")
    checks.expect(status == 0 and "plain-1, plain-2" in text, "it says: %s", text)


def look_at_others(world, pods, subject):
    """Pods that nobody decides, and names that nobody has."""
    world.admin.create(kube.PODS, objects.pod("gated", schedulingGates=[{"name": "example.com/later"}]))
    world.admin.create(kube.PODS, objects.pod("foreign", schedulerName="somebody-else"))
    checks.expect(pods.wait(60, lambda items: {"gated", "foreign"} <= items.keys()), "they are not there")

    def gated():
        return explained(subject, "gated").get("queue", {}).get("place") == "gated"
    checks.wait_until(30, gated, "the queue does not say that it is gated")
    now = explained(subject, "gated")["now"][0]
    checks.expect(now["result"] == "gated" and now["preEnqueue"]["plugin"] == "SchedulingGates", "it is said: %s", now)
    said = explained(subject, "foreign")
    checks.expect(not said["ours"] and "now" not in said, "it is said: %s", said)
    status, _, complaint = asked(subject, "nobody")
    checks.expect(status == 1 and "no pod default/nobody is known" in complaint, "it says: %s", complaint)
    status, _, complaint = asked(subject, "large", "--node", "nowhere")
    checks.expect(status == 1 and "there is no node nowhere" in complaint, "it says: %s", complaint)


def look_at_gone(world, pods, subject):
    """Of a pod that is gone its decision is left."""
    node = pods.items["small"][1]
    world.admin.delete(kube.PODS + "/small")
    checks.expect(pods.wait(60, lambda items: "small" not in items), "small is still there")

    def gone():
        return not explained(subject, "small")["exists"]
    checks.wait_until(30, gone, "small is said to be there")
    said = explained(subject, "small")
    checks.expect(said["scheduler"]["decisions"][0]["node"] == node, "it is said: %s", said)


def needs_of(text):
    """What it says is needed, by rule."""
    needs, rule = {}, None
    for line in text.partition("\nNode ")[2].splitlines()[1:]:
        if line.strip().startswith("needs: "):
            needs.setdefault(rule, []).append(line.strip()[len("needs: "):])
        elif line.strip():
            rule = line.split()[0]
    return needs


@case("explain", not_upstream="berth explain is berth's")
def explain(world):
    """Bound, pending, gated, foreign, gone and unknown pods."""
    world.admin.create_many(kube.NODES, [
        objects.node("plain-1", ROOM), objects.node("plain-2", ROOM), objects.node("tainted", ROOM, taints=[TAINT]),
        objects.node("cordoned", dict(ROOM, cpu="8"), unschedulable=True)])
    pods = world.pods()
    subject = world.scheduler()
    look_at_bound(world, pods, subject)
    look_at_pending(world, pods, subject)
    look_at_others(world, pods, subject)
    look_at_gone(world, pods, subject)


@case("explain-needs", not_upstream="berth explain is berth's")
def explain_needs(world):
    """What is said to be needed is done, and the pod goes there."""
    world.admin.create_many(kube.NODES, [
        objects.node("small", ROOM), objects.node("tainted", dict(ROOM, cpu="8"), taints=[TAINT])])
    pods = world.pods()
    subject = world.scheduler()
    world.admin.create(kube.PODS, objects.pod("large", {"cpu": "6"}, nodeSelector={"disk": "ssd"}))
    checks.expect(pods.wait(60, lambda items: "large" in items and items["large"][2]), "large was not told of")
    status, text, _ = asked(subject, "large", "--node", "tainted")
    needs = needs_of(text)
    listed = explained(subject, "large", "--node", "tainted")["needs"]
    checks.expect({rule: [what] for rule, what in listed.items()} == needs, "it says %s, and as JSON %s", needs, listed)
    checks.expect(status == 0 and set(needs) == {"TaintToleration", "NodeAffinity"}, "it says: %s", text)
    node = world.admin.get(kube.NODES + "/tainted")
    node["metadata"]["labels"]["disk"] = "ssd"
    node["spec"].pop("taints")
    world.admin.put(kube.NODES + "/tainted", node)
    checks.all_bound(pods, 1, 60)
    checks.expect(pods.items["large"][1] == "tainted", "it is on %s", pods.items["large"][1])


@case("explain-group", not_upstream="berth explain is berth's")
def explain_group(world):
    """A member of a group that has room for two of the three that it needs."""
    gang.install(world.admin, world.options.api == "small")
    objects.small_nodes(world.admin, 2, ROOM)
    pods = world.pods()
    subject = world.scheduler()
    world.admin.create(gang.groups_path(gang.X), gang.group(gang.X, "trio", 3))
    world.admin.create_many(kube.PODS, gang.members(gang.X, "trio", 3, {"cpu": "3"}))
    checks.expect(pods.wait(60, lambda items: "trio-0" in items and items["trio-0"][2]), "trio-0 was not told of")
    said = explained(subject, "trio-0")
    checks.expect(said["now"][0]["result"] == "scheduled", "alone it is said to be %s", said["now"][0]["result"])
    group = said["podGroup"]
    checks.expect((group["minCount"], group["onNodes"], sorted(group["others"])) == (3, 0, ["trio-1", "trio-2"]),
                  "it is said: %s", group)
    results = [step["result"] for step in said["groupNow"]]
    checks.expect(results == ["scheduled", "scheduled", "unschedulable", "unschedulable"], "as one it is said: %s",
                  said["groupNow"])
    status, text, _ = asked(subject, "trio-0")
    checks.expect(status == 0 and "PodGroup:     trio, needs 3: 0 on nodes, 2 others wait: " in text, "it says: %s", text)


@case("nodes", not_upstream="berth nodes is berth's")
def nodes_left(world):
    """What is said to be on a node is what was bound to it."""
    world.admin.create_many(kube.NODES, [objects.node("large", {"cpu": "8", "memory": "16Gi"}, {"zone": "a"}),
                                         objects.node("small", ROOM, unschedulable=True)])
    pods = world.pods()
    subject = world.scheduler()
    world.admin.create_many(kube.PODS, [objects.pod(name, {"cpu": "1500m", "memory": "1Gi"}) for name in ("a", "b")])
    checks.all_bound(pods, 2, 60)

    def listed(*words):
        done = subprocess.run([os.path.join(cluster.TOP, "build/bin/berth"), "nodes", "--run-dir", subject.rundir, *words],
                              timeout=60, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout

    def told():
        return json.loads(listed("-o", "json"))[0]["pods"] == 2
    checks.wait_until(30, told, "not both pods are shown")
    large, small = json.loads(listed("-o", "json"))
    checks.expect(large["resources"]["cpu"] == {"used": 3000, "allocatable": 8000}, "it is said: %s", large)
    checks.expect(large["resources"]["memory"]["used"] == 2 << 30 and small["unschedulable"], "it is said: %s", small)
    rows = [line.split() for line in listed("--sort", "cpu").splitlines()]
    checks.expect([row[0] for row in rows] == ["NAME", "large", "small"] and rows[1][3:6] == ["2/110", "3/8", "2/16Gi"],
                  "it says: %s", rows)
    checks.expect(rows[2][1] == "Ready,SchedulingDisabled", "it says: %s", rows)
    checks.expect(len(listed("-l", "zone=a").splitlines()) == 2, "the label is not looked at")
