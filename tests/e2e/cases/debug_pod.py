"""Full detail of one pod in the log of every process, which ends by itself."""
import os
import re
import subprocess

import checks
import cluster
import kube
import objects
from suite import case

KINDS = {"watcher", "queue", "scheduler", "binder", "worker-0", "worker-1"}


def asked(subject, *words):
    done = subprocess.run([os.path.join(cluster.TOP, "build/bin/berth"), "debug", *words, "--run-dir", subject.rundir], timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def lines(subject, what):
    return [line for line in subject.log_lines() if re.search(what, line)]


def processes(found):
    return {re.search(r" proc=(\S+)", line)[1] for line in found}


@case("debug-pod", not_upstream="berth debug is berth's")
def debug_pod(world):
    """One pod of three is watched; then none."""
    objects.small_nodes(world.admin, 3)
    pods = world.pods()
    subject = world.scheduler()
    world.admin.create(kube.PODS, objects.pod("before"))
    checks.all_bound(pods, 1, 60)
    status, out, complaint = asked(subject, "pod", "default/watched", "--for", "4s")
    checks.expect(status == 0 and "log everything about pod default/watched for 4 s" in out, "it says %s%s", out, complaint)
    world.admin.create_many(kube.PODS, [objects.pod("watched"), objects.pod("other")])
    checks.all_bound(pods, 3, 60)
    ends = r'msg="full detail ends" pod=default/watched'
    checks.wait_until(20, lambda: len(lines(subject, ends)) >= len(KINDS), "it does not end everywhere")
    told = lines(subject, r'msg="(heard|said)"')
    checks.expect({"watcher", "queue", "scheduler", "binder"} <= processes(told), "messages are told by %s", processes(told))
    checks.expect(all("watched" in line for line in told), "others are told of: %s", told[:3])
    for message in ("pod_set", "attempt", "bind", "bind_result", "outcome"):
        checks.expect(any(" message=%s " % message in line for line in told), "no %s is told", message)
    detail = [line for line in lines(subject, " level=debug ") if "watched" in line]
    checks.expect(any('msg="placed"' in line for line in detail) and any('msg="bound"' in line for line in detail),
                  "the detail is %s", detail)
    checks.expect(not [line for line in lines(subject, " level=debug ") if "watched" not in line], "all else is told, too")
    world.admin.create(kube.PODS, objects.pod("after"))
    checks.all_bound(pods, 4, 60)
    checks.expect(len(lines(subject, r'msg="(heard|said)".*after')) == 0, "it goes on")
    for words, why in ((("pod", "default/x", "--for", "2h"), "for"), (("pod", "a/b/c"), "usage"), (("node", "n1"), "usage")):
        status, _, complaint = asked(subject, *words)
        checks.expect(status == 1 and why in complaint, "%s: it says %s", words, complaint)
