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
}
VERBS = {"create": "POST", "update": "PUT", "patch": "PATCH", "get": "GET", "list": "LIST", "watch": "WATCH",
         "delete": "DELETE", "deletecollection": "DELETE"}


class RealServer(cluster.RealCluster):
    """kube-apiserver without an audit log, which would cost it time."""

    def begin(self):
        self.tool("start")

    def server_pids(self):
        with open(os.path.join(self.directory, "state.json")) as file:
            return [pid for pid, _ in json.load(file)["processes"].values()]


class SmallServer(cluster.SmallCluster):
    def server_pids(self):
        return [self.process.pid]


def start_server(api, directory):
    """An API server of a run's own: kubeconfig(user), server_pids(), stop()."""
    os.makedirs(directory, exist_ok=True)
    return {"real": RealServer, "small": SmallServer}[api](directory)


def fits(name, case):
    """Whether a candidate plays a case unless told otherwise: one with groups against the one with the plugin."""
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
