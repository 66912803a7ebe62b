"""Groups of pods start together or not at all: with room and without, whoever comes late or dies."""
import os
import random
import signal
import time

import checks
import gang
import kube
import objects
from cases.kill import kill, pid_of
from suite import case

NO_GROUPS = "kube-scheduler has no groups without the Coscheduling plugin or its alpha gates"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
# Long enough to see that nothing happens where nothing may.
QUIET_SECONDS = 1


def pool(world, name, count, resources=None):
    """Nodes that only pods with this pool's selector go to."""
    world.admin.create_many(kube.NODES, [
        objects.node("%s-%d" % (name, i), resources or {"cpu": "4", "memory": "32Gi"}, {"pool": name})
        for i in range(count)])


def within(name):
    return {"nodeSelector": {"pool": name}}


def start(world, **options):
    gang.install(world.admin, world.options.api == "small")
    return gang.scheduler(world, **options)


def quiet(pods, group):
    """Nobody of a group gets a node for a while: a wait to see that nothing happens."""
    pods.wait(QUIET_SECONDS, lambda items: gang.placed(items, group))
    gang.none_placed(pods, group)


# ---- room for enough of them, or not ------------------------------------------------------------------


def told_of_group(world, scheduler, api, name, nodes):
    """One event for the group names a member, the rule and the number of nodes, or says what the condition of
    a group in the tree says; status lists it."""
    found = checks.wait_until(30, lambda: gang.group_events(world.admin, name), "no event of group " + name)
    texts = {event["message"] for event in found}
    in_tree = api.group == gang.IN_TREE.group
    checks.expect(all(text == "pod group is unschedulable" if in_tree else
                      name + "-" in text and "Insufficient cpu" in text and "%d node" % nodes in text
                      for text in texts), "the group's event says: %s", checks.some(texts))
    # One for the group and not one for each member; a second when a member came between two attempts.
    checks.expect(len(found) <= 2, "%d events for one group: %s", len(found), checks.some(texts))
    checks.expect("group:default/" + name in gang.status_lines(scheduler).get("queue", {}), "berth status does not list group %s", name)


def room_for_some(world, api, scheduler, recording):
    """minMember 4 of 6 members of 3 CPU, on 4, 5 and 3 nodes of 4 CPU."""
    pods = world.pods()
    minimum_of = {}
    for room in (4, 5, 3):
        name = "of%d" % room
        pool(world, name, room)
        gang.create(world, api, name, 4, 6, {"cpu": "3"}, **within(name))
        minimum_of.update({"%s-%d" % (name, i): (name, 4) for i in range(6)})
    gang.wait_placed(pods, "of4", 4)
    gang.wait_placed(pods, "of5", 5)
    gang.wait_told(pods, "of3", 6)
    quiet(pods, "of3")
    told_of_group(world, scheduler, api, "of3", 3)
    # What the group could not use is everybody's.
    world.admin.create_many(kube.PODS, [objects.pod("plain%d" % i, {"cpu": "3"}, **within("of3"))
                                        for i in range(3)])
    checks.expect(pods.wait(10, lambda items: all(items.get("plain%d" % i, ("", ""))[1] for i in range(3))),
                  "plain pods did not get the room that the group could not use")
    for i in range(3):
        world.admin.delete(kube.PODS + "/plain%d" % i)
    quiet(pods, "of3")
    world.admin.create(kube.NODES, objects.node("of3-3", {"cpu": "4", "memory": "32Gi"}, {"pool": "of3"}))
    gang.wait_placed(pods, "of3", 4)
    # Late members join as single pods when there is room.
    world.admin.create(kube.NODES, objects.node("of4-4", {"cpu": "4", "memory": "32Gi"}, {"pool": "of4"}))
    gang.wait_placed(pods, "of4", 5)
    complaints = gang.partly_bound(recording.records(), minimum_of)
    checks.expect(not complaints, "on the bus: %s", checks.some(complaints))
    gang.nothing_leaked(world, scheduler)


def quorum(world, api):
    scheduler = start(world)
    objects.small_nodes(world.admin, 1, {"cpu": "1", "memory": "1Gi"})  # for the recording's probes
    room_for_some(world, api, scheduler, gang.Recording(world, scheduler))


