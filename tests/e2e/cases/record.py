"""A running berth is recorded into one file, which proves that the same is decided again, and names where it is not."""
import json
import os
import re
import signal
import subprocess
import threading
import time
import xml.dom.minidom

import checks
import cluster
import gang
import kube
import objects
from cases.explain import explained
from cases.extenders import Extender
from cases.recorded import write
from suite import case

NODES = 20
NOT_UPSTREAM = "only berth records what it does"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
BERTH = os.path.join(cluster.TOP, "build", "bin", "berth")
SECONDS = 6
LIVES = ("watcher.1", "queue.1", "scheduler.1", "worker-0.1", "worker-1.1", "binder.1")


def pod(name, requests, **spec):
    """One that is gone as soon as it is deleted: there is no kubelet."""
    return objects.pod(name, requests, terminationGracePeriodSeconds=0, **spec)


class Churn(threading.Thread):
    """Pods that come and go, some of which have no room but for others'."""

    def __init__(self, world):
        super().__init__(daemon=True)
        self.world, self.over, self.made, self.failed = world, threading.Event(), 0, None

    def run(self):
        try:
            while not self.over.wait(0.03):
                self.step(self.made)
                self.made += 1
        except Exception as error:  # told by the case
            self.failed = error

    def step(self, number):
        admin = self.world.admin
        admin.create(kube.PODS, pod("churn-%d" % number, {"cpu": "300m", "memory": "200Mi"}))
        if number % 20 == 19:
            admin.create(kube.PODS, pod("urgent-%d" % number, {"cpu": "3"}, priorityClassName="urgent"))
        if number >= 40 and number % 2:
            self.delete("churn-%d" % (number - 40))

    def delete(self, name):
        """It may have been a victim before."""
        try:
            self.world.admin.delete(kube.PODS + "/" + name)
        except kube.ApiError as error:
            if error.status != 404:
                raise

    def end(self):
        self.over.set()
        self.join(10)
        checks.expect(self.failed is None, "the churn failed: %s", self.failed)


def record(scheduler, path, *flags):
    return subprocess.Popen([BERTH, "record", "--run-dir", scheduler.rundir, "-o", path, *flags], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def replay(path, *flags):
    """(exit status, what it says as JSON)"""
    done = subprocess.run([BERTH, "replay", path, "-o", "json", *flags], capture_output=True, text=True, timeout=120,
                          check=False)
    checks.expect(done.stdout, "berth replay says nothing: %s", done.stderr)
    return done.returncode, json.loads(done.stdout)


def busy(world, name="subject"):
    """Full nodes, a scheduler and what comes while it runs."""
    gang.install(world.admin, world.options.api == "small")
    world.admin.create(CLASSES, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                 "metadata": {"name": "urgent"}, "value": 1000})
    objects.small_nodes(world.admin, NODES)
    pods = world.pods()
    scheduler = world.scheduler(name, backoff=1)
    world.admin.create_many(kube.PODS, (pod("filler-%d" % i, {"cpu": "3"}) for i in range(NODES)))
    checks.expect(pods.wait(60, lambda items: objects.bound(items) == NODES), "the nodes are not full")
    return scheduler, pods


def read_back(path, pods):
    """berth tap --read shows from the recording how a pod came to its node."""
    uid, node = next((uid, node) for name, (uid, node, _) in sorted(pods.items.items()) if name.startswith("group") and node)
    done = subprocess.run([BERTH, "tap", "--read", path, "-o", "json"], capture_output=True, text=True, timeout=60, check=False)
    checks.expect(done.returncode == 0 and not done.stderr, "it cannot be read: %s", done.stderr)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    binds = [each for each in told if each["message"] == "bind" and each["body"]["uid"] == uid]
    checks.expect(len(binds) == 1 and binds[0]["body"]["node_name"] == node and binds[0]["from"] == "scheduler" and
                  binds[0]["to"] == "binder", "how %s came to %s: %s", uid, node, binds)


