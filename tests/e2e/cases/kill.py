"""Every process may die at any time: nothing is lost, nothing is bound twice."""
import os
import signal

import checks
import objects
from feeder import Feeder
from suite import case

ROUNDS = 2
RESTART_SECONDS = 30
BOUND_SECONDS = 30


def processes(workers):
    """berth's processes in the order in which they are killed; the supervisor last."""
    return (["watcher", "queue", "scheduler"] + ["worker-%d" % i for i in range(workers)]
            + ["binder", "berth"])


def victims(scheduler, workers):
    return processes(workers) if scheduler.has_actors else ["scheduler"]


def pid_of(scheduler, name, other_than=None):
    """The pid of a process once it is there, and is not the one that was killed."""
    def found():
        pid = scheduler.pids().get(name)
        return pid if pid != other_than else None

    return checks.wait_until(RESTART_SECONDS, found, "%s is not running (again)" % name)


def kill(scheduler, name):
    """SIGKILL one process, and see it come back."""
    pid = pid_of(scheduler, name)
    os.kill(pid, signal.SIGKILL)
    if pid != scheduler.process.pid:
        return pid_of(scheduler, name, other_than=pid)
    # The first process has no one above it but us.  What it had started must end by itself.
    scheduler.process.wait(10)
    checks.wait_until(10, lambda: not scheduler.members(), "its processes did not end with " + name)
    scheduler.start()
    return pid_of(scheduler, name, other_than=pid)


def kill_each(world, workers, flags=()):
    count = world.options.pods
    objects.small_nodes(world.admin, world.options.nodes)
    pods = world.pods()
    scheduler = world.scheduler(flags=flags)
    names = victims(scheduler, workers) * ROUNDS
    feeder = Feeder(world.admin, count)
    feeder.allow(len(names))
    for number, name in enumerate(names):
        # It works again after the kill before; otherwise this one would hit an idle process.
        checks.all_bound(pods, feeder.allowed, 60)
        feeder.allow(count * (number + 1) // len(names))
        half = count * (2 * number + 1) // (2 * len(names))
        checks.expect(feeder.wait_created(half), "only %d pods were created", feeder.created)
        kill(scheduler, name)
    feeder.finish()
    checks.all_bound(pods, count, BOUND_SECONDS)
    names = {uid: name for name, (uid, _, _) in pods.items.items()}
    checks.one_binding_each(world.log, names, names)
    checks.no_overcommit(world.admin)


@case("kill")
def kill_two_workers(world):
    """Each process is killed twice while pods arrive; all are bound 30 s after the last kill."""
    kill_each(world, 2)


@case("kill-one-worker", not_upstream="--workers is a flag of berth")
def kill_one_worker(world):
    """The same with one worker: it decides pods in batches, and those under way die with it."""
    kill_each(world, 1, ("--workers=1",))
