#!/usr/bin/env python3
"""Asks upstream's device selectors and ours the same and shows where they differ.

  differ.py [FILE...]            expressions, one a line; without a file those of corpus.txt
  differ.py --random COUNT SEED  expressions made at random
  differ.py --golden OUT         writes what upstream answers to corpus.txt, for make test
  differ.py --release 1.37 ...   any of these with that release
  differ.py --lists ...          any of these, behind a release, with DRAListTypeAttributes

Equal means: the same compile errors (of syntax errors only that there is one, because the parser
generator's lists of what it expected are not repeated), the same verdicts, runtime errors and costs.
"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
ARGS = sys.argv[1:]
RELEASE = "1.36"
if ARGS[:1] == ["--release"]:
    RELEASE, ARGS = ARGS[1], ARGS[2:]
LISTS = ["lists"] if ARGS[:1] == ["--lists"] else []
ARGS = ARGS[len(LISTS):]
ORACLE = [os.environ.get("CEL_ORACLE", os.path.join(ROOT, "build/fidelity", "" if RELEASE == "1.36" else RELEASE, "cel"))] + LISTS
OURS = [os.environ.get("CEL_OURS", os.path.join(ROOT, "build/release/tests/fidelity/cel/answer")), RELEASE] + LISTS


def devices():
    """Where lists are errors, which of several is told is left to chance."""
    with open(os.path.join(HERE, "devices.json"), encoding="utf-8") as f:
        found = json.load(f)
    seen = LISTS or RELEASE != "1.36"
    return [d for d in found if seen or sum(1 for a in d.get("attributes", {}).values() for kind in a if kind[-1:] == "s") < 2]


def ask(program, expressions, of):
    text = "".join(json.dumps({"expression": e, "devices": of}) + "\n" for e in expressions)
    done = subprocess.run(program, input=text, capture_output=True, text=True, timeout=1200)
    if done.returncode != 0:
        sys.exit("%s: exit %d\n%s" % (program[0], done.returncode, done.stderr[-2000:]))
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def comparable(answer):
    """What must be equal of an answer."""
    error = answer.get("compileError")
    if error is None:
        return {"outcomes": [{"cost": 0, **outcome} for outcome in answer["outcomes"]]}
    if "Syntax error" in error or "recursion" in error:
        return {"compileError": "a syntax error"}
    # A macro may put an argument into the tree twice, and upstream then tells its faults twice.
    told = []
    error = re.sub(r"_var[0-9]+", "_var", error)  # numbers of variables that nothing was bound to
    for fault in re.sub("^compilation failed: ERROR: ", "", error).split("\nERROR: "):
        if fault not in told:
            told.append(fault)
    return {"compileError": "\nERROR: ".join(told)}


def golden(answer):
    return comparable(answer) if comparable(answer) == {"compileError": "a syntax error"} else answer


def excused(answer):
    return "not supported by berth" in json.dumps(answer)


def compare(expressions):
    of = devices()
    theirs, ours = ask(ORACLE, expressions, of), ask(OURS, expressions, of)
    if len(theirs) != len(expressions) or len(ours) != len(expressions):
        sys.exit("answers are missing: %d and %d of %d" % (len(theirs), len(ours), len(expressions)))
    different, refused, kinds = 0, 0, {}
    for expression, a, b in zip(expressions, theirs, ours):
        for outcome in a.get("outcomes", [{"verdict": "compile error"}]):
            kinds[outcome["verdict"]] = kinds.get(outcome["verdict"], 0) + 1
        if comparable(a) == comparable(b):
            continue
        if excused(b) or a.get("compileError", "").startswith("panic:"):
            refused += 1
            continue
        different += 1
        if different <= 20:
            print("%s\n  upstream: %s\n  berth:    %s" % (expression, json.dumps(a), json.dumps(b)))
    print("%d expressions on %d devices: %d different, %d not supported (or upstream panics); %s" %
          (len(expressions), len(of), different, refused,
           ", ".join("%s %d" % item for item in sorted(kinds.items()))))
    return 1 if different else 0


def read(path):
    with open(path, encoding="utf-8") as f:
        return [line.rstrip("\n") for line in f if line.strip() and not line.startswith("#")]


def main():
    args = ARGS
    if args[:1] == ["--random"]:
        sys.path.insert(0, HERE)
        import gen
        return compare(gen.expressions(int(args[1]), int(args[2])))
    if args[:1] == ["--golden"]:
        expressions = read(os.path.join(HERE, "corpus.txt"))
        with open(args[1], "w", encoding="utf-8") as f:
            f.write(json.dumps(devices()) + "\n")
            for e, a in zip(expressions, ask(ORACLE, expressions, devices())):
                f.write(json.dumps({"expression": e, "answer": golden(a)}, ensure_ascii=False) + "\n")
        return 0
    paths = args or [os.path.join(HERE, "corpus.txt")]
    return compare([e for path in paths for e in read(path)])


sys.exit(main())
