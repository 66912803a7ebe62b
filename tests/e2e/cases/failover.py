"""Two complete instances and one lease: who may write, and how soon the other takes over.

The two log in as different users with the same rights, so that the audit log tells who wrote.
"""
import signal
import time

import checks
import kube
import objects
from feeder import Feeder
from suite import case

A, B = "scheduler-a", "scheduler-b"
NAME = "kube-scheduler"


class Pair:
    """Instance a leads, b stands by, pods are arriving."""

    def __init__(self, world):
        self.world, self.log = world, world.log
        self.lease = (4, 3, 1) if world.options.quick else (15, 10, 2)
        # kube-scheduler's standby looks every retryPeriod * (1 to 2.2); ours has 2 s.
        self.slack = 2 + (2.2 * self.lease[2] if world.options.reference else 0)
        self.count = max(200, world.options.pods // 2)
        objects.small_nodes(world.admin, world.options.nodes)
        self.pods = world.pods()
        # All who held the lease, in order; "" for nobody, which may also be left out.
        self.holders = []
        self.leases = world.mirror(kube.LEASES, lambda lease: self.holders.append(
            lease["spec"].get("holderIdentity") or "") if lease["metadata"]["name"] == NAME else None)
        self.a = world.scheduler("a", user=A, lease=self.lease)
        checks.expect(self.leases.wait(60, lambda _: any(self.holders)), "nobody took the lease")
        self.b = world.scheduler("b", user=B, lease=self.lease)
        checks.wait_until(60, self.b_stands_by, "b did not look at the lease")
        self.feeder = Feeder(world.admin, self.count)
        self.feeder.allow(self.count // 2)
        checks.all_bound(self.pods, self.count // 4, 60)

    def b_stands_by(self):
        return any((r.user, r.resource, r.code) == (B, "leases", 200) for r in self.log.read())

    def in_the_middle(self):
        """Let more pods come, and return while they do."""
        self.feeder.allow(self.count)
        self.feeder.wait_created(self.count * 6 // 10)

    def only_a_wrote(self):
        checks.expect(not self.log.bindings(B), "the standby sent Bindings")
        checks.expect(not self.log.leases(B), "the standby wrote the lease")

    def first_by_b(self, seconds):
        return checks.wait_until(seconds, lambda: self.log.bound(B), "b bound no pod")[0]

    def taken_over(self, since, seconds):
        """b's first Binding came at most `seconds` after."""
        took = self.first_by_b(seconds + 30).at - since
        checks.expect(took <= seconds, "b bound its first pod after %.1f s, not %.1f", took, seconds)

    def finish(self):
        self.feeder.finish()
        checks.all_bound(self.pods, self.count, 120)
        names = {uid: name for name, (uid, _, _) in self.pods.items.items()}
        checks.one_binding_each(self.log, names, names)
        checks.no_overcommit(self.world.admin)


@case("failover-kill", timed=True)
def failover_kill(world):
    """All processes of the leader are killed: the other binds after the lease and 2 s at most."""
    pair = Pair(world)
    pair.in_the_middle()
    pair.only_a_wrote()
    since = time.time()
    pair.a.kill_all()
    pair.taken_over(since, pair.lease[0] + pair.slack)
    pair.finish()


@case("failover-stop", timed=True)
def failover_stop(world):
    """A clean stop gives the lease back, and the other goes on at once."""
    pair = Pair(world)
    pair.in_the_middle()
    pair.only_a_wrote()
    since = time.time()
    status = pair.a.terminate()
    checks.expect(status == 0, "the clean stop ended with status %s", status)
    checks.expect(pair.leases.wait(10, lambda _: "" in pair.holders), "the lease was not given back")
    pair.taken_over(since, pair.slack)
    pair.finish()


@case("failover-pause", timed=True,
      not_upstream="kube-scheduler does not fence its writes by the lease")
def failover_pause(world):
    """A leader that wakes up after its lease has ended writes nothing at all."""
    pair = Pair(world)
    pair.in_the_middle()
    pair.a.pause()
    since = time.time()
    taken = checks.wait_until(pair.lease[0] + pair.slack + 30, lambda: pair.log.leases(B),
                              "b did not take the lease")[0].at
    pair.first_by_b(60)
    checks.wait_until(60, lambda: time.time() > since + pair.lease[0] + 1, "the lease runs")
    pair.a.signal_all(signal.SIGCONT)
    pair.finish()
    # Nothing tells when a has done all that it wanted to do, so it is given a whole lease's time.
    time.sleep(pair.lease[0])
    late = ["%s %s %s (%d, %.1f s late)" % (r.verb, r.resource, r.name, r.code, r.at - taken)
            for r in pair.log.writes(A) if r.at > taken]
    checks.expect(not late, "%d writes by the old leader: %s", len(late), checks.some(late))
