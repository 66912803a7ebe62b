/* test_slow: the text of a slow decision is what k8s.io/utils/trace prints of the same. */
#include "scheduler/tracing/slow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define BEGAN 1767323045006000 /* 2026-01-02T03:04:05.006Z */

static void expect(int64_t took_ms, int64_t prioritizing_ms, bool scored, const char *expected)
{
    const struct slow_decision d = {.number = 42,
                                    .namespace_name = {"ns", 2},
                                    .name = {"p", 1},
                                    .began_us = BEGAN,
                                    .took_ns = took_ms * 1000000,
                                    .prioritizing_ns = prioritizing_ms * 1000000,
                                    .scored = scored};
    struct buffer out = {0};
    slow_print(&d, &out);
    assert_string_equal(out.at, expected);
    buffer_free(&out);
}

#define HEAD "Trace[42]: \"Scheduling\" namespace:ns,name:p (02-Jan-2026 03:04:05.006) "

static void it_is_upstreams_text(void **state)
{
    (void)state;
    expect(150, 50, true,
           HEAD "(total time: 150ms):\n"
                "Trace[42]: ---\"Computing predicates done\" 100ms (03:04:05.106)\n"
                "Trace[42]: ---\"Prioritizing done\" 50ms (03:04:05.156)\n"
                "Trace[42]: [150ms] [150ms] END");
}

/* Of 100 ms each of two steps and the rest has a third, each of one and the rest half. */
static void short_steps_are_left_out(void **state)
{
    (void)state;
    expect(133, 33, true,
           HEAD "(total time: 133ms):\n"
                "Trace[42]: ---\"Computing predicates done\" 100ms (03:04:05.106)\n"
                "Trace[42]: [133ms] [133ms] END");
    expect(2500, 0, false,
           HEAD "(total time: 2500ms):\n"
                "Trace[42]: ---\"Computing predicates done\" 2500ms (03:04:07.506)\n"
                "Trace[42]: [2.5s] [2.5s] END");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_upstreams_text),
        cmocka_unit_test(short_steps_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
