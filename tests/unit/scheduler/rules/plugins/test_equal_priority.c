/* EqualPriority: every node is worth one point, full or empty, so that all of them tie. */
#include "tests/unit/scheduler/one_rule.h"

static void all_nodes_tie(void **state)
{
    struct cluster *c = *state;
    only_score(c, "EqualPriority");
    labelled(c, "a", "x", "y");
    labelled(c, "b", "x", "y");
    put_pod(c, make_pod(c, "there", 900, GIB), "b");
    const struct map_result *r = map_pod(c, make_pod(c, "p", 0, 0));
    assert_int_equal(r->best_count, 2);
    assert_int_equal(r->best_total, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONE_RULE_TEST(all_nodes_tie)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
