"""On what a result was measured: processor, cores, memory, kernel, commit, versions, options."""
import os
import platform
import subprocess
import time

import cluster


def first(path, start):
    """What follows the colon in the first line that begins so."""
    with open(path) as file:
        for line in file:
            if line.startswith(start):
                return line.split(":", 1)[1].strip()
    return "?"


def output(*command):
    try:
        return subprocess.run(command, cwd=cluster.TOP, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, timeout=30).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def about(options):
    reference = cluster.reference_scheduler(options.release)
    return {
        "date": time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime()),
        "commit": output("git", "describe", "--always", "--dirty", "--abbrev=12") or "unknown",
        "processor": first("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(int(first("/proc/meminfo", "MemTotal").split()[0]) / 2**20, 1),
        "kernel": platform.release(),
        "load": round(os.getloadavg()[0], 2),
        "kube_scheduler": output(reference, "--version") if reference else "not built",
        "options": {name: getattr(options, name) for name in (
            "api", "release", "mode", "rate", "nodes", "init_pods", "pods", "pairs", "init", "workers", "cases")},
    }


def text(what):
    options = what["options"]
    size = "%d nodes" % options["nodes"] if options["nodes"] else "upstream's sizes"
    rate = " at %s pods/s" % options["rate"].replace("half", "half the ceiling's") if options["mode"] == "arrival" else ""
    return ("%s API server, %s, %s%s, %d pairs; commit %s, %s\n%s, %d cores, %s GiB, Linux %s, load %.2f; %s" % (
        options["api"], size, options["mode"], rate, options["pairs"], what["commit"], what["date"],
        what["processor"], what["cores"], what["memory_gib"], what["kernel"], what["load"], what["kube_scheduler"]))
