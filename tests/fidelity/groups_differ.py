#!/usr/bin/env python3
"""PodGroups of scheduling.k8s.io, live: random scenarios (gen_groups.py) with kube-scheduler of a release and
with berth as that release, each on a small API server of its own. After each step, when nobody writes any
more: which pods are on which nodes or nominated, who was evicted, what pods and groups are told, with --claims
which devices claims have and for whom; and with berth, no gang in part.

    groups_differ.py [--release R] [--count N] [--seed S] [--first N] [--lanes N] [--gates G=B,...] [--claims] [--show]

A group's pods are alike, so they are compared as a set. Where scores tie kube-scheduler throws dice, and in a search
for victims each throw may spare others; two programs' clocks differ, too. So a scenario may differ at times: it counts
when it differs in each of ROUNDS lives; in the last one not when only the nodes are others, as victims went one by one.
Ends with `N passed, N failed`.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import time

import gen_groups
import play

sys.path.insert(0, os.path.join(play.TOP, "tests", "e2e"))
import kube  # noqa: E402
import objects  # noqa: E402

ROUNDS = 16  # one that differed in 14 lives of 22 would fail once in a thousand runs
QUIET_SECONDS = 1.9  # longer than the backoff of a second that both are configured for
SETTLE_SECONDS = 40
KNOWN_SECONDS = 0.7  # until both have seen what was created and is no pod and no node
PROBE = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe"}, "spec": {
    "containers": [{"name": "main", "image": "registry.example/app:1"}], "nodeSelector": {"example.com/nowhere": "x"}}}
# kube-scheduler puts the pods that waited for their group into its queue one by one, and may take the group out with
# only some of them. With one thread for all of its Go code they are all there before anybody looks.
AT_ONCE = {"GOMAXPROCS": "1"}
PATIENCE_SECONDS = 8  # a backoff may be over when the other program's was not yet
GATES = {"1.36": "GenericWorkload=true,GangScheduling=true", "1.37": "GenericWorkload=true,DRADeviceTaintRules=false"}
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
CLAIMS = "/apis/%s/namespaces/default/resourceclaims" % gen_groups.DEVICES
SLICES = "/apis/%s/resourceslices" % gen_groups.DEVICES
DEVICE_CLASSES = "/apis/%s/deviceclasses" % gen_groups.DEVICES
TREES = "/apis/%s/namespaces/default/compositepodgroups" % gen_groups.TREES


class Side:
    """A small API server and a scheduler on it."""

    def __init__(self, release, gates, command, folder):
        self.path = "/apis/scheduling.k8s.io/%s/namespaces/default/podgroups" % gen_groups.VERSIONS[release]
        self.trees = "CompositePodGroup=true" in gates
        os.makedirs(folder)
        self.log = open(os.path.join(folder, "log"), "wb")
        kubeconfig, config = os.path.join(folder, "kubeconfig"), os.path.join(folder, "config.yaml")
        api = [os.path.join(play.TOP, "build", "bin", "apiserver"), "--write-kubeconfig", kubeconfig, "--version", release,
               "--runtime-config=scheduling.k8s.io/%s=true" % gen_groups.VERSIONS[release] +
               (",%s=true" % gen_groups.TREES if self.trees else "")]
        self.processes = [subprocess.Popen(api, stdout=self.log, stderr=self.log)]
        self.wait(20, lambda: os.path.exists(kubeconfig) and os.path.getsize(kubeconfig), "no API server")
        self.client = kube.Client(kubeconfig)
        for name, value in gen_groups.CLASSES.items():
            self.client.create(CLASSES, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                         "metadata": {"name": name}, "value": value})
        self.client.create(DEVICE_CLASSES, {"apiVersion": gen_groups.DEVICES, "kind": "DeviceClass",
                                            "metadata": {"name": "gpu"}, "spec": {}})
        with open(config, "w") as file:
            file.write(objects.configuration(kubeconfig, json_only=True, backoff=1))
        self.processes.append(subprocess.Popen(
            [word.format(config=config, rundir=os.path.join(folder, "run")) for word in command] +
            ["--feature-gates=" + gates], stdout=self.log, stderr=self.log, env=dict(os.environ, **AT_ONCE)))

    def ready(self):
        self.wait(180, lambda: any(lease["spec"].get("holderIdentity") for lease in self.client.list(kube.LEASES)[0]),
                  "no leader")

    def wait(self, seconds, condition, what):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline or any(p.poll() is not None for p in self.processes):
                raise RuntimeError(what + ": " + self.log.name)
            time.sleep(0.05)

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        self.log.close()

    # ---- what happens ----

    def path_of(self, kind):
        return {"Node": kube.NODES, "Pod": kube.PODS, "PodGroup": self.path, "PodDisruptionBudget": BUDGETS,
                "CompositePodGroup": TREES, "ResourceClaim": CLAIMS, "ResourceSlice": SLICES}[kind]

    def create(self, body):
        path = self.path_of(body["kind"])
        self.client.create(path, body)
        if body["kind"] in ("Pod", "PodDisruptionBudget", "ResourceClaim") and "status" in body:
            self.client.request("PATCH", "%s/%s/status" % (path, body["metadata"]["name"]), {"status": body["status"]},
                                content="application/merge-patch+json")

    def delete(self, name):
        try:
            self.client.delete(kube.PODS + "/" + name)
        except kube.ApiError as error:
            if error.status != 404:
                raise

    def until_known(self):
        """A scheduler is told of pods in their order: it knows all when it has said of a later one that no node
        takes it, and of how many nodes. However busy the machine is."""
        told = "0/%d nodes are available" % len(self.client.list(kube.NODES)[0])
        message, deadline = "", time.monotonic() + 120
        while not message.startswith(told):
            if time.monotonic() > deadline:
                raise RuntimeError("not all nodes are known: %s: %s" % (message, self.log.name))
            self.create(PROBE)
            self.wait(60, self.probed, "no word on a pod")
            message = condition(self.client.get(kube.PODS + "/probe"), "PodScheduled")[2]
            self.delete("probe")

    def probed(self):
        return condition(self.client.get(kube.PODS + "/probe"), "PodScheduled")

    def going(self):
        return sorted(p["metadata"]["name"] for p in self.client.list(kube.PODS)[0] if "deletionTimestamp" in p["metadata"])

    def do(self, step):
        """False: there was nothing to do. A group that comes after its pods comes when all of them are known:
        pods and groups are watched apart, and whoever sees the group first tries it with fewer. Claims, too."""
        done, pods, claims = False, False, False
        for verb, what in step:
            if verb == "create" and claims and what["kind"] == "Pod":
                time.sleep(KNOWN_SECONDS)
            claims = verb == "create" and what["kind"] in ("ResourceClaim", "ResourceSlice")
            if verb == "create" and pods and what["kind"] in ("PodGroup", "CompositePodGroup"):
                self.until_known()
            pods |= verb == "create" and what["kind"] == "Pod"
            names = {"delete": lambda: [what], "finish": self.going}.get(verb, lambda: [])()
            for name in names:
                self.delete(name)
            if verb == "finish":
                self.give_back()
            if verb == "create":
                self.create(what)
            done |= verb == "create" or bool(names)
        return done

    def give_back(self):
        """As the controller of claims: for pods and groups that have gone nothing is reserved, and a claim that nobody
        has reserved any more has no devices."""
        there = {item["metadata"]["uid"] for path in (kube.PODS, self.path) for item in self.client.list(path)[0]}
        for claim in self.client.list(CLAIMS)[0]:
            old = claim.get("status", {}).get("reservedFor") or []
            left = [r for r in old if r["uid"] in there or r["uid"] == "gone"]
            if left != old:
                status = {"reservedFor": left} if left else {"reservedFor": None, "allocation": None}
                self.client.request("PATCH", "%s/%s/status" % (CLAIMS, claim["metadata"]["name"]), {"status": status},
                                    content="application/merge-patch+json")

    def settle(self):
        """All pods, groups and claims, when nothing has changed for a while."""
        seen, since, deadline = None, time.monotonic(), time.monotonic() + SETTLE_SECONDS
        while True:
            trees = self.client.list(TREES)[0] if self.trees else []
            all_there = self.client.list(kube.PODS)[0], self.client.list(self.path)[0] + trees, self.client.list(CLAIMS)[0]
            versions = [[item["metadata"]["resourceVersion"] for item in items] for items in all_there]
            now = time.monotonic()
            if versions != seen:
                seen, since = versions, now
            if now - since >= QUIET_SECONDS or now > deadline:
                return all_there
            time.sleep(0.2)

    def clear(self):
        """For the next scenario: pods first, so that nobody is tried without a node."""
        for path in (kube.PODS, self.path, CLAIMS, SLICES, BUDGETS, kube.NODES) + ((TREES,) if self.trees else ()):
            for item in self.client.list(path)[0]:
                self.remove(path + "/" + item["metadata"]["name"], item["metadata"].get("finalizers"))

    def remove(self, one, held):
        try:
            if held:
                self.client.request("PATCH", one, {"metadata": {"finalizers": None}},
                                    content="application/merge-patch+json")
            self.client.delete(one)
        except kube.ApiError as error: # a scheduler deletes claims, too
            if error.status != 404:
                raise


# ---- what is compared ------------------------------------------------------------------------------


# Whether kube-scheduler tries a group again while its victims go depends on how fast it evicts them. So does what
# it says then: in 1.36 of the group, and of its pods when they are tried again.
ROOM_IS_MADE = re.compile(r"(?:pod group preemption: (?:found a placement for podgroup, preempting \d+ victims|"
                          r"ongoing preemption on nominated nodes)|, pod group is waiting for preemption to complete$|"
                          r" no new claims to deallocate, preemption: not eligible due to a terminating pod on the "
                          r"nominated node\.$)")


# Of several domains it speaks of the one that it tried first, and that is left to chance.
FIRST_DOMAIN = re.compile(r"(0/(?!1 )\d+ placements are available, first placement status: ).*?(?=, pod group preemption: |$)")


def said(message):
    return FIRST_DOMAIN.sub(r"\1", ROOM_IS_MADE.sub("", message or ""))


def condition(item, kind):
    for c in item.get("status", {}).get("conditions") or []:
        if c["type"] == kind:
            return [c["status"], c.get("reason", ""), said(c.get("message"))]
    return None


def of_pod(pod, loosely):
    told = condition(pod, "PodScheduled")
    if loosely and told and told[0] == "False" and pod["spec"].get("schedulingGroup"):
        told = told[:2]
    return [pod["spec"].get("nodeName", ""), pod.get("status", {}).get("nominatedNodeName", ""),
            "deletionTimestamp" in pod["metadata"], told, condition(pod, "DisruptionTarget")]


def above(group, trees):
    """The CompositePodGroups above it."""
    while True:
        group = trees.get(group["spec"].get("parentCompositePodGroupName"))
        if group is None:
            return
        yield group


def of_group(group, below_chance):
    """1.36 may write what it says of those that are left over a status that it has not seen yet. Below a group
    that is tried in several domains what is said of a group is what came of it in the first."""
    def words(c):
        message = said(c.get("message")) if c["status"] == "False" else ""
        return message.split("0/")[0].split("minCount")[0].split("no feasible")[0] if below_chance else message
    return [[c["type"], c["status"], c.get("reason"), words(c), c.get("observedGeneration")]
            for c in group.get("status", {}).get("conditions") or []]


def of_claim(claim, owners):
    """What it has, and for whom. Alike pods of a group may have each other's devices and node."""
    status = claim.get("status") or {}
    given = sorted([r["pool"], r["device"]] for r in status.get("allocation", {}).get("devices", {}).get("results", []))
    reserved = sorted([r["resource"], owners.get(r["uid"], "gone")] for r in status.get("reservedFor") or [])
    return [given, reserved, "finalizers" in claim["metadata"]]


