"""PodGroups as objects: kinds that come while the scheduler runs, and the status that it keeps."""
import time

import checks
import gang
import kube
import objects
from suite import case

NO_GROUPS = "kube-scheduler has no groups without the Coscheduling plugin, and keeps no status with it"
# Kinds that are not served are looked for every half a minute.
APPEARS_SECONDS = 60


def status_of(world, api, name):
    return world.admin.get("%s/%s" % (gang.groups_path(api), name)).get("status", {})


def wait_status(world, api, name, seconds=30, **wanted):
    """The group's status comes to have these members."""
    def there():
        status = status_of(world, api, name)
        return all(status.get(key) == value for key, value in wanted.items())

    try:
        checks.wait_until(seconds, there, "the status of %s is not %s" % (name, wanted))
    except checks.Failed as failed:
        raise checks.Failed("%s: %s" % (failed, status_of(world, api, name)))


def end_pods(world, names, phase):
    for name in names:
        world.admin.request("PATCH", "%s/%s/status" % (kube.PODS, name), {"status": {"phase": phase}},
                            content="application/strategic-merge-patch+json")


@case("gang-definition", not_upstream=NO_GROUPS)
def gang_definition(world):
    """The kind is defined while the scheduler runs; until then a label is only a label."""
    objects.small_nodes(world.admin, 3)
    scheduler = gang.scheduler(world)
    pods = world.pods()
    world.admin.create(kube.PODS, gang.member(gang.X, "nobody", "nobody-0", {"cpu": "100m"}))
    gang.wait_placed(pods, "nobody", 1)
    gang.install(world.admin, world.options.api == "small")
    world.admin.create(gang.groups_path(gang.X), gang.group(gang.X, "later", 3))
    wait_status(world, gang.X, "later", APPEARS_SECONDS, phase="Pending")
    world.admin.create_many(kube.PODS, gang.members(gang.X, "later", 2, {"cpu": "100m"}))
    gang.wait_told(pods, "later", 2, "cannot find enough sibling pods")
    gang.none_placed(pods, "later")
    world.admin.create(kube.PODS, gang.member(gang.X, "later", "later-2", {"cpu": "100m"}))
    gang.wait_placed(pods, "later", 3)
    checks.expect(scheduler.alive(), "it ended with status %s", scheduler.process.poll())


def go_through(world, api, name, older):
    """A group from its first pod to its last, as its status tells."""
    pods = world.pods()
    world.admin.create(gang.groups_path(api), gang.group(api, name, 2))
    wait_status(world, api, name, phase="Pending")
    owner = {"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "job", "uid": "1-2"}]}
    for body in gang.members(api, name, 3, {"cpu": "100m"}):
        body["metadata"].update(owner)
        world.admin.create(kube.PODS, body)
    gang.wait_placed(pods, name, 3)
    wait_status(world, api, name, phase="Scheduled" if older else "Scheduling", occupiedBy="default/job")
    if older:
        wait_status(world, api, name, scheduled=3)
    checks.expect(status_of(world, api, name).get("scheduleStartTime"), "no start time of %s", name)
    names = ["%s-%d" % (name, i) for i in range(3)]
    end_pods(world, names, "Running")
    wait_status(world, api, name, phase="Running", running=3)
    end_pods(world, names[:2], "Succeeded")
    wait_status(world, api, name, phase="Finished", running=1, succeeded=2)


@case("gang-status", not_upstream=NO_GROUPS)
def gang_status(world):
    """Phases and counts of both groups of custom resources, where no controller keeps them."""
    gang.install(world.admin, world.options.api == "small")
    objects.small_nodes(world.admin, 3)
    gang.scheduler(world)
    go_through(world, gang.X, "new", False)
    go_through(world, gang.SIGS, "old", True)


@case("gang-status-foreign", not_upstream=NO_GROUPS, not_small="the small API server has no managedFields")
def gang_status_foreign(world):
    """A controller writes the status: then the scheduler does not."""
    gang.install(world.admin, False)
    objects.small_nodes(world.admin, 1)
    path = gang.groups_path(gang.X)
    world.admin.create(path, gang.group(gang.X, "theirs", 1))
    world.admin.request("PATCH", path + "/theirs/status?fieldManager=controller", {"status": {"phase": "Unknown"}},
                        content="application/merge-patch+json")
    gang.scheduler(world)
    world.admin.create(path, gang.group(gang.X, "ours", 1))
    world.admin.create_many(kube.PODS, gang.members(gang.X, "theirs", 1, {"cpu": "100m"}))
    gang.wait_placed(world.pods(), "theirs", 1)
    wait_status(world, gang.X, "ours", phase="Pending")
    time.sleep(2)  # counts are told a second after they changed
    status = status_of(world, gang.X, "theirs")
    status.pop("conditions", None)  # says why a group waits; the controller has none
    checks.expect(status == {"phase": "Unknown"}, "it wrote %s", status)
