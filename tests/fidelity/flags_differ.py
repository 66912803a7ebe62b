#!/usr/bin/env python3
"""Command lines for kube-scheduler, given to it and to `berth run`: the same exit status, and where both accept, the
same bytes behind --write-config-to. And every flag that kube-scheduler's --help lists is known to berth.

--release says which kube-scheduler it is; `berth run` is then told to be that one, too. Of versions (VERSIONS) berth
takes what 1.37's takes, whichever release it is then, and what is wrong with them is said in the same words; those that
kube-scheduler emulates and berth has no table for are refused by name.

Needs that kube-scheduler (tests/controlplane/controlplane build --release R).
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import play

KUBECONFIG = """apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""
FILE = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: KUBECONFIG, burst: 70}
leaderElection: {leaseDuration: 40s, renewDeadline: 30s}
"""
LABELS = """scheduler_pending_pods,queue: active,backoff
a,b: 5
c,d:
"""
NESTED = """allowListMapping:
  a,b: c
"""
FILES = {"--kubeconfig=K": "kubeconfig", "--config=F": "config", "--allow-metric-labels-manifest=L": "labels",
         "--allow-metric-labels-manifest=N": "nested"}
# Command lines on which both must agree; K: a kubeconfig, F: a configuration file that names it, L and N: manifests of labels.
SAME = """
--kubeconfig=K
--config=F
--config=F --kube-api-qps=7 --kube-api-burst=9 --profiling=false --contention-profiling=false
--config=F --leader-elect-lease-duration=50s --leader-elect-renew-deadline=45s --leader-elect-retry-period=3s
--config=F --leader-elect=false
--config=F --leader-elect-renew-deadline=41s
--config=F --leader-elect-resource-name=a --leader-elect-resource-namespace=b
--config=/nonexistent
--kubeconfig=/nonexistent
--kubeconfig=K --kube-api-qps=7.5 --kube-api-burst=9
--kubeconfig=K --kube-api-qps=x
--kubeconfig=K --kube-api-burst=1.5
--kubeconfig=K --kube-api-content-type=application/json
--kubeconfig=K --profiling=false --contention-profiling=false
--kubeconfig=K --profiling=maybe
--kubeconfig=K --leader-elect=false
--kubeconfig=K --leader-elect
--kubeconfig=K --leader-elect=perhaps
--kubeconfig=K --leader-elect-retry-period=3
--kubeconfig=K --leader-elect-retry-period=1m30s
--kubeconfig=K --leader-elect-resource-lock=configmaps
--kubeconfig=K --master=http://127.0.0.1:2
--kubeconfig=K --feature-gates=OpportunisticBatching=false
--kubeconfig=K --feature-gates=kube:OpportunisticBatching=false,SchedulerAsyncPreemption=false
--kubeconfig=K --feature-gates=Foo=true
--kubeconfig=K --feature-gates=DynamicResourceAllocation=false
--kubeconfig=K --feature-gates=OpportunisticBatching
--kubeconfig=K --feature-gates=OpportunisticBatching=maybe
--kubeconfig=K --feature-gates=Foo=true --feature-gates=OpportunisticBatching=false
--kubeconfig=K --feature-gates=OpportunisticBatching=false --feature-gates=Foo=true
--kubeconfig=K --feature-gates=OpportunisticBatching=maybe --feature-gates=OpportunisticBatching=true
--kubeconfig=K --tls-cipher-suites=Foo --tls-cipher-suites=TLS_RSA_WITH_AES_128_GCM_SHA256
--kubeconfig=K --logging-format=text
--kubeconfig=K --logging-format=json
--kubeconfig=K --logging-format=xml
--kubeconfig=K --log-flush-frequency=1s
--kubeconfig=K --log-flush-frequency=often
--kubeconfig=K --secure-port=0
--kubeconfig=K --secure-port=10300
--kubeconfig=K --secure-port=70000
--kubeconfig=K --secure-port=x
--kubeconfig=K --pod-max-in-unschedulable-pods-duration=1m
--kubeconfig=K --pod-max-in-unschedulable-pods-duration=soon
--kubeconfig=K --authorization-always-allow-paths=/healthz --http2-max-streams-per-connection=10
--kubeconfig=K --disable-http2-serving --permit-port-sharing=true --permit-address-sharing
--kubeconfig=K --disable-http2-serving=2
--kubeconfig=K --disabled-metrics=a,b --v=2
--kubeconfig=K --disabled-metrics=a --disabled-metrics="b",c
--kubeconfig=K --disabled-metrics=a,,b
--kubeconfig=K --disabled-metrics=a-b
--kubeconfig=K --allow-metric-labels=scheduler_pending_pods,queue=active,backoff
--kubeconfig=K --allow-metric-labels="a,b=1","c,d=2,3" --allow-metric-labels=e,f=
--kubeconfig=K --allow-metric-labels=a,b=1,c,d=2
--kubeconfig=K --allow-metric-labels=a"b",c=1,d,e=2
--kubeconfig=K --allow-metric-labels=a
--kubeconfig=K --allow-metric-labels=a=b
--kubeconfig=K --allow-metric-labels=1a,b=c
--kubeconfig=K --allow-metric-labels-manifest=/nonexistent
--kubeconfig=K --allow-metric-labels-manifest=L
--kubeconfig=K --allow-metric-labels-manifest=N
--kubeconfig=K --allow-metric-labels-manifest=L --allow-metric-labels=a,b=c
--kubeconfig=K --nope
--kubeconfig=K --kube-api-qps
""".strip().split("\n")
# The same for one release.
SAME_BY = {"1.36": """
--kubeconfig=K --feature-gates=GangScheduling=false
--kubeconfig=K --emulated-version=1.36
--kubeconfig=K --emulated-version=kube=1.36
--kubeconfig=K --show-hidden-metrics-for-version=1.35
--kubeconfig=K --show-hidden-metrics-for-version=1.36
""".strip().split("\n"), "1.37": """
--kubeconfig=K --feature-gates=GangScheduling=false
--kubeconfig=K --feature-gates=SchedulerPreQueueingHints=true
--kubeconfig=K --show-hidden-metrics-for-version=1.36
--kubeconfig=K --show-hidden-metrics-for-version=1.35
--kubeconfig=K --show-hidden-metrics-for-version=1.37
""".strip().split("\n")}
# Each flag's values, for 1.37: E the version that is emulated, M the least that is compatible.
VERSIONS = """
E=1.36 | E=1.37 | E=1.35 | E=1.34 | E=1.33 | E=1.38 | E=2.0 | E=1 | E=x | E= | E=v1.36 | E= 1.36 | E=1.36.0 | E=1.36.3
E=1.36.03 | E=1.36-alpha.1 | E=1.36x | E=01.36 | E=1.036 | E=99999999999999999999.1 | E=kube=1.36 | E=kube= 1.36 | E=kube=
E=1.36 E=1.36 | E=1.36 E=1.37 | E=foo=1.36 | E=a=b=c | E=1.36,1.36 | E=kube=1.36,1.35 | E=,1.36 | E=1.36,
M=1.36 | M=1.37 | M=1.34 | M=1.33 | M=1.38 | M=foo=1.36 | M=y | M=1.36.1
E=1.36 M=1.36 | E=1.36 M=1.37 | E=1.36 M=1.34 | E=1.36 M=1.33 | E=1.37 M=1.38 | E=1.33 M=1.33 | E=1.38 M=1.38
""".replace("\n", "|").strip("|").split("|")
NOT_YET = "not supported yet: emulation version"


def ask(program, line, folder, more=()):
    """(its exit status, what was written or said); more: words that have blanks."""
    out = os.path.join(folder, "written")
    if os.path.exists(out):
        os.remove(out)
    words = [w[:-1] + os.path.join(folder, FILES[w]) if w in FILES else w for w in line.split()]
    done = subprocess.run(program + ["--write-config-to=" + out] + words + list(more), capture_output=True, timeout=60, check=False,
                          encoding="utf-8", errors="replace")
    if done.returncode == 0 and os.path.exists(out):
        with open(out, encoding="utf-8") as f:
            return 0, f.read()
    return done.returncode or "nothing written", done.stderr.strip().split("\n")[-1]


def unknown_flags(kube, berth):
    text = subprocess.run([kube, "--help"], capture_output=True, text=True, check=False).stdout
    ours = subprocess.run(berth + ["--help"], capture_output=True, text=True, check=False).stdout
    known = set(re.findall(r"^  (--?[a-z0-9-]+)", ours, re.M)) | {"--v"}
    return [f for f in re.findall(r"^ +(?:-\w, )?(--[a-z0-9-]+)", text, re.M) if f not in known and f != "--write-config-to"]


def check_versions(kube, berth, folder):
    """How many there are, and how many differ: in what is taken, or in the words of what is wrong."""
    failed = 0
    for case in VERSIONS:
        flags = ["--" + {"E": "emulated-version", "M": "min-compatibility-version"}[flag] + "=" + value
                 for flag, value in re.findall(r"([EM])=(.*?)(?= M=|$)", case.strip(" "))]
        theirs = ask(kube, "--kubeconfig=K --feature-gates=", folder, flags)
        ours = ask(berth, "--kubeconfig=K --feature-gates=", folder, flags)
        said = re.search(r'err="(.*)"$', theirs[1])
        why = said[1].replace('\\"', '"') if said else ""
        if theirs[0] == 0 and ours[0] != 0 and NOT_YET in ours[1]:
            continue
        if (theirs[0] == 0) != (ours[0] == 0) or not ours[1].endswith(": " + why) and theirs[0] != 0:
            failed += 1
            print("FAILED %s\n  kube-scheduler: %s\n  berth: %s" % (case, theirs[1][-300:], ours[1][-300:]))
    return len(VERSIONS), failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", default="1.36", choices=play.RELEASES, help="of Kubernetes")
    parser.add_argument("--kube-scheduler", help="default: what controlplane build makes for that release")
    parser.add_argument("--berth", default="build/bin/berth")
    args = parser.parse_args()
    program = args.kube_scheduler or play.kube_scheduler_of(args.release)
    kube, berth = [program, "--authentication-skip-lookup"], [args.berth, "run"]
    count, failed = 1, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("kubeconfig", KUBECONFIG), ("config", FILE.replace("KUBECONFIG", folder + "/kubeconfig")),
                           ("labels", LABELS), ("nested", NESTED)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        for line in SAME + SAME_BY[args.release]:
            count += 1
            own = [] if "--emulated-version" in line else ["--emulated-version=" + args.release]
            theirs = ask(kube, line, folder)
            ours = ask(berth + own, line, folder)
            if theirs[0] != ours[0] or (theirs[0] == 0 and theirs[1] != ours[1]):
                failed += 1
                print("FAILED %s\n  kube-scheduler: %s\n  berth: %s" % (line, theirs, ours))
        if args.release == "1.37":
            more, wrong = check_versions(kube, berth, folder)
            count, failed = count + more, failed + wrong
    missing = unknown_flags(program, berth)
    for flag in missing:
        print("FAILED: not known to berth: %s" % flag)
    failed += len(missing) > 0
    print("%d passed, %d failed" % (count - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    sys.exit(main())