def seen(there, release):
    """1.36 tries a group with a pod that has a place again and again, without a pause, and what is left of one
    attempt in its snapshot takes room in the next: so what it says of single pods is left to chance there."""
    pods, groups, claims = there
    found = collections.defaultdict(list)
    trees = {g["metadata"]["name"]: g for g in groups if g["kind"] == "CompositePodGroup"}
    below = {g["metadata"]["name"] for g in groups if any("schedulingConstraints" in t["spec"] for t in above(g, trees))}
    chance = below | {g["metadata"]["name"] for g in groups if "schedulingConstraints" in g["spec"]}
    for pod in pods:
        name = pod["metadata"]["name"]
        owner = name.split("-")[0] if "-" in name else name
        loosely = release == "1.36" or pod["spec"].get("schedulingGroup", {}).get("podGroupName") in chance
        found["pods " + owner].append(of_pod(pod, loosely))
    owners = {p["metadata"]["uid"]: p["metadata"]["name"].split("-")[0] for p in pods + groups}
    for claim in claims:
        found["claims " + claim["metadata"]["name"].split("-")[0]].append(of_claim(claim, owners))
    for group in groups:
        name = group["metadata"]["name"]
        found["group " + name] = of_group(group, name in below or name in trees)
    return {owner: sorted(items, key=json.dumps) for owner, items in found.items()}


