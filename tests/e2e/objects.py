"""The nodes, pods and configurations that the cases create."""
import json

import kube


def node(name, resources, labels=None, taints=None, unschedulable=False):
    resources = dict({"pods": "110"}, **resources)
    body = {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": dict({"kubernetes.io/hostname": name}, **labels or {})},
            "spec": {}, "status": {"capacity": resources, "allocatable": resources,
                                   "conditions": [{"type": "Ready", "status": "True"}]}}
    if taints:
        body["spec"]["taints"] = taints
    if unschedulable:
        body["spec"]["unschedulable"] = True
    return body


def pod(name, requests=None, **spec):
    container = {"name": "main", "image": "registry.example/app:1"}
    if requests:
        container["resources"] = {"requests": requests}
    if requests and any("/" in resource for resource in requests):
        # Extended resources cannot be overcommitted: the API server wants the limit as well.
        container["resources"]["limits"] = {r: v for r, v in requests.items() if "/" in r}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": dict(spec, containers=[container])}


def node_affinity(label, values):
    """Required node affinity: the label is one of the values."""
    term = {"matchExpressions": [{"key": label, "operator": "In", "values": values}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                             {"nodeSelectorTerms": [term]}}}


def small_nodes(client, count, resources=None):
    """Nodes of 4 CPU and 32 GiB, where a case does not care."""
    client.create_many(kube.NODES, (node("node-%04d" % i, resources or {"cpu": "4", "memory": "32Gi"})
                                    for i in range(count)))


def small_pods(count, first=0, prefix="pod"):
    return (pod("%s-%05d" % (prefix, i), {"cpu": "100m", "memory": "500Mi"})
            for i in range(first, first + count))


def shape(item):
    """What the cases look at in a pod: (uid, node, PodScheduled=False as (reason, message) or None)."""
    failed = None
    for condition in item.get("status", {}).get("conditions", []):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            failed = (condition.get("reason"), condition.get("message"))
    return item["metadata"]["uid"], item["spec"].get("nodeName", ""), failed


def no_victims(release, nodes, of_claims="no new claims to deallocate"):
    """What a failed pod is told behind the reasons when no preemption helps it; 1.36 also says what its claims do."""
    first = {"1.36": of_claims + ", ", "1.37": ""}[release]
    return "%spreemption: 0/%d nodes are available: %d Preemption is not helpful for scheduling." % (first, nodes, nodes)


def bound(items):
    return sum(1 for _, node_name, _ in items.values() if node_name)


def configuration(kubeconfig, lease=(15, 10, 2), percentage=None, json_only=False, profiles=None,
                  backoff=None, extenders=None):
    """A KubeSchedulerConfiguration whose client is not held back, with these lease times."""
    seconds = tuple("%gs" % value for value in lease)
    text = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: %s
  qps: 5000
  burst: 5000
%sleaderElection:
  leaderElect: true
  leaseDuration: %s
  renewDeadline: %s
  retryPeriod: %s
""" % ((kubeconfig, "  contentType: application/json\n" if json_only else "") + seconds)
    if backoff:
        text += "podInitialBackoffSeconds: %d\npodMaxBackoffSeconds: %d\n" % (backoff, backoff)
    if percentage:
        text += "percentageOfNodesToScore: %d\n" % percentage
    if extenders:
        text += "extenders: %s\n" % json.dumps(extenders)
    return text + ("profiles: %s\n" % json.dumps(profiles) if profiles else "")
