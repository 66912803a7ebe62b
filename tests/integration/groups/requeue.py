"""What wakes a pod: for each rule, the changes after which a pod that it turned away is tried again.

After the change the pod fits, so being bound well before the five minutes after which every pod is
tried again shows that it was woken.
"""
from build import (any_of, apart, claim, csi, exists, near, node, nowhere, on_nodes, pod, spread,
                   storage_class, taint, term, tolerates, unhelpful, volume)
import checks
from stage import case, condition_of, node_of

GROUP = "requeue/"
ONE = "ReadWriteOncePod"


def woken(name, nodes, pod, change, there=(), says=None, also=(), on=None):
    """`pod` fits nowhere (and is told `says`), then change(case) happens."""
    def run(it):
        it.create_all(also)
        it.nodes(*nodes)
        it.create_all(there)
        it.create(pod)
        if says:
            it.told("@new", says)
        else:
            it.unschedulable("@new")
        change(it)
        it.bound("@new", on)
    case(GROUP + name)(run)


def comes(body):
    return lambda it: it.create(body)


def goes(name, kind="Pod"):
    return lambda it: it.delete(kind, name)


def changes(kind, name, body, status=False):
    return lambda it: it.patch(kind, name, body, status)


def labelled(kind, name, **labels):
    return changes(kind, name, {"metadata": {"labels": labels}})


# ---- taints, cordons, node affinity ----

NOT_READY = taint("node.kubernetes.io/not-ready")
woken("taint_the_pod_gets_a_toleration", [node("@a", taints=[taint("key")])], pod("@new"),
      lambda it: it.patch("Pod", "@new", {"spec": {"tolerations": it.get("Pod", "@new")["spec"]["tolerations"]
                                                   + [tolerates("key")]}}))
woken("taint_becomes_one_that_is_tolerated", [node("@a", taints=[NOT_READY])],
      pod("@new", tolerations=[tolerates("key")]),
      changes("Node", "@a", {"spec": {"taints": [taint("key")]}}))
woken("taint_a_node_with_another_comes", [node("@a", taints=[NOT_READY])],
      pod("@new", tolerations=[tolerates("key")]), comes(node("@b", taints=[taint("key")])), on=["@b"])
woken("cordon_another_node_comes", [node("@a", unschedulable=True)], pod("@new"), comes(node("@b")),
      on=["@b"])
GROUP_B = on_nodes(any_of("group", "b"))
woken("node_affinity_a_label_changes", [node("@a", {"group": "a"})], pod("@new", affinity=GROUP_B),
      labelled("Node", "@a", group="b"))
woken("node_affinity_a_node_comes", [node("@a", {"group": "a"})], pod("@new", affinity=GROUP_B),
      comes(node("@b", {"group": "b"})), on=["@b"])

# ---- pod affinity: @there is on @a ----

ANTI, MARK = {"anti": ""}, {"mark": ""}


def on_a(labels=None, **more):
    return [pod("@there", labels or MARK, nodeName="@a", **more)]


def keyed(name, *keys):
    return node(name, {key: "@" + key for key in keys})


def minds(key):
    return pod("@new", ANTI, affinity=apart(term(key, exists("anti"))))


def follows(key, labels=MARK):
    return pod("@new", labels, affinity=near(term(key, exists("mark"))))


def comes_and_is_ready(it):
    it.create(node("@b", {"node": "@b"}, [NOT_READY]))
    it.patch("Node", "@b", {"spec": {"taints": None}})


woken("anti_affinity_a_node_comes_and_is_ready", [keyed("@a", "node")], minds("node"),
      comes_and_is_ready, on_a(ANTI), on=["@b"])
woken("anti_affinity_the_other_loses_its_label", [keyed("@a", "node")], minds("node"),
      labelled("Pod", "@there", anti=None), on_a(ANTI))
woken("anti_affinity_the_other_goes", [keyed("@a", "node")], minds("node"), goes("@there"), on_a(ANTI))
woken("anti_affinity_the_one_that_minded_goes", [keyed("@a", "node")], pod("@new", ANTI), goes("@there"),
      on_a(MARK, affinity=apart(term("node", exists("anti")))))
woken("anti_affinity_the_node_loses_the_key", [keyed("@a", "node")], minds("node"),
      labelled("Node", "@a", node=None), on_a(ANTI))
woken("anti_affinity_another_domain_comes", [keyed("@a", "node")], minds("node"),
      comes(node("@b", {"node": "@b"})), on_a(ANTI), on=["@b"])
