"""Claims and volumes, the finer points: which volume, whose claim, and what goes wrong in between."""
from build import (any_of, claim, node, nowhere, on_nodes, pod, storage_class, unhelpful, volume)
import checks
from groups.volumes import (FAILED, MADE, NO_VOLUME, annotation, claims_are, classes, fails, started,
                            volumes_are)
from stage import case, node_of
from volume_controller import SELECTED, Controller

GROUP = "volumes/"
NONE_FITS = nowhere(1, "1 " + NO_VOLUME, unhelpful(1))

# ---- which volume ----


def chosen(name, volumes, claim_body, best=None):
    """Of these volumes on one node the claim gets `best`, or none fits."""
    def run(it):
        started(it, node("@1"))
        it.create_all(volumes)
        volumes_are(it, "Available", *[each["metadata"]["name"] for each in volumes])
        it.create(claim_body)
        it.create(pod("@new", claims=["@c"]))
        if best is None:
            return it.told("@new", NONE_FITS)
        it.bound("@new")
        claims_are(it, "Bound", "@c")
        found = it.get("PersistentVolumeClaim", "@c")["spec"]["volumeName"]
        checks.expect(found == it.local(best), "the claim got %s, not %s", found, best)
    case(GROUP + "chosen/" + name)(run)


def here(name, **more):
    body = volume(name, "@wait", "@1", **{key: more.pop(key) for key in list(more)
                                          if key in ("size", "mode", "labels", "claim")})
    body["spec"].update(more)
    return body


def wanted(**spec):
    body = claim("@c", "@wait")
    body["spec"].update(spec)
    return body


chosen("the_smallest_that_is_large_enough",
       [here("@9", size="9Gi"), here("@6", size="6Gi"), here("@4", size="4Gi")], wanted(), "@6")
chosen("none_large_enough", [here("@4", size="4Gi")], wanted())
chosen("by_selector", [here("@plain"), here("@fast", labels={"disk": "fast"}, size="9Gi")],
       wanted(selector={"matchLabels": {"disk": "fast"}}), "@fast")
chosen("none_by_selector", [here("@plain")], wanted(selector={"matchLabels": {"disk": "fast"}}))
chosen("of_the_same_mode", [here("@files"), here("@block", volumeMode="Block", size="9Gi")],
       wanted(volumeMode="Block"), "@block")
chosen("not_of_another_mode", [here("@files")], wanted(volumeMode="Block"))
chosen("with_the_access_it_wants", [here("@one"), here("@many", mode="ReadWriteMany", size="9Gi")],
       wanted(accessModes=["ReadWriteMany"]), "@many")
chosen("an_in_tree_disk",
       [volume("@disk", "@wait", "@1", source={"awsElasticBlockStore": {"volumeID": "vol-1"}})],
       wanted(), "@disk")
chosen("not_anothers", [here("@theirs", claim="@somebody")], wanted())

# ---- what a claim is like ----


@case(GROUP + "claim/shared_by_two_pods")
def shared(it):
    """The second pod goes where the first one's volume was made."""
    started(it, node("@1"), node("@2"), node("@3"))
    it.create(claim("@c", "@made-later", mode="ReadWriteMany"))
    it.create_all([pod("@one", claims=["@c"]), pod("@two", claims=["@c"])])
    place = it.bound("@one")
    checks.expect(it.bound("@two") == place, "they are on %s and %s", place, node_of(it.now("@two")))


@case(GROUP + "claim/already_for_a_node")
def already_for_a_node(it):
    """A claim for which a node was selected before: the pod goes there, or nowhere."""
    it.create_all(classes())
    it.nodes(node("@1"), node("@2"))
    body = claim("@c", "@made-later")
    body["metadata"]["annotations"] = {SELECTED: it.local("@2")}
    it.create(body)
    it.create(pod("@elsewhere", claims=["@c"], nodeSelector={"kubernetes.io/hostname": "@1"}))
    it.told("@elsewhere", nowhere(2, "1 %s, 1 node(s) didn't match Pod's node affinity/selector"
                                  % NO_VOLUME, unhelpful(2)))
    Controller(it)
    it.create(pod("@new", claims=["@c"]))
    it.bound("@new", ["@2"])


@case(GROUP + "claim/being_deleted")
def being_deleted(it):
    it.create(volume("@v"))
    body = claim("@c", volume="@v", bound=True)
    body["metadata"]["finalizers"] = ["example.com/hold"]
    it.create(body)
    it.delete("PersistentVolumeClaim", "@c")
    it.nodes(node("@1"))
    it.create(pod("@new", claims=["@c"]))
    it.told("@new", nowhere(1, 'persistentvolumeclaim "@c" is being deleted') + " not found")


@case(GROUP + "claim/of_a_volume_that_is_lost")
def lost(it):
    it.create(claim("@c", volume="@v", bound=True))
    it.patch("PersistentVolumeClaim", "@c", {"status": {"phase": "Lost"}}, status=True)
    it.nodes(node("@1"))
    it.create(pod("@new", claims=["@c"]))
    it.told("@new", nowhere(1, 'persistentvolumeclaim "@c" bound to non-existent persistentvolume "@v"')
            + " not found")


@case(GROUP + "claim/of_a_volume_that_is_not_there")
def not_there(it):
    it.create(claim("@c", volume="@v", bound=True))
    it.nodes(node("@1"))
    it.create(pod("@new", claims=["@c"]))
    it.told("@new", nowhere(1, 'persistentvolume "@v" not found') + " not found")


