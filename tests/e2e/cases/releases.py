"""The API server becomes another Kubernetes release while the scheduler works: it is followed, and nothing is lost."""
import os
import subprocess

import checks
import cluster
import gang
import kube
import objects
from feeder import Feeder
from suite import case

FOLLOWED_SECONDS = 60
BERTH = os.path.join(cluster.TOP, "build", "bin", "berth")


def said(scheduler, process="scheduler"):
    """What a process says of itself, by key; nothing while it does not answer."""
    done = subprocess.run([BERTH, "status", "-v", "--run-dir", scheduler.rundir], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, timeout=20, check=False)
    found, at = {}, None
    for line in done.stdout.splitlines():
        words = line.split(None, 1)
        if words and not line[:1].isspace():
            at = words[0]
        elif len(words) == 2 and at == process:
            found[words[0]] = words[1].strip()
    return found


def follows(scheduler, release):
    checks.wait_until(FOLLOWED_SECONDS, lambda: said(scheduler).get("release") == release,
                      "not decided as %s within %d s" % (release, FOLLOWED_SECONDS))


def lonely_member(where, api, name):
    """A member of a group of two, whose other one is not there."""
    where.admin.create(gang.groups_path(api), gang.group(api, name, 2))
    where.admin.create(kube.PODS, gang.member(api, name, name + "-0", {"cpu": "100m"}))


@case("release-followed", not_upstream="it does not follow the API server's version")
def release_is_followed(world):
    """1.36 becomes 1.37 while pods come, its connections break, and it becomes 1.36 again. With the gate
    GenericWorkload alone groups in the tree are nothing in 1.36, and start as a whole in 1.37."""
    if world.options.api != "small":
        return print("skipped release-followed: the real API server stays what it is")
    where = world.new_cluster("changing", cluster.BUILT_IN_GANGS, "1.36")
    objects.small_nodes(where.admin, 20)
    pods = world.pods(where)
    scheduler = world.scheduler(where=where, flags=("--feature-gates=GenericWorkload=true",))
    total = 600
    feeder = Feeder(where.admin, total)
    feeder.allow(total // 4)
    follows(scheduler, "1.36")
    checks.expect(said(scheduler)["api_server"] == "v1.36.3", "%s", said(scheduler))
    lonely_member(where, gang.IN_TREE, "nothing")
    checks.expect(pods.wait(60, lambda items: items.get("nothing-0", ("", ""))[1]), "a group waits in 1.36")
    before = scheduler.pids()

    feeder.allow(total // 2)
    where.interrupt()
    where.become("1.37")
    where.resume()
    feeder.allow(total * 3 // 4)
    follows(scheduler, "1.37")
    checks.expect(said(scheduler, "watcher").get("api_server") == "v1.37.3", "%s", said(scheduler, "watcher"))
    lonely_member(where, gang.IN_TREE_BY["1.37"], "whole")
    where.admin.create(kube.PODS, objects.pod("plain", {"cpu": "100m"}))
    checks.expect(pods.wait(60, lambda items: items.get("plain", ("", ""))[1]), "a pod behind it is not bound")
    checks.expect(not pods.items["whole-0"][1], "the member of a group of two does not wait in 1.37")
    where.admin.create(kube.PODS, gang.member(gang.IN_TREE, "whole", "whole-1", {"cpu": "100m"}))
    checks.expect(pods.wait(60, lambda items: all(items.get(name, ("", ""))[1] for name in ("whole-0", "whole-1"))),
                  "the group does not start as a whole in 1.37")
    checks.wait_until(30, lambda: condition(where, "whole").get("status") == "True", "its condition is not written")

    where.become("1.38")  # nobody knows that one yet
    checks.wait_until(FOLLOWED_SECONDS, lambda: said(scheduler).get("release_note") ==
                      "the API server is 1.38, taken as 1.37", "1.38 is not told of")
    where.become("1.36")
    follows(scheduler, "1.36")
    feeder.finish()
    checks.all_bound(pods, total + 4, 120)
    names = {uid: name for name, (uid, _, _) in pods.items.items()}
    checks.one_binding_each(where.log, names, names)
    checks.no_overcommit(where.admin)
    checks.expect(scheduler.pids() == before, "somebody was restarted: %s, %s", scheduler.pids(), before)


def condition(where, name):
    group = where.admin.get(gang.groups_path(gang.IN_TREE_BY["1.37"]) + "/" + name)
    return {"observedGeneration": None, **next(
        (each for each in group.get("status", {}).get("conditions", []) if each["type"] == "PodGroupInitiallyScheduled"), {})}


@case("release-groups", not_upstream="the small API server lacks what it needs")
def groups_of_the_newer_release(world):
    """Groups in the tree on 1.37: read and written as v1beta1, in kube-scheduler's words."""
    if world.options.api != "small":
        return print("skipped release-groups: the real API server stays what it is")
    where = world.new_cluster("newer", cluster.BUILT_IN_GANGS)
    where.become("1.37")
    where.admin.create(kube.NODES, objects.node("one", {"cpu": "4", "memory": "8Gi"}))
    pods, api = world.pods(where), gang.IN_TREE_BY["1.37"]
    world.scheduler(where=where, flags=("--feature-gates=GenericWorkload=true",))
    basic = {"schedulingPolicy": {"basic": {}}}
    for name, size, spec in (("basic", 1, basic), ("few", 3, {}), ("large", 2, {}), ("urgent", 1, {"priority": 7})):
        where.admin.create(gang.groups_path(api), gang.group(api, name, size, **spec))
    for name, count, cpu in (("basic", 2, "100m"), ("few", 2, "100m"), ("large", 2, "64"), ("urgent", 1, "100m")):
        where.admin.create_many(kube.PODS, gang.members(api, name, count, {"cpu": cpu}))
    wanted = {
        "basic": ("True", "Scheduled", ""),
        "large": ("False", "Unschedulable", "minCount (2) cannot be satisfied: 0 scheduled, 1 remaining, pod group "
                  "preemption: No preemption victims found for incoming preemptor"),
        "urgent": ("False", "SchedulerError", "all pods in a single pod group should have the same priority as the "
                   "pod group's priority, got 0 and 7")}

    def told():
        return {name: tuple(condition(where, name).get(key, "") for key in ("status", "reason", "message"))
                for name in wanted}

    checks.wait_until(60, lambda: told() == wanted, "%s" % told())
    checks.expect(condition(where, "few").get("status") is None, "a gang that is not complete has a condition")
    checks.expect(pods.items["large-0"][1] == "" and pods.items["few-0"][1] == "", "a part of a group is bound")


@case("release-emulated", not_upstream="it takes no release but its own")
def release_is_given(world):
    """--emulated-version: decided as that release from the start, whatever the API server is."""
    if world.options.api != "small":
        return print("skipped release-emulated: the real API server stays what it is")
    where = world.new_cluster("older", release="1.36")
    pods = world.pods(where)
    scheduler = world.scheduler(where=where, flags=("--emulated-version=1.37",))
    objects.small_nodes(where.admin, 3)
    where.admin.create_many(kube.PODS, objects.small_pods(20))
    checks.all_bound(pods, 20, 60)
    told = said(scheduler)
    checks.expect((told.get("release"), told.get("api_server"), told.get("release_note")) ==
                  ("1.37", "v1.36.3", "the API server is 1.36, taken as 1.37"), "%s", told)
