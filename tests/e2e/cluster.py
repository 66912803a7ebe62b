"""The two API servers that a case can run against, behind one face.

real   kube-apiserver with etcd and RBAC, started by tests/controlplane/controlplane
small  our own tests/apiserver, without a store: what it holds is gone when it ends

A cluster has kubeconfigs for admin, scheduler, scheduler-a, scheduler-b and nobody (without rights),
an audit log, and can go down and come up again on the same port.
"""
import os
import shutil
import subprocess

import audit
import kube

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
CONTROLPLANE = os.path.join(TOP, "tests", "controlplane", "controlplane")
RBAC = "/apis/rbac.authorization.k8s.io/v1"


class RealCluster:
    """kube-apiserver; keeps its objects while it is down."""

    keeps_objects = True

    def __init__(self, directory):
        self.directory = directory
        self.tool("start", "--audit")
        self.admin = kube.Client(self.kubeconfig("admin"))
        self.log = audit.Log(os.path.join(directory, "audit.log"))

    def tool(self, command, *arguments):
        done = subprocess.run([CONTROLPLANE, command, self.directory] + list(arguments), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        if done.returncode:
            raise RuntimeError("controlplane %s: %s" % (command, done.stdout))

    def kubeconfig(self, user):
        return os.path.join(self.directory, user + ".kubeconfig")

    def down(self):
        self.tool("down")

    def up(self):
        self.tool("up")

    def stop(self):
        self.tool("stop")

    def allow_nobody(self, except_for=()):
        """Give user nobody the scheduler's rights, less the reading of some resources."""
        for role in ("system:kube-scheduler", "system:volume-scheduler"):
            rules = self.admin.get(RBAC + "/clusterroles/" + role)["rules"]
            rules = [without(rule, except_for) for rule in rules]
            self.replace_role(role.replace("system:", "limited-"), [r for r in rules if r["resources"]])
        for role in ("extension-apiserver-authentication-reader",
                     "system::leader-locking-kube-scheduler"):
            self.bind("/namespaces/kube-system/rolebindings", "RoleBinding", "Role", role)

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


def without(rule, resources):
    """A rule that no longer names some resources."""
    return dict(rule, resources=[r for r in rule["resources"] if r not in resources])


def reference_scheduler():
    """The real kube-scheduler's binary, None when it is not built."""
    path = os.path.join(TOP, "build", "controlplane", "bin", "kube-scheduler")
    return path if os.access(path, os.X_OK) else None


def start(api, directory):
    os.makedirs(directory, exist_ok=True)
    return {"real": RealCluster}[api](directory)


def missing(api):
    """Why this API server cannot be started here, or None."""
    if api == "real" and not (reference_scheduler() and (shutil.which("etcd"))):
        return "needs etcd (package etcd-server) and: tests/controlplane/controlplane build"
    return None
