"""Claims and volumes: which node a pod's volumes allow, and what is written before it is bound.

volume_controller.py stands in for the cluster's volume controller and for provisioners. Classes are
@wait and @now (volumes that lie there), @made-later and @made-now (volumes that are made on demand).
"""
from build import (any_of, apart, claim, csi, near, node, nowhere, on_nodes, pod, storage_class, term,
                   unhelpful, volume)
import checks
from stage import case, condition_of, node_of
from volume_controller import BY_CONTROLLER, COMPLETED, SELECTED, Controller

GROUP = "volumes/"
MADE = "made.example.com"
UNBOUND = "pod has unbound immediate PersistentVolumeClaims"
NO_VOLUME = "node(s) didn't find available persistent volumes to bind"


def classes(**parameters):
    return [storage_class("@wait"), storage_class("@now", waits=False),
            storage_class("@made-later", provisioner=MADE, parameters=parameters),
            storage_class("@made-now", waits=False, provisioner=MADE, parameters=parameters)]


def started(it, *nodes, parameters=None):
    """Classes, nodes, and the stand-in."""
    it.create_all(classes(**parameters or {}))
    it.nodes(*nodes)
    return Controller(it)


def phase(it, kind, name, wanted):
    checks.wait_until(it.patience, lambda: it.get(kind, name)["status"].get("phase") == wanted,
                      "%s is not %s" % (name, wanted))


def claims_are(it, wanted, *names):
    for name in names:
        phase(it, "PersistentVolumeClaim", name, wanted)


def volumes_are(it, wanted, *names):
    for name in names:
        phase(it, "PersistentVolume", name, wanted)


def annotation(it, name, key):
    return (it.get("PersistentVolumeClaim", name)["metadata"].get("annotations") or {}).get(key)


def provided(it, *names):
    """These claims were provided for a node; bound ones that were not have no such annotation."""
    for name in names:
        checks.expect(annotation(it, name, SELECTED) == node_of(it.now("@new")),
                      "%s was made for %s", name, annotation(it, name, SELECTED))


# ---- volumes that lie there: @1 and @2 are the nodes ----


def binding(name, volumes, claims, free=(), says=None):
    """`volumes` are (name, class, claim that it is for, node), `claims` (name, class, volume)."""
    def run(it):
        started(it, node("@1"), node("@2"))
        for each, kind, owner, where in list(volumes) + list(free):
            it.create(volume(each, kind, where, owner))
        volumes_are(it, "Available", *[each[0] for each in list(volumes) + list(free)])
        it.create_all([claim(*each) for each in claims])
        it.create(pod("@new", claims=[each[0] for each in claims]))
        if says:
            it.told("@new", says)
            claims_are(it, "Pending", *[each[0] for each in claims])
        else:
            it.bound("@new")
            claims_are(it, "Bound", *[each[0] for each in claims])
            volumes_are(it, "Bound", *[each[0] for each in volumes])
        volumes_are(it, "Available", *[each[0] for each in free])
    case(GROUP + "binding/" + name)(run)


TWO_UNBOUND = nowhere(2, UNBOUND) + " not found"
TWO_WITHOUT = nowhere(2, "2 " + NO_VOLUME, unhelpful(2))

binding("now", [("@v", "@now", None, "@1")], [("@c", "@now")])
binding("now_without_a_volume", [], [("@c", "@now")], says=TWO_UNBOUND)
binding("now_claim_names_volume", [("@v", "@now", None, "@1")], [("@c", "@now", "@v")])
binding("now_volume_names_claim", [("@v", "@now", "@c", "@1")], [("@c", "@now")])
binding("wait", [("@v", "@wait", None, "@1")], [("@c", "@wait")])
binding("wait_without_a_volume", [], [("@c", "@wait")], says=TWO_WITHOUT)
binding("wait_claim_names_volume", [("@v", "@wait", None, "@1")], [("@c", "@wait", "@v")])
binding("wait_volume_names_claim", [("@v", "@wait", "@c", "@1")], [("@c", "@wait")])
binding("wait_two_on_one_node",
        [("@v-1", "@wait", None, "@2"), ("@v-2", "@wait", None, "@2")],
        [("@c-1", "@wait"), ("@c-2", "@wait")], free=[("@v-3", "@wait", None, "@1")])
