"""What berth compare and berth doctor find, and what they have mended."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import time

import checks
import cluster
import gang
import kube
import objects
from cases.extenders import Extender
from proxy import Proxy
from suite import case

ROOM = {"cpu": "4", "memory": "8Gi"}


def run(command, subject, *words):
    """As subprocess.run."""
    return subprocess.run([os.path.join(cluster.TOP, "build/bin/berth"), command, "--run-dir", subject.rundir, *words], timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def asked(command, subject, *words):
    """(exit status, what it says as JSON, what it complains of)."""
    done = run(command, subject, "-o", "json", *words)
    return done.returncode, json.loads(done.stdout or "{}"), done.stderr


def behind_proxy(world):
    """A scheduler whose watches may lose events; (pods, subject, proxy)."""
    proxy = Proxy(world.cluster.kubeconfig("scheduler"))
    proxy.json = True
    world.others.append(proxy)
    pods = world.pods()
    subject = world.scheduler(kubeconfig=proxy.kubeconfig(os.path.join(world.directory, "proxy.kubeconfig")))
    return pods, subject, proxy


@case("compare", not_upstream="berth compare is berth's")
def compare(world):
    """Nothing differs, also while pods come and go; a delete that the watch has swallowed is named within 5 s, and mended."""
    objects.small_nodes(world.admin, 3, ROOM)
    pods, subject, proxy = behind_proxy(world)
    kubeconfig = world.cluster.kubeconfig("admin")
    world.admin.create_many(kube.PODS, [objects.pod("p%d" % i, {"cpu": "100m"}) for i in range(20)])
    world.admin.create(kube.PODS, objects.pod("large", {"cpu": "6"}))
    checks.all_bound(pods, 20, 60)
    status, said, complaint = asked("compare", subject, "--kubeconfig", kubeconfig)
    checks.expect(status == 0 and said["equal"], "it ended with %s: %s %s %s", status, said.get("differences"), said.get("problems"), complaint)
    for i in range(20, 60):
        world.admin.create(kube.PODS, objects.pod("p%d" % i, {"cpu": "50m"}))
        world.admin.delete(kube.PODS + "/p%d" % (i - 20))
        if i % 20 == 10:
            status, said, complaint = asked("compare", subject, "--kubeconfig", kubeconfig)
            checks.expect(status == 0, "under load it ended with %s: %s %s %s", status, said.get("differences"), said.get("problems"),
                          complaint)
    proxy.swallow.add(("DELETED", "p50"))
    checks.expect(pods.wait(60, lambda items: "p50" in items and items["p50"][1]), "p50 was not bound")
    world.admin.delete(kube.PODS + "/p50")
    checks.expect(proxy.wait(30, lambda p: p.swallowed > 0), "no event was swallowed")
    begin = time.monotonic()
    status, said, complaint = asked("compare", subject, "--kubeconfig", kubeconfig)
    took = time.monotonic() - begin
    found = [(d["who"], d["than"], d["kind"], d["name"]) for d in said.get("differences", [])]
    checks.expect(status == 1 and found == [("watcher", "API server", "extra", "default/p50")] and took < 5,
                  "after %.1f s it ended with %s: %s %s", took, status, found, complaint)
    status, said, complaint = asked("compare", subject, "--kubeconfig", kubeconfig, "--heal")
    checks.expect(status == 0 and [d["mended"] for d in said["differences"]] == [True], "it ended with %s: %s %s", status, said,
                  complaint)
    status, said, complaint = asked("compare", subject, "--kubeconfig", kubeconfig)
    checks.expect(status == 0 and said["equal"], "it ended with %s: %s %s %s", status, said.get("differences"), said.get("problems"), complaint)


def findings(subject, *words):
    """Check to the objects that it has found something about."""
    status, said, complaint = asked("doctor", subject, *words)
    found = {}
    for finding in said.get("findings", []):
        found.setdefault(finding["check"], []).append(finding["object"])
    checks.expect(status == (1 if found else 0) and not said["notLookedAt"], "it ended with %s: %s %s", status, said, complaint)
    return found


def expect_found(found, **wanted):
    """These and no others; a blank in a name is a hyphen in the check's."""
    wanted = {name.replace("_s_", "'s-").replace("_", "-"): about for name, about in wanted.items()}
    checks.expect(found == wanted, "found: %s, planted: %s", found, wanted)


