"""Many pods on many nodes, the ordinary way and with either kind of credentials."""
import re
import shutil
import subprocess

import checks
import kube
import objects
from suite import case


@case("bulk")
def bulk(world):
    """All are bound, each by one Binding and with one event, and no node is overcommitted."""
    count = world.options.pods
    objects.small_nodes(world.admin, world.options.nodes)
    pods = world.pods()
    world.scheduler()
    world.admin.create_many(kube.PODS, objects.small_pods(count))
    checks.all_bound(pods, count, 300)
    uids = [uid for uid, _, _ in pods.items.values()]
    checks.no_overcommit(world.admin)
    checks.one_binding_each(world.log, uids)
    checks.one_event_each(world.admin, uids, "Scheduled")
    describe_reads_as_with_kube_scheduler(world, pods)


def describe_reads_as_with_kube_scheduler(world, pods):
    """kubectl describe shows the line that people know."""
    name, (_, node, _) = sorted(pods.items.items())[0]
    if not shutil.which("kubectl"):
        return print("skipped bulk/describe: no kubectl here")
    done = subprocess.run(["kubectl", "--kubeconfig", world.cluster.kubeconfig("admin"), "describe",
                           "pod", name], capture_output=True, text=True, timeout=60)
    line = (r"^ +Normal +Scheduled +\S+ +default-scheduler +"
            r"Successfully assigned default/%s to %s$" % (name, node))
    checks.expect(re.search(line, done.stdout, re.MULTILINE), "kubectl describe pod %s: %s%s", name,
                  done.stdout[-600:], done.stderr)


@case("client-certificate")
def client_certificate(world):
    """The kubeconfig may hold a certificate instead of a token."""
    objects.small_nodes(world.admin, 3)
    pods = world.pods()
    world.scheduler(user="scheduler-cert")
    world.admin.create_many(kube.PODS, objects.small_pods(20))
    checks.all_bound(pods, 20, 60)
    users = {request.user for request in world.log.bound()}
    checks.expect(users == {"system:kube-scheduler"}, "Bindings were written by %s", users)
