/* CheckServiceAffinity: labels come from the nodeSelector, else from where the service's pods are.
 */
#include "tests/unit/scheduler/one_rule.h"

#define NO "CheckServiceAffinity U: node(s) didn't match service affinity"

static int setup(void **state)
{
    int status = cluster_setup(state);
    struct cluster *c = *state;
    tell_catalog(c, WEB_SERVICE);
    c->profile.service_affinity = strs_of(&c->arena, "rack");
    only_filter(c, "CheckServiceAffinity");
    labelled(c, "a", "rack", "a");
    labelled(c, "b", "rack", "b");
    labelled(c, "none", "x", "y");
    return status;
}

static void the_first_pod_may_go_anywhere_and_others_follow(void **state)
{
    struct cluster *c = *state;
    const struct pod *p = web_pod(c, "p");
    assert_string_equal(ruling_on(c, p, "a"), "");
    assert_string_equal(ruling_on(c, p, "none"), "");
    put_pod(c, web_pod(c, "1"), "b");
    assert_string_equal(ruling_on(c, p, "a"), NO);
    assert_string_equal(ruling_on(c, p, "b"), "");
    assert_string_equal(ruling_on(c, p, "none"), NO);
    assert_string_equal(ruling_on(c, make_pod(c, "of no service", 0, 0), "a"), "");
}

static void a_node_selector_decides_first(void **state)
{
    struct cluster *c = *state;
    struct pod *p = web_pod(c, "p");
    put_pod(c, web_pod(c, "1"), "b");
    *APPEND(&c->arena, p->node_selector) = (struct label){STR_LITERAL("rack"), STR_LITERAL("a")};
    assert_string_equal(ruling_on(c, p, "a"), "");
    assert_string_equal(ruling_on(c, p, "b"), NO);
}

static void of_several_nodes_the_first_by_name_counts(void **state)
{
    struct cluster *c = *state;
    put_pod(c, web_pod(c, "1"), "b");
    put_pod(c, web_pod(c, "2"), "a");
    const struct pod *p = web_pod(c, "p");
    assert_string_equal(ruling_on(c, p, "a"), "");
    assert_string_equal(ruling_on(c, p, "b"), NO);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, one_rule_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_pod_may_go_anywhere_and_others_follow),
        TEST(a_node_selector_decides_first),
        TEST(of_several_nodes_the_first_by_name_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
