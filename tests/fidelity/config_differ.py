#!/usr/bin/env python3
"""Asks kube-scheduler's own code and berth about configuration files, and shows where they differ.

Compared: whether the file is accepted, the text of the error, and for accepted files the bytes that
--write-config-to writes. The files are those in configs/ and tests/golden/config, seeds that say
everything there is to say, and mutations of these (--count, --seed).
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys

import config_cases

# Differences that are meant. Each is counted by its name.
#   refused       berth does not do that yet and says so by name
#   syntax        both say that the text is no YAML, in the words of their libraries
#   repeated key  upstream tells of a key that stands twice in a YAML mapping behind all else that is
#                 wrong with the file, berth where it stands
#   files         berth-extender reads the files that an extender names when it starts, not the reader
#   groups        the plugin Coscheduling lies outside of upstream's tree; here it is one of those that are known
#   bus plugins   a profile's plugin that is a process on the bus, and its arguments: upstream knows neither
#   older         v1beta2 and v1beta3 are read as v1, with a warning; upstream has forgotten them


def ask(program, questions):
    text = "".join(json.dumps(q) + "\n" for q in questions)
    done = subprocess.run(program, input=text, capture_output=True, check=False, encoding="utf-8",
                          errors="replace")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode != 0 or len(answers) != len(questions):
        sys.exit("%s: status %d after %d of %d answers\n%s" % (
            program[0], done.returncode, len(answers), len(questions), done.stderr[-2000:]))
    return answers


def upstream_errors(answer):
    """Its texts, less what only Go knows of itself."""
    for text in answer.get("errors", []):
        text = re.sub(r' in scheme "pkg/runtime/scheme.go:\d+"', "", text)
        text = text.replace("unmarshal errors:\n  line", "unmarshal errors: line").replace("\n  line", ", line")
        text = re.sub(r"(Kind=\w+): $", r"\1", text)
        # the path of the other profile is a struct without exported fields
        yield re.sub(r"^(profiles\[\d+\]\.schedulerName: Duplicate value: )\{\}$", r"\1", text)


def berth_error(answer):
    text = re.sub(r'(\.schedulerName: Duplicate value: )"profiles\[\d+\]\.schedulerName"', r"\1", answer["error"])
    return re.sub(r" \((at|if it is a process on the bus,) [^()]*\)$", "", text)


def same_errors(wanted, got):
    """Whether got consists of all of wanted, in any order where there are several."""
    if len(wanted) == 1:
        return got == wanted[0]
    if not (got.startswith("[") and got.endswith("]")):
        return False
    rest = got[1:-1]
    for text in sorted(wanted, key=len, reverse=True):
        if text not in rest:
            return False
        rest = rest.replace(text, "", 1)
    return rest.strip(", ") == ""


SYNTAX = re.compile(r"yaml: |unsupported map key|^line \d+, column")


def verdict(theirs, ours):
    """None when they agree, else the name of a difference that is meant, or a text that tells of one that is not."""
    wanted = list(upstream_errors(theirs))
    if "error" not in ours:
        if wanted and "is registered for version \"kubescheduler.config.k8s.io/v1beta" in wanted[0]:
            return "older"
        if wanted and wanted[0].startswith("couldn't build extenders: open "):
            return "files"
        if wanted:
            return "differs: accepted, but upstream says: %s" % "; ".join(wanted)
        return None if theirs["yaml"] == ours["yaml"] else "differs: written otherwise"
    got = berth_error(ours)
    if not wanted:
        if "not supported yet" not in got:
            return "differs: refused: %s" % got
        return "refused" if theirs["yaml"] == ours.get("yaml") else "differs: written otherwise"
    if same_errors(wanted, got):
        return None
    if SYNTAX.search(wanted[0]) and SYNTAX.search(got):
        return "syntax"
    if theirs["stage"] == "decode" and "already set in map" in got:
        return "repeated key"
    if "not supported yet" in got:
        return "refused"
    # libyaml 0.2.5 ends a tag before a bracket, as YAML says; Go's copy of an older one does not.
    if got.startswith("yaml: ") and got.endswith("did not find expected whitespace or line break"):
        return "tag"
    return "differs:\n   upstream: %s\n   berth:    %s" % ("; ".join(wanted), got)


def show(theirs, ours):
    a, b = theirs.get("yaml", "").split("\n"), ours.get("yaml", "").split("\n")
    import difflib
    return "\n".join(list(difflib.unified_diff(a, b, "upstream", "berth", lineterm="", n=1))[:20])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", help="build/fidelity/config, or that of the release")
    parser.add_argument("--berth", default="build/bin/berth")
    parser.add_argument("--release", default="1.36", help="which kube-scheduler berth is to be, and --oracle is")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--show", type=int, default=10, help="differences to show")
    parser.add_argument("--only", help="the case of this name")
    args = parser.parse_args()
    questions = [c for c in config_cases.cases(args.count, args.seed) if args.only in (None, c["name"])]
    args.oracle = args.oracle or "build/fidelity/%sconfig" % ("" if args.release == "1.36" else args.release + "/")
    theirs = ask([args.oracle], questions)
    ours = ask([args.berth, "config", "--batch", "--release", args.release], questions)
    counted, failed = collections.Counter(), 0
    stages = collections.Counter(t["stage"] for t in theirs)
    for q, t, o in zip(questions, theirs, ours):
        result = verdict(t, o)
        if result is not None and "Coscheduling" in q["text"]:
            result = "groups"
        if result is not None and "BusPluginArgs" in q["text"]:
            result = "bus plugins"
        if result is None or not result.startswith("differs"):
            counted[result or "same"] += 1
            continue
        failed += 1
        if failed <= args.show or args.only:
            print("FAILED %s %s\n%s" % (q["name"], result, show(t, o) if "written" in result else ""))
        if args.only:
            print(q["text"])
    print("upstream: %s" % ", ".join("%d %s" % (n, s) for s, n in sorted(stages.items())))
    print("berth: %s" % ", ".join("%d %s" % (n, s) for s, n in sorted(counted.items())))
    print("%d passed, %d failed" % (len(questions) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    sys.exit(main())