binding("wait_two_on_two_nodes", [], [("@c-1", "@wait"), ("@c-2", "@wait")],
        free=[("@v-1", "@wait", None, "@2"), ("@v-2", "@wait", None, "@1")], says=TWO_WITHOUT)
binding("one_now_one_waits", [("@v-1", "@wait", None, "@1"), ("@v-2", "@now", None, "@1")],
        [("@c-1", "@wait"), ("@c-2", "@now")])


@case(GROUP + "binding/where_the_volume_lies")
def static_local(it):
    """The scheduler itself writes whose the volume is, before the controller agrees."""
    started(it, node("@1"), node("@2"), node("@3"))
    it.create(volume("@v", "@wait", "@2"))
    volumes_are(it, "Available", "@v")
    it.create(claim("@c", "@wait"))
    it.create(pod("@new", claims=["@c"]))
    it.bound("@new", ["@2"])
    checks.expect(it.writes("@v", "update", "persistentvolumes"), "the scheduler did not write @v")
    checks.expect(it.get("PersistentVolume", "@v")["metadata"]["annotations"].get(BY_CONTROLLER) == "yes",
                  "@v does not say that it was bound by a controller")
    checks.expect(it.held("@new") == {it.local("@2")}, "while it waited, it was nominated to %s",
                  it.held("@new"))
    it.holds("@new", "")


# ---- what makes a pod try again ----


def late(name, first, says, then):
    """`first` are there, the pod is told, and `then` come."""
    def run(it):
        it.nodes(node("@1"), node("@2"))
        Controller(it)
        it.create_all(first)
        it.create(pod("@new", claims=["@c"]))
        it.told("@new", says)
        it.create_all(then)
        it.bound("@new")
        claims_are(it, "Bound", "@c")
    case(GROUP + "late/" + name)(run)


NO_CLASS = nowhere(2, UNBOUND) + " not found"
late("class_of_volumes_made", [claim("@c", "@made-later")], NO_CLASS,
     [storage_class("@made-later", provisioner=MADE)])
late("class_of_volumes_that_lie_there", [claim("@c", "@wait")], NO_CLASS,
     [storage_class("@wait"), volume("@v", "@wait", "@1")])
late("claim", [storage_class("@wait"), volume("@v", "@wait", "@1")],
     nowhere(2, 'persistentvolumeclaim "@c" not found') + " not found", [claim("@c", "@wait")])
late("volume", [storage_class("@wait"), claim("@c", "@wait")], TWO_WITHOUT,
     [volume("@v", "@wait", "@1")])

# ---- many at once ----


def many(name, dynamic, **parameters):
    """Ten pods of three claims on one node; half of the volumes that lie there name their claims."""
    def run(it):
        started(it, node("@1"), parameters=parameters)
        names = ["@c-%02d" % i for i in range(30)]
        for i, each in enumerate(names):
            if dynamic:
                it.create(claim(each, "@made-later"))
            elif i % 2:
                it.create(volume("@v" + each[1:], "@now", "@1", claim=each))
                it.create(claim(each, "@now", "@v" + each[1:]))
            else:
                it.create(volume("@v" + each[1:], "@wait", "@1"))
                it.create(claim(each, "@wait"))
        it.create_all([pod("@pod-%d" % i, claims=names[i::10]) for i in range(10)])
        for i in range(10):
            it.bound("@pod-%d" % i)
        claims_are(it, "Bound", *names)
        if not dynamic:
            volumes_are(it, "Bound", *["@v" + each[1:] for each in names])
    case(GROUP + "many/" + name)(run)