@case("gang-quorum", not_upstream=NO_GROUPS)
def gang_quorum(world):
    """At least minMember run where there is room for so many; where not, nobody holds anything."""
    quorum(world, gang.X)


@case("gang-quorum-sigs", not_upstream=NO_GROUPS)
def gang_quorum_sigs(world):
    """The same with the older API group and its label."""
    quorum(world, gang.SIGS)


@case("gang-quorum-in-tree", not_upstream=NO_GROUPS,
      not_small="the small API server has no PodGroups of scheduling.k8s.io")
def gang_quorum_in_tree(world):
    """The same with scheduling.k8s.io, where the API server has it; and the group's condition."""
    api, gates = gang.in_tree_cluster(world)
    scheduler = gang.scheduler(world, flags=gates)
    objects.small_nodes(world.admin, 1, {"cpu": "1", "memory": "1Gi"})
    recording = gang.Recording(world, scheduler)
    groups = world.mirror(gang.groups_path(api), lambda item: {
        each["type"]: (each["status"], each["reason"], each["message"])
        for each in item.get("status", {}).get("conditions", [])})
    room_for_some(world, api, scheduler, recording)
    checks.expect(groups.wait(30, lambda items: all(
        items[name].get("PodGroupScheduled", ("",))[:2] == ("True", "Scheduled")
        for name in ("of3", "of4", "of5"))), "not every group has PodGroupScheduled: %s", groups.items)


def conditions_in_tree(item):
    """The last word: observedGeneration, which is left out where a group has no generation, as in 1.36."""
    return {each["type"]: (each["status"], each["reason"], each["message"], each.get("observedGeneration"))
            for each in item.get("status", {}).get("conditions", [])}


@case("gang-conditions-in-tree", not_small="the small API server has no PodGroups of scheduling.k8s.io")
def gang_conditions_in_tree(world):
    """What kube-scheduler says of groups in the tree: of a basic one that it is scheduled, or is not and
    then is; of a gang that is not complete nothing; of one that has no place that it has none."""
    api, gates = gang.in_tree_cluster(world)
    objects.small_nodes(world.admin, 1, {"cpu": "4", "memory": "8Gi"})
    gang.scheduler(world, flags=gates)
    groups = world.mirror(gang.groups_path(api), conditions_in_tree)
    pods = world.pods()
    basic = {"schedulingPolicy": {"basic": {}}}
    for name, size, spec in (("basic", 1, basic), ("later", 1, basic), ("few", 3, {}), ("large", 2, {})):
        world.admin.create(gang.groups_path(api), gang.group(api, name, size, **spec))
    for name, count, cpu in (("basic", 2, "100m"), ("later", 1, "4"), ("few", 2, "100m"), ("large", 2, "64")):
        world.admin.create_many(kube.PODS, gang.members(api, name, count, {"cpu": cpu}))
    gang.wait_placed(pods, "basic", 2)

    def scheduled(name, status, reason, words):
        def said(items):
            found = items.get(name, {}).get("PodGroupScheduled", ("", "", "", 0))
            return found[:2] == (status, reason) and found[2].startswith(words) and found[3] is None

        checks.expect(groups.wait(30, said), "the condition of %s is %s, not %s, %s", name,
                      groups.items.get(name), status, reason)

    scheduled("basic", "True", "Scheduled", "")
    scheduled("later", "False", "Unschedulable", "pod group is unschedulable")
    scheduled("large", "False", "Unschedulable", "pod group is unschedulable")
    world.admin.create(kube.NODES, objects.node("more", {"cpu": "4", "memory": "8Gi"}))
    gang.wait_placed(pods, "later", 1)
    scheduled("later", "True", "Scheduled", "")
    world.admin.create_many(kube.PODS, gang.members(api, "basic", 1, {"cpu": "64"}, first=2))
    pods.wait(30, lambda items: items.get("basic-2", ("", "", None))[2])
    scheduled("basic", "True", "Scheduled", "")
    checks.expect(not groups.items["few"], "an incomplete gang has conditions: %s", groups.items["few"])


