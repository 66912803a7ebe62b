"""A wrong or missing surrounding: one clear line, no crash, and work when the fault is gone."""
import os
import signal
import subprocess
import time

import checks
import kube
import objects
from feeder import Feeder
from suite import case

COUNT = 20
# A fault that lasts is told a few times by each process that meets it, not again and again.
LINES_MAX = 12
OBSERVED_SECONDS = 3


def address_of(cluster, user="scheduler"):
    return kube.read_kubeconfig(cluster.kubeconfig(user))["server"].split("//")[1]


def complaint(scheduler, *words):
    """The log comes to a line with all of these words (a word may be alternatives: a|b)."""
    def lines():
        return [line for line in scheduler.log_lines()
                if all(any(w.lower() in line.lower() for w in word.split("|")) for word in words)]

    checks.wait_until(60, lines, "the log has no line with: " + ", ".join(words))
    # How often it is told needs some time to tell.
    time.sleep(OBSERVED_SECONDS)
    if scheduler.has_actors:
        checks.expect(len(lines()) <= LINES_MAX, "%d lines about the same fault: %s", len(lines()),
                      checks.some(lines()))


def still_well(scheduler):
    checks.expect(scheduler.alive(), "it ended with status %s", scheduler.process.poll())


def ended_well(scheduler):
    """A scheduler may refuse to start, with a status, but must not crash."""
    status = scheduler.terminate()
    checks.expect(status is not None and status >= 0, "it ended by signal %s", status)


def works(world, pods, prefix="pod", nodes=True):
    """The scheduler binds pods (again)."""
    if nodes:
        objects.small_nodes(world.admin, 3)
    world.admin.create_many(kube.PODS, objects.small_pods(COUNT, prefix=prefix))
    checks.all_bound(pods, COUNT, 120)


@case("unreachable")
def unreachable(world):
    """The API server is not there when the scheduler starts; it comes later."""
    world.cluster.down()
    scheduler = world.scheduler()
    if not world.options.reference:  # which says nothing about it at its usual verbosity
        complaint(scheduler, address_of(world.cluster), "refused|connect")
    still_well(scheduler)
    world.cluster.up()
    works(world, world.pods())
    still_well(scheduler)


def changed_kubeconfig(world, name, old, new):
    """A copy of the scheduler's kubeconfig with one text replaced."""
    path = os.path.join(world.directory, name)
    with open(world.cluster.kubeconfig("scheduler")) as file:
        text = file.read()
    checks.expect(old in text, "%s is not in the kubeconfig", old)
    with open(path, "w") as file:
        file.write(text.replace(old, new))
    return path


def other_authority(world):
    """A certificate authority that has nothing to do with the API server."""
    base = os.path.join(world.directory, "other")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=other", "-days", "2",
                    "-keyout", base + ".key", "-out", base + ".crt"], check=True,
                   capture_output=True, timeout=60)
    return base + ".crt"


@case("wrong-authority")
def wrong_authority(world):
    """The kubeconfig names another authority: the certificate is refused, nothing is sent."""
    right = kube.read_kubeconfig(world.cluster.kubeconfig("scheduler"))["certificate-authority"]
    path = changed_kubeconfig(world, "wrong", right, other_authority(world))
    scheduler = world.scheduler("wrong-authority", kubeconfig=path)
    complaint(scheduler, address_of(world.cluster), "certificate")
    ended_well(scheduler)
    changed_kubeconfig(world, "wrong", right, right)
    scheduler.start()
    works(world, world.pods())


@case("broken-kubeconfig")
def broken_kubeconfig(world):
    """Missing, not YAML, without its context: each is told with the path of the file."""
    path = os.path.join(world.directory, "kubeconfig")
    scheduler = world.prepare("broken", kubeconfig=path)
    for text in (None, "clusters: [\n", "apiVersion: v1\nkind: Config\ncurrent-context: nowhere\n"):
        if text is not None:
            with open(path, "w") as file:
                file.write(text)
        if os.path.exists(scheduler.log_path):
            os.unlink(scheduler.log_path)
        scheduler.start()
        # The third is found out by name of the context; all others by the path.
        complaint(scheduler, path if text is None or "nowhere" not in text else path + "|nowhere")
        ended_well(scheduler)
    changed_kubeconfig(world, "kubeconfig", "", "")
    scheduler.start()
    works(world, world.pods())


