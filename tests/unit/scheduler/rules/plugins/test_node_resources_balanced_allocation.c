/* NodeResourcesBalancedAllocation: scores the change in balance that a pod makes, 75 when it makes
 * none. */
#include "tests/unit/scheduler/cluster.h"

#define BALANCED "NodeResourcesBalancedAllocation"

static void a_pod_that_keeps_the_balance_scores_the_middle(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put_node(c, make_node(c, "n1", 1000, 1000));
    assert_int_equal(raw_on(c, make_pod(c, "p", 100, 100), "n1", BALANCED), 75);
}

static void balance_gained_and_lost_moves_the_score(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put_node(c, make_node(c, "n1", 1000, 1000));
    put_pod(c, make_pod(c, "sits", 800, 200), "n1"); /* std 0.3: 70 */
    /* 0.8 and 0.8: 100, gain 30, half of (50 + 30) over 50 */
    assert_int_equal(raw_on(c, make_pod(c, "p", 0, 600), "n1", BALANCED), 90);
    /* 1.0 and 0.2: std 0.4, 60, loss 10 */
    assert_int_equal(raw_on(c, make_pod(c, "p", 200, 0), "n1", BALANCED), 70);
}

static void pods_that_ask_for_nothing_are_not_scored(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put_node(c, make_node(c, "n1", 1000, 1000));
    assert_int_equal(raw_on(c, make_pod(c, "p", 0, 0), "n1", BALANCED), -1);
}

static void three_resources_use_the_standard_deviation(void **state)
{
    struct cluster *c = *state;
    c->profile.balanced_resources.count = 0;
    QUANTITY(&c->arena, c->profile.balanced_resources, "cpu", 1);
    QUANTITY(&c->arena, c->profile.balanced_resources, "memory", 1);
    QUANTITY(&c->arena, c->profile.balanced_resources, "example.com/gpu", 1);
    begin(c);
    struct node *n = make_node(c, "n1", 1000, 1000);
    QUANTITY(&c->arena, n->allocatable, "example.com/gpu", 10);
    put_node(c, n);
    struct pod *p = make_pod(c, "p", 100, 400);
    ask_more(c, p, "example.com/gpu", 7);
    /* 0.1, 0.4, 0.7: std 0.2449, 75; before: 100; 50 + (50 - 25) / 2 */
    assert_int_equal(raw_on(c, p, "n1", BALANCED), 62);
    /* the gpu is left out for a pod that does not ask for it: 0.1, 0.4: std 0.15, 85 */
    assert_int_equal(raw_on(c, make_pod(c, "p", 100, 400), "n1", BALANCED), 67);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(a_pod_that_keeps_the_balance_scores_the_middle),
        CLUSTER_TEST(balance_gained_and_lost_moves_the_score),
        CLUSTER_TEST(pods_that_ask_for_nothing_are_not_scored),
        CLUSTER_TEST(three_resources_use_the_standard_deviation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