# ---- many groups, little room -------------------------------------------------------------------------


@case("gang-jobs", not_upstream=NO_GROUPS, timed=True)
def gang_jobs(world):
    """Jobs of 1 to 8 GPUs on 2 nodes of 8, their pods created in turns: no deadlock, no waste."""
    seconds, count = 5, 20 if world.options.quick else 60
    chance = random.Random(60)
    sizes = [chance.randint(1, 8) for _ in range(count)]
    world.admin.create_many(kube.NODES, [
        objects.node("gpu-%d" % i, {"cpu": "64", "memory": "512Gi", "example.com/gpu": "8"})
        for i in range(2)])
    scheduler = start(world)
    recording = gang.Recording(world, scheduler)
    kubelet = gang.Kubelet(world, seconds)
    world.admin.create_many(gang.groups_path(gang.X), [
        gang.group(gang.X, "job%d" % i, size) for i, size in enumerate(sizes)])
    turns = [gang.member(gang.X, "job%d" % i, "job%d-%d" % (i, turn), {"cpu": "1", "example.com/gpu": "1"})
             for turn in range(8) for i, size in enumerate(sizes) if turn < size]
    begun = time.monotonic()
    world.admin.create_many(kube.PODS, turns)
    least, exact = gang.rounds(sizes, 16)
    ideal = least * seconds
    took = kubelet.wait(len(turns), 3 * ideal) - begun
    print("    %d jobs, %d GPUs: %.1f s, ideal %d s (%s): ratio %.2f" % (
        count, sum(sizes), took, ideal, "exact" if exact else "lower bound", took / ideal), flush=True)
    complaints = gang.partly_bound(recording.records(), {
        "job%d-%d" % (i, turn): ("job%d" % i, size) for i, size in enumerate(sizes) for turn in range(size)})
    checks.expect(not complaints, "on the bus: %s", checks.some(complaints))
    checks.expect(took <= 1.2 * ideal, "the jobs took %.1f s, ideal are %d s", took, ideal)
    groups = world.mirror(gang.groups_path(gang.X), lambda item: item.get("status", {}))
    checks.expect(groups.wait(30, lambda items: all(s.get("phase") == "Finished" for s in items.values())),
                  "groups are not Finished: %s", checks.some(
                      "%s %s" % pair for pair in groups.items.items() if pair[1].get("phase") != "Finished"))
    gang.nothing_leaked(world, scheduler)


# ---- what people read ----------------------------------------------------------------------------------


AFTER = "%s, PodGroup default/%s gets rejected due to Pod %s is unschedulable even after PostFilter"


@case("gang-texts", not_upstream=NO_GROUPS, coscheduling=True)
def gang_texts(world):
    """Conditions of members that wait for others, to the letter; the plugin itself passes this."""
    world.admin.create_many(kube.NODES, [objects.node("node-%d" % i, {"cpu": "4", "memory": "8Gi"})
                                         for i in range(3)])
    pods = world.pods()
    start(world)
    gates = [{"name": "example.com/wait"}]
    for name, size, spec in (("few", 4, {}), ("gated", 4, {}), ("much", 2, {"minResources": {"cpu": "100"}})):
        world.admin.create(gang.groups_path(gang.X), gang.group(gang.X, name, size, **spec))
    world.admin.create_many(kube.PODS, gang.members(gang.X, "few", 3, {"cpu": "1"}))
    world.admin.create_many(kube.PODS, gang.members(gang.X, "gated", 1, {"cpu": "1"}, schedulingGates=gates)
                            + gang.members(gang.X, "gated", 3, {"cpu": "1"}, first=1))
    world.admin.create_many(kube.PODS, gang.members(gang.X, "much", 2, {"cpu": "1"}))
    gap = "resource gap: map[cpu:{{88000 -3} {<nil>}  DecimalSI}]."
    expected = {"much-%d" % i: gap for i in range(2)}
    for i in range(3):
        expected["few-%d" % i] = ("pre-filter pod few-%d cannot find enough sibling pods, current pods number: 3, "
                                  "minMember of group: 4." % i)
        expected["gated-%d" % (i + 1)] = ("pre-filter pod gated-%d cannot proceed due to gated pods in the same "
                                          "PodGroup." % (i + 1))
    for name, text in sorted(expected.items()):
        wanted = ("Unschedulable",
                  "0/3 nodes are available: " + text + " " + AFTER % (
                      objects.no_victims(world.options.release, 3), name.rsplit("-", 1)[0], name))
        pods.wait(30, lambda items: name in items and items[name][2] == wanted)
        checks.expect(pods.items[name][2] == wanted, "%s: the condition is %s, not %s", name,
                      pods.items[name][2], wanted)


