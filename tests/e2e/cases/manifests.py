"""compose/kubernetes: the API server takes every manifest, the pods are restricted ones, and what
their containers run works together, as the account and with the rules that come with them."""
import json
import os
import shutil
import signal
import subprocess

import checks
import cluster
import kube
import objects
from suite import case

TOP = os.path.join(cluster.TOP, "compose", "kubernetes")
KUSTOMIZED = ("rbac", "replace", "second", "workers")
SINGLE = ("static-pod/kube-scheduler.yaml", "gangs.yaml", "policy-configmap.yaml", "metrics-reader.yaml",
          "page-reader.yaml")
TOKEN = "/api/v1/namespaces/kube-system/serviceaccounts/berth/token"
ANYBODY = 65532  # runAsUser
CORES, LEASE_SECONDS = 2, 15


def kubectl(world, *arguments):
    done = subprocess.run(["kubectl", "--kubeconfig", world.cluster.kubeconfig("admin")] + list(arguments),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    checks.expect(done.returncode == 0, "kubectl %s: %s", " ".join(arguments), done.stderr)
    return done.stdout


def items(world, *where):
    """What a server-side dry run makes of it."""
    made = json.loads(kubectl(world, "apply", "--dry-run=server", "-o", "json", *where))
    return made.get("items", [made])


def not_here(world):
    if world.options.api != "real" or not shutil.which("kubectl"):
        return print("skipped manifests: needs the real API server and kubectl") or True
    return "{rundir}" not in world.options.scheduler


@case("manifests", "they are berth's")
def manifests(world):
    """Server-side dry run, the profile `restricted`, and the probes and limits of every container."""
    if not_here(world):
        return
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "locked", "labels": {
        "pod-security.kubernetes.io/enforce": "restricted"}}}
    world.admin.create("/api/v1/namespaces", space)
    kinds = set()
    for name in KUSTOMIZED:
        made = items(world, "-k", os.path.join(TOP, name))
        look_at_replicas(name, made)
        for item in made:
            kinds.add(item["kind"])
            if item["kind"] in ("Deployment", "StatefulSet"):
                look_at_pod(world, item["spec"]["template"]["spec"], item["metadata"]["name"])
            if item["kind"] == "ConfigMap":
                take_configuration(world, item["data"]["scheduler.yaml"])
    checks.expect({"Deployment", "StatefulSet", "Service", "PodDisruptionBudget", "NetworkPolicy", "ClusterRole", "Role",
                   "ServiceAccount", "ConfigMap"} <= kinds, "only %s", kinds)
    for name in SINGLE:
        items(world, "-f", os.path.join(TOP, name))
    static = items(world, "-f", os.path.join(TOP, SINGLE[0]))[0]
    look_at_containers(static["spec"], "the static pod")


def look_at_replicas(name, made):
    """Whoever places pods places its own replicas too: there is always one that leads or can lead. So at
    least two of each, the lease, one after the other when they change, on other nodes, and at most one
    evicted at a time."""
    workloads = [i for i in made if i["kind"] in ("Deployment", "StatefulSet")]
    checks.expect(bool(workloads) == (name != "rbac"), "%s has %s", name, [i["kind"] for i in made])
    budgets = [i["spec"] for i in made if i["kind"] == "PodDisruptionBudget"]
    for item in workloads:
        where, spec = "%s of %s" % (item["metadata"]["name"], name), item["spec"]
        checks.expect(spec["replicas"] >= 2, "%s: %s replicas", where, spec["replicas"])
        way = spec.get("strategy") or spec.get("updateStrategy")
        checks.expect(way["type"] == "RollingUpdate", "%s: %s", where, way)
        labels = spec["template"]["metadata"]["labels"]
        covered = [b for b in budgets if b["selector"]["matchLabels"].items() <= labels.items()]
        checks.expect([b.get("maxUnavailable") for b in covered] == [1], "%s: budgets %s", where, covered)
        pod = spec["template"]["spec"]
        apart = pod.get("affinity", {}).get("podAntiAffinity", {}).get(
            "preferredDuringSchedulingIgnoredDuringExecution", [])
        apart = [t["podAffinityTerm"] for t in apart] + pod.get("topologySpreadConstraints", [])
        checks.expect(any(t["topologyKey"] == "kubernetes.io/hostname"
                          and t["labelSelector"]["matchLabels"].items() <= labels.items() for t in apart),
                      "%s: all may be on one node", where)
    for item in made:
        if item["kind"] == "ConfigMap":
            text = item["data"]["scheduler.yaml"]
            checks.expect("leaderElect: true" in text and "leaderElect: false" not in text, "%s: no lease", name)
    look_at_links(name, {i["metadata"]["name"]: i for i in workloads})


