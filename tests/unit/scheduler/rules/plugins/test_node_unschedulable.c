/* NodeUnschedulable: cordoned nodes, and the tolerations that get a pod onto them all the same. */
#include "tests/unit/scheduler/cluster.h"

#define NO "NodeUnschedulable UAU: node(s) were unschedulable"

static void tolerations_are_judged_as_for_the_taint(void **state)
{
    struct cluster *c = *state;
    static const struct {
        struct toleration t;
        const char *ruling;
    } table[] = {
        {{.key = {"k1", 2}, .operator_name = {"Exists", 6}}, NO},
        {{.operator_name = {"Exists", 6}}, ""},
        {{.operator_name = {"Exists", 6}, .effect = {"NoExecute", 9}}, NO},
        {{.key = {"node.kubernetes.io/unschedulable", 32}, .effect = {"NoSchedule", 10}}, ""},
        {{.key = {"node.kubernetes.io/unschedulable", 32}, .value = {"x", 1}}, NO},
        {{.key = {"node.kubernetes.io/unschedulable", 32}, .operator_name = {"Lt", 2}}, NO},
    };
    begin(c);
    struct node *n = make_node(c, "n1", 1000, GIB);
    n->unschedulable = true;
    put_node(c, n);
    assert_string_equal(ruling_on(c, make_pod(c, "p", 0, 0), "n1"), NO);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct pod *p = make_pod(c, "p", 0, 0);
        tolerate(c, p, table[i].t);
        assert_string_equal(ruling_on(c, p, "n1"), table[i].ruling);
    }
}

static void an_uncordoned_node_passes(void **state)
{
    struct cluster *c = *state;
    begin(c);
    struct node *n = make_node(c, "n1", 1000, GIB);
    n->unschedulable = true;
    put_node(c, n);
    n->unschedulable = false;
    put_node(c, n);
    assert_string_equal(ruling_on(c, make_pod(c, "p", 0, 0), "n1"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(tolerations_are_judged_as_for_the_taint),
        CLUSTER_TEST(an_uncordoned_node_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
