"""The configurations of documents about kube-scheduler from 1.10 on, as they are (tests/golden/pages), and what they describe."""
import json
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import checks
import cluster
import gang
import kube
import objects
from cases.plugins import EXAMPLE
from cases.policy import allow_map
from suite import case

PAGES = os.path.join(cluster.TOP, "tests", "golden", "pages")
NO_GROUPS = "kube-scheduler has no groups without the Coscheduling plugin"
OLD = "kube-scheduler has forgotten these versions"
WIDGET = "example.com/widget"
ROOM = {"cpu": "4", "memory": "16Gi"}
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
SECONDS = 60


def text_of(name):
    with open(os.path.join(PAGES, name), encoding="utf-8") as file:
        return file.read()


def page(name):
    return "--config=" + os.path.join(PAGES, name)


def write(world, name, text):
    path = os.path.join(world.directory, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def high_class(world):
    world.admin.create(CLASSES, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                 "metadata": {"name": "high"}, "value": 1000})


def bound(pods, name):
    done = pods.wait(SECONDS, lambda items: name in items and items[name][1])
    checks.expect(done, "%s is not bound: %s", name, pods.items.get(name))
    return pods.items[name][1]


# ---- a Policy with an extender of four verbs ---------------------------------------------------------


class Verbs:
    """Lets pods go to n0 and n1, likes n1, binds, and keeps to these nodes in preemption; knows who asked for what."""

    def __init__(self, world):
        self.asked = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                args = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                verb = self.path.rsplit("/", 1)[1]
                outer.asked.append((self.path, args["PodName"] if verb == "bind" else args["Pod"]["metadata"]["name"]))
                body = json.dumps(getattr(outer, verb)(world.admin, args)).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @staticmethod
    def filter(_, args):
        return {"Nodes": {"items": [n for n in args["Nodes"]["items"] if n["metadata"]["name"] in ("n0", "n1")]}}

    @staticmethod
    def prioritize(_, args):
        return [{"Host": n["metadata"]["name"], "Score": 10 * (n["metadata"]["name"] == "n1")} for n in args["Nodes"]["items"]]

    @staticmethod
    def bind(admin, args):
        admin.create("%s/%s/binding" % (kube.PODS, args["PodName"]), {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": args["PodName"], "uid": args["PodUID"]},
            "target": {"apiVersion": "v1", "kind": "Node", "name": args["Node"]}})
        return {}

    @staticmethod
    def preempt(_, args):
        victims = args.get("NodeNameToVictims") or {}
        return {"NodeNameToMetaVictims": {node: {
            "Pods": [{"UID": p["metadata"]["uid"]} for p in found["Pods"]],
            "NumPDBViolations": found.get("NumPDBViolations", 0)} for node, found in victims.items() if node in ("n0", "n1")}}

    def verbs_for(self, name):
        return {path for path, pod in self.asked if pod == name}

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


@case("pages-policy", not_upstream="Policies are gone from kube-scheduler")
def policy(world):
    """The Policy's predicates and priorities; its extender filters, scores, binds and preempts for who wants its resource."""
    extender = Verbs(world)
    world.others.append(extender)
    for i in range(3):
        world.admin.create(kube.NODES, objects.node("n%d" % i, ROOM, {"name": "n%d" % i}))
    high_class(world)
    pods = world.pods()
    path = write(world, "policy.json", text_of("policy.json").replace(":12346/", ":%d/" % extender.port))
    world.scheduler(flags=["--policy-config-file=" + path])
    world.admin.create(kube.PODS, objects.pod("plain", {"cpu": "1"}, nodeSelector={"name": "n2"}))
    bound(pods, "plain")
    checks.expect(not extender.verbs_for("plain"), "the extender was asked about a pod that is not its own")
    # No node has any of the resource: the scheduler does not look at it, the extender does.
    world.admin.create(kube.PODS, objects.pod("first", {"cpu": "2", WIDGET: "1"}, terminationGracePeriodSeconds=0))
    checks.expect(bound(pods, "first") == "n1", "first is on %s", pods.items["first"][1])
    root = "/scheduler/"
    checks.expect(extender.verbs_for("first") == {root + v for v in ("filter", "prioritize", "bind")},
                  "asked: %s", extender.verbs_for("first"))
    world.admin.create(kube.PODS, objects.pod("second", {"cpu": "3500m", WIDGET: "1"}, terminationGracePeriodSeconds=0))
    bound(pods, "second")
    made = objects.pod("urgent", {"cpu": "3500m", WIDGET: "1"}, priorityClassName="high")
    world.admin.create(kube.PODS, made)
    node = bound(pods, "urgent")
    checks.expect(node in ("n0", "n1") and root + "preempt" in extender.verbs_for("urgent"),
                  "urgent is on %s, asked: %s", node, extender.verbs_for("urgent"))
    checks.wait_until(SECONDS, lambda: len(set(pods.items) & {"first", "second"}) < 2, "nobody was preempted")
    checks.expect("plain" in pods.items, "a pod was preempted where the extender lets nobody go")


