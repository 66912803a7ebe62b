"""A process dies while pods are evicted or volumes are made: nothing is done twice, nothing is lost.

Of kube-scheduler, which is one process, only the case that kills everything is told.
"""
from cases.kill import kill, processes

from build import claim, node, pod, storage_class
import checks
from stage import Skipped, case, node_of
from volume_controller import SELECTED, Controller

ACTORS = processes(2)
GROUP = "kills/"
MADE = "made.example.com"
# A standby, or the next life with another identity, waits until the lease has ended.
TAKEOVER_SECONDS = 45


def strike(it, name):
    """Kill one process, and see it come back."""
    scheduler = it.stage.scheduler
    if scheduler.has_actors:
        kill(scheduler, name)
    else:
        kill(scheduler, "scheduler")


def each(name):
    """Register a function of a Case and the name of a process once for every process."""
    def register(function):
        for actor in ACTORS:
            def run(it, actor=actor):
                if actor != "berth" and not it.stage.scheduler.has_actors:
                    raise Skipped("it has no process " + actor)
                function(it, actor)
            case("%s%s/%s" % (GROUP, name, actor))(run)
        return function
    return register


def ended(it, names):
    """Take away who was told to end, as a kubelet would; true when all are gone."""
    states = {name: it.now(name) for name in names}
    there = {name: low for name, low in states.items() if low}
    it.end(*[name for name, low in there.items() if "deletionTimestamp" in low["metadata"]])
    return not there


@each("preemption")
def preemption(it, actor):
    """Three pods need a node each, with two others on it; one kill when the first is told to end.

    A preemptor whose second victim was not told before the kill waits for the first to be gone, and
    preempts again.
    """
    it.nodes(*[node("@%d" % i, cpu="4") for i in range(3)])
    lows, highs = ["@low-%d" % i for i in range(6)], ["@high-%d" % i for i in range(3)]
    for i, name in enumerate(lows):
        it.create(pod(name, priority="low", grace=300, requests={"cpu": "2"}, nodeName="@%d" % (i // 2)))
    it.create_all([pod(name, priority="high", requests={"cpu": "4"}) for name in highs])
    keys = [it.local(name) for name in lows]
    it.until(lambda pods: any(key in pods and "deletionTimestamp" in pods[key]["metadata"]
                              for key in keys),
             lambda: "nobody is evicted")
    strike(it, actor)
    checks.wait_until(TAKEOVER_SECONDS, lambda: ended(it, lows) and all(
        node_of(it.now(name)) for name in highs), "not all of %s are bound" % highs)
    places = {node_of(it.now(name)) for name in highs}
    checks.expect(len(places) == 3, "the three are on %s", places)
    for name in lows:
        granted = [r for r in it.writes(name, "delete") if r.code == 200]
        checks.expect(len(granted) <= 1, "%s was deleted %d times", name, len(granted))
    checks.bound_once_at_most(it.stage.log)


def claim_of(it, name):
    return it.get("PersistentVolumeClaim", name + "-claim")


@each("volumes")
def volumes(it, actor):
    """Six pods with claims for which volumes are made slowly; one kill when the first is asked for."""
    it.create(storage_class("@slow", provisioner=MADE, parameters={"delay": "1.5"}))
    it.nodes(node("@1"), node("@2"))
    controller = Controller(it)
    names = ["@%s" % letter for letter in "abcdef"]
    for name in names:
        it.create(claim(name + "-claim", "@slow"))
        it.create(pod(name, claims=[name + "-claim"]))
    checks.expect(controller.claims.wait(it.patience, lambda claims: any(
        SELECTED in (c["metadata"].get("annotations") or {}) for c in claims.values())),
        "no volume was asked for")
    strike(it, actor)
    for name in names:
        it.bound(name, seconds=TAKEOVER_SECONDS)
        # A claim counts as bound before its controller has written the status, which comes last.
        checks.wait_until(it.patience, lambda: claim_of(it, name)["status"].get("phase") == "Bound",
                          "the claim of %s was not bound" % name)
        made = claim_of(it, name)
        checks.expect(made["metadata"]["annotations"].get(SELECTED) == node_of(it.now(name)),
                      "%s is on %s, its claim is %s", name, node_of(it.now(name)), made["metadata"])
    checks.bound_once_at_most(it.stage.log)
