"""Which of several nodes is best, one plugin at a time: profiles in which that plugin alone scores."""
from build import (any_of, apart, container, exists, node, pod, rather_apart, rather_near,
                   rather_on_nodes, spread, taint, term, tolerates)
import checks
from stage import case, node_of, row

GROUP = "scoring/"

# ---- room, with containers that stay beside the main one ----

GPU = {"cpu": "2", "memory": "4G", "gpu": "1"}


def with_sidecar(body):
    body["spec"]["initContainers"] = [container(
        "sidecar", restartPolicy="Always", resources={"requests": {"cpu": "2", "memory": "2G"}})]
    return body


for profile, best in (("least", "@b"), ("most", "@a")):
    row(GROUP + "resources_%s_counts_sidecars" % profile,
        [node(name, cpu="8", memory="16G", gpu="4") for name in ("@a", "@b")],
        pod("@new", requests=GPU, schedulerName=profile),
        [with_sidecar(pod("@one", requests=GPU, nodeName="@a")),
         pod("@two", requests=GPU, nodeName="@b")], on=[best])

# ---- the node itself ----

row(GROUP + "node_affinity", [node("@%d" % i) for i in range(4)] + [node("@best", {"kind": "best"})],
    pod("@new", affinity=rather_on_nodes(20, any_of("kind", "best")),
        schedulerName="only-NodeAffinity"), on=["@best"])

IMAGE = "fake-large-image:v1"


@case(GROUP + "image_locality")
def image_locality(it):
    it.nodes(node("@best", images={IMAGE: 3000 << 20}), *[node("@%d" % i) for i in range(10)])
    body = pod("@new", schedulerName="only-ImageLocality")
    body["spec"]["containers"][0]["image"] = IMAGE
    it.create(body)
    it.bound("@new", ["@best"])


AVOID = taint("example-key", "example-value", "PreferNoSchedule")


def tainted(name, taints, tolerations, on):
    row(GROUP + "taints_" + name, [node("@a", taints=taints), node("@b")],
        pod("@new", tolerations=tolerations, schedulerName="only-TaintToleration"), on=on)


tainted("none", [], [], ["@a", "@b"])
tainted("tolerated", [AVOID], [tolerates("example-key", "example-value", "PreferNoSchedule")],
        ["@a", "@b"])
tainted("not_tolerated", [AVOID], [tolerates("other-key", "other-value", "PreferNoSchedule")], ["@b"])

# ---- preferred pod affinity ----

KEY = "node-topologykey"
S1 = any_of("service", "S1", "S3")


def domains(nodes, values):
    """So many nodes, the values of the key in turn."""
    return [node("@%d" % i, {KEY: "value%d" % (i % values)}) for i in range(nodes)]


def drawn(name, nodes, affinity, there, on, labels=None):
    row(GROUP + "affinity_" + name, nodes,
        pod("@new", labels, affinity=affinity, schedulerName="only-InterPodAffinity"), there, on=on)


MANY = domains(10, 5) + [node("@plain-0"), node("@plain-1")]
ATTRACTOR = pod("@there", {"service": "S1"}, nodeName="@0")
drawn("near_another", MANY, rather_near((50, term(KEY, S1))), [ATTRACTOR], ["@0", "@5"])


@case(GROUP + "affinity_near_one_of_any_namespace")
def any_namespace(it):
    it.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "@elsewhere"}})
    it.nodes(*MANY)
    it.create(pod("@there", {"service": "@S1"}, nodeName="@0", namespace="@elsewhere"))
    it.create(pod("@new", schedulerName="only-InterPodAffinity", affinity=rather_near(
        (50, term(KEY, any_of("service", "@S1"), namespaceSelector={})))))
    it.bound("@new", ["@0", "@5"])


FOO = {"foo": "", "bar": "a"}


def bars(*values):
    """A pod with foo and this value of bar on each node."""
    return [pod("@there-%d" % i, {"foo": "", "bar": bar}, nodeName="@%d" % i)
            for i, bar in enumerate(values)]


drawn("far_by_match_label_keys", domains(2, 2),
      rather_apart((50, term(KEY, exists("foo"), matchLabelKeys=["bar"]))), bars("fuga", "a"), ["@0"], FOO)
drawn("far_by_mismatch_label_keys", domains(2, 2),
      rather_apart((50, term(KEY, exists("foo"), mismatchLabelKeys=["bar"]))), bars("fuga", "a"), ["@1"],
      FOO)
