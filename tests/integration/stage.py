"""What a case stands on: one control plane and one scheduler for all cases, and its own names.

Cases run one after another and take away all that they created, so none sees another's objects; each
has a namespace and a prefix of its own, so that none is mistaken for another's either.
"""
import checks
import cluster
import extender_server
import kube
import rights
import suite

CASES = []  # (name, function of a Case)

CORE = "/api/v1/"
STORAGE = "/apis/storage.k8s.io/v1/"
# Kind to collection; %s is the namespace where there is one.
ADMISSION = "/apis/admissionregistration.k8s.io/v1/"
PATHS = {
    "Namespace": CORE + "namespaces",
    "Node": CORE + "nodes",
    "Pod": CORE + "namespaces/%s/pods",
    "Service": CORE + "namespaces/%s/services",
    "PersistentVolume": CORE + "persistentvolumes",
    "PersistentVolumeClaim": CORE + "namespaces/%s/persistentvolumeclaims",
    "PodDisruptionBudget": "/apis/policy/v1/namespaces/%s/poddisruptionbudgets",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "StorageClass": STORAGE + "storageclasses",
    "CSINode": STORAGE + "csinodes",
    "VolumeAttachment": STORAGE + "volumeattachments",
    "CSIDriver": STORAGE + "csidrivers",
    "ValidatingAdmissionPolicy": ADMISSION + "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": ADMISSION + "validatingadmissionpolicybindings",
    "ResourceClaim": "/apis/resource.k8s.io/v1/namespaces/%s/resourceclaims",
    "ResourceSlice": "/apis/resource.k8s.io/v1/resourceslices",
    "DeviceClass": "/apis/resource.k8s.io/v1/deviceclasses",
    "CSIStorageCapacity": STORAGE + "namespaces/%s/csistoragecapacities",
}
PRIORITIES = {"low": 100, "medium": 200, "high": 300}
PROBES = "probe"
PROBED_MAX = 16  # of more nodes only the last is asked for


def case(name):
    """Register a function of a Case."""
    def register(function):
        CASES.append((name, function))
        return function
    return register


def row(name, nodes, pod, there=(), on=None, says=None, also=()):
    """Register a line of a table: on these nodes with these pods, `pod` lands on one of `on`, or is
    told `says`.  `also`: what else there is."""
    def run(it):
        it.create_all(also)
        it.nodes(*nodes)
        it.create_all(there)
        it.create(pod)
        if says:
            it.told(pod["metadata"]["name"], says)
        else:
            it.bound(pod["metadata"]["name"], on)
    CASES.append((name, run))


def only(plugin, at_prescore=True):
    """A profile in which one plugin alone gives scores."""
    nothing = {"disabled": [{"name": "*"}]}
    enabled = {"enabled": [{"name": plugin}]}
    return {"schedulerName": "only-" + plugin,
            "plugins": {"preScore": dict(nothing, **(enabled if at_prescore else {})),
                        "score": {"disabled": [{"name": "*"}],
                                  "enabled": [{"name": plugin, "weight": 1}]}}}


def strategy(name, kind):
    """A profile whose NodeResourcesFit also weighs an extended resource."""
    resources = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1},
                 {"name": "example.com/gpu", "weight": 2}]
    return {"schedulerName": name, "pluginConfig": [
        {"name": "NodeResourcesFit",
         "args": {"scoringStrategy": {"type": kind, "resources": resources}}}]}


def just(plugin):
    """A profile in which one rule alone decides."""
    return {"schedulerName": "just-" + plugin, "plugins": {"multiPoint": {
        "disabled": [{"name": "*"}],
        "enabled": [{"name": name} for name in ("PrioritySort", "DefaultBinder", plugin)]}}}


