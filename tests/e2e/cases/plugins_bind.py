"""A plugin at the binder: the example writes before a pod is bound, turns pods away, binds some itself; it is killed, hangs,
and comes back. Needs Debian's python3-kubernetes."""
import json
import os
import signal
import subprocess

import checks
import cluster
import kube
import objects
from cases.plugin_ports import LIBRARY, lacks_kubernetes
from cases.plugins import Process
from suite import case

NOT_UPSTREAM = "kube-scheduler knows no plugins on a bus"
EXAMPLE = os.path.join(cluster.TOP, "scheduler", "bus_plugin", "example", "bind_plugin.py")
SECONDS = 60  # for whatever must happen; what takes longer is lost
QUIET = 3     # for what must not


def profile(name, policy):
    args = dict(kind="BusPluginArgs", deadline="2s", failurePolicy=policy)
    first = {"enabled": [{"name": "example"}, {"name": "DefaultBinder"}], "disabled": [{"name": "*"}]}
    return {"schedulerName": name, "pluginConfig": [{"name": "example", "args": args}],
            "plugins": {"preBind": {"enabled": [{"name": "example"}]}, "bind": first}}


class Stage(Process):
    """A node, berth, and the example, as it is started and killed."""

    def __init__(self, world):
        self.world = world
        world.admin.create_many(kube.NODES, [objects.node("one", {"cpu": "64", "memory": "64Gi"})])
        self.pods = world.pods()
        self.scheduler = world.scheduler(profiles=[profile("strict", "Fail"), profile("lenient", "Ignore")])
        self.said = os.path.join(world.directory, "said")

    def start(self):
        with open(self.said, "a", encoding="utf-8") as said:
            self.plugin = subprocess.Popen(
                [EXAMPLE, "--kubeconfig", self.world.cluster.kubeconfig("admin"), os.path.join(self.scheduler.rundir, "binder.sock")],
                stdin=subprocess.DEVNULL, stdout=said, env=dict(os.environ, PYTHONPATH=LIBRARY, PYTHONDONTWRITEBYTECODE="1"))

    def create(self, name, profile_name, **labels):
        body = objects.pod(name, {"cpu": "100m"}, schedulerName=profile_name)
        body["metadata"]["labels"] = {"bus.example/" + key: value for key, value in labels.items()}
        self.world.admin.create(kube.PODS, body)

    def bound(self, name, noted=True):
        """noted: the plugin has written down where it goes."""
        done = self.pods.wait(SECONDS, lambda items: name in items and items[name][1])
        checks.expect(done, "%s is not bound: %s", name, self.pods.items.get(name))
        pod = self.world.admin.get(kube.PODS + "/" + name)
        note = pod["metadata"].get("annotations", {}).get("bus.example/goes-to")
        checks.expect(note == ("one" if noted else None), "of %s is noted: %s", name, note)

    def fails(self, name, why):
        """And says why; it is tried again and again."""
        done = self.pods.wait(SECONDS, lambda items: name in items and items[name][2] and why in items[name][2][1])
        checks.expect(done, "%s was told %s, not %s", name, self.pods.items.get(name), why)
        checks.expect(not self.pods.items[name][1], "%s is bound all the same", name)

    def bound_by_plugin(self, *names):
        """It says so behind the API server's answer: everybody else may see the pod bound before."""
        def said():
            with open(self.said, encoding="utf-8") as lines:
                return [json.loads(line)["bound"] for line in lines.read().split("\n")[:-1]]

        checks.wait_until(SECONDS, lambda: len(said()) >= len(names), "the plugin does not say what it has bound")
        checks.expect(said() == list(names), "the plugin bound %s", said())


@case("plugin-bind", NOT_UPSTREAM)
def plugin_bind(world):
    """PreBind and Bind: without it both policies show; it writes, denies, binds, is killed, hangs, comes back."""
    if lacks_kubernetes():
        print("skipped plugin-bind: python3-kubernetes is not here")
        return
    stage = Stage(world)
    try:
        played(stage)
        checks.bound_once_at_most(world.log)
    finally:
        stage.kill()


def played(stage):
    stage.create("early", "strict")
    stage.create("easy", "lenient")
    stage.bound("easy", noted=False)
    stage.fails("early", 'running PreBind plugin "example": plugin "example" is not there')
    stage.start()
    stage.bound("early")
    stage.create("noted", "strict")
    stage.bound("noted")
    stage.create("denied", "strict", deny="yes")
    stage.fails("denied", 'running PreBind plugin "example": denied by its label')
    stage.create("its-own", "strict", binder="yes")
    stage.bound("its-own")
    stage.bound_by_plugin("its-own")
    stage.plugin.send_signal(signal.SIGSTOP)
    stage.create("hung", "strict")
    stage.fails("hung", 'running PreBind plugin "example": plugin "example" did not answer within 2s')
    stage.plugin.send_signal(signal.SIGCONT)
    stage.bound("hung")
    stage.kill()
    stage.create("easy-2", "lenient")
    stage.bound("easy-2", noted=False)
    os.kill(stage.scheduler.pids()["binder"], signal.SIGKILL)
    stage.start()
    stage.create("after", "strict", binder="yes")
    stage.bound("after")
    stage.bound_by_plugin("its-own", "after")
