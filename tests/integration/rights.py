"""Whether berth's RBAC rules are enough, and not more than that.

With --rights the scheduler is the service account of compose/kubernetes/rbac, with these rules and no
others.  At the end the API server's audit log says what it was refused, and which rules nobody used.
"""
import collections
import csv
import json
import os
import ssl
import subprocess
import urllib.error
import urllib.request

import checks
import cluster
import kube

DIRECTORY = os.path.join(cluster.TOP, "compose", "kubernetes", "rbac")
ACCOUNT = "system:serviceaccount:kube-system:berth"
TOKEN = "/api/v1/namespaces/kube-system/serviceaccounts/berth/token"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
EVENTS = "/api/v1/namespaces/kube-system/events"
# The API server asks for these while it carries out another request, and logs that one alone.
ASKED_INSIDE = {("resource.k8s.io", "resourceclaims/binding", "update"), ("resource.k8s.io", "resourceclaims/binding", "patch")}

Right = collections.namedtuple("Right", "group resource verb")


def kubectl(where, *arguments):
    done = subprocess.run(["kubectl", "--kubeconfig", where.kubeconfig("admin")] + list(arguments),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    checks.expect(done.returncode == 0, "kubectl %s: %s", " ".join(arguments[:3]), done.stdout)
    return done.stdout


def grant(where):
    """Apply the rules; the kubeconfig of the account that they are for."""
    kubectl(where, "apply", "-k", DIRECTORY)
    kubectl(where, "apply", "-f", os.path.join(os.path.dirname(DIRECTORY), "gangs.yaml"))
    cluster.account_may(where.admin, ACCOUNT)
    checks.wait_until(30, lambda: kube.may(where.admin, ACCOUNT, "list", "podgroups", "scheduling.x-k8s.io"),
                      "the account may not list PodGroups")
    answer = where.admin.create(TOKEN, {"apiVersion": "authentication.k8s.io/v1",
                                        "kind": "TokenRequest", "spec": {"expirationSeconds": 36000}})
    with open(where.kubeconfig("nobody")) as file:
        lines = ["    token: " + answer["status"]["token"] if line.strip().startswith("token:")
                 else line for line in file.read().splitlines()]
    path = where.kubeconfig("berth")
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    return path


def granted(where):
    """Every right that the rules give, verb by verb."""
    found = set()
    text = kubectl(where, "get", "-o", "json", "clusterroles,roles", "--all-namespaces")
    for role in json.loads(text)["items"]:
        name = role["metadata"]["name"]
        if not name.startswith("berth") or name == "berth-gangs":  # which no case here needs
            continue
        for rule in role["rules"]:
            found.update(Right(group, resource, verb) for group in rule["apiGroups"]
                         for resource in rule["resources"] for verb in rule["verbs"])
    return found


def requests(where):
    """(right, code, uri) of everything that the account asked for."""
    with open(os.path.join(where.directory, "audit.log")) as file:
        for line in file:
            try:
                record = json.loads(line)
            except ValueError:
                continue  # half a line
            what = record.get("objectRef") or {}
            if record["user"]["username"] != ACCOUNT or record.get("stage") not in (
                    "ResponseComplete", "ResponseStarted"):
                continue
            resource = "/".join(part for part in (what.get("resource"), what.get("subresource")) if part)
            yield (Right(what.get("apiGroup", ""), resource, record["verb"]),
                   (record.get("responseStatus") or {}).get("code", 0), record["requestURI"])


def see_metrics(where, port):
    """As the administrator and as nobody: somebody asks, and the API server is asked who that is."""
    with open(os.path.join(where.directory, "tokens.csv")) as file:
        tokens = {row[1]: row[0] for row in csv.reader(file)}
    for user, expected in (("admin", 200), ("nobody", 403)):
        request = urllib.request.Request("https://127.0.0.1:%d/metrics" % port,
                                         headers={"Authorization": "Bearer " + tokens[user]})
        try:
            with urllib.request.urlopen(request, timeout=20,
                                        context=ssl._create_unverified_context()) as answer:
                status = answer.status
        except urllib.error.HTTPError as error:
            status = error.code
        checks.expect(status == expected, "/metrics answers %s with %s", user, status)


def lose_the_lease(where, times=3):
    """Somebody else holds it for a moment, so that becoming the leader is told more than once."""
    for number in range(times):
        def seize():
            lease = where.admin.get(LEASE)
            lease["spec"].update(holderIdentity="somebody-%d" % number, leaseDurationSeconds=1)
            try:
                return where.admin.put(LEASE, lease)
            except Exception:  # it was renewed in between
                return None
        checks.wait_until(20, seize, "the lease cannot be taken")
        checks.wait_until(40, lambda: not where.admin.get(LEASE)["spec"]["holderIdentity"]
                          .startswith("somebody"), "the lease was not taken again")


def verdict(where):
    """What is wrong with the rules, in lines; none when nothing is."""
    used, troubles = set(), []
    for right, code, uri in requests(where):
        used.add(right)
        if code == 403:
            troubles.append("refused: %s %s (%s)" % (right.verb, right.resource, uri))
    for right in sorted(granted(where) - used - ASKED_INSIDE):
        troubles.append("never used: %s %s in %r" % (right.verb, right.resource, right.group))
    print("rights: %d granted, %d of them used" % (len(granted(where)), len(granted(where) & used)))
    return troubles
