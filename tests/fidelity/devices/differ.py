#!/usr/bin/env python3
"""differ: berth's device allocator against upstream's, on random questions.

    differ.py [--seed N] [--count N] [--oracle PROGRAM] [--allocate PROGRAM] [--golden FILE]

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
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")


def answers(program, lines):
    out = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout
    return out.splitlines()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--oracle", default=os.path.join(ROOT, "build/fidelity/devices"))
    parser.add_argument("--allocate", default=os.path.join(ROOT, "build/release/tests/fidelity/devices/allocate"))
    parser.add_argument("--golden", help="where to keep cases and upstream's answers")
    args = parser.parse_args()
    lines = subprocess.run([sys.executable, os.path.join(HERE, "gen.py"), str(args.seed), str(args.count)],
                           capture_output=True, text=True, check=True).stdout
    theirs, ours = answers(args.oracle, lines), answers(args.allocate, lines)
    passed = failed = expired = 0
    golden = []
    outcomes = collections.Counter()
    if len(theirs) != args.count or len(ours) != args.count:
        print("expected %d answers, upstream gave %d and berth %d" % (args.count, len(theirs), len(ours)))
        failed += 1
    for i, (case, their, our) in enumerate(zip(lines.splitlines(), theirs, ours)):
        kept = [case, their]
        try:
            their, our = json.loads(their), json.loads(our)
        except ValueError as error:
            print("case %d: %s: %s" % (i, error, our[:200]))
            failed += 1
            continue
        bad = len(their) != len(our) or not isinstance(our, list)
        for node, (a, b) in enumerate(zip(their, our)):
            outcomes[a["outcome"]] += 1
            if "expired" in (a["outcome"], b["outcome"]):
                expired += 1
            elif a != b:
                bad = True
                print("case %d node %d\n  upstream %s\n  berth    %s" % (i, node, json.dumps(a)[:1500], json.dumps(b)[:1500]))
        if bad:
            failed += 1
            path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "devices-%d-%d.json" % (args.seed, i))
            with open(path, "w", encoding="utf-8") as f:
                f.write(case + "\n")
            print("  the case: %s" % path)
        else:
            passed += 1
            if len(case) < 4000 and "expired" not in kept[1] + json.dumps(our):
                golden += kept
    if args.golden:
        with open(args.golden, "w", encoding="utf-8") as f:
            f.write("\n".join(golden) + "\n")
    print("given up: %d nodes" % expired)
    if expired * 10 > args.count:
        print("that is too many")
        failed += 1
    print(", ".join("%s %d" % (k, v) for k, v in sorted(outcomes.items())))
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
