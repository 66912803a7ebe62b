"""A scheduler is killed while berth is recorded: the file has both its lives, and no more is said of them than is in it."""
import json
import os
import signal
import subprocess
import time

import checks
import kube
import objects
from cases.kill import kill
from cases.record import BERTH, pod, read_explained, record, replay, wall
from suite import case

NOT_UPSTREAM = "only berth records what it does"


def place(world, pods, name, requests):
    world.admin.create(kube.PODS, pod(name, requests))
    checks.expect(pods.wait(60, lambda items: name in items and items[name][1]), "%s has no node", name)
    time.sleep(1.2)  # its journal is written
    return pods.items[name][1]


def explain(path, name, *more):
    return subprocess.run([BERTH, "explain", name, "--read", path, *more], capture_output=True, text=True, timeout=120, check=False)


@case("record-killed", not_upstream=NOT_UPSTREAM)
def killed(world):
    """The scheduler is killed in the middle: its first life is cut off, which is said, the second is whole; both come out
    identical as far as they go, and a pod is explained out of the life in which it was decided."""
    world.admin.create_many(kube.NODES, [objects.node("node-%d" % i, {"cpu": str(4 + i), "memory": "%dGi" % (8 + i)})
                                         for i in range(4)])
    pods = world.pods()
    scheduler = world.scheduler(backoff=1)
    checks.wait_until(60, lambda: os.path.exists(os.path.join(scheduler.rundir, "control")), "berth run does not start")
    path = os.path.join(world.directory, "day")
    command = record(scheduler, path)
    checks.expect("recording for" in command.stdout.readline(), "it does not begin")
    first = place(world, pods, "first", {"cpu": "3"})
    world.admin.create(kube.PODS, pod("large", {"cpu": "12"}))
    checks.expect(pods.wait(30, lambda items: "large" in items and items["large"][2]), "large was not told of")
    time.sleep(1.2)
    before = wall()
    kill(scheduler, "scheduler")
    second = place(world, pods, "second", {"cpu": "3"})
    command.send_signal(signal.SIGINT)
    said, _ = command.communicate(timeout=60)
    checks.expect(command.returncode == 0 and "day: 7 lives in " in said and "cut off" not in said, "it ended with %s: %s",
                  command.returncode, said)
    status, found = replay(path)
    lives = {member["life"]: member for member in found["members"]}
    checks.expect(status == 0 and found["identical"] and found["partly"] == 1, "not identical, or more is claimed: %s", found)
    checks.expect(", identical, up to where it is cut off, at " in lives["scheduler.1"]["says"] and
                  "up to" not in lives["scheduler.2"]["says"], "of the scheduler's lives: %s", lives)
    checks.expect([lives["scheduler.%d" % i]["decisions"] for i in (1, 2)] == [1, 1], "decisions: %s", lives)
    text = subprocess.run([BERTH, "replay", path], capture_output=True, text=True, timeout=60, check=False).stdout
    checks.expect("1 of them are not whole, and identical as far as they go" in text, "it says: %s", text)
    answers(path, before, first, second)
    out = os.path.join(world.directory, "shared")
    done = subprocess.run([BERTH, "record", "--read", path, "--redact", "-o", out], capture_output=True, text=True, timeout=120,
                          check=False)
    checks.expect(done.returncode == 0 and replay(out)[1]["partly"] == 1, "redacted: %s", done)
    checks.expect(scheduler.terminate() == 0, "berth did not end well")


def answers(path, before, first, second):
    """Out of the first life what was before it was killed, out of the second what came then."""
    told = read_explained(path, "first", "--at", before)
    checks.expect(told["node"] == first and told["asDecided"], "of first before: %s", told)
    told = read_explained(path, "large", "--at", before)
    checks.expect(told["now"][0]["result"] != "scheduled" and "decidedAt" in told, "of large before: %s", told)
    done = explain(path, "second", "--at", before, "-o", "json")
    checks.expect(done.returncode == 1 or not json.loads(done.stdout)["exists"], "second was not there yet: %s", done)
    told = read_explained(path, "second")
    checks.expect(told["node"] == second and told["asDecided"] and second in told["now"][0]["bestNodes"], "of second: %s", told)
    told = read_explained(path, "first")
    checks.expect(told["node"] == first, "of first at the end: %s", told)
