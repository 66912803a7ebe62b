#!/usr/bin/env python3
"""Compares berth's decisions with the real kube-scheduler's, scenario by scenario.

    differ.py [--count N] [--seed S] [--kinds K,…] [--shards 1,2,3,7] [--oracle PATH] [--berth PATH]
              [--scenarios FILE …] [--show N] [--keep DIR]

Scenarios come from gen.py, or from files: one JSON document each, or one a line in *.ndjson. The
oracle fills in what the API server would have (-defaults-only); then both decide the same stream.
Ends with `N passed, M failed` and status 1 when anything differs.

What upstream leaves to chance is not compared: see oracle/README.md, Limits. Where the oracle says
that a pod preempts, berth must say that preemption would help and that it is not supported yet."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
OURS = {"TaintToleration", "NodeAffinity", "NodeResourcesFit", "NodeResourcesBalancedAllocation", "ImageLocality"}


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--count", type=int, default=500)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--kinds", default="")
    p.add_argument("--shards", default="1,2,3,7")
    p.add_argument("--oracle", default=os.path.join(TOP, "build/fidelity/oracle"))
    p.add_argument("--berth", default=os.path.join(TOP, "build/bin/berth"))
    p.add_argument("--scenarios", nargs="*", default=[])
    p.add_argument("--show", type=int, default=5, help="differences to show in full")
    p.add_argument("--keep", help="folder for the streams, to look at them later")
    return p.parse_args()


def run(command, text):
    done = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit("differ.py: %s ended with status %d" % (" ".join(command), done.returncode))
    return done.stdout.decode()


def scenarios(args):
    if not args.scenarios:
        command = [sys.executable, os.path.join(HERE, "gen.py"), str(args.count), str(args.seed)]
        return run(command + ([args.kinds] if args.kinds else []), "")
    lines = []
    for path in args.scenarios:
        with open(path) as f:
            text = f.read()
        lines += text.splitlines() if path.endswith(".ndjson") else [json.dumps(json.loads(text))]
    return "\n".join(lines) + "\n"


def only_ours(scores):
    return {k: v for k, v in (scores or {}).items() if k in OURS}


def node_view(n, complete):
    f = n.get("filter") or {}
    view = {"code": f.get("code"), "plugin": f.get("plugin", ""), "reasons": f.get("reasons", [])}
    for part in ("raw", "normalized", "weighted"):
        if part in n:
            view[part] = only_ours(n[part])
    if complete:
        view["total"] = n.get("total")
    return view


def pre_filter_view(p):
    if p is None:
        return None
    s = p["status"]
    view = {"code": s["code"], "plugin": s.get("plugin", ""), "reasons": s.get("reasons", []),
            "nodes": p.get("nodes"), "byNodes": p.get("byNodes", [])}
    if s["code"] == "Success":
        view["skipped"] = p.get("skipped", [])
    return view


def view(r, complete):
    """What of a result is compared."""
    v = {k: r.get(k) for k in ("op", "pod", "profile", "priority", "result", "numNodes", "feasible", "message",
                               "reason", "preEnqueue", "nominatedNodeUsed", "scoringSkipped", "choice", "choiceOK")}
    v["unschedulablePlugins"] = r.get("unschedulablePlugins", [])
    v["preFilter"] = pre_filter_view(r.get("preFilter"))
    v["nodes"] = {n["name"]: node_view(n, complete) for n in r.get("nodes") or []}
    v["numNodes"] = v["numNodes"] or 0
    v["feasible"] = v["feasible"] or 0
    if complete:
        v["node"] = r.get("node")
        v["bestNodes"] = r.get("bestNodes", [])
    if v["result"] == "error":
        v["message"] = None
    if r.get("op"):
        v["pod"] = v["pod"] if v["result"] != "error" else None
    return v


def as_if_preempting(r):
    """berth names what it cannot do yet; the oracle does it."""
    if r["result"] == "unschedulable" and r.get("error", "").startswith("not supported yet: preemption"):
        return dict(r, result="preempting")
    return r


def first_difference(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict):
        for k in sorted(set(a) | set(b)):
            d = first_difference(a.get(k), b.get(k), "%s.%s" % (path, k))
            if d:
                return d
        return None
    return None if a == b else "%s: oracle %s, berth %s" % (path, json.dumps(a), json.dumps(b))


def compare(expected, got):
    """None, or where and how the two first differ."""
    if expected.get("error") or got.get("error"):
        same = bool(expected.get("error")) == bool(got.get("error"))
        return None if same else "error: oracle %r, berth %r" % (expected.get("error"), got.get("error"))
    a, b = expected["results"], got["results"]
    weights = (expected.get("profiles") or [{}])[0].get("weights", {})
    complete = set(weights) <= OURS
    for i, (x, y) in enumerate(zip(a, b)):
        x.pop("retry", None)
        d = first_difference(view(x, complete), view(as_if_preempting(y), complete))
        if d:
            return "pods[%d] %s%s" % (i, x.get("pod", ""), d)
    return None if len(a) == len(b) else "%d results, berth has %d" % (len(a), len(b))


def decide(args, defaulted):
    """What both sides say of the same stream; berth by number of shards."""
    expected = run([args.oracle, "-batch", "-compact", "-nocheck"], defaulted)
    outputs = {n: run([args.berth, "simulate", "-batch", "-shards", n], defaulted) for n in args.shards.split(",")}
    return expected, outputs


def play(args, folder):
    defaulted = run([args.oracle, "-batch", "-defaults-only"], scenarios(args))
    expected, outputs = decide(args, defaulted)
    for name, text in [("scenarios", defaulted), ("oracle", expected)] + list(outputs.items()):
        with open(os.path.join(folder, name + ".ndjson"), "w") as f:
            f.write(text)
    return defaulted.splitlines(), expected.splitlines(), {n: text.splitlines() for n, text in outputs.items()}


def difference_in(expected, got):
    """Between the oracle's line and berth's lines by number of shards; None if there is none."""
    first = next(iter(got))
    for n, line in got.items():
        if line is None:
            return "berth with %s shards printed nothing" % n
        if line != got[first]:
            return "%s and %s shards give different output" % (first, n)
    return compare(json.loads(expected), json.loads(got[first]))


def oracle_wavers(args, scenario, expected, got):
    """True when, asked again, the oracle alone says something else and agrees: it waits for informers
    with a time limit, which a busy machine can break."""
    again, outputs = decide(args, scenario + "\n")
    lines = {n: text.rstrip("\n") for n, text in outputs.items()}
    return lines == got and again.rstrip("\n") != expected and difference_in(again, lines) is None


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as folder:
        if args.keep:
            os.makedirs(args.keep, exist_ok=True)
        defaulted, expected, outputs = play(args, args.keep or folder)
    passed = failed = wavering = attempts = 0
    for i, line in enumerate(expected):
        want = json.loads(line)
        if want.get("error", "").startswith("panic"):
            continue
        attempts += len(want["results"])
        got = {n: lines[i] if i < len(lines) else None for n, lines in outputs.items()}
        difference = difference_in(line, got)
        if difference and oracle_wavers(args, defaulted[i], line, got):
            wavering += 1
            print("%s: the oracle took it back: %s" % (want.get("name", i), difference))
            difference = None
        passed += difference is None
        failed += difference is not None
        if difference and failed <= args.show:
            print("%s: %s" % (want.get("name", i), difference))
    print("%d scenarios, %d results, shards %s, %d where the oracle gave two answers"
          % (passed + failed, attempts, args.shards, wavering))
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed or passed == 0 else 0)


if __name__ == "__main__":
    main()
