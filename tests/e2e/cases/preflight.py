"""berth preflight: what it finds when all is well, and with each permission taken away."""
import collections
import os
import re
import socket
import subprocess

import checks
import cluster
from suite import case

BERTH = os.path.join(cluster.TOP, "build", "bin", "berth")
Said = collections.namedtuple("Said", "status lines text")


def preflight(world, user, *flags):
    """The command with the kubeconfig of a user everywhere; its exit status and lines."""
    kubeconfig = world.cluster.kubeconfig(user)
    done = subprocess.run(
        [BERTH, "preflight", "--kubeconfig", kubeconfig, "--run-dir", os.path.join(world.directory, "run"),
         "--authentication-kubeconfig", kubeconfig, "--authorization-kubeconfig", kubeconfig,
         "--bind-address=127.0.0.1", "--secure-port=%d" % cluster.free_port()] + list(flags),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    lines = [re.split("  +", line, maxsplit=2) for line in done.stdout.splitlines()]
    return Said(done.returncode, [line for line in lines if line[0] in ("ok", "warn", "FAIL")], done.stdout)


def found(said, finding, check, pattern=""):
    return [line for line in said.lines if line[0] == finding and line[1] == check
            and re.search(pattern, line[2])]


def must_find(said, finding, check, pattern):
    checks.expect(found(said, finding, check, pattern), "no %s %s %s in\n%s", finding, check, pattern,
                  said.text)


def is_berth(world):
    if "{rundir}" in world.options.scheduler:
        return True
    return print("skipped preflight: it is about berth")


def find_versions(world):
    """As which release it would decide: the API server's, the nearest, or the one that is given."""
    world.cluster.become("1.36")
    given = "--emulated-version is not its release, 1.36; decisions are those of 1.37"
    must_find(preflight(world, "scheduler", "--emulated-version=1.37"), "warn", "connection", given)
    for version, finding, text in (("1.38", "warn", "there is no table for 1.38; decisions are those of 1.37"),
                                   ("1.37", "ok", r"v1\.37\.3, .*; decisions are those of 1.37"),
                                   ("1.36", "ok", r"v1\.36\.3, .*; decisions are those of 1.36")):
        world.cluster.become(version)
        must_find(preflight(world, "scheduler"), finding, "connection", text)


@case("preflight", "it has no such command")
def all_is_well(world):
    """With upstream's rights nothing is missing; what is wrong on this machine is told by name."""
    if not is_berth(world):
        return
    said = preflight(world, "scheduler")
    checks.expect(said.status == 0 and not [x for x in said.lines if x[0] == "FAIL"], "%s", said.text)
    checks.expect(re.search(r"^\d+ ok, \d+ warnings, 0 failures$", said.text, re.M), "%s", said.text)
    if world.options.api == "real":
        must_find(said, "ok", "connection", " v%s\\." % re.escape(world.options.release))
        must_find(said, "ok", "clock", "")
        must_find(said, "ok", "kinds", r"^(\d+) of \1 are served")
        must_find(said, "ok", "user", "^system:kube-scheduler$")
    if world.options.api == "small":
        find_versions(world)
    must_find(said, "ok", "lease", "is not there; berth makes it")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen(1)
        said = preflight(world, "scheduler", "--secure-port=%d" % other.getsockname()[1])
    must_find(said, "FAIL", "port", "in use")
    checks.expect(said.status == 1, "a port in use: status %d", said.status)
    for flags, check, text in (
            (["--run-dir=/nowhere/run"], "run directory", "cannot be made"),
            (["--run-dir=/tmp"], "run directory", "others may write"),
            (["--run-dir=/" + "x" * 90], "run directory", "too long"),
            (["--tls-cert-file=/nowhere"], "files", "--tls-cert-file: cannot read /nowhere"),
            (["--kubeconfig=/nowhere"], "kubeconfig", "/nowhere"),
            (["--leader-elect-lease-duration=1s"], "configuration", "leaseDuration")):
        said = preflight(world, "scheduler", *flags)
        must_find(said, "FAIL", check, text)
        checks.expect(said.status == 1, "%s: status %d", flags, said.status)
    said = preflight(world, "scheduler", "--kubeconfg=x")
    checks.expect(said.status == 2, "a bad argument: status %d", said.status)
    port = cluster.free_port()
    said = preflight(world, "scheduler", "--master=https://127.0.0.1:%d" % port)
    must_find(said, "FAIL", "connection", str(port))
    running(world)


def running(world):
    """While one runs, its run directory and its lease are taken."""
    one = world.scheduler()
    checks.wait_until(40, lambda: world.log.leases("system:kube-scheduler"), "nobody leads")
    said = preflight(world, "scheduler", "--run-dir=" + one.rundir)
    must_find(said, "FAIL", "run directory", "in use by another berth run, pid %d" % one.process.pid)
    must_find(said, "ok", "lease", r"is held by \S+ \(renewed \d+ s ago\); berth stands by")


def rules_of(said):
    """The YAML at the end."""
    at = said.text.find("# What ")
    return said.text[at:] if at >= 0 else ""


def apply(world, text, verb="apply"):
    done = subprocess.run(["kubectl", "--kubeconfig", world.cluster.kubeconfig("admin"), verb, "-f", "-"],
                          input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=60)
    checks.expect(done.returncode == 0, "kubectl %s: %s\n%s", verb, done.stdout, text)


@case("preflight-permissions", "it has no such command")
def permissions(world):
    """Without any right each is named, the rules that are printed mend it, and exactly it; then each
    rule is taken away alone."""
    if not is_berth(world) or world.options.api == "small":
        return print("skipped preflight-permissions: the small API server allows everything")
    bare = preflight(world, "nobody")
    checks.expect(bare.status == 1, "without rights: status %d", bare.status)
    apply(world, rules_of(bare))
    whole = None

    def mended():
        """Roles are known to the API server's authorizer one after the other, and not all are needed for status 0."""
        nonlocal whole
        whole = preflight(world, "nobody")
        return whole.status == 0 and not found(whole, "warn", "permissions") and not rules_of(whole)

    try:
        checks.wait_until(20, mended, "the rules do not mend everything")
    except checks.Failed as failed:
        raise checks.Failed("%s:\n%s" % (failed, whole.text)) from None
    for role in ("clusterroles/berth-missing", "clusterroles/berth-missing-authentication-reviews",
                 "clusterroles/berth-missing-authorization-reviews",
                 "namespaces/kube-system/roles/berth-missing-lease",
                 "namespaces/kube-system/roles/berth-missing-authentication-authorities"):
        path = cluster.RBAC + "/" + role
        rules = world.admin.get(path)["rules"]
        for place in range(len(rules)):
            without_one(world, path, rules, place, bare)
        put_rules(world, path, rules)


def put_rules(world, path, rules):
    world.admin.put(path, dict(world.admin.get(path), rules=rules))


def without_one(world, path, rules, place, bare):
    """One rule less: its verbs are missing, no others, and the rule that is printed is the same."""
    rule = rules[place]
    put_rules(world, path, rules[:place] + rules[place + 1:])
    expected = {(verb, rule["resources"][0]) for verb in rule["verbs"]}

    def missing():
        said = preflight(world, "nobody")
        pairs = {tuple(line[2].split(" may not ")[1].split(":")[0].split(" ")[:2])
                 for line in said.lines if line[1] == "permissions" and " may not " in line[2]}
        return said if pairs == expected else None

    said = checks.wait_until(20, missing, "without %s not just that is missing" % rule)
    said = said or preflight(world, "nobody")
    named = "may not %s %s" % (rule["verbs"][0], rule["resources"][0])
    kind = [line for line in bare.lines if named in line[2]]
    checks.expect(said.status == (1 if any(line[0] == "FAIL" for line in said.lines) else 0), "status")
    checks.expect(kind, "%s was not missing at first", rule)
    text = rules_of(said)
    checks.expect("resources: [%s]" % rule["resources"][0] in text
                  and "verbs: [%s]" % ", ".join(rule["verbs"]) in text, "for %s is printed\n%s", rule, text)


@case("preflight-rules", "it has no such command")
def rules(world):
    """compose/kubernetes grants what the program says that it uses."""
    if not is_berth(world):
        return
    printed = subprocess.run([BERTH, "preflight", "--print-rules"], check=True, text=True,
                             stdout=subprocess.PIPE, timeout=20).stdout
    with open(os.path.join(cluster.TOP, "compose", "kubernetes", "rbac", "rules.yaml")) as file:
        checks.expect(file.read() == printed, "compose/kubernetes/rbac/rules.yaml is stale: make docs")

