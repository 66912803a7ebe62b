#!/usr/bin/env python3
"""Judges what a scheduler did on an API server, as oracle/drive wrote it down.

    judge.py RECORD.ndjson [--release R] [--oracle PATH]

The oracle follows the scheduler's choices pod by pod, so that each decision is judged on the state that
the scheduler found. A decision passes when the node is one of the best, or the pod is unschedulable for
both with the same message; when it preempts: when the nominated node is one of the best, its victims are
the oracle's, and the node that it then got is one of the best of the second attempt.

Not seen from outside and so not judged here (tests/fidelity/differ.py does): scores, statuses of single
nodes, the order of victims, the candidates that were not taken."""
import argparse
import collections
import json
import sys

import play
import view

# kube-scheduler itself can leave a preemptor waiting until the next flush of its queue: when the victim in
# whose place it fits is gone before the last one, the event finds the preemptor still held back by its
# preemption, and what comes later gives no plugin a reason to try it.
STUCK = "nominated, and then not tried again in time"
PLACEMENT = " preemption: found a potential placement for pod on node "


def scenario_of(record):
    """The scenario as the scheduler met it. drive takes away each pod that got no node."""
    made = {k: v for k, v in record["scenario"].items() if v is not None}
    explained = any(o.get("explained") for o in record["outcomes"])
    made["options"] = {"afterPreemption": "evict", "omitAllFailures": not explained, "omitRaw": not explained}
    made["choices"] = {o["pod"]: o.get("node", "") for o in record["outcomes"]}
    made["nominations"] = {o["pod"]: o["nominatedNode"] for o in record["outcomes"] if o.get("nominatedNode")}
    outcomes, steps = iter(record["outcomes"]), []
    for step in made["pods"]:
        steps.append(step)
        if step.get("op"):
            continue
        outcome = next(outcomes)
        if outcome["result"] != "scheduled":
            namespace, name = outcome["pod"].split("/")
            steps.append({"op": "delete", "kind": "Pod", "namespace": namespace, "name": name})
    return dict(made, pods=steps)


def message_of_preemptor(told, outcome, version):
    """From 1.37 on it also names the node and counts the victims: those that the scheduler chose, of several best ones."""
    text = "Unschedulable|" + told["message"].split(PLACEMENT)[0]
    if version.startswith("v1.36."):
        return text
    return "%s%s%s, preempting %d victims" % (
        text, PLACEMENT, outcome.get("nominatedNode"), len(told["preemption"]["victims"]))


def complaints_of_preemption(outcome, told, version):
    if outcome["message"] != message_of_preemptor(told, outcome, version):
        yield "another message"
    if told.get("choiceOK") is not True:
        yield "nominated %s, the best are %s" % (outcome.get("nominatedNode"), told["preemption"]["bestNodes"])
        return
    if sorted(told["preemption"]["victims"]) != outcome.get("victims", []):
        yield "other victims, the oracle's are %s" % told["preemption"]["victims"]
        return
    if outcome["result"] == "timeout":
        yield STUCK
        return
    retry = told.get("retry") or {}
    if retry.get("choiceOK") is not True:
        yield "after the preemption it took %s, the oracle says %s of %s" % (
            outcome.get("node"), retry.get("result"), retry.get("bestNodes"))


def complaints_of(outcome, told, version):
    """Why this decision is not that of kube-scheduler of this version."""
    if told.get("selfCheck") or told.get("error"):
        return ["the oracle is in trouble: %s%s" % (told.get("selfCheck", ""), told.get("error", ""))]
    if told["result"] == "ignored":
        return []
    if told["result"] == "preempting":
        return list(complaints_of_preemption(outcome, told, version))
    if outcome["result"] == "timeout":
        return ["nothing happened in time"]
    if told["result"] == "gated":
        return [] if outcome["result"] == "gated" else ["it should be gated"]
    found = []
    if told.get("choiceOK") is not True:
        found.append("it took %r, allowed is %s" % (outcome.get("node", ""), told.get("bestNodes") or "none"))
    elif told["result"] == "unschedulable" and outcome["message"] != "Unschedulable|" + told["message"]:
        found.append("another message")
    if outcome.get("victims"):
        found.append("victims without a preemption")
    return found


# What an explanation and the oracle tell alike of a decision; which of the best nodes it would be is left to chance.
TOLD = ("result", "profile", "message", "bestNodes", "preFilter", "preEnqueue", "nodes", "skippedScore", "unschedulablePlugins")


