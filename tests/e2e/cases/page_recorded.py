"""The page shows a recording: a slider goes through it, and everything shown is of that moment."""
import datetime
import json
import os
import signal
import subprocess
import time

import browser
import checks
import cluster
import kube
import objects
from cases.page import ROOM, ROW, Visitor, three_nodes
from cases.record import NOT_UPSTREAM, pod, record
from suite import case

BIN = os.path.join(cluster.TOP, "build", "bin")
SECONDS = 60


def milliseconds():
    return int(time.time() * 1000)


def moment(ms):
    return datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Day:
    """What is recorded: a pod is bound, another one waits, a node comes and takes it, the first one goes; and when."""

    def __init__(self, world):
        three_nodes(world.admin)
        self.world, self.path, self.times = world, os.path.join(world.directory, "day"), []
        self.pods, self.scheduler = world.pods(), world.scheduler(backoff=1)
        checks.wait_until(SECONDS, self.decides, "the scheduler does not begin")
        begun = record(self.scheduler, self.path, "--for", "90s")
        checks.expect("recording for" in begun.stdout.readline(), "it does not begin")
        self.settle()
        self.play()
        begun.send_signal(signal.SIGINT)
        said, _ = begun.communicate(timeout=SECONDS)
        checks.expect(begun.returncode == 0, "berth record says: %s", said)

    def decides(self):
        done = subprocess.run([os.path.join(BIN, "berth"), "status", "--run-dir", self.scheduler.rundir], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=SECONDS, check=False)
        return done.returncode == 0

    def settle(self):
        """A moment at which nothing happens, with some time before and after it."""
        time.sleep(1)
        self.times.append(milliseconds())
        time.sleep(1)

    def play(self):
        admin, told = self.world.admin, lambda name, place: self.pods.wait(SECONDS, lambda items: name in items and items[name][place])
        admin.create(kube.PODS, pod("first", {"cpu": "500m"}))
        checks.expect(told("first", 1), "first is not bound")
        admin.create(kube.PODS, pod("large", {"cpu": "6"}))
        checks.expect(told("large", 2), "large is not told that it waits")
        self.settle()
        admin.create_many(kube.NODES, [objects.node("n4", dict(ROOM, cpu="8"))])
        checks.expect(told("large", 1), "large is not bound")
        admin.delete(kube.PODS + "/first")
        checks.expect(self.pods.wait(SECONDS, lambda items: "first" not in items), "first does not go")
        self.settle()


