"""Preemption: who is evicted, for whom, and who stays.

Pods without a grace of 0 stay, told to end, until the case does what a kubelet would: there is none.
"""
from build import (any_of, apart, claim, node, nowhere, pod, term, unhelpful, volume)
import checks
from evidence import evicted, spared
from stage import case, node_of

GROUP = "preemption/"
HALF = {"cpu": "500m", "memory": "500"}
SMALL = {"cpu": "100m", "memory": "100"}
WANTS = {"cpu": "300m", "memory": "200"}


def victim_and_preemptor(it, **more):
    """A node that the victim nearly fills, and one of higher priority who does not fit beside it."""
    it.nodes(node("@a", **HALF))
    it.create(pod("@victim", priority="low", requests={"cpu": "400m", "memory": "200"}))
    it.bound("@victim")
    it.create(pod("@preemptor", requests=WANTS, **dict({"priority": "high"}, **more)))


@case(GROUP + "basic")
def basic(it):
    victim_and_preemptor(it)
    it.holds("@preemptor", "@a")
    it.told("@preemptor", "0/1 nodes are available: 1 Insufficient cpu.")
    evicted(it, "@victim", "@preemptor", "@a")
    it.end("@victim")
    it.bound("@preemptor", ["@a"])


@case(GROUP + "never")
def never(it):
    """A pod whose class says that it does not preempt."""
    victim_and_preemptor(it, priority="high-never")
    it.told("@preemptor", "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, "
                          "preemption: not eligible due to preemptionPolicy=Never.")
    spared(it, "@victim")
    checks.expect(not it.held("@preemptor"), "nominated to %s", it.held("@preemptor"))


@case(GROUP + "switched_off")
def switched_off(it):
    victim_and_preemptor(it, schedulerName="no-preemption")
    it.told("@preemptor", "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate")
    spared(it, "@victim")


# ---- anti-affinity ----


def hates(label, value):
    return apart(term("node", any_of(label, value)))


def two_that_are_in_the_way(it, priority_of_the_second):
    """The first is not wanted, the second does not want."""
    it.nodes(node("@a", {"node": "@a"}, **HALF))
    it.create(pod("@0", {"pod": "p0"}, "medium", requests=SMALL))
    it.create(pod("@1", {"pod": "p1"}, priority_of_the_second, requests=SMALL,
                  affinity=hates("pod", "preemptor")))
    it.bound("@0")
    it.bound("@1")
    it.create(pod("@preemptor", {"pod": "preemptor"}, "high", requests=SMALL,
                  affinity=hates("pod", "p0")))


@case(GROUP + "to_satisfy_anti_affinity")
def to_satisfy_anti_affinity(it):
    two_that_are_in_the_way(it, "low")
    it.holds("@preemptor", "@a")
    evicted(it, "@0", "@preemptor", "@a")
    evicted(it, "@1", "@preemptor", "@a")
    it.end("@0", "@1")
    it.bound("@preemptor")


@case(GROUP + "not_when_anti_affinity_would_remain")
def not_when_anti_affinity_would_remain(it):
    two_that_are_in_the_way(it, "high")
    it.told("@preemptor", nowhere(
        1, "1 node(s) didn't match pod anti-affinity rules",
        "1 node(s) didn't satisfy existing pods anti-affinity rules"))
    spared(it, "@0", "@1")


# ---- who may take the room ----


@case(GROUP + "the_room_is_for_the_preemptor")
def starvation(it):
    """Five more of the victims' priority wait for room: none gets what three victims leave."""
    it.nodes(node("@a", **HALF))
    running = ["@running-%d" % i for i in range(5)]
    pending = ["@pending-%d" % i for i in range(5)]
    it.create_all([pod(name, priority="medium", grace=0, requests=SMALL) for name in running])
    for name in running:
        it.bound(name)
    it.create_all([pod(name, priority="medium", grace=0, requests=SMALL) for name in pending])
    for name in pending:
        it.unschedulable(name)
    it.create(pod("@preemptor", priority="high", requests=WANTS))
    it.bound("@preemptor")
    gone = [name for name in running if it.now(name) is None]
    checks.expect(len(gone) == 3, "%d pods were evicted, not 3", len(gone))
    for name in gone:
        evicted(it, name, "@preemptor", "@a", condition=False)
    nobody_took(it, pending)


def nobody_took(it, names):
    took = [name for name in names if node_of(it.now(name))]
    checks.expect(not took, "%s took the room of the preemptor", checks.some(took))


@case(GROUP + "races")
def races(it):
    """Twenty of the victims' priority arrive while one is preempting, three times."""
    it.nodes(node("@a", cpu="5", memory="5000", pods="100"))
    for n in range(3):
        first = ["@first-%d-%d" % (n, i) for i in range(2)]
        more = ["@more-%d-%d" % (n, i) for i in range(20)]
        preemptor = "@preemptor-%d" % n
        it.create_all([pod(name, priority="medium", grace=0, requests=SMALL) for name in first])
        for name in first:
            it.bound(name)
        it.create(pod(preemptor, priority="high", grace=0, requests={"cpu": "4900m", "memory": "4900"}))
        it.create_all([pod(name, priority="medium", grace=0, requests=SMALL) for name in more])
        it.bound(preemptor)
        for name in more:
            it.unschedulable(name)
        it.end(*more + first + [preemptor])


