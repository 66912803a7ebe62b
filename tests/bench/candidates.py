"""The schedulers that are compared, as command lines, and the API server that a run gets."""
import collections
import json
import os
import shlex
import sys

import audit
import cluster
import gang
import gates as case_gates
import objects

REFERENCE = "{programs}/kube-scheduler --config {config} --secure-port 0"
# Command, and what its configuration says beyond the client's limits, which all share.
KNOWN = {
    "berth": ("build/bin/berth run --config {config} --run-dir {rundir} --secure-port 0 --workers {workers}", {}),
    "kube-scheduler": (REFERENCE, {}),
    "kube-scheduler-100": (REFERENCE, {"percentage": 100}),
    "coscheduling": ("build/controlplane/bin/kube-scheduler-coscheduling --config {config} --secure-port 0",
                     {"profiles": [gang.PROFILE]}),
    "ceiling": ("build/bench/perf ceiling --kubeconfig {kubeconfig} {json}", {}),
    "ceiling-binding": ("build/bench/perf ceiling --events=false --kubeconfig {kubeconfig} {json}", {}),
    "ceiling-allocating": ("build/bench/perf ceiling --claims --kubeconfig {kubeconfig} {json}", {}),
    "ceiling-evicting": ("build/bench/perf ceiling --victims {victims} --kubeconfig {kubeconfig} {json}", {}),
}
# How many pods a preemptor evicts, by the beginning of a case's name: as many as kube-scheduler does; else three.
VICTIMS = {"GangPreemptionBasic": 10, "GangPreemptionAffinity": 10, "GangPreemptionPodGroups": 5,
           "PreemptionPodGroupDisruptionMode": 36}
# Those that are told the feature gates of a case; others find them in {gates}.
TAKE_GATES = ("berth", "kube-scheduler", "kube-scheduler-100")
# What a berth's own figures are asked with, when the run is over: names and numbers in what it prints.
STATUS = "build/bin/berth status -v --run-dir {rundir}"
PLACER = "scheduler-a"  # its user, whose requests are no candidate's
VERBS = {"create": "POST", "update": "PUT", "patch": "PATCH", "get": "GET", "list": "LIST", "watch": "WATCH",
         "delete": "DELETE", "deletecollection": "DELETE"}


class RealServer(cluster.RealCluster):
    """kube-apiserver without an audit log, which would cost it time; with a store, on a copy of it."""

    def __init__(self, directory, flags, release, store=None):
        self.store = store
        super().__init__(directory, flags, release)

    def begin(self):
        self.tool("start", "--release", self.release, *["--apiserver-arg=" + flag for flag in self.flags],
                  *(["--store", self.store] if self.store else []))

    def stop(self):
        self.tool("stop", "--now")

    def save(self, store):
        """Ends the server, too."""
        self.tool("save", store)

    def server_pids(self):
        with open(os.path.join(self.directory, "state.json")) as file:
            return [pid for pid, _ in json.load(file)["processes"].values()]


class SmallServer(cluster.SmallCluster):
    def server_pids(self):
        return [self.process.pid]


def start_server(options, gates, directory, store=None):
    """An API server of a run's own, for a case with these gates: kubeconfig(user), server_pids(), stop(); only the
    real one has stores."""
    os.makedirs(directory, exist_ok=True)
    flags = case_gates.server_flags(options.release, gates)
    if options.api == "real":
        return RealServer(directory, flags, options.release, store)
    # The small one has no gates, and all versions of devices that it has.
    return SmallServer(directory, [flag for flag in flags if "=scheduling.k8s.io/" in flag], options.release)


def fits(name, case, gates):
    """Whether a candidate plays a case with these gates unless told otherwise: one with groups against the one with the
    plugin, one whose pods each need the room of others beside a ceiling that makes room, and one with claims
    beside a ceiling that allocates them (extended resources become claims in the scheduler alone). The one that
    sends Bindings alone plays when it is named."""
    if name == "ceiling-binding":
        return False
    if name == "ceiling-evicting":
        return case.startswith(("PreemptionBasic", *VICTIMS))
    if name == "ceiling-allocating":
        return "DynamicResourceAllocation=true" in gates.given and "ExtendedResource" not in case
    upstream = ("coscheduling",) if case.startswith("Gangs") else ("kube-scheduler", "kube-scheduler-100")
    return name not in ("kube-scheduler", "kube-scheduler-100", "coscheduling") or name in upstream