SCHEDULED = ("PodGroupScheduled", "PodGroupInitiallyScheduled")


def placed_after_all(told, there, gangs):
    """kube-scheduler may say of a group that it has no place after it has said that it has one: of a member that is
    left over, tried again before it sees its own status. Where enough are on nodes that counts as said once."""
    on_nodes = placed(there)
    for owner, items in told.items():
        kind, _, name = owner.partition(" ")
        if kind == "group" and on_nodes[name] >= gangs.get(name, 1):
            told[owner] = [[item[0], "True", "Scheduled", "", item[4]]
                           if item[0] in SCHEDULED and item[1:3] == ["False", "Unschedulable"] else item for item in items]
    return told


def victims(there):
    return {p["metadata"]["name"] for p in there[0] if condition(p, "DisruptionTarget")}


def placed(there):
    return collections.Counter(p["metadata"]["name"].split("-")[0] for p in there[0] if p["spec"].get("nodeName"))


def differ_on_purpose(upstream, ours):
    """What 1.36 alone does, and berth does not (scheduler/README.md): it evicts for each pod of a group, also where
    the group has no room in the end; and it finds no room for a pod where an attempt before left some taken in its
    snapshot. What follows differs, too. Else None."""
    if victims(upstream) > victims(ours):
        return "kube-scheduler evicts in vain"
    if victims(upstream) == victims(ours) and placed(upstream) != placed(ours) and not placed(upstream) - placed(ours):
        return "kube-scheduler leaves room unused"
    return None


