"""What an operator is told who asks where pods would go, and what then becomes of them."""
import json
import os
import subprocess

import checks
import cluster
import kube
import objects
from suite import case

REPLICA_SETS = "/apis/apps/v1/namespaces/default/replicasets"
BERTH = os.path.join(cluster.TOP, "build/bin/berth")


def asked(subject, command, *words, manifest=None):
    """(exit status, what it prints, what it complains of)."""
    if manifest is not None:
        words += ("-f", "-")
    done = subprocess.run([BERTH, command, *words, "--run-dir", subject.rundir], timeout=60,
                          input=None if manifest is None else json.dumps(manifest),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def told(subject, command, *words, manifest=None, status=0):
    """The answer as an object."""
    ended, out, complaint = asked(subject, command, "-o", "json", *words, manifest=manifest)
    checks.expect(ended == status, "berth %s %s ended with %s: %s%s", command, words, ended, complaint, out)
    return json.loads(out)


def ready(subject, nodes):
    """All processes are there, and the watcher has all nodes."""
    def knows():
        return all(asked(subject, "whatif", "--cordon", node, "--wait", "1")[0] == 0 for node in nodes)
    checks.wait_until(60, knows, "nobody answers")


def deployment(name, replicas, requests, **spec):
    pod = objects.pod(name, requests, **spec)
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels},
                     "template": {"metadata": {"labels": labels}, "spec": pod["spec"]}}}


def pods_of(world, made):
    """The same pods as the Deployment's controllers would send them, behind their ReplicaSet."""
    spec, labels = made["spec"]["template"]["spec"], made["spec"]["template"]["metadata"]["labels"]
    owner = dict(made, kind="ReplicaSet")
    world.admin.create(REPLICA_SETS, owner)
    uid = world.admin.get(REPLICA_SETS + "/" + made["metadata"]["name"])["metadata"]["uid"]
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": made["metadata"]["name"], "uid": uid, "controller": True}
    return [{"apiVersion": "v1", "kind": "Pod", "spec": spec, "metadata": {
        "name": "%s-%d" % (made["metadata"]["name"], number), "labels": labels, "ownerReferences": [reference]}}
            for number in range(1, made["spec"]["replicas"] + 1)]


def places(answer):
    return {pod["name"]: pod.get("node", "") for pod in answer["pods"]}


def as_said(world, pods, manifests, answer):
    """The pods are really created, and go where it was said."""
    said = places(answer)
    for made in manifests:
        for pod in pods_of(world, made):
            world.admin.create(kube.PODS, pod)
            name = pod["metadata"]["name"]
            checks.expect(pods.wait(60, lambda items: name in items and (items[name][1] or items[name][2])),
                          "%s is not decided", name)
    checks.expect({name: pods.items[name][1] for name in said} == said, "it is said %s, and it is %s", said,
                  {name: pods.items[name][1:] for name in said})
    for pod in answer["pods"]:
        if pod["result"] == "pending":
            checks.expect(pods.items[pod["name"]][2][1] == pod["message"], "%s is told: %s, and it was said: %s",
                          pod["name"], pods.items[pod["name"]][2][1], pod["message"])


def look_at_refused(subject):
    """What names nothing, and what is misspelt."""
    for words, why in ((("--drain", "nowhere"), "there is no node nowhere"),
                       (("--delete", "pod/default/nobody"), "there is no pod default/nobody"),
                       (("--fail", "zone=none"), "no node has the label zone=none"),
                       (("--fail", "zone=a", "--drain", "node-0"), "--fail has taken away already the node node-0"),
                       ((), "what is to be different"),
                       (("--add-nodes", "1"), "--add-nodes and --like belong together")):
        status, out, complaint = asked(subject, "whatif", *words)
        checks.expect(status == 1 and not out and why in complaint, "%s: it says %s%s", words, out, complaint)
    wrong = deployment("wrong", 1, {"cpu": "1"})
    wrong["spec"]["template"]["spec"]["containerz"] = []
    status, _, complaint = asked(subject, "whatif", manifest=wrong)
    checks.expect(status == 1 and "-: spec.template.spec.containerz: unknown field" in complaint, "it says: %s", complaint)
    status, _, complaint = asked(subject, "whatif", manifest=deployment("many", 2000000000, {"cpu": "1"}))
    checks.expect(status == 1 and "more than 100,000 pods" in complaint, "of two thousand million pods it says: %s", complaint)


