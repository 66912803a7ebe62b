"""Hosts far away: network namespaces behind a slow and lossy line (link.c), and berth with its workers there.

All of it lives in a network namespace that links makes for itself, so its addresses and ports meet nobody
else's. Every process here ends with the one that started it (setpriv --pdeathsig, and link by itself), a
namespace goes with its last process and a TUN interface with its link: whatever ends links, nothing stays.
"""
import json
import os
import select
import signal
import socket
import struct
import subprocess
import time

import kube
import objects

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BIN = os.path.join(TOP, "build", "release", "bin")
LINK = os.path.join(TOP, "build", "release", "tests", "scale", "link")
TUN = "/dev/net/tun"
NEEDED = ("unshare", "nsenter", "setpriv")  # of util-linux
PROGRAMS = [LINK] + [os.path.join(BIN, name) for name in (
    "apiserver", "berth", "berth-watcher", "berth-queue", "berth-scheduler", "berth-binder")]
DOOR = 7000
SERVER = "127.0.0.1:8080"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
HELD_SECONDS = 600   # longer than it takes to prepare a run
RETRY_SECONDS = 0.5  # how often a binder that stands by looks at the lease
NET = "198.18.%d.%d"  # set aside for measuring networks (RFC 2544)


def wait_until(seconds, condition, why):
    """What condition gives as soon as that is something; not to be waited for without an end."""
    deadline = time.monotonic() + seconds
    pause = select.poll()
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise RuntimeError("%s within %g s" % (why, seconds))
        pause.poll(20)


