#!/usr/bin/python3
"""NodeResourceTopologyMatch, as scheduler-plugins has its filter for the kubelet's policy single-numa-node: a pod goes only
where one NUMA node has room for each container (scope container), or for the whole pod (scope pod). What NUMA nodes have is
told by NodeResourceTopology objects, topology.node.k8s.io/v1alpha2, one for each node; a node without one takes every pod.

usage: node_resource_topology.py --kubeconfig FILE SOCKET     (--help has the rest)
"""
import argparse
import re

import berth
from cluster import Objects, quantity

PATH = "/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies"
HIGHEST_NUMA = 63
# What a policy of before, one word, means as policy and scope.
OLD_POLICIES = {name + level: (policy, level[:-len("Level")].lower())
                for name, policy in (("SingleNUMANode", "single-numa-node"), ("BestEffort", "best-effort"), ("Restricted", "restricted"))
                for level in ("PodLevel", "ContainerLevel")}
VALUES = {"topologyManagerPolicy": {"none", "best-effort", "restricted", "single-numa-node"},
          "topologyManagerScope": {"container", "pod"}}


def native(resource):
    return "/" not in resource or "kubernetes.io/" in resource


def requests_of(container, kind="requests"):
    return {name: quantity(value) for name, value in container.get("resources", {}).get(kind, {}).items()}


def qos_class(pod):
    """As the API server has it; worked out where it has not said it."""
    said = pod.get("status", {}).get("qosClass")
    if said:
        return said
    containers = pod["spec"]["containers"] + pod["spec"].get("initContainers", [])
    sums, guaranteed = {"requests": {}, "limits": {}}, True
    for container in containers:
        for kind, total in sums.items():
            there = {n: v for n, v in requests_of(container, kind).items() if n in ("cpu", "memory") and v > 0}
            for name, value in there.items():
                total[name] = total.get(name, 0) + value
        guaranteed = guaranteed and len(there) == 2  # of the limits, which came last
    if not sums["requests"] and not sums["limits"]:
        return "BestEffort"
    return "Guaranteed" if guaranteed and sums["requests"] == sums["limits"] else "Burstable"


def whole_request(pod):
    """Of a pod: its containers together, or its largest init container, whichever is more."""
    total, first = {}, {}
    for container in pod["spec"]["containers"]:
        for name, value in requests_of(container).items():
            total[name] = total.get(name, 0) + value
    for container in pod["spec"].get("initContainers", []):
        for name, value in requests_of(container).items():
            first[name] = max(first.get(name, value), value)
    return {name: max(total.get(name, first.get(name)), first.get(name, total.get(name))) for name in total.keys() | first.keys()}


def numa_nodes(topology):
    """[(number, {resource: available})] of zones that are NUMA nodes."""
    found = []
    for zone in topology.get("zones", []):
        number = re.fullmatch(r"node-\+?(\d+)", zone["name"])
        if zone["type"] == "Node" and number and int(number.group(1)) <= HIGHEST_NUMA:
            found.append((int(number.group(1)), {r["name"]: quantity(r["available"]) for r in zone.get("resources", [])}))
    return found


def node_resources(node):
    """What the scheduler counts of a node: these four always, and whatever else it counts that the node has."""
    return {"cpu", "memory", "pods", "ephemeral-storage"} | {
        name for name in node.get("status", {}).get("allocatable", {})
        if "/" in name or name.startswith(("hugepages-", "attachable-volumes-"))}


def aligned(numas, requests, qos, on_node):
    """The lowest NUMA node that has room for all of it; None: there is none."""
    possible = set(range(HIGHEST_NUMA + 1))
    for name, wanted in requests.items():
        if wanted == 0:
            continue
        if name not in on_node:
            return None
        shared = qos != "Guaranteed" and (name in ("cpu", "memory") or name.startswith("hugepages-"))
        having = [(number, available[name]) for number, available in numas if name in available]
        if not having and (not native(name) or name == "ephemeral-storage"):
            continue  # it is the node's alone
        possible &= {number for number, available in having if shared or available >= wanted}
    return min(possible, default=None)


def policy_and_scope(topology):
    policies = topology.get("topologyPolicies") or [""]
    policy, scope = OLD_POLICIES.get(policies[0], ("none", "container"))
    for attribute in topology.get("attributes", []):
        if attribute["value"] in VALUES.get(attribute["name"], ()):
            if attribute["name"] == "topologyManagerPolicy":
                policy = attribute["value"]
            else:
                scope = attribute["value"]
    return policy, scope


def verdict(pod, node, topology):
    """Why the pod is no good on the node; empty when it is."""
    qos, spec = qos_class(pod), pod["spec"]
    everybody = spec.get("initContainers", []) + spec["containers"]
    if qos == "BestEffort" and all(native(name) for container in everybody for name in requests_of(container)):
        return ""
    policy, scope = policy_and_scope(topology) if topology else ("none", "")
    if policy != "single-numa-node":
        return ""
    numas, on_node = numa_nodes(topology), node_resources(node)
    if scope == "pod":
        return "" if aligned(numas, whole_request(pod), qos, on_node) is not None else "cannot align pod"
    for container in spec.get("initContainers", []):  # one after the other: none takes anything for good
        if aligned(numas, requests_of(container), qos, on_node) is None:
            return "cannot align init container"
    for container in spec["containers"]:
        chosen = aligned(numas, requests_of(container), qos, on_node)
        if chosen is None:
            return "cannot align container"
        for number, available in numas:
            for name, value in requests_of(container).items() if number == chosen else ():
                if name in available:  # else it is the node's alone
                    available[name] -= value
    return ""


class NodeResourceTopology(berth.Plugin):
    def __init__(self, options):
        super().__init__(options.name)
        self.pods, self.nodes, self.topologies = [
            Objects(options.kubeconfig, path) for path in ("/api/v1/pods", "/api/v1/nodes", PATH)]

    def filter(self, ask):
        pod = self.pods.pod(ask.pod)
        reasons = {node.name: verdict(pod, self.nodes.get(node.name) or {}, self.topologies.get(node.name)) for node in ask.nodes}
        return {name: reason for name, reason in reasons.items() if reason}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("socket", nargs="+", help="scheduler.sock in berth's run directory")
    parser.add_argument("--name", default="NodeResourceTopologyMatch", help="as the profile has it")
    parser.add_argument("--kubeconfig", required=True)
    options = parser.parse_args()
    plugin = NodeResourceTopology(options)
    for objects in (plugin.pods, plugin.nodes, plugin.topologies):
        objects.listed.wait()
    plugin.run(*options.socket)


if __name__ == "__main__":
    main()