def look_at_links(name, workloads):
    """A pod of workers serves every core that there is, by the name that it has in the cluster."""
    if name != "workers":
        return
    core, workers = workloads["berth-core"], workloads["berth-workers"]
    links = sorted(peer_of(c) for c in workers["spec"]["template"]["spec"]["containers"])
    cores = ["tcp://berth-core-%d.%s.kube-system.svc:7000" % (n, core["spec"].get("serviceName"))
             for n in range(core["spec"]["replicas"])]
    checks.expect(links == cores, "workers call %s, cores are %s", links, cores)


def peer_of(container):
    return [a for a in container["command"] if a.startswith("--peer=")][0][len("--peer=scheduler="):]


def look_at_containers(spec, name):
    for container in spec["containers"]:
        where = "%s of %s" % (container["name"], name)
        locked = container["securityContext"]
        checks.expect(locked["readOnlyRootFilesystem"] and not locked["allowPrivilegeEscalation"]
                      and locked["capabilities"]["drop"] == ["ALL"], "%s: %s", where, locked)
        checks.expect("livenessProbe" in container and "requests" in container["resources"],
                      "%s has no livenessProbe or no requests", where)
        program = os.path.join(cluster.TOP, "build", "bin", container["command"][0])
        checks.expect(os.access(program, os.X_OK), "%s runs %s", where, program)
    paths = {c["livenessProbe"].get("httpGet", {}).get("path") for c in spec["containers"]}
    paths |= {c["readinessProbe"]["httpGet"]["path"] for c in spec["containers"] if "readinessProbe" in c}
    if any(c["command"][0] in ("berth", "berth-serve") for c in spec["containers"]):
        checks.expect({"/livez", "/readyz"} <= paths, "%s is probed at %s", name, paths)


def look_at_pod(world, spec, name):
    """A pod like this in a namespace that enforces `restricted`; less one line it is refused."""
    look_at_containers(spec, name)
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": dict(spec)}
    path = "/api/v1/namespaces/locked/pods?dryRun=All"
    world.admin.create(path, body)
    body["spec"] = dict(spec, securityContext=dict(spec["securityContext"], runAsNonRoot=False))
    try:
        world.admin.create(path, body)
    except kube.ApiError as error:
        checks.expect(error.status == 403, "%s", error)
    else:
        raise checks.Failed("the namespace does not enforce anything")


def take_configuration(world, text):
    path = os.path.join(world.directory, "scheduler.yaml")
    with open(path, "w") as file:
        file.write(text)
    done = subprocess.run([os.path.join(cluster.TOP, "build", "bin", "berth"), "config", "--config", path],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=20)
    checks.expect(done.returncode == 0, "%s", done.stdout)


