"""A plugin that is a process: the example joins live, changes placement, is killed, hangs, and comes back."""
import os
import signal
import subprocess

import checks
import cluster
import kube
import objects
from suite import case

NOT_UPSTREAM = "kube-scheduler knows no plugins on a bus"
EXAMPLE = os.path.join(cluster.TOP, "scheduler", "bus_plugin", "example", "plugin.py")
SECONDS = 60  # for whatever must happen; what takes longer is lost


def profile(name, points, **args):
    """A profile whose plugin at these points is the example."""
    args = dict(kind="BusPluginArgs", deadline="2s", **args)
    return {"schedulerName": name, "pluginConfig": [{"name": "example", "args": args}],
            "plugins": {point: {"enabled": [dict({"name": "example"}, **more)]} for point, more in points.items()}}


PROFILES = [
    {"schedulerName": "default-scheduler"},
    profile("strict", {"filter": {}, "score": {"weight": 100}}, failurePolicy="Fail"),
    profile("lenient", {"filter": {}, "score": {"weight": 100}}, failurePolicy="Ignore", nodeFacts="Node"),
    profile("gate", {"permit": {}, "postBind": {}}, permitTimeout="5s"),
]


class Stage:
    """Three nodes, of which the example likes one and allows two; berth; and the example, as it is started and killed."""

    def __init__(self, world):
        self.world, self.plugin = world, None
        room = {"cpu": "64", "memory": "64Gi"}
        world.admin.create_many(kube.NODES, [
            objects.node("plain", room), objects.node("liked", room, labels={"bus.example/score": "90"}),
            objects.node("forbidden", room, labels={"bus.example/score": "100", "bus.example/allowed": "no"})])
        self.pods = world.pods()
        self.scheduler = world.scheduler(profiles=PROFILES)

    def start(self):
        door = os.path.join(self.scheduler.rundir, "scheduler.sock")
        self.plugin = subprocess.Popen([EXAMPLE, door], stdin=subprocess.DEVNULL)

    def kill(self):
        if self.plugin is not None:
            self.plugin.kill()
            self.plugin.wait(10)
            self.plugin = None

    def create(self, name, profile_name, **labels):
        body = objects.pod(name, {"cpu": "100m"}, schedulerName=profile_name)
        body["metadata"]["labels"] = {"bus.example/" + key: value for key, value in labels.items()}
        self.world.admin.create(kube.PODS, body)

    def bound(self, name, node=None):
        done = self.pods.wait(SECONDS, lambda items: name in items and items[name][1])
        checks.expect(done, "%s is not bound: %s", name, self.pods.items.get(name))
        checks.expect(node in (None, self.pods.items[name][1]), "%s is on %s, not on %s", name, self.pods.items[name][1], node)

    def told(self, name, text):
        wanted = ("Unschedulable", text)
        done = self.pods.wait(SECONDS, lambda items: name in items and items[name][2] == wanted)
        checks.expect(done, "%s was told %s, not %s", name, self.pods.items.get(name), text)

    def failed(self, name, start):
        done = self.pods.wait(SECONDS, lambda items: name in items and items[name][2] and items[name][2][1].startswith(start))
        checks.expect(done, "%s was told %s", name, self.pods.items.get(name))

    def nominated(self, name):
        return self.world.admin.get(kube.PODS + "/" + name).get("status", {}).get("nominatedNodeName")

    def waits(self, name):
        """It has a node, which everybody can see, and is not bound."""
        checks.wait_until(SECONDS, lambda: self.nominated(name), "%s does not wait with a node" % name)
        checks.expect(self.pods.wait(SECONDS, lambda items: name in items), "%s was not seen", name)
        checks.expect(not self.pods.items[name][1], "%s is bound although it has to wait", name)


def staged(name):
    """A case with a stage, whose plugin ends with it."""
    def register(function):
        def run(world):
            stage = Stage(world)
            try:
                function(stage)
                checks.bound_once_at_most(world.log)
            finally:
                stage.kill()
        case(name, NOT_UPSTREAM)(run)
        return function
    return register


def without(stage, why):
    return '0/3 nodes are available: 3 plugin "example" %s. %s' % (
        why, objects.no_victims(stage.world.options.release, 3))


@staged("plugin-filter-score")
def filter_score(stage):
    """Without it both policies show; it joins, places, is killed, hangs, comes back."""
    stage.create("early", "strict")
    stage.told("early", without(stage, "is not there"))
    stage.create("easy", "lenient")
    stage.bound("easy")
    stage.start()
    stage.bound("early", "liked")
    for i in range(5):
        stage.create("placed-%d" % i, "strict" if i % 2 else "lenient")
        stage.bound("placed-%d" % i, "liked")
    stage.kill()
    stage.create("orphan", "strict")
    stage.told("orphan", without(stage, "is not there"))
    stage.create("easy-2", "lenient")
    stage.bound("easy-2")
    stage.start()
    stage.bound("orphan", "liked")
    stage.plugin.send_signal(signal.SIGSTOP)
    stage.create("hung", "strict")
    stage.create("plain-0", "default-scheduler")
    stage.bound("plain-0")
    checks.expect(not stage.pods.items["hung"][1], "hung is bound although the plugin hangs")
    # The first attempt says that there was no answer within 2s, later ones that it does not answer, or is not there.
    stage.failed("hung", '0/3 nodes are available: 3 plugin "example" ')
    stage.create("easy-3", "lenient")
    stage.bound("easy-3")
    stage.plugin.send_signal(signal.SIGCONT)
    stage.bound("hung", "liked")


@staged("plugin-permit")
def permit(stage):
    """Allow, deny, wait and too long a wait; a pod that waits is deleted, and survives the scheduler's death."""
    stage.create("orphan", "gate")
    stage.told("orphan", '0/1 nodes are available: 1 plugin "example" is not there.')
    stage.start()
    stage.bound("orphan")
    stage.create("denied", "gate", deny="yes")
    stage.told("denied", "0/1 nodes are available: 1 denied by its label.")
    stage.create("short", "gate", wait="2")
    stage.waits("short")
    stage.bound("short")
    stage.create("long", "gate", wait="600")
    stage.waits("long")
    stage.told("long", "0/1 nodes are available: 1 rejected due to timeout after waiting 5s at plugin example.")
    stage.create("deleted", "gate", wait="600")
    stage.waits("deleted")
    stage.world.admin.delete(kube.PODS + "/deleted?gracePeriodSeconds=0")
    stage.create("survivor", "gate", wait="4")
    stage.waits("survivor")
    os.kill(stage.scheduler.pids()["scheduler"], signal.SIGKILL)
    stage.bound("survivor")
    stage.create("leaver", "gate", wait="4")
    stage.waits("leaver")
    stage.kill()
    # It went away before it gave its permission, and when the pod is tried again it is not there.
    stage.failed("leaver", '0/1 nodes are available: 1 plugin "example" ')
    stage.start()
    stage.bound("leaver")