def planted(directory):
    """A folder of programs of which the scheduler's has another rule, by one bit."""
    folder = os.path.join(directory, "programs")
    made = os.path.join("build", "release", "tests", "planted", "berth-scheduler")
    done = subprocess.run(["make", "-s", made], cwd=cluster.TOP, capture_output=True, text=True, timeout=300, check=False)
    checks.expect(done.returncode == 0, "the planted program is not built: %s", done.stderr)
    os.mkdir(folder)
    for program in ("berth-watcher", "berth-queue", "berth-binder"):
        os.symlink(os.path.join(cluster.TOP, "build", "bin", program), os.path.join(folder, program))
    os.symlink(os.path.join(cluster.TOP, made), os.path.join(folder, "berth-scheduler"))
    return folder


@case("record", not_upstream=NOT_UPSTREAM)
def recording(world):
    """Churn with a group, preemptions and another configuration is recorded while it goes on: played back, all
    lives say the same; another rule and a changed byte are named; and berth was there all the time."""
    scheduler, pods = busy(world)
    path = os.path.join(world.directory, "day")
    churn = Churn(world)
    churn.start()
    before = scheduler.pids()
    command = record(scheduler, path, "--for", "90s")
    checks.expect("recording for" in command.stdout.readline(), "it does not begin")
    time.sleep(SECONDS / 3)
    gang.create(world, gang.X, "group", 3, 3, {"cpu": "500m"}, priorityClassName="urgent")
    write(scheduler.config, objects.configuration(scheduler.kubeconfig, backoff=2))
    os.kill(scheduler.process.pid, signal.SIGHUP)
    checks.expect(pods.wait(60, lambda items: sum(name.startswith("group") and bool(item[1]) for name, item in items.items()) == 3),
                  "the group does not start: %s", pods.items)
    time.sleep(2 * SECONDS / 3)
    command.send_signal(signal.SIGINT)
    said, _ = command.communicate(timeout=60)
    checks.expect(command.returncode == 0 and re.search(r"day: 6 lives in \d+\.\d s, \d+ bytes of \d+", said),
                  "it ended with %s: %s", command.returncode, said)
    after = scheduler.pids()
    churn.end()
    checks.expect(before["berth"] == after["berth"] and before["scheduler"] != after["scheduler"],
                  "who lives: %s, %s", before, after)
    checks.expect(not os.path.exists(path + ".parts"), "journals are left behind")
    status, found = replay(path)
    checks.expect(status == 0 and found["identical"] and not found["partly"], "not identical: %s", found)
    lives = {member["life"]: member for member in found["members"]}
    checks.expect(sorted(lives) == sorted(LIVES), "these lives: %s", sorted(lives))
    checks.expect(lives["scheduler.1"]["decisions"] > 10, "so few decisions: %s", found)
    print("    record: %d decisions, %.1f s played in %.2f s" %
          (found["decisions"], found["recordedSeconds"], found["playedSeconds"]), flush=True)
    read_back(path, pods)
    original = os.path.join(world.directory, "original.yaml")
    write(original, objects.configuration(scheduler.kubeconfig, backoff=1))
    status, found = replay(path, "--config", original)
    share = found["modelAsRecorded"] / found["model"]["pods"]
    print("    record: the model puts %.1f %% of %d pods where they went" % (100 * share, found["model"]["pods"]), flush=True)
    checks.expect(status == 0 and not found["pods"] and share > 0.6, "the model is another one: %s", found)
    status, found = replay(path, "--programs", planted(world.directory))
    checks.expect(status == 1 and re.match(r"worker-\d\.1 about pod default/\S+, which went to node-\d+: entry \d+, \S+Z: map_\w+ to scheduler differs in ",
                                           found.get("firstDifference", "")), "another rule: %s", found)
    print("    record: %s" % found["firstDifference"].split("\n")[0], flush=True)
    checks.expect(scheduler.terminate() == 0, "berth did not end well")


# ---- one file after the other --------------------------------------------------------------------------


