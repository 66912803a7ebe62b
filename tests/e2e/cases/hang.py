"""A process that stands still, a log that nobody reads, a run directory without room: pods are bound nevertheless.

Hung processes are stopped with SIGSTOP, which looks to everybody else as any hang does.
"""
import json
import os
import signal
import subprocess
import time

import checks
import kube
import objects
import subject
from cases.failover import A, B, NAME
from cases.kill import pid_of
from cases.serving import Served
from suite import case

MENDED_SECONDS = 10  # from the hang to the next life
BOUND_SECONDS = 30   # and then to pods being bound
OURS = "berth's processes and supervisor"
LEASE = (4, 3, 1)


class Pods:
    """Pods that are made a few at a time, each of which must be bound."""

    def __init__(self, world):
        self.world, self.made = world, 0
        objects.small_nodes(world.admin, 40)
        self.live = world.pods()

    def make(self, count=5):
        self.world.admin.create_many(kube.PODS, objects.small_pods(count, first=self.made))
        self.made += count

    def bound(self, count=5, seconds=BOUND_SECONDS):
        self.make(count)
        checks.all_bound(self.live, self.made, seconds)


def stop_one(scheduler, name):
    """SIGSTOP a process; its pid."""
    pid = pid_of(scheduler, name)
    os.kill(pid, signal.SIGSTOP)
    return pid


@case("hang", not_upstream=OURS)
def hang(world):
    """Each process stands still in turn: within 10 s another one is in its place, and pods are bound again."""
    pods = Pods(world)
    scheduler = world.scheduler(flags=["--workers=1"], lease=LEASE)
    pods.bound(seconds=60)
    for name in ("scheduler", "watcher", "queue", "worker-0", "binder"):
        since, pid = time.monotonic(), stop_one(scheduler, name)
        pods.make()
        checks.wait_until(MENDED_SECONDS, lambda: scheduler.pids().get(name) not in (None, pid),
                          "%s stands and is not replaced" % name)
        took = time.monotonic() - since
        checks.expect(took <= MENDED_SECONDS, "%s was replaced after %.1f s", name, took)
        checks.all_bound(pods.live, pods.made, BOUND_SECONDS)
    told = [line for line in scheduler.log_lines() if "process hangs and is killed" in line]
    checks.expect(len(told) == 5, "%d hung processes were told of, not 5: %s", len(told), told)


def ended_by_its_deadline(scheduler):
    """Whether a binder has ended by itself, as it must when it wakes up behind the lease's deadline while writing."""
    return any("woke up behind the lease's deadline" in line for line in scheduler.log_lines())


@case("hang-all", not_upstream=OURS)
def hang_all(world):
    """Everything stands still for longer than any limit, as when a host sleeps: nobody is killed when it wakes up."""
    pods = Pods(world)
    scheduler = world.scheduler()
    pods.bound(seconds=60)
    before = scheduler.pids()
    scheduler.pause()
    time.sleep(12)  # there is nothing to wait for while nothing runs
    # The supervisor first: it finds all others silent, and they wake up a moment later.
    os.kill(scheduler.process.pid, signal.SIGCONT)
    scheduler.signal_all(signal.SIGCONT)
    pods.bound(seconds=60)
    killed = [line for line in scheduler.log_lines() if "process hangs and is killed" in line]
    checks.expect(not killed, "processes were killed: %s", killed)
    after = scheduler.pids()
    if ended_by_its_deadline(scheduler):  # an event was under way when it stopped
        del before["binder"], after["binder"]
    checks.expect(after == before, "processes were replaced: %s, then %s", before, after)


@case("hang-livez", not_upstream=OURS)
def hang_livez(world):
    """Where nobody mends a process that stands, /livez and /readyz say so, and say when it goes on."""
    pods = Pods(world)
    served = Served(world).ready()
    pods.bound(seconds=60)
    checks.expect(served.get("/livez").status == 200, "not alive: %s", served.get("/livez?verbose"))
    os.kill(served.subject.process.pid, signal.SIGSTOP)  # the supervisor
    for name in ("queue", "scheduler"):
        pid = stop_one(served.subject, name)
        page = checks.wait_until(30, lambda: (lambda p: p.status == 500 and p)(served.get("/livez")),
                                 "/livez does not say that the %s stands" % name)
        checks.expect("[-]processes failed" in page.text, "/livez: %s", page.text)
        reason = served.get("/livez/processes").text
        checks.expect(name + " has not answered for" in reason, "/livez/processes: %s", reason)
        checks.expect(served.get("/readyz").status == 500, "ready without its %s", name)
        os.kill(pid, signal.SIGCONT)
        checks.wait_until(30, lambda: served.get("/livez").status == 200, "not alive again")