# ---- late, gated, gone --------------------------------------------------------------------------------


@case("gang-late-group", not_upstream=NO_GROUPS)
def gang_late_group(world):
    """The PodGroup comes after its pods."""
    pool(world, "late", 4)
    pods = world.pods()
    scheduler = start(world)
    world.admin.create_many(kube.PODS, gang.members(gang.X, "late", 4, {"cpu": "3"}))
    gang.wait_told(pods, "late", 4, "PodGroup not found")
    quiet(pods, "late")
    world.admin.create(gang.groups_path(gang.X), gang.group(gang.X, "late", 4))
    gang.wait_placed(pods, "late", 4)
    gang.nothing_leaked(world, scheduler)


@case("gang-slow-pods", not_upstream=NO_GROUPS)
def gang_slow_pods(world):
    """Pods that come one after the other, one gated, one deleted while the group waits for room."""
    pool(world, "slow", 3)
    pods = world.pods()
    scheduler = start(world)
    world.admin.create(gang.groups_path(gang.X), gang.group(gang.X, "slow", 4))
    for pod in gang.members(gang.X, "slow", 3, {"cpu": "3"}):
        world.admin.create(kube.PODS, pod)
        time.sleep(0.3)  # the pace of a slow controller
    gang.wait_told(pods, "slow", 3, "cannot find enough sibling pods, current pods number: 3, minMember of group: 4")
    world.admin.create(kube.PODS, gang.member(gang.X, "slow", "slow-3", {"cpu": "3"},
                                              schedulingGates=[{"name": "example.com/wait"}]))
    gang.wait_told(pods, "slow", 3, "cannot proceed due to gated pods in the same PodGroup")
    quiet(pods, "slow")
    world.admin.request("PATCH", kube.PODS + "/slow-3", {"spec": {"schedulingGates": None}},
                        content="application/merge-patch+json")
    gang.wait_told(pods, "slow", 1, "Insufficient cpu")
    world.admin.delete(kube.PODS + "/slow-1")
    pool(world, "slow-more", 1)
    # There is room for three now, and for four; but the group has three members.
    quiet(pods, "slow")
    world.admin.create(kube.PODS, gang.member(gang.X, "slow", "slow-4", {"cpu": "3"}))
    gang.wait_placed(pods, "slow", 4)
    gang.nothing_leaked(world, scheduler)


# ---- room is made -------------------------------------------------------------------------------------


def preemptible(world, name, count):
    """A pool that is full of pods of priority 0."""
    pool(world, name, count)
    world.admin.create_many(kube.PODS, [dict(objects.pod("low-%s-%d" % (name, i), {"cpu": "3"}, **within(name)))
                                        for i in range(count)])


@case("gang-preemption", not_upstream=NO_GROUPS)
def gang_preemption(world):
    """Victims are chosen so that all of minMember fits, or nobody is evicted."""
    world.admin.create(CLASSES, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                 "metadata": {"name": "high"}, "value": 1000})
    pods = world.pods()
    scheduler = start(world)
    preemptible(world, "three", 3)
    preemptible(world, "five", 5)
    checks.all_bound(pods, 8, 30)
    for name in ("three", "five"):
        gang.create(world, gang.X, name, 4, 4, {"cpu": "3"}, priorityClassName="high", **within(name))
    gang.wait_told(pods, "three", 4)
    finish_victims(world, pods, lambda: len(gang.placed(pods.items, "five")) == 4)
    quiet(pods, "three")
    left = [name for name in pods.items if name.startswith("low-")]
    checks.expect(sum(1 for name in left if name.startswith("low-three")) == 3,
                  "pods were evicted for a group that cannot fit: only %s are left", left)
    checks.expect(sum(1 for name in left if name.startswith("low-five")) == 1,
                  "for 4 members 4 pods had to go, but %s are left", left)
    gang.nothing_leaked(world, scheduler)