@case("record-rotate", not_upstream=NOT_UPSTREAM)
def rotated(world):
    """A recording that has become large goes on in another file: the last ones are kept, each comes out identical by
    itself, every decision is in exactly one of them, and each says that it is not all."""
    scheduler, pods = busy(world)
    path = os.path.join(world.directory, "day")
    bound = {uid for uid, node, _ in pods.items.values() if node}
    command = record(scheduler, path, "--for", "60s", "--most", "20KiB", "--keep", "2")
    checks.expect("recording for" in command.stdout.readline(), "it does not begin")
    churn = Churn(world)
    churn.start()
    said = [command.stdout.readline() for _ in range(3)]
    churn.end()
    time.sleep(1)
    command.send_signal(signal.SIGINT)
    rest, _ = command.communicate(timeout=60)
    checks.expect(command.returncode == 0, "it ended with %s: %s", command.returncode, rest)
    checks.expect([line.split(":")[0].rsplit(".", 1)[1] for line in said] == ["1", "2", "3"], "it said: %s", said)
    files = sorted(os.path.join(world.directory, name) for name in os.listdir(world.directory) if name.startswith("day."))
    checks.expect(len(files) == 2 and files[-1].endswith(".4"), "these are kept: %s", files)
    checks.expect(scheduler.terminate() == 0, "berth did not end well")
    told = []
    for number, name in enumerate(files):
        status, found = replay(name)
        checks.expect(status == 0 and found["identical"] and not found["partly"] and found["lives"] == 6, "not identical: %s", found)
        checks.expect(found["part"] == 3 + number and found["endedBy"] == ("request" if number else "rotation"), "it ended: %s", found)
        done = subprocess.run([BERTH, "tap", "--read", name, "-o", "json"], capture_output=True, text=True, timeout=60, check=False)
        told += [each["body"]["uid"] for each in map(json.loads, done.stdout.splitlines())
                 if each["message"] == "bind" and each["from"] == "scheduler"]
    checks.expect(len(told) > 3 and len(told) == len(set(told)) and not bound & set(told), "these were bound: %s", told)
    text = subprocess.run([BERTH, "replay", files[0]], capture_output=True, text=True, timeout=60, check=False).stdout
    checks.expect("this is part 3 of a recording" in text and "goes on in another file" in text, "it says: %s", text)
    print("    record-rotate: %s" % said[1].strip(), flush=True)


# ---- explanations out of a recording -------------------------------------------------------------------


LICENCE = "example.com/licence"
WEIGHT = 7


class Licences(Extender):
    """Cares about pods that want a licence: there is none on node-3 nor for the pod "refused", and it is best on one node."""

    def __init__(self, world, node):
        super().__init__(world, node)
        self.refuses = True

    def answer(self, path, args):
        names = args["NodeNames"]
        if path == "/prioritize":
            return [{"Host": name, "Score": 10 * (name == self.node)} for name in names]
        none = self.refuses and args["Pod"]["metadata"]["name"] == "refused"
        refused = {name: "no licence is left" for name in names if none or name == "node-3"}
        return {"NodeNames": [name for name in names if name not in refused], "FailedNodes": refused}

    def says(self, **more):
        return super().says(prioritizeVerb="prioritize", weight=WEIGHT,
                            managedResources=[{"name": LICENCE, "ignoredByScheduler": True}], **more)


def timeless(explanation, *without):
    """Without what is of the moment, and what a recording alone says."""
    without += ("at", "decidedAt", "asDecided")
    kept = {key: value for key, value in explanation.items() if key not in without}
    if "queue" in kept:
        kept["queue"] = {key: value for key, value in kept["queue"].items() if key not in ("waiting_ms", "backoff_ms")}
    return kept


def look_at_same(told, live, *without):
    """The same is said, but for these members."""
    told, live = timeless(told, *without), timeless(live, *without)
    for key in sorted(told.keys() | live.keys()):
        checks.expect(told.get(key) == live.get(key), "of %s its %s was said to be\n%s\nand is read to be\n%s", live["name"], key,
                      live.get(key), told.get(key))


def read_explained(path, *words):
    done = subprocess.run([BERTH, "explain", *words, "--read", path, "-o", "json"], capture_output=True, text=True, timeout=120,
                          check=False)
    checks.expect(done.returncode == 0, "berth explain %s ended with %s: %s", words, done.returncode, done.stderr)
    return json.loads(done.stdout)


