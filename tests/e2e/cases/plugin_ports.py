"""The ports of scheduler-plugins onto the bus, live: each changes where a pod goes. Needs Debian's python3-kubernetes."""
import http.server
import itertools
import json
import os
import shutil
import subprocess
import threading
import urllib.parse
import urllib.request

import checks
import cluster
import kube
import objects
from suite import case

NOT_UPSTREAM = "kube-scheduler has these plugins in itself"
SECONDS = 60
PORTS = os.path.join(cluster.TOP, "scheduler", "bus_plugin", "ports")
LIBRARY = os.path.join(cluster.TOP, "proto", "clients", "python")


def lacks_kubernetes():
    return subprocess.run(["/usr/bin/python3", "-c", "import kubernetes"], stderr=subprocess.DEVNULL, check=False).returncode != 0


def profiles(name, point, **more):
    """The default one, and one with that plugin."""
    args = {"kind": "BusPluginArgs", "deadline": "5s", "failurePolicy": "Fail"}
    return [{"schedulerName": "default-scheduler"},
            {"schedulerName": "ported", "pluginConfig": [{"name": name, "args": args}],
             "plugins": {point: {"enabled": [dict({"name": name}, **more)]}}}]


class Port:
    """One of the programs, at that scheduler."""

    def __init__(self, world, scheduler, program, *arguments):
        self.process = subprocess.Popen([os.path.join(PORTS, program), "--kubeconfig", world.cluster.kubeconfig("admin"), *arguments,
                                         os.path.join(scheduler.rundir, "scheduler.sock")], stdin=subprocess.DEVNULL,
                                        env=dict(os.environ, PYTHONPATH=LIBRARY, PYTHONDONTWRITEBYTECODE="1"))
        world.others.append(self)

    def stop(self):
        self.process.kill()
        self.process.wait(SECONDS)


def placed(world, pods, name, scheduler, wanted, **more):
    """Creates the pod, and waits until it is on that node."""
    body = objects.pod(name, {"cpu": "100m"}, schedulerName=scheduler)
    body["spec"]["containers"][0].update(more)
    world.admin.create(kube.PODS, body)
    done = pods.wait(SECONDS, lambda items: name in items and items[name][1])
    checks.expect(done, "%s is not bound: %s", name, pods.items.get(name))
    checks.expect(pods.items[name][1] == wanted, "%s is on %s, not on %s", name, pods.items[name][1], wanted)


class Prometheus:
    """A real one, which asks us every second how loaded nodes are."""

    def __init__(self, world, loads):
        text = "".join('instance:node_cpu:ratio{instance="%s:9100"} %s\n' % load for load in loads.items()).encode()

        class Exporter(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.exporter = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Exporter)
        threading.Thread(target=self.exporter.serve_forever, daemon=True).start()
        config = os.path.join(world.directory, "prometheus.yaml")
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"global": {"scrape_interval": "1s"}, "scrape_configs": [{
                "job_name": "nodes", "honor_labels": True,
                "static_configs": [{"targets": ["127.0.0.1:%d" % self.exporter.server_address[1]]}]}]}, file)
        port = cluster.free_port()
        self.url = "http://127.0.0.1:%d" % port
        self.process = subprocess.Popen(["prometheus", "--config.file=" + config, "--storage.tsdb.path=" + os.path.join(world.directory, "tsdb"),
                                         "--web.listen-address=127.0.0.1:%d" % port, "--log.level=error"], stdin=subprocess.DEVNULL)
        world.others.append(self)
        checks.wait_until(SECONDS, lambda: self.knows() == len(loads), "Prometheus does not know the nodes' load")

    def knows(self):
        """Of how many nodes."""
        query = urllib.parse.urlencode({"query": "avg_over_time(instance:node_cpu:ratio[15m])"})
        try:
            with urllib.request.urlopen("%s/api/v1/query?%s" % (self.url, query), timeout=10) as answer:
                return len(json.load(answer)["data"]["result"])
        except OSError:
            return 0

    def stop(self):
        self.process.kill()
        self.process.wait(SECONDS)
        self.exporter.shutdown()