woken("affinity_the_first_domain_comes", [node("@a")], follows("zone"), comes(keyed("@b", "zone")),
      on_a(), on=["@b"])
woken("affinity_a_node_gets_the_key", [node("@a")], follows("zone"),
      labelled("Node", "@a", zone="z"), on_a(), on=["@a"])
woken("affinity_a_node_joins_the_domain",
      [node("@a", {"region": "one"}), node("@b", {"region": "two", "group": "b"})],
      pod("@new", affinity=dict(near(term("region", exists("mark"))), **on_nodes(any_of("group", "b")))),
      labelled("Node", "@a", region="two"), on_a(), on=["@b"])

# ---- room and ports ----

TWO_CPU = {"cpu": "2"}


def resized(name, cpu):
    """The pod asks for less; a container's request may change while the pod is there."""
    def change(it):
        it.admin.request("PATCH", it.path("Pod", name) + "/resize", {"spec": {"containers": [
            {"name": "main", "resources": {"requests": {"cpu": cpu}}}]}},
            content="application/strategic-merge-patch+json")
    return change


woken("room_the_pod_asks_for_less", [node("@a", cpu="1")], pod("@new", requests=TWO_CPU),
      resized("@new", "500m"))
woken("room_another_pod_asks_for_less", [node("@a", cpu="3")], pod("@new", requests=TWO_CPU),
      resized("@there", "500m"), on_a(requests=TWO_CPU))
woken("room_another_pod_goes", [node("@a", cpu="3")], pod("@new", requests=TWO_CPU), goes("@there"),
      on_a(requests=TWO_CPU))
woken("room_a_node_comes", [node("@a", cpu="1")], pod("@new", requests=TWO_CPU),
      comes(node("@b", cpu="2")), on=["@b"])
woken("room_a_node_grows", [node("@a", cpu="1")], pod("@new", requests=TWO_CPU),
      changes("Node", "@a", {"status": {"allocatable": {"cpu": "4"}}}, status=True))
woken("room_for_more_pods", [node("@a", pods="1")], pod("@new"),
      changes("Node", "@a", {"status": {"allocatable": {"pods": "2"}}}, status=True), on_a())


def with_port(body, port):
    body["spec"]["containers"][0]["ports"] = [{"containerPort": port, "hostPort": port}]
    return body


PORT_HOLDERS = [with_port(pod("@there", nodeName="@a"), 8080),
                with_port(pod("@too", nodeName="@a"), 8081)]
woken("ports_the_holder_goes", [node("@a")], with_port(pod("@new"), 8080), goes("@there"), PORT_HOLDERS)
woken("ports_a_node_comes", [node("@a")], with_port(pod("@new"), 8080), comes(node("@b")),
      PORT_HOLDERS, on=["@b"])

# ---- topology spread: a pod of two zones in @a's; @b's takes none but may count as empty ----

MARKED = {"mark": "", "own": "yes"}


def even(**more):
    return pod("@new", MARK, topologySpreadConstraints=[
        dict(spread(1, "zone", exists("mark")), **more)])


def zones(full=True):
    return [node("@a", {"zone": "@1"}), node("@b", {"zone": "@2"}, pods="1" if full else "32")]


FULL = [pod("@there", MARKED, nodeName="@a"), pod("@fills", nodeName="@b")]
woken("spread_a_pod_comes_to_the_other_zone",
      [node("@a", {"zone": "@1"}), node("@b", {"zone": "@2"}, [NOT_READY])], even(),
      comes(pod("@too", MARK, nodeName="@b")), [FULL[0]], on=["@a"])
woken("spread_a_pod_loses_its_label", zones(), even(), labelled("Pod", "@there", mark=None), FULL)
woken("spread_a_pod_goes", zones(), even(), goes("@there"), FULL)
woken("spread_a_pod_in_the_other_zone_gets_the_label", zones(), even(),
      labelled("Pod", "@fills", mark="yes"), FULL, on=["@a"])
woken("spread_a_zone_comes", zones(), even(), comes(node("@c", {"zone": "@3"})), FULL, on=["@c"])
woken("spread_a_node_gets_the_key", zones() + [node("@c")], even(), labelled("Node", "@c", zone="@3"),
      FULL, on=["@c"])
woken("spread_the_other_zone_goes", zones(), even(), goes("@b", "Node"), FULL, on=["@a"])
woken("spread_a_taint_goes",
      [node("@a", {"zone": "@1"}), node("@b", {"zone": "@2"}, [NOT_READY])], even(),
      changes("Node", "@b", {"spec": {"taints": None}}), [FULL[0]], on=["@b"])

