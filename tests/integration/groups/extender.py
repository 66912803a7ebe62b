"""HTTP extenders: every verb, by names and with whole nodes, and what happens when one fails or hangs."""
from build import node, no_victims, nowhere, pod, unhelpful
import checks
from extender_server import DOMAIN, NAMES
from stage import Skipped, case

GROUP = "extender/"


def able(name, **resources):
    """A node with enough of what extenders look after."""
    return node(name, **dict({DOMAIN + each: "100" for each in NAMES}, **resources))


def wanting(name, *extenders, cpu="100m", **more):
    """A pod that these extenders are interested in."""
    body = pod(name, requests={"cpu": cpu}, **more)
    resources = body["spec"]["containers"][0]["resources"]
    for extender in extenders:
        resources.setdefault("limits", {})[DOMAIN + extender] = "1"
        resources["requests"][DOMAIN + extender] = "1"
    return body


@case(GROUP + "filter")
def filters(it):
    it.nodes(able("@yes", cpu="2"), able("@no", cpu="2"))
    it.create(wanting("@new", "names"))
    it.bound("@new", ["@yes"])


@case(GROUP + "filter_whole_nodes")
def filters_whole(it):
    it.nodes(able("@yes", cpu="2"), able("@no", cpu="2"))
    it.create(wanting("@new", "whole"))
    it.bound("@new", ["@yes"])


@case(GROUP + "two_filters")
def two(it):
    it.nodes(able("@yes", cpu="2"), able("@no", cpu="2"))
    it.create(wanting("@new", "names", "whole"))
    it.bound("@new", ["@yes"])


@case(GROUP + "nothing_left")
def nothing(it):
    it.nodes(able("@no", cpu="2"), able("@never", cpu="2"), able("@yes", cpu="50m"))
    it.create(wanting("@new", "names"))
    it.told("@new", nowhere(3, "1 Insufficient cpu, 1 it is never, 1 it is no",
                            no_victims(1) + ", " + unhelpful(2)))


@case(GROUP + "woken_by_a_node")
def woken(it):
    it.nodes(able("@no", cpu="2"))
    it.create(wanting("@new", "names"))
    it.unschedulable("@new")
    it.nodes(able("@yes", cpu="2"))
    it.bound("@new", ["@yes"])


@case(GROUP + "scores")
def scores(it):
    it.nodes(able("@yes1", cpu="2"), able("@yes9", cpu="2"), able("@yes3", cpu="2"))
    it.create(wanting("@new", "names"))
    it.bound("@new", ["@yes9"])


@case(GROUP + "whole_nodes_are_scored_without_their_pods")
def bare(it):
    """The fuller node is the better one to the extender, and no worse to those who see no pods."""
    it.nodes(able("@yes1", cpu="2"), able("@yes0", cpu="2"))
    it.create(pod("@there", requests={"cpu": "1800m"}, nodeName="@yes1"))
    it.bound("@there")
    it.create(wanting("@new", "whole"))
    it.bound("@new", ["@yes1"])


@case(GROUP + "failure")
def failure(it):
    it.nodes(able("@yes", cpu="2"))
    it.create(wanting("@new", "broken"))
    it.told("@new", "failed filter with extender at URL %sbroken/filter, code 500"
            % it.stage.extenders.url, reason="SchedulerError")


@case(GROUP + "failure_that_is_ignored")
def ignored(it):
    it.nodes(able("@no", cpu="2"))
    it.create(wanting("@new", "ignored"))
    it.bound("@new", ["@no"])


@case(GROUP + "bind")
def bind(it):
    it.nodes(able("@any", cpu="2"))
    before = it.stage.extenders.calls.count(("binds", "bind"))
    it.create(wanting("@new", "binds"))
    it.bound("@new", ["@any"])
    asked = it.stage.extenders.calls.count(("binds", "bind")) - before
    checks.expect(asked == 1, "the extender was asked to bind %d times", asked)


@case(GROUP + "preempt")
def preempt(it):
    it.nodes(able("@yes", cpu="500m"), able("@other", cpu="500m"))
    for name in ("yes", "other"):
        it.create(pod("@low-" + name, priority="low", requests={"cpu": "400m"}, grace=0,
                      nodeSelector={"kubernetes.io/hostname": "@" + name}))
        it.bound("@low-" + name)
    it.create(wanting("@new", "preempts", cpu="300m", priority="high"))
    it.bound("@new", ["@yes"])
    it.stays("@low-other")


@case(GROUP + "one_that_hangs_delays_nobody_else")
def hung(it):
    if not it.stage.scheduler.has_actors:
        raise Skipped("kube-scheduler waits for it")
    extenders = it.stage.extenders
    extenders.go.clear()
    before = len(extenders.calls)
    try:
        it.nodes(able("@yes1", cpu="4"), able("@yes2", cpu="4"))
        it.create(wanting("@hung", "hung"))
        checks.wait_until(it.patience, lambda: ("hung", "filter") in extenders.calls[before:],
                          "the extender is not asked")
        it.create(wanting("@names", "names"))
        for i in range(20):
            it.create(pod("@plain%d" % i, requests={"cpu": "100m"}))
        for i in range(20):
            it.bound("@plain%d" % i)
        it.bound("@names", ["@yes2"])
        checks.expect(not it.now("@hung")["spec"].get("nodeName"), "bound before the extender said so")
    finally:
        extenders.go.set()
    it.bound("@hung", ["@yes2"])
