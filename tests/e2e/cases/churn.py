"""A cluster that never stands still: pods and nodes come, change and go, and nobody is forgotten.

At the end another scheduler, kube-scheduler itself where it is built, is given the same cluster: a
pod that it can place was forgotten.
"""
import random
import threading
import time

import checks
import kube
import objects
from cases.serving import Served
from suite import case

WORKERS = 4      # threads; each has nodes and pods of its own
PER_SECOND = 60  # operations, of all threads
REST = 15        # seconds that the scheduler has after the last of them
FLUSHED = "scheduler_pod_scheduled_after_flush_total"
HOST, GROUPS, ZONES = "kubernetes.io/hostname", 5, 10
MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
TAINT = {"key": "busy", "value": "yes", "effect": "NoSchedule"}
TOLERATION = {"key": "busy", "operator": "Exists", "effect": "NoSchedule"}


def group_of(number):
    return "g%d" % (number % GROUPS)


def spread(app):
    return {"topologySpreadConstraints": [
        {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
         "labelSelector": {"matchLabels": {"app": app}}}]}


def apart(app):
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": app}}}
    return {"affinity": {"podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def some_pod(dice, name):
    """One of a few kinds: most of them fit somewhere, some only later, some never."""
    app = "app-%d" % dice.randrange(20)
    group = group_of(dice.randrange(GROUPS + 1))
    spec = dice.choice([{}, {}, {}, {"tolerations": [TOLERATION]}, spread(app), apart(app),
                        {"affinity": objects.node_affinity("group", [group])},
                        {"nodeSelector": {"zone": "z%d" % dice.randrange(ZONES + 1)}},
                        {"schedulingGates": [{"name": "example.com/later"}]}])
    cpu = dice.choice(["1", "2", "2", "3", "3500m", "6"])
    body = objects.pod(name, {"cpu": cpu, "memory": "1Gi"}, **spec)
    body["metadata"]["labels"] = {"app": app}
    return body


class Worker:
    """One thread's share of the nodes, the pods it has made, and what it does to both."""

    def __init__(self, world, number, pods):
        self.client, self.number, self.pods = world.admin, number, pods
        self.dice = random.Random(number)
        self.nodes = ["node-%04d" % i for i in range(number, world.options.nodes, WORKERS)]
        self.cpus = dict.fromkeys(self.nodes, 4)
        self.own, self.made, self.done, self.error = [], 0, 0, None
        self.wanted = int(2.8 * len(self.nodes))

    def node(self, name):
        index = int(name[-4:])
        return objects.node(name, {"cpu": str(self.cpus[name]), "memory": "32Gi"},
                            {"zone": "z%d" % (index % ZONES), "group": group_of(index)})

    def patch(self, path, body, content=MERGE):
        """True when the object is still there."""
        try:
            self.client.request("PATCH", path, body, content=content)
        except kube.ApiError as error:
            if error.status != 404:
                raise
            return False
        return True

    def some_node(self):
        return kube.NODES + "/" + self.dice.choice(self.nodes)

    def create(self):
        self.made += 1
        name = "pod-%d-%05d" % (self.number, self.made)
        self.client.create(kube.PODS, some_pod(self.dice, name))
        self.own.append(name)

    def remove(self, name):
        try:
            self.client.delete(kube.PODS + "/" + name)
        except kube.ApiError as error:
            if error.status != 404:
                raise

    def delete(self):
        if self.own:
            self.remove(self.own.pop(self.dice.randrange(len(self.own))))

    def breathe(self):
        """A pod comes or goes, so that the cluster stays about full."""
        few = len(self.own) < self.wanted * self.dice.uniform(0.9, 1.1)
        (self.create if few else self.delete)()

    def scale(self):
        step = self.dice.choice([self.create, self.delete])
        for _ in range(10):
            step()

    def relabel_pod(self):
        if self.own:
            self.patch(kube.PODS + "/" + self.dice.choice(self.own),
                       {"metadata": {"labels": {"app": "app-%d" % self.dice.randrange(20)}}})

    def open_gate(self):
        gated = [name for name, (_, node, failed) in list(self.pods.items.items())
                 if not node and failed and failed[0] == "SchedulingGated" and name in self.own]
        if gated:
            self.patch(kube.PODS + "/" + self.dice.choice(gated),
                       {"spec": {"schedulingGates": None}})

    def taint(self):
        self.patch(self.some_node(), {"spec": {"taints": [TAINT]}})

    def untaint(self):
        self.patch(self.some_node(), {"spec": {"taints": None}})

    def cordon(self):
        self.patch(self.some_node(), {"spec": {"unschedulable": True}})

    def uncordon(self):
        self.patch(self.some_node(), {"spec": {"unschedulable": None}})

    def relabel_node(self):
        key, value = self.dice.choice([("group", group_of(self.dice.randrange(GROUPS + 1))),
                                       ("zone", "z%d" % self.dice.randrange(ZONES))])
        self.patch(self.some_node(), {"metadata": {"labels": {key: value}}})

    def grow(self):
        """Nodes never shrink: what is bound stays within what they have."""
        name = self.dice.choice(self.nodes)
        self.cpus[name] = min(8, self.cpus[name] + 1)
        room = {"cpu": str(self.cpus[name])}
        self.patch("%s/%s/status" % (kube.NODES, name), {"status": {"allocatable": room}},
                   STRATEGIC)

    def replace_node(self):
        """A node goes with its pods, and one of the same name comes."""
        name = self.dice.choice(self.nodes)
        self.client.delete(kube.NODES + "/" + name)
        for pod in [pod for pod, (_, node, _) in list(self.pods.items.items()) if node == name]:
            self.remove(pod)
        self.client.create(kube.NODES, self.node(name))

    def make_room(self):
        """Room that nothing but these deletions tells of."""
        for _ in range(len(self.own) // 5):
            self.delete()

    def operations(self):
        return ([self.breathe] * 50 + [self.scale] * 2 + [self.relabel_pod] * 6
                + [self.open_gate] * 6 + [self.taint] * 4 + [self.untaint] * 8 + [self.cordon] * 3
                + [self.uncordon] * 6 + [self.relabel_node] * 10 + [self.grow] * 2
                + [self.replace_node])

    def work(self, seconds):
        try:
            begun, operations = time.monotonic(), self.operations()
            while time.monotonic() < begun + seconds:
                self.dice.choice(operations)()
                self.done += 1
                time.sleep(max(0, begun + self.done * WORKERS / PER_SECOND - time.monotonic()))
        except Exception as error:  # told to the case by churn()
            self.error = error


def in_threads(workers, function):
    threads = [threading.Thread(target=function, args=(worker,), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for worker in workers:
        if worker.error:
            raise worker.error


def pending(pods):
    """Of the pods that a scheduler would look at, those without a node."""
    return {name for name, (_, node, failed) in list(pods.items.items())
            if not node and not (failed and failed[0] == "SchedulingGated")}


def judge(world, pods, left):
    """What another scheduler, started anew, still finds a node for."""
    world.scheduler("judge", template=world.reference())
    any_node = {"tolerations": [{"operator": "Exists"}]}
    for number in range(2):  # the second is tried after all that were there when the first was
        name = "sentinel-%d" % number
        world.admin.create(kube.PODS, objects.pod(name, **any_node))
        checks.expect(pods.wait(120, lambda items, key=name: items.get(key, ("", "", 0))[1]),
                      "the second scheduler placed no pod")
    return left - pending(pods)


@case("churn")
def churn(world):
    """Minutes of create, delete, update, taint, cordon, relabel, scale: nobody who fits is left."""
    minutes = world.options.minutes
    pods = world.pods()
    workers = [Worker(world, number, pods) for number in range(WORKERS)]
    for worker in workers:
        world.admin.create_many(kube.NODES, (worker.node(name) for name in worker.nodes))
    served = Served(world, template=world.options.scheduler.replace(" --secure-port 0", "")).ready()
    in_threads(workers, lambda worker: [worker.create() for _ in range(worker.wanted)])
    in_threads(workers, lambda worker: worker.work(minutes * 60))
    in_threads(workers, Worker.make_room)
    time.sleep(REST)  # what is asked: after so long nobody is left
    left, placed = pending(pods), objects.bound(pods.items)
    flushed = sum(value for name, value in served.samples().items() if name.startswith(FLUSHED))
    checks.expect(served.subject.terminate(30) is not None, "the scheduler did not stop")
    checks.no_overcommit(world.admin)
    checks.bound_once_at_most(world.log)
    forgotten = judge(world, pods, left)
    print("    %d operations, %d pods made, %d bound in the end, %d left, %d rescued by their age;"
          " another scheduler placed %d more"
          % (sum(w.done for w in workers), sum(w.made for w in workers), placed, len(left), flushed,
             len(forgotten)), flush=True)
    checks.expect(not forgotten, "%d pods fit and were not placed: %s", len(forgotten),
                  checks.some(sorted(forgotten)))
    checks.expect(flushed == 0, "%d pods were rescued by the flush of leftovers", flushed)
    checks.expect(left and placed, "the cluster was not full, or empty: %d pending, %d bound",
                  len(left), placed)
