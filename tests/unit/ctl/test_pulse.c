/* test_pulse: in virtual time, who is taken for hung and when; and what the kernel says of real
 * processes. */
#include "ctl/pulse.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct pulse p;
static struct moment now;

static int begin(void **state)
{
    (void)state;
    p = (struct pulse){0};
    now = (struct moment){1000000000};
    return 0;
}

/* Looks so often, with that sight each time, until it says something; how long that took. */
static int64_t look_until(struct pulse_sight *s, int64_t turns, int64_t cpu, int64_t most_ms)
{
    int64_t ms = 0;
    while (ms <= most_ms) {
        s->turns += (uint64_t)turns;
        s->cpu += cpu;
        if (pulse_look(&p, now, s) != NULL)
            return ms;
        now = moment_after(now, span_of_ms(PULSE_LOOK_MS));
        ms += PULSE_LOOK_MS;
    }
    return ms;
}

static void whose_loop_turns_is_well(void **state)
{
    (void)state;
    struct pulse_sight s = {.turns = 1};
    assert_true(look_until(&s, 1, 0, 600000) > 600000);
}

static void who_stands_is_hung_after_five_seconds(void **state)
{
    (void)state;
    struct pulse_sight s = {.turns = 7, .cpu = 3};
    assert_null(pulse_look(&p, now, &s));
    assert_in_range(look_until(&s, 0, 0, 60000), PULSE_STILL_MS, PULSE_STILL_MS + PULSE_LOOK_MS);
}

/* Taking in a snapshot of a large cluster, on a processor of its own or waiting for one. */
static void who_is_busy_has_a_minute(void **state)
{
    (void)state;
    struct pulse_sight s = {.turns = 7};
    assert_null(pulse_look(&p, now, &s));
    assert_in_range(look_until(&s, 0, 50, 600000), PULSE_BUSY_MS, PULSE_BUSY_MS + PULSE_LOOK_MS);
    begin(NULL);
    s = (struct pulse_sight){.turns = 7, .runs = true};
    assert_null(pulse_look(&p, now, &s));
    assert_in_range(look_until(&s, 0, 0, 600000), PULSE_BUSY_MS, PULSE_BUSY_MS + PULSE_LOOK_MS);
}

static void work_that_ends_in_time_is_forgotten(void **state)
{
    (void)state;
    struct pulse_sight s = {.turns = 7};
    for (int i = 0; i < 10; i++) {
        assert_true(look_until(&s, 0, 50, 50000) > 50000);
        assert_true(look_until(&s, 1, 0, 1000) > 1000);
        assert_true(look_until(&s, 0, 0, 4000) > 4000);
        assert_true(look_until(&s, 1, 0, 1000) > 1000);
    }
}

static void a_start_may_take_a_minute(void **state)
{
    (void)state;
    struct pulse_sight s = {0};
    int64_t took = look_until(&s, 0, 0, 600000);
    assert_in_range(took, PULSE_START_MS, PULSE_START_MS + PULSE_LOOK_MS);
}

/* The host sleeps for an hour, several times: nobody is hung when it wakes up. */
static void time_in_which_nobody_looked_does_not_count(void **state)
{
    (void)state;
    struct pulse_sight s = {.turns = 7};
    assert_null(pulse_look(&p, now, &s));
    for (int i = 0; i < 4; i++) {
        now = moment_after(now, span_of_ms(3600 * 1000LL));
        assert_null(pulse_look(&p, now, &s));
    }
    assert_true(look_until(&s, 1, 0, 1000) > 1000);
}

static void who_is_debugged_is_left_alone(void **state)
{
    (void)state;
    struct pulse_sight s = {.turns = 7, .under_test = true};
    assert_true(look_until(&s, 0, 0, 600000) > 600000);
    s.under_test = false;
    assert_true(look_until(&s, 0, 0, 4000) > 4000); /* from then on it counts */
}

static void the_kernel_tells_who_runs_and_who_stands(void **state)
{
    (void)state;
    struct pulse_sight s = {0};
    assert_true(pulse_see(getpid(), &s));
    assert_true(s.runs);
    int64_t before = s.cpu;
    for (int i = 0; i < 1000000 && s.cpu == before; i++)
        assert_true(pulse_see(getpid(), &s)); /* this uses it, most of it in the kernel */
    assert_true(s.cpu > before);
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    assert_int_equal(kill(pid, SIGSTOP), 0);
    int status;
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(pulse_see(pid, &s));
    assert_false(s.runs);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_false(pulse_see(pid, &s));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        TEST(whose_loop_turns_is_well),      TEST(who_stands_is_hung_after_five_seconds),
        TEST(who_is_busy_has_a_minute),      TEST(work_that_ends_in_time_is_forgotten),
        TEST(a_start_may_take_a_minute),     TEST(time_in_which_nobody_looked_does_not_count),
        TEST(who_is_debugged_is_left_alone), TEST(the_kernel_tells_who_runs_and_who_stands),
    };
    return cmocka_run_group_tests_name("pulse", tests, NULL, NULL);
}
