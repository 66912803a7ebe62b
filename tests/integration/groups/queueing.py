"""Who is tried again after a change, and who is left alone: the rest of upstream's table of queueing
hints, in its order; what requeue.py, becomes_schedulable and node_changes have is not repeated.

Another attempt shows in a binding, in a node that is being prepared, or in one more FailedScheduling
event. A pod that is left alone is looked at for longer than its backoff lasts.
"""
from build import (any_of, claim, container, csi, named, node, on_nodes, pod, storage_class, taint,
                   tolerates, volume)
import checks
import kube
from stage import case, node_of, nominated, remove

GROUP = "queueing/"
QUIET = 2.5  # seconds: a woken pod is tried within two, and at once when nothing else is to be done
NOT_READY = taint("node.kubernetes.io/not-ready")
ZONE = "topology.kubernetes.io/zone"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"


def attempts(it, name):
    """All that attempts leave behind; it differs after another one."""
    body = it.now(name)
    return (node_of(body), nominated(body),
            sorted((e["metadata"]["uid"], (e.get("series") or {}).get("count", 0), e.get("count") or 0)
                   for e in it.events("FailedScheduling", name)))


def tried_once(it, name):
    """The attempts so far, once there is a trace of one."""
    it.unschedulable(name)
    checks.wait_until(it.patience, lambda: it.events("FailedScheduling", name),
                      "no event tells of %s" % name)
    return attempts(it, name)


def left_alone(it, name, before):
    try:
        checks.wait_until(QUIET, lambda: attempts(it, name) != before, "")
    except checks.Failed:
        return
    raise checks.Failed("%s was tried again" % it.account(name))


def moved(name, nodes, pods, change, again=(), alone=(), there=(), also=(), only=None):
    """`pods` fit nowhere; after change(case) those of `again` are tried again and those of `alone` are
    not. `only`: the profile with this one rule."""
    def run(it):
        it.create_all(also)
        it.nodes(*nodes)
        it.create_all(there)
        for each in pods:
            scheduler = {"schedulerName": "just-" + only} if only else {}
            it.create(dict(each, spec=dict(each["spec"], **scheduler)))
        before = {each["metadata"]["name"]: tried_once(it, each["metadata"]["name"]) for each in pods}
        change(it)
        for each in again:
            checks.wait_until(it.patience, lambda key=each: attempts(it, key) != before[key],
                              "%s was not tried again" % each)
        for each in alone:
            left_alone(it, each, before[each])
    case(GROUP + name)(run)


def comes(body):
    return lambda it: it.create(body)


def changes(kind, name, body, status=False):
    return lambda it: it.patch(kind, name, body, status)


def has(name, **resources):
    """The node has so much now, and nothing else of what is named."""
    return changes("Node", name, {"status": {"allocatable": named(resources)}}, status=True)


def made_again(*bodies):
    """Objects that cannot be changed go, whatever protects them, and come again."""
    def change(it):
        for body in bodies:
            kind, name = body["kind"], body["metadata"]["name"]
            remove(it.admin, it.path(kind, name))
            it.create(body)
    return change


# ---- taints, node affinity, room ----

FOUR, FIVE = {"cpu": "4"}, {"cpu": "5"}
GROUP_B = on_nodes(any_of("group", "b"))

moved("toleration/room_helps_only_who_tolerates_the_node", [node("@a", taints=[NOT_READY], cpu="2")],
      [pod("@one", requests=FOUR), pod("@two", requests=FOUR, tolerations=[tolerates(NOT_READY["key"])])],
      has("@a", cpu="4"), again=["@two"], alone=["@one"])
moved("node_affinity/a_label_that_changes_no_match",
      [node("@a", {"group": "a"}, cpu="2"), node("@b", {"group": "b"})],
      [pod("@new", requests=FOUR, affinity=on_nodes(any_of("group", "a")))],
      changes("Node", "@a", {"metadata": {"labels": {"own": "yes"}}}), alone=["@new"])
moved("room/a_node_without_the_device_grows_otherwise", [node("@a", cpu="4", gpu="1")],
      [pod("@new", requests={"cpu": "5", "gpu": "1"})],
      has("@a", cpu="4", memory="4000", gpu=None), alone=["@new"])
