"""A day with three nodes: pods that fit, are balanced, preempt, and keep away from each other."""
from build import (any_of, apart, no_victims, node, nowhere, pod, rather_apart, term)
import checks
from evidence import evicted, spared
from stage import case

GROUP = "walkthrough/"
NODES = ("@1", "@2", "@3")
ROOM = {"cpu": "8", "memory": "16Gi"}
SMALL = {"cpu": "2", "memory": "4Gi"}
LARGE = {"cpu": "8", "memory": "12Gi"}
HOST = "kubernetes.io/hostname"


def three_nodes_three_pods(it):
    """A, B and C on a node each; where they are."""
    it.nodes(*[node(name, **ROOM) for name in NODES])
    places = {}
    for name in ("a", "b", "c"):
        it.create(pod("@" + name, {"app": name}, requests=SMALL, priority="low"))
        places[name] = it.bound("@" + name)
    checks.expect(len(set(places.values())) == 3, "the three pods are on %s", places)
    return places


@case(GROUP + "one_pod_on_each_node")
def balance(it):
    three_nodes_three_pods(it)


@case(GROUP + "a_large_pod_preempts_where_one_victim_is_enough")
def preempts(it):
    """At equal priority it waits; with a higher one it goes where fewest are in its way."""
    places = three_nodes_three_pods(it)
    it.create(pod("@d", requests=LARGE, priority="low"))
    it.told("@d", nowhere(3, "3 Insufficient cpu", no_victims(3)))
    it.end("@d")
    for name, beside in (("@a-2", "a"), ("@b-2", "b")):
        it.create(pod(name, requests=SMALL, priority="low",
                      nodeSelector={HOST: places[beside]}))
        it.bound(name)
    it.create(pod("@urgent", requests=LARGE, priority="high"))
    it.holds("@urgent", places["c"])
    evicted(it, "@c", "@urgent", places["c"])
    spared(it, "@a", "@a-2", "@b", "@b-2")
    it.unschedulable("@urgent")
    it.end("@c")
    it.bound("@urgent", [places["c"]])


@case(GROUP + "never_with_a_and_rather_with_c_than_with_b")
def affinity(it):
    """Three that must not be with A, and mind B ten times as much as C; then there is no more room."""
    places = three_nodes_three_pods(it)
    keeps_away = dict(apart(term(HOST, any_of("app", "a"))))
    keeps_away["podAntiAffinity"] = dict(
        keeps_away["podAntiAffinity"],
        **rather_apart((100, term(HOST, any_of("app", "b"))),
                       (10, term(HOST, any_of("app", "c"))))["podAntiAffinity"])
    for number, best in enumerate(("c", "c", "b")):
        # Two fit beside C, and one more beside B.
        name = "@d-%d" % number
        it.create(pod(name, {"app": "d"}, requests={"cpu": "3", "memory": "1Gi"}, affinity=keeps_away))
        it.bound(name, [places[best]])
    it.create(pod("@d-3", {"app": "d"}, requests={"cpu": "6", "memory": "1Gi"}, affinity=keeps_away))
    it.told("@d-3", nowhere(
        3, "1 node(s) didn't match pod anti-affinity rules, 2 Insufficient cpu", no_victims(3)))
