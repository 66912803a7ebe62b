"""The two API servers that a case can run against, behind one face.

real   kube-apiserver with etcd and RBAC, started by tests/controlplane/controlplane
small  our own tests/apiserver, without a store: what it holds is gone when it ends

Both use the keys, tokens and kubeconfigs that the controlplane tool makes: for admin, scheduler,
scheduler-a, scheduler-b and nobody.  Both have an audit log, and can go down and come up again on
the same port.
"""
import os
import random
import shutil
import signal
import socket
import subprocess

import audit
import checks
import kube

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
CONTROLPLANE = os.path.join(TOP, "tests", "controlplane", "controlplane")
RBAC = "/apis/rbac.authorization.k8s.io/v1"
RELEASES = ("1.36", "1.37")  # of Kubernetes, the real ones that there are; the first where none is named
# kube-apiserver with PodGroups of its own and pods that name them: alpha in 1.36, beta that is off in 1.37.
BUILT_IN_GANGS = ("--feature-gates=GenericWorkload=true,GangScheduling=true",
                  "--runtime-config=scheduling.k8s.io/v1alpha2=true")
BUILT_IN_GANGS_BY = {"1.36": BUILT_IN_GANGS,
                     "1.37": ("--feature-gates=GenericWorkload=true",
                              "--runtime-config=scheduling.k8s.io/v1beta1=true")}


class Cluster:
    """What both have: a directory with kubeconfigs and an audit log, and an administrator."""

    def __init__(self, directory, flags=(), release=RELEASES[0]):
        self.directory, self.flags, self.release = directory, flags, release
        self.begin()
        self.admin = kube.Client(self.kubeconfig("admin"))
        self.log = audit.Log(os.path.join(directory, "audit.log"))

    def tool(self, command, *arguments):
        done = subprocess.run([CONTROLPLANE, command, self.directory] + list(arguments), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        if done.returncode:
            raise RuntimeError("controlplane %s: %s" % (command, done.stdout))

    def kubeconfig(self, user):
        return os.path.join(self.directory, user + ".kubeconfig")


class RealCluster(Cluster):
    """kube-apiserver; etcd keeps its objects while it is down."""

    def begin(self):
        self.tool("start", "--release", self.release, "--audit", *["--apiserver-arg=" + flag for flag in self.flags])

    def down(self):
        self.tool("down")

    def up(self):
        self.tool("up", "--release", self.release)

    def become(self, release):
        """Another Kubernetes release, on the same objects: stopped as an upgrade does it, and gone in between."""
        self.tool("down", "--gently")
        self.release = release
        self.up()

    def stop(self):
        self.tool("stop", "--now")

    def interrupt(self):
        """Gone for everybody, in the middle of whatever it was doing."""
        self.down()

    def resume(self):
        self.up()

    def break_watches(self):
        self.down()
        self.up()

    def forget_history(self):
        """The watch cache starts anew, and does not know the versions that were before."""
        self.down()
        self.up()

    def allow_nobody(self, except_for=()):
        """Give user nobody the scheduler's rights, less the reading of some resources."""
        rights = set()
        for role in ("system:kube-scheduler", "system:volume-scheduler"):
            rules = self.admin.get(RBAC + "/clusterroles/" + role)["rules"]
            rights |= {(group, resource) for rule in rules if "list" in rule["verbs"] and "resourceNames" not in rule
                       for group in rule["apiGroups"] for resource in rule["resources"]}
            rules = [without(rule, except_for) for rule in rules]
            self.replace_role(role.replace("system:", "limited-"), [r for r in rules if r["resources"]])
        for role in ("extension-apiserver-authentication-reader",
                     "system::leader-locking-kube-scheduler"):
            self.bind("/namespaces/kube-system/rolebindings", "RoleBinding", "Role", role)
        for group, resource in rights:
            checks.wait_until(30, lambda group=group, resource=resource: kube.may(
                self.admin, "nobody", "list", resource, group) == (resource not in except_for),
                "nobody's right to list %s is not as it was written" % resource)

    def replace_role(self, name, rules):
        path = RBAC + "/clusterroles"
        body = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                "metadata": {"name": name}, "rules": rules}
        try:
            self.admin.create(path, body)
        except kube.ApiError as error:
            if error.status != 409:
                raise
            self.admin.put(path + "/" + name, body)
        self.bind("/clusterrolebindings", "ClusterRoleBinding", "ClusterRole", name)

    def bind(self, path, kind, role_kind, role):
        body = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
                "metadata": {"name": "nobody-" + role.replace(":", "-")},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User",
                              "name": "nobody"}]}
        try:
            self.admin.create(RBAC + path, body)
        except kube.ApiError as error:
            if error.status != 409:
                raise