# ---- Coscheduling ------------------------------------------------------------------------------------


def replicas(world, room):
    """Six replicas of 3 CPU, of a group of at least four, on so many nodes of 4 CPU."""
    gang.install(world.admin, world.options.api == "small")
    objects.small_nodes(world.admin, room, {"cpu": "4", "memory": "32Gi"})
    pods = world.pods()
    world.scheduler(flags=[page("coscheduling.yaml")])
    with open(os.path.join(PAGES, "coscheduling-group.yaml"), encoding="utf-8") as file:
        manifest = subprocess.run(["python3", "-c", "import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))"],
                                  stdin=file, capture_output=True, text=True, check=True).stdout
    world.admin.create(gang.groups_path(gang.SIGS), json.loads(manifest))
    made = [objects.pod("nginx-%d" % i, {"cpu": "3"}) for i in range(6)]
    for each in made:
        each["metadata"]["labels"] = {"app": "nginx", "pod-group.scheduling.sigs.k8s.io": "nginx"}
    world.admin.create_many(kube.PODS, made)
    return pods


@case("pages-coscheduling", not_upstream=NO_GROUPS)
def coscheduling(world):
    """The page's file and manifests: with room for five, five of six run and one pends."""
    pods = replicas(world, 5)
    gang.wait_placed(pods, "nginx", 5)
    gang.wait_told(pods, "nginx", 1)


@case("pages-coscheduling-no-room", not_upstream=NO_GROUPS)
def coscheduling_no_room(world):
    """With room for three all six pend and hold nothing; a fourth node lets four run."""
    pods = replicas(world, 3)
    gang.wait_told(pods, "nginx", 6)
    gang.none_placed(pods, "nginx")
    world.admin.create(kube.NODES, objects.node("late", {"cpu": "4", "memory": "32Gi"}))
    gang.wait_placed(pods, "nginx", 4)


# ---- plugins of one's own ----------------------------------------------------------------------------


@case("pages-custom-plugins", not_upstream="kube-scheduler knows no plugins on a bus")
def custom_plugins(world):
    """MyCustomPluginA and B score with weights 2 and 1; without them it is said what to do."""
    alone = world.scheduler(name="alone", flags=[page("custom-plugins.yaml")])
    checks.wait_until(SECONDS, lambda: not alone.alive(), "it runs without its plugins")
    checks.expect(any("MyCustomPluginA" in line and "BusPluginArgs" in line for line in alone.log_lines()),
                  "not said what to do: %s", alone.log_lines()[-3:])
    world.admin.create_many(kube.NODES, [
        objects.node("plain", {"cpu": "64", "memory": "64Gi"}),
        objects.node("liked", {"cpu": "64", "memory": "64Gi"}, labels={"bus.example/score": "100"})])
    args = "".join("  - {name: MyCustomPlugin%s, args: {kind: BusPluginArgs, deadline: 2s}}\n" % letter for letter in "AB")
    with_args = write(world, "custom.yaml", text_of("custom-plugins.yaml") + "  pluginConfig:\n" + args)
    running = world.scheduler(flags=["--config=" + with_args])
    door = os.path.join(running.rundir, "scheduler.sock")
    plugins = [subprocess.Popen([EXAMPLE, door, "MyCustomPlugin" + letter], stdin=subprocess.DEVNULL) for letter in "AB"]
    try:
        pods = world.pods()
        for i in range(3):
            world.admin.create(kube.PODS, objects.pod("pod-%d" % i, {"cpu": "1"}))
            checks.expect(bound(pods, "pod-%d" % i) == "liked", "pod-%d is on %s", i, pods.items["pod-%d" % i][1])
    finally:
        for each in plugins:
            each.kill()
            each.wait(10)


