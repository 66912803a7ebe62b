/* test_plugin_processes: which process of a plugin's name is asked, and when none is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "proto/plugins/processes.h"

static struct bus_plugins plugins;
static struct arena memory;
static const struct moment start = {1000000000};

static void configure(const char *first, const char *second)
{
    const struct str names[] = {str_of(first), str_of(second)};
    processes_configure(&plugins, names, 2);
}

static int begin(void **state)
{
    (void)state;
    plugins = (struct bus_plugins){0};
    log_open("test", LOG_LEVEL_error);
    configure("a", "b");
    return 0;
}

static int finish(void **state)
{
    (void)state;
    arena_free(&memory);
    return 0;
}

static struct bus_plugin_slot *slot(const char *name)
{
    return processes_slot(&plugins, str_of(name));
}

static void the_last_one_that_came_is_asked(void **state)
{
    (void)state;
    assert_string_equal(processes_unable(slot("a"), start), "is not there");
    assert_ptr_equal(processes_up(&plugins, STR_LITERAL("a"), 5), slot("a"));
    assert_null(processes_unable(slot("a"), start));
    assert_ptr_equal(processes_up(&plugins, STR_LITERAL("a"), 6), slot("a"));
    assert_int_equal(slot("a")->peer, 6);
    assert_null(processes_down(&plugins, 5)); /* it was not the one that is asked */
    assert_int_equal(slot("a")->peer, 6);
    assert_ptr_equal(processes_up(&plugins, STR_LITERAL("a"), 7), slot("a"));
    assert_ptr_equal(processes_down(&plugins, 7), slot("a"));
    assert_int_equal(slot("a")->peer, 6);
    assert_ptr_equal(processes_down(&plugins, 6), slot("a"));
    assert_string_equal(processes_unable(slot("a"), start), "is not there");
    assert_null(processes_down(&plugins, 6));
}

static void one_that_nobody_asks_for_is_remembered(void **state)
{
    (void)state;
    assert_null(processes_up(&plugins, STR_LITERAL("c"), 5));
    assert_null(slot("c"));
    assert_ptr_equal(processes_up(&plugins, STR_LITERAL("b"), 6), slot("b"));
    slot("b")->asked = 3;
    configure("b", "c");
    assert_int_equal(slot("c")->peer, 5);
    assert_int_equal(slot("b")->peer, 6);
    assert_int_equal(slot("b")->asked, 3);
    assert_null(slot("a"));
    configure("b", "b");
    assert_int_equal(plugins.count, 1);
}

static void who_is_late_rests_until_it_speaks_or_for_five_seconds(void **state)
{
    (void)state;
    struct moment now = start;
    processes_up(&plugins, STR_LITERAL("a"), 5);
    struct str why = processes_late(slot("a"), now, 500, &memory);
    assert_true(str_is(why, "plugin \"a\" did not answer within 500ms"));
    assert_int_equal(slot("a")->late, 1);
    assert_int_equal(slot("a")->failures, 1);
    assert_string_equal(processes_unable(slot("a"), now), "does not answer");
    now = moment_after(now, span_of_ms(4999));
    assert_non_null(processes_unable(slot("a"), now));
    now = moment_after(now, span_of_ms(1));
    assert_null(processes_unable(slot("a"), now));
    processes_late(slot("a"), now, 500, &memory);
    assert_null(processes_heard(&plugins, 6));
    assert_ptr_equal(processes_heard(&plugins, 5), slot("a"));
    assert_null(processes_unable(slot("a"), now));
    assert_null(processes_heard(&plugins, 5)); /* told once */
}

static void who_answers_well_after_a_failure_is_told_once(void **state)
{
    (void)state;
    processes_up(&plugins, STR_LITERAL("a"), 5);
    assert_false(processes_fine(slot("a")));
    struct str why = processes_failed(slot("a"), STR_LITERAL("failed: no"), &memory);
    assert_true(str_is(why, "plugin \"a\" failed: no"));
    assert_null(processes_unable(slot("a"), start)); /* it is asked all the same */
    assert_true(processes_fine(slot("a")));
    assert_false(processes_fine(slot("a")));
}

static void no_more_processes_than_there_is_room_for(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < BUS_PROCESSES_MAX; i++)
        assert_non_null(processes_up(&plugins, STR_LITERAL("a"), i + 1));
    assert_null(processes_up(&plugins, STR_LITERAL("a"), 100));
    assert_int_equal(slot("a")->peer, BUS_PROCESSES_MAX);
    assert_null(processes_down(&plugins, 100));
    processes_down(&plugins, 1);
    assert_non_null(processes_up(&plugins, STR_LITERAL("b"), 100));
}

static void the_report_has_a_line_for_each(void **state)
{
    (void)state;
    struct buffer lines = {0};
    processes_up(&plugins, STR_LITERAL("a"), 5);
    slot("a")->asked = 4;
    processes_status(&plugins, start, &lines);
    assert_string_equal(lines.at, "plugin_a=up asked=4 failures=0 late=0\n"
                                  "plugin_b=is not there asked=0 failures=0 late=0\n");
    buffer_free(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_last_one_that_came_is_asked, begin),
        cmocka_unit_test_setup(one_that_nobody_asks_for_is_remembered, begin),
        cmocka_unit_test_setup(who_is_late_rests_until_it_speaks_or_for_five_seconds, begin),
        cmocka_unit_test_setup(who_answers_well_after_a_failure_is_told_once, begin),
        cmocka_unit_test_setup(no_more_processes_than_there_is_room_for, begin),
        cmocka_unit_test_setup(the_report_has_a_line_for_each, begin),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
