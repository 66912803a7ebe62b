/* test_priorities: the least of the priorities that pods have, after any history, or that it is not
 * known. */
#include "proto/base/random.h"
#include "scheduler/cluster/priorities.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

enum { PODS = 40, DIFFERENT = 20 };

struct sample {
    bool there[PODS];
    uint8_t number[PODS];
    int64_t priority[PODS];
};

static int64_t least_of(const struct sample *s, int *different)
{
    bool seen[DIFFERENT] = {false};
    int64_t least = INT64_MAX;
    *different = 0;
    for (int i = 0; i < PODS; i++) {
        if (!s->there[i])
            continue;
        if (s->priority[i] < least)
            least = s->priority[i];
        *different += !seen[s->priority[i] + DIFFERENT / 2];
        seen[s->priority[i] + DIFFERENT / 2] = true;
    }
    return least;
}

static void the_least_is_right_or_not_known(void **state)
{
    (void)state;
    struct random r = {20};
    struct priorities p = {0};
    struct sample s = {0};
    int known = 0, unknown = 0, different;
    assert_true(priorities_least(&p) == INT64_MAX);
    for (int step = 0; step < 20000; step++) {
        int i = (int)random_below(&r, step / 4000 % 2 ? PODS : PODS / 3);
        if (s.there[i])
            priorities_remove(&p, s.number[i]);
        s.there[i] = !s.there[i];
        s.priority[i] = (int64_t)random_below(&r, DIFFERENT) - DIFFERENT / 2;
        if (s.there[i])
            s.number[i] = priorities_add(&p, s.priority[i]);
        int64_t least = least_of(&s, &different), told = priorities_least(&p);
        assert_true(told == least || told == INT64_MIN);
        assert_true(told != INT64_MIN || p.pods[PRIORITY_OTHER] > 0);
        known += told == least;
        unknown += told == INT64_MIN;
    }
    assert_true(known > 1000 && unknown > 1000);
}

static void equal_priorities_share_a_number(void **state)
{
    (void)state;
    struct priorities p = {0};
    uint8_t a = priorities_add(&p, 7), b = priorities_add(&p, -3);
    assert_int_not_equal(a, b);
    assert_int_equal(priorities_add(&p, 7), a);
    priorities_remove(&p, a);
    assert_int_equal(priorities_add(&p, 7), a);
    priorities_remove(&p, b);
    assert_true(priorities_least(&p) == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_is_right_or_not_known),
        cmocka_unit_test(equal_priorities_share_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
