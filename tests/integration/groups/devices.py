"""Resource claims whose devices are allocated already: the pod is reserved for before it is bound, devices
are waited for until they are ready, and what a failure leaves behind is taken back."""
import checks
from build import node, pod
from groups.queueing import refuse_bindings
from stage import case

GROUP = "devices/"


def allocated(it, name, device=(), **allocation):
    """A claim that somebody has allocated; `device`: more of what it was given."""
    request = {"name": "one", "exactly": {"deviceClassName": "nothing.example.com"}}
    it.create({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name},
               "spec": {"devices": {"requests": [request]}}})
    result = dict({"request": "one", "driver": "driver.example.com", "pool": "pool", "device": "device"}, **dict(device))
    it.patch("ResourceClaim", name, {"status": {"allocation": dict(
        {"devices": {"results": [result]}, "allocationTimestamp": "2126-01-01T00:00:00Z"},
        **allocation)}}, status=True)


def reserved_for(it, name):
    claim = it.get("ResourceClaim", name)
    return [r["uid"] for r in claim["status"].get("reservedFor", [])]


@case(GROUP + "an_allocated_claim_is_reserved")
def is_reserved(it):
    """Two pods share a claim; it is reserved for both."""
    it.nodes(node("@a"))
    allocated(it, "@claim")
    for name in ("@one", "@two"):
        it.create(pod(name, resourceClaims=[{"name": "device", "resourceClaimName": "@claim"}]))
        it.bound(name)
    uids = {it.now(name)["metadata"]["uid"] for name in ("@one", "@two")}
    checks.expect(set(reserved_for(it, "@claim")) == uids, "reserved for %s, not for %s",
                  reserved_for(it, "@claim"), uids)


@case(GROUP + "where_it_was_allocated")
def where_allocated(it):
    """A pod goes where its claim's devices are."""
    it.nodes(node("@a"), node("@b"))
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [it.local("@b")]}]}]
    allocated(it, "@claim", nodeSelector={"nodeSelectorTerms": terms})
    it.create(pod("@new", resourceClaims=[{"name": "device", "resourceClaimName": "@claim"}]))
    it.bound("@new", on=["@b"])


# ---- devices that have to be made ready ----

SLOW = {"bindingConditions": ["own.example.com/attached"], "bindingFailureConditions": ["own.example.com/broken"]}


def reports(it, claim, kind, message="", pool="pool", driver="driver.example.com", device="device"):
    """What a driver says of the device."""
    condition = {"type": "own.example.com/" + kind, "status": "True", "reason": "Why", "message": message,
                 "lastTransitionTime": "2026-01-01T00:00:00Z"}
    it.patch("ResourceClaim", claim, {"status": {"devices": [
        {"driver": driver, "pool": pool, "device": device, "conditions": [condition]}]}}, status=True)


def waits(it, name, node_name):
    """The pod waits for its device, and says so."""
    checks.wait_until(it.patience, lambda: it.events("BindingConditionsPending", name), "nobody waits for the device")
    told = it.events("BindingConditionsPending", name)[0]["message"]
    checks.expect(told == it.local("waiting for binding conditions for device on node " + node_name), "the event says %s", told)
    checks.expect(not it.now(name)["spec"].get("nodeName"), "the pod did not wait")


@case(GROUP + "an_allocated_claim_is_waited_for")
def is_waited_for(it):
    it.nodes(node("@a"))
    allocated(it, "@claim", SLOW)
    it.create(pod("@one", resourceClaims=[{"name": "device", "resourceClaimName": "@claim"}]))
    waits(it, "@one", "@a")
    reports(it, "@claim", "attached")
    it.bound("@one")


@case(GROUP + "an_allocated_claim_that_fails_is_given_up")
def fails(it):
    """The reservation goes, with the text of the driver in the event."""
    it.nodes(node("@a"))
    allocated(it, "@claim", SLOW)
    it.create(pod("@one", resourceClaims=[{"name": "device", "resourceClaimName": "@claim"}]))
    waits(it, "@one", "@a")
    reports(it, "@claim", "broken", 'no "power"')
    text = it.local('device binding failed: claim=@claim, reason=Why, message="no \\"power\\""')
    checks.wait_until(it.patience, lambda: any(text in e["message"] for e in it.events("FailedScheduling", "@one")),
                      "no event says why")
    checks.wait_until(it.patience, lambda: not reserved_for(it, "@claim"), "the claim is still reserved")


@case(GROUP + "a_failed_binding_of_an_allocated_claim")
def failed_binding(it):
    """The pod is taken out of the claim, which keeps its devices, and is reserved for it again later."""
    it.nodes(node("@a"))
    allocated(it, "@claim")
    allow = refuse_bindings(it)
    it.create(pod("@one", resourceClaims=[{"name": "device", "resourceClaimName": "@claim"}]))
    it.unschedulable("@one")
    checks.wait_until(it.patience, lambda: it.writes("@claim", "patch", "resourceclaims", "status"),
                      "nobody gave the reservation up")
    checks.wait_until(it.patience, lambda: not reserved_for(it, "@claim"), "the claim is still reserved")
    allow()
    it.bound("@one")
    checks.expect(reserved_for(it, "@claim") == [it.now("@one")["metadata"]["uid"]], "it is reserved for %s",
                  reserved_for(it, "@claim"))
