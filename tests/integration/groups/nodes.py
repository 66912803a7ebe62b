"""Room, node affinity, declared features, cordons: what a node itself has and says."""
from build import (absent, any_of, exists, no_victims, node, none_of, nowhere, on_nodes, pod, taint,
                   tolerates, unhelpful)
from stage import case, row

# ---- room ----

ROOM = "filters/resources/"
row(ROOM + "too_little_left", [node("@a", cpu="3", memory="3G")],
    pod("@new", requests={"cpu": "2", "memory": "2G"}),
    [pod("@there", requests={"cpu": "2", "memory": "2G"}, nodeName="@a")],
    says=nowhere(1, "1 Insufficient cpu, 1 Insufficient memory", no_victims(1)))
row(ROOM + "enough_left", [node("@a", cpu="3", memory="3G")],
    pod("@new", requests={"cpu": "1", "memory": "1G"}),
    [pod("@there", requests={"cpu": "1", "memory": "1G"}, nodeName="@a")])
row(ROOM + "taken_by_pods_of_other_schedulers", [node("@a", cpu="500m", memory="500")],
    pod("@new", requests={"cpu": "200m", "memory": "200"}),
    [pod("@%s" % name, requests={"cpu": "200m", "memory": "200"}, nodeName="@a",
         schedulerName=name + "-scheduler") for name in ("foo", "bar")],
    says=nowhere(1, "1 Insufficient cpu, 1 Insufficient memory", no_victims(1)))


@case(ROOM + "allocatable_counts_and_not_capacity")
def allocatable(it):
    """A node that says nothing offers what it has; what it says later counts."""
    asks = {"cpu": "20m", "memory": "20"}
    body = node("@a", cpu="30m", memory="30")
    del body["status"]["allocatable"]
    it.nodes(body)
    it.create(pod("@first", requests=asks))
    it.bound("@first", ["@a"])
    it.patch("Node", "@a", {"status": {"allocatable": {"cpu": "10m", "memory": "10", "pods": "32"}}},
             status=True)
    it.end("@first")
    it.create(pod("@second", requests=asks))
    it.told("@second", nowhere(1, "1 Insufficient cpu, 1 Insufficient memory", unhelpful(1)))


# ---- node affinity ----

AFFINITY = "filters/node_affinity/"
NOWHERE = {count: nowhere(count, "%d node(s) didn't match Pod's node affinity/selector" % count,
                          unhelpful(count)) for count in (1, 2)}


def disks(**kinds):
    return [node("@" + name, {"disktype": kind} if kind else None) for name, kind in kinds.items()]


def asking(*expressions, **more):
    return pod("@new", affinity=on_nodes(*expressions, **more))


row(AFFINITY + "in", disks(a="ssd", b="hdd"), asking(any_of("disktype", "ssd")), on=["@a"])
row(AFFINITY + "in_nothing", disks(a="ssd"), asking(any_of("disktype", "hdd")), says=NOWHERE[1])
row(AFFINITY + "not_in", disks(a="hdd", b="hdd"), asking(none_of("disktype", "hdd")), says=NOWHERE[2])
row(AFFINITY + "exists", disks(a="ssd", b=None), asking(exists("disktype")), on=["@a"])
row(AFFINITY + "does_not_exist", disks(a="ssd", b="ssd"), asking(absent("disktype")), says=NOWHERE[2])
row(AFFINITY + "label_and_name", disks(a="ssd", b=None),
    asking(any_of("disktype", "ssd"), fields=[any_of("metadata.name", "@a")]), on=["@a"])
row(AFFINITY + "the_name_of_no_node", [node("@a")],
    asking(fields=[any_of("metadata.name", "@nobody")]),
    says=nowhere(1, "1 node(s) didn't satisfy plugin(s) [NodeAffinity]", unhelpful(1)))

# ---- declared features ----

FEATURES = "filters/features/"
FEATURE = "RestartAllContainersOnContainerExits"


def demanding(name="@new"):
    """A pod of which the kubelet must be able to restart all containers at once."""
    body = pod(name, restartPolicy="Never")
    body["spec"]["containers"][0].update(restartPolicy="Never", restartPolicyRules=[
        {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}])
    return body


MISSING = nowhere(1, "1 node(s) didn't match Pod's required features", unhelpful(1))
row(FEATURES + "nothing_asked_nothing_there", [node("@a", features=[])], pod("@new"))
row(FEATURES + "nothing_asked", [node("@a", features=[FEATURE])], pod("@new"))
row(FEATURES + "the_node_that_has_it",
    [node("@a", features=[FEATURE]), node("@b", features=["GuaranteedQoSPodCPUResize"])], demanding(),
    on=["@a"])
row(FEATURES + "another_feature", [node("@a", features=["GuaranteedQoSPodCPUResize"])], demanding(),
    says=MISSING)
row(FEATURES + "one_of_several",
    [node("@a", features=["GuaranteedQoSPodCPUResize", FEATURE]), node("@b", features=[])], demanding(),
    on=["@a"])

# ---- nodes that change ----

CHANGES = "filters/node_changes/"


@case(CHANGES + "cordon_and_uncordon")
def cordon(it):
    it.nodes(node("@a", unschedulable=True))
    it.create(pod("@new"))
    it.told("@new", nowhere(1, "1 node(s) were unschedulable", unhelpful(1)))
    it.patch("Node", "@a", {"spec": {"unschedulable": None}})
    it.bound("@new", ["@a"])


@case(CHANGES + "a_tainted_node_comes_and_loses_its_taint")
def node_events(it):
    room = {"cpu": "100m", "memory": "30"}
    it.create(pod("@first", requests={"cpu": "80m"}))
    it.nodes(node("@a", **room))
    it.bound("@first", ["@a"])
    it.create(pod("@second", requests={"cpu": "40m"}))
    it.told("@second", nowhere(1, "1 Insufficient cpu", no_victims(1)))
    it.nodes(node("@b", {"affinity-key": "affinity-value"}, [taint("taint-key")], **room))
    it.create(pod("@plug", requests={"cpu": "40m"}, tolerations=[tolerates("taint-key")],
                  affinity=on_nodes(any_of("affinity-key", "affinity-value"))))
    it.bound("@plug", ["@b"])
    it.unschedulable("@second")
    it.patch("Node", "@b", {"spec": {"taints": None}})
    it.bound("@second", ["@b"])
