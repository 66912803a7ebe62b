"""Resource claims whose devices are allocated already: the pod is reserved for before it is bound."""
import checks
from build import node, pod
from stage import case

GROUP = "devices/"


def allocated(it, name, **allocation):
    """A claim that somebody has allocated."""
    request = {"name": "one", "exactly": {"deviceClassName": "nothing.example.com"}}
    it.create({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name},
               "spec": {"devices": {"requests": [request]}}})
    result = {"request": "one", "driver": "driver.example.com", "pool": "pool", "device": "device"}
    it.patch("ResourceClaim", name, {"status": {"allocation": dict(
        {"devices": {"results": [result]}, "allocationTimestamp": "2026-01-01T00:00:00Z"},
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