moved("room/a_node_that_never_had_the_device_grows_otherwise", [node("@a", cpu="4")],
      [pod("@new", requests={"gpu": "1"})], has("@a", memory="4000"), alone=["@new"])
TWO_NODES = [node("@a", cpu="4"), node("@b", {"group": "b"}, cpu="2")]
DEVICE, OTHER = "own.example.com/@gpu", "own.example.com/@other"  # a class of devices is everybody's


def stands_for(resource):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "@class"},
            "spec": {"extendedResourceName": resource} if resource else {}}


moved("room/a_node_grows_that_may_have_the_device_by_a_class", TWO_NODES,
      [pod("@new", requests={"cpu": "4", DEVICE: "1"}, affinity=GROUP_B)], has("@a", memory="4000"),
      again=["@new"], also=[stands_for(DEVICE)])
WANT_DEVICES = [pod("@one", requests={"cpu": "4", DEVICE: "1"}), pod("@two", requests={"cpu": "4", OTHER: "1"})]
moved("room/a_class_for_the_device_comes", [node("@a", cpu="4")], WANT_DEVICES, comes(stands_for(DEVICE)),
      again=["@one"], alone=["@two"])
moved("room/a_class_becomes_one_for_the_device", [node("@a", cpu="4")], WANT_DEVICES,
      changes("DeviceClass", "@class", {"spec": {"extendedResourceName": DEVICE}}), again=["@one"],
      alone=["@two"], also=[stands_for(None)])
BIG_IN_B = pod("@new", requests=FOUR, affinity=GROUP_B)
moved("room/more_of_what_is_not_asked_for", TWO_NODES, [BIG_IN_B], has("@a", memory="4000"),
      alone=["@new"])
moved("room/more_of_what_is_asked_for", TWO_NODES, [BIG_IN_B], has("@a", cpu="5"), again=["@new"])
moved("room/more_pods_elsewhere", [node("@a", pods="2"), node("@b", {"group": "b"}, pods="1")],
      [pod("@new", affinity=GROUP_B)], has("@a", pods="3"), again=["@new"],
      there=[pod("@there", nodeName="@b")])
moved("toleration/the_pods_own_label", [node("@a", taints=[NOT_READY])], [pod("@new")],
      changes("Pod", "@new", {"metadata": {"labels": {"key": "val"}}}), alone=["@new"])
moved("room/the_one_node_that_the_pod_names_grows", [node("@a", cpu="2"), node("@b", cpu="2")],
      [pod("@new", requests=FOUR, affinity=on_nodes(fields=[any_of("metadata.name", "@a")]))],
      has("@a", cpu="4"), again=["@new"])
moved("cordon/another_cordoned_node_comes", [node("@a", unschedulable=True)], [pod("@new")],
      comes(node("@b", unschedulable=True)), alone=["@new"])

# ---- zones of volumes, by VolumeZone alone ----


def zoned(name, zone):
    return volume(name, labels={ZONE: zone})


def bound(name, volume_name):
    return claim(name, volume=volume_name, bound=True)


IN_WEST = [node("@a", {ZONE: "west"})]
IN_WEST_USED = [pod("@there", claims=["@c1"], nodeName="@a")]
WEST_USED = [zoned("@v1", "west"), bound("@c1", "@v1")]
TWO, THREE = pod("@two", claims=["@c2"]), pod("@three", claims=["@c3"])

moved("volume_zone/the_claim_comes", IN_WEST, [TWO, THREE], comes(bound("@c2", "@v2")), again=["@two"],
      alone=["@three"], there=IN_WEST_USED, also=WEST_USED + [zoned("@v2", "east")], only="VolumeZone")
moved("volume_zone/the_claim_gets_its_volume", IN_WEST, [TWO, THREE],
      changes("PersistentVolumeClaim", "@c2", {"spec": {"volumeName": "@v2"}}), again=["@two"],
      alone=["@three"], there=IN_WEST_USED,
      also=WEST_USED + [zoned("@v2", "east"), claim("@c2", bound=True)], only="VolumeZone")
