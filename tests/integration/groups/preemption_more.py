"""Preemption where something else than room is missing, among many, and with pods that are not yet bound."""
from build import (any_of, apart, claim, csi, exists, near, node, nowhere, pod, spread, storage_class, term,
                   volume)
import checks
from evidence import evicted, spared
from stage import case, condition_of, node_of
from volume_controller import Controller

GROUP = "preemption/"
MARK = {"mark": ""}


def gains(name, nodes, there, preemptor, victims, on="@a", also=(), stays=()):
    """`preemptor` gets a node by the eviction of `victims`, and of nobody else."""
    def run(it):
        it.create_all(also)
        it.nodes(*nodes)
        it.create_all(there)
        it.create(preemptor)
        it.holds("@new", on)
        for victim in victims:
            evicted(it, victim, "@new", on)
        spared(it, *stays)
        it.end(*victims)
        it.bound("@new", [on])
    case(GROUP + name)(run)


def there(name, on="@a", priority="low", **more):
    return pod(name, priority=priority, nodeName=on, **more)


def new(**more):
    return pod("@new", priority="high", **more)


def with_port(body, port):
    body["spec"]["containers"][0]["ports"] = [{"containerPort": port, "hostPort": port}]
    return body


# ---- what is missing ----

gains("for_a_port", [node("@a")], [with_port(there("@1"), 80), with_port(there("@2"), 81)],
      with_port(new(), 80), ["@1"], stays=["@2"])
gains("for_one_more_pod", [node("@a", pods="2")], [there("@1"), there("@2", priority="medium")], new(),
      ["@1"], stays=["@2"])
gains("for_a_device", [node("@a", gpu="2")],
      [there("@1", requests={"gpu": "1"}), there("@2", priority="medium", requests={"gpu": "1"})],
      new(requests={"gpu": "1"}), ["@1"], stays=["@2"])
gains("for_an_even_spread", [node("@a", {"zone": "@z-1"}), node("@b", {"zone": "@z-2"}, pods="1")],
      [there("@1", labels=MARK), there("@full", "@b", priority="high")],
      new(labels=MARK, topologySpreadConstraints=[spread(1, "zone", exists("mark"))]), ["@1"],
      stays=["@full"])
gains("who_does_not_want_it", [node("@a", {"zone": "z"}), node("@b", {"zone": "z"})],
      [there("@1", affinity=apart(term("zone", exists("mark")))), there("@2", "@b")],
      new(labels=MARK, nodeSelector={"kubernetes.io/hostname": "@a"}), ["@1"], stays=["@2"])
gains("for_a_volume_to_be_attached", [node("@a")],
      [there("@1", claims=["@c-1"]), there("@2", priority="medium", claims=["@c-2"])],
      new(claims=["@c-3"]), ["@1"], stays=["@2"],
      also=[{"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "@a"},
             "spec": {"drivers": [{"name": "csi.example.com", "nodeID": "@a",
                                   "allocatable": {"count": 2}}]}}]
      + [each for n in "123" for each in (volume("@v-" + n, source=csi("@v-" + n)),
                                          claim("@c-" + n, volume="@v-" + n, bound=True))])
gains("of_another_schedulers_pod", [node("@a", cpu="1")],
      [there("@1", requests={"cpu": "1"}, schedulerName="somebody-else")], new(requests={"cpu": "1"}),
      ["@1"])


@case(GROUP + "not_of_the_partner_it_needs")
def partner(it):
    """Without the pods that it wants to be near, it would not fit either."""
    it.nodes(node("@a", {"zone": "z"}, cpu="1"))
    it.create(there("@1", labels=MARK, requests={"cpu": "1"}))
    it.create(new(requests={"cpu": "1"}, affinity=near(term("zone", exists("mark")))))
    it.told("@new", nowhere(1, "1 Insufficient cpu", "1 node(s) didn't match pod affinity rules"))
    spared(it, "@1")


# ---- which one ----


@case(GROUP + "the_one_that_started_last")
def started_last(it):
    it.nodes(node("@a", cpu="1"), node("@b", cpu="1"), node("@c", cpu="1"))
    for name, hour in (("@a", "10"), ("@b", "12"), ("@c", "11")):
        it.create(there("@on-" + name[1:], name, requests={"cpu": "1"}))
        it.patch("Pod", "@on-" + name[1:], {"status": {
            "phase": "Running", "startTime": "2026-01-01T%s:00:00Z" % hour}}, status=True)
    it.create(new(requests={"cpu": "1"}))
    it.holds("@new", "@b")
    evicted(it, "@on-b", "@new", "@b")
    spared(it, "@on-a", "@on-c")
    it.end("@on-b")
    it.bound("@new", ["@b"])


@case(GROUP + "the_lower_sum_of_priorities")
def lower_sum(it):
    it.nodes(node("@a", cpu="2"), node("@b", cpu="2"))
    for name, where, priority in (("@1", "@a", "medium"), ("@2", "@a", "medium"),
                                  ("@3", "@b", "medium"), ("@4", "@b", "low")):
        it.create(there(name, where, priority, requests={"cpu": "1"}))
    it.create(new(requests={"cpu": "2"}))
    it.holds("@new", "@b")
    evicted(it, "@3", "@new", "@b")
    evicted(it, "@4", "@new", "@b")
    spared(it, "@1", "@2")


@case(GROUP + "a_system_pod_comes_before_all")
def system_pod(it):
    it.nodes(node("@a", cpu="1"))
    it.create(pod("@high", priority="high", requests={"cpu": "1"}, nodeName="@a"))
    it.create(pod("@new", priority="system-node-critical", requests={"cpu": "1"}))
    it.holds("@new", "@a")
    evicted(it, "@high", "@new", "@a")
    it.end("@high")
    it.bound("@new")