many("that_lie_there", False)
many("made_fast", True)
many("made_slowly", True, delay="2")

# ---- together with other rules ----

MINE = term("kubernetes.io/hostname", any_of("app", "@"))


def beside(name, affinity, nodes, volumes, pods, on_one):
    """So many volumes on each node; pods that must be together, or apart."""
    def run(it):
        started(it, *[node("@%d" % i) for i in range(nodes)])
        for i in range(nodes):
            it.create_all([volume("@v-%d-%d" % (i, n), "@wait", "@%d" % i) for n in range(volumes[i])])
        names = ["@pod-%d" % i for i in range(pods)]
        for i, each in enumerate(names):
            it.create(claim("@c-%d" % i, "@wait"))
            it.create(pod(each, {"app": "@"}, claims=["@c-%d" % i], affinity=affinity))
        places = {it.bound(each) for each in names}
        checks.expect(len(places) == (1 if on_one else pods), "the pods are on %s", places)
        claims_are(it, "Bound", *["@c-%d" % i for i in range(pods)])
    case(GROUP + "beside/" + name)(run)


beside("anti_affinity", apart(MINE), 6, [20, 1, 1, 1, 1, 1], 6, False)
beside("affinity", near(MINE), 4, [5, 5, 5, 5], 5, True)


def conflict(name, **wish):
    def run(it):
        started(it, *[node("@%d" % i) for i in (1, 2, 3)])
        it.create(volume("@v", "@now", "@1"))
        it.create(claim("@c", "@now"))
        claims_are(it, "Bound", "@c")
        it.create(pod("@new", claims=["@c"], **wish))
        it.told("@new", nowhere(
            3, "1 node(s) didn't match PersistentVolume's node affinity, "
               "2 node(s) didn't match Pod's node affinity/selector", unhelpful(3)))
    case(GROUP + "beside/" + name)(run)


conflict("node_affinity_for_another_node",
         affinity=on_nodes(any_of("kubernetes.io/hostname", "@2")))
conflict("node_selector_for_another_node", nodeSelector={"kubernetes.io/hostname": "@2"})

# ---- volumes made on demand: the node is @1, @2 is none ----


def made(name, claims, volumes=(), also=(), says=None):
    """`claims` are (name, class); those of @made-later are made for the node, others are not."""
    def run(it):
        it.create_all(also)
        started(it, node("@1"))
        for each, kind, owner in volumes:
            it.create(volume(each, kind, "@1", owner))
        volumes_are(it, "Available", *[each[0] for each in volumes])
        it.create_all([claim(*each) for each in claims])
        it.create(pod("@new", claims=[each[0] for each in claims]))
        if says:
            it.told("@new", says)
            return claims_are(it, "Pending", *[each[0] for each in claims])
        it.bound("@new")
        claims_are(it, "Bound", *[each[0] for each in claims])
        volumes_are(it, "Bound", *[each[0] for each in volumes])
        provided(it, *[each for each, kind in claims if kind == "@made-later"])
        for each, kind in claims:
            checks.expect(kind == "@made-later" or annotation(it, each, SELECTED) is None,
                          "%s was made for a node", each)
    case(GROUP + "made/" + name)(run)


made("later", [("@c", "@made-later")])
made("not_where_it_may_be", [("@c", "@elsewhere")],
     also=[storage_class("@elsewhere", provisioner=MADE, allowedTopologies=[
         {"matchLabelExpressions": [{"key": "kubernetes.io/hostname", "values": ["@2"]}]}])],
     says=nowhere(1, "1 " + NO_VOLUME, unhelpful(1)))
made("one_lies_there", [("@c-1", "@wait"), ("@c-2", "@made-later")], [("@v", "@wait", None)])
made("one_now_and_named", [("@c-1", "@now"), ("@c-2", "@made-later")], [("@v", "@now", "@c-1")])
made("one_waits_and_named", [("@c-1", "@wait"), ("@c-2", "@made-later")], [("@v", "@wait", "@c-1")])
made("now", [("@c", "@made-now")])


