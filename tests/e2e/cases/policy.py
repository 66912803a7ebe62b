"""The Policy that kube-scheduler had until 1.22: from a file and from a ConfigMap, placing as it says."""
import json
import os
import signal
import subprocess

import checks
import cluster
import kube
import objects
from suite import case

MAPS = "/api/v1/namespaces/kube-system/configmaps"
RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system"
HUGE = {"cpu": "100000", "memory": "1000Ti", "pods": "1000"}
OLD = "Policies are gone from kube-scheduler"
FILE = {
    "kind": "Policy", "apiVersion": "v1",
    "predicates": [
        {"name": "MatchNodeSelector"}, {"name": "PodFitsResources"}, {"name": "PodFitsPorts"},
        {"name": "NoDiskConflict"}, {"name": "HostName"}, {"name": "CheckNodeMemoryPressure"},
        {"name": "TestLabelsPresence", "argument": {"labelsPresence": {"labels": ["region"], "presence": True}}},
        {"name": "TestServiceAffinity", "argument": {"serviceAffinity": {"labels": ["region"]}}}],
    "priorities": [
        {"name": "LeastRequestedPriority", "weight": 1}, {"name": "MostRequestedPriority", "weight": 2},
        {"name": "BalancedResourceAllocation", "weight": 1}, {"name": "SelectorSpreadPriority", "weight": 3},
        {"name": "TestServiceAntiAffinity", "weight": 3, "argument": {"serviceAntiAffinity": {"label": "zone"}}},
        {"name": "TestLabelPreference", "weight": 4, "argument": {"labelPreference": {"label": "bar", "presence": True}}}],
    "hardPodAffinitySymmetricWeight": 10, "alwaysCheckAllPredicates": True}


def write(world, name, text):
    path = os.path.join(world.directory, name)
    with open(path, "w") as file:
        file.write(text if isinstance(text, str) else json.dumps(text))
    return path


def service(name):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": {"selector": {"app": name}, "ports": [{"port": 80}]}}


def pod_of(name, app, requests=None):
    made = objects.pod(name, requests)
    made["metadata"]["labels"] = {"app": app}
    return made


def place(world, flags):
    """The pods of two services and of none, one after another: where each of them goes."""
    pods = world.pods()
    running = world.scheduler(name="with-" + str(len(world.subjects)), flags=flags)
    made = [pod_of("%s-%d" % (app, i), app, {"cpu": "%dm" % (100 + 150 * (i % 3)), "memory": "300Mi"})
            for i in range(6) for app in ("web", "db", "none")]
    for count, each in enumerate(made, 1):
        world.admin.create(kube.PODS, each)
        checks.all_bound(pods, count, 60)
    chosen = {name: node for name, (_, node, _) in pods.items.items()}
    for each in made:
        world.admin.delete(kube.PODS + "/" + each["metadata"]["name"])
    checks.wait_until(60, lambda: not pods.items, "the pods do not go")
    checks.expect(running.terminate() == 0, "the scheduler ended with an error")
    return chosen