class Pair:
    """Instance a leads, b may stand by."""

    def __init__(self, world, standby=True):
        self.world, self.pods = world, Pods(world)
        self.holders = []
        self.leases = world.mirror(kube.LEASES, lambda lease: self.holders.append(
            (lease["spec"].get("holderIdentity") or "", lease["spec"].get("leaseTransitions") or 0))
            if lease["metadata"]["name"] == NAME else None)
        self.a = world.scheduler("a", user=A, lease=LEASE)
        checks.expect(self.leases.wait(60, lambda _: any(self.holders)), "nobody took the lease")
        self.pods.bound(seconds=60)
        self.b = world.scheduler("b", user=B, lease=LEASE) if standby else None
        if standby:
            checks.wait_until(60, lambda: any((r.user, r.resource, r.code) == (B, "leases", 200)
                                              for r in world.log.read()), "b did not look at the lease")

    def crash(self, which, kind):
        """Kill those of its processes whose names begin so."""
        pids = [pid for each in which for name, pid in each.pids().items() if name.startswith(kind)]
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def crash_for(self, seconds, which, until=lambda: False, kind="scheduler"):
        """A crash loop: every life of such processes ends within half a second. True when it came to `until`."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.crash(which, kind)
            if until():
                return True
            time.sleep(0.5)  # how long each lives
        return False

    def transitions(self):
        return self.holders[-1][1]


def handed_over(world, kind):
    """Processes of a kind crash again and again at the leader: the lease goes to a standby that can schedule."""
    pair = Pair(world)
    gone = pair.crash_for(120, [pair.a], lambda: any("given up: a standby is ready" in line
                                                     for line in pair.a.log_lines()), kind)
    checks.expect(gone, "the lease was not given up")
    since = time.time()
    pair.pods.make()
    first = checks.wait_until(60, lambda: world.log.bound(B), "b bound no pod")[0]
    took = first.at - since
    checks.expect(took <= LEASE[0] + 5, "b bound its first pod %.1f s after the lease was given up", took)
    checks.all_bound(pair.pods.live, pair.pods.made, BOUND_SECONDS)
    checks.bound_once_at_most(world.log)


@case("handover-crashes", not_upstream=OURS)
def handover_crashes(world):
    """The scheduler."""
    handed_over(world, "scheduler")


@case("handover-crashes-queue", not_upstream=OURS)
def handover_crashes_queue(world):
    """The queue."""
    handed_over(world, "queue")


@case("handover-crashes-workers", not_upstream=OURS)
def handover_crashes_workers(world):
    """All workers."""
    handed_over(world, "worker")


@case("handover-crashes-watcher", not_upstream=OURS)
def handover_crashes_watcher(world):
    """The watcher."""
    handed_over(world, "watcher")


@case("handover-crashes-binder", not_upstream=OURS)
def handover_crashes_binder(world):
    """The leader's binder itself: no life of it lasts until it could ask, so it leaves its lease to run out."""
    pair = Pair(world)
    gone = pair.crash_for(LEASE[0] + 20, [pair.a], lambda: any("became leader" in line
                                                               for line in pair.b.log_lines()), "binder")
    checks.expect(gone, "the lease was not left: %s", pair.holders[-3:])
    told = [line for line in pair.a.log_lines() if "falls again and again" in line]
    checks.expect(told, "it did not say that it leaves its lease")
    pair.pods.make()
    checks.wait_until(LEASE[0] + 5, lambda: world.log.bound(B), "b bound no pod")
    checks.all_bound(pair.pods.live, pair.pods.made, BOUND_SECONDS)
    checks.bound_once_at_most(world.log)


@case("handover-hang", not_upstream=OURS)
def handover_hang(world):
    """The leader's scheduler stands still, and so does whoever would mend that, as where there is no supervisor."""
    pair = Pair(world)
    os.kill(pair.a.process.pid, signal.SIGSTOP)
    stop_one(pair.a, "scheduler")
    checks.wait_until(60, lambda: pair.transitions() > 0, "the lease was not given up")
    since = time.time()
    pair.pods.make()
    first = checks.wait_until(60, lambda: world.log.bound(B), "b bound no pod")[0]
    checks.expect(first.at - since <= 5, "b bound its first pod %.1f s after it took the lease", first.at - since)
    checks.all_bound(pair.pods.live, pair.pods.made, BOUND_SECONDS)


@case("handover-alone", not_upstream=OURS)
def handover_alone(world):
    """The same without a standby: the lease is kept, and pods are bound when the crashes end."""
    pair = Pair(world, standby=False)
    before = pair.transitions()
    pair.crash_for(30, [pair.a])
    asks = [line for line in pair.a.log_lines() if "asks for a standby" in line]
    checks.expect(asks, "it did not ask for a standby")
    checks.expect(pair.transitions() == before, "the lease changed hands: %s", pair.holders[-3:])
    pair.pods.bound(seconds=60)


@case("handover-both", not_upstream=OURS)
def handover_both(world):
    """Two instances that cannot schedule do not pass the lease to and fro."""
    pair = Pair(world)
    before = pair.transitions()
    pair.crash_for(40, [pair.a, pair.b])
    checks.expect(pair.transitions() == before, "the lease changed hands: %s", pair.holders[-3:])
    pair.pods.bound(seconds=90)