def look_at_diff(world, subject, before):
    """What a diff says is what patch makes of the manifests, and no other pod is in it."""
    answer = told(subject, "whatif", "--drain", "node-2", status=3)
    _, out, _ = asked(subject, "whatif", "--drain", "node-2", "-o", "diff")
    top = os.path.join(world.directory, "manifests")
    os.makedirs(top + "/default")

    def text(name, node):
        return ("apiVersion: v1\nkind: Pod\nmetadata:\n  name: \"%s\"\n  namespace: \"default\"\n" % name
                + ("spec:\n  nodeName: \"%s\"\n" % node if node else ""))
    for name, node in before.items():
        with open("%s/default/%s.yaml" % (top, name), "w") as file:
            file.write(text(name, node))
    done = subprocess.run(["patch", "-p1", "--fuzz=0"], cwd=top, input=out, stdout=subprocess.PIPE, text=True, check=False)
    checks.expect(done.returncode == 0, "patch says: %s", done.stdout)
    for name, node in dict(before, **places(answer)).items():
        with open("%s/default/%s.yaml" % (top, name)) as file:
            checks.expect(file.read() == text(name, node), "%s is not as it was said, %s", name, node)


def look_at_configuration(world, subject, nodes):
    """What another configuration would decide, and what is wrong with one."""
    path = os.path.join(world.directory, "other.yaml")

    def write(text):
        with open(path, "w") as file:
            file.write("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + text)
    pod = objects.pod("small", {"cpu": "100m"})
    for strategy in ("LeastAllocated", "MostAllocated"):
        write("profiles: " + json.dumps([{"plugins": {"multiPoint": {"disabled": [{"name": "*"}], "enabled": [
            {"name": name} for name in ("PrioritySort", "NodeResourcesFit", "DefaultBinder")]}}, "pluginConfig": [
                {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": strategy, "resources": [
                    {"name": "cpu", "weight": 1}]}}}]}]))
        answer = told(subject, "whatif", "--config", path, manifest=pod)
        checks.expect(places(answer)["small"] == nodes[strategy] and answer["config"] == path, "%s: it says %s, not %s",
                      strategy, answer, nodes[strategy])
    write("profiles: [{plugins: {filter: {enabled: [{name: Nonsense}]}}}]")
    said = subprocess.run([BERTH, "config", "--config", path], stderr=subprocess.PIPE, text=True, check=False).stderr
    status, out, complaint = asked(subject, "whatif", "--config", path, "--pending")
    checks.expect(status == 1 and not out and "Nonsense" in said and complaint == said.replace("berth config:", "berth whatif:"),
                  "it says: %s, and berth config: %s", complaint, said)


def look_at_all(subject, before):
    """Each bound pod decided anew: all are counted, and none is moved by asking."""
    _, out, complaint = asked(subject, "whatif", "--all", "-o", "json")
    answer = json.loads(out or "{}")
    checks.expect(answer.get("bound") == sum(1 for node in before.values() if node) == answer["stay"] + len(answer["pods"]),
                  "it says: %s%s", out, complaint)