FORGOTTEN = ["False", "Unschedulable", "pod group is unschedulable"]


def forgets(upstream, ours):
    """Of a tree that has all that it needs, but no place for a late pod, kube-scheduler forgets why that pod has
    none: if it evicts for it, nothing wakes it when the victims have gone, and it waits for minutes. Else None."""
    nodes = [{p["metadata"]["name"]: p["spec"].get("nodeName") for p in there[0]} for there in (upstream, ours)]
    late = {p["metadata"]["name"] for p in upstream[0] if not p["spec"].get("nodeName") and
            condition(p, "PodScheduled") == FORGOTTEN and p.get("status", {}).get("nominatedNodeName")}
    behind = {name for name, node in nodes[1].items() if node and not nodes[0].get(name)}
    if behind and behind <= late and victims(upstream) == victims(ours):
        return "kube-scheduler forgets why a pod of a tree has no place"
    return None


def left_asleep(upstream, ours):
    """Names of pods of groups that kube-scheduler has not tried yet, as the group that they came to sleeps, and that
    have been told here that there is no place. Where one had a place that is a difference."""
    told = [{p["metadata"]["name"]: condition(p, "PodScheduled") for p in there[0]} for there in (upstream, ours)]
    return {p["metadata"]["name"] for p in upstream[0] if p["spec"].get("schedulingGroup") and
            told[0][p["metadata"]["name"]] is None and (told[1].get(p["metadata"]["name"]) or [None])[0] == "False"}


