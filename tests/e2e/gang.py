"""Groups seen from outside: the APIs that have PodGroups, members, a kubelet that ends pods, and what
went over the bus as the witness of what was bound when."""
import collections
import glob
import json
import os
import signal
import subprocess
import threading
import time

import checks
import cluster
import kube
import objects

Api = collections.namedtuple("Api", "group version label")
X = Api("scheduling.x-k8s.io", "v1alpha1", "scheduling.x-k8s.io/pod-group")
SIGS = Api("scheduling.sigs.k8s.io", "v1alpha1", "pod-group.scheduling.sigs.k8s.io")
IN_TREE = Api("scheduling.k8s.io", "v1alpha2", None)
IN_TREE_BY = {"1.36": IN_TREE, "1.37": IN_TREE._replace(version="v1beta1")}
CUSTOM = (X, SIGS)

MANIFESTS = os.path.join(cluster.TOP, "compose", "kubernetes", "crds", "*.yaml")
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
BERTH = os.path.join(cluster.TOP, "build", "bin", "berth")
# A profile as scheduler-plugins' own manifest has it.
PROFILE = {"schedulerName": "default-scheduler", "plugins": {
    "multiPoint": {"enabled": [{"name": "Coscheduling"}]},
    "queueSort": {"enabled": [{"name": "Coscheduling"}], "disabled": [{"name": "*"}]}}}


def groups_path(api):
    return "/apis/%s/%s/namespaces/default/podgroups" % (api.group, api.version)


# ---- what must be there ----------------------------------------------------------------------------


def served(client, api):
    try:
        return client.get(groups_path(api))
    except kube.ApiError as error:
        if error.status not in (404, 503):
            raise
        return None


def grant(client):
    """The rights that a scheduler of groups needs beyond upstream's own role."""
    root = "/apis/rbac.authorization.k8s.io/v1"
    verbs = ["get", "list", "watch", "create", "delete", "update", "patch"]
    client.create(root + "/clusterroles", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "podgroups"}, "rules": [
            {"apiGroups": [api.group for api in CUSTOM], "verbs": verbs,
             "resources": ["podgroups", "podgroups/status"]}]})
    client.create(root + "/clusterrolebindings", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "podgroups"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "podgroups"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User",
                      "name": "system:kube-scheduler"}]})
    # Who is refused once looks again half a minute later.
    checks.wait_until(30, lambda: all(kube.may(client, "system:kube-scheduler", "list", "podgroups", api.group) for api in CUSTOM),
                      "the scheduler may not list PodGroups")


def definition(api):
    """As much of the custom resource's definition as the small API server, which reads no YAML, wants."""
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "podgroups." + api.group},
            "spec": {"group": api.group, "scope": "Namespaced",
                     "names": {"kind": "PodGroup", "plural": "podgroups"},
                     "versions": [{"name": api.version, "served": True, "storage": True}]}}


def install(client, small, granted=True):
    """PodGroups of both groups of custom resources, from the manifests that users get; and the rights."""
    if small:
        for api in CUSTOM:
            client.create(DEFINITIONS, definition(api))
    else:
        for path in sorted(glob.glob(MANIFESTS)):
            with open(path) as file:
                client.request("POST", DEFINITIONS, file.read(), content="application/yaml")
        if granted:
            grant(client)
    for api in CUSTOM:
        checks.wait_until(30, lambda: served(client, api), "no PodGroups of " + api.group)


def in_tree_cluster(world):
    """An API server with PodGroups of its own takes the place of the case's; the API, and the scheduler's flag."""
    release = world.options.release
    flags, api = cluster.BUILT_IN_GANGS_BY[release], IN_TREE_BY[release]
    where = world.new_cluster("alpha", flags)
    world.admin, world.log, world.cluster = where.admin, where.log, where
    checks.wait_until(30, lambda: served(world.admin, api), "no PodGroups of scheduling.k8s.io")
    return api, flags[:1]


def scheduler(world, flags=(), **configuration):
    """The scheduler under test, told about groups where it must be told."""
    if world.options.coscheduling:
        configuration.setdefault("profiles", [PROFILE])
    return world.scheduler(flags=flags, **configuration)


# ---- objects ---------------------------------------------------------------------------------------


def group(api, name, size, **spec):
    policy = ({"schedulingPolicy": {"gang": {"minCount": size}}} if api.group == IN_TREE.group
              else {"minMember": size})
    return {"apiVersion": "%s/%s" % (api.group, api.version), "kind": "PodGroup",
            "metadata": {"name": name}, "spec": dict(policy, **spec)}


def member(api, group_name, name, requests, **spec):
    pod = objects.pod(name, requests, **spec)
    if api.group == IN_TREE.group:
        pod["spec"]["schedulingGroup"] = {"podGroupName": group_name}
    else:
        pod["metadata"]["labels"] = {api.label: group_name}
    return pod


def members(api, group_name, count, requests, first=0, **spec):
    return [member(api, group_name, "%s-%d" % (group_name, i), requests, **spec)
            for i in range(first, first + count)]


