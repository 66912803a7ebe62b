/* test_condition_sets: lists of condition types come back as they were, and there is an end. */
#include "scheduler/rules/condition_sets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static uint8_t number(struct condition_sets *sets, uint32_t count, const char *first,
                      const char *second)
{
    struct str at[] = {str_of(first), str_of(second)};
    return condition_sets_number(sets, &(struct strs){count, at});
}

static void equal_lists_have_one_number_and_come_back(void **state)
{
    (void)state;
    struct condition_sets sets = {0};
    struct arena a = {0};
    uint8_t none = number(&sets, 0, "", ""), two = number(&sets, 2, "PodScheduled", "Ready");
    assert_true(none != 0 && two != 0 && none != two);
    assert_int_equal(number(&sets, 0, "", ""), none);
    assert_int_equal(number(&sets, 2, "PodScheduled", "Ready"), two);
    assert_true(number(&sets, 2, "Ready", "PodScheduled") != two);
    assert_int_equal(condition_sets_types(&sets, none, &a).count, 0);
    struct strs types = condition_sets_types(&sets, two, &a);
    assert_int_equal(types.count, 2);
    assert_true(str_is(types.at[0], "PodScheduled") && str_is(types.at[1], "Ready"));
    assert_true(strs_hold(types, STR_LITERAL("Ready")));
    assert_false(strs_hold(types, STR_LITERAL("Read")));
    arena_free(&a);
    condition_sets_free(&sets);
}

static void what_cannot_be_kept_has_no_number(void **state)
{
    (void)state;
    struct condition_sets sets = {0};
    char text[24];
    assert_int_equal(number(&sets, 1, "a b", ""), 0);
    assert_int_equal(number(&sets, 2, "a", ""), 0);
    for (int i = 0; i < CONDITION_SETS_MAX; i++) {
        snprintf(text, sizeof(text), "gate-%d", i);
        assert_int_equal(number(&sets, 1, text, ""), i + 1);
    }
    assert_int_equal(number(&sets, 1, "one too many", ""), 0);
    assert_int_equal(number(&sets, 1, "another", ""), 0);
    assert_int_equal(number(&sets, 1, "gate-7", ""), 8);
    condition_sets_free(&sets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_lists_have_one_number_and_come_back),
        cmocka_unit_test(what_cannot_be_kept_has_no_number),
    };
    return cmocka_run_group_tests_name("condition sets", tests, NULL, NULL);
}
