"""Traces of attempts, as a collector gets them that takes nothing but what OpenTelemetry's definitions allow."""
import collections
import json
import os
import shutil
import subprocess

import checks
import cluster
import kube
import objects
from cases.serving import Served
from suite import case

RECEIVER = os.path.join(cluster.TOP, "tests", "traces", "receiver")
MANY = 20
ROOT = "Scheduling attempt"
# Of an attempt, by what came of it.
SPANS = {True: {"Queue", "Schedule", "PreFilter", "Map", "Reduce", "Bind", "Bind pod", "POST"}, False: {"Queue", "Schedule"}}
SLI = "scheduler_pod_scheduling_sli_duration_seconds"
AWAY = ("Watch event", "Held back")  # before a pod is active, which the SLI leaves out


class Receiver:
    """A collector that writes down each span."""

    def __init__(self, directory):
        os.makedirs(directory, exist_ok=True)
        self.path, program = os.path.join(directory, "spans"), os.path.join(directory, "receiver")
        subprocess.run(["go", "build", "-trimpath", "-o", program, "."], cwd=RECEIVER, check=True, timeout=600)
        self.process = subprocess.Popen([program, self.path], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def spans(self):
        with open(self.path) as file:
            lines = [json.loads(line) for line in file.read().split("\n")[:-1]]
        faults = [line["fault"] for line in lines if "fault" in line]
        checks.expect(not faults, "the receiver says: %s", faults[:3])
        return lines

    def traces(self):
        """Trace id to its spans, of those whose root is there."""
        found = collections.defaultdict(list)
        for span in self.spans():
            found[span["trace"]].append(span)
        return {trace: spans for trace, spans in found.items() if any("parent" not in span for span in spans)}


def root_of(spans):
    roots = [span for span in spans if "parent" not in span]
    checks.expect(len(roots) == 1 and roots[0]["name"] == ROOT, "roots are %s", roots)
    return roots[0]


def phases(spans):
    """What the time of an attempt consists of, in order."""
    root = root_of(spans)
    return sorted((span for span in spans if span.get("parent") == root["span"]), key=lambda span: span["begin"])


def seconds(spans):
    return sum(span["end"] - span["begin"] for span in spans if span["name"] not in AWAY) / 1e9


def configuration(world, port):
    path = os.path.join(world.directory, "tracing.yaml")
    with open(path, "w") as file:
        file.write("apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n"
                   "endpoint: 127.0.0.1:%d\nsamplingRatePerMillion: 1000000\n" % port)
    return path


def look_at_bound(spans, pod):
    """One trace over all processes, without a gap."""
    by_name = {span["name"]: span for span in spans}
    services = {span["service"] for span in spans}
    checks.expect({"berth-watcher", "berth-queue", "berth-scheduler", "berth-binder"} <= services,
                  "the trace is of %s", services)
    checks.expect(SPANS[True] | {"Watch event"} <= by_name.keys(), "spans are %s", sorted(by_name))
    said = root_of(spans)["attributes"]
    checks.expect(said["k8s.pod.name"] == pod[0] and said["k8s.node.name"] == pod[1] and said["berth.result"] == "bound",
                  "the root says %s", said)
    checks.expect(by_name["POST"]["kind"] == "SPAN_KIND_CLIENT" and
                  by_name["POST"]["attributes"]["http.response.status_code"] == 201, "the call is %s", by_name["POST"])
    checks.expect(by_name["Bind pod"]["parent"] == by_name["Bind"]["span"] and
                  by_name["POST"]["parent"] == by_name["Bind pod"]["span"], "the bind is not of one piece")
    parts = phases(spans)
    checks.expect([part["name"] for part in parts if part["name"] not in AWAY] == ["Queue", "Schedule", "Bind"],
                  "its parts are %s", [part["name"] for part in parts])
    for one, other in zip(parts[1:], parts[2:]):
        checks.expect(one["end"] == other["begin"], "%s ends at %s, %s begins at %s", one["name"], one["end"],
                      other["name"], other["begin"])
    ids = {span["span"] for span in spans}
    checks.expect(all(span["parent"] in ids for span in spans if "parent" in span), "a parent is missing")


def is_whole(spans):
    """Each process sends its part of a trace by itself, once a second."""
    said, names, ids = root_of(spans)["attributes"], {span["name"] for span in spans}, {span["span"] for span in spans}
    wanted = SPANS[said["berth.result"] == "bound"] | ({"Watch event"} if said["berth.attempt"] == 1 else set())
    return wanted <= names and all(span["parent"] in ids for span in spans if "parent" in span)


def look_at_failed(spans):
    root = root_of(spans)
    checks.expect(root["status"] == "STATUS_CODE_ERROR" and "Insufficient cpu" in root["message"]
                  and root["attributes"]["berth.result"] == "unschedulable", "the root says %s", root)


@case("traces", not_upstream="upstream's scheduler exports none")
def traces(world):
    """Each attempt is a trace, and what it consists of adds up to the metric."""
    if not shutil.which("go"):
        return print("skipped traces: no go here")
    receiver = Receiver(os.path.join(world.directory, "receiver"))
    world.others.append(receiver)
    objects.small_nodes(world.admin, 4)
    pods = world.pods()
    served = Served(world, flags=["--tracing-config-file=" + configuration(world, receiver.port)]).ready()
    world.admin.create_many(kube.PODS, [objects.pod("p-%02d" % i) for i in range(MANY)])
    checks.all_bound(pods, MANY, 60)
    world.admin.create(kube.PODS, objects.pod("late", {"cpu": "700"}))
    checks.expect(pods.wait(60, lambda items: "late" in items and items["late"][2]), "late was not told of")
    world.admin.create(kube.NODES, objects.node("huge", {"cpu": "900", "memory": "8Gi"}))
    checks.all_bound(pods, MANY + 1, 60)
    checks.wait_until(20, lambda: len(receiver.traces()) >= MANY + 2 and all(map(is_whole, receiver.traces().values())),
                      "not all traces came")
    found = list(receiver.traces().values())
    by_pod = collections.defaultdict(list)
    for spans in found:
        by_pod[root_of(spans)["attributes"]["k8s.pod.name"]].append(spans)
    checks.expect(len(by_pod) == MANY + 1, "pods are %s", sorted(by_pod))
    late = sorted(by_pod.pop("late"), key=lambda spans: root_of(spans)["attributes"]["berth.attempt"])
    for name, attempts in by_pod.items():
        checks.expect(len(attempts) == 1, "%s has %s traces", name, len(attempts))
        look_at_bound(attempts[0], (name, pods.items[name][1]))
    look_at_failed(late[0])
    look_at_bound_late(late, pods, served, [spans for attempts in by_pod.values() for spans in attempts])


def look_at_bound_late(late, pods, served, others):
    """Sums against the metric: of those bound at once, and of the one that needed more attempts."""
    said = root_of(late[-1])["attributes"]
    checks.expect(said["k8s.node.name"] == pods.items["late"][1] == "huge", "the root says %s", said)
    checks.expect(said["berth.attempt"] == len(late), "attempt %s of %s", said["berth.attempt"], len(late))
    samples = served.samples()
    for attempts, traced in (("1", others), (str(len(late)), late)):
        metric = samples['%s_sum{attempts="%s"}' % (SLI, attempts)]
        total = sum(seconds(phases(spans)) for spans in traced)
        # An attempt that failed ends on its way back to the queue, which takes a while on a busy machine.
        on_the_way = 0.002 * (int(attempts) - 1)
        checks.expect(abs(total - metric) <= 0.05 * metric + on_the_way, "with attempts %s spans are %s s, the metric %s s",
                      attempts, total, metric)
        print("traces: with attempts %s spans are %.6f s, the metric %.6f s" % (attempts, total, metric), flush=True)