@case("whatif", not_upstream="berth whatif is berth's")
def whatif(world):
    """New pods go where it was said; nodes that drain, fail and are added; the pods there stay as they are."""
    zones = [{"topology.kubernetes.io/zone": zone} for zone in "abb"]
    world.admin.create_many(kube.NODES, [objects.node("node-%d" % i, {"cpu": cpu, "memory": "64Gi"}, zones[i])
                                         for i, cpu in enumerate(("3", "6500m", "12"))])
    pods = world.pods()
    subject = world.scheduler()
    ready(subject, ("node-0", "node-1", "node-2"))
    world.admin.create(kube.PODS, objects.pod("first", {"cpu": "1"}, nodeName="node-0"))
    checks.expect(pods.wait(60, lambda items: "first" in items), "the first pod is not there")
    checks.wait_until(30, lambda: json.loads(asked(subject, "whatif", "--all", "-o", "json")[1])["bound"] == 1, "it is not seen")
    look_at_configuration(world, subject, {"LeastAllocated": "node-2", "MostAllocated": "node-0"})
    world.admin.delete(kube.PODS + "/first")
    checks.expect(pods.wait(60, lambda items: not items), "the first pod is still there")
    checks.wait_until(30, lambda: json.loads(asked(subject, "whatif", "--all", "-o", "json")[1])["bound"] == 0, "it is seen")
    made = [deployment("web", 6, {"cpu": "2100m", "memory": "1Gi"}), deployment("db", 5, {"cpu": "1700m", "memory": "3Gi"})]
    manifest = {"apiVersion": "v1", "kind": "List", "items": made}
    answer = told(subject, "whatif", manifest=manifest, status=3)
    checks.expect(not pods.items, "there are pods: %s", pods.items)
    as_said(world, pods, made, answer)
    before = {name: item[1] for name, item in pods.items.items()}
    on = {node: sorted(name for name in before if before[name] == node) for node in ("node-0", "node-1", "node-2")}
    checks.expect(all(on.values()), "the pods are on %s", on)
    drained = told(subject, "whatif", "--drain", "node-0", status=3)
    checks.expect(sorted(places(drained)) == on["node-0"] and drained["changes"]["nodesDrained"] == ["node-0"] and all(
        pod["wasOn"] == "node-0" for pod in drained["pods"]), "it says: %s", drained)
    failed = told(subject, "whatif", "--fail", "zone=b", "--add-nodes", "4", "--like", "node-2")
    checks.expect(sorted(places(failed)) == sorted(on["node-1"] + on["node-2"]) and set(places(failed).values()) <= {
        "node-0", "node-2-new-1", "node-2-new-2", "node-2-new-3", "node-2-new-4"}, "it says: %s", failed)
    pending = sorted(name for name in before if not before[name])
    deleted = told(subject, "whatif", "--pending", *(word for name in pending for word in ("--delete", "pod/default/" + name)))
    checks.expect(pending and not deleted["pods"], "all that are pending are deleted, and it says: %s", deleted)
    helped = told(subject, "whatif", "--pending", "--add-nodes", "2", "--like", "node-2")
    checks.expect(sorted(places(helped)) == pending, "%s are pending, and it says: %s", pending, helped)
    look_at_refused(subject)
    look_at_diff(world, subject, before)
    look_at_all(subject, before)
    checks.expect({name: item[1] for name, item in pods.items.items()} == before, "the pods have moved to %s", pods.items)
    really_drain(world, pods, subject, on["node-0"][0])


def really_drain(world, pods, subject, name):
    """Where a pod goes whose node is cordoned, and that is made anew, when another one is deleted."""
    room = next(other for other in sorted(pods.items) if pods.items[other][1] == "node-2" and other.startswith("web"))
    body = world.admin.get(kube.PODS + "/" + name)
    answer = told(subject, "whatif", "--delete", "pod/default/" + room, "--drain", "node-0", status=0)
    node = world.admin.get(kube.NODES + "/node-0")
    node["spec"]["unschedulable"] = True
    world.admin.put(kube.NODES + "/node-0", node)
    for other in [name for name, item in pods.items.items() if not item[1]] + [room, name]:
        world.admin.delete(kube.PODS + "/" + other)
        checks.expect(pods.wait(60, lambda items: other not in items), "%s is still there", other)
    spec = {"containers": body["spec"]["containers"]}
    metadata = {key: body["metadata"][key] for key in ("name", "labels", "ownerReferences")}
    world.admin.create(kube.PODS, {"apiVersion": "v1", "kind": "Pod", "spec": spec, "metadata": metadata})
    checks.expect(pods.wait(60, lambda items: name in items and items[name][1]), "%s has no node", name)
    checks.expect(places(answer)[name] == pods.items[name][1], "it is on %s, and it was said: %s", pods.items[name], answer)