@case("denied-nodes")
def denied_nodes(world):
    """Without the right to list nodes nothing is bound; with it, the scheduler goes on by itself."""
    world.cluster.allow_nobody(except_for=["nodes"])
    objects.small_nodes(world.admin, 3)
    pods = world.pods()
    scheduler = world.scheduler(user="nobody")
    world.admin.create_many(kube.PODS, objects.small_pods(COUNT))
    complaint(scheduler, "node", "forbidden|403|injected fault")
    checks.expect(not world.log.bindings(), "pods were bound without knowing the nodes")
    still_well(scheduler)
    world.cluster.allow_nobody()
    checks.all_bound(pods, COUNT, 120)
    still_well(scheduler)


def read_kinds(world, user):
    """The optional kinds that a scheduler lists or watches."""
    kinds = {r.resource for r in world.log.read() if r.user == user and r.verb in ("list", "watch")}
    return sorted(kinds - {"pods", "nodes", "leases", "configmaps"})


@case("denied-optional", not_upstream="kube-scheduler waits for all kinds that it reads")
def denied_optional(world):
    """A kind that is not needed for these pods may be denied: one line, and pods are bound."""
    world.cluster.allow_nobody()
    pods = world.pods()
    scheduler = world.scheduler(user="nobody")
    works(world, pods)
    kinds = read_kinds(world, "nobody")
    if not kinds:
        return print("skipped denied-optional: the scheduler reads pods and nodes only")
    scheduler.stop()
    world.admin.delete_all(kube.PODS)
    world.cluster.allow_nobody(except_for=kinds[:1])
    scheduler = world.scheduler("denied", user="nobody")
    complaint(scheduler, kinds[0], "forbidden|403|injected fault")
    works(world, pods, prefix="again", nodes=False)
    still_well(scheduler)


@case("apiserver-restart")
def apiserver_restart(world):
    """The API server is gone while pods are being bound, and comes back."""
    objects.small_nodes(world.admin, world.options.nodes)
    pods = world.pods()
    scheduler = world.scheduler(lease=(60, 40, 2))
    feeder = Feeder(world.admin, world.options.pods // 2)
    feeder.allow(feeder.total)
    feeder.wait_created(feeder.total // 2)
    pods.wait(60, lambda items: objects.bound(items) > 0)  # it runs, and its streams are open
    world.cluster.interrupt()
    world.cluster.resume()
    feeder.finish()
    checks.all_bound(pods, feeder.total, 120)
    # A request that was being answered when the server died may be missing in the log.
    checks.bound_once_at_most(world.log)
    checks.no_overcommit(world.admin)
    still_well(scheduler)


@case("watch-expiry")
def watch_expiry(world):
    """Watches are too old to go on (410): the scheduler lists again and misses nothing.

    It is stopped while its streams break, things change, and the API server forgets the changes; so
    it comes back with resource versions that nobody can go on from.
    """
    objects.small_nodes(world.admin, 3)
    pods = world.pods()
    scheduler = world.scheduler(lease=(60, 40, 2))
    world.admin.create_many(kube.PODS, objects.small_pods(COUNT, prefix="before"))
    checks.all_bound(pods, COUNT, 60)
    scheduler.pause()
    world.cluster.break_watches()
    version = world.admin.list(kube.PODS)[1]
    world.admin.create_many(kube.PODS, objects.small_pods(COUNT, prefix="during"))
    world.admin.delete(kube.NODES + "/node-0000")
    world.admin.create(kube.NODES, objects.node("late", {"cpu": "4", "memory": "8Gi"}, {"late": "yes"}))
    world.admin.create(kube.PODS, objects.pod("late", {"cpu": "1"}, nodeSelector={"late": "yes"}))
    world.cluster.forget_history()
    old_versions_are_refused(world, version)
    scheduler.signal_all(signal.SIGCONT)
    checks.all_bound(pods, 2 * COUNT + 1, 120)
    # Whoever has seen the late node has seen the deletion before it.
    world.admin.create_many(kube.PODS, objects.small_pods(COUNT, prefix="after"))
    checks.all_bound(pods, 3 * COUNT + 1, 60)
    strays = [name for name, (_, node, _) in pods.items.items()
              if name.startswith("after") and node == "node-0000"]
    checks.expect(not strays, "bound to a node that had been deleted: %s", checks.some(strays))
    still_well(scheduler)


def old_versions_are_refused(world, version):
    """What the case rests on: nobody can go on from there, not even we."""
    try:
        watch = kube.Watch(world.admin, kube.PODS, version)
        first = next(iter(watch))
        watch.close()
        code = first["object"].get("code") if first["type"] == "ERROR" else first["type"]
    except kube.ApiError as error:
        code = error.status
    checks.expect(code == 410, "a watch from an old version gets %s, not 410", code)