def wall():
    """RFC 3339 with microseconds."""
    now = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + ".%06dZ" % (now % 1 * 1e6)


def wait_for_others(world, pods):
    """A group of three that has room for two, a pod that an extender has sent elsewhere, and one that it lets go nowhere."""
    gang.create(world, gang.X, "trio", 3, 3, {"cpu": "4"}, nodeSelector={"pool": "two"})
    checks.expect(pods.wait(30, lambda items: "trio-0" in items and items["trio-0"][2]), "trio-0 was not told of")
    world.admin.create(kube.PODS, pod("beside", {"cpu": "200m"}, nodeSelector={"pool": "two"}))
    for name in ("licensed", "refused"):
        world.admin.create(kube.PODS, pod(name, {"cpu": "500m", LICENCE: "1"}))
    checks.expect(pods.wait(30, lambda items: "beside" in items and items["beside"][1]), "beside has no node")
    checks.expect(pods.wait(30, lambda items: "licensed" in items and items["licensed"][1]), "licensed has no node")
    checks.expect(pods.wait(30, lambda items: "refused" in items and items["refused"][2]), "refused was not told of")


def look_at_group(path, live, then):
    """What the group as one was told it is told out of the recording, and not what it would be told when it has grown."""
    told = read_explained(path, "trio-0", "--nodes", "--at", then)
    checks.expect([step["result"] for step in live["groupNow"]] == ["scheduled", "scheduled", "unschedulable", "unschedulable"],
                  "of the group it was said %s", live["groupNow"])
    look_at_same(told, live, "now", "note")  # by itself it is decided as when it was last tried, before "beside" came
    checks.expect(told["now"] != live["now"] and "groupNote" in told, "nobody is said not to be asked: %s", told)
    end = read_explained(path, "trio-0")
    checks.expect(len(end["groupNow"]) == 5 and sorted(end["podGroup"]["others"]) == ["trio-1", "trio-2", "trio-3"],
                  "of trio-0 at the end: %s", end)
    done = subprocess.run([BERTH, "explain", "trio-0", "--read", path, "--at", then], capture_output=True, text=True, timeout=60,
                          check=False)
    checks.expect("\nDecided then as one, with its group:\n" in done.stdout and "PodGroup default/trio" in done.stdout,
                  "of trio-0 it says: %s", done.stdout)


def look_at_extender(path, extender, live, then):
    """What it answered is told, and with that it is decided as it was; the live answer says that it was not asked."""
    url = extender.says()["urlPrefix"]
    unasked = "Nobody has asked these, who have a say in it: " + url
    told = {name: read_explained(path, name, "--nodes", "--at", then) for name in ("licensed", "refused")}
    for name, each in told.items():
        look_at_same(each, live[name], "now", "note", "extenders")
        checks.expect(live[name]["note"] == unasked and each["asDecided"] and
                      each["note"] == "Extenders were not asked again: what they had answered then counts.",
                      "of %s it is noted: %s, %s", name, live[name]["note"], each)
        last = each["extenders"][-1]
        checks.expect([ref["url"] for ref in last["question"]["extenders"]] == [url] and last["askedAt"] <= last["answeredAt"] <= then,
                      "of %s it was asked: %s", name, last)
    last, now = told["licensed"]["extenders"][-1], told["licensed"]["now"][0]
    checks.expect(last["question"]["nodes"] == ["node-0", "node-1", "node-2", "node-3"] and
                  last["answer"]["nodes"] == ["node-0", "node-1", "node-2"] and
                  last["answer"]["scores"] == [{"node": "node-1", "score": 100 * WEIGHT}], "it was asked: %s", last)
    nodes = {each["name"]: each for each in now["nodes"]}
    decision = told["licensed"]["scheduler"]["decisions"][0]
    checks.expect(live["licensed"]["node"] == "node-1" and now["bestNodes"] == ["node-1"] and
                  nodes["node-1"]["total"] == decision["score"] and
                  nodes["node-3"]["filter"] == {"code": "Unschedulable", "plugin": "Extender", "reasons": ["no licence is left"]} and
                  nodes["tainted"]["filter"]["plugin"] == "TaintToleration", "licensed was decided so: %s", now)
    checks.expect("node-1" not in live["licensed"]["now"][0]["bestNodes"], "the extender makes no difference: %s", live["licensed"])
    now = told["refused"]["now"][0]
    checks.expect(now["result"] == "unschedulable" and "4 no licence is left" in now["message"] and
                  live["refused"]["now"][0]["result"] == "scheduled", "refused was decided so: %s", now)
    done = subprocess.run([BERTH, "explain", "refused", "--read", path, "--at", then], capture_output=True, text=True, timeout=60,
                          check=False)
    checks.expect("  %s: which of 4 nodes? 0 are left\n       4 nodes  no licence is left\n" % url in done.stdout and
                  "It comes out as it was decided." in done.stdout, "of refused it says: %s", done.stdout)
    end = read_explained(path, "refused")
    checks.expect(end["asDecided"] and end["now"][0]["result"] == "scheduled" and end["extenders"][-1]["answer"]["nodes"],
                  "of refused at the end: %s", end)