class Containers:
    """What the containers of a pod run, as processes here: paths and addresses are others, the rest
    is the manifests'."""

    def __init__(self, world):
        self.world, self.processes = world, []
        self.ports = [cluster.free_port() for _ in range(CORES)]  # of each core's bus
        self.keys, self.etc = (os.path.join(world.directory, n) for n in ("keys", "etc"))
        os.mkdir(self.etc)
        subprocess.run([os.path.join(cluster.TOP, "build", "bin", "berth"), "keys", self.keys], check=True,
                       stdout=subprocess.DEVNULL, timeout=20)
        self.kubeconfig = os.path.join(self.etc, "kubeconfig")

    def account(self):
        """The service account, with the rules that are in the folder."""
        answer = self.world.admin.create(TOKEN, {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "spec": {"expirationSeconds": 3600}})
        with open(self.world.cluster.kubeconfig("nobody")) as file:
            lines = ["    token: " + answer["status"]["token"] if line.strip().startswith("token:")
                     else line for line in file.read().splitlines()]
        with open(self.kubeconfig, "w") as file:
            file.write("\n".join(lines) + "\n")

    def start_pod(self, spec, name, core=0):
        """Its processes; core: which it is, if it is one."""
        started = []
        run = os.path.join(self.world.directory, name)
        os.mkdir(run)
        log = open(os.path.join(self.world.directory, name + ".log"), "ab")
        self.open_for_anybody(run)
        for container in spec["containers"]:
            command = [self.here(part, run, name, core) for part in container["command"]]
            command[0] = os.path.join(cluster.TOP, "build", "bin", command[0])
            if command[0].endswith("serve"):
                command += ["--secure-port=%d" % cluster.free_port(), "--bind-address=127.0.0.1",
                            "--authentication-kubeconfig=" + self.kubeconfig,
                            "--authorization-kubeconfig=" + self.kubeconfig]
            if os.getuid() == 0:
                command = ["setpriv", "--reuid=%d" % ANYBODY, "--regid=%d" % ANYBODY, "--clear-groups",
                           "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"] + command
            started.append(subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env={"PATH": os.environ["PATH"], "KUBECONFIG": self.kubeconfig,
                     "BERTH_RUN_DIR": run + "/bus"}))
            self.processes.append(started[-1])
        return started

    def here(self, text, run, name, core):
        own = "127.0.0.1:%d" % self.ports[core]
        names = [("berth-core-%d.berth.kube-system.svc:7000" % n, "127.0.0.1:%d" % port)
                 for n, port in enumerate(self.ports)]
        for old, new in [("/etc/berth", self.etc), ("/keys", self.keys), ("/run/berth", run),
                         ("tcp://*:7000", "tcp://" + own), ("127.0.0.1:7000", own), ("$(POD_NAME)", name)] + names:
            text = text.replace(old, new)
        return text

    def end(self, processes, number=signal.SIGTERM):
        """As a kubelet ends a pod, or as one ends with its node."""
        for process in processes:
            self.processes.remove(process)
            process.send_signal(number)
        wait_or_kill(processes)

    def open_for_anybody(self, run):
        """As volumes with fsGroup are."""
        os.chmod(self.world.directory, 0o711)
        for path in (self.world.directory + "/api", self.world.directory + "/api/pki"):
            os.chmod(path, 0o711)
        os.chmod(self.world.directory + "/api/pki/ca.crt", 0o644)
        if os.getuid() != 0:
            return
        for path in [run, self.keys, self.etc] + [os.path.join(d, f) for d in (self.keys, self.etc)
                                                  for f in os.listdir(d)]:
            os.chown(path, ANYBODY, ANYBODY)

    def stop(self):
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
        wait_or_kill(self.processes)


def wait_or_kill(processes):
    for process in processes:
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def prepare(world):
    """The account with its rules, and the pods' specs: (containers, core, workers)."""
    folder = os.path.join(TOP, "workers")
    kubectl(world, "apply", "-k", os.path.join(TOP, "rbac"))
    cluster.account_may(world.admin, "system:serviceaccount:kube-system:berth")
    made = {(i["kind"], i["metadata"]["name"]): i for i in items(world, "-k", folder)}
    containers = Containers(world)
    containers.account()
    with open(os.path.join(containers.etc, "scheduler.yaml"), "w") as file:
        file.write(made["ConfigMap", "berth-config"]["data"]["scheduler.yaml"])
    return (containers, made["StatefulSet", "berth-core"]["spec"]["template"]["spec"],
            made["Deployment", "berth-workers"]["spec"]["template"]["spec"])


def nothing_refused(world):
    refused = [r for r in world.log.read() if r.user.endswith(":berth") and r.code == 403
               and r.resource != "podgroups"]  # gangs.yaml is not applied: they are done without
    checks.expect(not refused, "refused: %s", refused[:5])


