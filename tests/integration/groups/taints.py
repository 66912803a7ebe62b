"""Taints and tolerations, and the taints that a node's conditions become."""
from build import node, nowhere, pod, taint, tolerates, unhelpful
from stage import case, row

GROUP = "filters/taints/"
ONE, TWO = "example.com/taint1", "example.com/taint2"
UNTOLERATED = nowhere(1, "1 node(s) had untolerated taint(s)", unhelpful(1))


def check(name, taints, tolerations, **outcome):
    row(GROUP + name, [node("@a", taints=taints)], pod("@new", tolerations=tolerations), **outcome)


check("tolerated", [taint(ONE, "value1")], [tolerates(ONE, "value1")])
check("not_tolerated", [taint(ONE, "value1")], [], says=UNTOLERATED)
check("one_of_two_tolerated", [taint(ONE, "value1"), taint(TWO, "value2")], [tolerates(ONE, "value1")],
      says=UNTOLERATED)
check("both_tolerated", [taint(ONE, "value1"), taint(TWO, "value2")],
      [tolerates(ONE, "value1"), tolerates(TWO, "value2")])
check("more_tolerations_than_taints", [taint(ONE, "value1")],
      [tolerates(ONE, "value1"), tolerates(TWO, "value2")])
check("a_toleration_without_a_taint", [], [tolerates(ONE, "value1")])

# ---- conditions ----

# The node lifecycle controller writes these; here the case does.
NOT_READY = "node.kubernetes.io/not-ready"
CORDON = "node.kubernetes.io/unschedulable"
MEMORY = "node.kubernetes.io/memory-pressure"
DISK = "node.kubernetes.io/disk-pressure"
NETWORK = "node.kubernetes.io/network-unavailable"
PID = "node.kubernetes.io/pid-pressure"
SMALL = {"cpu": "100m", "memory": "100Mi"}
REQUESTS = {"requests": SMALL}
LIMITS = {"requests": SMALL, "limits": SMALL}


def by_condition(name, keys, conditions, pods, unschedulable=False):
    """One node with the taints of its conditions; each of `pods` is (quality, keys tolerated, fits)."""
    def run(it):
        it.nodes(node("@a", taints=[taint(key) for key in keys], conditions=conditions,
                      unschedulable=unschedulable, cpu="4", memory="16Gi"))
        # The scheduler looks at the field before the taints.
        text = "1 node(s) were unschedulable" if unschedulable else "1 node(s) had untolerated taint(s)"
        for number, (quality, tolerated, fits) in enumerate(pods):
            each = pod("@%d" % number, tolerations=[tolerates(key) for key in tolerated])
            each["spec"]["containers"][0]["resources"] = quality
            it.create(each)
            if fits:
                it.bound("@%d" % number, ["@a"])
            else:
                it.told("@%d" % number, nowhere(1, text, unhelpful(1)))
    case(GROUP + name)(run)


READY = {"Ready": "True"}
NOBODY = [({}, (), False), (REQUESTS, (), False), (LIMITS, (), False)]

by_condition("not_ready", [NOT_READY], {"Ready": "False"}, NOBODY + [({}, [NOT_READY], True)])
by_condition("cordoned", [CORDON], READY, NOBODY + [({}, [CORDON], True)], unschedulable=True)
# Admission gives this toleration to pods that ask for something.
by_condition("memory_pressure", [MEMORY], dict(READY, MemoryPressure="True"),
             [({}, (), False), ({}, [MEMORY], True), ({}, [DISK], False),
              (REQUESTS, [MEMORY], True), (LIMITS, [MEMORY], True)])
by_condition("disk_pressure", [DISK], dict(READY, DiskPressure="True"),
             NOBODY + [({}, [DISK], True), ({}, [MEMORY], False)])
by_condition("network_unavailable", [NETWORK], dict(READY, NetworkUnavailable="True"),
             NOBODY + [(REQUESTS, [NETWORK], True)])
by_condition("network_unavailable_and_not_ready", [NETWORK, NOT_READY],
             {"Ready": "False", "NetworkUnavailable": "True"},
             NOBODY + [(REQUESTS, [NETWORK], False), (REQUESTS, [NETWORK, NOT_READY], True)])
by_condition("pid_pressure", [PID], dict(READY, PIDPressure="True"), NOBODY + [({}, [PID], True)])
by_condition("three_pressures", [DISK, MEMORY, PID],
             dict(READY, PIDPressure="True", MemoryPressure="True", DiskPressure="True"),
             NOBODY + [({}, [DISK, MEMORY], False), ({}, [DISK, MEMORY, PID], True)])
