"""Required pod affinity and anti-affinity: which nodes are left, and what a pod is told if none is.

Two nodes share region and zone and differ in the label node; pods that are there run on @a.
"""
from build import (absent, any_of, apart, exists, near, no_victims, node, none_of, nowhere, pod, term,
                   unhelpful)
from stage import case, namespace, row

GROUP = "filters/affinity/"
SCAN = {"service": "securityscan"}
OTHER = {"security": "S1"}
SCANNED = any_of("service", "securityscan", "value2")
LABELS = {"region": "r1", "zone": "z11"}
NO_AFFINITY = nowhere(2, "2 node(s) didn't match pod affinity rules", unhelpful(2))
# What only the eviction of pods of lower priority could cure, and none has a lower one.
NO_ANTI = nowhere(2, "2 node(s) didn't match pod anti-affinity rules", no_victims(2))
NO_EXISTING = nowhere(2, "2 node(s) didn't satisfy existing pods anti-affinity rules", no_victims(2))


def two(**room):
    return [node("@a", dict(LABELS, node="n1"), **room), node("@b", dict(LABELS, node="n2"), **room)]


def there(name="@there", labels=None, on="@a", **more):
    return pod(name, labels or SCAN, nodeName=on, **more)


def both(affinity, anti):
    return dict(affinity, **anti)


def check(name, pod, there=(), **outcome):
    row(GROUP + name, two(memory="1G"), pod, there, **outcome)


def incoming(affinity=None, labels=None, **more):
    if affinity:
        more["affinity"] = affinity
    return pod("@new", labels or OTHER, **more)


check("no_pod_and_not_itself", incoming(near(term("region", absent("security")))), says=NO_AFFINITY)
check("nobody_matches", incoming(near(term("region", any_of("service", "securityscan")))),
      says=NO_AFFINITY)
check("one_of_the_values", incoming(near(term("region", SCANNED))), [there()])
check("none_of_the_values",
      incoming(near(term("region", none_of("service", "securityscan3", "value3")))), [there()])
check("in_another_namespace",
      incoming(near(term("region", SCANNED, namespaces=["diff-namespace"]))), [there()],
      says=NO_AFFINITY)
check("labels_do_not_match",
      incoming(near(term("region", any_of("service", "antivirusscan", "value2"))), SCAN), [there()],
      says=NO_AFFINITY)
check("all_terms_hold",
      incoming(near(term("region", exists("service"), absent("wrongkey")),
                    term("region", any_of("service", "securityscan"), none_of("service", "wrong")))),
      [there()])
check("one_expression_of_one_term_fails",
      incoming(near(term("region", exists("service"), absent("wrongkey")),
                    term("region", any_of("service", "securityscan2"), none_of("service", "wrong")))),
      [there()], says=NO_AFFINITY)

FAR_FROM_VIRUS = apart(term("node", any_of("service", "antivirusscan", "value2")))
check("near_one_far_from_another", incoming(both(near(term("region", SCANNED)), FAR_FROM_VIRUS)),
      [there()])
check("and_the_other_does_not_mind", incoming(both(near(term("region", SCANNED)), FAR_FROM_VIRUS)),
      [there(affinity=FAR_FROM_VIRUS)])
check("near_and_far_from_the_same",
      incoming(both(near(term("region", SCANNED)), apart(term("zone", SCANNED)))), [there()],
      says=NO_ANTI)
check("and_the_other_minds",
      incoming(both(near(term("region", SCANNED)), FAR_FROM_VIRUS), SCAN),
      [there(affinity=apart(term("zone", any_of("service", "securityscan", "value3"))))],
      says=NO_EXISTING)
check("itself_does_not_match_and_nobody_does",
      incoming(near(term("region", none_of("service", "securityscan", "value2"))), SCAN),
      [there()], says=NO_AFFINITY)
check("the_first_of_its_kind_matches_itself",
      incoming(near(term("region", any_of("service", "securityscan"))), SCAN))
check("one_that_is_there_minds", incoming(None, SCAN),
      [there(affinity=apart(term("zone", SCANNED)))], says=NO_EXISTING)
check("one_that_is_there_does_not_mind", incoming(None, SCAN),
      [there(affinity=apart(term("zone", none_of("service", "securityscan", "value2"))))])
check("a_domain_of_two_nodes",
      incoming(apart(term("region", any_of("foo", "abc"))), nodeSelector={"region": "r1"}),
      [there(labels={"foo": "abc"})], says=NO_ANTI)
check("anti_on_the_node_leaves_the_other",
      incoming(apart(term("node", any_of("foo", "abc")))), [there(labels={"foo": "abc"})], on=["@b"])

# ---- keys whose values the API server writes into the selector ----

FOO = {"foo": "", "bar": "a"}
MATCHING = {"matchLabelKeys": ["bar"]}
OPPOSITE = {"mismatchLabelKeys": ["bar"]}


def labelled(name, bar, on="@a", **more):
    return there(name, {"foo": "", "bar": bar}, on, **more)


check("anti_match_label_keys", incoming(apart(term("zone", exists("foo"), **MATCHING)), FOO),
      [labelled("@one", "fuga"), labelled("@two", "hoge")])
check("anti_mismatch_label_keys", incoming(apart(term("zone", exists("foo"), **OPPOSITE)), FOO),
      [labelled("@one", "a"), labelled("@two", "a")])


def full_where_it_would_fit(bar_there, bar_elsewhere):
    """The only pod that matches fills its node @b; those on @a do not match."""
    return [labelled("@one", bar_there, "@b", requests={"memory": "1G"}),
            labelled("@two", bar_elsewhere), labelled("@three", bar_elsewhere)]


FULL = nowhere(2, "1 Insufficient memory, 1 node(s) didn't match pod affinity rules",
               no_victims(1) + ", " + unhelpful(1))
check("match_label_keys",
      incoming(near(term("node", exists("foo"), **MATCHING)), FOO, requests={"memory": "1G"}),
      full_where_it_would_fit("a", "hoge"), says=FULL)
check("mismatch_label_keys",
      incoming(near(term("node", exists("foo"), **OPPOSITE)), FOO, requests={"memory": "1G"}),
      full_where_it_would_fit("hoge", "a"), says=FULL)


# ---- namespaces by their labels ----

TEAM = {"namespaceSelector": {"matchExpressions": [any_of("team", "@team1")]}}


def in_a_team(it, team):
    """The partner runs in a namespace of this team; both nodes are one region."""
    it.create(namespace("@partner", {"team": team}))
    it.nodes(*two())
    it.create(there(namespace="@partner"))
    it.create(incoming(near(term("region", any_of("service", "securityscan"), **TEAM))))


@case(GROUP + "namespace_selector_matches")
def namespace_selector_matches(it):
    in_a_team(it, "@team1")
    it.bound("@new")


@case(GROUP + "namespace_selector_does_not_match")
def namespace_selector_does_not_match(it):
    in_a_team(it, "@team2")
    it.told("@new", NO_AFFINITY)
