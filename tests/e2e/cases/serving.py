"""What is served over HTTPS: metrics that are kube-scheduler's and true, health, and who may see it."""
import collections
import csv
import json
import os
import re
import signal
import ssl
import subprocess
import urllib.error
import urllib.request

import checks
import cluster
import kube
import objects
from suite import case

BERTH = os.path.join(cluster.TOP, "build", "bin", "berth")
Page = collections.namedtuple("Page", "status type text")
Family = collections.namedtuple("Family", "kind help labels bounds")


class Served:
    """The HTTPS side of a scheduler that world.scheduler started."""

    def __init__(self, world, flags=(), **options):
        self.port, self.where = cluster.free_port(), options.get("where") or world.cluster
        kubeconfig = self.where.kubeconfig("scheduler")
        self.subject = world.scheduler(flags=[
            "--secure-port=%d" % self.port, "--bind-address=127.0.0.1",
            "--authentication-kubeconfig=" + kubeconfig,
            "--authorization-kubeconfig=" + kubeconfig] + list(flags), **options)
        with open(os.path.join(self.where.directory, "tokens.csv")) as file:
            self.tokens = {row[1]: row[0] for row in csv.reader(file)}
        self.context = ssl._create_unverified_context()  # the certificate signs itself

    def get(self, path, user="admin", method="GET", body=None, token=None, accept=None):
        """A page; status 0 when nothing listens yet."""
        request = urllib.request.Request("https://127.0.0.1:%d%s" % (self.port, path), method=method,
                                         data=body)
        if user or token:
            request.add_header("Authorization", "Bearer " + (token or self.tokens[user]))
        if accept:
            request.add_header("Accept", accept)
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=20) as got:
                return Page(got.status, got.headers["Content-Type"], got.read().decode())
        except urllib.error.HTTPError as error:
            return Page(error.code, error.headers["Content-Type"], error.read().decode())
        except OSError as error:
            return Page(0, "", str(error))

    def ready(self, seconds=30):
        checks.wait_until(seconds, lambda: self.get("/readyz").status == 200, "never ready")
        return self

    def samples(self):
        """Series to value."""
        page = self.get("/metrics")
        checks.expect(page.status == 200, "/metrics answers %s: %s", page.status, page.text[:200])
        return {match[1]: float(match[2])
                for match in re.finditer(r"^([^#\n]\S*(?:\{.*\})?) (\S+)$", page.text, re.M)}


def families(text):
    """Name to Family."""
    found = {}
    for kind, name, rest in re.findall(r"^# (HELP|TYPE) (\S+) (.*)$", text, re.M):
        old = found.get(name, Family("", "", set(), set()))
        found[name] = old._replace(**{"help" if kind == "HELP" else "kind": rest.strip()})
    for name, labels in re.findall(r"^([a-zA-Z_]\w*)(?:\{(.*)\})? \S+$", text, re.M):
        base = name if name in found else re.sub(r"_(bucket|sum|count)$", "", name)
        pairs = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)
        found[base].labels.add(tuple(sorted(key for key, _ in pairs if key != "le")))
        found[base].bounds.update(value for key, value in pairs if key == "le")
    return found


