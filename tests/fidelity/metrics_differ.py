#!/usr/bin/env python3
"""/metrics of kube-scheduler and of berth as that release, after the same few pods on the small API
server: every family of the scheduler's, with its kind, stability, help, labels and buckets; and of
those in WHOLE every series, with its value.

On a busy machine a pod may get one attempt more, in either program (a preemptor that is popped before its
victim is gone). So what differs once is looked at again: it counts when it differs in each of ROUNDS lives.

What e2e's case metrics-names leaves out (tests/e2e/cases/serving.py, MEANT and MEANT_BY) is left out here.
"""
import argparse
import os
import re
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path[:0] = [os.path.join(TOP, "tests/e2e"), os.path.join(TOP, "tests/e2e/cases")]
import cluster  # noqa: E402
import kube  # noqa: E402
import objects  # noqa: E402
import play  # noqa: E402
from serving import families, is_meant  # noqa: E402

# Not here with a reason of its own (ctl/serve/README.md), or shown by one alone as chance has it.
WITHOUT = ("apiserver_delegated_", "authentication_", "authorization_", "authenticated_", "process_", "berth_",
           "rest_client_rate_limiter_duration_seconds", "scheduler_event_handling_duration_seconds",
           "scheduler_plugin_", "scheduler_queueing_hint_", "scheduler_volume_", "leader_election_",
           "cardinality_enforcement_")
# Of these the series are the same; of gauges and counters the values as well.
WHOLE = ("scheduler_pending_pods", "scheduler_queue_incoming_pods_total", "scheduler_queue_incoming_entities_total",
         "scheduler_queued_entities", "scheduler_preemption_victims_count", "scheduler_preemption_victims_sum",
         "scheduler_preemption_attempts_total", "scheduler_preemption_pdb_violations_total",
         "scheduler_preemption_evaluation_duration_seconds_count",
         "scheduler_preemption_execution_duration_seconds_count",
         "scheduler_preemption_goroutines_execution_total", "scheduler_preemption_goroutines_duration_seconds_count",
         "scheduler_workload_preemption_victims_count", "scheduler_unschedulable_pods",
         "scheduler_podgroup_scheduling_algorithm_duration_seconds_count", "hidden_metrics_total",
         "disabled_metrics_total")


ROUNDS = 3

# How a preemptor gets its next attempt: upstream says that it failed before its victim is gone, we after.
EITHER = re.compile(r'incoming_pods_total\{event="(?:AssignedPodDelete|ScheduleAttemptFailure)"')


def wait(seconds, condition, what):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit("FAILED: " + what)
        time.sleep(0.1)


def node_of(client, name):
    return client.get(kube.PODS + "/" + name)["spec"].get("nodeName")


def live_through(client):
    """Pods that are bound, one that fits nowhere, one with a gate, one that evicts another: one after the
    other, so that both count the same."""
    client.create(kube.NODES, objects.node("n", {"cpu": "8", "memory": "8Gi", "pods": "99"}))
    client.create(kube.NODES, objects.node("full", {"cpu": "1", "memory": "4Gi", "pods": "9"}, labels={"only": "here"}))
    client.create("/apis/scheduling.k8s.io/v1/priorityclasses", {
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 100})
    there = {"nodeSelector": {"only": "here"}, "terminationGracePeriodSeconds": 0}
    for pod in [objects.pod("victim", {"cpu": "800m"}, **there)] + [objects.pod("p%d" % i, {"cpu": "10m"}) for i in range(20)]:
        client.create(kube.PODS, pod)
        wait(30, lambda: node_of(client, pod["metadata"]["name"]), "%s is not bound" % pod["metadata"]["name"])
    client.create(kube.PODS, objects.pod("gated", {"cpu": "1m"}, schedulingGates=[{"name": "example.com/gate"}]))
    client.create("/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "all"},
        "spec": {"minAvailable": "100%", "selector": {}}})
    time.sleep(1)  # both have seen it; who has not counts no violation
    client.create(kube.PODS, objects.pod("preemptor", {"cpu": "800m"}, priorityClassName="high", **there))
    wait(30, lambda: node_of(client, "preemptor"), "the preemptor is not bound")
    client.create(kube.PODS, objects.pod("impossible", {"cpu": "500"}))
    wait(30, lambda: client.get(kube.PODS + "/impossible").get("status", {}).get("conditions"), "nothing is said of one")
    time.sleep(2)  # gauges are set, and what is asynchronous upstream is done