class Process:
    """One that ends with this program; what it says lies in a file."""

    def __init__(self, name, command, directory, within=None, talks=False):
        """within: a process in whose network namespace it runs; talks: its output can be read."""
        self.name, self.log = name, os.path.join(directory, name + ".log")
        enter = ["nsenter", "--net=/proc/%d/ns/net" % within, "--"] if within else []
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                enter + ["setpriv", "--pdeathsig", "KILL", "--"] + command, cwd=TOP, stderr=log,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if talks else log, start_new_session=True)
        self.pid = self.process.pid

    def must_run(self):
        if self.process.poll() is not None:
            raise RuntimeError("%s ended with %d: %s" % (self.name, self.process.returncode, self.said()[-500:]))

    def said(self):
        with open(self.log, errors="replace") as log:
            return log.read()

    def end(self, seconds=10):
        """Its last words, where they can be read."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            words, _ = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            words, _ = self.process.communicate(timeout=seconds)
        return words


class Line:
    """What is between the hosts: delay each way and its jitter in us, loss in percent."""

    def __init__(self, delay_us=0, loss=0.0, jitter_us=0, seed=1, rto_min_us=None):
        self.delay_us, self.loss, self.jitter_us, self.seed = delay_us, loss, jitter_us, seed
        self.rto_min_us = rto_min_us

    def set_rto_min(self, within=None):
        """How long TCP waits at least before it sends again; holds for sockets made from now on, and those that
        come of them."""
        if self.rto_min_us:
            enter = ["nsenter", "--net=/proc/%d/ns/net" % within] if within else []
            subprocess.run(enter + ["sh", "-c", "echo %d >/proc/sys/net/ipv4/tcp_rto_min_us" % self.rto_min_us],
                           check=True, timeout=10)


class FarHost:
    """A namespace, the line to it, and a worker in it."""

    def __init__(self, number, line, directory):
        self.number, self.line, self.directory = number, line, directory
        self.here, self.there = NET % (number, 1), NET % (number, 2)
        self.holder = self.link = self.worker = None

    def open(self):
        """The namespace, which is that of a process that only waits, and the line to it."""
        own = os.readlink("/proc/self/ns/net")
        self.holder = Process("holder-%d" % self.number, ["unshare", "--net", "sleep", "infinity"], self.directory)
        wait_until(10, lambda: os.readlink("/proc/%d/ns/net" % self.holder.pid) != own, "no namespace was made")
        self.link = Process("link-%d" % self.number, [
            LINK, "--namespace", "/proc/%d/ns/net" % self.holder.pid, "--here", self.here, "--there", self.there,
            "--delay-us", str(self.line.delay_us), "--jitter-us", str(self.line.jitter_us),
            "--loss-percent", str(self.line.loss), "--seed", str(self.line.seed * 1000 + self.number)],
            self.directory, talks=True)
        if not select.select([self.link.process.stdout], [], [], 10)[0] or \
                self.link.process.stdout.readline() != b"ready\n":
            raise RuntimeError("link %d is not ready: %s" % (self.number, self.link.said()))
        self.line.set_rto_min(within=self.holder.pid)

    def start_worker(self):
        self.worker = Process("worker-%d" % self.number, [
            os.path.join(BIN, "berth-scheduler"), "--worker", "--name=worker-%d" % self.number,
            "--run-dir=%s" % make(self.directory, "run-%d" % self.number),
            "--curve-dir=%s/keys" % self.directory, "--peer=scheduler=tcp://%s:%d" % (self.here, DOOR)],
            self.directory, within=self.holder.pid)

    def cut(self):
        self.link.process.send_signal(signal.SIGUSR1)

    def mend(self):
        self.link.process.send_signal(signal.SIGUSR2)

    def round_trips(self, count, patience=1.0):
        """Milliseconds of each ping that came back, as the kernel there answers it."""
        found = []
        with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as ping:
            for number in range(1, count + 1):
                found += one_round_trip(ping, self.there, number, patience)
        return found

    def close(self):
        """Everything, in the order in which nobody misses the other; gives what the link has carried."""
        told = None
        for process in (self.worker, self.link, self.holder):
            if process:
                words = process.end()
                if process is self.link and words:
                    told = json.loads(words)
        return told


def make(directory, name):
    path = os.path.join(directory, name)
    os.makedirs(path, mode=0o700, exist_ok=True)
    return path


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def one_round_trip(ping, address, number, patience):
    """[milliseconds], or [] when nothing came back in time."""
    mine = os.getpid() & 0xffff
    head = struct.pack("!BBHHH", 8, 0, 0, mine, number)
    begun = time.monotonic()
    ping.sendto(struct.pack("!BBHHH", 8, 0, checksum(head), mine, number), (address, 0))
    while True:
        left = begun + patience - time.monotonic()
        if left <= 0 or not select.select([ping], [], [], left)[0]:
            return []
        answer = ping.recv(2048)
        now = time.monotonic()
        if struct.unpack("!BBHHH", answer[20:28]) [0::3] == (0, mine) and \
                answer[26:28] == struct.pack("!H", number):
            return [1000 * (now - begun)]


class Berth:
    """The small API server, berth's processes here, and its workers on far hosts.

    Until lead() somebody else holds the lease: berth stands by, its workers have joined and know their
    nodes, pods wait. From then on all of them are decided at once.
    """

    def __init__(self, directory, line, hosts):
        self.directory = directory
        self.processes = []
        self.hosts = [FarHost(number + 1, line, directory) for number in range(hosts)]
        self.client = None

    def start(self):
        self.hosts[0].line.set_rto_min()
        self.start_server()
        subprocess.run([os.path.join(BIN, "berth"), "keys", os.path.join(self.directory, "keys")], check=True,
                       timeout=30, stdout=subprocess.DEVNULL)
        self.client.create(LEASE, lease("somebody else", HELD_SECONDS))
        config = os.path.join(self.directory, "config.yaml")
        with open(config, "w") as file:
            file.write(objects.configuration(self.kubeconfig, lease=(15, 10, RETRY_SECONDS)))
        run = ["--run-dir=%s" % make(self.directory, "run"), "--config=%s" % config,
               "--curve-dir=%s/keys" % self.directory]
        self.add("watcher", [os.path.join(BIN, "berth-watcher")] + run)
        self.add("queue", [os.path.join(BIN, "berth-queue")] + run)
        self.add("scheduler", [os.path.join(BIN, "berth-scheduler"), "--listen=tcp://*:%d" % DOOR] + run)
        self.add("binder", [os.path.join(BIN, "berth-binder")] + run)
        for host in self.hosts:
            host.open()

    def start_server(self):
        self.kubeconfig = os.path.join(self.directory, "kubeconfig")
        port = os.path.join(self.directory, "port")
        self.add("apiserver", [os.path.join(BIN, "apiserver"), "--listen", SERVER, "--port-file", port,
                               "--write-kubeconfig", self.kubeconfig, "--kubelet", "none", "--log-level", "warn",
                               "--watch-history", "1000000", "--audit-log", os.path.join(self.directory, "audit.log")])
        wait_until(20, lambda: os.path.exists(port) and os.path.exists(self.kubeconfig), "the API server is not ready")
        self.client = kube.Client(self.kubeconfig)

    def add(self, name, command):
        self.processes.append(Process(name, command, self.directory))

    def start_workers(self, nodes):
        for host in self.hosts:
            host.start_worker()
        wait_until(60, lambda: self.joined() and self.counters("scheduler")["nodes"] == nodes,
                   "the workers have not joined")

    def joined(self):
        """Whether every worker is there, with nodes of its own."""
        told = self.counters("scheduler")
        shares = str(told.get("worker_nodes", "")).split()
        return told.get("workers") == len(self.hosts) == len(shares) and "0" not in shares

    def asked(self, name):
        """What a process says of itself, {} while it does not answer."""
        door = "tcp://127.0.0.1:%d" % DOOR if name == "scheduler" else "ipc://%s/run/%s.sock" % (self.directory, name)
        done = subprocess.run(
            [os.path.join(BIN, "berth"), "status", "-o", "json", "--endpoint", door, "--curve-dir",
             os.path.join(self.directory, "keys")], timeout=30, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            check=False)
        try:
            return json.loads(done.stdout)["processes"][0]
        except (ValueError, KeyError, IndexError):
            return {}

    def counters(self, name):
        return self.asked(name).get("status", {})

    def lead(self):
        """The lease is given back, as whoever held it does at its end."""
        version = self.client.get(LEASE + "/kube-scheduler")["metadata"]["resourceVersion"]
        self.client.put(LEASE + "/kube-scheduler", lease("", 1, version))

    def must_run(self):
        for process in self.processes + [part for host in self.hosts for part in (host.link, host.worker) if part]:
            process.must_run()

    def lost_workers(self):
        """How often the scheduler has taken a worker for gone."""
        said = next(p for p in self.processes if p.name == "scheduler").said()
        return sum("peer down" in line and "kind=worker" in line for line in said.splitlines())

    def stop(self):
        """What each link has carried."""
        told = [host.close() for host in self.hosts]
        for process in reversed(self.processes):
            process.end()
        return told


def lease(holder, seconds, version=None):
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": dict({"name": "kube-scheduler", "namespace": "kube-system"},
                             **{"resourceVersion": version} if version else {}),
            "spec": {"holderIdentity": holder, "leaseDurationSeconds": seconds, "acquireTime": now, "renewTime": now,
                     "leaseTransitions": 0}}
