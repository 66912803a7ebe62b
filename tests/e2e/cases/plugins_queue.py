"""A plugin at the queue: the example holds pods back, says whom an event helps and sorts; it is killed and comes back."""
import json
import os
import subprocess
import time

import checks
import cluster
import gang
import kube
import objects
from cases.plugins import Process
from suite import case

NOT_UPSTREAM = "kube-scheduler knows no plugins on a bus"
EXAMPLE = os.path.join(cluster.TOP, "scheduler", "bus_plugin", "example", "queue_plugin.py")
SECONDS = 60  # for whatever must happen; what takes longer is lost
QUIET = 3     # for what must not
BACKOFF = 3.5 # after two attempts two, and they end at whole ones


def profile(name, points, **args):
    """A profile whose plugin at these points is the example."""
    args = dict(kind="BusPluginArgs", deadline="2s", **args)
    plugins = {"preEnqueue": {"enabled": [{"name": "example"}]}} if "preEnqueue" in points else {}
    if "queueSort" in points:
        plugins["queueSort"] = {"enabled": [{"name": "example"}], "disabled": [{"name": "*"}]}
    return {"schedulerName": name, "pluginConfig": [{"name": "example", "args": args}], "plugins": plugins}


class Stage(Process):
    """One node, berth, and the example, as it is started and killed."""

    def __init__(self, world, profiles, room):
        self.world = world
        world.admin.create_many(kube.NODES, [objects.node("one", room)])
        self.pods = world.pods()
        self.scheduler = world.scheduler(profiles=profiles)

    def start(self):
        self.begin(EXAMPLE, os.path.join(self.scheduler.rundir, "queue.sock"))

    def create(self, name, profile_name, cpu="100m", **labels):
        body = objects.pod(name, {"cpu": cpu}, schedulerName=profile_name)
        body["metadata"]["labels"] = {"bus.example/" + key: value for key, value in labels.items()}
        self.world.admin.create(kube.PODS, body)

    def bound(self, name):
        done = self.pods.wait(SECONDS, lambda items: name in items and items[name][1])
        checks.expect(done, "%s is not bound: %s", name, self.pods.items.get(name))

    def not_bound(self, name):
        done = self.pods.wait(QUIET, lambda items: name in items and items[name][1])
        checks.expect(not done, "%s is bound although it is held", name)

    def status(self, key):
        """A line of the queue's status; of one with fields what stands before them."""
        done = subprocess.run([gang.BERTH, "status", "--run-dir", self.scheduler.rundir, "-o", "json"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=30)
        said = json.loads(done.stdout)["processes"] if done.stdout else []  # nothing while it starts
        queues = [p["status"] for p in said if p["answered"] and p["process"] == "queue"]
        value = queues[0].get(key, "") if queues else ""
        return str(value["value"] if isinstance(value, dict) else value)

    def says(self, key, start):
        checks.wait_until(SECONDS, lambda: self.status(key).startswith(start),
                          "the queue's %s does not come to %s" % (key, start))

    def two_may_be_tried(self):
        """Two pods have been tried and wait for room alone: an event wakes both at once, and their order is the keys'."""
        self.says("unschedulable", "2")
        time.sleep(BACKOFF)


def staged(world, function, profiles, room):
    stage = Stage(world, profiles, room)
    try:
        function(stage)
        checks.bound_once_at_most(world.log)
    finally:
        stage.kill()


@case("plugin-queue", NOT_UPSTREAM)
def plugin_queue(world):
    """PreEnqueue: held while it is not there (Fail) or not (Ignore), by a label, and until a node comes, which is hinted."""
    staged(world, held, [
        profile("strict", ["preEnqueue"], failurePolicy="Fail", queueingHints=True,
                events=[{"resource": "Node", "actions": ["Add"]}]),
        profile("lenient", ["preEnqueue"], failurePolicy="Ignore")], {"cpu": "64", "memory": "64Gi"})


def held(stage):
    stage.create("early", "strict")
    stage.create("easy", "lenient")
    stage.bound("easy")
    stage.not_bound("early")
    stage.says("gated", "1")
    stage.says("plugin_example", "is not there")
    stage.start()
    stage.bound("early")
    stage.create("held", "strict", hold="yes")
    stage.create("needs", "strict", needs="two")
    stage.not_bound("held")
    stage.says("gated", "2")
    stage.world.admin.create_many(kube.NODES, [objects.node("two", {"cpu": "64", "memory": "64Gi"})])
    stage.bound("needs")
    stage.not_bound("held")
    stage.says("plugin_example", "up")
    stage.kill()
    stage.create("orphan", "strict")
    stage.create("easy-2", "lenient")
    stage.bound("easy-2")
    stage.not_bound("orphan")
    stage.start()
    stage.bound("orphan")


@case("plugin-queue-sort", NOT_UPSTREAM)
def plugin_queue_sort(world):
    """QueueSort: who has the larger key gets the only place, although it came later; without the plugin who came first."""
    staged(world, sorted_by_key, [profile("default-scheduler", ["queueSort"])], {"cpu": "1", "memory": "64Gi"})


def sorted_by_key(stage):
    stage.start()
    stage.says("plugin_example", "up")
    stage.create("first", "default-scheduler", "900m")
    stage.bound("first")
    stage.create("low", "default-scheduler", "900m", key="1")
    stage.says("unschedulable", "1")
    stage.create("high", "default-scheduler", "900m", key="9")
    stage.two_may_be_tried()
    stage.world.admin.delete(kube.PODS + "/first?gracePeriodSeconds=0")
    stage.bound("high")
    stage.not_bound("low")
    stage.kill()
    stage.create("late", "default-scheduler", "900m", key="10")
    stage.two_may_be_tried()
    stage.world.admin.delete(kube.PODS + "/high?gracePeriodSeconds=0")
    stage.bound("low")
