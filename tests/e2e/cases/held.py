"""What comes late: Bindings of a binder that was killed, and lists that its next life needs.

The next life must not decide before they have had the time that a request may take; those that come
later still find each pod bound once at most.
"""
import os
import signal

import checks
import kube
import objects
from cases.kill import pid_of
from proxy import Proxy
from suite import case

NODES = 8
UPPER = "/apis/scheduling.k8s.io/v1/priorityclasses"
OURS = "that is a promise of berth's own processes"


def held(world, hold, cpu):
    """A scheduler behind a proxy: NODES pods of one CPU each are decided, their Bindings are held, and
    whoever sent them is killed; (pods, scheduler, proxy)."""
    objects.small_nodes(world.admin, NODES, {"cpu": cpu, "memory": "32Gi"})
    proxy = Proxy(world.cluster.kubeconfig("scheduler"))
    world.others.append(proxy)
    pods = world.pods()
    scheduler = world.scheduler(kubeconfig=proxy.kubeconfig(os.path.join(world.directory, "held.kubeconfig")))
    pid = pid_of(scheduler, "binder")
    # The client opens several connections once it has seen that one cannot have several requests.
    world.admin.create(kube.PODS, objects.pod("before"))
    checks.all_bound(pods, 1, 60)
    proxy.hold = hold
    world.admin.create_many(kube.PODS, (objects.pod("first-%d" % i, {"cpu": "1"}) for i in range(NODES)))
    checks.expect(proxy.wait(60, lambda p: p.held == NODES), "only %d Bindings were sent", proxy.held)
    proxy.hold = 0
    os.kill(pid, signal.SIGKILL)
    pid_of(scheduler, "binder", other_than=pid)
    return pods, scheduler, proxy


@case("held-binds", not_upstream=OURS)
def held_binds(world):
    """Held for 4 s: more urgent pods that come meanwhile do not get the room of those that are late."""
    world.admin.create(UPPER, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                               "metadata": {"name": "urgent"}, "value": 1000, "preemptionPolicy": "Never"})
    pods, _, proxy = held(world, 4, "1")
    urgent = (objects.pod("second-%d" % i, {"cpu": "1"}, priorityClassName="urgent") for i in range(NODES))
    world.admin.create_many(kube.PODS, urgent)
    checks.expect(proxy.wait(30, lambda p: p.done == NODES), "only %d Bindings were carried out", proxy.done)
    # Who is told that it fits nowhere was decided by the next life, which has seen what came late.
    told = pods.wait(60, lambda items: sum(1 for _, node, failed in items.values() if failed and not node) == NODES)
    checks.no_overcommit(world.admin)
    checks.expect(told, "not everybody who was left was told so")
    checks.expect(objects.bound(pods.items) == 1 + NODES, "%d pods are bound", objects.bound(pods.items))
    checks.bound_once_at_most(world.log)


@case("held-binds-longer", not_upstream=OURS)
def held_binds_longer(world):
    """Held for 20 s, longer than a request may take: the pods are bound anew, and once each."""
    hold = 20
    pods, _, proxy = held(world, hold, "4")
    checks.all_bound(pods, 1 + NODES, hold - 1)
    checks.expect(proxy.done == 0, "the Bindings were not held")
    checks.expect(proxy.wait(30, lambda p: p.done == NODES), "only %d Bindings were carried out", proxy.done)
    checks.one_binding_each(world.log, [uid for uid, _, _ in pods.items.values()])
    checks.wait_until(10, lambda: sum(1 for r in world.log.bindings() if r.code == 409) == NODES,
                      "not every late Binding was refused")


@case("slow-lists", not_upstream=OURS)
def slow_lists(world):
    """Listing all pods takes longer than the scheduler is patient: after a binder's death it decides all the same."""
    objects.small_nodes(world.admin, NODES)
    proxy = Proxy(world.cluster.kubeconfig("scheduler"))
    world.others.append(proxy)
    pods = world.pods()
    scheduler = world.scheduler(kubeconfig=proxy.kubeconfig(os.path.join(world.directory, "slow.kubeconfig")))
    world.admin.create(kube.PODS, objects.pod("before"))
    checks.all_bound(pods, 1, 60)
    proxy.pages = 13
    pid = pid_of(scheduler, "binder")
    os.kill(pid, signal.SIGKILL)
    pid_of(scheduler, "binder", other_than=pid)
    world.admin.create(kube.PODS, objects.pod("behind"))
    # The former life's writes have their time, then one list comes.
    checks.all_bound(pods, 2, 10 + 13 + 15)
