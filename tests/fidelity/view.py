"""What of a decision is compared, and where two decisions first differ.

What must stay true: a field of the oracle's results is either compared or named in LEFT_OUT with the
reason. What upstream leaves to chance is brought into one order on both sides, never dropped.
"""
import json
import re

LEFT_OUT = {
    "signature": "batching never changes a decision; with the default profile it is always empty",
    "selfCheck": "the oracle's doubts of itself: play.py treats them as its failure",
    "error": "an error's text comes from Go's libraries; that there is one is compared",
}
RESOURCES = ["Insufficient cpu", "Insufficient memory", "Insufficient ephemeral-storage", "Too many pods"]
SIMPLE = ["op", "result", "pod", "profile", "priority", "node", "numNodes", "feasible", "bestNodes", "message", "reason",
          "unschedulablePlugins", "pendingPlugins", "nominatedNodeUsed", "scoringSkipped", "nominatedNode", "choice"]
PREEMPTION = ["eligible", "reason", "potentialNodes", "numCandidates", "candidates", "bestNodes", "nominatedNode",
              "victims", "postFilterMsg", "note"]
# Compared, but every pod has a score of 0 from it unless it asks for devices: missing is 0.
ZERO_WHERE_MISSING = ["DynamicResources"]


def status(s):
    """Code, plugin and reasons; the order of two scarce scalar resources is that of a Go map."""
    if s is None:
        return None
    reasons = s.get("reasons") or []
    if s.get("plugin") == "NodeResourcesFit":
        scalars = sorted(r for r in reasons if r not in RESOURCES)
        reasons = [r for r in reasons if r in RESOURCES] + scalars
    return {"code": s.get("code"), "plugin": s.get("plugin", ""), "reasons": reasons}


def scores(found):
    found = dict(found or {})
    for name in ZERO_WHERE_MISSING:
        if found.get(name) == 0:
            del found[name]
    return found


def node(n):
    view = {"filter": status(n.get("filter")), "total": n.get("total"),
            "otherFilters": [status(s) for s in n.get("otherFilters") or []]}
    for kind in ("raw", "normalized", "weighted"):
        view[kind] = scores(n.get(kind))
    return view


def pre_filter(p, filters):
    if p is None:
        return None
    view = {"status": status(p["status"]), "nodes": p.get("nodes"), "byNodes": p.get("byNodes") or []}
    if p["status"]["code"] == "Success":  # upstream stops at the first failure, and uses none then
        view["skipped"] = [name for name in p.get("skipped") or [] if name in filters]
    return view


def preemption(p):
    if p is None:
        return None
    view = {k: p.get(k) for k in PREEMPTION}
    view["rejected"] = {name: status(s) for name, s in (p.get("rejected") or {}).items()}
    return view


def result(r, profiles):
    """A result as it is compared. `profiles` by name, as the oracle lists their plugins."""
    if r is None:
        return None
    view = {k: r.get(k) or None for k in SIMPLE}
    view["choiceOK"] = r.get("choiceOK")
    if r["result"] == "error":
        # The text is Go's, and how far it got before it failed shows nowhere.
        return {k: view[k] for k in ("op", "profile", "priority", "result", "reason", "node")}
    # A plugin may have a PreFilter without a Filter, and a PreScore without a Score: whether it skipped
    # that is nobody's matter.
    profile = profiles.get(r.get("profile"), {})
    if not r.get("scoringSkipped") and not r.get("nominatedNodeUsed"):
        view["skippedScore"] = [n for n in r.get("skippedScore") or [] if n in profile.get("weights", {})]
    view["preEnqueue"] = status(r.get("preEnqueue"))
    view["preFilter"] = pre_filter(r.get("preFilter"), profile.get("filter") or [])
    view["nodes"] = {n["name"]: node(n) for n in r.get("nodes") or []}
    view["preemption"] = preemption(r.get("preemption"))
    view["retry"] = result(r.get("retry"), profiles)
    return view


def first_difference(a, b, path=""):
    """Where two documents first differ, as (path, there, here), or None."""
    if isinstance(a, dict) and isinstance(b, dict):
        for k in list(a) + [k for k in b if k not in a]:
            found = first_difference(a.get(k), b.get(k), "%s.%s" % (path, k))
            if found:
                return found
        return None
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            found = first_difference(x, y, "%s[%d]" % (path, i))
            if found:
                return found
        return None
    return None if a == b else (path, a, b)


class Difference:
    """The first place where berth decides otherwise than the oracle."""

    def __init__(self, path, oracle, berth, pod=""):
        self.path, self.oracle, self.berth, self.pod = path, oracle, berth, pod

    def kind(self):
        """The path without what is particular to the scenario: two of one kind are likely one mistake."""
        parts = [p.split("[")[0] for p in self.path.split(".") if p]
        if "nodes" in parts:
            at = parts.index("nodes")
            parts = parts[:at + 1] + parts[at + 2:]
        return ".".join(p for p in parts if p != "results")

    def shape(self):
        """The kind with what each side says and the other does not, without numbers: what must stay
        while a scenario is reduced. Of a text, the kind alone."""
        sides = [self.oracle, self.berth]
        if self.kind().endswith(("message", "total")) or any(isinstance(s, dict) for s in sides):
            return self.kind()
        sets = [set(s) if isinstance(s, list) and all(isinstance(x, str) for x in s) else {str(s)} for s in sides]
        return self.kind(), *(frozenset(re.sub("[0-9]+", "", x) for x in a - b) for a, b in (sets, sets[::-1]))

    def __str__(self):
        where = "%s (%s)" % (self.path, self.pod) if self.pod else self.path
        return "%s: oracle %s, berth %s" % (where, json.dumps(self.oracle), json.dumps(self.berth))


def profiles_of(said):
    """The oracle's profiles by name."""
    return {p["schedulerName"]: p for p in said.get("profiles") or []}


def difference(expected, got):
    """Between the oracle's and berth's output of one scenario; None where they agree."""
    if expected.get("error") or got.get("error"):
        if bool(expected.get("error")) == bool(got.get("error")):
            return None
        return Difference("error", expected.get("error"), got.get("error"))
    a, b = expected["results"], got["results"]
    profiles = profiles_of(expected)
    for i, (x, y) in enumerate(zip(a, b)):
        if "timed out trying to allocate devices" in x.get("error", ""):
            return None  # how far a search comes in that time is the machine's matter, and so is all that follows
        found = first_difference(result(x, profiles), result(y, profiles), "results[%d]" % i)
        if found:
            return Difference(*found, pod=x.get("pod", ""))
    return None if len(a) == len(b) else Difference("results", len(a), len(b))