QUICK = ("--young", "0", "--for", "3", "--gates", "3", "--lag", "5")


@case("doctor", not_upstream="berth doctor is berth's")
def doctor(world):
    """Nothing in a healthy cluster, just started, under load, or restarted; then what is planted, and nothing else."""
    small = world.options.api == "small"
    gang.install(world.admin, small)
    objects.small_nodes(world.admin, 4, ROOM)
    pods, subject, proxy = behind_proxy(world)
    kubeconfig = ("--kubeconfig", world.cluster.kubeconfig("admin"))
    checks.wait_until(30, lambda: len([name for name in os.listdir(subject.rundir) if name.endswith(".sock")]) >= 6, "no doors")
    expect_found(findings(subject, *kubeconfig))
    world.admin.create_many(kube.PODS, [objects.pod("p%02d" % i, {"cpu": "50m"}) for i in range(150)])
    world.admin.create_many(kube.PODS, [objects.pod("large%d" % i, {"cpu": "6"}) for i in range(3)])
    expect_found(findings(subject, *kubeconfig, "--young", "0"))
    checks.all_bound(pods, 150, 60)
    for name in ("queue", "scheduler"):
        os.kill(subject.pids()[name], signal.SIGKILL)
    checks.wait_until(30, lambda: {"queue", "scheduler"} <= subject.pids().keys(), "nobody started them again")
    expect_found(findings(subject, *kubeconfig))

    world.admin.create(kube.PODS, objects.pod("foreign", schedulerName="somebody-else"))
    world.admin.create(kube.PODS, objects.pod("gated", schedulingGates=[{"name": "example.com/later"}]))
    kept = objects.pod("kept", {"cpu": "6"})
    kept["metadata"]["finalizers"] = ["example.com/kept"]
    world.admin.create(kube.PODS, kept)
    world.admin.create(gang.groups_path(gang.X), gang.group(gang.X, "trio", 3))
    world.admin.create_many(kube.PODS, gang.members(gang.X, "trio", 2, {"cpu": "100m"}))
    proxy.swallow.add(("DELETED", "p07"))
    world.admin.delete(kube.PODS + "/p07")
    world.admin.delete(kube.PODS + "/kept")
    checks.expect(proxy.wait(30, lambda p: p.swallowed > 0), "no event was swallowed")
    time.sleep(8)
    found = findings(subject, *kubeconfig, *QUICK)
    expect_found(found, nobody_s_pod=["default/foreign"], gates=["default/gated"], stuck_deletion=["default/kept"],
                 group=["default/trio"], drift=["watcher"])
    status, said, complaint = asked("compare", subject, *kubeconfig, "--heal")
    checks.expect(status == 0 and len(said["differences"]) == 1, "it ended with %s: %s %s", status, said, complaint)
    stopped = subject.pids()["worker-1"]
    for pid in (subject.process.pid, stopped):  # the supervisor first, which would have another in its place within 5 s
        os.kill(pid, signal.SIGSTOP)
    found = findings(subject, *QUICK)
    for pid in (stopped, subject.process.pid):
        os.kill(pid, signal.SIGCONT)
    checks.expect(found.get("no-answer") == ["worker-1"] and not {"missing-process", "drift"} & found.keys(), "found: %s", found)


@case("doctor-silent", not_upstream="berth doctor is berth's")
def doctor_silent(world):
    """The API server refuses a status and a list, events come late, and then it says nothing (small API server)."""
    if world.options.api != "small":
        return print("skipped doctor-silent: the real API server has no fault menu")
    objects.small_nodes(world.admin, 2, ROOM)
    user = "system:kube-scheduler"
    world.cluster.faults({"user": user, "verb": "patch", "resource": "pods/status", "status": 403},
                         {"user": user, "verb": "list", "resource": "csinodes", "status": 403},
                         {"user": user, "verb": "create", "resource": "events", "delay_ms": 60000})
    pods = world.pods()
    subject = world.scheduler()
    world.admin.create(kube.PODS, objects.pod("large", {"cpu": "6"}))
    world.admin.create_many(kube.PODS, [objects.pod("p%03d" % i, {"cpu": "10m"}) for i in range(100)])
    checks.all_bound(pods, 100, 60)
    time.sleep(7)
    found = findings(subject, *QUICK)
    checks.expect("csinodes" in found.get("rights", []) and found.get("no-reason") == ["default/large"], "found: %s", found)
    checks.expect("lane_event" in found.get("lag", []), "found: %s", found)
    os.kill(world.cluster.process.pid, signal.SIGSTOP)
    try:
        time.sleep(8)
        found = findings(subject, *QUICK)
    finally:
        os.kill(world.cluster.process.pid, signal.SIGCONT)
    checks.expect(found.get("old-view") == ["watcher"], "found: %s", found)