# ---- disruption budgets ----


def budget(name, labels, allowed):
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
            "spec": {"minAvailable": 2, "selector": {"matchLabels": labels}}, "allowed": allowed}


def with_budgets(name, budgets, there, wants, victims, on, nodes=("@a",)):
    """`there` are (pod, priority, labels, node); a controller's verdict is written by the case."""
    def run(it):
        for body in budgets:
            allowed = body["allowed"]
            it.create({key: value for key, value in body.items() if key != "allowed"})
            it.patch("PodDisruptionBudget", body["metadata"]["name"], {"status": {
                "disruptionsAllowed": allowed, "currentHealthy": 2, "desiredHealthy": 2,
                "expectedPods": 2, "observedGeneration": 1}}, status=True)
        it.nodes(*[node(each, **HALF) for each in nodes])
        for pod_name, priority, labels, where in there:
            it.create(pod(pod_name, labels, priority, requests=SMALL, nodeName=where))
            it.patch("Pod", pod_name, {"status": {"phase": "Running", "conditions": [
                {"type": "Ready", "status": "True"}]}}, status=True)
        it.create(pod("@preemptor", priority="high", requests=wants))
        it.holds("@preemptor", on)
        for victim in victims:
            evicted(it, victim, "@preemptor", on)
        spared(it, *[each[0] for each in there if each[0] not in victims])
        it.end(*victims)
        it.bound("@preemptor", [on])
    case(GROUP + "budget_" + name)(run)


GUARDED, FOO1, FOO2 = {"foo": "bar"}, {"foo1": "bar"}, {"foo2": "bar"}

with_budgets("a_higher_priority_goes_rather_than_one_guarded", [budget("@budget", GUARDED, 0)],
             [("@low-1", "low", GUARDED, "@a"), ("@low-2", "low", GUARDED, "@a"),
              ("@medium", "medium", None, "@a")], WANTS, ["@medium"], "@a")
with_budgets("a_node_without_guarded_ones", [budget("@budget", GUARDED, 0)],
             [("@low", "low", GUARDED, "@a"), ("@medium", "medium", None, "@b")],
             {"cpu": "500m", "memory": "200"}, ["@medium"], "@b", ["@a", "@b"])
with_budgets("a_node_with_fewer_violations",
             [budget("@one", FOO1, 0), budget("@two", FOO2, 3)],
             [("@low-1", "low", FOO1, "@a"), ("@medium-1", "medium", None, "@a"),
              ("@low-2", "low", FOO2, "@b"), ("@medium-2", "medium", FOO2, "@b"),
              ("@low-3", "low", FOO2, "@c"), ("@low-4", "low", FOO2, "@c"),
              ("@low-5", "low", FOO2, "@c")],
             {"cpu": "500m", "memory": "400"}, ["@low-3", "@low-4", "@low-5"], "@c",
             ["@a", "@b", "@c"])
with_budgets("all_are_guarded_and_one_goes_all_the_same", [budget("@budget", GUARDED, 0)],
             [("@low", "low", GUARDED, "@a"), ("@medium", "medium", GUARDED, "@a")],
             {"cpu": "400m", "memory": "200"}, ["@low"], "@a")

# ---- claims that one pod alone may use ----

ONCE = "ReadWriteOncePod"


def exclusive(name, there, wanted):
    """Pods that hold claims, all of which the preemptor wants."""
    def run(it):
        for each in wanted:
            it.create_all([volume(each + "-volume", mode=ONCE),
                           claim(each, volume=each + "-volume", mode=ONCE, bound=True)])
        it.nodes(node("@a", **HALF))
        for victim, claims in there:
            it.create(pod(victim, priority="low", claims=claims))
            it.bound(victim)
        it.create(pod("@preemptor", priority="high", claims=wanted))
        it.holds("@preemptor", "@a")
        for victim, _ in there:
            evicted(it, victim, "@preemptor", "@a")
        it.end(*[victim for victim, _ in there])
        it.bound("@preemptor")
    case(GROUP + "exclusive_claim_" + name)(run)


exclusive("of_one_pod", [("@victim", ["@one"])], ["@one"])
exclusive("two_of_two_pods", [("@victim-1", ["@one"]), ("@victim-2", ["@two"])], ["@one", "@two"])
exclusive("two_of_one_pod", [("@victim", ["@one", "@two"])], ["@one", "@two"])

# ---- victims that take their time ----

FOUR = {"cpu": "4", "memory": "8Gi"}


def slow_victim(it, **how):
    """A victim of half the node that does not go, and a preemptor that needs all of it."""
    it.nodes(node("@a", **FOUR))
    it.create(pod("@victim", priority="low", requests={"cpu": "2"}, **how))
    it.bound("@victim")
    it.create(pod("@preemptor", priority="high", requests={"cpu": "4"}))
    it.holds("@preemptor", "@a")
    evicted(it, "@victim", "@preemptor", "@a")