def page_of(program, words, folder):
    """Its /metrics after that life; it ends before we return."""
    context = ssl._create_unverified_context()
    kubeconfig, port = os.path.join(folder, "kubeconfig"), cluster.free_port()
    with open(os.path.join(folder, "log"), "w", encoding="utf-8") as log:
        api = subprocess.Popen(["build/bin/apiserver", "--write-kubeconfig", kubeconfig], stdout=log, stderr=log)
        subject = None
        try:
            wait(10, lambda: os.path.exists(kubeconfig) and os.path.getsize(kubeconfig) > 0, "no API server")
            subject = subprocess.Popen(program + [
                "--kubeconfig=" + kubeconfig, "--secure-port=%d" % port, "--bind-address=127.0.0.1",
                "--authentication-skip-lookup", "--authorization-always-allow-paths=/*"] + words, stdout=log, stderr=log)

            def get(path):
                try:
                    with urllib.request.urlopen("https://127.0.0.1:%d%s" % (port, path), context=context) as got:
                        return got.read().decode()
                except OSError:
                    return None

            wait(30, lambda: get("/readyz"), "never ready: %s" % program[0])
            live_through(kube.Client(kubeconfig))
            return get("/metrics")
        finally:
            for process in filter(None, (subject, api)):
                process.terminate()
                process.wait(30)


def series_of(text):
    return {match[1]: float(match[2]) for match in re.finditer(r"^([^#\n]\S*(?:\{.*\})?) (\S+)$", text, re.M)
            if re.sub(r"\{.*", "", match[1]) in WHOLE and not EITHER.search(match[1])
            and not (match[1].startswith("scheduler_unschedulable_pods") and float(match[2]) == 0)}


def compare(theirs, ours, release):
    """What is wrong, a line each."""
    a, b = families(theirs), families(ours)

    def counts(name):
        return not is_meant(name, release) and not name.startswith(WITHOUT)

    for name in sorted(filter(counts, a.keys() ^ b.keys())):
        yield "%s: %s alone has it" % (name, "kube-scheduler" if name in a else "berth")
    for name in sorted(filter(lambda n: not n.startswith("go_"), a.keys() & b.keys())):
        for what in ("kind", "help", "labels", "bounds"):
            x, y = getattr(a[name], what), getattr(b[name], what)
            if x != y and (what in ("kind", "help") or (x and y)):
                yield "%s: %s is %s, kube-scheduler's %s" % (name, what, y, x)
    x, y = series_of(theirs), series_of(ours)
    for name in sorted(x.keys() | y.keys()):
        if x.get(name) != y.get(name):
            yield "%s: is %s, kube-scheduler's %s" % (name, y.get(name), x.get(name))


def pages_of_both(args):
    """{"theirs": page, "ours": page}"""
    kube_scheduler = args.kube_scheduler or play.kube_scheduler_of(args.release)
    # The small API server has no DeviceTaintRules.
    gates = [] if args.release == "1.36" else ["--feature-gates=DRADeviceTaintRules=false"]
    pages = {}
    for side, program, words in (
            ("theirs", [kube_scheduler], gates + ["--leader-elect=false"]),
            ("ours", [args.berth, "run"], ["--emulated-version=" + args.release])):
        with tempfile.TemporaryDirectory() as folder:
            if side == "ours":
                words = words + ["--run-dir=" + os.path.join(folder, "run")]
            pages[side] = page_of(program, words, folder)
            if args.keep:
                os.makedirs(args.keep, exist_ok=True)
                os.rename(os.path.join(folder, "log"), os.path.join(args.keep, side + ".log"))
                with open(os.path.join(args.keep, side), "w", encoding="utf-8") as f:
                    f.write(pages[side])
    return pages


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", default="1.36", choices=play.RELEASES, help="of Kubernetes")
    parser.add_argument("--kube-scheduler", help="default: what controlplane build makes for that release")
    parser.add_argument("--berth", default="build/bin/berth")
    parser.add_argument("--keep", metavar="DIR", help="keep both pages there")
    args = parser.parse_args()
    wrong, count = None, 0
    for _ in range(ROUNDS):
        pages = pages_of_both(args)
        count = len(families(pages["ours"]))
        now = list(compare(pages["theirs"], pages["ours"], args.release))
        # By series: how far two runs are from each other may differ.
        again = {line.split(": ")[0] for line in now}
        wrong = now if wrong is None else [line for line in wrong if line.split(": ")[0] in again]
        if not wrong:
            break
    for line in wrong:
        print("FAILED " + line)
    print("%d passed, %d failed" % (max(count - len(wrong), 0), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    os.chdir(TOP)
    sys.exit(main())
