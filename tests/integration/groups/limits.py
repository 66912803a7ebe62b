"""What the API server takes, however long, great or odd it is: pods of more containers than one would
write by hand, numbers that no double holds, and what drivers alone understand, byte for byte.
"""
import json

import checks
from build import container, node, pod
from groups.devices import reserved_for
from groups.devices_given import device_class, devices, got, results, wants, with_claims
from stage import case

GROUP = "limits/"
# What an API server sends of these in JSON is other bytes, or other numbers, or no Unicode.
OPAQUE = (r'{"url":"https://a/?b=1&c=2"}', r'{"url":"https://a/?b=1\u0026c=2"}', r'{"a":"<b>","c":"\/"}',
          r'{"half":"\ud800","other":"\udc00x"}', '{ "a" :\t1 }',
          '{"n":[12345678901234567890,1.0,1e2,-0,1E+2,0.1000]}',
          '{"deep":' + "[" * 300 + "]" * 300 + "}", '{"long":' + "7" * 300 + ".5}")


def as_text(it, body, *opaque):
    """Creates it with the very text of its parameters; each stands as "OPAQUE" in the body."""
    body = it.local(body)
    text = json.dumps(body)
    for each in opaque:
        text = text.replace('"OPAQUE"', each, 1)
    path = it.path(body["kind"])
    it.created.append((body["kind"], path + "/" + body["metadata"]["name"]))
    it.admin.create(path, text)


def stored(it, kind, name):
    """The bytes of the object as they are stored, in protobuf."""
    headers = dict(it.admin.headers, Accept="application/vnd.kubernetes.protobuf")
    status, body = it.admin.exchange("GET", it.path(kind, name), None, headers)
    checks.expect(status == 200 and body[:4] == b"k8s\0", "%s: %d", name, status)
    return body


def has(it, name, what, times, where):
    found = stored(it, "ResourceClaim", name).count(what.encode())
    checks.expect(found == times, "%s has %.60s %d times %s", name, what, found, where)


def configured(name="OPAQUE"):
    return [{"opaque": {"driver": "@driver", "parameters": name}}]