@case("policy-file", not_upstream=OLD)
def policy_file(world):
    """A Policy of kube-scheduler's own compatibility tests places pods as its translation does."""
    for i in range(6):
        labels = {"zone": "z%d" % (i % 2)}
        labels.update({"region": "r%d" % (i // 4)} if i != 5 else {}, **({"bar": ""} if i == 1 else {}))
        world.admin.create(kube.NODES, objects.node(
            "n%d" % i, {"cpu": str(4 + i), "memory": "%dGi" % (32 - 3 * i)}, labels=labels))
    for app in ("web", "db"):
        world.admin.create("/api/v1/namespaces/default/services", service(app))
    policy = write(world, "policy.json", FILE)
    tie = "--tie-break=first"
    chosen = place(world, ["--policy-config-file=" + policy, tie])
    checks.expect("n5" not in chosen.values(), "a node without the label was chosen: %s", chosen)
    for app in ("web", "db"):  # serviceAffinity: a service stays in the region of its first pod
        regions = {node == "n4" for name, node in chosen.items() if name.startswith(app)}
        checks.expect(len(regions) == 1, "%s is in two regions: %s", app, chosen)
    done = subprocess.run([os.path.join(cluster.TOP, "build/bin/berth"), "config", "--expanded",
                           "--policy-config-file=" + policy], capture_output=True, text=True, timeout=60)
    checks.expect(done.returncode == 0, "berth config: %s", done.stderr)
    today = write(world, "today.yaml", done.stdout)
    again = place(world, ["--config=" + today, tie])
    checks.expect(again == chosen, "the translation places otherwise: %s, %s", chosen, again)
    plain = place(world, [tie])
    checks.expect(plain != chosen, "the Policy changes nothing: %s", chosen)


@case("policy-spread-and-round-robin", not_upstream=OLD)
def policy_spread(world):
    """SelectorSpreadPriority spreads a service; pods of none take equal nodes in turn."""
    objects.small_nodes(world.admin, 3, HUGE)
    world.admin.create("/api/v1/namespaces/default/services", service("web"))
    pods = world.pods()
    policy = write(world, "policy.json", {"kind": "Policy", "apiVersion": "v1", "priorities": [
        {"name": "SelectorSpreadPriority", "weight": 1}]})
    world.scheduler(flags=["--policy-config-file=" + policy, "--tie-break=round-robin"])
    world.admin.create_many(kube.PODS, (pod_of("web-%02d" % i, "web") for i in range(12)))
    checks.all_bound(pods, 12, 60)
    nodes = [node for _, node, _ in pods.items.values()]
    checks.expect(sorted(nodes.count(n) for n in set(nodes)) == [4, 4, 4], "not spread: %s", nodes)
    for i in range(9):
        world.admin.create(kube.PODS, objects.pod("none-%d" % i))
        checks.all_bound(pods, 13 + i, 60)
    turn = [pods.items["none-%d" % i][1] for i in range(9)]
    checks.expect(len(set(turn[:3])) == 3 and turn[:3] * 3 == turn, "not in turn: %s", turn)


def policy_map(weights, key="policy.cfg"):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "scheduler-policy"},
            "data": {key: json.dumps({"kind": "Policy", "apiVersion": "v1", "priorities": [
                {"name": name, "weight": weight} for name, weight in weights]})}}


def refused(world, text):
    """The scheduler ends with status 1 and says why."""
    running = world.scheduler(name="refused-%d" % len(world.subjects),
                              flags=["--policy-configmap=scheduler-policy"])
    checks.wait_until(60, lambda: not running.alive(), "it runs without its ConfigMap")
    checks.expect(running.process.returncode == 1, "status %s", running.process.returncode)
    log = "\n".join(running.log_lines()).replace("\\\"", "\"")
    checks.expect(text in log, "not said: %s; but: %s", text, log[-500:])


def followed_without_being_asked(world, running):
    """A bad ConfigMap is refused, a good one takes effect; both without a signal."""
    def lines(*texts):
        return sum(all(text in line for text in texts) for line in running.log_lines())

    before = lines("configuration changed", "proc=scheduler")
    world.admin.put(MAPS + "/scheduler-policy", policy_map([("NoSuchPriority", 1)]))
    checks.wait_until(40, lambda: lines("the former one stays", "NoSuchPriority") == 1, "the bad ConfigMap was not seen")
    world.admin.put(MAPS + "/scheduler-policy", policy_map([("MostRequestedPriority", 1)]))
    checks.wait_until(40, lambda: lines("configuration changed", "proc=scheduler") == before + 1, "the good ConfigMap was not seen")
    world.admin.delete(MAPS + "/scheduler-policy")
    checks.wait_until(40, lambda: lines("the former configuration stays", "not found") == 1, "nobody misses the ConfigMap")
    checks.expect(running.alive() and lines("configuration changed", "proc=scheduler") == before + 1, "without its ConfigMap it went on otherwise")


def allow_map(world):
    """The scheduler's user may read the ConfigMap: on the real API server no role of its own lets it."""
    allow = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "berth-policy"}}
    world.admin.create(RBAC + "/roles", dict(allow, kind="Role", rules=[
        {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["scheduler-policy"], "verbs": ["get"]}]))
    world.admin.create(RBAC + "/rolebindings", dict(
        allow, kind="RoleBinding",
        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "berth-policy"},
        subjects=[{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "system:kube-scheduler"}]))
    checks.wait_until(30, lambda: kube.may(world.admin, "system:kube-scheduler", "get", "configmaps", namespace="kube-system",
                                           name="scheduler-policy"), "the scheduler may not read the ConfigMap")


@case("policy-configmap", not_upstream=OLD)
def policy_configmap(world):
    """A Policy from a ConfigMap: what is missing is named; SIGHUP reads it again, and so does time."""
    real = world.options.api == "real"
    if real:
        refused(world, "couldn't get policy config map kube-system/scheduler-policy: configmaps "
                       "\"scheduler-policy\" is forbidden")
        allow_map(world)
    refused(world, "configmaps \"scheduler-policy\" not found")
    world.admin.create(MAPS, policy_map([("MostRequestedPriority", 1)], key="other"))
    refused(world, "missing policy config map value at key \"policy.cfg\"")
    world.admin.put(MAPS + "/scheduler-policy", policy_map([("NoSuchPriority", 1)]))
    refused(world, "priorities[0].name: Invalid value: \"NoSuchPriority\": no priority has that name")
    world.admin.put(MAPS + "/scheduler-policy", policy_map([("MostRequestedPriority", 1)]))
    objects.small_nodes(world.admin, 3)
    pods = world.pods()
    running = world.scheduler(flags=["--policy-configmap=scheduler-policy"])
    for i in range(6):
        world.admin.create(kube.PODS, objects.pod("full-%d" % i, {"cpu": "500m", "memory": "1Gi"}))
        checks.all_bound(pods, i + 1, 60)
    nodes = {node for _, node, _ in pods.items.values()}
    checks.expect(len(nodes) == 1, "MostRequestedPriority has used %s", nodes)
    world.admin.put(MAPS + "/scheduler-policy", policy_map([("LeastRequestedPriority", 1)]))
    os.kill(running.process.pid, signal.SIGHUP)
    checks.wait_until(30, lambda: any("configuration changed" in line and "proc=scheduler" in line
                                      for line in running.log_lines()), "the ConfigMap was not read again")
    for i in range(6):
        world.admin.create(kube.PODS, objects.pod("even-%d" % i, {"cpu": "500m", "memory": "1Gi"}))
        checks.all_bound(pods, 7 + i, 60)
    nodes = [node for name, (_, node, _) in pods.items.items() if name.startswith("even")]
    checks.expect(len(set(nodes)) == 2, "LeastRequestedPriority has used %s", nodes)
    followed_without_being_asked(world, running)


@case("policy-provider", not_upstream=OLD)
def policy_provider(world):
    """--algorithm-provider=ClusterAutoscalerProvider fills nodes up."""
    objects.small_nodes(world.admin, 3)
    pods = world.pods()
    world.scheduler(flags=["--algorithm-provider=ClusterAutoscalerProvider"])
    for i in range(6):
        world.admin.create(kube.PODS, objects.pod("pod-%d" % i, {"cpu": "500m", "memory": "4Gi"}))
        checks.all_bound(pods, i + 1, 60)
    nodes = {node for _, node, _ in pods.items.values()}
    checks.expect(len(nodes) == 1, "it has used %s", nodes)
