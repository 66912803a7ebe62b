"""What people read when a pod does not fit: the condition and the event, to the letter.

The expected texts are kube-scheduler's of the release; the suite checks them against the real one with
--scheduler kube-scheduler.
"""
import checks
import kube
import objects
from suite import case


def impossible(world, pods, pod, message):
    """A pod that fits nowhere gets this condition, and an event that says the same."""
    name = pod["metadata"]["name"]
    world.admin.create(kube.PODS, pod)
    told = pods.wait(60, lambda items: name in items and items[name][2])
    checks.expect(told, "%s: no PodScheduled condition within 60 s", name)
    uid, node, failed = pods.items[name]
    checks.expect(failed == ("Unschedulable", message), "%s: the condition is %s, not %s", name,
                  failed, message)
    event = checks.wait_until(60, lambda: [e for e in checks.events(world.admin, "FailedScheduling")
                                           if e["involvedObject"]["uid"] == uid],
                              "%s: no FailedScheduling event" % name)[0]
    checks.expect((event["type"], event["message"]) == ("Warning", message),
                  "%s: the event is %s %s", name, event["type"], event["message"])
    sender = event.get("reportingComponent") or event.get("source", {}).get("component")
    checks.expect((sender, event.get("action")) == ("default-scheduler", "Scheduling"),
                  "%s: the event comes from %s with action %s", name, sender, event.get("action"))


@case("texts-of-failure")
def texts_of_failure(world):
    """Too large, no such label, and a mixture of reasons over different nodes."""
    taint = {"key": "dedicated", "value": "db", "effect": "NoSchedule"}
    room = {"cpu": "4", "memory": "8Gi"}
    world.admin.create_many(kube.NODES, [
        objects.node("plain", room), objects.node("tainted", room, taints=[taint]),
        objects.node("cordoned", dict(room, cpu="8"), unschedulable=True)])
    pods = world.pods()
    world.scheduler()
    tail = " " + objects.no_victims(world.options.release, 3)
    impossible(world, pods, objects.pod("selector", {"cpu": "1"}, nodeSelector={"disk": "tape"}),
               "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 "
               "node(s) had untolerated taint(s), 1 node(s) were unschedulable." + tail)
    impossible(world, pods, objects.pod("large", {"cpu": "6"}),
               "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s), "
               "1 node(s) were unschedulable." + tail)
    impossible(world, pods, objects.pod("larger", {"cpu": "40", "memory": "1Ti"},
                                        tolerations=[{"operator": "Exists"}]),
               "0/3 nodes are available: 3 Insufficient cpu, 3 Insufficient memory." + tail)


@case("texts-without-nodes")
def texts_without_nodes(world):
    """No node at all, and then one: the pod is tried again and bound."""
    pods = world.pods()
    world.scheduler()
    world.admin.create(kube.PODS, objects.pod("early", {"cpu": "1"}))
    told = pods.wait(60, lambda items: "early" in items and items["early"][2])
    checks.expect(told, "no PodScheduled condition within 60 s")
    checks.expect(pods.items["early"][2][1] == "no nodes available to schedule pods",
                  "the condition says: %s", pods.items["early"][2])
    objects.small_nodes(world.admin, 1)
    checks.all_bound(pods, 1, 60)