def fields(message):
    """(number, bytes, or None for what is no text or message; all of it) of each field."""
    def varint(at):
        value, shift = 0, 0
        while True:
            value |= (message[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if message[at - 1] < 128:
                return value, at

    at = 0
    while at < len(message):
        begin = at
        tag, at = varint(at)
        value, at = varint(at)
        at += value if tag & 7 == 2 else 0
        yield tag >> 3, message[at - value:at] if tag & 7 == 2 else None, message[begin:at]


def field(number, content):
    length, bytes_of = len(content), bytearray([number << 3 | 2])
    while length > 127:
        bytes_of.append(length & 127 | 128)
        length >>= 7
    return bytes(bytes_of) + bytes([length]) + content


def let_go(it, name):
    """Takes the finalizers away so that the claim can be deleted; the API server refuses a patch of such a
    claim, as JSON cannot carry it unchanged."""
    def inside(message, number, change):
        return b"".join(field(n, change(v)) if n == number and v is not None else whole for n, v, whole in fields(message))

    def unprotected(meta):
        return b"".join(whole for n, _, whole in fields(meta) if n != 14)

    body = stored(it, "ResourceClaim", name)
    body = body[:4] + inside(body[4:], 2, lambda raw: inside(raw, 1, unprotected))
    kind = "application/vnd.kubernetes.protobuf"
    status, _ = it.admin.exchange("PUT", it.path("ResourceClaim", name), body,
                                  dict(it.admin.headers, Accept=kind, **{"Content-Type": kind}))
    checks.expect(status == 200, "%s is not let go: %d", name, status)


def of_containers(name, containers):
    body = pod(name)
    body["spec"]["containers"] = containers
    return body


@case(GROUP + "opaque_parameters")
def opaque_parameters(it):
    """Of claims and of their class; each claim is for two pods, so that its allocation is put back."""
    it.nodes(node("@a"))
    it.create(devices("@pool", *["d%d" % i for i in range(len(OPAQUE))]))
    for i, opaque in enumerate(OPAQUE):
        as_text(it, device_class("@class%d" % i, config=configured()), opaque)
        request = {"name": "one", "exactly": {"deviceClassName": "@class%d" % i}}
        as_text(it, wants("@c%d" % i, request, config=configured()), opaque)
        for which in ("first", "second"):
            it.create(with_claims("@%s%d" % (which, i), "@c%d" % i))
    for i, opaque in enumerate(OPAQUE):
        for which in ("first", "second"):
            it.bound("@%s%d" % (which, i))
        checks.expect(len(results(it, "@c%d" % i)) == 1 and len(reserved_for(it, "@c%d" % i)) == 2,
                      "@c%d is not for both", i)
        has(it, "@c%d" % i, opaque, 3, "in itself, and given by itself and by its class")
        let_go(it, "@c%d" % i)


@case(GROUP + "what_drivers_say")
def what_drivers_say(it):
    """A driver has written something into the status; another pod comes."""
    it.nodes(node("@a"))
    it.create_all([device_class(), devices("@pool", *["d%d" % i for i in range(len(OPAQUE))])])
    for i, opaque in enumerate(OPAQUE):
        it.create(wants("@c%d" % i))
        it.create(with_claims("@first%d" % i, "@c%d" % i))
        it.bound("@first%d" % i)
        (_, pool, device), = results(it, "@c%d" % i)
        said = [{"driver": it.local("@driver"), "pool": pool, "device": device, "data": "OPAQUE"}]
        claim = it.get("ResourceClaim", "@c%d" % i)
        text = json.dumps(dict(claim, status=dict(claim["status"], devices=said))).replace('"OPAQUE"', opaque)
        it.admin.request("PUT", it.path("ResourceClaim", "@c%d" % i) + "/status", text)
        has(it, "@c%d" % i, opaque, 1, "before")
        it.create(with_claims("@second%d" % i, "@c%d" % i))
        it.bound("@second%d" % i)
        has(it, "@c%d" % i, opaque, 1, "after")


@case(GROUP + "many_containers")
def many_containers(it):
    """Pending it is placed, and bound it counts."""
    it.nodes(node("@a", cpu="4"))
    it.create(of_containers("@many", [container("c%d" % i, resources={"requests": {"cpu": "3m"}})
                                      for i in range(1100)]))
    it.bound("@many")
    it.create(pod("@next", requests={"cpu": "800m"}))
    it.unschedulable("@next")
    it.end("@many")
    it.bound("@next")


@case(GROUP + "many_resources")
def many_resources(it):
    it.nodes(node("@a"))
    names = {"example.com/r%d" % i: "1" for i in range(2500)}
    it.create(of_containers("@many", [container(resources={"requests": names, "limits": names})]))
    it.unschedulable("@many")
    it.patch("Node", "@a", {"status": {"allocatable": names, "capacity": names}}, status=True)
    it.bound("@many")


@case(GROUP + "great_numbers")
def great_numbers(it):
    """Two generations of a pool that a double cannot tell apart, and attributes likewise."""
    it.nodes(node("@a"), node("@b"))
    great = 2 ** 60
    old, new = (devices("@" + name, {"name": "d", "attributes": {"size": {"int": 2 ** 62 + odd}}}, nodeName=where)
                for name, odd, where in (("old", 0, "@a"), ("new", 1, "@b")))
    for body, generation in ((old, great), (new, great + 1)):
        body["spec"]["pool"] = {"name": "@pool", "generation": generation, "resourceSliceCount": 1}
    expression = 'device.attributes["@driver"].size == %d' % (2 ** 62 + 1)
    request = {"name": "one", "exactly": {"deviceClassName": "@class", "selectors": [{"cel": {"expression": expression}}]}}
    it.create_all([device_class(), old, new, wants("@one", request)])
    it.create(with_claims("@one", "@one"))
    it.bound("@one", on=["@b"])
    got(it, "@one", ("one", "@pool", "d"))