def but_for(names, there):
    return ([p for p in there[0] if p["metadata"]["name"] not in names],) + tuple(there[1:])


def but_for_nodes(told):
    """What is seen, without which node it is: how many have one, or are nominated to one, stays; devices as well."""
    def one(owner, item):
        if owner.startswith("pods "):
            return [bool(item[0]), bool(item[1])] + item[2:]
        return [len(item[0])] + item[1:] if owner.startswith("claims ") else item
    return {owner: sorted((one(owner, item) for item in items), key=json.dumps) for owner, items in told.items()}


def partial(there, gangs, created):
    """Gangs of which some are on nodes, but too few, though none of their pods has gone."""
    owners = [(p["metadata"]["name"].split("-")[0], p) for p in there[0]]
    on_nodes = collections.Counter(name for name, p in owners if p["spec"].get("nodeName"))
    pods = collections.Counter(name for name, _ in owners)
    return ["%s: %d of at least %d are on nodes" % (name, on_nodes[name], least) for name, least in gangs.items()
            if 0 < on_nodes[name] < least and pods[name] >= created[name]]


def differences(upstream, ours):
    lines = []
    for owner in sorted(set(upstream) | set(ours)):
        wanted, got = upstream.get(owner), ours.get(owner)
        if wanted != got:
            lines += ["  " + owner] + ["    - " + json.dumps(item) for item in wanted or []] + \
                     ["    + " + json.dumps(item) for item in got or []]
    return lines


# ---- a scenario ------------------------------------------------------------------------------------