# ---- old versions ------------------------------------------------------------------------------------


def place_two(world, name, flags):
    """Where two pods go, one after the other, and what was said of the version."""
    pods = world.pods()
    running = world.scheduler(name=name, flags=flags)
    nodes = []
    for i in range(2):
        world.admin.create(kube.PODS, objects.pod("%s-%d" % (name, i), {"cpu": "1", "memory": "1Gi"}))
        nodes.append(bound(pods, "%s-%d" % (name, i)))
    checks.expect(any("is read as" in line for line in running.log_lines()), "no warning")
    checks.expect(running.terminate() == 0, "the scheduler ended with an error")
    for i in range(2):
        world.admin.delete(kube.PODS + "/%s-%d" % (name, i))
    checks.wait_until(SECONDS, lambda: not pods.items, "the pods do not go")
    return nodes


@case("pages-old-versions", not_upstream=OLD)
def old_versions(world):
    """v1alpha1's provider and Policies and v1beta1's profile fill nodes up or spread, as they say; nobody is preempted where that is off."""
    objects.small_nodes(world.admin, 3, ROOM)
    spread = place_two(world, "component", [page("componentconfig-v1alpha1.yaml")])
    checks.expect(len(set(spread)) == 2, "DefaultProvider put both on %s", spread)
    packed = place_two(world, "autoscaler", [page("v1alpha1-provider.yaml")])
    checks.expect(len(set(packed)) == 1, "ClusterAutoscalerProvider put them on %s", packed)
    world.admin.create("/api/v1/namespaces/kube-system/configmaps", {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "scheduler-policy"},
        "data": {"policy.cfg": json.dumps({"kind": "Policy", "apiVersion": "v1", "priorities": [
            {"name": "MostRequestedPriority", "weight": 1}]})}})
    if world.options.api == "real":
        allow_map(world)
    packed = place_two(world, "map", [page("v1alpha1-policy-map.yaml")])
    checks.expect(len(set(packed)) == 1, "the ConfigMap's Policy put them on %s", packed)
    beta = text_of("v1beta1.yaml").split("extenders:")[0]
    packed = place_two(world, "beta", ["--config=" + write(world, "v1beta1.yaml", beta)])
    checks.expect(len(set(packed)) == 1, "NodeResourcesMostAllocated put them on %s", packed)


@case("pages-no-preemption", not_upstream=OLD)
def no_preemption(world):
    """disablePreemption of v1alpha1: a pod of high priority waits."""
    objects.small_nodes(world.admin, 1, ROOM)
    high_class(world)
    pods = world.pods()
    world.scheduler(flags=[page("componentconfig-v1alpha1.yaml")])
    world.admin.create(kube.PODS, objects.pod("low", {"cpu": "3"}))
    bound(pods, "low")
    world.admin.create(kube.PODS, objects.pod("high", {"cpu": "3"}, priorityClassName="high"))
    done = pods.wait(SECONDS, lambda items: "high" in items and items["high"][2] and "Insufficient cpu" in items["high"][2][1])
    checks.expect(done, "high was told %s", pods.items.get("high"))
    checks.expect("reemption" not in pods.items["high"][2][1] and not world.admin.get(kube.PODS + "/high")["status"].get("nominatedNodeName"),
                  "high was told %s", pods.items.get("high"))
    checks.expect("low" in pods.items and pods.items["low"][1], "low was preempted")