def later_day(world, pods):
    """What happens behind the explanations: the chosen nodes fill up, a pod goes, the pending one finds a node, the
    group grows."""
    world.admin.create_many(kube.PODS, gang.members(gang.X, "trio", 1, {"cpu": "4"}, first=3, nodeSelector={"pool": "two"}))
    world.admin.create_many(kube.PODS, (pod("late-%d" % i, {"cpu": "1"}) for i in range(4)))
    checks.expect(pods.wait(30, lambda items: all(items.get("late-%d" % i, ("", ""))[1] for i in range(4))), "late pods have no node")
    world.admin.delete(kube.PODS + "/gone")
    world.admin.create(kube.NODES, objects.node("node-new", {"cpu": "16", "memory": "64Gi"}))
    checks.expect(pods.wait(30, lambda items: items["large"][1] == "node-new"), "large has no node")
    checks.expect(pods.wait(30, lambda items: items["refused"][1]), "refused has no node")
    checks.expect(pods.wait(30, lambda items: "gone" not in items), "gone is not gone")


def paced(path, pods):
    """Played by the recorded clock, decisions come as they came, and are where pods are."""
    began = time.monotonic()
    done = subprocess.run([BERTH, "replay", path, "--speed", "4", "-o", "json"], capture_output=True, text=True, timeout=120,
                          check=False)
    took = time.monotonic() - began
    *decisions, found = [json.loads(line) for line in done.stdout.splitlines()]
    checks.expect(done.returncode == 0 and found["identical"], "it ended with %s: %s", done.returncode, found)
    checks.expect(took > found["recordedSeconds"] / 4, "%s s are played in %s s", found["recordedSeconds"], took)
    went = {each["name"]: each["node"] for each in decisions if each["decision"] == "bind"}
    now = {name: node for name, (_, node, _) in pods.items.items() if node and name != "before"}
    checks.expect({name: node for name, node in went.items() if name != "gone"} == now and "gone" in went,
                  "they went to %s, and are on %s", went, now)
    times = [each["at"] for each in decisions]
    checks.expect(times == sorted(times) and any(each["decision"] == "failed" for each in decisions), "they come as %s", decisions)