# ---- volumes ----

ZONE = "topology.kubernetes.io/zone"
BOUND = claim("@c", volume="@v", bound=True)
USER = pod("@new", claims=["@c"])
IN_ZONE = [node("@a", {ZONE: "zone-1"})]

woken("volume_zone_the_volume_comes", IN_ZONE, USER, comes(volume("@v", labels={ZONE: "zone-1"})),
      also=[BOUND])
woken("volume_zone_the_volume_moves", IN_ZONE, USER, labelled("PersistentVolume", "@v", **{ZONE: "zone-1"}),
      also=[volume("@v", labels={ZONE: "zone-2"}), BOUND])
woken("volume_zone_a_node_comes", IN_ZONE, USER, comes(node("@b", {ZONE: "zone-2"})),
      also=[volume("@v", labels={ZONE: "zone-2"}), BOUND], on=["@b"])
woken("volume_zone_a_node_moves", IN_ZONE, USER, labelled("Node", "@a", **{ZONE: "zone-2"}),
      also=[volume("@v", labels={ZONE: "zone-2"}), BOUND])
woken("volume_binding_a_node_comes", [node("@a")], USER, comes(node("@b")),
      also=[volume("@v", node="@b"), BOUND], on=["@b"])
woken("volume_binding_the_claim_is_bound", [node("@a")], USER,
      changes("PersistentVolumeClaim", "@c", {
          "metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
          "spec": {"volumeName": "@v"}}), also=[volume("@v"), claim("@c")])


def topologies(*values):
    return {"allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": list(values)}]}]}


def asked(it, storage):
    """The scheduler has asked for a volume on the node: nobody makes it here."""
    key = "volume.kubernetes.io/selected-node"
    checks.wait_until(it.patience, lambda: (it.get("PersistentVolumeClaim", "@c")["metadata"].get(
        "annotations") or {}).get(key) == it.local("@a"), "no volume was asked for with %s" % storage)


def woken_for_a_volume(name, first, change):
    """What is there at first is not enough for a volume to be made; after the change it is."""
    def run(it):
        it.create_all(first)
        it.create(claim("@c", "@class"))
        it.nodes(*IN_ZONE)
        it.create(USER)
        it.unschedulable("@new")
        change(it)
        asked(it, name)
    case(GROUP + "volume_binding_" + name)(run)


CLASS = storage_class("@class", provisioner="@driver")
COUNTING = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "@driver"},
            "spec": {"storageCapacity": True}}


def capacity(amount):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
            "metadata": {"name": "@capacity"}, "storageClassName": "@class", "nodeTopology": {},
            "capacity": amount}


def class_allows_more(it):
    """A class cannot change its topologies: it goes and comes again."""
    it.delete("StorageClass", "@class")
    it.create(dict(CLASS, **topologies("zone-1")))


woken_for_a_volume("the_class_allows_more", [dict(CLASS, **topologies("zone-2"))], class_allows_more)
woken_for_a_volume("room_is_told", [COUNTING, CLASS], comes(capacity("10Gi")))
woken_for_a_volume("more_room_is_told", [COUNTING, CLASS, capacity("1Gi")],
                   changes("CSIStorageCapacity", "@capacity", {"capacity": "10Gi"}))

# ---- limits: a driver attaches one volume to @a ----


def limits(count):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "@a"},
            "spec": {"drivers": [{"name": "csi.example.com", "nodeID": "@a",
                                  "allocatable": {"count": count}}]}}


def volumes_there(*names):
    return [each for name in names for each in (
        volume("@v-" + name, source=csi("@" + name)),
        claim("@c-" + name, volume="@v-" + name, bound=True))]


def attachment(name):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": name},
            "spec": {"attacher": "csi.example.com", "nodeName": "@a",
                     "source": {"persistentVolumeName": "@v-one"}}}


def limited(name, change, there=(), also=()):
    def run(it):
        it.create_all(volumes_there("one", "two"))
        it.nodes(node("@a"))
        it.create(limits(1))
        it.create_all(also)
        it.create_all(there)
        it.create(pod("@new", claims=["@c-two"]))
        it.told("@new", nowhere(1, "1 node(s) exceed max volume count",
                                "1 No preemption victims found for incoming pod"))
        change(it)
        it.bound("@new")
    case(GROUP + "volume_limits_" + name)(run)


HOLDER = pod("@there", claims=["@c-one"], nodeName="@a")


