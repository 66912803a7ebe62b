"""Runs the oracle and berth over a stream of scenarios: one process of each, all at the same time.

What must stay true: every scenario gets an answer from every program, also when the program dies on
one of them; then that answer is None and the program is started again for the rest.
"""
import json
import os
import queue
import subprocess
import threading
import time

import view

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
ORACLE = os.path.join(TOP, "build", "fidelity", "oracle")
BERTH = os.path.join(TOP, "build", "bin", "berth")
RELEASES = ("1.36", "1.37")  # of Kubernetes; the first is the one where none is named
RESTARTS_MAX = 100
AGAIN_AT_ONCE = 16
AGAIN_SECONDS = 60  # then no more: a search of its may take ten
OUT_OF_TIME = "timed out trying to allocate devices"
AGAIN = 256  # how often the oracle is asked anew where it may have answered by chance, twice one in eight


def kube_scheduler_of(release):
    """Where tests/controlplane/controlplane build puts the one of that release."""
    folder = os.path.join(TOP, "build", "controlplane", *([] if release == RELEASES[0] else [release]))
    return os.path.join(folder, "bin", "kube-scheduler")


def oracle_of(release):
    """Where oracle/build puts the one of that release."""
    return ORACLE if release == RELEASES[0] else os.path.join(TOP, "build", "fidelity", release, "oracle")


def write_all(to, lines):
    try:
        for line in lines:
            to.write(line.encode() + b"\n")
        to.close()
    except BrokenPipeError:
        pass  # it died; what it did not answer is asked again


def answers(command, lines):
    """One answer a line, as text without its end; None where the program died on that line."""
    at = 0
    for _ in range(RESTARTS_MAX):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        writer = threading.Thread(target=write_all, args=(process.stdin, lines[at:]), daemon=True)
        writer.start()
        for answer in process.stdout:
            if at == len(lines) or not answer.endswith(b"\n"):
                break
            yield answer[:-1].decode()
            at += 1
        process.stdout.close()
        process.wait()
        writer.join()
        if at == len(lines):
            return
        yield None
        at += 1
        if at == len(lines):
            return
    raise RuntimeError("%s died %d times" % (command[0], RESTARTS_MAX))


def ahead(items):
    """The same items, made by a thread of its own a little before they are wanted."""
    made, end = queue.Queue(64), object()

    def make():
        try:
            for item in items:
                made.put(item)
            made.put(end)
        except BaseException as error:  # for the one who waits
            made.put(error)
    threading.Thread(target=make, daemon=True).start()
    while True:
        item = made.get()
        if item is end:
            return
        if isinstance(item, BaseException):
            raise item
        yield item


def with_true_counts(line):
    """The scenario with pools of devices that say how many slices they have. Where one says less, upstream's nodes
    see different parts of it, and what the first of them sees of its counters is used for all: chance, as nodes
    are looked at in parallel."""
    scenario = json.loads(line)
    slices = [o["spec"] for o in scenario["objects"] if o.get("kind") == "ResourceSlice"]
    for spec in slices:
        pool = spec["pool"]
        alike = [s for s in slices if s.get("driver") == spec.get("driver") and s["pool"].get("name") == pool.get("name")
                 and s["pool"].get("generation") == pool.get("generation")]
        if any(s.get("sharedCounters") for s in alike) and pool.get("resourceSliceCount", 0) < len(alike):
            pool["resourceSliceCount"] = len(alike)
    return json.dumps(scenario)