def keeps_its_place(it):
    """A lower one would fit beside the victim, and does not get in, before or after it has gone."""
    it.create(pod("@lower", priority="medium", requests={"cpu": "2"}))
    it.told("@lower", nowhere(1, "1 Insufficient cpu", "1 Insufficient cpu"))
    it.stays("@preemptor")
    checks.expect(it.now("@victim"), "the victim has gone before its time")
    it.end("@victim")
    it.bound("@preemptor", ["@a"])
    nobody_took(it, ["@lower"])


@case(GROUP + "slow_by_grace")
def slow_by_grace(it):
    slow_victim(it, grace=300)
    keeps_its_place(it)


@case(GROUP + "slow_by_finalizer")
def slow_by_finalizer(it):
    slow_victim(it, grace=0, finalizers=["example.com/hold"])
    keeps_its_place(it)


@case(GROUP + "the_preemptor_goes_first")
def preemptor_deleted(it):
    """A claim on a node ends with the pod that has it: who waited gets the room, and newcomers."""
    slow_victim(it, grace=300)
    it.create(pod("@lower", priority="medium", requests={"cpu": "1"}))
    it.unschedulable("@lower")
    it.end("@preemptor")
    it.bound("@lower", ["@a"])
    it.create(pod("@late", priority="medium", requests={"cpu": "1"}))
    it.bound("@late", ["@a"])


@case(GROUP + "who_is_leaving_is_not_told_again")
def already_leaving(it):
    """A pod that its owner deleted counts as a victim, and gets no second DELETE."""
    it.nodes(node("@a", **FOUR))
    it.create(pod("@victim", priority="low", grace=300, requests={"cpu": "2"}))
    it.bound("@victim")
    it.delete("Pod", "@victim", grace=300)
    it.create(pod("@preemptor", priority="high", requests={"cpu": "4"}))
    it.holds("@preemptor", "@a")
    checks.expect(not it.writes("@victim", "delete"), "the scheduler sent a DELETE")
    it.end("@victim")
    it.bound("@preemptor", ["@a"])


# ---- whom, where ----


@case(GROUP + "the_lower_of_two_on_a_node")
def lower_of_two(it):
    it.nodes(node("@a", **FOUR))
    for name in ("low", "medium"):
        it.create(pod("@" + name, priority=name, requests={"cpu": "2"}, nodeName="@a"))
    it.create(pod("@preemptor", priority="high", requests={"cpu": "2"}))
    it.holds("@preemptor", "@a")
    evicted(it, "@low", "@preemptor", "@a")
    spared(it, "@medium")
    it.end("@low")
    it.bound("@preemptor")


@case(GROUP + "two_low_rather_than_one_medium")
def two_low_rather_than_one_medium(it):
    it.nodes(node("@a", **FOUR), node("@b", **FOUR))
    it.create(pod("@medium", priority="medium", requests={"cpu": "4"}, nodeName="@a"))
    for name in ("@low-1", "@low-2"):
        it.create(pod(name, priority="low", requests={"cpu": "2"}, nodeName="@b"))
    it.create(pod("@preemptor", priority="high", requests={"cpu": "4"}))
    it.holds("@preemptor", "@b")
    evicted(it, "@low-1", "@preemptor", "@b")
    evicted(it, "@low-2", "@preemptor", "@b")
    spared(it, "@medium")
    it.end("@low-1", "@low-2")
    it.bound("@preemptor", ["@b"])


@case(GROUP + "both_of_different_priority")
def both_of_different_priority(it):
    it.nodes(node("@a", **FOUR))
    for name in ("low", "medium"):
        it.create(pod("@" + name, priority=name, requests={"cpu": "2"}, nodeName="@a"))
    it.create(pod("@preemptor", priority="high", requests={"cpu": "3"}))
    it.holds("@preemptor", "@a")
    evicted(it, "@low", "@preemptor", "@a")
    evicted(it, "@medium", "@preemptor", "@a")
    it.end("@low")
    it.unschedulable("@preemptor")
    it.end("@medium")
    it.bound("@preemptor")


@case(GROUP + "not_on_a_node_where_it_cannot_help")
def not_where_it_cannot_help(it):
    """A taint, a selector and a request larger than the node are not cured by evictions."""
    it.nodes(node("@a", cpu="1"), node("@b", {"disk": "ssd"}, cpu="2"))
    for name in ("@a", "@b"):
        it.create(pod("@on-" + name[1:], priority="low", requests={"cpu": "1"}, nodeName=name))
    it.create(pod("@preemptor", priority="high", requests={"cpu": "2"},
                  nodeSelector={"disk": "hdd"}))
    it.told("@preemptor", nowhere(2, "2 node(s) didn't match Pod's node affinity/selector", unhelpful(2)))
    it.create(pod("@other", priority="high", requests={"cpu": "3"}))
    it.told("@other", nowhere(2, "2 Insufficient cpu", unhelpful(2)))
    spared(it, "@on-a", "@on-b")
