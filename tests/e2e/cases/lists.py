"""Lists that are longer than anybody would want to hold at once."""
import checks
import kube
import objects
from suite import case

BIG = 290  # pods of a megabyte on one page, and more than 256 MiB
MANY_BYTES = 1000 * 1000


def big(name, node):
    pod = objects.pod(name, {"cpu": "100m"}, nodeName=node)
    pod["spec"]["containers"][0]["env"] = [{"name": "LONG", "value": "x" * MANY_BYTES}]
    return pod


@case("big-list")
def big_list(world):
    """All pods that are there count, however long the list of them is, and changes are seen."""
    world.admin.create_many(kube.NODES, [objects.node("full", {"cpu": "29500m", "memory": "64Gi", "pods": "500"})])
    world.admin.create_many(kube.PODS, (big("big-%03d" % i, "full") for i in range(BIG)))
    world.scheduler()
    world.admin.create(kube.PODS, objects.pod("fits", {"cpu": "400m"}))
    world.admin.create(kube.PODS, objects.pod("waits", {"cpu": "400m"}))

    def now(name):
        return world.admin.get(kube.PODS + "/" + name)

    def told(name):
        return [c for c in now(name).get("status", {}).get("conditions", []) if c["type"] == "PodScheduled" and c["status"] == "False"]

    checks.wait_until(60, lambda: [n for n in ("fits", "waits") if now(n)["spec"].get("nodeName")], "no pod was bound")
    one, = [n for n in ("fits", "waits") if now(n)["spec"].get("nodeName")]
    other = "waits" if one == "fits" else "fits"
    reason = checks.wait_until(60, lambda: told(other), "%s was not told why it waits" % other)[0]
    checks.expect("1 Insufficient cpu" in reason["message"], "%s is told: %s", other, reason["message"])
    for i in range(4):
        world.admin.delete(kube.PODS + "/big-%03d" % i)
    checks.wait_until(60, lambda: now(other)["spec"].get("nodeName"), "%s was not bound to the room of others" % other)
