"""PodGroups that are not read yet, or may not be: their pods wait, and are never scheduled one by one."""
import checks
import gang
import kube
import objects
from suite import case

NO_GROUPS = "kube-scheduler has no groups without the Coscheduling plugin"
GROUPS, SIZE = 71, 4
ROOM = 30  # groups, and half of another one
# Where a right is missing it is tried again every half a minute.
AGAIN_SECONDS = 60
USER = "system:kube-scheduler"


def room(world):
    """For so many groups and half of one more: who schedules one by one binds half a group."""
    world.admin.create_many(kube.NODES, [
        objects.node("node-%d" % i, {"cpu": str(SIZE if i < ROOM else SIZE // 2), "memory": "32Gi"}, {"pool": "gangs"})
        for i in range(ROOM + 1)] + [objects.node("probes", {"cpu": "1", "memory": "1Gi"})])


def waiting_pods(world):
    """Each group's pods apart from each other, as many jobs make them at a time."""
    world.admin.create_many(kube.PODS, [
        gang.member(gang.X, "g%d" % number, "g%d-%d" % (number, i), {"cpu": "1"}, nodeSelector={"pool": "gangs"})
        for i in range(SIZE) for number in range(GROUPS)])


def waiting_groups(world):
    world.admin.create_many(gang.groups_path(gang.X),
                            [gang.group(gang.X, "g%d" % number, SIZE) for number in range(GROUPS)])


def seen(pods):
    """The mirror's items as they are now; the mirror itself changes meanwhile."""
    copies = []
    pods.wait(1, lambda items: copies.append(dict(items)) or True)
    return copies[-1]


def sizes(items):
    """How many of each group are on nodes; groups of which nobody is are left out."""
    found = [len(gang.placed(items, "g%d" % number)) for number in range(GROUPS)]
    return [count for count in found if count]


def wait_whole(pods, seconds=60):
    """All groups that there is room for are whole, and no other has a place."""
    pods.wait(seconds, lambda items: sum(sizes(items)) >= ROOM * SIZE)
    found = sizes(seen(pods))
    checks.expect(found == [SIZE] * ROOM, "of %d groups, %d have members on nodes, of %d each: %d groups of %s",
                  GROUPS, ROOM, SIZE, len(found), sorted(found))


def nobody_is_partial(pods):
    partial = [count for count in sizes(seen(pods)) if count != SIZE]
    checks.expect(not partial, "%d of %d groups are on nodes in part: %s", len(partial), GROUPS, partial)


@case("gang-start", not_upstream=NO_GROUPS)
def gang_start(world):
    """The scheduler starts while 71 groups of 4 wait."""
    gang.install(world.admin, world.options.api == "small")
    room(world)
    waiting_groups(world)
    waiting_pods(world)
    pods = world.pods()
    gang.scheduler(world)
    wait_whole(pods)
    nobody_is_partial(pods)


@case("gang-definition-with-pods", not_upstream=NO_GROUPS)
def gang_definition_with_pods(world):
    """The kind is defined while the scheduler runs, and 71 groups and their pods come with it."""
    room(world)
    pods = world.pods()
    scheduler = gang.scheduler(world)
    recording = gang.Recording(world, scheduler)
    gang.install(world.admin, world.options.api == "small")
    waiting_groups(world)
    waiting_pods(world)
    wait_whole(pods)
    nobody_is_partial(pods)
    minimum_of = {"g%d-%d" % (n, i): ("g%d" % n, SIZE) for n in range(GROUPS) for i in range(SIZE)}
    complaints = gang.partly_bound(recording.records(), minimum_of)
    checks.expect(not complaints, "on the bus: %s", checks.some(complaints))


@case("gang-rights", not_upstream=NO_GROUPS)
def gang_rights(world):
    """PodGroups are served and may not be read: their pods wait and say which right is missing."""
    small = world.options.api == "small"
    gang.install(world.admin, small, granted=False)
    if small:
        world.cluster.faults({"user": USER, "verb": "list", "resource": "podgroups", "status": 403})
    room(world)
    waiting_groups(world)
    waiting_pods(world)
    pods = world.pods()
    gang.scheduler(world)
    for number in (0, GROUPS - 1):
        gang.wait_told(pods, "g%d" % number, SIZE, "cannot be read: not allowed to list podgroups.scheduling.x-k8s.io")
    checks.expect(not sizes(seen(pods)), "pods were bound without their groups: %s", sizes(seen(pods)))
    if small:
        world.cluster.faults()
    else:
        gang.grant(world.admin)
    wait_whole(pods, AGAIN_SECONDS)
    nobody_is_partial(pods)