def follow(day, *flags):
    """(exit status, lines, what it complains of)"""
    done = subprocess.run([os.path.join(BIN, "berth"), "follow", "--read", day.path, *flags], capture_output=True, text=True, timeout=SECONDS,
                          check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def look_at_lines(day):
    """berth follow --read says what was known at each of the moments."""
    wanted = [({}, 3, {}), ({"default/first": "bound", "default/large": "waits"}, 3, {"large": "unschedulable"}),
              ({"default/first": "bound", "default/large": "bound"}, 4, {})]
    for ms, (decisions, nodes, waits) in zip(day.times, wanted):
        status, lines, complaint = follow(day, "--at", moment(ms))
        checks.expect(status == 0 and [line["kind"] for line in lines] == ["recorded", "whole", "queue"], "at %s: %s %s", ms, lines, complaint)
        span, whole, queue = lines
        checks.expect(span["from"] < ms < span["to"] and span["at"] == ms, "the moment of %s is %s", ms, span)
        last = {"%s/%s" % (d["namespace"], d["name"]): "bound" if d.get("node") else "waits" for d in whole["decisions"]}
        checks.expect(last == decisions and len(whole["nodes"]) == nodes, "at %s: %s", ms, whole)
        checks.expect({p["name"]: p["place"] for p in queue["pods"]} == waits, "at %s there wait: %s", ms, queue)
    checks.expect(sum(node["pods"] for node in follow(day)[1][1]["nodes"]) == 1, "at the end: %s", follow(day)[1][1])
    early = follow(day, "--at", "2020-01-01T00:00:00Z")[1]
    checks.expect(early[0]["at"] == early[0]["from"] and len(early[1]["nodes"]) == 3, "before its beginning: %s", early)
    status, _, complaint = follow(day, "--at", "yesterday")
    checks.expect(status != 0 and "at" in complaint, "a time that is none: %s", complaint)
    other = os.path.join(day.world.directory, "other")
    with open(other, "w", encoding="utf-8") as file:
        file.write("no recording\n")
    done = subprocess.run([os.path.join(BIN, "berth"), "follow", "--read", other], capture_output=True, text=True, timeout=SECONDS, check=False)
    checks.expect(done.returncode == 1 and other in done.stderr and not done.stdout, "what is no recording: %s", done)


class Shown:
    """berth-serve with the recording, beside no cluster at all."""

    def __init__(self, world, path):
        self.port = cluster.free_port()
        self.process = subprocess.Popen([
            os.path.join(BIN, "berth-serve"), "--run-dir", os.path.join(world.directory, "nobody"), "--secure-port", str(self.port),
            "--bind-address", "127.0.0.1", "--ui", "--recording", path, "--authentication-skip-lookup",
            "--authorization-always-allow-paths", "/ui/*"], stdin=subprocess.DEVNULL)
        world.others.append(self)

    def stop(self):
        self.process.terminate()
        self.process.wait(SECONDS)


def look_at_answers(day, visitor):
    """Of what is asked there is what a recording can tell."""
    def ready():
        try:
            return visitor.ask("/ui/api/recorded")[0] == 200
        except OSError:
            return False
    checks.wait_until(SECONDS, ready, "berth-serve does not answer")
    status, headers, text = visitor.ask("/ui/api/recorded?at=" + moment(day.times[1]))
    checks.expect(headers["Content-Type"] == "application/x-ndjson", "lines are called %s", headers["Content-Type"])
    checks.expect(status == 200 and [json.loads(line)["kind"] for line in text.splitlines()] == ["recorded", "whole", "queue"],
                  "it is answered with %s: %s", status, text)
    status, _, text = visitor.ask("/ui/api/explain?pod=default/large&at=" + moment(day.times[1]))
    said = json.loads(text)
    checks.expect(status == 200 and "node" not in said and said["queue"]["place"] == "unschedulable", "large is explained by: %s", text)
    for path in ("/ui/api/stream", "/ui/api/nodes", "/ui/api/node?name=n1", "/ui/api/queue"):
        checks.expect(visitor.ask(path)[0] == 404, "%s is answered", path)
    for query in ("at=yesterday", "at=-1", "at=2026-01-01T00:00:00Z&at=2026-01-02T00:00:00Z", "read=/etc/passwd", "at=1;ls"):
        status, _, text = visitor.ask("/ui/api/recorded?" + query)
        checks.expect(status == 400, "?%s is answered with %s: %s", query, status, text)


def slide(page, ms):
    """As who pulls the slider."""
    page.run("""(slider => { slider.value = %d; slider.dispatchEvent(new Event('input')); })(document.getElementById('moment'))""" % ms)


def look_at_page(day, page):
    page.wait(20, "document.getElementById('state')?.textContent.startsWith('A recording')", "it says that it is a recording")
    page.wait(10, "document.getElementById('cluster-summary').innerText.includes('4 nodes')", "its end")
    roles = page.roles()
    for wanted in (("heading", "Recording"), ("slider", "Moment"), ("button", "Play"), ("combobox", "as fast as"), ("list", "Decisions, newest first")):
        checks.expect(wanted in roles, "there is no %s called %s", *wanted)
    checks.expect(("heading", "What if") not in roles, "what if is asked of a recording")
    slide(page, day.times[1])
    page.wait(10, "document.getElementById('cluster-summary').innerText.includes('3 nodes')", "the moment in the middle")
    page.wait(10, "(t => t && t.includes('waits: '))(%s)" % (ROW % json.dumps("default/large")), "that large waits")
    page.wait(10, "document.getElementById('queue-rows').innerText.includes('default/large')", "who waits")
    page.wait(10, "document.getElementById('queues').innerText.match(/unschedulable\\s*1/)", "it is counted")
    page.run("[...document.querySelectorAll('#decision-rows button')].find(b => b.textContent == 'default/large').click()")
    page.wait(20, "document.getElementById('details').innerText.includes('It waits.')", "the explanation of then")
    page.run("document.getElementById('details-close').click()")
    page.run("[...document.querySelectorAll('#decision-rows button')].find(b => b.textContent.startsWith('n')).click()")
    page.wait(10, "document.getElementById('details').innerText.includes('Room left')", "the node of then")
    page.run("document.getElementById('details-close').click()")
    slide(page, day.times[0])
    page.wait(10, "document.querySelectorAll('#decision-rows li').length == 0", "that nothing was decided yet")
    page.wait(10, "document.getElementById('queue-more').innerText == 'No pods wait.'", "that nobody waited yet")
    page.run("document.getElementById('play').click()")
    page.wait(30, "(t => t && t.includes('bound to n4'))(%s)" % (ROW % json.dumps("default/large")), "what came then, as it plays")
    page.wait(30, "document.getElementById('play').innerText == 'Play'", "the end, where it stops")
    complaints = page.complaints()
    checks.expect(not complaints, "the browser complains: %s", complaints)


@case("page-recorded", NOT_UPSTREAM)
def page_recorded(world):
    """A recording as lines, as answers, and in a browser."""
    day = Day(world)
    look_at_lines(day)
    served = Shown(world, day.path)
    look_at_answers(day, Visitor(served))
    if browser.program() is None:
        if "chromium" in os.environ.get("BERTH_REQUIRE", ""):
            raise checks.Failed("Chromium is not installed")
        print("skipped: a recording in a browser (no chromium)", flush=True)
        return
    shown = browser.Browser()
    world.others.append(shown)
    shown.go("https://127.0.0.1:%d/ui/" % served.port)
    look_at_page(day, shown)