class Lane:
    """One of each, for one scenario after the other."""

    def __init__(self, args, folder):
        self.release = args.release
        self.rounds, self.trees = args.rounds, "CompositePodGroup=true" in args.gates
        self.loosely = args.release == "1.36" and "WorkloadAwarePreemption=true" not in args.gates
        berth = [play.BERTH, "run", "--config", "{config}", "--run-dir", "{rundir}", "--secure-port", "0"]
        real = [play.kube_scheduler_of(args.release), "--config", "{config}", "--secure-port", "0"]
        self.sides = [Side(args.release, args.gates, command, os.path.join(folder, name))
                      for name, command in (("upstream", real), ("ours", berth))]
        self.both = concurrent.futures.ThreadPoolExecutor(2)

    def ready(self):
        self.each(Side.ready)

    def stop(self):
        for side in self.sides:
            side.stop()

    def each(self, action):
        return list(self.both.map(action, self.sides))

    def seen_of(self, upstream, ours, gangs):
        return placed_after_all(seen(upstream, self.release), upstream, gangs), seen(ours, self.release)

    def compare(self, gangs):
        """Both when they have settled, and are alike; or what they are after some patience."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            upstream, ours = self.each(Side.settle)
            wanted, got = self.seen_of(upstream, ours, gangs)
            if wanted == got or time.monotonic() > deadline:
                return upstream, ours

    def play(self, scenario, show, last):
        """What differs first, as lines; none: nothing does. A text: why it ended before its end. In the last round
        it may be that victims went one by one, and who was faster placed a group before all had gone."""
        self.each(Side.clear)
        self.each(lambda side: [side.create(body) for body in scenario["given"]])
        time.sleep(KNOWN_SECONDS)
        self.each(Side.until_known)
        created = collections.Counter()
        for at, step in enumerate(scenario["steps"]):
            done = self.each(lambda side: side.do(step))
            if not any(done):
                continue
            upstream, ours = self.compare(scenario["gangs"])
            told = ["%s %s" % (verb, what if isinstance(what, str) else (what or {}).get("metadata", {}).get("name", ""))
                    for verb, what in step]
            created.update(what["metadata"]["name"].split("-")[0] for verb, what in step
                           if verb == "create" and what["kind"] == "Pod")
            lines = differences(*self.seen_of(upstream, ours, scenario["gangs"]))
            broken = partial(ours, scenario["gangs"], created)
            if show:
                print("scenario %d step %d: %s" % (scenario["number"], at, ", ".join(told)))
                print(json.dumps(seen(upstream, self.release), indent=1))
            why = differ_on_purpose(upstream, ours) if lines and not broken and self.loosely else None
            if lines and not broken and self.trees:
                why = forgets(upstream, ours)
            asleep = left_asleep(upstream, ours) if lines and not broken and self.release != "1.36" else ()
            if asleep and not differences(*self.seen_of(but_for(asleep, upstream), but_for(asleep, ours),
                                                        scenario["gangs"])):
                why = "kube-scheduler has not tried a late pod of a group that sleeps"
            if last and lines and not broken and ("finish", None) in step:
                wanted, got = self.seen_of(upstream, ours, scenario["gangs"])
                if but_for_nodes(wanted) == but_for_nodes(got):
                    why = "a group is on other nodes, as its victims go one by one"
            if why:
                return why
            lines += broken
            if lines:
                return ["  step %d: %s" % (at, ", ".join(told))] + lines
        return []


def judge(lane, scenario, show):
    """(passed, what to print)"""
    for attempt in range(lane.rounds):
        lines = lane.play(scenario, show, attempt == lane.rounds - 1)
        if isinstance(lines, str):
            return True, ["ok %d, until %s" % (scenario["number"], lines)]
        if not lines:
            again = " (differed %d times before)" % attempt if attempt else ""
            return True, ["ok %d%s" % (scenario["number"], again)]
    return False, ["FAILED %d" % scenario["number"]] + lines


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--release", default=play.RELEASES[0], choices=play.RELEASES)
    p.add_argument("--count", type=int, default=20)
    p.add_argument("--first", type=int, default=0, help="the number of the first scenario")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--lanes", type=int, default=3, help="scenarios that are played at the same time")
    p.add_argument("--gates", help="of both programs; default: those that PodGroups need")
    p.add_argument("--rounds", type=int, default=ROUNDS, help="lives that a scenario has until it counts as different")
    p.add_argument("--claims", action="store_true", help="nodes have devices, and pods ask for them")
    p.add_argument("--show", action="store_true", help="what kube-scheduler does after each step")
    p.add_argument("--keep", help="folder for logs")
    args = p.parse_args()
    args.gates = args.gates or GATES[args.release]
    return args


def main():
    args = arguments()
    folder = args.keep or tempfile.mkdtemp(prefix="berth-groups-")
    lanes, made, passed, failed = queue.Queue(), [], 0, 0
    try:
        for number in range(min(args.lanes, args.count)):
            made.append(Lane(args, os.path.join(folder, str(number))))
            made[-1].ready()
            lanes.put(made[-1])

        def one(number):
            lane = lanes.get()
            try:
                return judge(lane, gen_groups.scenario(args.release, args.gates, args.seed, number, args.claims), args.show)
            finally:
                lanes.put(lane)

        with concurrent.futures.ThreadPoolExecutor(len(made)) as pool:
            for good, lines in pool.map(one, range(args.first, args.first + args.count)):
                print("\n".join(lines), flush=True)
                passed, failed = passed + good, failed + (not good)
    finally:
        for lane in made:
            lane.stop()
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
