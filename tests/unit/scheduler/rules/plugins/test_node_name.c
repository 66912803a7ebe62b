/* NodeName: a pod that names its node passes there alone, also when no node is called so. */
#include "tests/unit/scheduler/cluster.h"

#define NO "NodeName UAU: node(s) didn't match the requested node name"

static void only_the_named_node_passes(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put_node(c, make_node(c, "n1", 1000, GIB));
    put_node(c, make_node(c, "n2", 1000, GIB));
    assert_string_equal(ruling_on(c, make_pod(c, "p", 0, 0), "n1"), "");
    assert_string_equal(ruling_on(c, on_node(make_pod(c, "p", 0, 0), "n1"), "n1"), "");
    assert_string_equal(ruling_on(c, on_node(make_pod(c, "p", 0, 0), "n1"), "n2"), NO);
    assert_string_equal(ruling_on(c, on_node(make_pod(c, "p", 0, 0), "other"), "n1"), NO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(only_the_named_node_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