@case("manifests-running", "they are berth's")
def running(world):
    """A core and its workers as the manifests start them, as nobody in particular, with the rules
    that come with them; workers come and go, and no request is refused."""
    if not_here(world):
        return
    containers, core, worker = prepare(world)
    objects.small_nodes(world.admin, 20)
    pods = world.pods()
    try:
        containers.start_pod(core, "core")
        world.admin.create_many(kube.PODS, objects.small_pods(50))
        checks.all_bound(pods, 50, 60)
        workers = [containers.start_pod(worker, "worker-%d" % number) for number in range(3)]
        checks.wait_until(30, lambda: status_of(containers, 0, "workers") == 4, "the workers do not join")
        world.admin.create_many(kube.PODS, objects.small_pods(50, first=50))
        checks.all_bound(pods, 100, 60)
        containers.end(workers.pop())
        checks.wait_until(30, lambda: status_of(containers, 0, "workers") == 3, "the worker does not leave")
        world.admin.create_many(kube.PODS, objects.small_pods(20, first=100))
        checks.all_bound(pods, 120, 60)
        checks.expect(all(p.poll() is None for p in containers.processes), "a process has ended: %s",
                      [(p.args[-3:], p.returncode) for p in containers.processes])
    except checks.Failed as failure:
        raise checks.Failed("%s\n%s" % (failure, tails(world))) from None
    finally:
        containers.stop()
    nothing_refused(world)


@case("manifests-drained", "they are berth's")
def drained(world):
    """Two cores and workers that serve both. The node of the one that leads is drained: the other leads
    with the same workers and goes on. Another one comes in its place, and then the leader dies at once."""
    if not_here(world):
        return
    containers, core, worker = prepare(world)
    objects.small_nodes(world.admin, 20)
    pods, bound = world.pods(), 0
    try:
        cores = [containers.start_pod(core, "core-%d" % n, n) for n in range(CORES)]
        for number in range(2):
            containers.start_pod(worker, "worker-%d" % number)
        for number in (signal.SIGTERM, signal.SIGKILL):
            for n in range(CORES):
                checks.wait_until(60, lambda n=n: status_of(containers, n, "workers") == 3,
                                  "core %d does not have the workers" % n)
            first = leader_of(containers)
            world.admin.create_many(kube.PODS, objects.small_pods(50, first=bound))
            bound += 50
            checks.all_bound(pods, bound, 60)
            containers.end(cores[first], number)
            world.admin.create_many(kube.PODS, objects.small_pods(50, first=bound))
            bound += 50
            checks.all_bound(pods, bound, LEASE_SECONDS + 15)
            checks.expect(leader_of(containers, [n for n in range(CORES) if n != first]) != first, "nobody leads")
            checks.expect(status_of(containers, 1 - first, "workers") == 3, "the workers have left")
            shutil.rmtree(os.path.join(world.directory, "core-%d" % first))
            cores[first] = containers.start_pod(core, "core-%d" % first, first)
    except checks.Failed as failure:
        raise checks.Failed("%s\n%s" % (failure, tails(world))) from None
    finally:
        containers.stop()
    nothing_refused(world)


def tails(world):
    text = ""
    for name in sorted(os.listdir(world.directory)):
        if name.endswith(".log"):
            with open(os.path.join(world.directory, name), errors="replace") as file:
                text += "%s:\n%s" % (name, "".join(file.readlines()[-8:]))
    return text


def status_of(containers, core, key):
    """What a scheduler says of itself, by its own door; None when it does not."""
    done = subprocess.run([os.path.join(cluster.TOP, "build", "bin", "berth"), "status", "-o", "json",
                           "--curve-dir", containers.keys,
                           "--endpoint", "tcp://127.0.0.1:%d" % containers.ports[core]],
                          stdout=subprocess.PIPE, text=True, timeout=20)
    processes = json.loads(done.stdout)["processes"] if done.stdout else []
    return next((p["status"].get(key) for p in processes if p["answered"]), None)


def leader_of(containers, among=range(CORES)):
    found = []

    def one():
        found[:] = [n for n in among if status_of(containers, n, "leading")]
        return len(found) == 1
    checks.wait_until(30, one, "there is not one core that leads")
    return found[0]