def limit_rises(it):
    """What a driver offers is fixed while it is registered: it registers again."""
    it.patch("CSINode", "@a", {"spec": {"drivers": []}})
    it.patch("CSINode", "@a", {"spec": limits(2)["spec"]})


limited("a_pod_goes", goes("@there"), [HOLDER])
limited("the_limit_rises", limit_rises, [HOLDER])
limited("a_volume_is_detached", goes("@attached", "VolumeAttachment"), also=[attachment("@attached")])

# ---- features and gates ----

FEATURE = "RestartAllContainersOnContainerExits"


@case(GROUP + "features_the_node_declares_it")
def feature_declared(it):
    it.nodes(node("@a", features=[]))
    body = pod("@new", restartPolicy="Never")
    body["spec"]["containers"][0].update(restartPolicy="Never", restartPolicyRules=[
        {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}])
    it.create(body)
    it.told("@new", nowhere(1, "1 node(s) didn't match Pod's required features", unhelpful(1)))
    it.patch("Node", "@a", {"status": {"declaredFeatures": [FEATURE]}}, status=True)
    it.bound("@new")


def gated(name, *gates):
    return pod(name, schedulingGates=[{"name": "example.com/" + gate} for gate in gates])


@case(GROUP + "gates_all_must_go")
def gates(it):
    """A gated pod is not tried; two others show that the scheduler had its chance."""
    it.nodes(node("@a"))
    it.create(gated("@new", "one", "two"))
    it.create(pod("@plain"))
    it.bound("@plain")
    it.patch("Pod", "@new", {"spec": {"schedulingGates": [{"name": "example.com/two"}]}})
    it.create(pod("@later"))
    it.bound("@later")
    told = condition_of(it.now("@new"), "PodScheduled")
    checks.expect(not node_of(it.now("@new")) and told["reason"] == "SchedulingGated", "%s",
                  it.account("@new"))
    checks.expect(not it.events("FailedScheduling", "@new"), "an event tells of the gated pod")
    it.patch("Pod", "@new", {"spec": {"schedulingGates": None}})
    it.bound("@new")


@case(GROUP + "gates_a_claim_for_a_device_that_is_not_there")
def claim_not_there(it):
    """A pod whose ResourceClaim does not exist is held back without a word, until it does."""
    it.nodes(node("@a"))
    it.create(pod("@new", resourceClaims=[{"name": "device", "resourceClaimName": "@claim"}]))
    it.create(pod("@plain"))
    it.bound("@plain")
    it.create(node("@b"))  # an event for it: it is looked at once more
    it.known([it.local("@b")])
    checks.expect(not condition_of(it.now("@new"), "PodScheduled"), "%s", it.account("@new"))
    checks.expect(not it.events("FailedScheduling", "@new"), "an event tells of the pod")
    requests = [{"name": "one", "exactly": {"deviceClassName": "nothing.example.com"}}]
    it.create({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "@claim"},
               "spec": {"devices": {"requests": requests}}})
    it.unschedulable("@new")


@case(GROUP + "gates_gone_before_there_is_room")
def gate_gone_first(it):
    it.nodes(node("@a", pods="1"))
    it.create(pod("@there"))
    it.bound("@there")
    it.create(gated("@new", "one"))
    it.patch("Pod", "@new", {"spec": {"schedulingGates": None}})
    it.told("@new", nowhere(1, "1 Too many pods", "1 No preemption victims found for incoming pod"))
    it.end("@there")
    it.bound("@new")


# ---- whose pods they are ----


@case("profiles/by_name")
def by_name(it):
    """Each profile binds the pods that name it, and says so; a stranger's are left alone."""
    it.nodes(node("@a"))
    named = {"@none": None, "@default": "default-scheduler", "@other": "only-NodeAffinity",
             "@stranger": "somebody-else"}
    for name, scheduler in named.items():
        it.create(pod(name, **({"schedulerName": scheduler} if scheduler else {})))
    for name, scheduler in named.items():
        if name == "@stranger":
            continue
        it.bound(name)
        event = checks.wait_until(it.patience, lambda each=name: it.events("Scheduled", each),
                                  "no event of %s" % name)[0]
        checks.expect(event["reportingComponent"] == (scheduler or "default-scheduler"),
                      "%s was bound by %s", name, event["reportingComponent"])
    stranger = it.now("@stranger")
    checks.expect(not node_of(stranger) and not condition_of(stranger, "PodScheduled"), "%s",
                  it.account("@stranger"))
