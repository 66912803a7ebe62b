"""A plugin that is a process: the example joins live, changes placement, is killed, hangs, and comes back."""
import os
import signal
import subprocess

import checks
import cluster
import kube
import objects
from cases.serving import Served
from suite import case

NOT_UPSTREAM = "kube-scheduler knows no plugins on a bus"
EXAMPLE = os.path.join(cluster.TOP, "scheduler", "bus_plugin", "example", "plugin.py")
SECONDS = 60  # for whatever must happen; what takes longer is lost


def profile(name, points, **args):
    """A profile whose plugin at these points is the example."""
    args = dict(kind="BusPluginArgs", deadline="2s", **args)
    return {"schedulerName": name, "pluginConfig": [{"name": "example", "args": args}],
            "plugins": {point: {"enabled": [dict({"name": "example"}, **more)]} for point, more in points.items()}}


POINTS = ("preFilter", "preScore", "score", "postFilter", "reserve")
PROFILES = [
    {"schedulerName": "default-scheduler"},
    profile("strict", {"filter": {}, "score": {"weight": 100}}, failurePolicy="Fail"),
    profile("lenient", {"filter": {}, "score": {"weight": 100}}, failurePolicy="Ignore", nodeFacts="Node"),
    # Who asks for 4 s is to get them on a machine that is busy for some seconds, too: nothing tries him again after a timeout.
    profile("gate", {"permit": {}, "postBind": {}}, permitTimeout="12s"),
    profile("points", dict.fromkeys(POINTS, {}), failurePolicy="Fail", nodeFacts="Pods",
            annotations=["bus.example/only"]),
    profile("points-lenient", dict.fromkeys(POINTS, {}), failurePolicy="Ignore", nodeFacts="Node"),
]


class Process:
    """A plugin's process, as it is started and killed."""

    plugin = None

    def begin(self, program, door):
        self.plugin = subprocess.Popen([program, door], stdin=subprocess.DEVNULL)

    def kill(self):
        if self.plugin is not None:
            self.plugin.kill()
            self.plugin.wait(10)
            self.plugin = None


class Stage(Process):
    """Three nodes, of which the example likes one and allows two; berth; and the example, as it is started and killed."""

    def __init__(self, world, flags=()):
        self.world = world
        room = {"cpu": "64", "memory": "64Gi"}
        world.admin.create_many(kube.NODES, [
            objects.node("plain", room), objects.node("liked", room, labels={"bus.example/score": "90"}),
            objects.node("forbidden", room, labels={"bus.example/score": "100", "bus.example/allowed": "no"})])
        self.pods = world.pods()
        template = world.options.scheduler.replace(" --secure-port 0", "")
        self.served = Served(world, flags, template=template, profiles=PROFILES)
        self.scheduler = self.served.subject

    def start(self):
        self.begin(EXAMPLE, os.path.join(self.scheduler.rundir, "scheduler.sock"))

    def create(self, name, profile_name, cpu="100m", annotations=None, **labels):
        body = objects.pod(name, {"cpu": cpu}, schedulerName=profile_name)
        body["metadata"]["labels"] = {"bus.example/" + key.replace("_", "-"): value for key, value in labels.items()}
        body["metadata"]["annotations"] = annotations or {}
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

    def counted(self, point, *statuses):
        """The plugin's calls at the point are in the metrics, with these results."""
        samples = self.served.samples()
        for status in statuses:
            series = ('scheduler_plugin_execution_duration_seconds_count'
                      '{extension_point="%s",plugin="example",status="%s"}' % (point, status))
            checks.expect(samples.get(series, 0) > 0, "%s is not counted: %s", series,
                          [each for each in samples if 'plugin="example"' in each and "_count" in each])

    def nominated(self, name):
        return self.world.admin.get(kube.PODS + "/" + name).get("status", {}).get("nominatedNodeName")

    def waits(self, name):
        """It has a node, which everybody can see, and is not bound."""
        checks.wait_until(SECONDS, lambda: self.nominated(name), "%s does not wait with a node" % name)
        checks.expect(self.pods.wait(SECONDS, lambda items: name in items), "%s was not seen", name)
        checks.expect(not self.pods.items[name][1], "%s is bound although it has to wait", name)


def staged(name, flags=()):
    """A case with a stage, whose plugin ends with it."""
    def register(function):
        def run(world):
            stage = Stage(world, flags)
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
    stage.create("short", "gate", wait="4")
    stage.waits("short")
    stage.bound("short")
    stage.create("long", "gate", wait="600")
    stage.waits("long")
    stage.told("long", "0/1 nodes are available: 1 rejected due to timeout after waiting 12s at plugin example.")
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


@staged("plugin-pre-filter")
def pre_filter(stage):
    """The pod's label names the only node, or refuses it; without the plugin both policies show."""
    stage.create("orphan", "points")
    stage.failed("orphan", '0/3 nodes are available: plugin "example" is not there.')
    stage.create("easy", "points-lenient", only="plain")
    stage.bound("easy")
    stage.start()
    stage.bound("orphan", "forbidden")  # which has the highest score, and nobody filters
    stage.create("there", "points", only="plain")
    stage.bound("there", "plain")
    stage.create("noted", "points", annotations={"bus.example/only": "plain", "bus.example/refuse": "not told"})
    stage.bound("noted", "plain")
    stage.create("refused", "points", refuse="yes")
    stage.failed("refused", "0/3 nodes are available: refused by its label.")
    stage.create("astray", "points", only="nowhere")
    stage.failed("astray", "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [example].")
    stage.kill()
    stage.create("orphan-2", "points", only="plain")
    stage.failed("orphan-2", '0/3 nodes are available: plugin "example" is not there.')
    stage.start()
    stage.bound("orphan-2", "plain")
    stage.counted("PreFilter", "Success", "UnschedulableAndUnresolvable")
    stage.counted("PreScore", "Success")
    stage.counted("Score", "Success")
    stage.counted("ScoreExtensionNormalize", "Success")


@staged("plugin-post-filter")
def post_filter(stage):
    """A pod that fits nowhere is nominated where the plugin says, and placed there when there is room."""
    stage.start()
    stage.create("huge", "points", cpu="100", rescue="plain")
    checks.wait_until(SECONDS, lambda: stage.nominated("huge") == "plain", "huge is not nominated")
    stage.create("hopeless", "points", cpu="100")
    stage.failed("hopeless", "0/3 nodes are available: 3 Insufficient cpu. ")
    checks.wait_until(SECONDS, lambda: stage.pods.items["hopeless"][2][1].endswith("nothing to offer"),
                      "hopeless is not told what the plugin says: %s" % (stage.pods.items["hopeless"],))
    stage.counted("PostFilter", "Success", "Unschedulable")
    stage.kill()
    stage.create("orphan", "points-lenient", cpu="100", rescue="plain")
    stage.failed("orphan", "0/3 nodes are available: 3 Insufficient cpu. ")
    checks.expect(not stage.nominated("orphan"), "orphan is nominated without the plugin")


@staged("plugin-reserve")
def reserve(stage):
    """What the plugin cannot reserve is not bound, and the room is free for others."""
    stage.start()
    stage.create("sold", "points", sold_out="yes")
    stage.told("sold", "0/1 nodes are available: 1 sold out.")
    stage.create("wins", "points", cpu="63")
    stage.bound("wins", "forbidden")
    stage.counted("Reserve", "Success", "Unschedulable")
    stage.kill()
    stage.create("easy", "points-lenient", sold_out="yes")
    stage.bound("easy")