@case("plugin-target-load-packing", NOT_UPSTREAM)
def target_load_packing(world):
    """By requests the empty node is best, by what Prometheus says the one just below the target; a hot one and one of
    which nothing is known are avoided."""
    if lacks_kubernetes() or not shutil.which("prometheus"):
        return print("skipped plugin-target-load-packing: no python3-kubernetes or no prometheus here")
    room = {"cpu": "64", "memory": "64Gi"}
    loads = {"idle": 0.05, "busy": 0.35, "hot": 0.95}
    world.admin.create_many(kube.NODES, [objects.node(name, room) for name in [*loads, "unknown"]])
    there = objects.pod("there", {"cpu": "100m", "memory": "32Gi"}, nodeName="busy")
    there["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "100m"}
    world.admin.create(kube.PODS, there)
    pods = world.pods()
    prometheus = Prometheus(world, loads)
    scheduler = world.scheduler(profiles=profiles("TargetLoadPacking", "score", weight=100))
    Port(world, scheduler, "target_load_packing.py", "--prometheus", prometheus.url)
    plain = objects.pod("plain", {"cpu": "100m"})
    world.admin.create(kube.PODS, plain)
    checks.expect(pods.wait(SECONDS, lambda items: "plain" in items and items["plain"][1]), "plain is not bound")
    checks.expect(pods.items["plain"][1] != "busy", "plain is on busy, where the least is free")
    placed(world, pods, "packed", "ported", "busy")
    placed(world, pods, "limited", "ported", "busy", resources={"requests": {"cpu": "100m"}, "limits": {"cpu": "1"}})
    # With 40 CPUs more busy would be full, counting what Prometheus does not show yet.
    placed(world, pods, "large", "ported", "idle", resources={"requests": {"cpu": "100m"}, "limits": {"cpu": "40"}})


TOPOLOGY = "topology.node.k8s.io"
TOPOLOGIES = "/apis/%s/v1alpha2/noderesourcetopologies" % TOPOLOGY


def topology(node, *available):
    """What a node's agent tells: so many CPUs free in each NUMA node, and memory enough."""
    return {"apiVersion": TOPOLOGY + "/v1alpha2", "kind": "NodeResourceTopology", "metadata": {"name": node},
            "attributes": [{"name": "topologyManagerPolicy", "value": "single-numa-node"},
                           {"name": "topologyManagerScope", "value": "container"}],
            "zones": [{"name": "node-%d" % i, "type": "Node", "resources": [
                {"name": name, "capacity": value, "allocatable": value, "available": value}
                for name, value in (("cpu", cpu), ("memory", "32Gi"))]} for i, cpu in enumerate(available)]}


def define_topologies(world):
    """As much of the definition as both API servers want."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    world.admin.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "noderesourcetopologies." + TOPOLOGY,
                     "annotations": {"api-approved.kubernetes.io": "https://github.com/kubernetes/enhancements/pull/1870"}},
        "spec": {"group": TOPOLOGY, "scope": "Cluster",
                 "names": {"kind": "NodeResourceTopology", "plural": "noderesourcetopologies", "singular": "noderesourcetopology"},
                 "versions": [{"name": "v1alpha2", "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}]}})

    def served():
        try:
            return world.admin.get(TOPOLOGIES)
        except kube.ApiError as error:
            if error.status not in (404, 503):
                raise
            return None

    checks.wait_until(SECONDS, served, "no NodeResourceTopologies")


@case("plugin-node-resource-topology", NOT_UPSTREAM)
def node_resource_topology(world):
    """The larger node has room, but in no NUMA node of it: a guaranteed pod goes to the other one, and when that is full
    waits, until the agent tells of room in one NUMA node."""
    if lacks_kubernetes():
        return print("skipped plugin-node-resource-topology: no python3-kubernetes here")
    world.admin.create_many(kube.NODES, [objects.node("split", {"cpu": "32", "memory": "64Gi"}),
                                         objects.node("whole", {"cpu": "8", "memory": "64Gi"})])
    define_topologies(world)
    world.admin.create(TOPOLOGIES, topology("split", "4", "4", "4"))
    world.admin.create(TOPOLOGIES, topology("whole", "8"))
    pods = world.pods()
    scheduler = world.scheduler(profiles=profiles("NodeResourceTopologyMatch", "filter"))
    Port(world, scheduler, "node_resource_topology.py")
    six = {"cpu": "6", "memory": "1Gi"}
    guaranteed = {"resources": {"requests": six, "limits": six}}
    placed(world, pods, "plain", "default-scheduler", "split", **guaranteed)
    placed(world, pods, "aligned", "ported", "whole", **guaranteed)
    waiting = objects.pod("waiting", six, schedulerName="ported")
    waiting["spec"]["containers"][0].update(guaranteed)
    world.admin.create(kube.PODS, waiting)
    start = "0/2 nodes are available: 1 Insufficient cpu, 1 cannot align container."
    done = pods.wait(SECONDS, lambda items: "waiting" in items and items["waiting"][2] and items["waiting"][2][1].startswith(start))
    checks.expect(done, "waiting was told %s", pods.items.get("waiting"))
    world.admin.delete(TOPOLOGIES + "/split")
    world.admin.create(TOPOLOGIES, topology("split", "4", "12"))
    # berth hears nothing of these objects: any event in the cluster has the pod tried again. One that comes before the
    # plugin has heard of them changes nothing, so there are several.
    events = itertools.count()

    def is_there():
        split = world.admin.get(kube.NODES + "/split")
        split["metadata"]["labels"]["told"] = "%d" % next(events)
        world.admin.put(kube.NODES + "/split", split)
        return pods.wait(5, lambda items: items["waiting"][1] == "split")

    checks.wait_until(SECONDS, is_there, "waiting is not on split")