@case("record-explain", not_upstream=NOT_UPSTREAM)
def explained_later(world):
    """What berth explain said of a pod while it was recorded it says out of the recording, whatever came later; of a
    placed pod the nodes as they were when it was placed; of a pod that is gone; of a group that waits, as one; of pods
    whose nodes an extender chose, with what it had answered; and nothing beyond the end."""
    gang.install(world.admin, world.options.api == "small")
    world.admin.create_many(kube.NODES, [objects.node("node-%d" % i, {"cpu": str(4 + i), "memory": "%dGi" % (8 + i)},
                                                      {"pool": "two" if i > 1 else "one"}) for i in range(4)])
    world.admin.create(kube.NODES, objects.node("tainted", {"cpu": "32", "memory": "64Gi"}, taints=[
        {"key": "dedicated", "value": "db", "effect": "NoSchedule"}]))
    pods = world.pods()
    extender = Licences(world, "node-1")
    world.others.append(extender)
    scheduler = world.scheduler(backoff=1, extenders=[extender.says()])
    path = os.path.join(world.directory, "day")
    checks.wait_until(60, lambda: os.path.exists(os.path.join(scheduler.rundir, "control")), "berth run does not start")
    world.admin.create(kube.PODS, pod("before", {"cpu": "500m"}))
    checks.all_bound(pods, 1, 60)
    command = record(scheduler, path)
    checks.expect("recording for" in command.stdout.readline(), "it does not begin")
    for name in ("first", "gone", "placed"):
        world.admin.create(kube.PODS, pod(name, {"cpu": "700m", "memory": "1Gi"}))
        checks.expect(pods.wait(30, lambda items, wanted=name: wanted in items and items[wanted][1]), "%s has no node", name)
    world.admin.create(kube.PODS, pod("large", {"cpu": "12"}))
    checks.expect(pods.wait(30, lambda items: "large" in items and items["large"][2]), "large was not told of")
    wait_for_others(world, pods)
    time.sleep(2.5)  # the backoff is over, and nothing happens
    live = {name: explained(scheduler, name, "--nodes")
            for name in ("before", "placed", "large", "trio-0", "licensed", "refused")}
    then = wall()
    extender.refuses = False
    later_day(world, pods)
    now = explained(scheduler, "placed")
    command.send_signal(signal.SIGINT)
    said, _ = command.communicate(timeout=30)
    checks.expect(command.returncode == 0, "it ended so: %s", said)
    checks.expect(scheduler.terminate() == 0, "berth did not end well")
    for name in ("before", "large"):
        told = read_explained(path, name, "--nodes", "--at", then)
        look_at_same(told, live[name], "note")
        checks.expect(("decidedAt" in told) == (name == "large") and ("note" in told) == (name == "before"), "decided at: %s", told)
    told = read_explained(path, "placed", "--nodes", "--at", then)
    node = live["placed"]["node"]
    checks.expect(told["scheduler"] == live["placed"]["scheduler"] and told["node"] == node, "of placed: %s", told)
    end = read_explained(path, "placed", "--nodes")
    checks.expect(told["asDecided"] and end["asDecided"] and end["now"] == told["now"] and end["now"] != now["now"] and
                  node in told["now"][0]["bestNodes"], "placed was decided so: %s", told["now"])
    totals = {each["name"]: each.get("total") for each in told["now"][0]["nodes"]}
    checks.expect(totals[node] == told["scheduler"]["decisions"][0]["score"] and len(totals) == 5, "these scores: %s", totals)
    told = read_explained(path, "gone")
    checks.expect(not told["exists"] and told["asDecided"] and told["now"][0]["result"] == "scheduled", "of gone: %s", told)
    told = read_explained(path, "large")
    checks.expect(told["asDecided"] and told["node"] == "node-new" and told["now"][0]["bestNodes"] == ["node-new"] and
                  [each.get("placed", False) for each in told["scheduler"]["decisions"]][:2] == [True, False], "of large: %s", told)
    done = subprocess.run([BERTH, "explain", "large", "--read", path, "--at", "2099-01-01T00:00:00Z"], capture_output=True, text=True,
                          timeout=60, check=False)
    checks.expect(done.returncode == 1 and "nothing is known of what came later" in done.stderr, "beyond the end: %s", done)
    look_at_group(path, live["trio-0"], then)
    look_at_extender(path, extender, live, then)
    paced(path, pods)


@case("record-explain-in-tree", not_upstream=NOT_UPSTREAM,
      not_small="the small API server has no PodGroups of scheduling.k8s.io")
