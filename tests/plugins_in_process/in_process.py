"""Plugins that are part of the program: each changes what becomes of a pod, fails as it should, and is in the metrics."""
import checks
import kube
import objects
from cases.serving import Served
from suite import case

NOT_UPSTREAM = "kube-scheduler has not these plugins"
SECONDS = 60  # for whatever must happen; what takes longer is lost
LABEL = "plugins.example/"


def profile(name, **points):
    return {"schedulerName": name,
            "plugins": {point: {"enabled": [{"name": plugin}]} for point, plugin in points.items()}}


class Stage:
    """Two nodes and berth with these profiles."""

    def __init__(self, world, *profiles, default=None):
        self.world = world
        world.admin.create_many(kube.NODES, [objects.node(name, {"cpu": "4", "memory": "64Gi"}) for name in ("one", "two")])
        self.pods = world.pods()
        self.served = Served(world, profiles=[default or {"schedulerName": "default-scheduler"}] + list(profiles)).ready()

    def create(self, name, profile_name, cpu="100m", spec=None, **labels):
        body = objects.pod(name, {"cpu": cpu}, schedulerName=profile_name, terminationGracePeriodSeconds=0, **spec or {})
        body["metadata"]["labels"] = {LABEL + key: value for key, value in labels.items()}
        self.world.admin.create(kube.PODS, body)

    def delete(self, name):
        self.world.admin.delete(kube.PODS + "/%s?gracePeriodSeconds=0" % name)

    def bound(self, *names):
        for name in names:
            done = self.pods.wait(SECONDS, lambda items, name=name: name in items and items[name][1])
            checks.expect(done, "%s is not bound: %s", name, self.pods.items.get(name))

    def told(self, name, reason, text):
        def said(items):
            return name in items and items[name][2] and items[name][2][0] == reason and text in items[name][2][1]
        checks.expect(self.pods.wait(SECONDS, said), "%s was told %s, not %s", name, self.pods.items.get(name), text)
        checks.expect(not self.pods.items[name][1], "%s is bound", name)

    def gone(self, name):
        checks.expect(self.pods.wait(SECONDS, lambda items: name not in items), "%s is still there", name)

    def logged(self, text):
        checks.wait_until(SECONDS, lambda: any(text in line for line in self.served.subject.log_lines()), "nobody logs " + text)

    def counted(self, plugin, point, *statuses):
        """It has been called with each of these results, by the metrics."""
        def there():
            samples = self.served.samples()
            return all(samples.get('scheduler_plugin_execution_duration_seconds_count{extension_point="%s",plugin="%s",status="%s"}'
                                   % (point, plugin, status), 0) > 0 for status in statuses)
        checks.wait_until(SECONDS, there, "%s at %s is not in the metrics with %s" % (plugin, point, ", ".join(statuses)))


@case("in-process-reserve", NOT_UPSTREAM)
def reserve(world):
    """A licence goes to one pod; the next one gets it when that is gone; one that is not bound gives it back."""
    stage = Stage(world, dict(profile("licensed", reserve="Licences", permit="Partners"), pluginConfig=[]))
    stage.create("first", "licensed", licence="cad")
    stage.bound("first")
    stage.create("second", "licensed", licence="cad")
    stage.told("second", "Unschedulable", "0/1 nodes are available: 1 the licence cad is taken.")
    stage.create("other", "licensed", licence="cfd")
    stage.create("plain", "licensed")
    stage.bound("other", "plain")
    stage.delete("first")
    stage.bound("second")
    stage.create("broken", "licensed", licence="broken")
    stage.told("broken", "SchedulerError", 'running Reserve plugin "Licences": the licence server is down')
    stage.create("lonely", "licensed", licence="ray", partner="none")
    stage.told("lonely", "Unschedulable", "0/1 nodes are available: 1 it is alone.")
    stage.logged("licence=ray pod=lonely")
    stage.create("heir", "licensed", licence="ray")
    stage.bound("heir")
    stage.counted("Licences", "Reserve", "Success", "Unschedulable", "Error")
    checks.bound_once_at_most(world.log)


@case("in-process-permit", NOT_UPSTREAM)
def permit(world):
    """A pod waits with its node for its partner, too long, in vain, and is bound when that one comes."""
    stage = Stage(world, profile("paired", permit="Partners"))
    stage.create("late", "paired", partner="nobody")
    stage.told("late", "Unschedulable", "rejected due to timeout after waiting 5s at plugin Partners")
    stage.create("left", "paired", partner="right")
    checks.wait_until(SECONDS, lambda: world.admin.get(kube.PODS + "/left").get("status", {}).get("nominatedNodeName"),
                      "left does not wait with a node")
    stage.create("right", "paired", partner="left")
    stage.bound("left", "right")
    stage.create("broken", "paired", partner="broken")
    stage.told("broken", "SchedulerError", 'running Permit plugin "Partners": out of order')
    stage.create("denied", "paired", partner="none")
    stage.told("denied", "Unschedulable", "0/1 nodes are available: 1 it is alone.")
    stage.counted("Partners", "Permit", "Success", "Wait", "Unschedulable", "Error")
    checks.bound_once_at_most(world.log)


