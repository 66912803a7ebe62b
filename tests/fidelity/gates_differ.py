#!/usr/bin/env python3
"""The table of feature gates (ctl/feature_gates.def) against upstream's source, and what both programs
make of gates.

table: default, stage, lock and dependencies of every gate are those that kube-scheduler itself has
(oracle/gates); and what the table says becomes of a gate agrees with who reads it among the packages
that kube-scheduler is linked from: one that the scheduler's own code reads must be refused, honoured
or said to decide the same.

flips: every gate at its other value, and every set of the gates of gangs, is given to kube-scheduler
and to `berth run`. What one refuses as unknown, locked or without its dependencies the other refuses.
With what both take, each writes its configuration, the other reads it and writes it again: the same
bytes. What upstream writes with gates that are refused here is read without them, with a warning.
"""
import argparse
import collections
import concurrent.futures
import itertools
import os
import re
import subprocess
import sys
import tempfile

from flags_differ import KUBECONFIG

# What decides, or is called by what decides; all other packages are its server, its client and its
# process. What the nodes' declared features do with gates, a kubelet does.
SCHEDULER = ("k8s.io/kubernetes/pkg/scheduler", "k8s.io/kubernetes/cmd/kube-scheduler", "k8s.io/kube-scheduler",
             "k8s.io/component-helpers", "k8s.io/dynamic-resource-allocation", "k8s.io/csi-translation-lib",
             "k8s.io/kubernetes/pkg/api/", "k8s.io/kubernetes/pkg/util", "k8s.io/kubernetes/pkg/apis/core/v1/helper",
             "k8s.io/kubernetes/pkg/apis/core/helper", "k8s.io/kubernetes/pkg/volume")
NOT_SCHEDULER = ("k8s.io/component-helpers/nodedeclaredfeatures/features",)
NOT_READERS = ("k8s.io/kubernetes/pkg/features", "k8s.io/apiserver/pkg/features", "k8s.io/client-go/features")
READ = re.compile(r"\b\w*[fF]eatures?\w*\.(\w+)\b|Enabled\((\w+)\)")
GANGS = ("GenericWorkload", "GangScheduling", "TopologyAwareWorkloadScheduling", "WorkloadAwarePreemption")
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


def readers(gates):
    """{gate: the packages that read it}, of those that kube-scheduler is linked from."""
    listed = subprocess.run(["go", "list", "-deps", "-f", "{{.ImportPath}} {{.Dir}} {{join .GoFiles \",\"}}",
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


def check_table(program, path):
    upstream, table = of_upstream(program), of_table(path)
    faults = ["%s: %s" % (name, "unknown here" if name in upstream else "unknown upstream")
              for name in sorted(set(upstream) ^ set(table))]
    read = readers(upstream)
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
    def __init__(self, theirs, ours, folder):
        self.theirs, self.ours, self.folder = theirs, ours, folder
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
        left = ",".join(g for g in gates.split(",") if g in ("GenericWorkload=true", "GangScheduling=true"))
        wanted, wrong = self.reread(self.theirs, "d%d" % number, left, "a%d" % number)
        again, said = self.reread(self.ours, "c%d" % number, left, "a%d" % number)
        if wanted == again:
            return None
        return "what upstream writes with them is read otherwise without: upstream %s, berth %s" % (
            "takes it" if wanted is not None else wrong, "takes it" if again is not None else said)


def flips(upstream):
    for name in sorted(upstream):
        yield "%s=%s" % (name, "false" if upstream[name].default else "true")
    for count in range(2, len(GANGS) + 1):
        for some in itertools.combinations(GANGS, count):
            yield ",".join("%s=true" % name for name in some)
    yield "AtomicFIFO=false," + ",".join("StaleControllerConsistency%s=false" % k for k in (
        "DaemonSet", "Job", "ReplicaSet", "StatefulSet"))


def check_flips(program, kube, berth):
    asked = list(flips(of_upstream(program)))
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "kubeconfig"), "w", encoding="utf-8") as f:
            f.write(KUBECONFIG)
        pair = Pair([kube, "--authentication-skip-lookup", "--secure-port=0"], [berth, "run"], folder)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            faults = list(pool.map(pair.fault, range(len(asked)), asked))
    for gates, fault in zip(asked, faults):
        if fault:
            print("FAILED flip: %s: %s" % (gates, fault))
    return len(asked), sum(1 for f in faults if f)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", default="build/fidelity/gates")
    parser.add_argument("--kube-scheduler", default="build/controlplane/bin/kube-scheduler")
    parser.add_argument("--berth", default="build/bin/berth")
    parser.add_argument("--table", default="ctl/feature_gates.def")
    args = parser.parse_args()
    all_count, failed = check_table(args.oracle, args.table)
    if os.access(args.kube_scheduler, os.X_OK):
        count, bad = check_flips(args.oracle, args.kube_scheduler, args.berth)
        all_count, failed = all_count + count, failed + bad
    else:
        print("skipped: flips (tests/controlplane/controlplane build makes kube-scheduler)")
    print("%d passed, %d failed" % (all_count - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    sys.exit(main())
