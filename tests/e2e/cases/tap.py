"""What berth tap tells of a pod that is rejected and then placed: live, and from a recording."""
import json
import os
import re
import signal
import subprocess
import time

import checks
import cluster
import kube
import objects
from suite import case

BERTH = os.path.join(cluster.TOP, "build/bin/berth")
POD = kube.PODS + "/web"


class Tap:
    """A berth tap that runs beside the case; what it prints goes to a file."""

    def __init__(self, world, subject, name, *words):
        self.path = os.path.join(subject.directory, name)
        self.file = open(self.path, "wb")
        self.process = subprocess.Popen([BERTH, "tap", "--run-dir", subject.rundir, *words], stdin=subprocess.DEVNULL,
                                        stdout=self.file, stderr=self.file, start_new_session=True)
        world.others.append(self)

    def said(self):
        with open(self.path, errors="replace") as file:
            return file.read()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(10)
        self.file.close()


def asked(*words):
    done = subprocess.run([BERTH, "tap", *words], timeout=60, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def blocks(text):
    return [block.splitlines() for block in text.split("\n\n") if block.strip()]


def whole_rejection(block):
    """True when the block has what the queue, the workers and the scheduler said of a pod that fits nowhere."""
    said = "\n".join(block)
    answers = re.findall(r" worker-\d+>scheduler +map_\w*result +0 of (\d+) nodes fit: (\d+) Insufficient cpu", said)
    return (re.search(r"^default/web  attempt 1  unschedulable  in \d+\.\d{3} ms  2", block[0]) and sum(int(n) for n, _ in answers) == 3
            and " queue>scheduler " in said and re.search(r" pod_failed +Unschedulable: 0/3 nodes are available: 3 Insuff", said)
            and re.search(r" outcome +unschedulable, rejected by NodeResourcesFit", said))


def tells(path):
    return any(whole_rejection(block) for block in blocks(asked("--read", path, "--pod", "default/web")[1]))


def is_rejected_and_told(world, live, path):
    """The taps are joined one after the other, which nobody tells: pods are tried until all of one is heard."""
    world.admin.create(kube.PODS, objects.pod("web", {"cpu": "8", "memory": "1Gi"}))
    end = time.monotonic() + 5
    while time.monotonic() < end:
        if any(whole_rejection(block) for block in blocks(live.said())) and tells(path):
            return True
        time.sleep(0.1)
    world.admin.delete(POD)
    return False


def check_order(block):
    offsets = [float(line.split()[0]) for line in block[1:] if line.strip()]
    checks.expect(offsets and offsets == sorted(offsets), "not in order of time: %s", block)


def check_recording(path):
    status, out, complaint = asked("--read", path, "--pod", "default/web")
    checks.expect(status == 0 and complaint == "", "reading says %s%s", status, complaint)
    checks.expect(tells(path) and "  bound on big  in " in out, "read again it is %s", out)
    status, out, complaint = asked("--read", path, "--pod", "default/web", "--where", 'message == bind and node ~ "^big" and attempt > 1')
    chosen = blocks(out)
    checks.expect(len(chosen) == 1 and "  bound on big  in " in chosen[0][0], "the query chooses %s%s", out, complaint)
    status, out, _ = asked("--read", path, "--pod", "default/web", "-o", "json", "--where", "result == bound")
    story = [json.loads(line) for line in out.splitlines()]
    checks.expect([(s["result"], s["node"], s["missed"]) for s in story] == [("bound", "big", 0)], "as JSON it is %s", out)
    said = [m["message"] for m in story[0]["messages"]]
    # The queue is told of the outcome beside the binder, before or after that has answered.
    checks.expect({"attempt", "outcome"} <= set(said) and said.index("bind") < said.index("bind_result"), "it has %s", said)
    status, out, _ = asked("--read", path, "--where", "message == bind", "-o", "json")
    checks.expect([json.loads(line)["body"]["node_name"] for line in out.splitlines()] == ["big"], "the binds are %s", out)
    status, out, _ = asked("--read", path, "--pod", "default/web", "-g", "raw", "--message", "bind,bind_result")
    raw = sorted(out.splitlines())  # by the time; as taps tell them the result may come first
    checks.expect(re.fullmatch(r"\S+ scheduler>binder bind .*\n\S+ binder>scheduler bind_result .*", "\n".join(raw)), "raw it is %s", out)


def check_mistakes(path):
    for words, why in ((("--where", "message == bnd"), 'column 12: there is no message "bnd", did you mean "bind"?'),
                       (("--where", "nod_name == x"), 'column 1: no message has a field "nod_name", did you mean "node_name"?'),
                       (("--process", "schedular"), 'there is no process "schedular", did you mean "scheduler"?'),
                       (("--message", "bnd"), 'there is no message "bnd"'),
                       (("-g", "attempt"), "-g attempt needs --pod")):
        status, _, complaint = asked("--read", path, *words)
        checks.expect(status == 1 and why in complaint, "%s: it says %s", words, complaint)
    _, out, complaint = asked("--read", path, "--pod", "default/wbe")
    checks.expect(out == "" and 'did you mean "default/web"?' in complaint, "of a misspelt pod it says %s%s", out, complaint)


def check_unread(path):
    """As with head -1."""
    for words in ((), ("--pod", "default/web"), ("--verify",)):
        with subprocess.Popen([BERTH, "tap", "--read", path, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tap:
            tap.stdout.close()
            complaint = tap.stderr.read().decode()
            status = tap.wait(60)
        checks.expect(status == 0 and "output" not in complaint, "%s: that nobody reads ends with %s: %s", words, status, complaint)


@case("tap-story", not_upstream="berth tap is berth's")
def tap_story(world):
    """A pod fits nowhere until a node comes: its attempts are told one by one, live and from a recording with a filter."""
    objects.small_nodes(world.admin, 3)
    pods = world.pods()
    subject = world.scheduler()
    checks.wait_until(30, lambda: {"watcher", "queue", "scheduler", "binder"} <= set(subject.pids()), "a process is missing")
    live = Tap(world, subject, "live", "--pod", "default/web")
    path = os.path.join(subject.directory, "frames")
    record = Tap(world, subject, "record", "--where", "message != view and message != shard_node", "--record", path)
    checks.wait_until(90, lambda: is_rejected_and_told(world, live, path), "the rejection is not told")
    world.admin.create(kube.NODES, objects.node("big", {"cpu": "64", "memory": "64Gi"}))
    checks.all_bound(pods, 1, 60)
    checks.wait_until(10, lambda: "  bound on big  in " in live.said(), "that it was placed is not told")
    for tap in (live, record):
        tap.stop()
    checks.expect("missed" not in live.said() + record.said(), "there are gaps: %s%s", live.said(), record.said())
    told = [block for block in blocks(live.said()) if "  attempt " in block[0] and "  in " in block[0]]
    checks.expect(any(len(block) > 4 for block in told), "no attempt is told whole: %s", told)
    for block in told:  # the first of them may be told in part, while not all taps are joined
        check_order(block)
    check_recording(path)
    check_mistakes(path)
    check_unread(path)