def chosen(options):
    """The names of the candidates; those given by --with are known from here on."""
    names = [name for name in (options.candidates or ",".join(KNOWN)).split(",") if name]
    for other in options.others:
        name, _, command = other.partition("=")
        KNOWN[name] = (command, {})
        names.append(name)
    for name in names:
        if name not in KNOWN:
            sys.exit("bench: no candidate %s, but %s" % (name, ", ".join(KNOWN)))
    if not cluster.reference_scheduler(options.release):
        print("kube-scheduler is not built (tests/controlplane/controlplane build): without it")
        names = [name for name in names if KNOWN[name][0] is not REFERENCE]
    if "coscheduling" in names and not cluster.coscheduling():
        if any(case.startswith("Gangs") for case in options.cases):
            print("kube-scheduler-coscheduling is not built (tests/controlplane/controlplane build --coscheduling): "
                  "without it")
        names.remove("coscheduling")
    return names


def command(name, options, world, gates, case, profiles=None):
    """The words of a candidate's command in that case with these gates, its configuration written."""
    template, configuration = KNOWN[name]
    if profiles:
        configuration = dict({"profiles": profiles}, **configuration)
    rundir = os.path.join(world.directory, "rundir")
    os.makedirs(rundir, mode=0o700, exist_ok=True)
    config = os.path.join(world.directory, "config.yaml")
    kubeconfig = world.kubeconfig("scheduler")
    write_config(config, kubeconfig, options, "{rundir}" in template, configuration)
    words = shlex.split(template.format(
        config=config, kubeconfig=kubeconfig, rundir=rundir, workers=options.workers, gates=",".join(gates.given),
        victims=next((count for begin, count in VICTIMS.items() if case.startswith(begin)), 3),
        programs=cluster.programs(options.release), json="--json" if options.api == "small" else ""))
    return words + (gates.flag() if name in TAKE_GATES else [])


def write_config(path, kubeconfig, options, ours, configuration):
    # kube-scheduler writes protobuf unless told otherwise; our API server answers in JSON alone.
    json_only = options.api == "small" and not ours
    with open(path, "w") as file:
        file.write(objects.configuration(kubeconfig, json_only=json_only, **configuration))


def placer(options, world, gates, profiles=None):
    """Who places pods that are there before and have claims or groups: kube-scheduler, and berth where that is not
    built. It does not hold the lease that the candidate will want."""
    ours = not cluster.reference_scheduler(options.release)
    rundir = os.path.join(world.directory, "placer")
    os.makedirs(rundir, mode=0o700, exist_ok=True)
    config = os.path.join(world.directory, "placer.yaml")
    write_config(config, world.kubeconfig(PLACER), options, ours, {"profiles": profiles})
    words = KNOWN["berth" if ours else "kube-scheduler"][0].format(
        config=config, rundir=rundir, workers=1, programs=cluster.programs(options.release))
    return shlex.split(words) + gates.flag() + ["--leader-elect=false"]


def status(name, world):
    """The command that asks for a candidate's own figures, or None; who has a run directory is a berth."""
    return STATUS.format(rundir=os.path.join(world.directory, "rundir")) if "{rundir}" in KNOWN[name][0] else None


def requests(log):
    """Requests of a candidate, by verb and resource, from an audit log."""
    counts = collections.Counter()
    for request in log.read():
        if request.user not in ("admin", PLACER):
            what = request.resource + ("/" + request.subresource if request.subresource else "")
            counts["%s %s" % (VERBS.get(request.verb, request.verb), what)] += 1
    return dict(counts)


def tail(path, lines=8):
    if not os.path.exists(path):
        return []
    with open(path, errors="replace") as file:
        return file.read().splitlines()[-lines:]
