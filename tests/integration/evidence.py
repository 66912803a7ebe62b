"""What a preemption leaves behind: the victim's condition, its one deletion, its event."""
import checks
from stage import condition_of


def evicted(it, victim, preemptor, node, condition=True):
    """The victim was told why, then deleted once, and an event says for whom."""
    it.leaving(victim)
    if condition:  # a pod that goes at once is not seen with it
        said = condition_of(it.states(victim)[-1], "DisruptionTarget") or {}
        checks.expect((said.get("status"), said.get("reason"), said.get("message")) == (
            "True", "PreemptionByScheduler",
            "default-scheduler: preempting to accommodate a higher priority pod"),
            "%s has the condition %s", victim, said)
    told_then_deleted(it, victim)
    event = checks.wait_until(it.patience, lambda: it.events("Preempted", victim),
                              "no event Preempted of %s" % victim)[0]
    uid = it.states(preemptor)[-1]["metadata"]["uid"]
    expected = ("Normal", "Preempting", "Preempted by pod %s on node %s" % (uid, it.local(node)))
    found = (event["type"], event["action"], event["message"])
    checks.expect(found == expected, "the event of %s is %s, not %s", victim, found, expected)


def told_then_deleted(it, victim):
    """One patch of the status, then one DELETE, both granted; the log may come after the watch."""
    checks.wait_until(it.patience, lambda: it.writes(victim, "delete"), "%s: no DELETE" % victim)
    asked = [r for r in it.stage.log.writes(it.stage.user)
             if r.name == it.local(victim) and (r.verb, r.subresource) in (("delete", ""),
                                                                           ("patch", "status"))]
    found = [(r.verb, r.code) for r in asked]
    checks.expect(found == [("patch", 200), ("delete", 200)], "%s: the scheduler sent %s", victim,
                  found)


def spared(it, *names):
    """Nobody asked for the end of these."""
    it.stays(*names)
    for name in names:
        checks.expect(not it.writes(name, "delete"), "%s: the scheduler sent a DELETE", name)
