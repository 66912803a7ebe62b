#!/usr/bin/env python3
"""differ: berth's device allocator against upstream's, on random questions.

    differ.py [--release 1.37] [--gates] [--sets] [--groups] [--derived] [--seed N] [--count N] [--oracle PROGRAM] [--allocate PROGRAM] [--golden FILE]

--sets: with attributes that are lists, and DRAListTypeAttributes on or off; --groups: with compatibility
groups, and DRADeviceCompatibilityGroups on or off; --derived: with requests that derive attributes, and
DRADerivedAttributes on or off (both 1.37).
Prints what differs (the case goes to a file that is named) and ends in "N passed, N failed". Whole
answers are compared: outcome, text, steps of the search, and every field of each allocation. Where
one of them gave up (a search takes exponential time at worst) there is nothing to compare; such
nodes are counted and must be few. --golden keeps the shorter cases, a line each, with upstream's
answer in the next line: tests/golden/devices.ndjson, which make test compares without Go.
"""
import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")


def answers(program, lines):
    out = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout
    return out.splitlines()


GATES = {
    "1.36": ["DRAConsumableCapacity", "DRADeviceBindingConditions", "DRADeviceTaints", "DRAPartitionableDevices",
             "DRAPrioritizedList", "DRAResourceClaimDeviceStatus"],
    "1.37": ["DRAConsumableCapacity", "DRADeviceBindingConditions", "DRADeviceTaints", "DRAPartitionableDevices",
             "DRAFractionalCapacityRange"],
}


def gates_of(release, rng):
    """Some of the gates at their other value, as far as they may be."""
    gates = {g: g == "DRAFractionalCapacityRange" for g in GATES[release] if rng.random() < 0.4}
    if "DRAConsumableCapacity" in gates: # the one needs the other
        gates.pop("DRAFractionalCapacityRange", None)
    if "DRADeviceTaints" in gates:
        gates["DRADeviceTaintRules"] = False
    if "DRAResourceClaimDeviceStatus" in gates:
        gates.update({g: False for g in ("DRADeviceBindingConditions", "DRAResourceClaimGranularStatusAuthorization")})
    return gates


def left_to_chance(case):
    """With these gates off upstream's order of pools is that of a Go map."""
    gates = {g for g, on in json.loads(case).get("featureGates", {}).items() if not on}
    return {"DRAConsumableCapacity", "DRADeviceBindingConditions"} <= set(gates)


def by_pool(case):
    """The case with its slices as berth orders them. A Go map of up to eight is walked in the order in
    which it was filled, from any place on and around: of another filling berth's order may never come."""
    case = json.loads(case)
    case["slices"].sort(key=lambda s: (s["spec"]["driver"], s["spec"]["pool"]["name"], s["metadata"]["name"]))
    return json.dumps(case) + "\n"


def posed(line, args, number):
    """The question as it is asked: of which release and with which gates."""
    head = {"release": 37} if args.release == "1.37" else {}
    rng = random.Random("%d %d" % (args.seed, number))
    if args.gates:
        head["featureGates"] = gates_of(args.release, rng)
    if args.sets:
        head.setdefault("featureGates", {})["DRAListTypeAttributes"] = rng.random() < 0.8
    if args.groups and args.release == "1.37":
        gates = head.setdefault("featureGates", {})
        gates["DRADeviceCompatibilityGroups"] = rng.random() < 0.8 and gates.get("DRAPartitionableDevices", True)
    if args.derived and args.release == "1.37":
        head.setdefault("featureGates", {})["DRADerivedAttributes"] = rng.random() < 0.9
    return json.dumps(head)[:-1] + (", " if head else "") + line[1:]


def told(answer):
    """Which of several lists in a device is told of, where lists are errors, is left to chance."""
    text = answer.get("text", "")
    return {**answer, "text": re.sub(r"attribute \S+: unsupported", "attribute: unsupported", text)} if text else answer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gates", action="store_true", help="with some gates at their other value")
    parser.add_argument("--sets", action="store_true", help="with attributes that are lists")
    parser.add_argument("--groups", action="store_true", help="with compatibility groups")
    parser.add_argument("--derived", action="store_true", help="with attributes that are derived")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--release", default="1.36", choices=["1.36", "1.37"])
    parser.add_argument("--oracle", help="upstream's side; else that of the release in build/fidelity")
    parser.add_argument("--allocate", default=os.path.join(ROOT, "build/release/tests/fidelity/devices/allocate"))
    parser.add_argument("--golden", help="where to keep cases and upstream's answers")
    args = parser.parse_args()
    where = "" if args.release == "1.36" else args.release
    oracle = args.oracle or os.path.join(ROOT, "build/fidelity", where, "devices")
    lines = subprocess.run([sys.executable, os.path.join(HERE, "gen.py"), str(args.seed), str(args.count)] + ["sets"] * args.sets + ["groups"] * args.groups + ["derived"] * args.derived,
                           capture_output=True, text=True, check=True).stdout
    lines = "".join(posed(line, args, i) + "\n" for i, line in enumerate(lines.splitlines()))
    theirs, ours = answers(oracle, lines), answers(args.allocate, lines)
    passed = failed = expired = chance = 0
    golden = []
    outcomes = collections.Counter()
    if len(theirs) != args.count or len(ours) != args.count:
        print("FAILED: expected %d answers, upstream gave %d and berth %d" % (args.count, len(theirs), len(ours)))
        failed += 1
    for i, (case, their, our) in enumerate(zip(lines.splitlines(), theirs, ours)):
        kept = [case, their]
        try:
            their, our = json.loads(their), json.loads(our)
        except ValueError as error:
            print("FAILED case %d: %s: %s" % (i, error, our[:200]))
            failed += 1
            continue
        bad = len(their) != len(our) or not isinstance(our, list)
        chances = None
        for node, (a, b) in enumerate(zip(map(told, their), map(told, our))):
            outcomes[a["outcome"]] += 1
            if "expired" in (a["outcome"], b["outcome"]):
                expired += 1
            elif a != b and left_to_chance(case):
                chances = chances or [json.loads(x) for x in answers(oracle, by_pool(case) * 100)]
                chance += 1
                bad = bad or not any(x[node] == b for x in chances)
            elif a != b:
                bad = True
                print("FAILED case %d node %d\n  upstream %s\n  berth    %s" % (i, node, json.dumps(a)[:1500], json.dumps(b)[:1500]))
        if bad:
            failed += 1
            path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "devices-%d-%d.json" % (args.seed, i))
            with open(path, "w", encoding="utf-8") as f:
                f.write(case + "\n")
            print("  the case: %s" % path)
        else:
            passed += 1
            if len(case) < 4000 and not chances and not any(w in kept[1] + json.dumps(our) for w in ("expired", "unsupported attribute")):
                golden += kept
    if args.golden:
        with open(args.golden, "w", encoding="utf-8") as f:
            f.write("\n".join(golden) + "\n")
    print("given up: %d nodes; left to chance: %d nodes" % (expired, chance))
    if expired * 10 > args.count:
        print("FAILED: that is too many")
        failed += 1
    print(", ".join("%s %d" % (k, v) for k, v in sorted(outcomes.items())))
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