ADMISSION = "/apis/admissionregistration.k8s.io/v1/"
POLICIES, BINDINGS = ADMISSION + "validatingadmissionpolicies", ADMISSION + "validatingadmissionpolicybindings"
KEEPING = {"failurePolicy": "Fail", "validations": [{"expression": "!('kept' in oldObject.metadata.labels)", "message": "it is kept"}],
           "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"],
                                                   "resources": ["pods"]}]}}


def status_of_delete(admin, path):
    try:
        admin.request("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": ["All"]})
    except kube.ApiError as error:
        return error.status
    return 200


@contextlib.contextmanager
def evictions_refused(world, victim):
    """As long as it lasts: a policy at the API server, or a fault of the small one."""
    if world.options.api == "small":
        world.cluster.faults({"user": "system:kube-scheduler", "verb": "delete", "resource": "pods", "status": 422})
        try:
            yield
        finally:
            world.cluster.faults()
        return
    name = {"metadata": {"name": "keeping"}}
    world.admin.create(POLICIES, dict(name, apiVersion="admissionregistration.k8s.io/v1", kind="ValidatingAdmissionPolicy", spec=KEEPING))
    try:
        world.admin.create(BINDINGS, dict(name, apiVersion="admissionregistration.k8s.io/v1", kind="ValidatingAdmissionPolicyBinding",
                                          spec={"policyName": "keeping", "validationActions": ["Deny"]}))
        checks.wait_until(60, lambda: status_of_delete(world.admin, victim) == 422, "the policy does not hold")
        yield
    finally:
        world.admin.delete_all(BINDINGS)
        world.admin.delete_all(POLICIES)
        checks.wait_until(60, lambda: status_of_delete(world.admin, victim) != 422, "the policy holds still")


@case("doctor-evictions", not_upstream="berth doctor is berth's")
def doctor_evictions(world):
    """The API server refuses to evict for a pod: doctor and explain say so, it is not hammered, and room is made when it does not any more."""
    objects.small_nodes(world.admin, 1, ROOM)
    world.admin.create("/apis/scheduling.k8s.io/v1/priorityclasses", {
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 1000})
    pods = world.pods()
    subject = world.scheduler()
    low = objects.pod("low", {"cpu": "3"}, terminationGracePeriodSeconds=0)
    low["metadata"].setdefault("labels", {})["kept"] = "yes"
    world.admin.create(kube.PODS, low)
    checks.all_bound(pods, 1, 60)
    with evictions_refused(world, kube.PODS + "/low"):
        world.admin.create(kube.PODS, objects.pod("urgent", {"cpu": "3"}, priorityClassName="urgent"))
        checks.wait_until(60, lambda: findings(subject, *QUICK).get("evictions") == ["default/urgent"], "doctor says nothing of it")
        told = run("explain", subject, "default/urgent").stdout
        checks.expect("preemption on node " in told and " failed: evicting default/low: " in told, "explain does not say it: %s", told)
        time.sleep(5)
        waits = json.loads(run("queue", subject, "-o", "json").stdout)
        urgent = [pod for pod in waits["pods"] if pod["name"] == "urgent"]
        checks.expect(urgent and 2 <= urgent[0]["attempts"] <= 20, "it is tried too often, or not at all: %s", waits)
        checks.expect("low" in pods.items, "low was evicted")
    checks.wait_until(60, lambda: pods.items.get("urgent", ("", "", ""))[1], "no room was made")
    checks.expect("low" not in pods.items and not findings(subject, *QUICK).get("evictions"), "doctor finds it still")


