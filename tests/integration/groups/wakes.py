"""A pod that fits nowhere is bound after what it waits for has happened."""
from build import (any_of, claim, near, node, nowhere, pod, taint, term, unhelpful, volume)
from stage import case

GROUP = "filters/becomes_schedulable/"
PARTNER = {"pod-with-affinity": "true"}
NEAR_PARTNER = near(term("region", any_of("pod-with-affinity", "true")))
ONCE = "ReadWriteOncePod"


@case(GROUP + "a_node_comes")
def node_comes(it):
    it.create(pod("@new"))
    it.told("@new", "no nodes available to schedule pods")
    it.create(node("@a"))
    it.bound("@new", ["@a"])


@case(GROUP + "a_taint_goes")
def taint_goes(it):
    it.nodes(node("@a", taints=[taint("test", "test")]))
    it.create(pod("@new"))
    it.told("@new", nowhere(1, "1 node(s) had untolerated taint(s)", unhelpful(1)))
    it.patch("Node", "@a", {"spec": {"taints": None}})
    it.bound("@new")


@case(GROUP + "another_pod_goes")
def pod_goes(it):
    it.nodes(node("@a", pods="1"))
    it.create(pod("@there"))
    it.bound("@there")
    it.create(pod("@new"))
    it.unschedulable("@new")
    it.end("@there")
    it.bound("@new")


@case(GROUP + "a_partner_comes")
def partner_comes(it):
    it.nodes(node("@a", {"region": "test"}))
    it.create(pod("@new", affinity=NEAR_PARTNER))
    it.unschedulable("@new")
    it.create(pod("@partner", PARTNER))
    it.bound("@new")


@case(GROUP + "a_bound_pod_becomes_a_partner")
def partner_labelled(it):
    it.nodes(node("@a", {"region": "test"}))
    it.create(pod("@there"))
    it.bound("@there")
    it.create(pod("@new", affinity=NEAR_PARTNER))
    it.unschedulable("@new")
    it.patch("Pod", "@there", {"metadata": {"labels": PARTNER}})
    it.bound("@new")


@case(GROUP + "a_claim_for_one_pod_is_given_up")
def claim_given_up(it):
    it.create_all([volume("@volume", mode=ONCE), claim("@claim", volume="@volume", mode=ONCE, bound=True)])
    it.nodes(node("@a"))
    it.create(pod("@there", claims=["@claim"]))
    it.bound("@there")
    it.create(pod("@new", claims=["@claim"]))
    it.unschedulable("@new")
    it.end("@there")
    it.bound("@new")


@case(GROUP + "one_of_a_volumes_nodes_comes")
def volumes_node_comes(it):
    it.create_all([volume("@volume", mode=ONCE, node=["@a", "@nobody"]),
                   claim("@claim", volume="@volume", mode=ONCE, bound=True)])
    it.create(pod("@new", claims=["@claim"]))
    it.told("@new", "no nodes available to schedule pods")
    it.create(node("@a"))
    it.bound("@new", ["@a"])


@case(GROUP + "a_node_gets_a_volumes_label")
def volumes_node_labelled(it):
    it.create_all([volume("@volume", mode=ONCE, affinity=any_of("foo", "bar")),
                   claim("@claim", volume="@volume", mode=ONCE, bound=True)])
    it.nodes(node("@a", {"foo": "foo"}))
    it.create(pod("@new", claims=["@claim"]))
    it.told("@new", nowhere(1, "1 node(s) didn't match PersistentVolume's node affinity", unhelpful(1)))
    it.patch("Node", "@a", {"metadata": {"labels": {"foo": "bar"}}})
    it.bound("@new")
