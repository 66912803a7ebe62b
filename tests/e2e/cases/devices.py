"""Resource claims: pods go where devices are, no device is given twice, whoever dies meanwhile."""
import collections

import checks
import kube
import objects
from cases.kill import kill
from suite import case

GROUP = "/apis/resource.k8s.io/v1"
CLAIMS = GROUP + "/namespaces/default/resourceclaims"
SLICES = GROUP + "/resourceslices"
DRIVER, CLASS = "devices.example.com", "device"
NODES, LOCAL, REMOTE = 8, 4, 4  # devices of each node, and those that every node of a zone can use
EMPTY = 2                       # nodes without a device
SHARED, SHARERS = 3, 4          # claims that several pods have, and how many have each
LATE = 6                        # pods for whom there is no device at first
BOUND_SECONDS = 60


def zone(i):
    return "ab"[i % 2]


def slice_of(name, devices, **where):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name},
            "spec": dict({"driver": DRIVER, "devices": devices,
                          "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}}, **where)}


def device(name, model):
    return {"name": name, "attributes": {"model": {"string": model}}}


def create_devices(client):
    """Nodes with devices of their own, some of the wrong kind, and a pool that zone a can reach."""
    client.create(GROUP + "/deviceclasses", {
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": CLASS},
        "spec": {"selectors": [{"cel": {"expression": 'device.driver == "%s"' % DRIVER}}]}})
    names = ["node-%02d" % i for i in range(NODES + EMPTY)]
    client.create_many(kube.NODES, (objects.node(name, {"cpu": "16", "memory": "32Gi"}, {"zone": zone(i)})
                                    for i, name in enumerate(names)))
    # Those of model "old" are for nobody: the claims ask for the other one.
    client.create_many(SLICES, (slice_of(name, [device("d%d" % k, "new") for k in range(LOCAL)] + [device("x", "old")],
                                         nodeName=name) for name in names[:NODES]))
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    client.create(SLICES, slice_of("remote", [device("r%d" % k, "new") for k in range(REMOTE)],
                                   nodeSelector={"nodeSelectorTerms": [term]}))


def claim(name):
    expression = 'device.attributes["%s"].model == "new"' % DRIVER
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name},
            "spec": {"devices": {"requests": [{"name": "one", "exactly": {
                "deviceClassName": CLASS, "selectors": [{"cel": {"expression": expression}}]}}]}}}


def pod(name, claim_name):
    return objects.pod(name, {"cpu": "100m"}, resourceClaims=[{"name": "device", "resourceClaimName": claim_name}])


def claims_of(client):
    return {c["metadata"]["name"]: c for c in client.list(CLAIMS)[0]}


def key(result):
    return result["driver"], result["pool"], result["device"]


def reach(client):
    """Device to the nodes that can use it, from the slices and nodes as they are."""
    labels = {n["metadata"]["name"]: n["metadata"]["labels"] for n in client.list(kube.NODES)[0]}
    found = {}
    for s in client.list(SLICES)[0]:
        spec = s["spec"]
        nodes = {spec["nodeName"]} if spec.get("nodeName") else {n for n in labels if labels[n].get("zone") == "a"}
        for d in spec["devices"]:
            if d["attributes"]["model"]["string"] == "new":
                found[spec["driver"], spec["pool"]["name"], d["name"]] = nodes
    return found


def complaints(client):
    """What is wrong with the claims, given the pods, the slices and the nodes."""
    pods = {p["metadata"]["name"]: p for p in client.list(kube.PODS)[0]}
    nodes, claims, wrong, holders = reach(client), claims_of(client), [], collections.defaultdict(list)
    for name, c in claims.items():
        status = c.get("status", {})
        results = status.get("allocation", {}).get("devices", {}).get("results", [])
        for result in results:
            holders[key(result)].append(name)
        if len(results) > 1 or (results and results[0]["request"] != "one"):
            wrong.append("%s got %s" % (name, results))
        for consumer in status.get("reservedFor", []):
            user = pods.get(consumer["name"])
            if user is None or user["metadata"]["uid"] != consumer["uid"] or not user["spec"].get("nodeName"):
                wrong.append("%s is reserved for %s, which is not bound" % (name, consumer["name"]))
        if results and not status.get("reservedFor"):
            wrong.append("%s has a device and nobody who uses it" % name)
    for found, names in holders.items():
        if found not in nodes:
            wrong.append("%s got %s, which does not exist or is of the wrong kind" % (names, found))
        if len(names) > 1:
            wrong.append("%s was given to %s" % (found, names))
    for p in pods.values():
        node = p["spec"].get("nodeName")
        if node:
            wrong += wrong_with_pod(p, node, claims, nodes)
    return wrong