def explained_in_tree(world):
    """A group of scheduling.k8s.io that has room for two of its three: out of the recording it is told what it was told."""
    api, gates = gang.in_tree_cluster(world)
    objects.small_nodes(world.admin, 2, {"cpu": "4", "memory": "8Gi"})
    pods = world.pods()
    scheduler = gang.scheduler(world, flags=gates, backoff=1)
    path = os.path.join(world.directory, "day")
    checks.wait_until(60, lambda: os.path.exists(os.path.join(scheduler.rundir, "control")), "berth run does not start")
    command = record(scheduler, path)
    checks.expect("recording for" in command.stdout.readline(), "it does not begin")
    gang.create(world, api, "trio", 3, 3, {"cpu": "3"})
    checks.expect(pods.wait(30, lambda items: "trio-0" in items and items["trio-0"][2]), "trio-0 was not told of")
    time.sleep(2.5)  # the backoff is over, and nothing happens
    live = explained(scheduler, "trio-0")
    then = wall()
    world.admin.create(kube.NODES, objects.node("node-new", {"cpu": "4", "memory": "8Gi"}))
    gang.wait_placed(pods, "trio", 3)
    command.send_signal(signal.SIGINT)
    said, _ = command.communicate(timeout=30)
    checks.expect(command.returncode == 0 and scheduler.terminate() == 0, "it ended so: %s", said)
    told, end = read_explained(path, "trio-0", "--at", then), read_explained(path, "trio-0")
    look_at_same(told, live)
    checks.expect([step["result"] for step in live["groupNow"]] == ["scheduled", "scheduled", "unschedulable", "unschedulable"] and
                  end["node"] and "groupNow" not in end, "of the group it was said %s, and at the end %s", live["groupNow"], end)


# ---- the same day with another configuration -----------------------------------------------------------


def other_profiles():
    """Two known changes: nodes are filled up one after the other, and pods keep out of the third pool."""
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "pool", "operator": "NotIn", "values": ["pool-2"]}]}]}}
    fit = {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1},
                                                                      {"name": "memory", "weight": 1}]}}
    return [{"schedulerName": "default-scheduler",
             "pluginConfig": [{"name": "NodeAffinity", "args": {"addedAffinity": affinity}},
                              {"name": "NodeResourcesFit", "args": fit}]}]


def pools(world):
    """Nodes that no two pods find equally good for long."""
    world.admin.create_many(kube.NODES, [
        objects.node("node-%02d" % i, {"cpu": str(2 + i % 4), "memory": "%dGi" % (8 + i)}, {"pool": "pool-%d" % (i % 3)})
        for i in range(12)])
    world.admin.create(CLASSES, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                 "metadata": {"name": "urgent"}, "value": 1000})


def same_day(world, pods):
    """Pods one after the other, so that it does not matter how fast they are placed; then some that evict others."""
    def settled(number):
        checks.expect(pods.wait(30, lambda items: sum(1 for _, node, failed in items.values() if node or failed) >= number),
                      "not all of %d pods are tried", number)

    for i in range(48):
        world.admin.create(kube.PODS, pod("pod-%02d" % i, {"cpu": "%dm" % (400 + 37 * (i % 11)),
                                                            "memory": "%dMi" % (300 + 211 * (i % 7))}))
        settled(i + 1)
    for i in range(4):
        world.admin.create(kube.PODS, pod("urgent-%d" % i, {"cpu": "1500m"}, priorityClassName="urgent"))
        checks.expect(pods.wait(30, lambda items, name="urgent-%d" % i: name in items and items[name][1]),
                      "urgent-%d has no node", i)
    time.sleep(2.5)  # every backoff is over
    return {name: node for name, (_, node, _) in pods.items.items() if node}


