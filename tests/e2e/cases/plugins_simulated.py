"""Plugins that are processes have a say in what berth simulate and berth whatif answer, as in what is decided live."""
import json
import os
import random
import subprocess

import checks
import kube
import objects
from cases.plugins import EXAMPLE, PROFILES, Process, staged
from cases.plugins_queue import EXAMPLE as QUEUE_EXAMPLE
from cases.simulate import BERTH, dump
from cases.whatif import asked, ready

PODS = 12
SECONDS = 60
NODES = ("plain", "liked", "forbidden")


def draw(dice, number):
    """A pod that a plugin has something to say about: its name, profile, CPU and wishes."""
    profile = dice.choice(("default-scheduler", "strict", "lenient", "gate", "points"))
    wishes = {}
    if profile == "points" and dice.random() < 0.8:
        wish = dice.choice(("only", "refuse", "sold-out", "astray", "rescue"))
        wishes = {"astray": {"only": "nowhere"}, "only": {"only": dice.choice(NODES)},
                  "rescue": {"rescue": dice.choice(NODES)}}.get(wish, {wish: "yes"})
    if profile == "gate" and dice.random() < 0.5:
        wishes = {"deny": "yes"}
    cpu = "100" if "rescue" in wishes or dice.random() < 0.1 else "%dm" % dice.randrange(100, 9000)
    pod = objects.pod("pod-%02d" % number, {"cpu": cpu}, schedulerName=profile)
    pod["metadata"]["labels"] = {"bus.example/" + key: value for key, value in wishes.items()}
    return pod


def outcome(item):
    """(node, message) as the API server has it."""
    return item[1], None if item[1] or not item[2] else item[2][1]


def simulated(world, plugins, *words):
    """Every pod's (node, message) by berth simulate, of the cluster as it is; and its complaints."""
    config = os.path.join(world.directory, "simulated.json")
    with open(config, "w") as file:
        json.dump({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": PROFILES}, file)
    done = subprocess.run([BERTH, "simulate", "-o", "ndjson", "--release", world.options.release, "--config", config, *words]
                          + (["--plugins", plugins] if plugins else []), input=dump(world), text=True, timeout=SECONDS,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, {r["pod"].split("/")[1]: (r.get("node", ""), r.get("message")) for r in results}, done.stderr


def look_without(world, pod, plugins):
    """Who is not asked is named, and who does not come is said not to."""
    _, _, complaint = simulated(world, None)
    checks.expect("not asked (plugins are with --plugins DIR): example" in complaint, "it complains: %s", complaint)
    status, out, complaint = asked(world.subject, "whatif", "--plugins", plugins, manifest=pod)
    checks.expect(status == 1 and not out and 'plugin "example" did not come to ' in complaint, "it says: %s%s", out, complaint)


QUEUE = {"schedulerName": "default-scheduler", "plugins": {"preEnqueue": {"enabled": [{"name": "example"}]}, "queueSort": {
    "disabled": [{"name": "*"}], "enabled": [{"name": "example"}]}},
         "pluginConfig": [{"name": "example", "args": {"kind": "BusPluginArgs", "deadline": "2s"}}]}


def look_at_queue(world):
    """Of two pods the one with the larger key gets the only place; a third one may not come in."""
    plugins, files = os.path.join(world.directory, "queue-plugins"), []
    items = [objects.node("only", {"cpu": "1"})] + [objects.pod(name, {"cpu": "1"}) for name in ("first", "second", "third")]
    for item, labels in zip(items[1:], ({"key": "1"}, {"key": "2"}, {"hold": "yes", "key": "3"})):
        item["metadata"]["labels"] = {"bus.example/" + key: value for key, value in labels.items()}
    for number, body in enumerate(({"apiVersion": "v1", "kind": "List", "items": [
            dict(item, apiVersion="v1", kind="Node" if item is items[0] else "Pod") for item in items]},
            {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [QUEUE]})):
        files.append(os.path.join(world.directory, "queue-%d.json" % number))
        with open(files[-1], "w") as file:
            json.dump(body, file)
    process = Process()
    try:
        process.begin(QUEUE_EXAMPLE, os.path.join(plugins, "queue.sock"))
        done = subprocess.run([BERTH, "simulate", "-o", "ndjson", "--config", files[1], "--plugins", plugins, files[0]],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=SECONDS, check=False)
    finally:
        process.kill()
    said = [(r["pod"], r["result"]) for r in map(json.loads, done.stdout.splitlines())]
    checks.expect(said == [("default/third", "gated"), ("default/second", "scheduled"), ("default/first", "unschedulable")],
                  "it says: %s, %s", said, done.stderr)


@staged("plugin-simulated", ("--tie-break=first",))
def plugin_simulated(stage):
    """Random pods, one after the other: each goes where whatif said, and simulate says of those that wait what they are told."""
    world, dice = stage.world, random.Random(int(os.environ.get("BERTH_SEED", "1")))
    world.subject = stage.scheduler
    plugins = os.path.join(world.directory, "plugins")
    pods = [draw(dice, number) for number in range(PODS)]
    ready(stage.scheduler, NODES)
    look_without(world, pods[0], plugins)
    look_at_queue(world)
    stage.start()
    second = Process()
    try:
        second.begin(EXAMPLE, os.path.join(plugins, "scheduler.sock"))
        said = {}
        for pod in pods:
            name = pod["metadata"]["name"]
            _, out, complaint = asked(stage.scheduler, "whatif", "-o", "json", "--plugins", plugins, manifest=pod)
            checks.expect(out, "whatif complains: %s", complaint)
            answer = json.loads(out)
            checks.expect("notAsked" not in answer, "it says: %s", answer)
            said[name] = answer["pods"][0].get("node", ""), answer["pods"][0].get("message")
            world.admin.create(kube.PODS, pod)
            stage.pods.wait(SECONDS, lambda items: name in items and outcome(items[name]) == said[name])
            checks.expect(outcome(stage.pods.items[name]) == said[name], "%s: it is %s, and was said to be %s",
                          pod["metadata"], outcome(stage.pods.items[name]), said[name])
        checks.expect(any(node for node, _ in said.values()) and any(message for _, message in said.values()),
                      "it says: %s", said)
        # What the plugin likes counts for more than all rules: who is there for that stays, asked one by one.
        _, out, complaint = asked(stage.scheduler, "whatif", "-o", "json", "--all", "--plugins", plugins)
        stays = {pod["metadata"]["name"] for pod in pods if pod["spec"]["schedulerName"] in ("strict", "lenient")}
        moved = {pod["name"] for pod in json.loads(out)["pods"]} & {name for name in stays if said[name][0] == "liked"}
        kept = {pod["metadata"]["labels"].get("bus.example/rescue") for pod in pods}  # its room is kept for whom it rescues
        checks.expect(not moved or "liked" in kept, "%s would move: %s %s", moved, out, complaint)
        waiting = {name: is_so for name, is_so in said.items() if not is_so[0]}
        status, again, complaint = simulated(world, plugins, "--cross-check")
        checks.expect(status == 0 and again == waiting, "it says %s, not %s: %s", again, waiting, complaint)
    finally:
        second.kill()
