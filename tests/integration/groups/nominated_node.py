"""A pod's claim on a node, status.nominatedNodeName: when it comes, moves, counts and goes."""
from build import node, nowhere, pod, taint, unhelpful
import checks
from evidence import evicted
from stage import case

GROUP = "nominated_node/"


def cpu(amount):
    return {"cpu": str(amount)}


def filled(it, capacity, lows):
    """Node @a with pods of 1 CPU each that stay when they are told to end."""
    it.nodes(node("@a", cpu=str(capacity)))
    names = ["@low-%d" % i for i in range(lows)]
    it.create_all([pod(name, priority="low", requests=cpu(1)) for name in names])
    for name in names:
        it.bound(name)
    return names


def medium_preempts(it, amount):
    it.create(pod("@medium", priority="medium", requests=cpu(amount)))
    it.holds("@medium", "@a")


@case(GROUP + "cleared_by_a_higher_preemptor")
def higher_preemptor(it):
    lows = filled(it, 5, 4)
    medium_preempts(it, 3)
    it.create(pod("@high", priority="high", requests=cpu(4)))
    it.holds("@high", "@a")
    it.end(*lows)
    it.bound("@high", ["@a"])
    it.holds("@medium", "")
    it.unschedulable("@medium")


@case(GROUP + "cleared_when_a_higher_one_took_the_room")
def higher_took_the_room(it):
    lows = filled(it, 2, 1)
    medium_preempts(it, 2)
    it.create(pod("@high", priority="high", requests=cpu(1)))
    it.bound("@high", ["@a"])
    it.end(*lows)
    it.holds("@medium", "")


@case(GROUP + "cleared_when_the_node_is_gone")
def node_gone(it):
    lows = filled(it, 1, 1)
    medium_preempts(it, 1)
    it.delete("Node", "@a")
    it.end(*lows)
    it.holds("@medium", "")


@case(GROUP + "cleared_when_no_other_node_can_help")
def no_other_node(it):
    it.nodes(node("@tainted", taints=[taint("taint-node", "true")], cpu="1"))
    lows = filled(it, 1, 1)
    medium_preempts(it, 1)
    it.delete("Node", "@a")
    it.end(*lows)
    it.holds("@medium", "")
    it.told("@medium", nowhere(1, "1 node(s) had untolerated taint(s)", unhelpful(1)))


# ---- given by somebody else, before the first attempt ----


def given(it, body, where):
    """A pod that is held back by a gate until somebody has nominated it."""
    body["spec"]["schedulingGates"] = [{"name": "example.com/hold"}]
    name = body["metadata"]["name"]
    it.create(body)
    it.patch("Pod", name, {"status": {"nominatedNodeName": where}}, status=True)
    return name


def let_go(it, name):
    it.patch("Pod", name, {"spec": {"schedulingGates": None}})


@case(GROUP + "preferred_to_a_better_node")
def preferred(it):
    it.nodes(node("@a", cpu="4"), node("@b", cpu="4"))
    it.create(pod("@there", requests=cpu(2), nodeName="@a"))
    let_go(it, given(it, pod("@new", requests=cpu(1)), "@a"))
    it.bound("@new", ["@a"])


@case(GROUP + "left_when_it_does_not_fit")
def left(it):
    it.nodes(node("@a", cpu="500m"), node("@b", cpu="500m"))
    it.create(pod("@there", priority="low", requests={"cpu": "100m"}, nodeName="@a"))
    let_go(it, given(it, pod("@new", priority="high", requests={"cpu": "500m"}), "@a"))
    it.bound("@new", ["@b"])
    it.stays("@there")


@case(GROUP + "overwritten_by_preemption")
def overwritten(it):
    """Two victims where it was nominated, one on the other node."""
    it.nodes(node("@a", cpu="4"), node("@b", cpu="4"))
    for name, amount, where in (("@1", 2, "@a"), ("@2", 2, "@a"), ("@3", 3, "@b")):
        it.create(pod(name, priority="low", grace=0, requests=cpu(amount), nodeName=where))
    let_go(it, given(it, pod("@preemptor", priority="high", requests=cpu(4)), "@a"))
    it.bound("@preemptor", ["@b"])
    checks.expect(it.local("@b") in it.held("@preemptor"), "nominated to %s only",
                  it.held("@preemptor"))
    evicted(it, "@3", "@preemptor", "@b", condition=False)
    it.stays("@1", "@2")


@case(GROUP + "cleared_when_it_never_fits")
def never_fits(it):
    it.nodes(node("@a", cpu="4"))
    let_go(it, given(it, pod("@large", priority="low", requests=cpu(5)), "@a"))
    it.told("@large", nowhere(1, "1 Insufficient cpu", unhelpful(1)))
    it.holds("@large", "")
    it.create(pod("@fits", priority="low", requests=cpu(3)))
    it.bound("@fits", ["@a"])


@case(GROUP + "does_not_keep_out_a_higher_one")
def lower_does_not_keep_out(it):
    it.nodes(node("@a", cpu="4"))
    low = given(it, pod("@low", priority="low", requests=cpu(4)), "@a")
    it.create(pod("@high", priority="high", requests=cpu(4)))
    it.bound("@high", ["@a"])
    let_go(it, low)
    it.unschedulable("@low")
    it.holds("@low", "")


@case(GROUP + "cleared_by_binding")
def cleared_by_binding(it):
    it.nodes(node("@a", cpu="4"))
    let_go(it, given(it, pod("@new", priority="low", requests=cpu(4)), "@a"))
    it.bound("@new", ["@a"])
    it.holds("@new", "")


@case(GROUP + "not_set_where_nothing_takes_time")
def not_set(it):
    it.nodes(node("@a", cpu="4"))
    it.create(pod("@new", requests=cpu(1)))
    it.bound("@new")
    checks.expect(not it.held("@new"), "it was nominated to %s", it.held("@new"))


# ---- who waits for a claim to end ----


def waiting_for_the_claim(it):
    """Of 32: a victim of 20 that stays, one of 25 nominated, and one of 10 that waits."""
    it.nodes(node("@a", memory="32"))
    it.create(pod("@low", priority="low", requests={"memory": "20"}))
    it.bound("@low")
    it.create(pod("@medium", priority="medium", requests={"memory": "25"}))
    it.holds("@medium", "@a")
    it.create(pod("@waiting", priority="low", requests={"memory": "10"}))
    it.unschedulable("@waiting")


@case(GROUP + "its_end_wakes_who_waited")
def removed(it):
    waiting_for_the_claim(it)
    it.end("@medium")
    it.bound("@waiting", ["@a"])


@case(GROUP + "its_loss_wakes_who_waited")
def lost(it):
    """One of higher priority takes the room: the nominated pod fits no more, the waiting one does."""
    waiting_for_the_claim(it)
    it.create(pod("@high", priority="high", requests={"memory": "10"}))
    it.bound("@high", ["@a"])
    it.end("@low")
    it.holds("@medium", "")
    it.bound("@waiting", ["@a"])