# ---- many ----


@case(GROUP + "ten_at_once_evict_ten")
def ten_at_once(it):
    """Each of ten preemptors has a node of its own; of two pods on each node one goes."""
    it.nodes(*[node("@%d" % i, cpu="2") for i in range(10)])
    lows = ["@low-%d-%d" % (i, n) for i in range(10) for n in range(2)]
    it.create_all([there(name, "@" + name[5], requests={"cpu": "1"}) for name in lows])
    highs = ["@high-%d" % i for i in range(10)]
    it.create_all([pod(name, priority="high", requests={"cpu": "1"}) for name in highs])
    keys = it.local(highs)
    it.until(lambda pods: all(key in pods and pods[key].get("status", {}).get("nominatedNodeName")
                              for key in keys), lambda: "not all are nominated: %s" % [
        it.account(name) for name in highs])

    def leaving():
        return [name for name in lows if "deletionTimestamp" in it.now(name)["metadata"]]

    checks.wait_until(it.patience, lambda: len(leaving()) >= 10, "not ten are evicted")
    checks.expect(len(leaving()) == 10, "%d pods are evicted, not 10", len(leaving()))
    it.end(*leaving())
    for name in highs:
        it.bound(name)
    told = [r for name in lows for r in it.writes(name, "delete")]
    checks.expect(len(told) == 10, "the scheduler sent %d DELETEs, not 10", len(told))


@case(GROUP + "room_elsewhere_comes_first")
def room_elsewhere(it):
    """A preemptor that waits for its victim takes another node when there is one."""
    it.nodes(node("@a", cpu="1"))
    it.create(there("@victim", grace=300, requests={"cpu": "1"}))
    it.create(new(requests={"cpu": "1"}))
    it.holds("@new", "@a")
    evicted(it, "@victim", "@new", "@a")
    it.create(node("@b", cpu="1"))
    it.bound("@new", ["@b"])


# ---- pods that are not bound yet ----


@case(GROUP + "who_is_being_bound_is_only_stopped")
def being_bound(it):
    """While its volume is made, a pod of low priority holds the room: no DELETE, it is tried again."""
    it.create(storage_class("@slow", provisioner="made.example.com", parameters={"delay": "4"}))
    it.nodes(node("@a", cpu="1"))
    Controller(it)
    it.create(claim("@c", "@slow"))
    it.create(pod("@low", priority="low", requests={"cpu": "1"}, claims=["@c"]))
    it.holds("@low", "@a")
    it.create(new(requests={"cpu": "1"}))
    it.bound("@new", ["@a"])
    spared(it, "@low")
    event = checks.wait_until(it.patience, lambda: it.events("Preempted", "@low"), "no event Preempted")[0]
    uid = it.now("@new")["metadata"]["uid"]
    checks.expect(event["message"] == "Preempted by pod %s on node %s (in kube-scheduler memory)."
                  % (uid, it.local("@a")), "the event says: %s", event["message"])
    checks.expect(condition_of(it.now("@low"), "DisruptionTarget") is None, "it has a DisruptionTarget")
    it.told("@low", nowhere(1, "1 Insufficient cpu", "1 No preemption victims found for incoming pod"))
    it.end("@new")
    it.bound("@low", ["@a"])


@case(GROUP + "a_claim_on_a_node_is_no_victim")
def claim_is_no_victim(it):
    """A pod that waits for its own victims is not evicted by a higher one; its claim just counts less."""
    it.nodes(node("@a", cpu="2"))
    it.create(there("@low", grace=300, requests={"cpu": "2"}))
    it.create(pod("@medium", priority="medium", requests={"cpu": "2"}))
    it.holds("@medium", "@a")
    it.leaving("@low")
    it.known([it.local("@a")])  # and that the victim is leaving, which it was told before
    it.create(new(requests={"cpu": "2"}))
    it.holds("@new", "@a")
    spared(it, "@medium")
    checks.expect(len(it.writes("@low", "delete")) == 1, "the victim was deleted %d times",
                  len(it.writes("@low", "delete")))
    it.end("@low")
    it.bound("@new", ["@a"])
    it.holds("@medium", "")
    checks.expect(not node_of(it.now("@medium")), "%s", it.account("@medium"))


# ---- budgets ----


@case(GROUP + "budget_of_another_namespace_or_of_nobody")
def foreign_budget(it):
    """Budgets that do not speak of the victims: elsewhere, for other labels, without a selector."""
    it.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "@elsewhere"}})
    for name, where, selector in (("@far", "@elsewhere", {"matchLabels": MARK}),
                                  ("@other", "@", {"matchExpressions": [any_of("mark", "no")]}),
                                  ("@none", "@", None)):
        body = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                "metadata": {"name": name, "namespace": where}, "spec": {"minAvailable": 9}}
        if selector:
            body["spec"]["selector"] = selector
        it.create(dict(body, metadata={"name": name, **({} if where == "@" else {"namespace": where})}))
    it.nodes(node("@a", cpu="1"), node("@b", cpu="1"))
    it.create(there("@1", "@a", labels=MARK, requests={"cpu": "1"}))
    it.create(there("@2", "@b", "medium", requests={"cpu": "1"}))
    it.create(new(requests={"cpu": "1"}))
    it.holds("@new", "@a")
    evicted(it, "@1", "@new", "@a")
    spared(it, "@2")