def driver(it):
    """A driver of this case alone, that says how much room it has."""
    it.create({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver",
               "metadata": {"name": "@driver"}, "spec": {"storageCapacity": True}})


def capacity(name, told_of_capacity, room, says=None):
    def run(it):
        if told_of_capacity:
            driver(it)
        it.create(storage_class("@class", provisioner="@driver"))
        if room:
            it.create({"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
                       "metadata": {"name": "@capacity"}, "storageClassName": "@class",
                       "nodeTopology": {}, "capacity": room})
        started(it, node("@1"))
        it.create(claim("@c", "@class"))
        it.create(pod("@new", claims=["@c"]))
        if says:
            it.told("@new", says)
            claims_are(it, "Pending", "@c")
        else:
            it.bound("@new")
            claims_are(it, "Bound", "@c")
            provided(it, "@c")
    case(GROUP + "capacity/" + name)(run)


NO_ROOM = nowhere(1, "1 node(s) did not have enough free storage", unhelpful(1))
capacity("nobody_counts", False, None)
capacity("none", True, None, NO_ROOM)
capacity("enough", True, "6Gi")
capacity("too_little", True, "4Gi", NO_ROOM)
capacity("told_by_nobody_who_counts", False, "6Gi")

# ---- limits and zones ----


@case(GROUP + "attach_limit")
def attach_limit(it):
    """Two volumes may be attached to a node: the third pod waits until one goes; one volume used twice
    counts once."""
    it.nodes(node("@1"))
    it.create({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "@1"},
               "spec": {"drivers": [{"name": "csi.example.com", "nodeID": "@1",
                                     "allocatable": {"count": 2}}]}})
    for i in range(3):
        it.create(volume("@v-%d" % i, source=csi("@handle-%d" % i)))
        it.create(claim("@c-%d" % i, volume="@v-%d" % i, bound=True))
        it.create(pod("@pod-%d" % i, claims=["@c-%d" % i]))
        if i < 2:
            it.bound("@pod-%d" % i)
    it.told("@pod-2", nowhere(1, "1 node(s) exceed max volume count",
                              "1 No preemption victims found for incoming pod"))
    it.create(pod("@shares", claims=["@c-0"]))
    it.bound("@shares")
    it.end("@pod-1")
    it.bound("@pod-2")


ZONE = "topology.kubernetes.io/zone"


@case(GROUP + "zone_of_a_volume")
def zone_of_a_volume(it):
    """A volume's zone by its label; a node elsewhere is no use, one without any zone is."""
    it.nodes(node("@1", {ZONE: "zone-1"}), node("@2", {ZONE: "zone-2"}))
    it.create_all([volume("@v", labels={ZONE: "zone-2__zone-3"}), claim("@c", volume="@v", bound=True)])
    it.create(pod("@new", claims=["@c"]))
    it.bound("@new", ["@2"])
    it.create_all([volume("@far", labels={ZONE: "zone-9"}), claim("@c-far", volume="@far", bound=True)])
    it.create(pod("@stuck", claims=["@c-far"]))
    it.told("@stuck", nowhere(2, "2 node(s) had no available volume zone", unhelpful(2)))
    it.nodes(node("@3"))
    it.bound("@stuck", ["@3"])


# ---- while volumes are being bound, and when that fails ----

FAILED = 'running PreBind plugin "VolumeBinding": binding volumes: '


def fails(it, name, text):
    it.told(name, FAILED + text, reason="SchedulerError")


@case(GROUP + "prebind/holds_the_room_and_says_where")
def holds_the_room(it):
    started(it, node("@1", cpu="2"), parameters={"delay": "3"})
    it.create(claim("@c", "@made-later"))
    it.create(pod("@new", requests={"cpu": "2"}, claims=["@c"]))
    it.holds("@new", "@1")
    it.create(pod("@other", requests={"cpu": "1"}))
    it.told("@other", nowhere(1, "1 Insufficient cpu", "1 No preemption victims found for incoming pod"))
    checks.expect(not node_of(it.now("@new")), "@new was bound before its volume was")
    it.bound("@new", ["@1"])
    claims_are(it, "Bound", "@c")
    it.holds("@new", "")