def create(world, api, name, size, count, requests, spec=None, **pod_spec):
    """A group and its pods."""
    world.admin.create(groups_path(api), group(api, name, size, **spec or {}))
    world.admin.create_many(kube.PODS, members(api, name, count, requests, **pod_spec))


def placed(items, group_name):
    """Names of a group's pods that are on nodes, from a mirror's items."""
    return sorted(name for name, (_, node, _) in items.items()
                  if node and name.rsplit("-", 1)[0] == group_name)


def wait_placed(pods, group_name, count, seconds=30):
    """At least so many members are on nodes; says why not."""
    if not pods.wait(seconds, lambda items: len(placed(items, group_name)) >= count):
        reasons = {failed for name, (_, node, failed) in pods.items.items()
                   if name.rsplit("-", 1)[0] == group_name and not node}
        raise checks.Failed("%d of %d members of %s are on nodes after %g s: %s" % (
            len(placed(pods.items, group_name)), count, group_name, seconds, checks.some(reasons)))


def wait_told(pods, group_name, count, words="", seconds=30):
    """So many members have a condition PodScheduled=False with these words."""
    def told(items):
        return sum(1 for name, (_, _, failed) in items.items()
                   if failed and words in failed[1] and name.rsplit("-", 1)[0] == group_name) >= count

    if not pods.wait(seconds, told):
        raise checks.Failed("not %d members of %s were told '%s' within %g s: %s" % (
            count, group_name, words, seconds, checks.some(
                "%s %s" % (name, failed) for name, (_, _, failed) in pods.items.items()
                if name.rsplit("-", 1)[0] == group_name)))


def none_placed(pods, group_name):
    found = placed(pods.items, group_name)
    checks.expect(not found, "of %s, which must wait, %s have a node", group_name, checks.some(found))


def group_events(client, name):
    return [e for e in client.list(checks.EVENTS)[0]
            if (e["involvedObject"]["kind"], e["involvedObject"]["name"]) == ("PodGroup", name)]


# ---- a kubelet -------------------------------------------------------------------------------------


class Kubelet:
    """Makes pods on nodes Running, and Succeeded some seconds after they were bound."""

    def __init__(self, world, seconds):
        self.client, self.seconds = world.admin, seconds
        self.due, self.seen, self.ended = [], set(), {}
        self.changed, self.stopped, self.error = threading.Condition(), False, None
        self.pods = world.mirror(kube.PODS, self.look)
        world.others.append(self)
        self.threads = [threading.Thread(target=self.work, daemon=True) for _ in range(4)]
        for thread in self.threads:
            thread.start()

    def look(self, item):
        name = item["metadata"]["name"]
        if item["spec"].get("nodeName") and name not in self.seen:
            self.seen.add(name)
            with self.changed:
                self.due += [(time.monotonic(), name, "Running"),
                             (time.monotonic() + self.seconds, name, "Succeeded")]
                self.changed.notify()
        return item.get("status", {}).get("phase", "")

    def next(self):
        """What is to be done now, or None at the end."""
        with self.changed:
            while not self.stopped:
                now, soonest = time.monotonic(), min(self.due, default=None)
                if soonest and soonest[0] <= now:
                    self.due.remove(soonest)
                    return soonest
                self.changed.wait(soonest[0] - now if soonest else 1)
        return None

    def work(self):
        try:
            for _, name, phase in iter(self.next, None):
                self.client.request("PATCH", kube.PODS + "/" + name + "/status",
                                    {"status": {"phase": phase}},
                                    content="application/merge-patch+json")
                if phase == "Succeeded":
                    self.ended[name] = time.monotonic()
        except (kube.ApiError,) + kube.BROKEN as error:  # told to the case by wait()
            self.error = error

    def wait(self, count, seconds):
        """All so many pods have ended; the time of the last."""
        self.pods.wait(seconds, lambda _: len(self.ended) >= count or self.error)
        if self.error:
            raise self.error
        checks.expect(len(self.ended) >= count, "%d of %d pods have ended within %g s",
                      len(self.ended), count, seconds)
        return max(self.ended.values())

    def stop(self):
        with self.changed:
            self.stopped = True
            self.changed.notify_all()
        for thread in self.threads:
            thread.join(5)