def little_of_everything(client, pods):
    """Pods that are bound, one that fits nowhere, one with a gate, and one that evicts another."""
    client.create("/apis/scheduling.k8s.io/v1/priorityclasses", {
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": {"name": "high"}, "value": 100})
    objects.small_nodes(client, 2)
    client.create("/api/v1/nodes", objects.node("full", {"cpu": "1", "memory": "4Gi", "pods": "9"},
                                                labels={"only": "here"}))
    there = {"nodeSelector": {"only": "here"}, "terminationGracePeriodSeconds": 0}
    client.create_many(kube.PODS, objects.small_pods(4))
    client.create(kube.PODS, objects.pod("victim", {"cpu": "800m"}, **there))
    checks.all_bound(pods, 5, 60)
    client.create(kube.PODS, objects.pod("impossible", {"cpu": "500"}))
    client.create(kube.PODS, objects.pod("gated", {"cpu": "1m"},
                                         schedulingGates=[{"name": "example.com/gate"}]))
    client.create(kube.PODS, objects.pod("preemptor", {"cpu": "800m"}, priorityClassName="high", **there))
    checks.wait_until(60, lambda: bound_to(client, "preemptor"), "the preemptor is not bound")


def sampled(client, pods, served):
    """More of the same, until what only every tenth time is measured has been measured."""
    names = ("plugin_execution_duration_seconds", "queueing_hint_execution_duration_seconds")

    def seen():
        page = served.get("/metrics").text
        return all("scheduler_%s_count" % name in page for name in names)

    for first in range(100, 300, 50):
        if seen():
            return
        some = list(objects.small_pods(50, first=first))
        names_of_some = {pod["metadata"]["name"] for pod in some}
        client.create_many(kube.PODS, some)
        checks.wait_until(60, lambda: sum(bool(node) for name, (_, node, _) in
                                          list(pods.items.items()) if name in names_of_some) == 50,
                          "not all are bound")
        for name in names_of_some:
            client.delete(kube.PODS + "/" + name)
    checks.wait_until(20, seen, "nothing was sampled")


def bound_to(client, name):
    return client.get(kube.PODS + "/" + name)["spec"].get("nodeName")


# What kube-scheduler has and we have not, by how names begin; the reasons are in ctl/serve/README.md.
MEANT = {
    "go_": "a Go program's",
    "workqueue_": "queues between a Go program's controllers",
    "rest_client_exec_plugin_": "a cache of Go's client",
    "rest_client_transport_": "a cache of Go's client",
    "scheduler_batch_": "upstream's cache of results for alike pods",
    "scheduler_get_node_hint_": "the same",
    "scheduler_store_schedule_results_": "the same",
    "aggregator_discovery_": "an API server's",
    "apiserver_audit_": "an API server's",
    "apiserver_client_certificate_": "an API server's",
    "apiserver_envelope_": "an API server's",
    "apiserver_storage_": "an API server's",
    "apiserver_validation_": "an API server's",
    "apiserver_webhooks_": "an API server's",
}


# The same, of one release alone.
MEANT_BY = {"1.36": {}, "1.37": {"informer_": "queues inside of Go's client"}}


def meant(release):
    return {**MEANT, **MEANT_BY[release]}


def is_meant(name, release):
    return name.startswith(tuple(meant(release)))


@case("metrics-names", "it is what is compared with")
def metrics_names(world):
    """Every metric of kube-scheduler is there, of whatever stability, but for a list of those that mean
    nothing here; and what has the same name is the same: kind, help, labels, buckets."""
    if world.options.api != "real" or cluster.missing("real", world.options.release):
        return print("skipped metrics-names: no real kube-scheduler here")
    sides = {}
    for name, template in (("theirs", world.reference()), ("ours", None)):
        where = world.new_cluster("api-" + name)
        served = Served(world, name=name, where=where, template=template).ready()
        little_of_everything(where.admin, world.pods(where))
        checks.wait_until(20, lambda: "preemption_victims_sum 1" in served.get("/metrics").text,
                          "the victim was not counted")
        sampled(where.admin, world.pods(where), served)
        sides[name] = served
    theirs, ours = (families(sides[name].get("/metrics").text) for name in ("theirs", "ours"))
    release = world.options.release
    missing = [n for n in theirs if n not in ours and not is_meant(n, release)]
    checks.expect(not missing, "metrics are missing: %s", missing)
    stable = [n for n, f in theirs.items() if f.help.startswith("[STABLE]") and is_meant(n, release)]
    checks.expect(not stable, "STABLE metrics are meant to be missing: %s", stable)
    needless = [begin for begin in meant(release) if not any(n.startswith(begin) for n in theirs)
                or any(n.startswith(begin) for n in ours)]
    checks.expect(not needless, "the list of what is missing has no use for %s", needless)
    for name in sorted(theirs.keys() & ours.keys()):
        same_family(name, theirs[name], ours[name])

    def strange():  # kube-scheduler shows some of its metrics only after a while
        there = families(sides["theirs"].get("/metrics").text)
        return [n for n in ours if n not in there and not n.startswith("berth_")]

    try:
        checks.wait_until(10, lambda: not strange(), "")
    except checks.Failed:
        raise checks.Failed("kube-scheduler has no %s" % strange()) from None
    same_series(sides)
    same_plugins(sides)


# Of these every series is compared, not only its labels' names: which plugins there are at which
# point, which points there are with which status, and which features in which stage and state.
POINTS = "scheduler_framework_extension_point_duration_seconds_count"
WHOLE = ("scheduler_plugin_evaluation_total", POINTS, "kubernetes_feature_enabled")
# Plugins that are timed at these points whenever a decision is; and the one that is asked of few pods.
TIMED = re.compile(r'scheduler_plugin_execution_duration_seconds_count\{extension_point='
                   r'"(?:Filter|PreScore|Score|ScoreExtensionNormalize|Bind)",plugin="(?!NodeAffinity")')


def same_series(sides):
    for family in WHOLE:
        values = {name: {series: value for series, value in served.samples().items()
                         if series.startswith(family + "{") and '"Sign"' not in series}
                  for name, served in sides.items()}
        theirs, ours = values["theirs"], values["ours"]
        checks.expect(theirs.keys() == ours.keys(), "%s: kube-scheduler alone has %s, we alone %s",
                      family, sorted(theirs.keys() - ours.keys()),
                      sorted(ours.keys() - theirs.keys()))
        if family == "kubernetes_feature_enabled":
            other = [series for series in theirs if theirs[series] != ours[series]]
            checks.expect(not other, "%s differ", other)
        else:
            counted = [series for series in theirs if (theirs[series] > 0) != (ours[series] > 0)]
            checks.expect(not counted, "counted by one alone: %s",
                          [(s, theirs[s], ours[s]) for s in counted])


def same_plugins(sides):
    """Every plugin that kube-scheduler has timed is timed here, whatever it said of nodes."""
    theirs, ours = ({re.sub(",status=.*", "", series) for series in sides[name].samples()
                     if TIMED.match(series)} for name in ("theirs", "ours"))
    checks.expect(theirs and theirs <= ours, "not timed: %s", sorted(theirs - ours))


def same_family(name, theirs, ours):
    checks.expect((ours.kind, ours.help) == (theirs.kind, theirs.help), "%s is %s, not %s", name,
                  (ours.kind, ours.help), (theirs.kind, theirs.help))
    if theirs.labels and ours.labels:
        checks.expect(ours.labels == theirs.labels, "%s has the labels %s, not %s", name, ours.labels,
                      theirs.labels)
    if theirs.bounds and ours.bounds:
        checks.expect(ours.bounds == theirs.bounds, "%s has the buckets %s, not %s", name,
                      sorted(ours.bounds), sorted(theirs.bounds))


def with_limits(name, **spec):
    """A pod with everything that counts: an init container, a sidecar, limits, overhead apart."""
    pod = objects.pod(name, {"cpu": "100m", "memory": "1Gi", "example.com/x": "2"}, **spec)
    main = pod["spec"]["containers"][0]
    main["resources"]["limits"] = {"cpu": "1500m", "memory": "2Gi", "ephemeral-storage": "1Gi",
                                   "example.com/x": "2", "hugepages-2Mi": "4Mi"}
    for i, (policy, cpu) in enumerate((("Always", "50m"), (None, "3"))):
        more = {"name": "init-%d" % i, "image": "x", "resources": {"limits": {"cpu": cpu}}}
        if policy:
            more["restartPolicy"] = policy
        pod["spec"].setdefault("initContainers", []).append(more)
    return pod


def without_nodes(page):
    """The lines, less where each pod is: that is a matter of chance."""
    return sorted(re.sub('node="[^"]+"', 'node="X"', line) for line in page.text.splitlines())


@case("metrics-resources", "it is what is compared with")
def metrics_resources(world):
    """/metrics/resources is kube-scheduler's, of bound pods and of those that wait."""
    if world.options.api != "real" or cluster.missing("real", world.options.release):
        return print("skipped metrics-resources: no real kube-scheduler here")
    sides = {}
    for name, template in (("theirs", world.reference()), ("ours", None)):
        where = world.new_cluster("api-" + name)
        served = Served(world, name=name, where=where, template=template).ready()
        objects.small_nodes(where.admin, 2, {"cpu": "8", "memory": "32Gi", "pods": "20",
                                             "hugepages-2Mi": "1Gi", "example.com/x": "9",
                                             "ephemeral-storage": "9Gi"})
        pods = world.pods(where)
        where.admin.create_many(kube.PODS, objects.small_pods(3))
        where.admin.create(kube.PODS, with_limits("limited"))
        where.admin.create(kube.PODS, objects.pod("impossible", {"cpu": "500"}))
        where.admin.create(kube.PODS, with_limits("gone"))
        checks.all_bound(pods, 5, 60)
        where.admin.delete(kube.PODS + "/gone")
        checks.wait_until(20, lambda: "impossible" in served.get("/metrics/resources").text and
                          'pod="gone"' not in served.get("/metrics/resources").text,
                          "the page does not follow")
        sides[name] = served
    theirs, ours = (without_nodes(sides[name].get("/metrics/resources"))
                    for name in ("theirs", "ours"))
    checks.expect(theirs == ours and len(ours) > 15, "theirs: %s, ours: %s",
                  [line for line in theirs if line not in ours],
                  [line for line in ours if line not in theirs])


def series(name, **labels):
    inside = ",".join('%s="%s"' % pair for pair in sorted(labels.items()))
    return "scheduler_%s{%s}" % (name, inside) if inside else "scheduler_" + name


PROFILE = {"profile": "default-scheduler"}
SCHEDULED = dict(PROFILE, result="scheduled")


@case("metrics-true")
def metrics_true(world):
    """After many pods, and some that cannot run, the counters are what the audit log shows."""
    count = min(world.options.pods, 1000)
    objects.small_nodes(world.admin, world.options.nodes)
    served, pods = Served(world).ready(), world.pods()
    world.admin.create_many(kube.PODS, objects.small_pods(count))
    world.admin.create_many(kube.PODS, [objects.pod("impossible-%d" % i, {"cpu": "500"})
                                        for i in range(5)])
    world.admin.create(kube.PODS, objects.pod("gated", {"cpu": "1m"},
                                              schedulingGates=[{"name": "example.com/gate"}]))
    checks.wait_until(300, lambda: objects.bound(pods.items) == count, "not all are bound")
    point = "framework_extension_point_duration_seconds_count"
    expected = {
        series("schedule_attempts_total", **SCHEDULED): count,
        series("scheduling_attempt_duration_seconds_count", **SCHEDULED): count,
        series("pod_scheduling_attempts_count"): count,
        series(point, extension_point="Bind", status="Success", **PROFILE): count,
        series(point, extension_point="PostBind", status="Success", **PROFILE): count,
        series("queue_incoming_pods_total", event="UnschedulablePodAdd", queue="active"): count + 5,
        series("queue_incoming_pods_total", event="UnschedulablePodAdd", queue="unschedulable"): 1,
        series("queue_incoming_pods_total", event="ScheduleAttemptFailure",
               queue="unschedulable"): 5,
        series("pending_pods", queue="active"): 0,
        series("pending_pods", queue="backoff"): 0,
        series("pending_pods", queue="unschedulable"): 5,
        series("pending_pods", queue="gated"): 1,
        series("unschedulable_pods", plugin="NodeResourcesFit", **PROFILE): 5,
        series("unschedulable_pods", plugin="SchedulingGates", **PROFILE): 1,
        series("cache_size", type="nodes"): world.options.nodes,
        series("cache_size", type="pods"): count,
    }

    def differs():
        found = served.samples()
        return {name: (found.get(name), value) for name, value in expected.items()
                if found.get(name) != value}

    try:
        checks.wait_until(20, lambda: not differs(), "")
    except checks.Failed:
        raise checks.Failed("counted, and expected: %s" % differs()) from None
    # Its line is written behind the answer, which is counted.
    checks.wait_until(10, lambda: len(world.log.bound()) >= count, "the audit log does not come to %d Bindings" % count)
    bound = len(world.log.bound())
    checks.expect(bound == count, "the audit log has %d Bindings, %d were counted", bound, count)
    found = served.samples()
    sli = sum(value for name, value in found.items()
              if name.startswith("scheduler_pod_scheduling_sli_duration_seconds_count"))
    checks.expect(sli == count, "the SLI has seen %s pods, not %d", sli, count)
    tried = found[series("scheduling_algorithm_duration_seconds_count")]
    failed = found[series("schedule_attempts_total", result="unschedulable", **PROFILE)]
    checks.expect(tried == count + failed and failed >= 5, "%s decisions, %s unschedulable", tried,
                  failed)


@case("metrics-labels")
def metrics_labels(world):
    """--allow-metric-labels: any other value of the label is unexpected."""
    served = Served(world, flags=["--allow-metric-labels=scheduler_cache_size,type=nodes"]).ready()
    found = {n for n in served.samples() if n.startswith("scheduler_cache_size")}
    checks.expect(found == {'scheduler_cache_size{type="nodes"}', 'scheduler_cache_size{type="unexpected"}'},
                  "the page has %s", sorted(found))


@case("health")
def health(world):
    """The pages of health, in kube-scheduler's words."""
    served = Served(world).ready()
    checks.expect(served.get("/healthz").text == "ok", "/healthz: %s", served.get("/healthz"))
    page = served.get("/livez?verbose")
    checks.expect(page.text == "[+]ping ok\n[+]processes ok\nlivez check passed\n", "/livez?verbose: %s", page)
    page = served.get("/healthz?verbose")
    checks.expect(page.text == "[+]leaderElection ok\nhealthz check passed\n", "/healthz: %s", page)
    page = served.get("/readyz?verbose&exclude=shutdown").text.splitlines()
    for line in ("[+]leaderElection ok", "[+]shutdown excluded: ok", "[+]sched-handler-sync ok",
                 "readyz check passed"):
        checks.expect(line in page, "no %s in %s", line, page)
    for path, status, text in (("/readyz/sched-handler-sync", 200, "ok"), ("/livez/ping", 200, "ok"),
                               ("/readyz/nope", 404, "404 page not found\n")):
        page = served.get(path)
        checks.expect((page.status, page.text) == (status, text), "%s: %s", path, page)


@case("health-without-workers", "it has no workers")
def health_without_workers(world):
    """Ready is only who has a worker and knows the cluster; alive and healthy is it all the same."""
    if "--workers 2" not in world.options.scheduler:
        return print("skipped health-without-workers: it is about berth")
    served = Served(world, flags=["--workers=0", "--own-worker=false"])
    checks.wait_until(30, lambda: served.get("/readyz/sched-handler-sync").text == "ok",
                      "the informers are not synced")
    page = served.get("/readyz")
    checks.expect(page.status == 500 and "[-]workers failed: reason withheld\n" in page.text,
                  "/readyz without workers: %s", page)
    page = served.get("/readyz/workers")
    checks.expect("no worker has joined" in page.text, "/readyz/workers: %s", page)
    for path in ("/livez", "/healthz", "/readyz?exclude=workers"):
        checks.expect(served.get(path).status == 200, "%s: %s", path, served.get(path))


@case("access")
def access(world):
    """Who may see what: as the API server says, and health is for everybody."""
    served = Served(world).ready()
    forbidden = 'forbidden: User \\"%s\\" cannot get path \\"/metrics\\"'
    for user, path, status, text in (
            ("admin", "/metrics", 200, "scheduler_pending_pods"), ("admin", "/configz", 200, "profiles"),
            (None, "/readyz", 200, "ok"), ("nobody", "/healthz", 200, "ok"),
            (None, "/metrics", 403, forbidden % "system:anonymous"),
            ("nobody", "/metrics", 403, forbidden % "nobody")):
        if world.options.api == "small" and status == 403:
            continue  # it allows everything
        page = served.get(path, user=user)
        checks.expect(page.status == status and text in page.text, "%s sees %s: %s", user, path, page)
    page = served.get("/metrics", token="unknown")
    checks.expect(page.status == 401 and '"reason":"Unauthorized"' in page.text, "unknown: %s", page)
    page = served.get("/debug/flags/v", method="PUT", body=b"4")
    checks.expect(page.text == "successfully set klog.logging.verbosity to 4\n", "PUT: %s", page)
    page = served.get("/debug/flags/v", method="PUT", body=b"x")
    checks.expect(page.status == 400, "PUT x: %s", page)


@case("access-by-certificate")
def access_by_certificate(world):
    """A client certificate of the cluster's authority is believed, another one is not."""
    if world.options.api == "small":
        return print("skipped access-by-certificate: the small API server has no such ConfigMap")
    served = Served(world).ready()
    pki = os.path.join(world.cluster.directory, "pki")

    def sees():
        served.context = ssl._create_unverified_context()
        served.context.load_cert_chain(pki + "/admin-cert.crt", pki + "/admin-cert.key")
        return served.get("/metrics", user=None).status == 200

    checks.wait_until(20, sees, "the administrator's certificate is not believed")
    served.context = ssl._create_unverified_context()
    served.context.load_cert_chain(pki + "/apiserver.crt", pki + "/apiserver.key")
    page = served.get("/metrics", user=None)
    checks.expect(page.status in (0, 401), "a server's certificate: %s", page)


@case("metrics-after-restarts", "it has no processes to kill one by one")
def metrics_after_restarts(world):
    """Counters do not fall when a process dies and starts again."""
    if "{rundir}" not in world.options.scheduler:
        return print("skipped metrics-after-restarts: it is about berth")
    objects.small_nodes(world.admin, 3)
    served, pods = Served(world).ready(), world.pods()
    wanted = series("schedule_attempts_total", **SCHEDULED)
    world.admin.create_many(kube.PODS, objects.small_pods(10))
    checks.all_bound(pods, 10, 60)
    checks.wait_until(20, lambda: served.samples().get(wanted) == 10, "not 10 were counted")
    killed = served.subject.pids()["scheduler"]
    os.kill(killed, 9)
    checks.wait_until(30, lambda: served.subject.pids().get("scheduler", killed) != killed,
                      "the scheduler was not started again")
    served.ready()
    world.admin.create_many(kube.PODS, objects.small_pods(10, first=10))
    checks.all_bound(pods, 20, 60)
    checks.wait_until(20, lambda: served.samples().get(wanted) == 20,
                      "after the restart not 20 were counted")


@case("dump")
def dump(world):
    """SIGUSR2 makes it log its cache and its queue, and nothing ends."""
    objects.small_nodes(world.admin, 2)
    pods, scheduler = world.pods(), world.scheduler()
    world.admin.create_many(kube.PODS, objects.small_pods(2))
    world.admin.create(kube.PODS, objects.pod("impossible", {"cpu": "500"}))
    checks.all_bound(pods, 2, 60)
    checks.wait_until(30, lambda: pods.items["impossible"][2], "the impossible pod was not tried")
    os.kill(scheduler.process.pid, signal.SIGUSR2)

    def dumped():
        log = "\n".join(scheduler.log_lines())
        return ("Dump of cached NodeInfo" in log and "Dump of scheduling queue" in log
                and re.search(r"name=impossible namespace=default uid=[0-9a-f-]{36} ",
                              log[log.index("Dump of scheduling queue"):])
                and "node-0001" in log[log.index("Dump of cached NodeInfo"):])

    checks.wait_until(20, dumped, "nothing was dumped")
    if "{rundir}" in world.options.scheduler:
        asked(scheduler)
        compared(scheduler)
    world.admin.create_many(kube.PODS, objects.small_pods(1, first=2))
    checks.all_bound(pods, 3, 60)


def asked(scheduler):
    """`berth queue` names the pod that waits, and what rejected it; on no node does anybody wait. Asked again
    until then: a pod whose binding is not confirmed yet is there too."""
    def queue(*words):
        done = subprocess.run([BERTH, "queue", "--run-dir", scheduler.rundir, "-o", "json", *words], text=True,
                              stdout=subprocess.PIPE, timeout=30, check=True)
        return json.loads(done.stdout)

    def waiting():
        pods = queue("-n", "default").get("pods", [])
        return [(p["name"], p["place"], p.get("rejected_by")) for p in pods]

    checks.wait_until(20, lambda: waiting() == [("impossible", "unschedulable", ["NodeResourcesFit"])],
                      "berth queue does not say that one pod waits, and why")
    checks.expect(not queue("--node", "node-0001").get("pods"), "somebody waits on node-0001")


def compared(scheduler):
    """Cache and queue have been compared with what the watcher holds, and nothing differs. Each count is
    asked for again until all is quiet: a pod whose binding is not confirmed yet is still under way."""
    def lines():
        return [line for line in scheduler.log_lines() if "Cache comparer finished" in line]

    def quiet():
        before = len(lines())
        if before < 2 or before % 2 != 0:
            return False
        if "nodes=2 pods=3" in "".join(lines()[-2:]) and "pending=1" in "".join(lines()[-2:]):
            return True
        os.kill(scheduler.process.pid, signal.SIGUSR2)
        checks.wait_until(20, lambda: len(lines()) == before + 2, "not both have compared again")
        return False

    checks.wait_until(40, quiet, "what was compared is not 2 nodes, 3 pods, 1 pending")
    wrong = [line for line in scheduler.log_lines() if "Cache mismatch" in line]
    checks.expect(not wrong, "%s", wrong)
