/* test_doors: who is taken for well and who for hung, in virtual time, from what processes answer.
 */
#include "ctl/serve/doors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {"watcher", "queue", "scheduler", "binder", "w0", "w1"};
static const char *const kinds[] = {"watcher", "queue", "scheduler", "binder", "worker", "worker"};
#define COUNT (sizeof(names) / sizeof(names[0]))

static struct doors *doors;
static struct moment now = {1000000000};

static int set_up(void **state)
{
    (void)state;
    doors = doors_new(names, COUNT);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    doors_free(&doors);
    return 0;
}

static void answers(size_t door)
{
    struct message m = {.type = MSG_metrics, .metrics.process = str_of(kinds[door])};
    struct delivery in = {.from = {SCHEDULER, (uint32_t)door + 1}, .message = &m};
    doors_handle(doors, now, door, &in);
}

/* For so many seconds all answer but those whose bit is in silent. */
static void pass(int seconds, unsigned silent)
{
    for (int s = 0; s < seconds; s++) {
        now = moment_after(now, span_of_ms(1000));
        for (size_t i = 0; i < COUNT; i++)
            if ((silent & 1u << i) == 0)
                answers(i);
    }
}

static const char *silent(void)
{
    return doors_silent(doors, now, span_of_ms(12000));
}

static void who_was_never_heard_does_not_hang(void **state)
{
    (void)state;
    assert_string_equal(silent(), "");
    pass(100, 1u << 2);
    assert_string_equal(silent(), "");
    assert_string_equal(doors_check(doors, now, "scheduler", "", span_of_ms(5000)),
                        "scheduler does not answer"); /* but it is not ready */
}

static void who_falls_silent_hangs(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        pass(2, 0);
        pass(11, 1u << i);
        assert_string_equal(silent(), "");
        pass(1, 1u << i);
        char want[64];
        snprintf(want, sizeof(want), "%s has not answered for 12 s", names[i]);
        assert_string_equal(silent(), want);
        pass(1, 0);
        assert_string_equal(silent(), "");
    }
}

static void one_worker_of_several_may_go(void **state)
{
    (void)state;
    pass(2, 0);
    pass(100, 1u << 5);
    assert_string_equal(silent(), "");
    pass(12, 3u << 4);
    assert_string_equal(silent(), "w0 has not answered for 12 s");
}

static void a_note_and_a_release_are_kept_while_they_are_fresh(void **state)
{
    (void)state;
    struct health_check check = {.name = STR_LITERAL("release"), .note = STR_LITERAL("as 1.37")};
    struct message m = {
        .type = MSG_metrics,
        .metrics = {.process = STR_LITERAL("scheduler"), .checks = {1, &check}, .release = 37}};
    struct delivery in = {.from = {SCHEDULER, 3}, .message = &m};
    assert_int_equal(doors_release(doors, "scheduler"), 0);
    doors_handle(doors, now, 2, &in);
    assert_string_equal(doors_note(doors, now, "scheduler", "release", span_of_ms(5000)),
                        "as 1.37");
    assert_string_equal(doors_note(doors, now, "scheduler", "view", span_of_ms(5000)), "");
    assert_string_equal(doors_note(doors, now, "binder", "release", span_of_ms(5000)), "");
    now = moment_after(now, span_of_ms(6000));
    assert_string_equal(doors_note(doors, now, "scheduler", "release", span_of_ms(5000)), "");
    assert_int_equal(doors_release(doors, "scheduler"), 37); /* flags are shown as of it still */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(who_was_never_heard_does_not_hang),
        TEST(who_falls_silent_hangs),
        TEST(one_worker_of_several_may_go),
        TEST(a_note_and_a_release_are_kept_while_they_are_fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
