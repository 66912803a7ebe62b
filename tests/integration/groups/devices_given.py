"""Resource claims whose devices are to be allocated, and extended resources that devices stand for. The drivers
and the claim controller are the case.
"""
import checks
from build import any_of, container, node, pod, taint
from groups.devices import SLOW, reports, reserved_for, waits
from groups.queueing import refuse_bindings
from stage import case, remove

GROUP = "devices/"
NO_ROOM = "0/%d nodes are available: %d cannot allocate all claims. still not schedulable, preemption: 0/%d nodes are " \
    "available: %d Preemption is not helpful for scheduling."
FINALIZER = "resource.kubernetes.io/delete-protection"


def no_room(nodes):
    return NO_ROOM % (nodes, nodes, nodes, nodes)


def device_class(name="@class", **spec):
    """A class of the case's own driver."""
    selector = {"cel": {"expression": 'device.driver == "@driver"'}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name},
            "spec": dict({"selectors": [selector]}, **spec)}


def devices(name, *bodies, **where):
    """A slice with these devices (a name, or more than that); `where` as in the spec, else on node @a."""
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name},
            "spec": dict({"driver": "@driver", "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
                          "devices": [{"name": b} if isinstance(b, str) else b for b in bodies]},
                         **(where or {"nodeName": "@a"}))}


def wants(name, *requests, **devices_more):
    requests = requests or ({"name": "one", "exactly": {"deviceClassName": "@class"}},)
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name},
            "spec": {"devices": dict({"requests": list(requests)}, **devices_more)}}


def with_claims(name, *claims, **more):
    return pod(name, resourceClaims=[{"name": "d%d" % i, "resourceClaimName": c} for i, c in enumerate(claims)], **more)


def results(it, name):
    claim = it.get("ResourceClaim", name)
    found = claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])
    return [(r["request"], r["pool"], r["device"]) for r in found]


def got(it, name, *expected):
    """The claim has these (request, pool, device), and the pod of its name has it."""
    found = results(it, name)
    checks.expect(found == [tuple(it.local(list(e))) for e in expected], "%s got %s", name, found)
    checks.expect(FINALIZER in it.get("ResourceClaim", name)["metadata"].get("finalizers", []), "%s may be deleted", name)


def give_back(it, claim):
    """What the claim controller does when nobody needs it any more."""
    it.patch("ResourceClaim", claim, {"status": {"allocation": None, "reservedFor": None, "devices": None}}, status=True)


@case(GROUP + "two_pods_one_device")
def two_pods(it):
    """The second one waits until it is given back."""
    it.nodes(node("@a"))
    it.create_all([device_class(), devices("@pool", "d"), wants("@one"), wants("@two")])
    it.create(with_claims("@one", "@one"))
    it.bound("@one")
    got(it, "@one", ("one", "@pool", "d"))
    it.create(with_claims("@two", "@two"))
    it.told("@two", no_room(1))
    checks.expect(not reserved_for(it, "@two") and not results(it, "@two"), "the claim of a pending pod has something")
    it.end("@one")
    give_back(it, "@one")
    it.bound("@two")
    got(it, "@two", ("one", "@pool", "d"))


@case(GROUP + "where_the_device_is")
def where_device_is(it):
    """One node of three has the device, and nothing else speaks for it."""
    it.nodes(node("@a"), node("@b"), node("@c"))
    it.create_all([device_class(), devices("@pool", "d", nodeName="@b"), wants("@one")])
    it.create(with_claims("@one", "@one"))
    it.bound("@one", on=["@b"])
    terms = it.get("ResourceClaim", "@one")["status"]["allocation"]["nodeSelector"]["nodeSelectorTerms"]
    expected = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [it.local("@b")]}]}]
    checks.expect(terms == expected, "it is for %s", terms)


@case(GROUP + "shared")
def shared(it):
    """Two pods with one claim: one device, one node."""
    it.nodes(node("@a"), node("@b"))
    it.create_all([device_class(), devices("@pool", "d", "e", nodeName="@b"), wants("@both")])
    for name in ("@one", "@two"):
        it.create(with_claims(name, "@both"))
        it.bound(name, on=["@b"])
    got(it, "@both", ("one", "@pool", "d"))
    uids = {it.now(name)["metadata"]["uid"] for name in ("@one", "@two")}
    checks.expect(set(reserved_for(it, "@both")) == uids, "reserved for %s", reserved_for(it, "@both"))


