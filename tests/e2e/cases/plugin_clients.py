"""The libraries for authors of plugins (proto/clients), live: their examples place pods, and listen to where they go."""
import os
import shutil
import signal
import subprocess

import checks
import cluster
from cases.plugins import NOT_UPSTREAM, SECONDS, Stage
from suite import case

CLIENTS = os.path.join(cluster.TOP, "proto", "clients")


class Staged(Stage):
    """The same nodes and profiles, and the example of that language."""

    def __init__(self, world, command):
        super().__init__(world)
        self.command = command

    def start(self):
        self.plugin = subprocess.Popen([*self.command, os.path.join(self.scheduler.rundir, "scheduler.sock")],
                                       stdin=subprocess.DEVNULL, env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))


def filter_score_permit(stage):
    """It filters, scores and permits; its own death, and the scheduler's, end in a new session and the same answers."""
    stage.start()
    for i in range(3):
        stage.create("placed-%d" % i, "strict")
        stage.bound("placed-%d" % i, "liked")
    stage.create("denied", "gate", deny="yes")
    stage.told("denied", "0/1 nodes are available: 1 denied by its label.")
    stage.create("late", "gate", wait="4")
    stage.waits("late")
    stage.bound("late")
    os.kill(stage.scheduler.pids()["scheduler"], signal.SIGKILL)
    stage.create("after", "strict")
    stage.bound("after", "liked")
    stage.kill()
    stage.create("orphan", "strict")
    stage.failed("orphan", '0/3 nodes are available: 3 plugin "example" is not there.')
    stage.start()
    stage.bound("orphan", "liked")


def play(world, plugin, listener):
    """The example, and a listener that hears where pods go."""
    stage = Staged(world, plugin)
    heard = os.path.join(world.directory, "heard")
    with open(heard, "w", encoding="utf-8") as output:
        listening = subprocess.Popen([*listener, stage.scheduler.rundir], stdin=subprocess.DEVNULL, stdout=output,
                                     env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))

    def said():
        with open(heard, encoding="utf-8") as lines:
            return "default/orphan to liked\n" in lines

    try:
        filter_score_permit(stage)
        checks.bound_once_at_most(world.log)
        # The tap promises nobody who comes late that he hears the first; the last it has.
        checks.wait_until(SECONDS, said, "the listener did not hear where orphan goes")
        checks.expect(listening.poll() is None, "the listener ended: %s", listening.returncode)
    finally:
        stage.kill()
        listening.kill()
        listening.wait(SECONDS)


@case("plugin-client-python", NOT_UPSTREAM)
def python(world):
    """The examples on the Python library."""
    play(world, [os.path.join(CLIENTS, "python", "example.py")], [os.path.join(CLIENTS, "python", "listen.py")])


@case("plugin-client-go", NOT_UPSTREAM)
def go(world):
    """The examples on the Go library."""
    if not shutil.which("go"):
        return print("skipped plugin-client-go: no go here")
    subprocess.run(["go", "build", "-o", world.directory + "/", "./example", "./listen"], cwd=os.path.join(CLIENTS, "go"), check=True)
    return play(world, [os.path.join(world.directory, "example")], [os.path.join(world.directory, "listen")])
