"""Feature gates of a case: which of them are given to the schedulers and the API server, and which cannot be.

berth knows the gates of each release, and refuses what kube-scheduler refuses with the same words: such a gate
(locked, or gone) stays as it is for everybody. What it refuses because it has no place for it is another matter:
a case that needs it is not here."""
import functools
import os
import re
import subprocess

import cluster

BERTH = os.path.join(cluster.TOP, "build", "bin", "berth")
NOT_HERE = re.compile(r"not supported yet: feature gate (\w+=\w+)")
AS_IT_IS = re.compile(r"cannot set feature gate (\w+) to|unrecognized feature gate: (\w+)")
# API versions that gates of a case have served, as scheduler_perf asks for them.
SERVED = {"DynamicResourceAllocation=true": {"1.36": ("resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1", "resource.k8s.io/v1alpha3"),
                                             "1.37": ("resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1", "resource.k8s.io/v1alpha3")},
          "GenericWorkload=true": {"1.36": ("scheduling.k8s.io/v1alpha2",), "1.37": ("scheduling.k8s.io/v1beta1",)}}


class Gates:
    """given: a list of NAME=VALUE for everybody; ignored: those that no kube-scheduler of the release takes;
    refused: the one that berth has no place for, or None."""

    def __init__(self, given, ignored, refused):
        self.given, self.ignored, self.refused = given, ignored, refused

    def flag(self):
        """The flag as words of a command line: one, or none."""
        return ["--feature-gates=" + ",".join(self.given)] if self.given else []


def complaint(release, gates):
    """What berth says of the gates, nothing when it takes them."""
    done = subprocess.run([BERTH, "config", "--release", release, "--feature-gates", ",".join(gates)], text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=30)
    return done.stderr if done.returncode else ""


def sort_out(release, gates, ask=complaint):
    """What becomes of the gates that a case asks for."""
    given, ignored = list(gates), []
    while given:
        text = ask(release, given)
        if not text:
            break
        missing, fixed = NOT_HERE.search(text), AS_IT_IS.search(text)
        if missing:
            return Gates(given, ignored, missing.group(1))
        name = fixed and (fixed.group(1) or fixed.group(2))
        left = [gate for gate in given if gate.partition("=")[0] != name]
        if len(left) == len(given):
            raise RuntimeError("berth config --feature-gates %s: %s" % (",".join(given), text))
        ignored += [gate for gate in given if gate not in left]
        given = left
    return Gates(given, ignored, None)


@functools.lru_cache(maxsize=None)
def of(release, gates):
    """The same, for a tuple of gates that was asked for before."""
    return sort_out(release, gates)


def server_flags(release, gates):
    """What kube-apiserver is told in a case with these gates."""
    served = [version for gate in gates.given for version in SERVED.get(gate, {}).get(release, ())]
    return gates.flag() + (["--runtime-config=" + ",".join(version + "=true" for version in served)] if served else [])
