"""Where pods go when nodes are alike: balance, and the choice among equally good nodes."""
import checks
import kube
import objects
from suite import case

# On nodes this large, a few hundred pods without requests do not change any score: always a tie.
HUGE = {"cpu": "100000", "memory": "1000Ti", "pods": "1000"}


@case("spread")
def spread(world):
    """Fit and balance: pods of 2 CPU/4 GiB land on three different nodes of 8 CPU/16 GiB."""
    objects.small_nodes(world.admin, 3, {"cpu": "8", "memory": "16Gi"})
    pods = world.pods()
    world.scheduler()
    for name in ("a", "b", "c"):
        world.admin.create(kube.PODS, objects.pod(name, {"cpu": "2", "memory": "4Gi"}))
    checks.all_bound(pods, 3, 60)
    nodes = sorted(node for _, node, _ in pods.items.values())
    checks.expect(len(set(nodes)) == 3, "the three pods are on %s", nodes)


def ties(world, flag, trials):
    """Place pods one after another on three equal nodes; the nodes chosen, in order."""
    objects.small_nodes(world.admin, 3, HUGE)
    pods = world.pods()
    world.scheduler(flags=[flag] if flag else [])
    for trial in range(trials):
        world.admin.create(kube.PODS, objects.pod("pod-%03d" % trial))
        checks.all_bound(pods, trial + 1, 60)
    return [pods.items["pod-%03d" % trial][1] for trial in range(trials)]


@case("ties-random", not_upstream="kube-scheduler does not choose among equal nodes evenly")
def ties_random(world):
    """Every best node is chosen at least once in 200 (all missing one: less than 1 in 10^34)."""
    chosen = ties(world, None, 200)
    checks.expect(len(set(chosen)) == 3, "only %s were chosen", set(chosen))
    alternating = all(chosen[i] == chosen[i + 3] for i in range(197))
    checks.expect(not alternating, "the choice is a cycle, not random: %s", chosen[:6])


@case("ties-round-robin", not_upstream="--tie-break is a flag of berth")
def ties_round_robin(world):
    """--tie-break=round-robin takes one after another."""
    chosen = ties(world, "--tie-break=round-robin", 30)
    checks.expect(len(set(chosen[:3])) == 3, "the first three are %s", chosen[:3])
    checks.expect(all(chosen[i] == chosen[i + 3] for i in range(27)), "not in turn: %s", chosen)


@case("ties-first", not_upstream="--tie-break is a flag of berth")
def ties_first(world):
    """--tie-break=first always takes the same one."""
    chosen = ties(world, "--tie-break=first", 30)
    checks.expect(len(set(chosen)) == 1, "several were chosen: %s", set(chosen))
