/* test_fitness: in virtual time, what counts as an instance that cannot schedule. */
#include "binder/fitness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fitness f;
static struct moment now;

static int begin(void **state)
{
    (void)state;
    now = (struct moment){1000000000};
    fitness_init(&f, now);
    return 0;
}

/* The scheduler says this each second, for so many. */
static void say(int seconds, const char *lacks)
{
    for (int i = 0; i < seconds; i++) {
        fitness_hear(&f, now, lacks[0] == 0, str_of(lacks));
        now = moment_after(now, span_of_ms(1000));
    }
}

static void who_starts_is_neither_ready_nor_sick(void **state)
{
    (void)state;
    assert_false(fitness_ready(&f, now));
    assert_null(fitness_sick(&f, now));
    say(1, "");
    assert_false(fitness_ready(&f, now)); /* not for long enough */
    say(1, "");
    assert_true(fitness_ready(&f, now));
    assert_null(fitness_sick(&f, now));
}

static void a_lack_that_lasts_is_sick(void **state)
{
    (void)state;
    say(5, "");
    say(9, "a worker");
    assert_null(fitness_sick(&f, now));
    assert_false(fitness_ready(&f, now));
    say(1, "a worker");
    assert_string_equal(fitness_sick(&f, now), "it lacks a worker for 10 s");
    say(3, "");
    assert_null(fitness_sick(&f, now));
    assert_true(fitness_ready(&f, now));
}

static void a_scheduler_that_never_comes_is_sick(void **state)
{
    (void)state;
    now = moment_after(now, span_of_ms(FITNESS_PATIENCE_MS));
    assert_string_equal(fitness_sick(&f, now), "it lacks the scheduler for 10 s");
}

static void silence_is_a_lack(void **state)
{
    (void)state;
    say(5, "");
    now = moment_after(now, span_of_ms(FITNESS_SILENCE_MS));
    assert_false(fitness_ready(&f, now));
    now = moment_after(now, span_of_ms(FITNESS_PATIENCE_MS));
    assert_string_equal(fitness_sick(&f, now), "it lacks word from the scheduler for 10 s");
}

static void a_crash_loop_is_sick_though_it_stands_between(void **state)
{
    (void)state;
    for (int i = 0; i < FITNESS_FALLS; i++) {
        assert_null(fitness_sick(&f, now));
        say(5, "");
        fitness_lost(&f, now);
    }
    say(5, "");
    assert_string_equal(fitness_sick(&f, now), "it failed 3 times within a minute");
    assert_false(fitness_ready(&f, now));
    say(14, "");
    assert_non_null(fitness_sick(&f, now));
    say(1, ""); /* a leader that cannot schedule at all would wait for it in vain */
    assert_null(fitness_sick(&f, now));
    assert_true(fitness_ready(&f, now));
    fitness_lost(&f, now);
    assert_non_null(fitness_sick(&f, now)); /* it was no end */
    say(60, "");
    fitness_lost(&f, now);
    assert_null(fitness_sick(&f, now));
}

static void a_short_lack_is_no_fall(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        say(1, "");
        say(2, "workers to catch up");
    }
    assert_null(fitness_sick(&f, now));
    for (int i = 0; i < FITNESS_FALLS; i++) { /* as a worker that crashes again and again */
        say(1, "");
        say(4, "a worker");
    }
    say(1, "");
    assert_non_null(fitness_sick(&f, now));
}

static void falls_that_are_far_apart_are_forgiven(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        say(31, "");
        fitness_lost(&f, now);
        fitness_lost(&f, now); /* the same one */
        assert_null(fitness_sick(&f, now));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        TEST(who_starts_is_neither_ready_nor_sick),          TEST(a_lack_that_lasts_is_sick),
        TEST(a_scheduler_that_never_comes_is_sick),          TEST(silence_is_a_lack),
        TEST(a_crash_loop_is_sick_though_it_stands_between), TEST(a_short_lack_is_no_fall),
        TEST(falls_that_are_far_apart_are_forgiven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