def finish_victims(world, pods, done, seconds=30):
    """Play the kubelet for pods that are being deleted, until `done`."""
    deadline = time.monotonic() + seconds
    while not done():
        checks.expect(time.monotonic() < deadline, "the group did not get its victims' room in %g s: %s",
                      seconds, checks.some(pods.items.items(), 20))
        for pod in world.admin.list(kube.PODS)[0]:
            if pod["metadata"].get("deletionTimestamp"):
                try:
                    world.admin.delete(kube.PODS + "/" + pod["metadata"]["name"])
                except kube.ApiError as error:
                    if error.status != 404:
                        raise
        time.sleep(0.2)


@case("gang-nominations", not_upstream=NO_GROUPS)
def gang_nominations(world):
    """A group whose victims do not go gives its nominations back after its schedule timeout."""
    world.admin.create(CLASSES, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                 "metadata": {"name": "high"}, "value": 1000})
    pods = world.pods()
    scheduler = start(world)
    pool(world, "stuck", 4)
    world.admin.create_many(kube.PODS, [stubborn("low-%d" % i) for i in range(4)])
    checks.all_bound(pods, 4, 30)
    nominated = world.mirror(kube.PODS, lambda item: item.get("status", {}).get("nominatedNodeName", ""))
    begun = time.monotonic()
    gang.create(world, gang.X, "wants", 4, 4, {"cpu": "3"}, {"scheduleTimeoutSeconds": 5},
                priorityClassName="high")

    def count(items):
        return sum(1 for name, node in items.items() if name.startswith("wants-") and node)

    checks.expect(nominated.wait(30, lambda items: count(items) == 4), "not all members were nominated")
    checks.expect(nominated.wait(30, lambda items: count(items) == 0), "the nominations were not given back")
    checks.expect(time.monotonic() - begun >= 5, "the nominations were given back before the timeout")
    quiet(pods, "wants")
    for i in range(4):
        world.admin.request("PATCH", kube.PODS + "/low-%d" % i, {"metadata": {"finalizers": None}},
                            content="application/merge-patch+json")
    finish_victims(world, pods, lambda: len(gang.placed(pods.items, "wants")) == 4)
    gang.nothing_leaked(world, scheduler)


def stubborn(name):
    """A pod that does not go when it is deleted."""
    pod = objects.pod(name, {"cpu": "3"})
    pod["metadata"]["finalizers"] = ["example.com/stays"]
    return pod


# ---- somebody dies ------------------------------------------------------------------------------------


@case("gang-kill-waiting", not_upstream=NO_GROUPS)
def gang_kill_waiting(world):
    """Scheduler, queue, watcher and binder are killed while a group waits; it waits on, then runs."""
    pods = world.pods()
    scheduler = start(world)
    for number, victim in enumerate(("scheduler", "queue", "watcher", "binder")):
        name = "waits%d" % number
        pool(world, name, 3)
        gang.create(world, gang.X, name, 4, 4, {"cpu": "3"}, **within(name))
        gang.wait_told(pods, name, 4)
        kill(scheduler, victim)
        quiet(pods, name)
        world.admin.create(kube.NODES, objects.node(name + "-3", {"cpu": "4", "memory": "32Gi"}, {"pool": name}))
        gang.wait_placed(pods, name, 4, 60)
    gang.nothing_leaked(world, scheduler)


