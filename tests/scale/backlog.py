"""Pods that are to be placed, by kind: each kind asks something else of a scheduler.

All are written as JSON before the clock runs. Pods of one backlog carry a label of their own, so that rules count
these and no others.
"""
import json

import standin

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def selector(tag):
    return {"matchLabels": {"set": tag}}


def plain(tag, i):
    return {}


def zone_spread(tag, i):
    return {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
                                           "labelSelector": selector(tag)}]}


def term(tag, key):
    return {"topologyKey": key, "labelSelector": selector(tag)}


def host_anti(tag, i):
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(tag, HOST)]}}}


def zone_affinity(tag, i):
    return {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(tag, ZONE)]}}}


def host_preferred(tag, i):
    return {"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 100, "podAffinityTerm": term(tag, HOST)}]}}}


def unlike(tag, i):
    """No two ask for the same: neither for room nor for nodes."""
    expression = {"key": ZONE, "operator": "NotIn", "values": ["none-%s-%d" % (tag, i)]}
    return {"cpu": 10 + i % 977, "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [expression]}]}}}}


# What the table calls them, and what makes the spec.
KINDS = {"plain": ("plain", plain), "service": ("of a Service", plain),
         "zone-spread": ("hard spreading over zones", zone_spread),
         "host-anti": ("anti-affinity by host", host_anti), "zone-affinity": ("affinity by zone", zone_affinity),
         "host-preferred": ("affinity by host, preferred", host_preferred),
         "unlike": ("each unlike all before", unlike)}


class Backlog:
    """So many pods of a kind, ready to be sent; names are all that begin with the tag."""

    def __init__(self, kind, tag, count):
        self.kind, self.tag, self.count = kind, tag, count
        self.texts = [json.dumps(self.pod(i)) for i in range(count)]

    def pod(self, i):
        spec = KINDS[self.kind][1](self.tag, i)
        requests = {"cpu": "%dm" % spec.pop("cpu", 10), "memory": "16Mi"}
        return {"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": "%s-%06d" % (self.tag, i), "namespace": standin.SPACE,
                             "labels": {"set": self.tag}},
                "spec": dict(spec, containers=[{"name": "app", "image": "registry.example.com/team/app-1:1.1.0",
                                                "resources": {"requests": requests}}])}

    def send(self, there):
        if self.kind == "service":
            there.client.create("/api/v1/namespaces/%s/services" % standin.SPACE, {
                "metadata": {"name": self.tag}, "spec": {"selector": {"set": self.tag}, "ports": [{"port": 80}]}})
        there.create(self.texts)

    def bound(self, seen):
        """Those of this backlog among the binds that were seen."""
        return [one for one in seen if one[2].startswith(self.tag + "-")]