@case(GROUP + "prebind/too_slow")
def too_slow(it):
    """After three seconds it is given up: the room is free again, and the pod is tried again."""
    started(it, node("@1", cpu="2"), parameters={"delay": "4"})
    it.create(claim("@c", "@made-later"))
    it.create(pod("@new", requests={"cpu": "2"}, claims=["@c"], schedulerName="impatient"))
    fails(it, "@new", "context deadline exceeded")
    checks.expect(annotation(it, "@c", SELECTED) == it.local("@1"), "the claim has lost its node")
    it.bound("@new", ["@1"])
    claims_are(it, "Bound", "@c")


@case(GROUP + "prebind/the_provisioner_fails_once")
def fails_once(it):
    """It takes the selected node away; the pod says so, is tried again, and gets its volume."""
    started(it, node("@1"), parameters={"fails": "1", "delay": "0.5"})
    it.create(claim("@c", "@made-later"))
    it.create(pod("@new", claims=["@c"]))
    fails(it, "@new", 'selectedNode annotation reset for PVC "@c"')
    it.bound("@new")
    provided(it, "@c")


@case(GROUP + "prebind/failure_clears_the_nomination")
def failure_clears(it):
    """A pod that preempted, and whose volumes then could not be bound."""
    started(it, node("@1", cpu="1"), parameters={"fails": "1", "delay": "0.5"})
    it.create(pod("@low", priority="low", requests={"cpu": "1"}))
    it.bound("@low")
    it.create(claim("@c", "@made-later"))
    it.create(pod("@new", priority="medium", requests={"cpu": "1"}, claims=["@c"]))
    it.holds("@new", "@1")
    it.end("@low")
    fails(it, "@new", 'selectedNode annotation reset for PVC "@c"')
    told = [s for s in it.states("@new")
            if (condition_of(s, "PodScheduled") or {}).get("reason") == "SchedulerError"]
    checks.expect(not told[0]["status"].get("nominatedNodeName"), "it is still nominated to %s",
                  told[0]["status"].get("nominatedNodeName"))
    it.bound("@new", ["@1"])


@case(GROUP + "prebind/the_volume_is_taken_back")
def taken_back(it):
    """Somebody removes the claim from the volume that the scheduler gave it."""
    it.create_all(classes())
    it.nodes(node("@1"))
    it.create(volume("@v", "@wait", "@1"))
    it.patch("PersistentVolume", "@v", {"status": {"phase": "Available"}}, status=True)
    it.create(claim("@c", "@wait"))
    it.create(pod("@new", claims=["@c"]))
    checks.wait_until(it.patience, lambda: it.get("PersistentVolume", "@v")["spec"].get("claimRef"),
                      "@v was given to nobody")
    it.patch("PersistentVolume", "@v", {"spec": {"claimRef": None}})
    fails(it, "@new", 'ClaimRef got reset for pv "@v"')
    Controller(it)
    it.bound("@new")
    claims_are(it, "Bound", "@c")


@case(GROUP + "prebind/the_pod_goes")
def pod_goes(it):
    """Its room is free at once, its claim keeps the node that it was made for."""
    started(it, node("@1", cpu="2"), parameters={"delay": "60"})
    it.create(claim("@c", "@made-later"))
    it.create(pod("@new", requests={"cpu": "2"}, claims=["@c"]))
    it.holds("@new", "@1")
    it.end("@new")
    it.create(pod("@other", requests={"cpu": "2"}))
    it.bound("@other", ["@1"])
    checks.expect(COMPLETED not in (it.get("PersistentVolumeClaim", "@c")["metadata"].get("annotations")
                                    or {}), "the claim was bound")