moved("volume_zone/a_class_that_waits_comes", IN_WEST, [TWO], comes(storage_class("@class")),
      again=["@two"], there=IN_WEST_USED, also=WEST_USED + [bound("@c2", "@v2")], only="VolumeZone")
moved("volume_zone/the_volume_changes_but_not_its_zone", IN_WEST, [TWO],
      changes("PersistentVolume", "@v2", {"metadata": {"labels": {"unrelated": "yes"}}}), alone=["@two"],
      there=IN_WEST_USED, also=WEST_USED + [zoned("@v2", "east"), bound("@c2", "@v2")], only="VolumeZone")

# ---- what pods may share, and binding ----

ONE = pod("@one", claims=["@c1"])
PLAIN = [node("@a")]
UNBOUND = [volume("@v1"), claim("@c1")]

moved("volume_restrictions/the_claim_comes", PLAIN, [ONE, TWO], comes(bound("@c1", "@v1")), again=["@one"],
      alone=["@two"], also=[volume("@v1")], only="VolumeRestrictions")


def for_label(value, key="aaa"):
    return volume("@v1", affinity=any_of(key, value))


moved("volume_binding/the_volume_comes", [node("@a", {"aaa": "bbb"})], [ONE], made_again(for_label("bbb")),
      again=["@one"], also=[for_label("ccc"), bound("@c1", "@v1")])
moved("volume_binding/the_volume_changes", [node("@a", {ZONE: "east"})], [ONE],
      changes("PersistentVolume", "@v1", {"spec": {
          "nodeAffinity": for_label("east", ZONE)["spec"]["nodeAffinity"]}}),
      again=["@one"], also=[for_label("east", OLD_ZONE), bound("@c1", "@v1")])
moved("volume_binding/the_claim_comes", PLAIN, [ONE, TWO], made_again(bound("@c1", "@v1")), again=["@one"],
      alone=["@two"], also=UNBOUND + [claim("@c2")])
moved("volume_binding/the_class_comes", PLAIN, [ONE], comes(storage_class("@class")), again=["@one"],
      also=[volume("@v1", "@class"), claim("@c1", "@class")])
EAST_ONLY = {"allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": ["east"]}]}]}
moved("volume_binding/the_class_changes_but_not_its_topologies", IN_WEST, [ONE],
      changes("StorageClass", "@class", {"metadata": {"labels": {"key": "updated"}}}), alone=["@one"],
      also=[storage_class("@class", provisioner="@driver", **EAST_ONLY), claim("@c1", "@class")])


def csi_node(name, **counts):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": name},
            "spec": {"drivers": [{"name": driver.replace("_", "."), "nodeID": "@a",
                                  "allocatable": {"count": count}} for driver, count in counts.items()]}}


def csi_driver(tracks):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "@driver"},
            "spec": {"storageCapacity": tracks, "volumeLifecycleModes": ["Persistent", "Ephemeral"]}}


def with_volume(body, **source):
    body["spec"]["volumes"] = body["spec"].get("volumes", []) + [dict(source, name="more")]
    return body


def capacity(amount):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
            "metadata": {"name": "@capacity"}, "storageClassName": "@class", "nodeTopology": {}, "capacity": amount}


INLINE = with_volume(pod("@one", claims=["@c1"]), csi={"driver": "@driver"})
moved("volume_binding/a_csi_node_comes", PLAIN, [ONE], comes(csi_node("@a")), again=["@one"], also=UNBOUND)
moved("volume_binding/a_csi_node_migrates_other_plugins", PLAIN, [ONE],
      changes("CSINode", "@a", {"metadata": {"annotations": {
          "storage.alpha.kubernetes.io/migrated-plugins": "value"}}}), again=["@one"],
      also=UNBOUND + [csi_node("@a")])
moved("volume_binding/a_driver_ceases_to_track_capacity", PLAIN, [INLINE],
      changes("CSIDriver", "@driver", {"spec": {"storageCapacity": False}}), again=["@one"],
      also=UNBOUND + [csi_driver(True)])
moved("volume_binding/a_driver_begins_to_track_capacity", PLAIN, [INLINE],
      changes("CSIDriver", "@driver", {"spec": {"storageCapacity": True}}), alone=["@one"],
      also=UNBOUND + [csi_driver(False)])