def wrong_with_pod(p, node, claims, nodes):
    name = p["metadata"]["name"]
    status = claims[p["spec"]["resourceClaims"][0]["resourceClaimName"]].get("status", {})
    results = status.get("allocation", {}).get("devices", {}).get("results", [])
    if not results:
        return ["%s is bound without a device" % name]
    wrong = ["%s is on %s, which cannot use %s" % (name, node, key(r)) for r in results
             if node not in nodes.get(key(r), ())]
    if p["metadata"]["uid"] not in [c["uid"] for c in status.get("reservedFor", [])]:
        wrong.append("%s is bound, but its claim is not reserved for it" % name)
    return wrong


def give_back(client, names):
    """Pods end, and what the claim controller would do then."""
    for name in names:
        client.delete(kube.PODS + "/" + name)
        one = client.get(CLAIMS + "/" + name)
        for member in ("allocation", "reservedFor"):
            one["status"].pop(member, None)
        client.put(CLAIMS + "/" + name + "/status", one)


def all_as_they_should(world, pods, bound, seconds=BOUND_SECONDS):
    checks.all_bound(pods, bound, seconds)
    wrong = complaints(world.admin)
    checks.expect(not wrong, "%s", checks.some(wrong, 5))


@case("devices")
def devices(world):
    """One device a claim, claims of one pod and of several; scheduler and binder are killed between."""
    client, total = world.admin, NODES * LOCAL + REMOTE
    create_devices(client)
    pods, scheduler = world.pods(), world.scheduler()
    single = ["pod-%03d" % i for i in range(total - SHARED + LATE)]
    shared = ["shared-%d" % i for i in range(SHARED)]
    client.create_many(CLAIMS, (claim(name) for name in shared + single))
    sharers = [(name + "-%d" % k, name) for name in shared for k in range(SHARERS)]
    wanted = sharers + [(name, name) for name in single]
    half, most = len(wanted) // 2, SHARED * SHARERS + total - SHARED
    client.create_many(kube.PODS, (pod(*each) for each in wanted[:half]))
    checks.expect(pods.wait(BOUND_SECONDS, lambda items: objects.bound(items) > half // 4), "hardly anybody was bound")
    kill(scheduler, "scheduler")
    client.create_many(kube.PODS, (pod(*each) for each in wanted[half:]))
    checks.expect(pods.wait(BOUND_SECONDS, lambda items: objects.bound(items) > half), "it did not go on")
    kill(scheduler, "binder" if scheduler.has_actors else "scheduler")
    all_as_they_should(world, pods, most)
    checks.expect(objects.bound(pods.items) == most, "%d pods are bound with %d devices", objects.bound(pods.items), total)
    # Who had none gets those that are given back.
    ended = [name for name in single if pods.items[name][1]][:LATE]
    give_back(client, ended)
    # They count as bound until the watch has told of their end; a claim is reserved before its pod is bound.
    checks.expect(pods.wait(BOUND_SECONDS, lambda items: not set(ended) & set(items)), "who was deleted is still there")
    all_as_they_should(world, pods, most)
    checks.one_binding_each(world.log, [uid for uid, node, _ in pods.items.values() if node])
    checks.no_overcommit(client)


@case("devices-late")
def devices_late(world):
    """A class, then devices, that come after the pod; until then it says what is missing."""
    client = world.admin
    client.create(kube.NODES, objects.node("node", {"cpu": "4"}))
    client.create(CLAIMS, claim("first"))
    pods = world.pods()
    world.scheduler()
    client.create(kube.PODS, pod("first", "first"))
    says(pods, "first", "0/1 nodes are available: request one: device class device does not exist. " +
         objects.no_victims(world.options.release, 1))
    client.create(GROUP + "/deviceclasses", {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
                                             "metadata": {"name": CLASS}, "spec": {}})
    says(pods, "first", "0/1 nodes are available: 1 cannot allocate all claims. " +
         objects.no_victims(world.options.release, 1, "still not schedulable"))
    client.create(SLICES, slice_of("node", [device("d", "new")], nodeName="node"))
    checks.all_bound(pods, 1, BOUND_SECONDS)
    client.create(kube.PODS, pod("second", "nowhere"))
    client.create(CLAIMS, claim("nowhere"))
    says(pods, "second", "0/1 nodes are available: 1 cannot allocate all claims. " +
         objects.no_victims(world.options.release, 1, "still not schedulable"))
    give_back(client, ["first"])
    checks.expect(pods.wait(BOUND_SECONDS, lambda items: items["second"][1]), "the second pod did not get the device")
    wrong = complaints(client)
    checks.expect(not wrong, "%s", checks.some(wrong))


def says(pods, name, text):
    """The pod's condition."""
    found = pods.wait(BOUND_SECONDS, lambda items: (items.get(name, (0, 0, None))[2] or ("", ""))[1] == text)
    checks.expect(found, "%s says %s instead of %s", name, pods.items.get(name), text)