def drawn(path, config):
    """The lines of the picture, two a plot, as lists of points; all lie within their plots. A line has points only where the day
    changes, and a quick machine is through with it in a few."""
    done = subprocess.run([BERTH, "replay", path, "--config", config, "-o", "svg"], capture_output=True, text=True, timeout=120,
                          check=False)
    checks.expect(done.returncode == 0, "there is no picture: %s", done.stderr)
    root = xml.dom.minidom.parseString(done.stdout)
    checks.expect("://" not in done.stdout.replace("http://www.w3.org/2000/svg", ""), "it needs another file")
    lines = [(line.getAttribute("class"), [tuple(map(float, point.split(","))) for point in line.getAttribute("points").split()])
             for line in root.getElementsByTagName("polyline")]
    checks.expect([kind for kind, _ in lines] == ["own", "other"] * 4, "these lines: %s", [kind for kind, _ in lines])
    for number, (_, points) in enumerate(lines):
        top = 74 + number // 2 * 172
        least = 3 if number // 2 < 3 else 2
        checks.expect(len(points) >= least and all(64 <= x <= 700 and top <= y <= top + 110 for x, y in points) and
                      points == sorted(points, key=lambda point: point[0]), "line %s lies so: %s", number, points)
    return [points for _, points in lines]


def look_at_pictures(path, own, other):
    same = drawn(path, own)
    checks.expect(all(same[i] == same[i + 1] for i in range(0, 8, 2)), "with the same configuration lines differ: %s", same)
    lines = drawn(path, other)
    checks.expect(lines[4] != lines[5], "with nodes that are filled up fragmentation is the same: %s", lines[4:6])


@case("record-config", not_upstream=NOT_UPSTREAM)
def other_configuration(world):
    """A day is recorded, and decided again with two changes of the configuration: pods go where they go when the same
    day is lived with that configuration; and with its own they go where they went."""
    pools(world)
    pods = world.pods()
    flags = ["--tie-break=first"]
    scheduler = world.scheduler(flags=flags, backoff=1)
    path = os.path.join(world.directory, "day")
    checks.wait_until(60, lambda: os.path.exists(os.path.join(scheduler.rundir, "control")), "berth run does not start")
    command = record(scheduler, path)
    checks.expect("recording for" in command.stdout.readline(), "it does not begin")
    went = same_day(world, pods)
    command.send_signal(signal.SIGINT)
    said, _ = command.communicate(timeout=30)
    checks.expect(command.returncode == 0 and "ended before its time, by: request" in said, "it ended so: %s", said)
    checks.expect(scheduler.terminate() == 0, "berth did not end well")
    other = os.path.join(world.directory, "other.yaml")
    write(other, objects.configuration(scheduler.kubeconfig, backoff=1, profiles=other_profiles()))
    status, found = replay(path)
    checks.expect(status == 0 and found["identical"] and found["endedBy"] == "request", "it is played back so: %s", found)
    status, found = replay(path, "--config", scheduler.config)
    checks.expect(status == 0 and not found["pods"] and found["modelAsRecorded"] == found["recorded"]["pods"],
                  "with its own configuration it differs: %s", found)
    status, found = replay(path, "--config", other)
    checks.expect(status == 0, "it cannot be decided with another: %s", found)
    look_at_pictures(path, scheduler.config, other)
    lived = live_again(world, flags)
    told = dict(went)
    for each in found["pods"]:
        told[each["name"]] = "" if each["preemptedWithConfig"] else each["withConfig"]
    told = {name: node for name, node in told.items() if node}
    print("    record-config: %d of %d pods go elsewhere, %d are preempted" %
          (found["elsewhere"], len(went), found["preempted"]), flush=True)
    checks.expect(told == lived, "it was said %s, and they are %s", sorted(set(told.items()) - set(lived.items())),
                  sorted(set(lived.items()) - set(told.items())))
    checks.expect(found["elsewhere"] > 10 and found["preempted"] > 2, "hardly anything changes: %s", found)
    checks.expect(not any(node in ("node-02", "node-05", "node-08", "node-11") for node in lived.values()), "the third pool is used")


def live_again(world, flags):
    """The same day on a cluster of its own, with the other configuration."""
    again = world.new_cluster("again")
    first, world.admin = world.admin, again.admin
    try:
        pools(world)
        scheduler = world.scheduler("again-subject", where=again, flags=flags, backoff=1, profiles=other_profiles())
        lived = same_day(world, world.pods(where=again))
        checks.expect(scheduler.terminate() == 0, "berth did not end well")
        return lived
    finally:
        world.admin = first