@case(GROUP + "claim/made_with_the_pod")
def ephemeral(it):
    """A generic ephemeral volume: the controller makes the claim, for this pod alone."""
    it.create_all(classes())
    it.nodes(node("@1"))
    template = {"spec": claim("@", "@made-later")["spec"]}
    it.create(pod("@new", volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}]))
    it.told("@new", nowhere(1, "waiting for ephemeral volume controller to create the "
                               'persistentvolumeclaim "@new-scratch"') + " not found")
    Controller(it)
    body = claim("@new-scratch", "@made-later")
    body["metadata"]["ownerReferences"] = [{
        "apiVersion": "v1", "kind": "Pod", "name": "@new", "controller": True,
        "uid": it.now("@new")["metadata"]["uid"]}]
    it.create(body)
    it.bound("@new")
    claims_are(it, "Bound", "@new-scratch")


@case(GROUP + "claim/of_the_right_name_but_not_the_pods")
def not_the_pods(it):
    it.create_all(classes() + [claim("@new-scratch", "@made-later")])
    it.nodes(node("@1"))
    template = {"spec": claim("@", "@made-later")["spec"]}
    it.create(pod("@new", volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}]))
    it.told("@new", nowhere(1, "PVC %s/@new-scratch was not created for pod %s/@new (pod is not owner)"
                            % (it.own, it.own)) + " not found")


# ---- what goes wrong between decision and binding ----


@case(GROUP + "prebind/made_for_the_wrong_node")
def wrong_node(it):
    """The provisioner makes the volume where the pod is not."""
    it.create_all(classes())
    it.nodes(node("@1"), node("@2"))
    it.create(claim("@c", "@made-later"))
    it.create(pod("@new", claims=["@c"], affinity=on_nodes(any_of("kubernetes.io/hostname", "@1"))))
    it.holds("@new", "@1")
    checks.wait_until(it.patience, lambda: annotation(it, "@c", SELECTED) == it.local("@1"),
                      "no volume was asked for")
    it.create(volume("@v", "@made-later", "@2", claim="@c"))
    it.patch("PersistentVolumeClaim", "@c", {
        "metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {"volumeName": "@v"}})
    fails(it, "@new", 'pv "@v" node affinity doesn\'t match node "@1": no matching NodeSelectorTerms')
    it.told("@new", nowhere(2, "1 node(s) didn't match PersistentVolume's node affinity, 1 node(s) didn't "
                               "match Pod's node affinity/selector", unhelpful(2)))


@case(GROUP + "prebind/the_node_goes")
def node_goes(it):
    it.create_all(classes())
    it.nodes(node("@1"), node("@2"))
    it.create(claim("@c", "@made-later"))
    it.create(pod("@new", claims=["@c"], affinity=on_nodes(any_of("kubernetes.io/hostname", "@1"))))
    it.holds("@new", "@1")
    it.delete("Node", "@1")
    fails(it, "@new", 'failed to get node "@1": node "@1" not found')


@case(GROUP + "prebind/one_of_two_is_slow")
def one_of_two(it):
    """A pod is bound when all of its volumes are; until then a second one waits for its room."""
    it.create_all([storage_class("@fast", provisioner=MADE),
                   storage_class("@slow", provisioner=MADE, parameters={"delay": "2.5"})])
    it.nodes(node("@1", cpu="1"))
    Controller(it)
    it.create_all([claim("@c-1", "@fast"), claim("@c-2", "@slow")])
    it.create(pod("@new", requests={"cpu": "1"}, claims=["@c-1", "@c-2"]))
    claims_are(it, "Bound", "@c-1")
    checks.expect(not node_of(it.now("@new")), "@new was bound before its second volume was")
    it.bound("@new")
    claims_are(it, "Bound", "@c-2")


@case(GROUP + "prebind/two_pods_and_one_volume")
def two_and_one(it):
    """Two claims, one volume: the first pod has it, the second is told, and gets the next one."""
    started(it, node("@1"))
    it.create(volume("@v-1", "@wait", "@1"))
    volumes_are(it, "Available", "@v-1")
    it.create_all([claim("@c-1", "@wait"), claim("@c-2", "@wait")])
    it.create(pod("@one", claims=["@c-1"]))
    it.create(pod("@two", claims=["@c-2"]))
    it.told("@two", NONE_FITS)
    it.bound("@one")
    it.create(volume("@v-2", "@wait", "@1"))
    it.bound("@two")
    checks.expect(it.get("PersistentVolumeClaim", "@c-1")["spec"]["volumeName"] == it.local("@v-1"),
                  "@c-1 did not get @v-1")


# ---- room for volumes, by node ----


@case(GROUP + "capacity/by_node_and_by_volume")
def by_node(it):
    """Room is told for the nodes that a selector names; the largest volume may be smaller than the room."""
    it.create({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver",
               "metadata": {"name": "@driver"}, "spec": {"storageCapacity": True}})
    it.create(storage_class("@class", provisioner="@driver"))
    for name, rack, most in (("@one", "1", "1Gi"), ("@two", "2", None)):
        body = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
                "metadata": {"name": name}, "storageClassName": "@class", "capacity": "100Gi",
                "nodeTopology": {"matchLabels": {"rack": rack}}}
        it.create(dict(body, maximumVolumeSize=most) if most else body)
    started(it, node("@1", {"rack": "1"}), node("@2", {"rack": "2"}), node("@3", {"rack": "3"}))
    it.create(claim("@c", "@class"))
    it.create(pod("@new", claims=["@c"]))
    it.bound("@new", ["@2"])
    it.create(claim("@huge", "@class", size="200Gi"))
    it.create(pod("@stuck", claims=["@huge"]))
    it.told("@stuck", nowhere(3, "3 node(s) did not have enough free storage", unhelpful(3)))
