"""Ports of the host: one node, two pods, and who gets the port."""
from build import container, no_victims, node, nowhere, pod
from stage import case, row

GROUP = "filters/ports/"
TAKEN = nowhere(1, "1 node(s) didn't have free ports for the requested pod ports", no_victims(1))


def with_ports(name, *ports, **more):
    body = pod(name, **more)
    body["spec"]["containers"][0]["ports"] = [
        {"hostIP": "127.0.0.1", "hostPort": port, "containerPort": port} for port in ports]
    return body


row(GROUP + "one_of_two_taken", [node("@a")], with_ports("@new", 8081),
    [with_ports("@there", 8081, 8082, nodeName="@a")], says=TAKEN)
row(GROUP + "another_port", [node("@a")], with_ports("@new", 8080),
    [with_ports("@there", 8081, 8082, nodeName="@a")])

# ---- which container it is ----


def holder(name, kind, number, host):
    """A pod one of whose containers has the port: main, init, or sidecar (an init that stays)."""
    port = {"containerPort": number}
    if host:
        port["hostPort"] = number
    body = pod(name)
    if kind == "main":
        body["spec"]["containers"][0]["ports"] = [port]
    else:
        one = container("other", ports=[port])
        if kind == "sidecar":
            one["restartPolicy"] = "Always"
        body["spec"]["initContainers"] = [one]
    return body


def pair(name, first, second, ports, host, fits):
    def run(it):
        it.nodes(node("@a"))
        it.create(holder("@first", first, ports[0], host))
        it.bound("@first")
        it.create(holder("@second", second, ports[1], host))
        if fits:
            it.bound("@second")
        else:
            it.told("@second", TAKEN)
    case(GROUP + name)(run)


# A container that ends before the others start does not hold its port.
for one, other, conflict in (("main", "main", True), ("init", "main", False), ("sidecar", "main", True),
                             ("main", "init", False), ("main", "sidecar", True)):
    both = "%s_and_%s_" % (one, other)
    pair(both + "no_host_port", one, other, (8001, 8001), False, True)
    pair(both + "same_host_port", one, other, (8001, 8001), True, not conflict)
    pair(both + "other_host_port", one, other, (8001, 8002), True, True)
