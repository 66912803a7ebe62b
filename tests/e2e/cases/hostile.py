"""A process that has no business on the bus says what it likes: scheduling goes on, also after it has left."""
import os
import subprocess

import checks
import cluster
import kube
import objects
from suite import case

NOT_UPSTREAM = "kube-scheduler has no bus"
PEER = os.path.join(cluster.TOP, "tests", "e2e", "hostile_peer.py")
WILD = 2147483000    # a term near what a lease can hold
SECONDS = 5 + 10     # in which pods must be bound: what is promised, and slack for a machine that is busy


class Stage:
    def __init__(self, world):
        world.admin.create_many(kube.NODES, [objects.node("n%d" % i, {"cpu": "64", "memory": "64Gi"})
                                             for i in range(3)])
        self.world, self.pods, self.count = world, world.pods(), 0
        self.scheduler = world.scheduler()
        self.bind_some(60)

    def bind_some(self, seconds=SECONDS):
        for _ in range(5):
            self.count += 1
            self.world.admin.create(kube.PODS, objects.pod("p%d" % self.count, {"cpu": "10m"}))
        checks.all_bound(self.pods, self.count, seconds)

    def meet(self, kind, door, routing, check):
        """The peer at that door; pods are bound while it is there and when it has left."""
        path = os.path.join(self.scheduler.rundir, door + ".sock")
        peer = subprocess.Popen([PEER, path, kind, str(WILD), str(routing)], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True)
        try:
            session, _, why = peer.stdout.readline().strip().partition(" ")
            check(session, why)
            self.bind_some()
        finally:
            peer.stdin.close()
            peer.wait(10)
        self.bind_some()


# What it says it is, and at whose door.
CLAIMS = [("binder", "scheduler"), ("queue", "scheduler"), ("watcher", "scheduler"), ("scheduler", "binder"),
          ("scheduler", "queue"), ("scheduler", "watcher"), ("queue", "watcher"), ("plugin", "watcher"),
          ("worker", "binder")]


@case("hostile-hello", NOT_UPSTREAM)
def hostile_hello(world):
    """Each false hello is refused with its reason; nobody's place is taken."""
    stage = Stage(world)
    for kind, door in CLAIMS:
        stage.meet(kind, door, 0, lambda session, why: checks.expect(
            session == "0" and why, "%s at the door of %s was answered: %s %s", kind, door, session, why))


@case("hostile-term", NOT_UPSTREAM)
def hostile_term(world):
    """By its user it may be a worker or a plugin, with any routing id; its term raises nobody's."""
    stage = Stage(world)
    for kind in ("worker", "plugin"):
        stage.meet(kind, "scheduler", 255, lambda session, why: checks.expect(
            session == "1" and not why, "%s was answered: %s %s", kind, session, why))
    lease = stage.world.admin.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler")
    checks.expect(lease["spec"]["leaseTransitions"] < 100, "leaseTransitions is %d", lease["spec"]["leaseTransitions"])


@case("hostile-run-dir", NOT_UPSTREAM)
def hostile_run_dir(world):
    """A run directory that another user made, or whose path is too long, is refused before anything starts, in one
    line that says why."""
    if os.geteuid() != 0:
        return print("skipped hostile-run-dir: only root can make a directory another's")
    directory = os.path.join(world.directory, "theirs")
    os.mkdir(directory, 0o700)
    os.chown(directory, 65533, 65533)
    for where, why in ((directory, "belongs to user 65533"),
                       (os.path.join(world.directory, "x" * 90), "is too long for the path of a socket")):
        done = subprocess.run([os.path.join(cluster.TOP, "build", "bin", "berth"), "run", "--kubeconfig",
                               world.cluster.kubeconfig("scheduler"), "--run-dir", where, "--secure-port", "0"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        wrong = [line for line in done.stdout.splitlines() if why in line]
        checks.expect(done.returncode != 0 and len(wrong) == 1, "exit status %d: %s", done.returncode, done.stdout)
    checks.expect(not os.listdir(directory), "something was put there: %s", os.listdir(directory))