PROFILES = [
    {"schedulerName": "default-scheduler"},
    only("InterPodAffinity"), only("NodeAffinity"), only("TaintToleration"),
    only("PodTopologySpread"), only("ImageLocality", at_prescore=False),
    strategy("least", "LeastAllocated"), strategy("most", "MostAllocated"),
    {"schedulerName": "no-preemption",
     "plugins": {"postFilter": {"disabled": [{"name": "DefaultPreemption"}]}}},
    {"schedulerName": "impatient",
     "pluginConfig": [{"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 3}}]},
    just("VolumeZone"), just("VolumeRestrictions"), just("NodeVolumeLimits"),
]


class Skipped(Exception):
    """The case says nothing about this scheduler."""


class Stage:
    """The control plane, the scheduler, and a live view of all pods."""

    def __init__(self, options, directory):
        self.extenders = None
        self.world = suite.World(options, directory)
        try:
            self.prepare()
        except BaseException:
            self.close()
            raise

    def prepare(self):
        self.admin, self.log, self.count = self.world.admin, self.world.log, 0
        self.seen = {}  # name of a pod to all its states, oldest first
        self.pods = self.world.mirror("/api/v1/pods", self.remember)
        self.extenders = extender_server.Server(self.admin)
        options, kubeconfig, flags = self.world.options, None, []
        self.user = rights.ACCOUNT if options.rights else "system:kube-scheduler"
        if options.rights:
            kubeconfig, self.port = rights.grant(self.world.cluster), cluster.free_port()
            flags = ["--secure-port=%d" % self.port, "--bind-address=127.0.0.1",
                     "--authentication-kubeconfig=" + kubeconfig,
                     "--authorization-kubeconfig=" + kubeconfig]
        self.scheduler = self.world.scheduler(profiles=PROFILES, kubeconfig=kubeconfig, flags=flags,
                                              extenders=self.extenders.configuration())
        for name, value in PRIORITIES.items():
            self.priority_class(name, value)
        self.priority_class("high-never", PRIORITIES["high"], preemptionPolicy="Never")
        self.admin.create(PATHS["Namespace"], namespace(PROBES))

    def priority_class(self, name, value, **more):
        self.admin.create(PATHS["PriorityClass"], dict(
            {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
             "metadata": {"name": name}, "value": value}, **more))

    def remember(self, pod):
        self.seen.setdefault(pod["metadata"]["name"], []).append(pod)
        return pod

    def look_at_rights(self):
        """What the rules lack, and what they have too much, after all cases."""
        where = self.world.cluster
        rights.see_metrics(where, self.port)
        rights.lose_the_lease(where)
        return rights.verdict(where)

    def close(self):
        troubles = self.world.close()
        if self.extenders:
            self.extenders.close()
        return troubles


def namespace(name, labels=None):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels or {}}}


def condition_of(pod, kind):
    for condition in pod.get("status", {}).get("conditions", []):
        if condition["type"] == kind:
            return condition
    return None


def node_of(pod):
    return pod["spec"].get("nodeName", "")


def nominated(pod):
    return pod.get("status", {}).get("nominatedNodeName", "")


class Case:
    """One case: what it created, and what it may ask."""

    def __init__(self, stage):
        stage.count += 1
        self.stage, self.admin = stage, stage.admin
        self.patience = stage.world.options.patience  # seconds that anything expected may take
        self.own = "c%03d" % stage.count  # its namespace, and the prefix of its names
        self.prefix = self.own + "-"
        self.created, self.before_end = [], []
        self.stage.seen.clear()
        self.admin.create(PATHS["Namespace"], namespace(self.own))

    # ---- objects ----

    def local(self, value):
        """A value with the case's own names in the place of "@"."""
        if isinstance(value, str):
            return self.own if value == "@" else value.replace("@", self.prefix)
        if isinstance(value, list):
            return [self.local(each) for each in value]
        if isinstance(value, dict):
            return {self.local(key): self.local(each) for key, each in value.items()}
        return value

    def path(self, kind, name=None, within=None):
        collection = PATHS[kind]
        if "%s" in collection:
            collection %= self.local(within or "@")
        return collection + "/" + self.local(name) if name else collection

    def create(self, body):
        """Create an object, and remember it."""
        body = self.local(body)
        path = self.path(body["kind"], within=body["metadata"].get("namespace"))
        self.created.append((body["kind"], path + "/" + body["metadata"]["name"]))
        return self.admin.create(path, body, patience=self.patience)

    def create_all(self, bodies):
        for body in bodies:
            self.create(body)

    def get(self, kind, name):
        return self.admin.get(self.path(kind, name))

    def patch(self, kind, name, body, status=False):
        """A merge patch."""
        return self.admin.request("PATCH", self.path(kind, name) + ("/status" if status else ""),
                                  self.local(body), content="application/merge-patch+json")

    def delete(self, kind, name, grace=0):
        return self.admin.request("DELETE", self.path(kind, name), {
            "apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": grace})

    def nodes(self, *bodies):
        """Create nodes, and come back when the scheduler places pods on them."""
        if len(bodies) > PROBED_MAX:
            bodies = [self.local(body) for body in bodies]
            self.created += [("Node", self.path("Node") + "/" + body["metadata"]["name"])
                             for body in bodies]
            self.admin.create_many(PATHS["Node"], bodies[:-1])
            bodies = bodies[-1:]
        for body in bodies:
            self.create(body)
        self.known([self.local(body["metadata"]["name"]) for body in bodies])

    def known(self, names):
        """A pod for each node, taken away again: what the scheduler was told before, it knows."""
        for name in names:
            self.admin.create(PATHS["Pod"] % PROBES, {
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe-" + name},
                "spec": {"nodeSelector": {"kubernetes.io/hostname": name},
                         "tolerations": [{"operator": "Exists"}], "terminationGracePeriodSeconds": 0,
                         "containers": [{"name": "main", "image": "registry.example/app:1"}]}})
        probes = ["probe-" + name for name in names]
        try:
            self.until(lambda pods: all(p in pods and node_of(pods[p]) for p in probes),
                       lambda: "the scheduler does not use the nodes %s" % checks.some(names))
        finally:
            for probe in probes:
                self.admin.delete(PATHS["Pod"] % PROBES + "/" + probe)

    # ---- pods ----

    def until(self, condition, why, seconds=None):
        """Wait until condition(pods by name) holds; `why` says what did not come."""
        seconds = seconds or self.patience
        if not self.stage.pods.wait(seconds, condition):
            raise checks.Failed("%s within %g s" % (why(), seconds))

    def states(self, name):
        return self.stage.seen.get(self.local(name), [])

    def now(self, name):
        """The pod as last seen, None when it is gone."""
        return self.stage.pods.items.get(self.local(name))

    def account(self, name):
        """A pod in words."""
        pod = self.now(name)
        if pod is None:
            return "%s is gone" % name
        told = condition_of(pod, "PodScheduled") or {}
        return "%s is on node %s, nominated to %s, told %s: %s" % (
            name, node_of(pod) or "none", nominated(pod) or "none", told.get("reason"),
            told.get("message"))

    def bound(self, name, on=None, seconds=None):
        """The pod is bound, to one of the nodes `on`; the node."""
        key = self.local(name)
        self.until(lambda pods: key in pods and node_of(pods[key]),
                   lambda: self.account(name) + "; not bound", seconds)
        node = node_of(self.now(name))
        checks.expect(on is None or node in self.local(list(on)), "%s is on %s, not on %s", name, node,
                      on)
        return node

    def told(self, name, text, reason="Unschedulable", seconds=None):
        """The pod is not bound, and its condition says this, or said it before the next attempt failed
        for another reason: then the event of that attempt tells."""
        key, text = self.local(name), self.local(text)

        def said(pods):
            pod = pods.get(key, {"spec": {}})
            if node_of(pod):
                raise checks.Failed("%s was bound to %s, not told: %s" % (name, node_of(pod), text))
            told = condition_of(pod, "PodScheduled")
            return told and (told["status"], told.get("reason"), told.get("message")) == (
                "False", reason, text)

        try:
            self.until(said, lambda: "%s; not told %s: %s" % (self.account(name), reason, text), seconds)
        except checks.Failed:
            if not any(e.get("message") == text for e in self.events("FailedScheduling", name)):
                raise

    def unschedulable(self, name, seconds=None):
        """The pod was tried and did not fit, whatever the words."""
        key = self.local(name)
        self.until(lambda pods: key in pods and condition_of(pods[key], "PodScheduled"),
                   lambda: self.account(name) + "; not tried", seconds)
        checks.expect(not node_of(self.now(name)), "%s", self.account(name))

    def holds(self, name, node, seconds=None):
        """The pod is nominated to the node, or to none ("")."""
        key, node = self.local(name), self.local(node)
        self.until(lambda pods: key in pods and nominated(pods[key]) == node,
                   lambda: "%s; not nominated to %s" % (self.account(name), node or "none"), seconds)

    def held(self, name):
        """All nodes that the pod was ever nominated to."""
        return {nominated(state) for state in self.states(name)} - {""}

    def leaving(self, name, seconds=None):
        """The pod has been told to end, or is gone."""
        key = self.local(name)
        self.until(lambda pods: key not in pods or "deletionTimestamp" in pods[key]["metadata"],
                   lambda: "%s is not evicted" % name, seconds)

    def stays(self, *names):
        """These pods are there and nobody has told them to end."""
        for name in names:
            pod = self.now(name)
            checks.expect(pod and "deletionTimestamp" not in pod["metadata"], "%s was evicted", name)

    def end(self, *names):
        """What a kubelet does last: the pods are gone at once."""
        for name in names:
            remove(self.admin, self.path("Pod", name))

    def events(self, reason, name):
        return [e for e in self.admin.list(CORE + "namespaces/%s/events" % self.own)[0]
                if e.get("reason") == reason and e["involvedObject"]["name"] == self.local(name)]

    def writes(self, name, verb, resource="pods", subresource=""):
        """The schedulers' requests about an object, in order."""
        return [r for r in self.stage.log.writes(self.stage.user)
                if (r.name, r.verb, r.resource, r.subresource)
                == (self.local(name), verb, resource, subresource)]

    # ---- the end ----

    def finish(self):
        for step in self.before_end:
            step()
        self.created.sort(key=lambda each: each[0] != "Pod")
        pods = [path for kind, path in self.created if kind == "Pod"]
        others = [path for kind, path in self.created if kind not in ("Pod", "Namespace")]
        for path in pods + others[::-1]:
            remove(self.admin, path)


def remove(admin, path):
    """Delete an object now, whoever would like to hold it back."""
    try:
        left = admin.delete(path)
        if left.get("metadata", {}).get("finalizers"):
            admin.request("PATCH", path, {"metadata": {"finalizers": None}},
                          content="application/merge-patch+json")
    except kube.ApiError as error:
        if error.status != 404:
            raise