def rounds(sizes, room):
    """The least number of rounds in which groups of these sizes, all equally long, can run: exact
    where first fit decreasing meets the sum's bound, else that bound, which is harder to meet."""
    bins = []
    for size in sorted(sizes, reverse=True):
        fitting = next((i for i, left in enumerate(bins) if left >= size), None)
        if fitting is None:
            bins.append(room - size)
        else:
            bins[fitting] -= size
    least = -(-sum(sizes) // room)
    return least, len(bins) == least


# ---- what went over the bus ------------------------------------------------------------------------


class Recording:
    """berth tap's recording of binds and their results, from before the first pod of the case to the
    last: there must be room for a probe without requests at its end, too."""

    def __init__(self, world, subject):
        self.world, self.probes = world, 0
        self.path = os.path.join(subject.directory, "bus")
        self.log = open(self.path + ".log", "wb")
        checks.wait_until(30, lambda: {"scheduler", "binder"} <= set(subject.pids()),
                          "scheduler and binder are not there")
        self.process = subprocess.Popen(
            [BERTH, "tap", "--run-dir", subject.rundir, "--message",
             "gang_attempt,bind,bind_result,preempt", "--record", self.path],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)
        world.others.append(self)
        checks.wait_until(30, lambda: os.path.exists(self.path) and self.probe(1), "the tap hears nothing")

    def probe(self, seconds):
        """Bind a pod; True when its bind and its result are in the recording, and so is, as each
        process's tap keeps the order, what scheduler and binder had sent before."""
        self.probes += 1
        name = "probe-%d-" % self.probes
        self.world.admin.create(kube.PODS, objects.pod(name + "x"))
        deadline, heard = time.monotonic() + seconds, False
        while not heard and time.monotonic() < deadline:
            with open(self.path, "rb") as file:
                heard = file.read().count(name.encode()) >= 2
            time.sleep(0 if heard else 0.05)
        self.world.admin.delete(kube.PODS + "/" + name + "x")
        return heard

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(10)
        self.log.close()

    def records(self):
        """(message, body, microseconds) of everything recorded, as it was sent; nothing was missed."""
        checks.expect(self.probe(30), "the tap does not catch up within 30 s")
        self.stop()
        with open(self.path + ".log", errors="replace") as file:
            missed = [line for line in file if "missed" in line or "dropped" in line]
        checks.expect(not missed, "the tap has gaps: %s", checks.some(missed))
        done = subprocess.run([BERTH, "tap", "--read", self.path, "-o", "json"], check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        checks.expect(done.stderr == "", "reading the recording says %s", done.stderr)
        read = [json.loads(line) for line in done.stdout.splitlines()]
        # Two processes' taps may reach us in any order; within one the order is the sender's.
        return [(r["message"], r["body"], r["sent_us"]) for r in sorted(read, key=lambda r: r["sent_us"])]


def partly_bound(records, minimum_of):
    """Complaints about groups that were ever bound in part, other than by their own binds in flight.

    `minimum_of`: pod's name to (group, its minMember).  A pod once bound counts for good, as a member
    that has run and ended was not missing.  Binds of one group come together: while fewer than its
    minimum have been sent nobody else's is sent.
    """
    bound, flying = collections.defaultdict(set), collections.defaultdict(set)
    complaints, opened = [], None
    for message, body, _ in records:
        name = body.get("name")
        of, minimum = minimum_of.get(name, (None, 0))
        if message == "bind":
            if opened and of != opened:
                complaints.append("%s was sent between the binds of %s" % (name, opened))
            flying[of].add(name)
            short = of and len(bound[of] | flying[of]) < minimum
            opened = of if short else None
        elif message == "bind_result":
            flying[of].discard(name)
            if body.get("bound"):
                bound[of].add(name)
        if of and 0 < len(bound[of]) < minimum and len(bound[of] | flying[of]) < minimum and opened != of:
            complaints.append("%s: %d bound and %d under way of at least %d"
                              % (of, len(bound[of]), len(flying[of] - bound[of]), minimum))
    if opened:
        complaints.append("%s: its binds are not all there" % opened)
    return complaints


# ---- what must be left of it all -------------------------------------------------------------------


def status_lines(subject):
    """What `berth status` says: process to its counters, as texts."""
    done = subprocess.run([BERTH, "status", "--run-dir", subject.rundir, "-o", "json"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=30)
    processes = json.loads(done.stdout)["processes"] if done.stdout else []
    return {p["process"]: {key: str(value) for key, value in p["status"].items()} for p in processes if p["answered"]}


HELD = {"queue": ("in_flight", "left_in_flight", "awaiting_confirmation"),
        "scheduler": ("assumed", "waiting", "under_way")}


def held(subject):
    """What its processes still hold of attempts and binds, by their own account."""
    found = []
    statuses = status_lines(subject)
    for process, keys in HELD.items():
        lines = statuses.get(process, {})
        found += ["%s: %s=%s" % (process, key, lines.get(key, "missing")) for key in keys
                  if lines.get(key) != "0"]
    return found


def nothing_leaked(world, subject):
    """No attempt, no assumed pod, no nomination is left behind, and no node has too much."""
    if subject.has_actors:
        deadline = time.monotonic() + 20
        while held(subject) and time.monotonic() < deadline:
            time.sleep(0.2)
        left = held(subject)
        checks.expect(not left, "still held after 20 s: %s", checks.some(left))
    nominated = [pod["metadata"]["name"] for pod in world.admin.list(kube.PODS)[0]
                 if pod.get("status", {}).get("nominatedNodeName") and not pod["spec"].get("nodeName")]
    checks.expect(not nominated, "nominations are left: %s", checks.some(nominated))
    checks.no_overcommit(world.admin)
    checks.bound_once_at_most(world.log)