@case(GROUP + "a_class_that_comes_late")
def class_late(it):
    it.nodes(node("@a"))
    it.create_all([devices("@pool", "d"), wants("@one")])
    it.create(with_claims("@one", "@one"))
    it.told("@one", "0/1 nodes are available: request one: device class @class does not exist. no new claims to "
            "deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.")
    it.create(device_class())
    it.bound("@one")


@case(GROUP + "the_best_alternative")
def best_alternative(it):
    """Of the alternatives of a request the first that can be had anywhere decides where the pod goes."""
    def alternative(name, model):
        expression = 'device.attributes["@driver"].model == "%s"' % model
        return {"name": name, "deviceClassName": "@class", "selectors": [{"cel": {"expression": expression}}]}

    def model(name):
        return {"name": "d", "attributes": {"model": {"string": name}}}

    it.nodes(node("@a"), node("@b"), node("@c"))
    it.create_all([device_class(), devices("@small", model("small")), devices("@big", model("big"), nodeName="@b"),
                   devices("@odd", model("odd"), nodeName="@c"),
                   wants("@one", {"name": "one", "firstAvailable": [alternative("big", "big"),
                                                                    alternative("small", "small")]})])
    it.create(with_claims("@one", "@one"))
    it.bound("@one", on=["@b"])
    got(it, "@one", ("one/big", "@big", "d"))


@case(GROUP + "a_pool_that_some_nodes_reach")
def pool_for_some(it):
    it.nodes(node("@a"), node("@b", {"own": "@yes"}))
    selector = {"nodeSelectorTerms": [{"matchExpressions": [any_of("own", "@yes")]}]}
    it.create_all([device_class(), devices("@net", "d", nodeSelector=selector), wants("@one"), wants("@two")])
    it.create(with_claims("@one", "@one"))
    it.bound("@one", on=["@b"])
    terms = it.get("ResourceClaim", "@one")["status"]["allocation"]["nodeSelector"]
    checks.expect(terms == it.local(selector), "it is for %s", terms)
    it.create(with_claims("@two", "@two"))
    it.told("@two", no_room(2))


@case(GROUP + "alike")
def alike(it):
    """Two devices that have the attribute in common; the first pair has not."""
    def numa(name, number):
        return {"name": name, "attributes": {"numa": {"int": number}}}

    it.nodes(node("@a"))
    it.create_all([device_class(), devices("@pool", numa("d", 1), numa("e", 2), numa("f", 2)),
                   wants("@one", {"name": "one", "exactly": {"deviceClassName": "@class", "count": 2}},
                         constraints=[{"matchAttribute": "@driver/numa"}])])
    it.create(with_claims("@one", "@one"))
    it.bound("@one")
    got(it, "@one", ("one", "@pool", "e"), ("one", "@pool", "f"))


@case(GROUP + "a_tainted_device")
def tainted_device(it):
    it.nodes(node("@a"))
    tolerant = {"name": "one", "exactly": {"deviceClassName": "@class", "tolerations": [
        {"key": "own.example.com/broken", "operator": "Exists", "effect": "NoSchedule"}]}}
    it.create_all([device_class(), devices("@pool", {"name": "d", "taints": [taint("own.example.com/broken", "yes")]}),
                   wants("@one"), wants("@two", tolerant)])
    it.create(with_claims("@one", "@one"))
    it.told("@one", no_room(1))
    it.create(with_claims("@two", "@two"))
    it.bound("@two")


@case(GROUP + "given_up_where_it_is_no_good")
def given_up(it):
    """A claim that nobody uses was allocated for a node that the pod cannot go to: it is allocated anew."""
    it.nodes(node("@a"), node("@b", unschedulable=True))
    it.create_all([device_class(), devices("@pool", "d"), devices("@far", "d", nodeName="@b"), wants("@claim")])
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["@b"]}]}]
    it.patch("ResourceClaim", "@claim", {"status": {"allocation": {
        "devices": {"results": [{"request": "one", "driver": "@driver", "pool": "@far", "device": "d"}]},
        "nodeSelector": {"nodeSelectorTerms": terms}}}}, status=True)
    it.create(with_claims("@one", "@claim"))
    it.bound("@one", on=["@a"])
    got(it, "@claim", ("one", "@pool", "d"))
    text = "1 resourceclaim not available on the node. deallocation of ResourceClaim completed, preemption: 0/2 nodes are available"
    checks.wait_until(it.patience, lambda: any(text in e["message"] for e in it.events("FailedScheduling", "@one")),
                      "no event says that it was deallocated")


