"""The scheduler under test: any command line with {kubeconfig}, {config} and {rundir}.

Its processes are all those of the session that it was started in, so that killing "the leader" means
every process of it, and never one that somebody else started.
"""
import os
import shlex
import signal
import subprocess
import time

import cluster
import objects

BERTH = "build/bin/berth run --kubeconfig {kubeconfig} --run-dir {rundir} --workers 2 --secure-port 0"
COSCHEDULING = "build/controlplane/bin/kube-scheduler-coscheduling --config {config} --secure-port 0"
SUPERVISOR = "berth"


def reference(release=cluster.RELEASES[0]):
    """The real kube-scheduler of a release."""
    return cluster.programs(release) + "/kube-scheduler --config {config} --secure-port 0"


def stat_of(pid):
    """(state, session) of a process, None when it is gone."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return fields[0], int(fields[3])


def session_members(session):
    """The living processes of a session."""
    members = []
    for name in os.listdir("/proc"):
        stat = stat_of(int(name)) if name.isdigit() else None
        if stat and stat[1] == session and stat[0] not in "ZX":
            members.append(int(name))
    return members


class Subject:
    """One instance: its command, its run directory, its log."""

    def __init__(self, template, directory, kubeconfig, flags=(), json_only=False,
                 **configuration):
        self.directory = directory
        self.rundir = os.path.join(directory, "run")
        self.log_path = os.path.join(directory, "log")
        self.config = os.path.join(directory, "config.yaml")
        os.makedirs(self.rundir, mode=0o700, exist_ok=True)
        self.kubeconfig = kubeconfig
        with open(self.config, "w") as file:
            file.write(objects.configuration(kubeconfig, json_only=json_only, **configuration))
        if configuration:
            # What the case asks for can only be said in a configuration file.
            template = template.replace("--kubeconfig {kubeconfig}", "--config {config}")
        self.command = shlex.split(template.format(kubeconfig=kubeconfig, rundir=self.rundir,
                                                   config=self.config)) + list(flags)
        self.has_actors = "{rundir}" in template
        self.process = None

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command, cwd=cluster.TOP, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, start_new_session=True)
        return self

    def members(self):
        return session_members(self.process.pid) if self.process else []

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def pids(self):
        """Name to pid of its processes, from the run directory; only those that are really its own."""
        if not self.has_actors:
            return {"scheduler": self.process.pid} if self.alive() else {}
        own, found = set(self.members()), {}
        for name in os.listdir(self.rundir):
            if name.endswith(".pid"):
                try:
                    with open(os.path.join(self.rundir, name)) as file:
                        text = file.read().strip()
                except FileNotFoundError:
                    continue  # its process has just ended
                if text.isdigit() and int(text) in own:
                    found[name[:-len(".pid")]] = int(text)
        return found

    def signal_all(self, number):
        """A signal to every process, the supervisor first so that it starts no new ones."""
        for pid in sorted(self.members(), key=lambda pid: pid != self.process.pid):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def pause(self):
        """SIGSTOP, until every process has really stopped."""
        self.signal_all(signal.SIGSTOP)
        deadline = time.monotonic() + 10
        while any((stat_of(pid) or "T")[0] != "T" for pid in self.members()):
            if time.monotonic() > deadline:
                raise RuntimeError("SIGSTOP did not stop all processes")
            time.sleep(0.01)

    def kill_all(self):
        """SIGKILL until no process of the session is left."""
        deadline = time.monotonic() + 10
        while self.members() and time.monotonic() < deadline:
            self.signal_all(signal.SIGKILL)
            time.sleep(0.02)
        self.process.wait(10)

    def terminate(self, seconds=15):
        """The polite way: SIGTERM to the first process; its exit status, or None when it hangs."""
        if self.alive():
            self.process.terminate()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def stop(self):
        """Make sure that nothing is left, whatever happened before."""
        if self.process:
            self.signal_all(signal.SIGCONT)
            self.terminate(10)
            self.kill_all()

    def log_lines(self):
        if not os.path.exists(self.log_path):
            return []
        with open(self.log_path, errors="replace") as file:
            return file.read().splitlines()
