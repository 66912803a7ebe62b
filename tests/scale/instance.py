"""One `berth run`: its processes, what they cost, and when its log says that something has happened.

It is started in a session of its own, so that killing it means all of its processes and nobody else's.
"""
import calendar
import os
import re
import signal
import time

import checks
import subject

COMMAND = "build/bin/berth run --kubeconfig {kubeconfig} --run-dir {rundir} --secure-port 0 --workers %d"
TICK = os.sysconf("SC_CLK_TCK")
# What a start goes through, in the words of the log: name of the hop, who says it, what.
HOPS = (("nodes listed", "watcher", 'msg="listed" resource=nodes '),
        ("pods listed", "watcher", 'msg="listed" resource=pods '),
        ("everything listed", "watcher", 'msg="every kind is listed"'),
        ("queue has it all", "queue", 'msg="snapshot applied"'),
        ("scheduler has it all", "scheduler", 'msg="snapshot applied"'))


def cpu_of(pid):
    """Seconds of CPU time of a process, all threads."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICK


def memory_of(pid):
    """(PSS now, most RSS ever) in MiB."""
    pss = peak = 0
    with open("/proc/%d/smaps_rollup" % pid) as file:
        for line in file:
            if line.startswith("Pss:"):
                pss = int(line.split()[1])
    with open("/proc/%d/status" % pid) as file:
        for line in file:
            if line.startswith("VmHWM:"):
                peak = int(line.split()[1])
    return pss / 1024, peak / 1024


class Instance:
    def __init__(self, directory, standin, workers, lease):
        flags = []
        if lease != 15:
            flags = ["--leader-elect-lease-duration=%dms" % (lease * 1000),
                     "--leader-elect-renew-deadline=%dms" % (lease * 2000 / 3),
                     "--leader-elect-retry-period=%dms" % (lease * 2000 / 15)]
        self.workers = workers
        self.subject = subject.Subject(COMMAND % workers, directory, standin.kubeconfig, flags)
        self.started = time.time()
        self.subject.start()

    def cpu(self):
        """CPU seconds by process."""
        return {name: cpu_of(pid) for name, pid in self.subject.pids().items()}

    def total_cpu(self):
        return sum(cpu_of(pid) for pid in self.subject.members())

    def memory(self):
        """{process: (PSS, peak)} in MiB."""
        return {name: memory_of(pid) for name, pid in self.subject.pids().items()}

    def identity(self):
        for line in self.subject.log_lines():
            found = re.search(r'msg="starting".*identity=(\S+)', line)
            if found:
                return found.group(1)
        return None

    def said(self, process, text):
        """When its log said it first, since the start; None while it has not."""
        for line in self.subject.log_lines():
            if "proc=%s" % process in line and text in line:
                return moment(line) - self.started
        return None

    def hops(self):
        """{hop: seconds since the start} of those that have happened."""
        said = {name: self.said(process, text) for name, process, text in HOPS}
        return {name: round(at, 2) for name, at in said.items() if at is not None}

    def view_waited(self):
        """Seconds from its leadership until it knew of all that was written before, which it decides after; None while
        it has not led."""
        waits = [re.search(r'msg="view is as new as the term".* waited_ms=(\d+)', line)
                 for line in self.subject.log_lines()]
        waits = [int(found.group(1)) / 1000 for found in waits if found]
        return waits[-1] if waits else None

    def wait_warm(self, seconds):
        """Until it holds the whole cluster and has nothing to do."""
        checks.wait_until(seconds, lambda: len(self.hops()) == len(HOPS) or not self.subject.alive(),
                          "an instance does not hold the cluster")
        checks.expect(self.subject.alive(), "an instance has ended, see %s", self.subject.log_path)
        self.wait_quiet(seconds)

    def wait_quiet(self, seconds):
        before, at = self.total_cpu(), time.monotonic()

        def quiet():
            nonlocal before, at
            if time.monotonic() - at < 0.5:
                return False
            now, when = self.total_cpu(), time.monotonic()
            rate, before, at = (now - before) / (when - at), now, when
            return rate < 0.1
        checks.wait_until(seconds, quiet, "an instance does not come to rest")

    def kill(self):
        """All processes at one moment, as when a machine loses its power. Those that `berth run` started are told
        when it ends, and would give the lease back: so it is stopped, and killed behind them."""
        self.subject.pause()
        own = self.subject.process.pid
        for pid in self.subject.members():
            if pid != own:
                os.kill(pid, signal.SIGKILL)
        checks.wait_until(10, lambda: self.subject.members() == [own], "processes outlive SIGKILL")
        self.subject.kill_all()

    def stop(self):
        self.subject.stop()


def moment(line):
    """Seconds since 1970 of a log line."""
    text, fraction = re.match(r"ts=(\S+)\.(\d+)Z", line).groups()
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%S")) + float("0." + fraction)