def account_may(client, user):
    """The API server has seen each role that compose/kubernetes/rbac binds; before, a request would be refused."""
    there = {"namespace": "kube-system"}
    for verb, resource, group, more in (
            ("list", "nodes", "", {}), ("create", "tokenreviews", "authentication.k8s.io", {}),
            ("get", "leases", "coordination.k8s.io", dict(there, name="kube-scheduler")),
            ("get", "configmaps", "", dict(there, name="extension-apiserver-authentication"))):
        checks.wait_until(30, lambda verb=verb, resource=resource, group=group, more=more: kube.may(
            client, user, verb, resource, group, **more), "%s may not %s %s" % (user, verb, resource))


def without(rule, resources):
    """A rule that no longer names some resources."""
    return dict(rule, resources=[r for r in rule["resources"] if r not in resources])


class SmallCluster(Cluster):
    """Our own API server; its fault menu does what would cost it its objects."""

    SCHEDULERS = "system:kube-scheduler,scheduler-a,scheduler-b,nobody"
    PROGRAM = os.path.join(TOP, "build", "bin", "apiserver")

    def begin(self):
        self.process, self.port, self.version = None, free_port(), self.release
        self.tool("credentials", "--port", str(self.port))
        self.up()

    def up(self):
        pki = os.path.join(self.directory, "pki")
        ready = os.path.join(self.directory, "port")
        if os.path.exists(ready):
            os.unlink(ready)
        with open(os.path.join(self.directory, "apiserver.log"), "ab") as output:
            self.process = subprocess.Popen(
                [self.PROGRAM, "--listen", "127.0.0.1:%d" % self.port, "--port-file", ready,
                 "--tls-cert", pki + "/apiserver.crt", "--tls-key", pki + "/apiserver.key",
                 "--client-ca", pki + "/ca.crt", "--token-file", self.directory + "/tokens.csv",
                 "--audit-log", self.directory + "/audit.log", "--version", self.version] +
                [flag for flag in self.flags if flag.startswith("--runtime-config=")],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
        checks.wait_until(30, lambda: os.path.exists(ready) or self.process.poll() is not None,
                          "the small API server is not ready")
        if self.process.poll() is not None:
            with open(os.path.join(self.directory, "apiserver.log"), errors="replace") as log:
                raise RuntimeError("the small API server ended: " + log.read()[-1000:])

    def down(self):
        self.process.kill()
        self.process.wait(10)

    def stop(self):
        self.process.terminate()
        try:
            status = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.down()
            raise RuntimeError("the small API server did not stop when told to")
        if status not in (0, -signal.SIGKILL):
            raise RuntimeError("the small API server ended with status %d" % status)

    def faults(self, *rules):
        self.admin.put("/faults", {"rules": list(rules)})

    def struck(self):
        return all(rule["struck"] for rule in self.admin.get("/faults")["rules"])

    def become(self, version):
        """Another Kubernetes release, from now on."""
        self.version = version
        self.admin.put("/version", version)

    def interrupt(self):
        """Gone for schedulers: streams are closed, connections dropped without an answer."""
        self.faults({"user": self.SCHEDULERS, "verb": "watch", "watch_close": True},
                    {"user": self.SCHEDULERS, "drop": True})
        checks.wait_until(30, self.struck, "the scheduler did not notice that the API server is gone")

    def resume(self):
        self.faults()

    def break_watches(self):
        self.faults({"user": self.SCHEDULERS, "verb": "watch", "watch_close": True})
        self.faults()

    def forget_history(self):
        """What streams could go on from is gone."""
        self.faults({"compact": True})
        self.faults()

    def allow_nobody(self, except_for=()):
        """Everybody may do everything here, so only the exceptions are rules."""
        self.faults(*({"user": "nobody", "verb": "list,watch", "resource": resource, "status": 403}
                      for resource in except_for))


def free_port():
    """Below those that the kernel gives to clients: one of them might take it before the server does."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port


def programs(release):
    """The folder of the real control plane's programs, relative to TOP."""
    return os.path.join("build", "controlplane", *([] if release == RELEASES[0] else [release]), "bin")


def reference_scheduler(release=RELEASES[0]):
    """The real kube-scheduler's binary, None when it is not built."""
    path = os.path.join(TOP, programs(release), "kube-scheduler")
    return path if os.access(path, os.X_OK) else None


def coscheduling():
    """kube-scheduler with the Coscheduling plugin, None when it is not built."""
    path = os.path.join(TOP, "build", "controlplane", "bin", "kube-scheduler-coscheduling")
    return path if os.access(path, os.X_OK) else None


def start(api, directory, flags=(), release=RELEASES[0]):
    """flags: more of kube-apiserver's; the small one knows --runtime-config alone."""
    os.makedirs(directory, exist_ok=True)
    return {"real": RealCluster, "small": SmallCluster}[api](directory, flags, release)


def missing(api, release=RELEASES[0]):
    """Why this API server cannot be started here, or None."""
    if api == "real" and not (reference_scheduler(release) and (shutil.which("etcd"))):
        return "needs etcd (package etcd-server) and: tests/controlplane/controlplane build --release " + release
    if api == "small" and not os.access(SmallCluster.PROGRAM, os.X_OK):
        return "needs build/bin/apiserver (make)"
    return None