@case("doctor-ended", not_upstream="berth doctor is berth's")
def doctor_ended(world):
    """Where metrics are to be served, somebody else listens: status and doctor say who ends again and again, until he is gone."""
    objects.small_nodes(world.admin, 1, ROOM)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        subject = world.scheduler(flags=["--secure-port=%d" % taken.getsockname()[1], "--bind-address=127.0.0.1"])
        checks.wait_until(60, lambda: run("status", subject).stdout.startswith("NOT WELL: serve ends again and again, "),
                          "berth status says nothing of it")
        done = run("status", subject)
        checks.expect(done.returncode == 1 and "times now, last with status 1; " in done.stdout, "it ended with %s: %s %s",
                      done.returncode, done.stdout, done.stderr)
        checks.expect(findings(subject).get("ends-again") == ["serve"], "doctor says nothing of it")
    checks.wait_until(60, lambda: run("status", subject).returncode == 0, "it does not become well")
    checks.expect(not [name for name in os.listdir(subject.rundir) if name.endswith(".ended")], "it is noted still")


def expect_unreached(subject, url, why):
    """Both commands name it, once, end with 2, and have not waited for each kind anew."""
    for command in ("doctor", "compare"):
        begin = time.monotonic()
        status, said, complaint = asked(command, subject, "--master", url, "--wait", "1.5")
        took = time.monotonic() - begin
        missing = said["notLookedAt"] if command == "doctor" else said["problems"].splitlines()
        checks.expect(status == 2 and len(missing) == 1 and missing[0].startswith("the API server: /") and why in missing[0] and
                      missing[0].endswith("; it was asked for nothing further"), "%s ended with %s: %s %s", command, status, said, complaint)
        checks.expect(took < 12, "%s took %.1f s", command, took)


@case("doctor-unreached", not_upstream="berth doctor is berth's")
def doctor_unreached(world):
    """An API server that is not there, one that takes connections and says nothing, and one that refuses a kind."""
    objects.small_nodes(world.admin, 1, ROOM)
    pods = world.pods()
    subject = world.scheduler()
    world.admin.create(kube.PODS, objects.pod("one"))
    checks.all_bound(pods, 1, 60)
    nowhere = "http://127.0.0.1:%d" % cluster.free_port()
    expect_unreached(subject, nowhere, nowhere)
    for command, missing, seen in (("doctor", "not looked at: the API server: /", "at the API server\n"),
                                   ("compare", "\nthe API server: /", "compared: API server")):
        done = run(command, subject, "--master", nowhere)
        checks.expect(done.returncode == 2 and missing in done.stdout and seen not in done.stdout, "%s ended with %s: %s %s", command,
                      done.returncode, done.stdout, done.stderr)
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen(20)
        expect_unreached(subject, "http://127.0.0.1:%d" % mute.getsockname()[1], "timed out")
    if world.options.api == "small":
        world.cluster.faults({"verb": "list", "resource": "csinodes", "status": 403})
        kubeconfig = ("--kubeconfig", world.cluster.kubeconfig("admin"))
        status, said, complaint = asked("doctor", subject, *kubeconfig)
        checks.expect(status == 2 and said["notLookedAt"] == ["the API server: /apis/storage.k8s.io/v1/csinodes: status 403"],
                      "it ended with %s: %s %s", status, said, complaint)


@case("doctor-asked", not_upstream="berth doctor is berth's")
def doctor_asked(world):
    """An extender that is slow, and a plugin that is not there."""
    objects.small_nodes(world.admin, 2, ROOM)
    extender = Extender(world, "node-0001")
    world.others.append(extender)
    profile = {"schedulerName": "default-scheduler", "pluginConfig": [
        {"name": "licences", "args": {"kind": "BusPluginArgs", "deadline": "1s", "failurePolicy": "Ignore"}}],
        "plugins": {"filter": {"enabled": [{"name": "licences"}]}}}
    subject = world.prepare(profiles=[profile])
    with open(subject.config, "a") as file:
        file.write("extenders: %s\n" % json.dumps([extender.says()]))
    pods = world.pods()
    subject.start()
    extender.go.clear()
    world.admin.create(kube.PODS, objects.pod("one"))
    checks.wait_until(60, lambda: extender.asked, "nobody was asked")
    time.sleep(2)
    extender.go.set()
    checks.all_bound(pods, 1, 60)
    found = findings(subject, *QUICK, "--slow", "500")
    checks.expect(found.get("extender") == ["http://127.0.0.1:%d" % extender.port], "found: %s", found)
    checks.expect(found.get("plugin") == ["licences"], "found: %s", found)
    expect_found({name: about for name, about in found.items() if name not in ("extender", "plugin")})
