"""The schedulers that are compared, as command lines, and the API server that a run gets."""
import collections
import json
import os
import shlex
import sys

import audit
import cluster
import gang
import objects

REFERENCE = "build/controlplane/bin/kube-scheduler --config {config} --secure-port 0"
# Command, and what its configuration says beyond the client's limits, which all share.
KNOWN = {
    "berth": ("build/bin/berth run --config {config} --run-dir {rundir} --secure-port 0 --workers {workers}", {}),
    "kube-scheduler": (REFERENCE, {}),
    "kube-scheduler-100": (REFERENCE, {"percentage": 100}),
    "coscheduling": ("build/controlplane/bin/kube-scheduler-coscheduling --config {config} --secure-port 0",
                     {"profiles": [gang.PROFILE]}),
    "ceiling": ("build/bench/perf ceiling --kubeconfig {kubeconfig} {json}", {}),
    "ceiling-evicting": ("build/bench/perf ceiling --victims 3 --kubeconfig {kubeconfig} {json}", {}),
}
# What a berth's own figures are asked with, when the run is over: names and numbers in what it prints.
STATUS = "build/bin/berth status --run-dir {rundir}"
VERBS = {"create": "POST", "update": "PUT", "patch": "PATCH", "get": "GET", "list": "LIST", "watch": "WATCH",
         "delete": "DELETE", "deletecollection": "DELETE"}


class RealServer(cluster.RealCluster):
    """kube-apiserver without an audit log, which would cost it time; with a store, on a copy of it."""

    def __init__(self, directory, store=None):
        self.store = store
        super().__init__(directory)

    def begin(self):
        self.tool("start", *(["--store", self.store] if self.store else []))

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


def start_server(api, directory, store=None):
    """An API server of a run's own: kubeconfig(user), server_pids(), stop(); only the real one has stores."""
    os.makedirs(directory, exist_ok=True)
    return RealServer(directory, store) if api == "real" else SmallServer(directory)


def fits(name, case):
    """Whether a candidate plays a case unless told otherwise: one with groups against the one with the plugin, one
    whose pods each need the room of three others beside a ceiling that makes room."""
    if name == "ceiling-evicting":
        return case.startswith("PreemptionBasic")
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
    if not cluster.reference_scheduler():
        print("kube-scheduler is not built (tests/controlplane/controlplane build): without it")
        names = [name for name in names if KNOWN[name][0] is not REFERENCE]
    if "coscheduling" in names and not cluster.coscheduling():
        if any(case.startswith("Gangs") for case in options.cases):
            print("kube-scheduler-coscheduling is not built (tests/controlplane/controlplane build --coscheduling): "
                  "without it")
        names.remove("coscheduling")
    return names


def command(name, options, world):
    """The words of a candidate's command, its configuration written."""
    template, configuration = KNOWN[name]
    rundir = os.path.join(world.directory, "rundir")
    os.makedirs(rundir, mode=0o700, exist_ok=True)
    config = os.path.join(world.directory, "config.yaml")
    kubeconfig = world.kubeconfig("scheduler")
    # kube-scheduler writes protobuf unless told otherwise; our API server answers in JSON alone.
    json_only = options.api == "small" and "{rundir}" not in template
    with open(config, "w") as file:
        file.write(objects.configuration(kubeconfig, json_only=json_only, **configuration))
    return shlex.split(template.format(config=config, kubeconfig=kubeconfig, rundir=rundir, workers=options.workers,
                                       json="--json" if options.api == "small" else ""))


def status(name, world):
    """The command that asks for a candidate's own figures, or None; who has a run directory is a berth."""
    return STATUS.format(rundir=os.path.join(world.directory, "rundir")) if "{rundir}" in KNOWN[name][0] else None


def requests(log):
    """Requests that were not the administrator's, by verb and resource, from an audit log."""
    counts = collections.Counter()
    for request in log.read():
        if request.user != "admin":
            what = request.resource + ("/" + request.subresource if request.subresource else "")
            counts["%s %s" % (VERBS.get(request.verb, request.verb), what)] += 1
    return dict(counts)


def tail(path, lines=8):
    if not os.path.exists(path):
        return []
    with open(path, errors="replace") as file:
        return file.read().splitlines()[-lines:]
