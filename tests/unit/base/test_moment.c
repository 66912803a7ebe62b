/* test_moment: RFC 3339 both ways, what is refused as no time, and arithmetic that saturates
 * instead of wrapping around. */
#include "proto/base/moment.h"
#include "proto/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define AT 1767323045000000 /* 2026-01-02T03:04:05Z */

static void times_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t wall_us;
    } table[] = {
        {"2026-01-02T03:04:05Z", AT},
        {"2026-01-02t03:04:05z", AT},
        {"2026-01-02 03:04:05Z", AT},
        {"2026-01-02T03:04:05.000006Z", AT + 6},
        {"2026-01-02T03:04:05.5Z", AT + 500000},
        {"2026-01-02T03:04:05.123456789Z", AT + 123456},
        {"2026-01-02T05:04:05+02:00", AT},
        {"2026-01-01T21:34:05-05:30", AT},
        {"2026-01-02T03:04:05.25+00:00", AT + 250000},
        {"1970-01-01T00:00:00Z", 0},
        {"1969-12-31T23:59:59.999999Z", -1},
        {"2024-02-29T00:00:00Z", 1709164800000000},
        {"2000-02-29T23:59:59Z", 951868799000000},
        {"9999-12-31T23:59:59.999999Z", 253402300799999999},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        int64_t us = 4711;
        if (!moment_parse_wall(table[i].text, strlen(table[i].text), &us) || us != table[i].wall_us)
            fail_msg("%s: %lld, not %lld", table[i].text, (long long)us,
                     (long long)table[i].wall_us);
    }
}

static void what_is_no_time_is_refused(void **state)
{
    (void)state;
    static const char *const table[] = {
        "",
        "2026",
        "2026-01-02",
        "2026-01-02T03:04:05",        /* no offset */
        "2026-01-02T03:04Z",          /* no seconds */
        "2026-01-02T03:04:05.Z",      /* a fraction of nothing */
        "2026-01-02T03:04:05,5Z",     /* a comma */
        "2026-01-02T03:04:05Zx",      /* something behind */
        "2026-01-02T03:04:05Z ",      /* a blank behind */
        " 2026-01-02T03:04:05Z",      /* a blank before */
        "2026-1-02T03:04:05Z",        /* one digit */
        "2026-01- 2T03:04:05Z",       /* a blank for a digit */
        "+026-01-02T03:04:05Z",       /* a sign for a digit */
        "2026-01-02T03:04:+5Z",       /* the same */
        "2026/01/02T03:04:05Z",       /* other separators */
        "2026-00-02T03:04:05Z",       /* month 0 */
        "2026-13-02T03:04:05Z",       /* month 13 */
        "2026-01-00T03:04:05Z",       /* day 0 */
        "2026-01-32T03:04:05Z",       /* day 32 */
        "2026-02-29T03:04:05Z",       /* no leap year */
        "2100-02-29T03:04:05Z",       /* nor is this one */
        "2026-04-31T03:04:05Z",       /* a day that April has not */
        "2026-01-02T24:00:00Z",       /* hour 24 */
        "2026-01-02T03:60:05Z",       /* minute 60 */
        "2026-01-02T03:04:60Z",       /* second 60 */
        "2026-01-02T03:04:05+0200",   /* no colon */
        "2026-01-02T03:04:05+02",     /* no minutes */
        "2026-01-02T03:04:05+24:00",  /* hours of an offset */
        "2026-01-02T03:04:05+02:60",  /* minutes of an offset */
        "2026-01-02T03:04:05 +02:00", /* a blank before the offset */
        "2026-01-02T03:04:05.0000000000000000000000000000000000000000000Z", /* 64 bytes */
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        int64_t us;
        if (moment_parse_wall(table[i], strlen(table[i]), &us))
            fail_msg("\"%s\" was read as %lld", table[i], (long long)us);
    }
    int64_t us;
    assert_false(moment_parse_wall("2026-01-02T03:04:05Z\0", 21, &us)); /* a zero byte inside */
    assert_false(moment_parse_wall(NULL, 0, &us));
}

static void times_are_printed(void **state)
{
    (void)state;
    char text[32];
    moment_print_seconds(AT + 999999, text, sizeof(text));
    assert_string_equal(text, "2026-01-02T03:04:05Z");
    moment_print_micros(AT + 6, text, sizeof(text));
    assert_string_equal(text, "2026-01-02T03:04:05.000006Z");
    moment_print_micros(INT64_MAX, text, sizeof(text));
    assert_string_equal(text, "9999-12-31T23:59:59.999999Z");
    moment_print_micros(INT64_MIN, text, sizeof(text));
    assert_string_equal(text, "0000-01-01T00:00:00.000000Z");
    moment_print_micros(-1, text, sizeof(text));
    assert_string_equal(text, "1969-12-31T23:59:59.999999Z");
    moment_print_seconds(-1, text, sizeof(text));
    assert_string_equal(text, "1969-12-31T23:59:59Z");
}

static void what_is_printed_reads_back(void **state)
{
    (void)state;
    struct random r = {1};
    for (int i = 0; i < 2000; i++) {
        int64_t us = (int64_t)random_below(&r, 253402300800000000), again;
        char text[32];
        moment_print_micros(us, text, sizeof(text));
        assert_true(moment_parse_wall(text, strlen(text), &again));
        assert_int_equal(again, us);
    }
}

static void sums_saturate(void **state)
{
    (void)state;
    assert_int_equal(moment_after((struct moment){5}, span_of_us(2)).ns, 2005);
    assert_int_equal(moment_after(MOMENT_NEVER, (struct span){1}).ns, INT64_MAX);
    assert_int_equal(moment_after((struct moment){1}, (struct span){INT64_MAX}).ns, INT64_MAX);
    assert_true(moment_reached(MOMENT_NEVER, MOMENT_NEVER));
    assert_false(moment_reached((struct moment){1}, (struct moment){2}));
    assert_int_equal(moment_earlier((struct moment){3}, MOMENT_NEVER).ns, 3);
    assert_int_equal(moment_earlier(MOMENT_NEVER, (struct moment){3}).ns, 3);
    assert_int_equal(moment_since((struct moment){7}, (struct moment){9}).ns, -2);
}

static void spans_convert(void **state)
{
    (void)state;
    assert_int_equal(span_of_ms(3).ns, 3000000);
    assert_int_equal(span_of_seconds(0.25).ns, 250000000);
    assert_int_equal(span_ms((struct span){1999999}), 1);
}

static void the_monotonic_clock_does_not_go_back(void **state)
{
    (void)state;
    struct moment before = moment_now();
    assert_true(before.ns > 0);
    for (int i = 0; i < 1000; i++) {
        struct moment now = moment_now();
        assert_true(moment_reached(now, before));
        before = now;
    }
    assert_true(moment_wall_us() > AT / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_read),
        cmocka_unit_test(what_is_no_time_is_refused),
        cmocka_unit_test(times_are_printed),
        cmocka_unit_test(what_is_printed_reads_back),
        cmocka_unit_test(sums_saturate),
        cmocka_unit_test(spans_convert),
        cmocka_unit_test(the_monotonic_clock_does_not_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