@case("whatif-evicts", not_upstream="berth whatif is berth's")
def whatif_evicts(world):
    """Who would have to go for a pod of higher priority is who goes."""
    world.admin.create_many(kube.NODES, [objects.node("node-1", {"cpu": "4", "memory": "8Gi"}),
                                         objects.node("node-2", {"cpu": "2", "memory": "8Gi"})])
    pods = world.pods()
    subject = world.scheduler()
    world.admin.create_many(kube.PODS, [objects.pod("small", {"cpu": "1500m"}, nodeSelector={"kubernetes.io/hostname": "node-2"}),
                                        objects.pod("large", {"cpu": "3"}, terminationGracePeriodSeconds=0)])
    checks.all_bound(pods, 2, 60)
    class_of = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
    pod = objects.pod("urgent", {"cpu": "2500m"}, priorityClassName="high")
    answer = told(subject, "whatif", manifest={"apiVersion": "v1", "kind": "List", "items": [class_of, pod]})
    checks.expect(answer["evicted"] == [{"pod": "default/large", "node": "node-1", "for": "default/urgent"}]
                  and places(answer) == {"urgent": "node-1"}, "it says: %s", answer)
    status, text, _ = asked(subject, "whatif", manifest={"apiVersion": "v1", "kind": "List", "items": [class_of, pod]})
    checks.expect(status == 0 and "1 placed, 0 pending, 1 would be evicted" in text, "it says: %s", text)
    limit = told(subject, "capacity", manifest={"apiVersion": "v1", "kind": "List", "items": [class_of, pod]})
    checks.expect(limit["fit"] == 0 and limit["evicts"] == ["default/large"], "it says: %s", limit)
    world.admin.create("/apis/scheduling.k8s.io/v1/priorityclasses", class_of)
    pod["spec"]["priority"] = 1000
    world.admin.create(kube.PODS, pod)
    checks.expect(pods.wait(60, lambda items: "urgent" in items and items["urgent"][1] and "large" not in items),
                  "they are: %s", pods.items)
    checks.expect(pods.items["urgent"][1] == "node-1" and pods.items["small"][1] == "node-2", "they are: %s", pods.items)


@case("capacity", not_upstream="berth capacity is berth's")
def capacity(world):
    """As many as it says are bound, and one more is not."""
    world.admin.create_many(kube.NODES, [objects.node("node-%d" % i, {"cpu": cpu, "memory": "64Gi"})
                                         for i, cpu in enumerate(("3", "6500m", "12"))])
    pods = world.pods()
    subject = world.scheduler()
    ready(subject, ("node-0", "node-1", "node-2"))
    made = deployment("web", 1, {"cpu": "700m", "memory": "1Gi"})
    limit = told(subject, "capacity", manifest=made)
    checks.expect(limit["fit"] == 4 + 9 + 17 and limit["stopped"], "it says: %s", limit)
    few = told(subject, "capacity", "--most", "7", manifest=made)
    checks.expect(few["fit"] == 7 and not few["stopped"] and "message" not in few, "it says: %s", few)
    made["spec"]["replicas"] = limit["fit"]
    world.admin.create_many(kube.PODS, pods_of(world, made))
    checks.all_bound(pods, limit["fit"], 60)
    counts = {node["name"]: node["fit"] for node in limit["nodes"]}
    on = {name: sum(1 for item in pods.items.values() if item[1] == name) for name in counts}
    checks.expect(counts == on, "it is said %s, and it is %s", counts, on)
    world.admin.create(kube.PODS, objects.pod("one-more", {"cpu": "700m", "memory": "1Gi"}))
    checks.expect(pods.wait(60, lambda items: items.get("one-more", ("", "", None))[2]), "one more is not pending")
    checks.expect(pods.items["one-more"][2][1] == limit["message"], "it is told: %s, and it was said: %s",
                  pods.items["one-more"][2][1], limit["message"])
    status, text, _ = asked(subject, "capacity", "--nodes", manifest=made)
    checks.expect(status == 0 and text.startswith("room for 0 more like default/web"), "it says: %s", text)