# ---- devices that have to be made ready ----


def waits_for(it):
    it.nodes(node("@a"))
    it.create_all([device_class(), devices("@pool", dict(SLOW, name="d")), wants("@claim")])
    it.create(with_claims("@one", "@claim"))
    waits(it, "@one", "@a")


def own(it, kind, message=""):
    reports(it, "@claim", kind, message, "@pool", "@driver", "d")


@case(GROUP + "waited_for_until_it_is_ready")
def waited_for(it):
    waits_for(it)
    own(it, "attached")
    it.bound("@one")
    got(it, "@claim", ("one", "@pool", "d"))


@case(GROUP + "a_device_that_fails")
def device_fails(it):
    """The pod is told, and its reservation is given up, so that the claim can be allocated anew."""
    waits_for(it)
    own(it, "broken", 'no "power"')
    text = it.local("device binding failed: claim=@claim, reason=Why, message=")
    checks.wait_until(it.patience, lambda: any(text in e["message"] for e in it.events("FailedScheduling", "@one")),
                      "no event says why")
    # It is deallocated, and given the same device again, of which nothing is said by then.
    checks.wait_until(it.patience, lambda: "devices" not in it.get("ResourceClaim", "@claim")["status"],
                      "the claim was not deallocated")
    checks.wait_until(it.patience, lambda: results(it, "@claim"), "it was not allocated again")
    own(it, "attached")
    it.bound("@one")


# ---- extended resources ----


def special_claims(it):
    found = it.admin.list(it.path("ResourceClaim"))[0]
    return [c for c in found if c["metadata"].get("annotations", {}).get(
        "resource.kubernetes.io/extended-resource-claim") == "true"]


def forget_special(it):
    """Nobody collects garbage here."""
    it.before_end.append(lambda: [remove(it.admin, it.path("ResourceClaim", c["metadata"]["name"]))
                                  for c in special_claims(it)])


def stands_for(it, name, resource, device):
    """One claim was made for the pod, and its status says what for."""
    made = special_claims(it)
    checks.expect(len(made) == 1, "%d claims were made", len(made))
    claim, body = made[0]["metadata"]["name"], it.now(name)
    owner = made[0]["metadata"]["ownerReferences"][0]
    checks.expect(owner["uid"] == body["metadata"]["uid"] and owner["controller"], "its owner is %s", owner)
    checks.expect(claim.startswith(it.local(name) + "-extended-resources-"), "it is called %s", claim)
    status = it.get("Pod", name)["status"].get("extendedResourceClaimStatus")
    request = "container-0-request-0"
    expected = {"resourceClaimName": claim, "requestMappings": [
        {"containerName": "main", "resourceName": it.local(resource), "requestName": request}]}
    checks.expect(status == expected, "the pod's status says %s", status)
    found = [(r["request"], r["device"]) for r in made[0]["status"]["allocation"]["devices"]["results"]]
    checks.expect(found == [(request, device)], "it got %s", found)
    checks.expect([r["uid"] for r in made[0]["status"]["reservedFor"]] == [body["metadata"]["uid"]], "for whom?")


def extended(name, resource):
    amount = {"requests": {resource: "1"}, "limits": {resource: "1"}}
    body = pod(name)
    body["spec"]["containers"] = [container(resources=amount)]
    return body


@case(GROUP + "extended/of_a_name")
def extended_of_a_name(it):
    """The class says for which resource its devices stand; a second pod finds none."""
    it.nodes(node("@a"))
    forget_special(it)
    it.create_all([device_class(extendedResourceName="own.example.com/@r"), devices("@pool", "d")])
    it.create(extended("@one", "own.example.com/@r"))
    it.bound("@one")
    stands_for(it, "@one", "own.example.com/@r", "d")
    it.create(extended("@two", "own.example.com/@r"))
    it.told("@two", no_room(1))


@case(GROUP + "extended/of_the_class")
def extended_of_the_class(it):
    it.nodes(node("@a"))
    forget_special(it)
    it.create_all([device_class(), devices("@pool", "d")])
    it.create(extended("@one", "deviceclass.resource.kubernetes.io/@class"))
    it.bound("@one")
    stands_for(it, "@one", "deviceclass.resource.kubernetes.io/@class", "d")


