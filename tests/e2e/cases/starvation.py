"""Pods that cannot be placed and outrank all others, while the cluster never stands still."""
import threading
import time

import checks
import kube
import objects
from suite import case

CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
PER_SECOND = 100  # node updates
PATIENCE = 10     # seconds that the last of the pods that fit may take
ANY_POD = {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "nobody"}}}]}
# One too big for any node, one for nodes that are not there, one that wants to be near nobody.
IMPOSSIBLE = [({"cpu": "1000"}, {}),
              ({"cpu": "100m"}, {"affinity": objects.node_affinity("no-node", ["has", "it"])}),
              ({"cpu": "100m"}, {"affinity": {"podAffinity": ANY_POD}})]


class Churn:
    """Node updates at a steady rate, in a thread; each may help somebody, as far as a queue can tell:
    by turns a taint that comes or goes, a label, some more memory."""

    def __init__(self, client, names):
        self.client, self.names = client, names
        self.done, self.error, self.ended = 0, None, threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def update(self, number):
        path = kube.NODES + "/" + self.names[number % len(self.names)]
        taints = [{"key": "beat", "value": str(number), "effect": "PreferNoSchedule"}]
        path, body = [(path, {"spec": {"taints": taints}}),
                      (path, {"metadata": {"labels": {"beat": "n%d" % number}}}),
                      (path + "/status", {"status": {"allocatable": {
                          "memory": "%dKi" % (32 * 1024 * 1024 + number)}}})][number % 3]
        self.client.request("PATCH", path, body, content="application/strategic-merge-patch+json")

    def work(self):
        begun = time.monotonic()
        try:
            while not self.ended.wait(max(0, begun + self.done / PER_SECOND - time.monotonic())):
                self.update(self.done)
                self.done += 1
        except (kube.ApiError,) + kube.BROKEN as error:  # told to the case by stop()
            self.error = error

    def stop(self):
        self.ended.set()
        self.thread.join(30)
        if self.error:
            raise self.error


def impossible(count):
    for number in range(count):
        requests, spec = IMPOSSIBLE[number % len(IMPOSSIBLE)]
        yield objects.pod("blocks-%04d" % number, requests, priorityClassName="blocks", **spec)


class Times:
    """When each pod was first seen, and first seen on a node."""

    def __init__(self, world):
        self.seen, self.bound = {}, {}
        self.pods = world.mirror(kube.PODS, self.look)

    def look(self, item):
        name, now = item["metadata"]["name"], time.monotonic()
        self.seen.setdefault(name, now)
        if item["spec"].get("nodeName"):
            self.bound.setdefault(name, now)
        return objects.shape(item)

    def waits(self, prefix):
        return sorted(at - self.seen[name] for name, at in list(self.bound.items())
                      if name.startswith(prefix))


def placed(world, times, prefix, count):
    """Create pods that fit; the time from the last creation until all are bound, and their waits."""
    world.admin.create_many(kube.PODS, objects.small_pods(count, prefix=prefix))
    begun = time.monotonic()
    times.pods.wait(60, lambda _: len(times.waits(prefix)) == count)
    return time.monotonic() - begun, times.waits(prefix)


def account(what, count, took, waits):
    """Print what came of it, and give it back."""
    if len(waits) < count:
        print("    %s: %d of %d bound in %.0f s" % (what, len(waits), count, took), flush=True)
    else:
        print("    %s: all bound %.1f s after the last was made; a pod waited %.0f ms (median), %.0f ms"
              " (99 %%)" % (what, took, 1000 * waits[count // 2], 1000 * waits[count * 99 // 100]),
              flush=True)
    return took, waits


def told(count):
    return lambda items: sum(1 for _, _, failed in items.values() if failed) == count


@case("starvation", timed=True)
def starvation(world):
    """Pods of priority 0 that fit are bound in time, whoever waits in front of them."""
    blockers, fitting = (600, 150) if world.options.quick else (2000, 500)
    names = ["node-%04d" % i for i in range(world.options.nodes)]
    objects.small_nodes(world.admin, len(names))
    world.admin.create(CLASSES, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                 "metadata": {"name": "blocks"}, "value": 1000})
    times = Times(world)
    world.scheduler()
    churn = Churn(world.admin, names)
    try:
        placed(world, times, "probe", 1)  # the scheduler is at work
        account("without pods in front", fitting, *placed(world, times, "first", fitting))
        world.admin.create_many(kube.PODS, impossible(blockers))
        checks.expect(times.pods.wait(120, told(blockers)), "not all blockers were tried in 120 s")
        before = churn.done
        checks.wait_until(60, lambda: churn.done >= before + 3 * PER_SECOND, "node updates are too slow")
        took, waits = account("behind %d that cannot be placed" % blockers, fitting,
                              *placed(world, times, "then", fitting))
    finally:
        churn.stop()
    checks.expect(not any(node for name, (_, node, _) in times.pods.items.items()
                          if name.startswith("blocks")), "a pod that fits nowhere was placed")
    if not world.options.reference:  # kube-scheduler is here to be compared with
        checks.expect(len(waits) == fitting and took < PATIENCE,
                      "%d of %d pods were bound, in %.1f s", len(waits), fitting, took)


@case("popped-early", timed=True)
def popped_early(world):
    """A woken pod does not wait for the end of its backoff when nothing else is to be done."""
    objects.small_nodes(world.admin, 1)
    pods = world.pods()
    world.scheduler(backoff=1000)
    world.admin.create(kube.PODS, objects.pod("pod", affinity=objects.node_affinity("foo", ["bar"])))
    checks.expect(pods.wait(60, told(1)), "the pod was not tried")
    world.admin.create(kube.NODES, objects.node("node-bar", {"cpu": "4"}, {"foo": "bar"}))
    checks.all_bound(pods, 1, 60)
