#!/usr/bin/env python3
"""The table of feature gates (proto/kube/release) against upstream's source, and what both programs
make of gates.

table: default, stage, lock and dependencies of every gate are those that kube-scheduler itself has
(oracle/gates); and what the table says becomes of a gate agrees with who reads it among the packages
that kube-scheduler is linked from: one that the scheduler's own code reads must be refused, honoured
or said to decide the same.

flips: every gate at its other value, and every set of the gates of gangs, is given to kube-scheduler
and to `berth run`. What one refuses as unknown, locked or without its dependencies the other refuses.
With what both take, each writes its configuration, the other reads it and writes it again: the same
bytes. What upstream writes with gates that are refused here is read without them, with a warning.

cases: every gate that is honoured has a scenario that its two values decide otherwise
(gate_cases.py), or a test that is named there: kube-scheduler's decisions and berth's are compared at
both values, and kube-scheduler's at one value with those at the other.

--release says which Kubernetes release: its table, its source (a modfile of oracle/ each) and its
programs.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

import gate_cases
import play
import view
from flags_differ import KUBECONFIG

# What decides, or is called by what decides; all other packages are its server, its client and its
# process. What the nodes' declared features do with gates, a kubelet does; a pod's class of quality of
# service is what validation asks, and nobody who decides.
SCHEDULER = ("k8s.io/kubernetes/pkg/scheduler", "k8s.io/kubernetes/cmd/kube-scheduler", "k8s.io/kube-scheduler",
             "k8s.io/component-helpers", "k8s.io/dynamic-resource-allocation", "k8s.io/csi-translation-lib",
             "k8s.io/kubernetes/pkg/api/", "k8s.io/kubernetes/pkg/util", "k8s.io/kubernetes/pkg/apis/core/v1/helper",
             "k8s.io/kubernetes/pkg/apis/core/helper", "k8s.io/kubernetes/pkg/volume")
NOT_SCHEDULER = ("k8s.io/component-helpers/nodedeclaredfeatures/features",
                 "k8s.io/kubernetes/pkg/apis/core/helper/qos")
NOT_READERS = ("k8s.io/kubernetes/pkg/features", "k8s.io/apiserver/pkg/features", "k8s.io/client-go/features")
READ = re.compile(r"\b\w*[fF]eatures?\w*\.(\w+)\b|Enabled\((\w+)\)")
MODFILES = {"1.36": "go.mod", "1.37": "go137.mod"}
# The gates of gangs: together they make sense, so each set of them is tried.
GANGS = {"1.36": ("GenericWorkload", "GangScheduling", "TopologyAwareWorkloadScheduling", "WorkloadAwarePreemption"),
         "1.37": ("GenericWorkload", "TopologyAwareWorkloadScheduling", "CompositePodGroup", "PodGroupPreemptionPolicy")}
Gate = collections.namedtuple("Gate", "default locked stage needs")


def of_upstream(program):
    text = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    rows = [line.split(" ") for line in text.splitlines()]
    return {r[0]: Gate(r[1] == "true", r[2] == "true", r[3], set(filter(None, r[4].split(",")))) for r in rows}


def of_table(path):
    """{name: (Gate, what becomes of it)}"""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    needs = collections.defaultdict(set)
    for name, need in re.findall(r"^NEEDS\((\w+), (\w+)\)", text, re.M):
        needs[name].add(need)
    return {name: (Gate(default == "true", kind == "LOCKED", stage, needs[name]), kind)
            for name, default, stage, kind in re.findall(r"^GATE\((\w+), (\w+), (\w+), (\w+)\)", text, re.M)}


def readers(gates, release):
    """{gate: the packages that read it}, of those that kube-scheduler is linked from."""
    listed = subprocess.run(["go", "list", "-modfile=" + MODFILES[release], "-deps", "-f",
                             "{{.ImportPath}} {{.Dir}} {{join .GoFiles \",\"}}",
                             "k8s.io/kubernetes/cmd/kube-scheduler"], cwd="tests/fidelity/oracle",
                            capture_output=True, text=True, check=True).stdout
    found = collections.defaultdict(set)
    for line in listed.splitlines():
        package, folder, files = line.split(" ")
        if not package.startswith("k8s.io/") or package in NOT_READERS:
            continue
        for name in filter(None, files.split(",")):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                text = re.sub(r"//.*", "", f.read())
            for gate in (a or b for a, b in READ.findall(text)):
                if gate in gates:
                    found[gate].add(package)
    return found


def group_of(packages):
    """Who reads a gate: "scheduler", "library" or nobody."""
    own = [p for p in packages if p.startswith(SCHEDULER) and not p.startswith(NOT_SCHEDULER)]
    return "scheduler" if own else "library" if packages else "nobody"


def check_table(program, path, release):
    upstream, table = of_upstream(program), of_table(path)
    faults = ["%s: %s" % (name, "unknown here" if name in upstream else "unknown upstream")
              for name in sorted(set(upstream) ^ set(table))]
    read = readers(upstream, release)
    if group_of(read["DRAPrioritizedList"]) != "scheduler" or group_of(read["AtomicFIFO"]) != "library":
        faults.append("the search for readers found neither DRAPrioritizedList's nor AtomicFIFO's")
    for name in sorted(set(upstream) & set(table)):
        gate, kind = table[name]
        if gate != upstream[name]:
            faults.append("%s: is %s, upstream %s" % (name, gate, upstream[name]))
        if kind == "LOCKED" or name in ("AllAlpha", "AllBeta"):
            continue
        allowed = {"scheduler": ("REFUSED", "HONOURED", "SAME"), "library": ("LIBRARY",), "nobody": ("ELSEWHERE",)}
        who = group_of(read[name])
        if kind not in allowed[who]:
            faults.append("%s: is %s, but is read by %s" % (name, kind, ", ".join(sorted(read[name])[:4]) or "nobody"))
    for fault in faults:
        print("FAILED table: %s" % fault)
    return len(upstream), len(faults)


# ---- both programs ----

def write(program, folder, tag, gates, words):
    """What --write-config-to writes, or (None, the last line that it says)."""
    out = os.path.join(folder, tag)
    command = program + ["--feature-gates=" + gates, "--write-config-to=" + out] + words
    done = subprocess.run(command, capture_output=True, timeout=120, check=False, encoding="utf-8", errors="replace")
    if done.returncode != 0 or not os.path.exists(out):
        return None, (done.stderr.strip() or "said nothing").split("\n")[-1]
    with open(out, encoding="utf-8") as f:
        return f.read(), done.stderr


class Pair:
    def __init__(self, theirs, ours, folder, release):
        self.theirs, self.ours, self.folder = theirs, ours, folder
        self.honoured = {"1.36": ("GenericWorkload=true", "GangScheduling=true"), "1.37": ("GenericWorkload=true",)}[release]
        self.kubeconfig = ["--kubeconfig=" + os.path.join(folder, "kubeconfig")]

    def reread(self, program, tag, gates, source):
        return write(program, self.folder, tag, gates, ["--config=" + os.path.join(self.folder, source)])

    def fault(self, number, gates):
        """None, or what is wrong with what both make of these gates."""
        a, said_a = write(self.theirs, self.folder, "a%d" % number, gates, self.kubeconfig)
        b, said_b = write(self.ours, self.folder, "b%d" % number, gates, self.kubeconfig)
        if a is None or b is None:
            if a is None and b is None:
                return None
            if b is None and "not supported yet: feature gate" in said_b:
                return self.refused_fault(number, gates)
            return "upstream: %s\n   berth: %s" % (said_a[-300:] if a is None else "takes it",
                                                   said_b[-300:] if b is None else "takes it")
        if a != b:
            return "written otherwise"
        for program, source in ((self.ours, "a"), (self.theirs, "b")):
            again, said = self.reread(program, "c%d" % number, gates, "%s%d" % (source, number))
            if again is None or again != a:
                return "%s reads %s's and %s" % (program[0], source, said if again is None else "writes it otherwise")
        return None

    def refused_fault(self, number, gates):
        """What upstream wrote with gates that are refused here is read, without them, as it reads it itself."""
        left = ",".join(g for g in gates.split(",") if g in self.honoured)
        wanted, wrong = self.reread(self.theirs, "d%d" % number, left, "a%d" % number)
        again, said = self.reread(self.ours, "c%d" % number, left, "a%d" % number)
        if wanted == again:
            return None
        return "what upstream writes with them is read otherwise without: upstream %s, berth %s" % (
            "takes it" if wanted is not None else wrong, "takes it" if again is not None else said)


def with_them(upstream, table, special, value):
    """The gates that go with one that stands for many: those that are refused here as they are by default,
    and those that take one of them."""
    stage = {"AllAlpha": "ALPHA", "AllBeta": "BETA"}[special]
    set_to = {name: gate.default for name, gate in upstream.items()
              if gate.stage == stage and table[name][1] == "REFUSED" and gate.default != (value == "true")}
    def is_on(name):
        own = upstream[name]
        return set_to.get(name, value == "true" if own.stage == stage else own.default)
    for _ in upstream:  # until each that is on has what it takes
        lacking = [n for n, g in upstream.items() if is_on(n) and not all(is_on(need) for need in g.needs)]
        set_to.update((name, False) for name in lacking if not upstream[name].locked)
    return ["%s=%s" % (name, str(on).lower()) for name, on in sorted(set_to.items())]


def flips(upstream, table, release):
    gangs = GANGS[release]
    for name in sorted(upstream):
        yield "%s=%s" % (name, "false" if upstream[name].default else "true")
    for count in range(2, len(gangs) + 1):
        for some in itertools.combinations(gangs, count):
            yield ",".join("%s=true" % name for name in some)
    for special, value in itertools.product(("AllAlpha", "AllBeta"), ("true", "false")):
        yield ",".join(["%s=%s" % (special, value)] + with_them(upstream, table, special, value))
    yield "AtomicFIFO=false," + ",".join("StaleControllerConsistency%s=false" % k for k in (
        "DaemonSet", "Job", "ReplicaSet", "StatefulSet"))


def check_flips(program, kube, berth, table, release):
    asked = list(flips(of_upstream(program), of_table(table), release))
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "kubeconfig"), "w", encoding="utf-8") as f:
            f.write(KUBECONFIG)
        pair = Pair([kube, "--authentication-skip-lookup", "--secure-port=0"],
                    [berth, "run", "--emulated-version=" + release], folder, release)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            faults = list(pool.map(pair.fault, range(len(asked)), asked))
    for gates, fault in zip(asked, faults):
        if fault:
            print("FAILED flip: %s: %s" % (gates, fault))
    return len(asked), sum(1 for f in faults if f)


# ---- decisions ----

def case_fault(gate, played):
    """None, or what is wrong with what both decide without the gate and with it."""
    for value, one in zip(("false", "true"), played):
        trouble = one.oracle_trouble() or (json.loads(one.expected).get("error") and one.expected)
        if trouble:
            return "%s=%s: the oracle cannot judge: %s" % (gate, value, str(trouble)[:500])
        found = one.difference()
        if found:
            return "%s=%s: %s" % (gate, value, str(found)[:1500])
    if view.difference(json.loads(played[0].expected), json.loads(played[1].expected)) is None:
        return "%s: its values decide the same" % gate
    return None


def check_cases(table, oracle, berth, release):
    kinds = {name: kind for name, (_, kind) in of_table(table).items()}
    honoured = sorted(name for name, kind in kinds.items() if kind == "HONOURED")
    faults = ["%s: has no case" % name for name in honoured
              if name not in gate_cases.CASES and name not in gate_cases.ELSEWHERE]
    asked = [name for name in honoured if name in gate_cases.CASES]
    players = play.Players(oracle, berth, release=release)
    lines = [s for name in asked for s in gate_cases.scenarios(name, kinds)]
    played = list(players.play(lines))
    for i, name in enumerate(asked):
        fault = case_fault(name, played[2 * i:2 * i + 2])
        if fault:
            faults.append(fault)
    for fault in faults:
        print("FAILED case: %s" % fault)
    return len(honoured), len(faults)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", default="1.36", choices=play.RELEASES, help="of Kubernetes")
    parser.add_argument("--oracle", help="default: what oracle/build makes for that release")
    parser.add_argument("--kube-scheduler", help="default: what controlplane build makes for that release")
    parser.add_argument("--berth", default="build/bin/berth")
    parser.add_argument("--table", help="default the release's in proto/kube/release")
    args = parser.parse_args()
    oracle = args.oracle or os.path.join(os.path.dirname(play.oracle_of(args.release)), "gates")
    kube = args.kube_scheduler or play.kube_scheduler_of(args.release)
    table = args.table or "proto/kube/release/release_%s.def" % args.release.replace(".", "_")
    all_count, failed = check_table(oracle, table, args.release)
    decide = os.path.join(os.path.dirname(oracle), "oracle")
    count, bad = check_cases(table, decide, args.berth, args.release)
    all_count, failed = all_count + count, failed + bad
    if os.access(kube, os.X_OK):
        count, bad = check_flips(oracle, kube, args.berth, table, args.release)
        all_count, failed = all_count + count, failed + bad
    else:
        print("skipped: flips (there is no %s)" % kube)
    print("%d passed, %d failed" % (all_count - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    sys.exit(main())
