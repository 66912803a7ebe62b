/* test_tries: who is tried when, as an import plays the queue: by priority and in order, after
 * backoffs, woken by room, and never for good. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ctl/import/tries.h"
#include "proto/base/memory.h"

#define S INT64_C(1000000)

static struct tries tries;
static struct pod pods[8];

static int begin(void **state)
{
    (void)state;
    tries = (struct tries){0};
    return 0;
}

static int end(void **state)
{
    (void)state;
    tries_free(&tries);
    return 0;
}

static void add(int i, int64_t at_us, const char *uid, int64_t priority)
{
    pods[i] = (struct pod){.uid = str_of(uid), .name = str_of(uid), .priority = priority};
    tries_add(&tries, at_us, &pods[i]);
}

/* Returns its cycle. */
static int64_t next_is(int64_t at_us, const char *uid)
{
    const struct try *one = tries_next(&tries, at_us);
    assert_non_null(one);
    assert_true(str_is(one->pod->uid, uid));
    return one->cycle;
}

static void nobody(int64_t at_us)
{
    assert_null(tries_next(&tries, at_us));
}

static void ended(int64_t at_us, const char *uid, int64_t cycle, enum outcome_result how)
{
    const struct outcome o = {.uid = str_of(uid), .cycle = cycle, .result = how};
    tries_ended(&tries, at_us, &o);
}

static void by_priority_then_in_order(void **state)
{
    (void)state;
    add(0, S, "a", 0);
    add(1, S, "b", 10);
    add(2, S, "c", 0);
    next_is(S, "b");
    next_is(S, "a");
    next_is(S, "c");
    nobody(S);
    assert_int_equal(tries.sent, 3);
}

static void who_is_bound_is_gone(void **state)
{
    (void)state;
    add(0, S, "a", 0);
    ended(S, "a", next_is(S, "a"), OUTCOME_bound);
    assert_int_equal(tries.count, 0);
    assert_int_equal(tries.sent, 0);
    assert_int_equal(tries_due(&tries), INT64_MAX);
}

static void who_has_no_room_waits_for_it(void **state)
{
    (void)state;
    add(0, S, "a", 0);
    ended(S, "a", next_is(S, "a"), OUTCOME_unschedulable);
    nobody(100 * S);
    tries_wake(&tries, 100 * S);
    next_is(100 * S, "a");
}

static void a_backoff_is_waited_for_and_doubles(void **state)
{
    (void)state;
    add(0, S, "a", 0);
    ended(S, "a", next_is(S, "a"), OUTCOME_unschedulable);
    tries_wake(&tries, S);
    nobody(2 * S - 1);
    assert_int_equal(tries_due(&tries), 2 * S);
    ended(2 * S, "a", next_is(2 * S, "a"), OUTCOME_unschedulable);
    tries_wake(&tries, 2 * S);
    nobody(4 * S - 1);
    next_is(4 * S, "a");
}

static void a_backoff_is_no_longer_than_ten_seconds(void **state)
{
    (void)state;
    add(0, S, "a", 0);
    int64_t at_us = S;
    for (int i = 0; i < 12; i++) {
        ended(at_us, "a", next_is(at_us, "a"), OUTCOME_unschedulable);
        tries_wake(&tries, at_us);
        at_us = tries_due(&tries);
    }
    ended(at_us, "a", next_is(at_us, "a"), OUTCOME_unschedulable);
    tries_wake(&tries, at_us);
    assert_int_equal(tries_due(&tries), at_us + 10 * S);
}

static void whom_the_core_skips_is_gone(void **state)
{
    (void)state;
    add(0, S, "a", 0);
    ended(S, "a", next_is(S, "a"), OUTCOME_skipped);
    assert_int_equal(tries.count, 0);
    assert_int_equal(tries.sent, 0);
    assert_int_equal(tries_due(&tries), INT64_MAX);
}

/* Behind the end of a trace only backoffs are waited for. */
static void who_meets_errors_alone_waits_as_well(void **state)
{
    (void)state;
    add(0, S, "a", 0);
    int64_t at_us = S;
    for (int i = 0; i < 5; i++) {
        assert_true(at_us < 60 * S);
        ended(at_us, "a", next_is(at_us, "a"), OUTCOME_error);
        at_us = tries_due(&tries);
    }
    assert_true(at_us > 300 * S);
    tries_wake(&tries, 100 * S);
    ended(100 * S, "a", next_is(100 * S, "a"), OUTCOME_bound);
    assert_int_equal(tries.count, 0);
}

static void nobody_waits_for_more_than_five_minutes(void **state)
{
    (void)state;
    add(0, S, "a", 0);
    ended(S, "a", next_is(S, "a"), OUTCOME_unschedulable);
    assert_int_equal(tries_due(&tries), 301 * S);
    nobody(301 * S - 1);
    next_is(301 * S, "a");
}

static void an_old_answer_counts_no_more(void **state)
{
    (void)state;
    add(0, S, "a", 0);
    int64_t first = next_is(S, "a");
    ended(S, "a", first, OUTCOME_error);
    int64_t second = next_is(2 * S, "a");
    ended(2 * S, "a", first, OUTCOME_bound);
    assert_int_equal(tries.count, 1);
    ended(2 * S, "a", second, OUTCOME_bound);
    assert_int_equal(tries.count, 0);
}

static void who_goes_while_it_is_tried_is_counted_no_more(void **state)
{
    (void)state;
    add(0, S, "a", 0);
    add(1, S, "b", 0);
    int64_t cycle = next_is(S, "a");
    tries_drop(&tries, STR_LITERAL("a"));
    assert_int_equal(tries.sent, 0);
    ended(S, "a", cycle, OUTCOME_error);
    next_is(S, "b");
    tries_drop(&tries, STR_LITERAL("nobody"));
    assert_int_equal(tries.count, 1);
}

#define TRY_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRY_TEST(by_priority_then_in_order),
        TRY_TEST(who_is_bound_is_gone),
        TRY_TEST(who_has_no_room_waits_for_it),
        TRY_TEST(a_backoff_is_waited_for_and_doubles),
        TRY_TEST(a_backoff_is_no_longer_than_ten_seconds),
        TRY_TEST(whom_the_core_skips_is_gone),
        TRY_TEST(who_meets_errors_alone_waits_as_well),
        TRY_TEST(nobody_waits_for_more_than_five_minutes),
        TRY_TEST(an_old_answer_counts_no_more),
        TRY_TEST(who_goes_while_it_is_tried_is_counted_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
