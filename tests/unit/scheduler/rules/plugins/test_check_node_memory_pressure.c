/* CheckNodeMemoryPressure: keeps away pods that ask for neither cpu nor memory, and no others. */
#include "tests/unit/scheduler/one_rule.h"

#define NO "CheckNodeMemoryPressure UAU: node(s) had memory pressure"

static void only_best_effort_pods_are_kept_away(void **state)
{
    struct cluster *c = *state;
    only_filter(c, "CheckNodeMemoryPressure");
    troubled(c, "bad", "MemoryPressure", "True");
    troubled(c, "fine", "MemoryPressure", "False");
    struct pod *other = make_pod(c, "p", 0, 0);
    ask_more(c, other, "example.com/gpu", 1);
    assert_string_equal(ruling_on(c, make_pod(c, "p", 0, 0), "bad"), NO);
    assert_string_equal(ruling_on(c, other, "bad"), NO);
    assert_string_equal(ruling_on(c, make_pod(c, "p", 1, 0), "bad"), "");
    assert_string_equal(ruling_on(c, make_pod(c, "p", 0, MIB), "bad"), "");
    assert_string_equal(ruling_on(c, make_pod(c, "p", 0, 0), "fine"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONE_RULE_TEST(only_best_effort_pods_are_kept_away)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
