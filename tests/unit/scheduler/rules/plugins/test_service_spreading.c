/* ServiceSpreading: few siblings on a node are good, few in its zone twice as good; the numbers are
 * worked out by hand from the old priority's formula. */
#include "tests/unit/scheduler/one_rule.h"

static void siblings_on_a_node_lower_its_score(void **state)
{
    struct cluster *c = *state;
    tell_catalog(c, WEB_SERVICE);
    only_score(c, "ServiceSpreading");
    labelled(c, "a", "x", "y");
    labelled(c, "b", "x", "y");
    labelled(c, "c", "x", "y");
    struct pod *p = web_pod(c, "p"), *leaving = web_pod(c, "l"), *far = web_pod(c, "f");
    assert_int_equal(weighted_on(c, p, "a", "ServiceSpreading"), 100);
    put_pod(c, web_pod(c, "1"), "a");
    put_pod(c, web_pod(c, "2"), "a");
    put_pod(c, web_pod(c, "3"), "b");
    put_pod(c, make_pod(c, "4", 0, 0), "c");
    leaving->deleting = true;
    far->namespace_name = STR_LITERAL("elsewhere");
    put_pod(c, leaving, "c");
    put_pod(c, far, "c");
    assert_int_equal(weighted_on(c, p, "a", "ServiceSpreading"), 0);
    assert_int_equal(weighted_on(c, p, "b", "ServiceSpreading"), 50);
    assert_int_equal(weighted_on(c, p, "c", "ServiceSpreading"), 100);
    /* the controller does not matter */
    tell_catalog(c, "owner_set owner={kind=\"ReplicaSet\" namespace_name=\"default\" name=\"rs\" "
                    "selector={present=true labels=[{key=\"rs\" value=\"1\"}]}}");
    p->owner_kind = STR_LITERAL("ReplicaSet");
    p->owner_name = STR_LITERAL("rs");
    assert_int_equal(weighted_on(c, p, "a", "ServiceSpreading"), 0);
}

static void zones_count_twice_as_much(void **state)
{
    struct cluster *c = *state;
    tell_catalog(c, WEB_SERVICE);
    only_score(c, "ServiceSpreading");
    labelled(c, "a1", "topology.kubernetes.io/zone", "a");
    labelled(c, "a2", "failure-domain.beta.kubernetes.io/zone", "a");
    labelled(c, "b1", "topology.kubernetes.io/zone", "b");
    labelled(c, "none", "x", "y");
    put_pod(c, web_pod(c, "1"), "a1");
    put_pod(c, web_pod(c, "2"), "a1");
    put_pod(c, web_pod(c, "3"), "b1");
    const struct pod *p = web_pod(c, "p");
    assert_int_equal(weighted_on(c, p, "a1", "ServiceSpreading"), 0);
    assert_int_equal(weighted_on(c, p, "a2", "ServiceSpreading"), 33);
    assert_int_equal(weighted_on(c, p, "b1", "ServiceSpreading"), 50);
    assert_int_equal(weighted_on(c, p, "none", "ServiceSpreading"), 100);
}

static void a_pod_with_constraints_of_its_own_is_left_alone(void **state)
{
    struct cluster *c = *state;
    tell_catalog(c, WEB_SERVICE);
    only_score(c, "ServiceSpreading");
    labelled(c, "a", "x", "y");
    labelled(c, "b", "x", "y");
    struct pod *p = web_pod(c, "p");
    *APPEND(&c->arena, p->spread) = (struct spread_constraint){.max_skew = 1};
    assert_int_equal(weighted_on(c, p, "a", "ServiceSpreading"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE_RULE_TEST(siblings_on_a_node_lower_its_score),
        ONE_RULE_TEST(zones_count_twice_as_much),
        ONE_RULE_TEST(a_pod_with_constraints_of_its_own_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
