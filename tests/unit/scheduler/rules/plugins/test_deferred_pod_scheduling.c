/* DeferredPodScheduling: only for pods whose resize is put off, which stay on their node, unless
 * that spares its pods from such; and whoever else asks where a pod may go is not asked of them. */
#include "tests/unit/scheduler/cluster.h"

#define DEFERRED "DeferredPodScheduling UAU: "

static void rules(struct cluster *c, const char *filters)
{
    c->profile.filter = strs_of(&c->arena, filters);
    c->profile.pre_filter = strs_of(&c->arena, filters);
    begin(c);
}

static struct node *sparing(struct cluster *c, const char *name)
{
    struct node *n = make_node(c, name, 1000, GIB);
    n->spares_from_resizes = strs_of(&c->arena, "autoscaler");
    return n;
}

static void it_is_kept_to_its_node_and_the_node_may_refuse(void **state)
{
    struct cluster *c = *state;
    rules(c, "DeferredPodScheduling");
    put_node(c, make_node(c, "n1", 1000, GIB));
    put_node(c, make_node(c, "n2", 1000, GIB));
    put_node(c, sparing(c, "n3"));
    struct pod *p = on_node(make_pod(c, "p", 0, 0), "n1");
    assert_string_equal(ruling_on(c, p, "n2"), "");
    p->resize_deferred = true;
    assert_string_equal(ruling_on(c, p, "n1"), "");
    assert_string_equal(ruling_on(c, p, "n2"), DEFERRED "pod assigned to different node");
    assert_string_equal(ruling_on(c, p, "n3"), DEFERRED "pod assigned to different node");
    p = on_node(p, "n3");
    assert_string_equal(ruling_on(c, p, "n3"), DEFERRED "node had resize preemption disabled");
    p = on_node(p, "nowhere");
    assert_string_equal(ruling_on(c, p, "n1"), DEFERRED "pod assigned to different node");
    p->node_name = (struct str){NULL, 0};
    assert_string_equal(ruling_on(c, p, "n1"), "");
    assert_string_equal(ruling_on(c, p, "n3"), DEFERRED "node had resize preemption disabled");
}

static void who_asks_where_it_may_go_is_not_asked(void **state)
{
    struct cluster *c = *state;
    rules(c, "NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts "
             "DeferredPodScheduling NodeResourcesFit CheckNodeCondition");
    struct node *n = make_node(c, "n1", 1000, GIB);
    n->unschedulable = true;
    add_taint(c, n, "k", "NoSchedule");
    put_node(c, n);
    struct pod *p = make_pod(c, "p", 2000, 0);
    require(c, p, one_term(c, "zone", "In", "a"));
    assert_string_equal(ruling_on(c, p, "n1"), "NodeUnschedulable UAU: node(s) were unschedulable");
    p->resize_deferred = true;
    assert_string_equal(ruling_on(c, on_node(p, "n1"), "n1"),
                        "NodeResourcesFit UAU: Insufficient cpu");
    p->request.at[0].amount = 1000;
    assert_string_equal(ruling_on(c, p, "n1"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(it_is_kept_to_its_node_and_the_node_may_refuse),
        CLUSTER_TEST(who_asks_where_it_may_go_is_not_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
