/* NodeResourcesLeastAllocated: cpu and memory count alike, by this strategy, whatever strategy
 * NodeResourcesFit has. */
#include "tests/unit/scheduler/one_rule.h"

static void requests_are_scored_beside_another_strategy(void **state)
{
    struct cluster *c = *state;
    c->profile.fit_strategy = STR_LITERAL("RequestedToCapacityRatio");
    only_score(c, "NodeResourcesLeastAllocated");
    put_node(c, make_node(c, "n1", 1000, 1000 * MIB));
    put_node(c, make_node(c, "n2", 2000, 1000 * MIB));
    const struct pod *p = make_pod(c, "p", 500, 300 * MIB);
    assert_int_equal(weighted_on(c, p, "n1", "NodeResourcesLeastAllocated"), 60);
    assert_int_equal(weighted_on(c, p, "n2", "NodeResourcesLeastAllocated"), 72);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONE_RULE_TEST(requests_are_scored_beside_another_strategy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