class Unread(subject.Subject):
    """A scheduler whose standard error is a pipe that is read when the case says so."""

    def start(self):
        self.reader, writer = os.pipe()
        with os.fdopen(writer, "wb") as end:
            self.process = subprocess.Popen(
                self.command, cwd=subject.cluster.TOP, stdin=subprocess.DEVNULL,
                stdout=end, stderr=end, start_new_session=True)
        return self

    def read_until(self, text, seconds):
        """What is in the pipe, until the text is among it."""
        os.set_blocking(self.reader, False)
        seen = b""

        def look():
            nonlocal seen
            try:
                seen += os.read(self.reader, 1 << 16)
            except BlockingIOError:
                pass
            return text in seen

        checks.wait_until(seconds, look, "the log does not say %r" % text)
        return seen.decode(errors="replace")


@case("log-unread", not_upstream=OURS)
def log_unread(world):
    """Nobody reads the log: pods are bound, and whoever reads it again is told how many lines are missing."""
    pods = Pods(world)
    scheduler = world.prepare(flags=["--v=4"])
    scheduler.__class__ = Unread
    scheduler.start()
    for _ in range(20):
        pods.bound(count=50, seconds=60)
    text = scheduler.read_until(b"log lines were lost", 60)
    lost = [line for line in text.splitlines() if "log lines were lost" in line]
    checks.expect(lost and "lines=" in lost[0], "no number of lines: %s", lost)
    pods.bound()


IN_SHELL = "sh -c 'SETUP; exec " + subject.BERTH + " \"$@\"' sh"
# In a mount namespace of its own; the shell fills the directory and becomes the supervisor.
FULL = ("unshare -rm " + IN_SHELL).replace(
    "SETUP", "mount -t tmpfs -o size=4k,mode=700 none {rundir} && "
    "(dd if=/dev/zero of={rundir}/full bs=4k count=2 2>/dev/null || true); "
    "echo x >{rundir}/more && echo THERE IS ROOM")


def may_mount():
    """A mount namespace takes rights that not every container has."""
    return subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"],
                          stderr=subprocess.DEVNULL, timeout=20).returncode == 0


@case("run-dir-full", not_upstream=OURS)
def run_dir_full(world):
    """Not a byte fits into the run directory from the start: pods are bound, and the log says what could not be written."""
    if not may_mount():
        return print("skipped run-dir-full: no right to mount here")
    pods = Pods(world)
    scheduler = world.scheduler(template=FULL)
    pods.bound(seconds=60)
    log = scheduler.log_lines()
    checks.expect("THERE IS ROOM" not in log, "the directory was not full")
    checks.expect(any("cannot write the pid file" in line for line in log), "nothing was said of it")
    checks.expect(scheduler.terminate() == 0, "it did not end well")


def only_nodes_with(path, label):
    """A Policy by which pods go to nodes with that label."""
    with open(path + ".new", "w") as file:
        json.dump({"kind": "Policy", "apiVersion": "v1", "predicates": [
            {"name": "PodFitsResources"},
            {"name": "Labelled", "argument": {"labelsPresence": {"labels": [label], "presence": True}}}]}, file)
    os.rename(path + ".new", path)


@case("run-dir-full-policy", not_upstream=OURS)
def run_dir_full_policy(world):
    """The same with a Policy, of which a configuration is made that has no room there either, and which changes."""
    if not may_mount():
        return print("skipped run-dir-full-policy: no right to mount here")
    for label in ("one", "two"):
        world.admin.create(kube.NODES, objects.node(label, {"cpu": "64", "memory": "64Gi", "pods": "110"},
                                                    labels={label: ""}))
    path = os.path.join(world.directory, "policy.json")
    only_nodes_with(path, "one")
    live = world.pods()
    scheduler = world.scheduler(template=FULL, flags=["--policy-config-file=" + path])

    def all_go_to(label, first):
        world.admin.create_many(kube.PODS, objects.small_pods(5, first=first))
        checks.all_bound(live, first + 5, 60)
        nodes = {node for name, (_, node, _) in live.items.items() if int(name[-5:]) >= first}
        checks.expect(nodes == {label}, "pods went to %s, not %s", nodes, label)

    all_go_to("one", 0)

    def changes():
        return sum("configuration changed" in line and "proc=scheduler" in line for line in scheduler.log_lines())

    before = changes()
    only_nodes_with(path, "two")
    checks.wait_until(30, lambda: changes() > before, "the change took no effect")
    all_go_to("two", 5)


@case("few-descriptors", not_upstream=OURS)
def few_descriptors(world):
    """A limit of 32 descriptors: one line says what is needed, and that is the end. A soft limit is raised."""
    few = world.prepare("few", template=IN_SHELL.replace("SETUP", "ulimit -n 32"))
    few.start()
    checks.wait_until(10, lambda: not few.alive(), "it goes on with 32 descriptors")
    log = few.log_lines()
    checks.expect(few.process.returncode == 1, "it ended with status %s", few.process.returncode)
    checks.expect(len(log) == 1 and "too few file descriptors: 144 are needed, 32 allowed" in log[0],
                  "it said: %s", log)
    pods = Pods(world)
    world.scheduler("soft", template=IN_SHELL.replace("SETUP", "ulimit -Sn 32"))
    pods.bound(seconds=60)
