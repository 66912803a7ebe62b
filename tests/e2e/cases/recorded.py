"""What a core was told is taken down as it runs, and told to a new one it says the same, to the byte."""
import collections
import os
import random
import re
import signal
import subprocess
import time

import checks
import cluster
import gang
import kube
import objects
from cases.kill import kill, pid_of, processes
from suite import case

NODES = 30
PODS = 240
WORKERS = 2
NOT_UPSTREAM = "only berth records what it does"
SAME = re.compile(r": (\d+) entries, (\d+) messages said, identical(, up to where it is cut off, at \S+)?\n$")


def program(path):
    """The program whose process left this recording."""
    name = os.path.basename(path).split(".")[0].split("-")[0]
    return os.path.join(cluster.TOP, "build/bin/berth-" + ("scheduler" if name == "worker" else name))


def replay(path, other=None):
    """(exit status, what it says)"""
    done = subprocess.run([other or program(path), "--replay", path], capture_output=True, text=True,
                          timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


def lives(directory):
    """Process to its recordings, the first life first."""
    found = collections.defaultdict(list)
    for name in os.listdir(directory):
        process, number, _ = name.rsplit(".", 2)
        found[process].append((int(number), os.path.join(directory, name)))
    return {process: [path for _, path in sorted(paths)] for process, paths in found.items()}


def all_alike(directory, killed):
    """Every life says again what it said; only those that were killed may end without an end."""
    found = lives(directory)
    for process, kills in killed.items():
        checks.expect(len(found.get(process, ())) == kills + 1, "%s was killed %d times and left %s",
                      process, kills, found.get(process))
        for number, path in enumerate(found[process]):
            status, said = replay(path)
            alike = SAME.search(said)
            checks.expect(status == 0 and alike, "not played back alike: %s", said)
            checks.expect(int(alike.group(2)) > 0, "nothing was said: %s", said)
            checks.expect(number < kills or not alike.group(3), "cut, and was not killed: %s", said)
    return found


def changed(path, old, new):
    """A copy in which the last one of these bytes is another."""
    with open(path, "rb") as file:
        data = file.read()
    at = data.find(old)
    checks.expect(at > 0, "%s does not hold %r", path, old)
    other = path + ".changed"
    with open(other, "wb") as file:
        file.write(data[:at] + new + data[at + len(old):])
    return other


def planted(found, uid):
    """Whoever changes a byte of what a core was told, or takes the end away, is found out."""
    status, said = replay(changed(found["queue"][0], uid, uid[:-1] + b"x"), program(found["queue"][0]))
    checks.expect(status == 1 and re.search(r": entry \d+, \S+Z: \w+ to scheduler ", said) and "now:" in said,
                  "a changed byte of a delivery: %d %s", status, said)
    status, said = replay(changed(found["watcher"][0], uid, uid[:-1] + b"x"), program(found["watcher"][0]))
    checks.expect(status == 1 and re.search(r": entry \d+, \S+Z: \w+ to (queue|scheduler) ", said),
                  "a changed byte of an answer: %d %s", status, said)
    whole = found["scheduler"][-1]
    cut = whole + ".cut"
    with open(whole, "rb") as file, open(cut, "wb") as half:
        half.write(file.read()[:os.path.getsize(whole) // 2])
    status, said = replay(cut, program(whole))
    checks.expect(status == 0 and "up to where it is cut off" in said, "half of a recording: %s", said)
    status, said = replay(whole, program(found["queue"][0]))
    checks.expect(status == 1 and "is a recording of a scheduler" in said, "another's recording: %s", said)


def write(path, text):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(path + ".new", path)


@case("recorded", not_upstream=NOT_UPSTREAM)
def recorded(world):
    """Pods and a group come and go, the configuration changes, and every process is killed at random moments,
    all recorded: each life, played back, says the same; a planted difference is named."""
    seed = int(os.environ.get("BERTH_SEED", "0")) or int(time.time())
    print("    recorded: BERTH_SEED=%d" % seed, flush=True)
    dice = random.Random(seed)
    directory = os.path.join(world.directory, "recordings")
    gang.install(world.admin, world.options.api == "small")
    objects.small_nodes(world.admin, NODES)
    world.admin.create(kube.NODES, objects.node("big", {"cpu": "8", "memory": "32Gi"}, {"pool": "big"}))
    pods = world.pods()
    scheduler = world.scheduler(flags=["--record", directory], backoff=1)
    victims = [name for name in processes(WORKERS) if name != "berth"]
    dice.shuffle(victims)
    killed = dict.fromkeys(victims, 0)
    per = PODS // len(victims)
    # A pod that comes while they find each other may be told twice, and the second time heals what planted() changes
    # in the first. What that does is tested by the processes that start again.
    world.admin.create(kube.PODS, objects.pod("first", {"cpu": "100m"}))
    checks.expect(pods.wait(60, lambda items: objects.bound(items) == 1), "the first pod is not bound")
    for number, name in enumerate(victims):
        world.admin.create_many(kube.PODS, objects.small_pods(per, first=per * number))
        if number == 1:
            gang.create(world, gang.X, "group", 3, 3, {"cpu": "2"}, nodeSelector={"pool": "big"})
            world.admin.create(kube.PODS, objects.pod("nowhere", {"cpu": "900"}))
        if number == 2:
            write(scheduler.config, objects.configuration(scheduler.kubeconfig, backoff=2))
            os.kill(scheduler.process.pid, signal.SIGUSR2)
        # All work again; then any moment will do.
        so_far = max(1, (per - 5) * number)
        checks.expect(pods.wait(60, lambda items, least=so_far: objects.bound(items) >= least),
                      "%d of %d pods are bound", objects.bound(pods.items), so_far)
        time.sleep(dice.random())
        kill(scheduler, name)
        killed[name] += 1
        for pod in range(per * number, per * number + 5):
            world.admin.delete(kube.PODS + "/pod-%05d" % pod)
    # Whoever was killed last may start again when all the others are bound: a last pod, so that each life says something.
    for name in victims:
        pid_of(scheduler, name)
    world.admin.create(kube.PODS, objects.pod("last", {"cpu": "100m"}))
    left = 1 + (per - 5) * len(victims) + 3 + 1
    checks.expect(pods.wait(60, lambda items: objects.bound(items) == left),
                  "%d of %d pods are bound", objects.bound(pods.items), left)
    uid = next(uid for name, (uid, _, _) in pods.items.items() if name == "pod-%05d" % (per - 1))
    checks.expect(scheduler.terminate() == 0, "berth did not end well")
    planted(all_alike(directory, killed), uid.encode())