def kill_halfway(world, pods, scheduler, victim, name, size):
    """Kill a process when some of a group's binds are done; how many were bound when it was gone."""
    if world.options.api == "small":
        # Half of the requests to bind are never answered, and never carried out.
        world.cluster.faults({"resource": "pods/binding", "hang": True, "probability": 0.5})
    pid = pid_of(scheduler, victim)
    gang.create(world, gang.X, name, size, size, {"cpu": "10m"})
    gang.wait_placed(pods, name, size // 4 if world.options.api == "small" else 1, 60)
    os.kill(pid, signal.SIGKILL)
    if world.options.api == "small":
        world.cluster.faults()
    bound = sum(1 for pod in world.admin.list(kube.PODS)[0]
                if pod["spec"].get("nodeName") and pod["metadata"]["name"].startswith(name + "-"))
    pid_of(scheduler, victim, other_than=pid)
    gang.wait_placed(pods, name, size, 60)
    print("    %s killed when %d of %d were bound" % (victim, bound, size), flush=True)
    return 0 < bound < size


@case("gang-kill-halfway", not_upstream=NO_GROUPS)
def gang_kill_halfway(world):
    """Binder or scheduler are killed when half of a group's binds are done: it becomes whole."""
    world.admin.create_many(kube.NODES, [
        objects.node("node-%d" % i, {"cpu": "64", "memory": "512Gi", "pods": "1000"}) for i in range(4)])
    pods = world.pods()
    scheduler = start(world)
    for victim in ("binder", "scheduler"):
        # The real API server is not to be slowed, so it takes a group that is long under way.
        sizes = (40,) if world.options.api == "small" else (200, 400, 800)
        hit = any(kill_halfway(world, pods, scheduler, victim, "%s%d" % (victim, size), size)
                  for size in sizes)
        checks.expect(hit, "no kill of the %s fell between two binds of a group", victim)
    gang.nothing_leaked(world, scheduler)
    names = {uid: name for name, (uid, _, _) in pods.items.items()}
    checks.one_binding_each(world.log, names, names)


# ---- beside others ------------------------------------------------------------------------------------


def latencies(world, times, prefix, count, pause):
    """Create plain pods at a steady pace; how long each took from being seen to being seen bound."""
    for pod in objects.small_pods(count, prefix=prefix):
        pod["spec"]["schedulerName"] = "plain"
        world.admin.create(kube.PODS, pod)
        time.sleep(pause)
    checks.expect(times.pods.wait(60, lambda _: len(times.waits(prefix)) == count),
                  "only %d of %d plain pods were bound", len(times.waits(prefix)), count)
    return times.waits(prefix)


@case("gang-beside-plain", not_upstream=NO_GROUPS, timed=True)
def gang_beside_plain(world):
    """Two profiles, groups and plain pods: waiting groups do not make plain pods wait."""
    from cases.starvation import Churn, Times
    count = 100 if world.options.quick else 300
    names = ["node-%04d" % i for i in range(100)]
    objects.small_nodes(world.admin, len(names))
    profiles = [{"schedulerName": "default-scheduler"},
                {"schedulerName": "plain", "plugins": {
                    "multiPoint": {"disabled": [{"name": "Coscheduling"}]}}}]
    scheduler = start(world, profiles=profiles)
    times = Times(world)
    churn = Churn(world.admin, names)
    try:
        latencies(world, times, "probe", 1, 0)
        alone = latencies(world, times, "alone", count, 0.02)
        for number in range(40):
            name = "waits%d" % number
            # Each could use what the nodes have, but for one member too many.
            gang.create(world, gang.X, name, 8, 8, {"cpu": "3"}, nodeSelector={
                "kubernetes.io/hostname": "node-%04d" % number})
        for number in range(40):
            gang.wait_told(times.pods, "waits%d" % number, 8, seconds=60)
        beside = latencies(world, times, "beside", count, 0.02)
    finally:
        churn.stop()
    middle, ratio = count // 2, beside[count // 2] / alone[count // 2]
    print("    plain pods alone: median %.0f ms, 99 %% %.0f ms; beside 40 waiting groups of 8: %.0f ms, "
          "%.0f ms: ratio %.2f" % (1000 * alone[middle], 1000 * alone[count * 99 // 100], 1000 * beside[middle],
                                   1000 * beside[count * 99 // 100], ratio), flush=True)
    # A handful of milliseconds more are the machine's as soon as anybody's.
    checks.expect(beside[middle] <= 2 * alone[middle] + 0.02, "plain pods wait %.2f times as long", ratio)
    for number in range(40):
        gang.none_placed(times.pods, "waits%d" % number)
    checks.expect(scheduler.alive(), "the scheduler has ended")