@case("in-process-post-filter", NOT_UPSTREAM)
def post_filter(world):
    """A pod that fits nowhere has a disposable one evicted, which no priority would do."""
    stage = Stage(world, profile("frugal", postFilter="Disposable"))
    stage.create("kept", "frugal", cpu="3")
    stage.create("spare", "frugal", cpu="3", disposable="yes")
    stage.bound("kept", "spare")
    stage.create("plain", "default-scheduler", cpu="3")
    stage.told("plain", "Unschedulable", "0/2 nodes are available: 2 Insufficient cpu.")
    stage.create("broken", "frugal", cpu="3", broken="yes")
    stage.told("broken", "Unschedulable", "disposable: out of order")
    stage.delete("plain")
    stage.delete("broken")
    stage.create("eager", "frugal", cpu="3")
    stage.gone("spare")
    stage.bound("eager")
    stage.create("late", "frugal", cpu="3")
    stage.told("late", "Unschedulable", "disposable: nobody is")
    stage.counted("Disposable", "PostFilter", "Success", "Unschedulable", "Error")
    checks.bound_once_at_most(world.log)


@case("in-process-queue", NOT_UPSTREAM)
def queue(world):
    """Pods are held back until a node is open for them; then the smallest goes first, not the most important."""
    world.admin.create("/apis/scheduling.k8s.io/v1/priorityclasses", {
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000})
    sort = {"queueSort": {"enabled": [{"name": "SmallestFirst"}], "disabled": [{"name": "PrioritySort"}]}}
    sorted_default = {"schedulerName": "default-scheduler", "plugins": sort}
    night = {"schedulerName": "night", "plugins": dict(sort, preEnqueue={"enabled": [{"name": "Curfew"}]},
                                                       postFilter={"disabled": [{"name": "*"}]})}
    stage = Stage(world, night, default=sorted_default)
    here = {"nodeSelector": {"kubernetes.io/hostname": "one"}}
    largest = objects.pod("largest", {"cpu": "3"}, schedulerName="night", priorityClassName="high", **here)
    largest["metadata"]["labels"] = {LABEL + "curfew": "shift"}
    world.admin.create(kube.PODS, largest)
    for name, cpu in (("middle", "2500m"), ("smallest", "2")):
        stage.create(name, "night", cpu=cpu, spec=here, curfew="shift")
    stage.create("free", "night")
    stage.bound("free")
    stage.create("elsewhere", "night", curfew="other")
    label(world, "two", "other")
    stage.bound("elsewhere")
    for name in ("largest", "middle", "smallest"):
        checks.expect(not stage.pods.items[name][1] and not stage.pods.items[name][2], "%s was tried: %s", name,
                      stage.pods.items[name])
    label(world, "one", "shift")
    stage.bound("smallest")
    stage.told("largest", "Unschedulable", "1 Insufficient cpu")
    stage.told("middle", "Unschedulable", "1 Insufficient cpu")
    stage.counted("Curfew", "PreEnqueue", "Success", "UnschedulableAndUnresolvable")
    stage.counted("SmallestFirst", "QueueSort", "Success")
    checks.bound_once_at_most(world.log)


@case("in-process-bind", NOT_UPSTREAM)
def bind(world):
    """A pod gets its stamp before it is bound; some are bound by the plugin, and both can fail."""
    order = [{"name": "Courier"}, {"name": "DefaultBinder"}]
    posted = profile("posted", preBind="Stamp", postBind="Courier")
    posted["plugins"]["bind"] = {"enabled": order, "disabled": [{"name": "*"}]}
    stage = Stage(world, posted)
    stage.create("letter", "posted", stamp="yes")
    stage.bound("letter")
    conditions = world.admin.get(kube.PODS + "/letter")["status"]["conditions"]
    stamped = [c for c in conditions if c["type"] == "plugins.example/Stamped"]
    checks.expect(stamped and stamped[0]["message"] == stage.pods.items["letter"][1], "no stamp of its node: %s", conditions)
    stage.create("express", "posted")
    stage.bound("express")
    stage.create("smudged", "posted", stamp="broken")
    stage.told("smudged", "SchedulerError", 'running PreBind plugin "Stamp": no ink')
    stage.create("express-lost", "posted")
    stage.told("express-lost", "SchedulerError", 'running Bind plugin "Courier": lost')
    stage.logged('pod=letter node=')
    stage.logged('pod=express node=')
    stage.counted("Stamp", "PreBind", "Success", "Error")
    stage.counted("Courier", "Bind", "Success", "Skip", "Error")
    stage.counted("Courier", "PostBind", "Success")
    stage.counted("DefaultBinder", "Bind", "Success")
    checks.bound_once_at_most(world.log)


def label(world, node, value):
    world.admin.request("PATCH", "/api/v1/nodes/" + node, {"metadata": {"labels": {LABEL + "open": value}}},
                        content="application/merge-patch+json")