# Without the keys, the first term would not tell the domains apart, and the weaker one would decide.
WEAKER = (10, term(KEY, any_of("bar", "hoge")))
drawn("near_by_match_label_keys", domains(6, 3),
      rather_near((50, term(KEY, exists("foo"), matchLabelKeys=["bar"])), WEAKER),
      bars("hoge", "hoge", "a"), ["@2", "@5"], FOO)
drawn("near_by_mismatch_label_keys", domains(6, 3),
      rather_near((50, term(KEY, exists("foo"), mismatchLabelKeys=["bar"])), WEAKER),
      bars("a", "a", "hoge"), ["@2", "@5"], FOO)
drawn("far_from_others_that_mind_too", domains(3, 3),
      apart(term(KEY, any_of("service", "S9"))),
      [pod("@there", affinity=rather_apart((50, term(KEY, exists("foo")))), nodeName="@0"),
       pod("@too", affinity=rather_apart((10, term(KEY, exists("foo")))), nodeName="@1")], ["@2"], FOO)

# ---- soft spread: @0 to @3, two to a zone ----


def four(*taints):
    return [node("@%d" % i, {"node": "@%d" % i, "zone": "zone-%d" % (i // 2)},
                 taints if i == 0 else None) for i in range(4)]


def counted(*counts, labels=None, first=0):
    return [pod("@there-%d-%d" % (at + first, i), labels or {"foo": ""}, nodeName="@%d" % (at + first))
            for at, count in enumerate(counts) for i in range(count)]


def spreading(name, nodes, constraints, there, on, labels=None, **more):
    row(GROUP + "spread_" + name, nodes,
        pod("@new", labels or {"foo": ""}, topologySpreadConstraints=constraints,
            schedulerName="only-PodTopologySpread", **more), there, on=on)


def soft(key, **more):
    return spread(1, key, exists("foo"), soft=True, **more)


SHUT = list(four(taint("k1", "v1")))
spreading("emptiest", SHUT, [soft("node")], counted(0, 1, 2, 3), ["@1"])
spreading("with_a_hard_one", SHUT, [soft("node"), spread(1, "zone", exists("foo"))],
          counted(4, 0, 1, 2), ["@2"])

# @1 and @2 in zone-1, @3 and @4 in zone-2; @2 is better avoided, @4 has not the label that is asked for.
AVOIDED = [node("@1", {"node": "@1", "zone": "zone-1", "foo": ""}),
           node("@2", {"node": "@2", "zone": "zone-1", "foo": ""},
                [taint("node.kubernetes.io/unschedulable", "", "PreferNoSchedule")]),
           node("@3", {"node": "@3", "zone": "zone-2", "foo": ""}),
           node("@4", {"node": "@4", "zone": "zone-2"})]
spreading("with_the_usual_policies", AVOIDED, [soft("zone"), soft("node")],
          counted(1, 2, 0, 1, first=1), ["@3"], nodeSelector={"foo": ""})
spreading("with_two_policies", AVOIDED,
          [soft("zone", nodeAffinityPolicy="Ignore"), soft("node", nodeTaintsPolicy="Honor")],
          counted(1, 2, 0, 1, first=1), ["@3"], nodeSelector={"foo": ""})

BAR = {"foo": "", "bar": ""}
spreading("match_label_keys_narrow_the_selector", SHUT, [soft("node", matchLabelKeys=["bar"])],
          counted(1, labels=BAR, first=1) + counted(2, 1, first=2)
          + [pod("@bar-%d" % i, BAR, nodeName="@3") for i in range(2)], ["@2"], BAR)
spreading("match_label_keys_alone", SHUT, [spread(1, "node", soft=True, matchLabelKeys=["foo"])],
          counted(0, 1, 2, 3), ["@1"])


@case(GROUP + "spread_of_a_service_by_default")
def service_by_default(it):
    """300 nodes in three zones: a Service's pods, 3, 12 and 27 of them, are even over the zones."""
    it.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "@service"},
               "spec": {"selector": {"service": "@service"}, "ports": [{"port": 80}]}})
    zones = {"@%d" % i: "zone-%d" % (i % 3) for i in range(300)}
    it.nodes(*[node(name, {"topology.kubernetes.io/zone": zone}) for name, zone in zones.items()])
    zones = it.local(zones)
    made = 0
    for more in (3, 9, 15):
        names = ["@pod-%02d" % (made + i) for i in range(more)]
        it.create_all([pod(name, {"service": "@service"}, schedulerName="only-PodTopologySpread")
                       for name in names])
        made += more
        counts = dict.fromkeys(zones.values(), 0)
        for i in range(made):
            it.bound("@pod-%02d" % i)
            counts[zones[node_of(it.now("@pod-%02d" % i))]] += 1
        checks.expect(len(set(counts.values())) == 1, "%d pods are %s", made, counts)