@case(GROUP + "extended/of_a_device_plugin")
def extended_of_a_plugin(it):
    """A node that has the resource itself needs no device, and no claim is made."""
    it.nodes(node("@a", **{"own.example.com/@r": "1"}))
    it.create(device_class(extendedResourceName="own.example.com/@r"))
    it.create(extended("@one", "own.example.com/@r"))
    it.bound("@one")
    checks.expect(not special_claims(it), "a claim was made")


@case(GROUP + "extended/a_claim_that_is_left")
def extended_left(it):
    """A failed attempt has made a claim for the pod that is still there: it is deleted before anything else."""
    it.nodes(node("@a"))
    forget_special(it)
    it.create_all([device_class(extendedResourceName="own.example.com/@r"), devices("@pool", "d")])
    body = extended("@one", "own.example.com/@r")
    body["spec"]["schedulingGates"] = [{"name": "own.example.com/gate"}]
    it.create(body)
    left = wants("@left")
    left["metadata"].update(
        annotations={"resource.kubernetes.io/extended-resource-claim": "true"},
        finalizers=[FINALIZER],
        ownerReferences=[{"apiVersion": "v1", "kind": "Pod", "name": "@one", "controller": True,
                          "uid": it.get("Pod", "@one")["metadata"]["uid"]}])
    it.create(left)
    it.patch("Pod", "@one", {"spec": {"schedulingGates": None}})
    it.told("@one", "0/1 nodes are available: 1 cannot schedule extended resource claim. deletion of ResourceClaim "
            "completed, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.")
    checks.wait_until(it.patience, lambda: not special_claims(it), "it is still there")
    it.create(device_class("@more"))
    it.bound("@one")
    stands_for(it, "@one", "own.example.com/@r", "d")


@case(GROUP + "extended/of_init_containers")
def extended_of_inits(it):
    """What ends before others begin uses their devices; more than they have is a request of its own."""
    it.nodes(node("@a"))
    forget_special(it)
    it.create_all([device_class(extendedResourceName="own.example.com/@r"), devices("@pool", "d", "e", "f")])

    def asks(name, amount, **more):
        return dict(container(resources={k: {"own.example.com/@r": amount} for k in ("requests", "limits")}),
                    name=name, **more)
    body = pod("@one")
    body["spec"]["initContainers"] = [asks("first", "2"), asks("side", "1", restartPolicy="Always"), asks("last", "2")]
    body["spec"]["containers"] = [asks("main", "1")]
    it.create(body)
    it.bound("@one")
    status = it.get("Pod", "@one")["status"]["extendedResourceClaimStatus"]
    found = [(m["containerName"], m["requestName"]) for m in status["requestMappings"]]
    one, two, three = ("container-%d-request-0" % i for i in (1, 2, 3))
    checks.expect(found == [("side", one), ("main", three), ("first", one), ("first", three), ("last", three),
                            ("last", two)], "they use %s", found)
    spec = it.get("ResourceClaim", status["resourceClaimName"])["spec"]["devices"]["requests"]
    asked = [(r["name"], r["exactly"]["count"]) for r in spec]
    checks.expect(asked == [(one, 1), (two, 1), (three, 1)], "it asks for %s", asked)


# ---- bindings that fail ----


@case(GROUP + "a_failed_binding_gives_up_its_reservation")
def failed_binding(it):
    it.nodes(node("@a"))
    it.create_all([device_class(), devices("@pool", "d"), wants("@claim")])
    allow = refuse_bindings(it)
    it.create(with_claims("@one", "@claim"))
    it.unschedulable("@one")
    checks.wait_until(it.patience, lambda: results(it, "@claim") and not reserved_for(it, "@claim"),
                      "the claim is not allocated or still reserved")
    allow()
    it.bound("@one")
    checks.expect(len(reserved_for(it, "@claim")) == 1, "it is reserved for %s", reserved_for(it, "@claim"))


@case(GROUP + "extended/a_failed_binding_leaves_no_claim")
def failed_extended(it):
    it.nodes(node("@a"))
    forget_special(it)
    it.create_all([device_class(extendedResourceName="own.example.com/@r"), devices("@pool", "d")])
    allow = refuse_bindings(it)
    it.create(extended("@one", "own.example.com/@r"))
    it.unschedulable("@one")
    checks.wait_until(it.patience, lambda: not special_claims(it), "the claim that was made is not deleted")
    allow()
    it.bound("@one")
    stands_for(it, "@one", "own.example.com/@r", "d")
