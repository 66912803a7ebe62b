"""A production cluster's nodes and pods, all of them: as many fit as with kube-scheduler.

The trace is described in traces/README.md, with what its columns become here.
"""
import csv
import gzip
import math
import os

import checks
import cluster
import kube
import objects
from suite import case

TRACES = os.path.join(cluster.HERE, "traces")
MODEL = "berth.test/gpu-model"
GPU = "nvidia.com/gpu"
QUICK_SHARE = 8
# An eighth of the cluster is so small that two runs of one scheduler differ by 2 % and more.
PERCENT, QUICK_PERCENT = 1, 5


def rows(name):
    with gzip.open(os.path.join(TRACES, name + ".csv.gz"), "rt", newline="") as file:
        return list(csv.DictReader(file))


def trace_node(row):
    resources = {"cpu": row["cpu_milli"] + "m", "memory": row["memory_mib"] + "Mi"}
    if int(row["gpu"]):
        resources[GPU] = row["gpu"]
    return objects.node(row["sn"], resources, {MODEL: row["model"]} if row["model"] else None)


def trace_pod(row):
    """A share of a GPU takes a whole one: the resource is counted in whole devices."""
    requests = {"cpu": row["cpu_milli"] + "m", "memory": row["memory_mib"] + "Mi"}
    if int(row["num_gpu"]):
        requests[GPU] = row["num_gpu"]
    models = [model for model in row["gpu_spec"].split("|") if model]
    affinity = {"affinity": objects.node_affinity(MODEL, models)} if models else {}
    return objects.pod(row["name"], requests, **affinity)


def read_trace(quick):
    """(nodes, pods), pods in the order of their creation."""
    nodes = [trace_node(row) for row in rows("openb_node_list_all_node")]
    ordered = sorted(rows("openb_pod_list_default"),
                     key=lambda row: (int(row["creation_time"]), row["name"]))
    pods = [trace_pod(row) for row in ordered]
    return (nodes[::QUICK_SHARE], pods[::QUICK_SHARE]) if quick else (nodes, pods)


def settled(mirror, count):
    """Every pod is bound or was refused, and the number bound stays: that number."""
    decided = mirror.wait(1800, lambda items: len(items) == count and
                          all(node or failed for _, node, failed in items.values()))
    checks.expect(decided, "not every pod was decided on within 1800 s")
    number = objects.bound(mirror.items)
    while mirror.wait(5, lambda items: objects.bound(items) != number):
        number = objects.bound(mirror.items)
    return number


def place(world, where, name, template, nodes, pods):
    """All nodes and pods on one API server with one scheduler; how many were bound."""
    where.admin.create_many(kube.NODES, nodes)
    mirror = world.pods(where)
    # Berth looks at all nodes without being told; kube-scheduler takes this from its configuration.
    options = {"percentage": 100} if "{config}" in template else {}
    scheduler = world.scheduler(name, where=where, template=template, **options)
    # One thread, so that the pods arrive in exactly this order.
    where.admin.create_many(kube.PODS, pods, threads=1)
    number = settled(mirror, len(pods))
    checks.no_overcommit(where.admin)
    scheduler.stop()
    mirror.stop()
    return number


@case("trace")
def trace(world):
    """The number bound is within 1 % of the real kube-scheduler's, and no node is overcommitted."""
    nodes, pods = read_trace(world.options.quick)
    ours = place(world, world.cluster, "subject", world.options.scheduler, nodes, pods)
    if not world.reference():
        return print("skipped trace/comparison: kube-scheduler is not built")
    world.cluster.stop()
    world.clusters.remove(world.cluster)
    theirs = place(world, world.new_cluster("api-reference"), "reference", world.reference(), nodes,
                   pods)
    print("    trace: %d of %d pods bound, kube-scheduler %d" % (ours, len(pods), theirs))
    allowed = math.ceil(theirs * (QUICK_PERCENT if world.options.quick else PERCENT) / 100)
    checks.expect(abs(ours - theirs) <= allowed,
                  "%d pods bound, but %d by kube-scheduler", ours, theirs)
