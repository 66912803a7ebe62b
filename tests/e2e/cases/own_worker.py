"""The worker inside the scheduler (as it comes, up to 40,000 nodes), which makes way for worker processes."""
import os
import signal
import subprocess

import checks
import cluster
import kube
import objects
from cases.doctor import asked
from suite import case

BERTH = os.path.join(cluster.TOP, "build/bin/berth")
ROOM = {"cpu": "4", "memory": "8Gi"}


def says(subject):
    """What status has of workers: (how many there are, whether the one inside is asked)."""
    done = subprocess.run([BERTH, "status", "-v", "--run-dir", subject.rundir], text=True, capture_output=True, timeout=20,
                          check=False)
    keys = dict(line.strip().partition(" ")[::2] for line in done.stdout.splitlines() if line.startswith("    "))
    return keys.get("workers", "").strip(), keys.get("own_worker", "").strip().partition(" ")[0]


def worker(world, subject):
    """A worker process of its own, as one that is started elsewhere."""
    return subprocess.Popen(["build/bin/berth-scheduler", "--worker", "--run-dir", subject.rundir], cwd=cluster.TOP,
                            stderr=open(os.path.join(world.directory, "worker.log"), "w"))


@case("own-worker", not_upstream="berth's processes are told of")
def own_worker(world):
    """Pods are placed by the worker inside, by a process that comes, and by the one inside again when that is killed;
    all three hold what the scheduler has told them; and what was recorded of it says the same when it is played back."""
    objects.small_nodes(world.admin, 3, ROOM)
    pods = world.pods()
    subject = world.scheduler(flags=["--workers=0"])
    path = os.path.join(world.directory, "recorded")
    checks.wait_until(30, lambda: says(subject) == ("1", "up=yes"), "the worker inside is not asked")
    recording = subprocess.Popen([BERTH, "record", "--run-dir", subject.rundir, "-o", path], stdout=subprocess.PIPE, text=True)
    checks.expect("recording" in recording.stdout.readline(), "it does not begin to record")
    made = 0

    def place(count, problems=""):
        nonlocal made
        world.admin.create_many(kube.PODS, [objects.pod("p%d" % i, {"cpu": "50m"}) for i in range(made, made + count)])
        made += count
        checks.all_bound(pods, made, 60)
        status, said, complaint = asked("compare", subject, "--kubeconfig", world.cluster.kubeconfig("admin"))
        expected = (2 if problems else 0, [], problems)
        checks.expect((status, said["differences"], said.get("problems", "")) == expected, "it ended with %s: %s %s", status, said, complaint)

    place(20)
    process = worker(world, subject)
    try:
        checks.wait_until(30, lambda: says(subject) == ("1", "up=no"), "no worker process has taken over: %s" % (says(subject),))
        place(20)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    checks.wait_until(30, lambda: says(subject) == ("1", "up=yes"), "the worker inside has not come back")
    place(20, "worker-0 has not answered\n")  # its socket is still there
    recording.send_signal(signal.SIGINT)
    said, _ = recording.communicate(timeout=60)
    checks.expect(recording.returncode == 0, "the recording ended with %s: %s", recording.returncode, said)
    done = subprocess.run([BERTH, "replay", path], capture_output=True, text=True, timeout=120, check=False)
    checks.expect(done.returncode == 0, "played back it ended with %s: %s %s", done.returncode, done.stdout, done.stderr)
    done = subprocess.run([BERTH, "record", "--read", path, "--redact", "-o", path + ".shared"], capture_output=True, text=True, timeout=120,
                          check=False)
    checks.expect(done.returncode == 0 and "come out identical" in done.stdout, "redacted it ended with %s: %s %s", done.returncode,
                  done.stdout, done.stderr)
    checks.no_overcommit(world.admin)


@case("workers-by-nodes", not_upstream="--workers is a flag of berth")
def workers_by_nodes(world):
    """Nobody says how many workers there are: with 40,000 nodes two come, and who is placed is so by them; with few there is none."""
    where = cluster.start("small", os.path.join(world.directory, "large"), (), world.options.release)
    world.clusters.append(where)
    subject = world.scheduler(flags=["--workers=auto:4"], where=where)
    objects.small_nodes(where.admin, 10, ROOM)
    where.admin.create_many(kube.PODS, objects.small_pods(10))
    pods = world.pods(where)
    checks.all_bound(pods, 10, 60)
    checks.expect(says(subject) == ("1", "up=yes"), "with ten nodes: %s", says(subject))
    where.admin.create_many(kube.NODES, (objects.node("more-%05d" % i, ROOM) for i in range(40000)))
    checks.wait_until(90, lambda: says(subject) == ("2", "up=no"), "no two workers come: %s" % (says(subject),))
    where.admin.create_many(kube.PODS, objects.small_pods(50, first=10))
    checks.all_bound(pods, 60, 60)
    checks.no_overcommit(where.admin)
