/* CheckNodeCondition: each condition that keeps pods away, with the words the old predicate had. */
#include "tests/unit/scheduler/one_rule.h"

static void conditions_keep_pods_away(void **state)
{
    struct cluster *c = *state;
    static const struct {
        const char *type, *status, *ruling;
    } table[] = {
        {"Ready", "True", ""},
        {"Ready", "False", "CheckNodeCondition UAU: node(s) were not ready"},
        {"Ready", "Unknown", "CheckNodeCondition UAU: node(s) were not ready"},
        {"NetworkUnavailable", "False", ""},
        {"NetworkUnavailable", "Unknown",
         "CheckNodeCondition UAU: node(s) had unavailable network"},
        {"OutOfDisk", "True", "CheckNodeCondition UAU: node(s) were out of disk space"},
        {"MemoryPressure", "True", ""},
    };
    only_filter(c, "CheckNodeCondition");
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        troubled(c, "n", table[i].type, table[i].status);
        assert_string_equal(ruling_on(c, make_pod(c, "p", 0, 0), "n"), table[i].ruling);
    }
}

static void all_reasons_are_given(void **state)
{
    struct cluster *c = *state;
    only_filter(c, "CheckNodeCondition");
    struct node *n = make_node(c, "n", 1000, GIB);
    *APPEND(&c->arena, n->conditions) = (struct label){STR_LITERAL("Ready"), STR_LITERAL("False")};
    n->unschedulable = true;
    put_node(c, n);
    assert_string_equal(
        ruling_on(c, make_pod(c, "p", 0, 0), "n"),
        "CheckNodeCondition UAU: node(s) were not ready, node(s) were unschedulable");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE_RULE_TEST(conditions_keep_pods_away),
        ONE_RULE_TEST(all_reasons_are_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
