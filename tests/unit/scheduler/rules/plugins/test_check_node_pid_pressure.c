/* CheckNodePIDPressure: the condition PIDPressure keeps every pod away while it is True, and only
 * then. */
#include "tests/unit/scheduler/one_rule.h"

static void only_a_true_condition_keeps_pods_away(void **state)
{
    struct cluster *c = *state;
    only_filter(c, "CheckNodePIDPressure");
    troubled(c, "bad", "PIDPressure", "True");
    troubled(c, "unknown", "PIDPressure", "Unknown");
    troubled(c, "other", "MemoryPressure", "True");
    const struct pod *p = make_pod(c, "p", 100, MIB);
    assert_string_equal(ruling_on(c, p, "bad"),
                        "CheckNodePIDPressure UAU: node(s) had pid pressure");
    assert_string_equal(ruling_on(c, p, "unknown"), "");
    assert_string_equal(ruling_on(c, p, "other"), "");
    troubled(c, "bad", "PIDPressure", "False");
    assert_string_equal(ruling_on(c, p, "bad"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONE_RULE_TEST(only_a_true_condition_keeps_pods_away)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