def complaints_of_explanation(explained, told, profiles):
    """Where what berth explain says of the pod differs from the oracle, which was asked about the same cluster."""
    if not explained.get("now"):
        return []  # nobody's pod
    sides = [{k: v for k, v in view.result(r, profiles).items() if k in TOLD} for r in (told, explained["now"][0])]
    found = view.first_difference(*sides)
    return ["it is explained otherwise: %s: %s, the oracle says %s" % (found[0], found[2], found[1])] if found else []


def has_host_ports(pod):
    containers = pod["spec"].get("containers", []) + pod["spec"].get("initContainers", [])
    return any(port.get("hostPort") for c in containers for port in c.get("ports") or [])


def freed_ports(record):
    """For each decision whether a pod with host ports had left a node before. Upstream then takes its ports for free,
    also those that another pod there has, and so does berth; who reads the cluster anew, as berth explain does and
    any scheduler that starts, knows only who is there."""
    pods = {"%s/%s" % (o["metadata"].get("namespace", "default"), o["metadata"]["name"]): o
            for o in record["scenario"]["objects"] + record["scenario"]["pods"]
            if o.get("kind", "Pod") == "Pod" and "op" not in o}
    outcomes, freed = iter(record["outcomes"]), False
    for step in record["scenario"]["pods"]:
        if step.get("op"):
            gone = pods.get("%s/%s" % (step.get("namespace", "default"), step.get("name")))
            freed = freed or (step["op"] == "delete" and step.get("kind") == "Pod" and gone is not None and has_host_ports(gone))
            continue
        outcome = next(outcomes)
        yield freed
        freed = freed or any(has_host_ports(pods[v]) for v in outcome.get("victims") or [] if v in pods)


class Verdict:
    """Counts decisions. `reference`: they are kube-scheduler's own, and may be STUCK."""

    def __init__(self, reference):
        self.reference = reference
        self.results = collections.Counter()
        self.passed = self.failed = self.refused = self.explained = 0

    def add(self, name, outcome, told, said, freed):
        self.results[told["result"]] += 1
        found = list(complaints_of(outcome, told, said["version"]))
        if outcome.get("explained") and not found and not freed and told["result"] != "ignored":
            self.explained += 1
            found = complaints_of_explanation(outcome["explained"], told, view.profiles_of(said))
        if self.reference and found == [STUCK]:
            print("%s %s: %s" % (name, outcome["pod"], STUCK))
            found = []
        self.passed += not found
        self.failed += bool(found)
        for complaint in found:
            print("%s %s: %s\n    scheduler: %s\n    oracle:    %s" % (
                name, outcome["pod"], complaint, {k: v for k, v in outcome.items() if k not in ("pod", "millis", "explained")},
                {k: told.get(k) for k in ("result", "bestNodes", "message", "preemption") if told.get(k)}))

    def end(self):
        print("%s; %d explained; %d objects that the API server refused" % (
            ", ".join("%d %s" % (n, kind) for kind, n in self.results.most_common()), self.explained, self.refused))
        print("%d passed, %d failed" % (self.passed, self.failed))
        return 1 if self.failed or not self.passed else 0


def judge(oracle, records, reference=False):
    """The Verdict on all decisions of some records."""
    verdict = Verdict(reference)
    verdict.refused = sum(len(r.get("rejected") or []) for r in records)
    records = [r for r in records if r["outcomes"]]
    command = [oracle, "-batch", "-compact"]
    for record, line in zip(records, play.answers(command, [json.dumps(scenario_of(r)) for r in records])):
        name = record["scenario"]["name"]
        said = json.loads(line) if line is not None else {"error": "it died"}
        if said.get("error"):
            verdict.failed += 1
            print("%s: the oracle: %s" % (name, said["error"]))
            continue
        attempts = [told for told in said["results"] if not told.get("op")]
        for outcome, told, freed in zip(record["outcomes"], attempts, freed_ports(record)):
            verdict.add(name, outcome, told, said, freed)
    return verdict


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("record")
    p.add_argument("--release", default=play.RELEASES[0], choices=play.RELEASES, help="of Kubernetes")
    p.add_argument("--oracle", help="default: what oracle/build makes for that release")
    p.add_argument("--reference", action="store_true", help="the scheduler was kube-scheduler")
    args = p.parse_args()
    with open(args.record) as f:
        verdict = judge(args.oracle or play.oracle_of(args.release), [json.loads(line) for line in f], args.reference)
    sys.exit(verdict.end())


if __name__ == "__main__":
    main()