moved("volume_binding/less_room_is_told", PLAIN, [ONE],
      changes("CSIStorageCapacity", "@capacity", {"capacity": "5"}), alone=["@one"],
      also=UNBOUND + [storage_class("@class", waits=False), capacity("10")])

# ---- how many volumes a node may have ----


def driven(number, driver="csi.example.com"):
    """A volume of that driver and its claim."""
    return [volume("@v%d" % number, source=csi("@handle%d" % number, driver)),
            bound("@c%d" % number, "@v%d" % number)]


moved("volume_limits/a_csi_node_comes", PLAIN, [ONE], comes(csi_node("@elsewhere")), again=["@one"],
      also=driven(1) + [csi_node("@a", csi_example_com=0)])
moved("volume_limits/the_claim_comes", PLAIN, [TWO], comes(driven(2)[1]), again=["@two"],
      also=driven(1) + driven(2)[:1] + [csi_node("@a", csi_example_com=1)],
      there=[pod("@there", claims=["@c1"], nodeName="@a")], only="NodeVolumeLimits")


def attached(number, driver):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment",
            "metadata": {"name": "@attached%d" % number},
            "spec": {"attacher": driver, "nodeName": "@a", "source": {"persistentVolumeName": "@v%d" % number}}}


EBS, GCE = "ebs.csi.aws.com", "pd.csi.storage.gke.io"
moved("volume_limits/a_disk_of_the_same_driver_is_detached", PLAIN,
      [with_volume(pod("@one"), awsElasticBlockStore={"volumeID": "@v1"}),
       with_volume(pod("@two"), gcePersistentDisk={"pdName": "@v2"})],
      lambda it: it.delete("VolumeAttachment", "@attached1"), again=["@one"], alone=["@two"],
      also=driven(1, EBS) + driven(2, GCE) + [attached(1, EBS), attached(2, GCE), csi_node(
          "@a", ebs_csi_aws_com=0, pd_csi_storage_gke_io=0)])

# ---- features ----


def restarter():
    """A pod that needs a feature which @a does not declare."""
    rules = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}]
    body = pod("@new", restartPolicy="Never")
    body["spec"]["containers"] = [container(restartPolicy="Never", restartPolicyRules=rules)]
    return body


moved("features/a_label_of_the_node", [node("@a", features=[])], [restarter()],
      changes("Node", "@a", {"metadata": {"labels": {"foo": "bar"}}}), alone=["@new"])
moved("features/the_pods_own_label", [node("@a", features=[])], [restarter()],
      changes("Pod", "@new", {"metadata": {"labels": {"foo": "bar"}}}), alone=["@new"])


# ---- a binding that the API server refuses ----


def refuse_bindings(it):
    """Nothing is bound in the case's namespace; gives back what ends that."""
    kinds = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
            "resources": ["pods/binding", "configmaps"]}
    own = {"matchLabels": {"kubernetes.io/metadata.name": "@"}}
    specs = ({"matchConstraints": {"resourceRules": [rule], "namespaceSelector": own},
              "validations": [{"expression": "false", "message": "not now"}]},
             {"policyName": "@policy", "validationActions": ["Deny"]})
    for kind, spec in zip(kinds, specs):
        it.create({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
                   "metadata": {"name": "@policy"}, "spec": spec})
    decoy = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "decoy"}}

    def refused():
        try:
            it.admin.create("/api/v1/namespaces/%s/configmaps?dryRun=All" % it.own, decoy)
        except kube.ApiError as error:
            return "not now" in str(error)
        return False

    checks.wait_until(it.patience, refused, "bindings are not refused")
    return lambda: [it.delete(kind, "@policy") for kind in kinds]


@case(GROUP + "bind_failure/is_tried_again_by_itself")
def bind_failure(it):
    """No event helps a pod whose binding failed: its backoff is enough."""
    it.nodes(node("@a"))
    allow = refuse_bindings(it)
    it.create(pod("@new"))
    checks.wait_until(it.patience, lambda: it.events("FailedScheduling", "@new"),
                      "no event tells of the failure")
    told = it.events("FailedScheduling", "@new")[0]["message"]
    checks.expect("not now" in told, "told: %s", told)
    allow()
    it.bound("@new")
