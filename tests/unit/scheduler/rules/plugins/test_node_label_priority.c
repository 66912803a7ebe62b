/* NodeLabelPriority: the share of the rules that hold, out of 100 (a table of cases). */
#include "tests/unit/scheduler/one_rule.h"

static void rules_that_hold_share_a_hundred(void **state)
{
    struct cluster *c = *state;
    *APPEND(&c->arena, c->profile.label_preferences) =
        (struct label_rule){strs_of(&c->arena, "ssd"), true};
    *APPEND(&c->arena, c->profile.label_preferences) =
        (struct label_rule){strs_of(&c->arena, "slow"), false};
    only_score(c, "NodeLabelPriority");
    labelled(c, "best", "ssd", "x");
    labelled(c, "worst", "slow", "x");
    labelled(c, "plain", "other", "x");
    const struct pod *p = make_pod(c, "p", 0, 0);
    assert_int_equal(weighted_on(c, p, "best", "NodeLabelPriority"), 100);
    assert_int_equal(weighted_on(c, p, "plain", "NodeLabelPriority"), 50);
    assert_int_equal(weighted_on(c, p, "worst", "NodeLabelPriority"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONE_RULE_TEST(rules_that_hold_share_a_hundred)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
