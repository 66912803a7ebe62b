"""Hard topology spread constraints: on which nodes a pod keeps the skew.

Four nodes, two to a zone: @0 and @1 in zone-0, @2 and @3 in zone-1. In a name such as 2_0_0_1 the
numbers are the pods already on the nodes.
"""
from build import (any_of, exists, no_victims, node, none_of, nowhere, on_nodes, pod, spread, taint,
                   unhelpful)
from stage import row

GROUP = "filters/spread/"
FOO = {"foo": ""}
CORDONED = [taint("node.kubernetes.io/unschedulable")]


def four():
    return [node("@%d" % i, {"node": "@%d" % i, "zone": "zone-%d" % (i // 2)}) for i in range(4)]


def pods(*counts, labels=None, first=0, **more):
    """So many pods with the label foo on the nodes from @first on."""
    return [pod("@there-%d-%d" % (at + first, i), labels or FOO, nodeName="@%d" % (at + first), **more)
            for at, count in enumerate(counts) for i in range(count)]


def new(*constraints, labels=None, **more):
    return pod("@new", labels or FOO, topologySpreadConstraints=list(constraints), **more)


def by(key, skew=1, **more):
    return spread(skew, key, exists("foo"), **more)


NOT_ON_0 = on_nodes(none_of("node", "@0"))

row(GROUP + "1_1_0_1", four(), new(by("node")), pods(1, 1, 0, 1), on=["@2"])
row(GROUP + "2_0_0_1_with_skew_2", four(), new(by("node", 2)), pods(2, 0, 0, 1), on=["@1", "@2", "@3"])
row(GROUP + "1_0_0_1_and_only_zone_0", four(),
    new(by("node"), affinity=on_nodes(any_of("zone", "zone-0"))), pods(1, 0, 0, 1), on=["@1"])
row(GROUP + "1_1_0_2_by_zone_and_node", four(), new(by("zone"), by("node")), pods(1, 1, 0, 2), on=["@2"])
row(GROUP + "nowhere", four(), new(by("zone"), by("node"), affinity=NOT_ON_0), pods(0, 2, 2, 1),
    says=nowhere(4, "1 node(s) didn't match Pod's node affinity/selector, "
                    "3 node(s) didn't match pod topology spread constraints",
                 unhelpful(1) + ", " + no_victims(3)))
row(GROUP + "nowhere_but_it_may_preempt", four(),
    new(by("zone"), by("node"), affinity=NOT_ON_0, priority="low"), pods(0, 2, 2, 1, grace=0),
    on=["@1", "@2", "@3"])

# ---- the least number of domains ----

row(GROUP + "2_2_1_of_fewer_domains_than_asked", four(), new(by("node", 2, minDomains=4),
                                                             affinity=NOT_ON_0),
    pods(0, 2, 2, 1), on=["@3"])
row(GROUP + "2_2_1_of_more_domains_than_asked", four(), new(by("node", 2, minDomains=2),
                                                            affinity=NOT_ON_0),
    pods(0, 2, 2, 1), on=["@1", "@2", "@3"])
row(GROUP + "zones_2_1_of_fewer_than_asked", four(), new(by("zone", 2, minDomains=3)),
    pods(1, 1, 1, 0), on=["@2", "@3"])
row(GROUP + "zones_1_2_of_more_than_asked", four(), new(by("zone", 2, minDomains=1)),
    pods(0, 1, 1, 1), on=["@0", "@1", "@2", "@3"])


# ---- which nodes count: @1 and @2 in zone-1, @3 and @4 in zone-2 ----


def labelled(on_1=None, on_2=None, on_3=None):
    """Four nodes of which @3 lacks the label foo, and taints."""
    return [node("@1", {"node": "@1", "zone": "zone-1", "foo": ""}, on_1),
            node("@2", {"node": "@2", "zone": "zone-1", "foo": ""}, on_2),
            node("@3", {"node": "@3", "zone": "zone-2"}, on_3),
            node("@4", {"node": "@4", "zone": "zone-2", "foo": ""})]


ONE_EACH = pods(1, 1, 1, 1, first=1)
IGNORE_AFFINITY = {"nodeAffinityPolicy": "Ignore"}
HONOR_TAINTS = {"nodeTaintsPolicy": "Honor"}

row(GROUP + "nodes_without_the_selected_label_do_not_count", labelled(),
    new(by("zone"), nodeSelector={"foo": ""}), ONE_EACH, on=["@4"])
row(GROUP + "nodes_without_the_selected_label_count_if_asked", labelled(),
    new(by("zone", **IGNORE_AFFINITY), affinity=on_nodes(any_of("foo", ""))),
    pods(1, 0, 1, 1, first=1), on=["@1", "@2"])
row(GROUP + "tainted_nodes_do_not_count_if_asked", labelled(on_3=CORDONED),
    new(by("zone", **HONOR_TAINTS)), ONE_EACH, on=["@4"])
row(GROUP + "tainted_nodes_count", labelled(on_3=CORDONED), new(by("zone")), ONE_EACH,
    on=["@1", "@2", "@4"])
row(GROUP + "two_constraints_with_the_usual_policies", labelled(on_2=CORDONED),
    new(by("zone"), by("node"), nodeSelector={"foo": ""}), ONE_EACH, on=["@4"])
row(GROUP + "two_constraints_with_two_policies", labelled(on_2=CORDONED),
    new(by("zone", **IGNORE_AFFINITY), by("node", **HONOR_TAINTS), nodeSelector={"foo": ""}),
    ONE_EACH, on=["@1", "@4"])

# ---- keys whose values the pod itself gives ----

BAR = {"foo": "", "bar": ""}
ONE_WITH_BAR = pods(1, 1) + pods(1, labels=BAR, first=2)

row(GROUP + "match_label_keys_narrow_the_selector", four(),
    new(by("zone", matchLabelKeys=["bar"]), labels=BAR), ONE_WITH_BAR, on=["@0", "@1"])
row(GROUP + "match_label_keys_alone", four(), new(spread(1, "zone", matchLabelKeys=["foo"])),
    pods(1, 1, 1), on=["@2", "@3"])