class Played:
    """What all said of one scenario: the oracle's line, and berth's by number of shards."""

    def __init__(self, defaulted, expected, got):
        self.defaulted, self.expected, self.got = defaulted, expected, got

    def oracle_trouble(self):
        """Why the oracle's answer cannot be used; None where it can."""
        if self.expected is None:
            return "the oracle died"
        found = json.loads(self.expected)
        if found.get("error", "").startswith("panic"):
            return found["error"]
        for r in found["results"]:
            while r:
                if r.get("selfCheck"):
                    return "%s: %s" % (r.get("pod"), r["selfCheck"])
                r = r.get("retry")
        return None

    def before_timeout(self):
        """What was said before the oracle's first search for devices that ran out of its time: how far that
        comes, and so what follows, hangs on the machine."""
        def cut(line):
            answer = json.loads(line)
            answer["results"] = answer["results"][:end]
            return json.dumps(answer)
        results = json.loads(self.expected)["results"]
        end = next((i for i, r in enumerate(results) if OUT_OF_TIME in json.dumps(r)), len(results))
        return Played(self.defaulted, cut(self.expected), {n: line and cut(line) for n, line in self.got.items()})

    def difference(self):
        """A view.Difference, or None."""
        first = next(iter(self.got))
        for n, line in self.got.items():
            if line is None:
                return view.Difference("shards " + n, "an answer", "berth died")
            if line != self.got[first]:
                a, b = json.loads(self.got[first]), json.loads(line)
                path, x, y = view.first_difference(a, b) or ("order of keys", None, None)
                return view.Difference("shards %s and %s: %s" % (first, n, path), x, y)
        return view.difference(json.loads(self.expected), json.loads(self.got[first]))


class Players:
    def __init__(self, oracle=None, berth=BERTH, shards=("1", "2", "3", "7", "16"), jobs=8, check=False, release=RELEASES[0]):
        self.oracle, self.berth, self.shards, self.jobs, self.check = oracle or oracle_of(release), berth, shards, jobs, check
        self.release = release

    def berth_command(self, shards):
        return ["nice", self.berth, "simulate", "-batch", "-shards", shards, "-release", self.release]

    def oracle_command(self, *more):
        return ["nice", self.oracle, "-batch", "-j", str(self.jobs), *more]

    def decide_command(self):
        return self.oracle_command("-compact", *([] if self.check else ["-nocheck"]))

    def defaulted(self, scenarios):
        """As the API server would hold them. One that it would refuse stays as it is, with its error."""
        return list(answers(self.oracle_command("-defaults-only"), [json.dumps(s) for s in scenarios]))

    def play(self, scenarios, expected=None):
        """Yields a Played for each scenario, in order. `expected` are the oracle's answers where they
        are known already."""
        lines = self.defaulted(scenarios)
        usable = [line if line is not None and "objects" in json.loads(line) else json.dumps(scenarios[i])
                  for i, line in enumerate(lines)]
        oracle = ahead(expected if expected is not None else answers(self.decide_command(), usable))
        streams = [ahead(answers(self.berth_command(n), usable)) for n in self.shards]
        for i, (want, *got) in enumerate(zip(oracle, *streams)):
            yield Played(lines[i], want, dict(zip(self.shards, got)))

    def by_chance(self, played):
        """True when the oracle, asked again, also gives the answer that berth gave: upstream leaves the
        matter to chance (the order of a Go map), or a wait of the oracle's ran out on a busy machine.

        It has to give all of that answer at once: where a scenario leaves several matters to chance, each by itself is often
        seen and all of them together may never be, and then it counts as a difference and is to be looked at."""
        if self.had_no_time(played):
            return True
        if OUT_OF_TIME in (played.expected or ""):
            return played.before_timeout().difference() is None
        if self.counts_slices_wrong(played):
            return True
        end = time.monotonic() + AGAIN_SECONDS
        for _ in range(AGAIN // AGAIN_AT_ONCE):
            lines = list(answers(self.decide_command(), [played.defaulted] * AGAIN_AT_ONCE))
            if any(line is not None and Played(played.defaulted, line, played.got).difference() is None
                   for line in lines):
                return True
            if time.monotonic() > end:
                break
        return False

    def counts_slices_wrong(self, played):
        """True when all agree once pools say how many slices they have."""
        line = with_true_counts(played.defaulted)
        if json.loads(line) == json.loads(played.defaulted):
            return False
        got = {n: list(answers(self.berth_command(n), [line]))[0] for n in self.shards}
        expected = list(answers(self.decide_command(), [line]))[0]
        return expected is not None and Played(line, expected, got).difference() is None

    def had_no_time(self, played):
        """True when a search of berth's for devices ended with its time, and berth, asked again, gives the
        oracle's answer."""
        if not any(OUT_OF_TIME in (line or "") for line in played.got.values()):
            return False
        got = {n: list(answers(self.berth_command(n), [played.defaulted]))[0] for n in self.shards}
        return Played(played.defaulted, played.expected, got).difference() is None
