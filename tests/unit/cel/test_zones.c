/* zones: files of the time zone database, made by hand, and what glibc says of the same rules. */
#include "scheduler/cel/zones.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define DAY INT64_C(86400)

static void assert_str(struct str s, const char *text)
{
    assert_int_equal(s.len, strlen(text));
    assert_memory_equal(s.at, text, s.len);
}

struct made {
    char at[1024];
    uint32_t len;
};

static void add(struct made *m, const void *bytes, size_t size)
{
    assert_true(m->len + size <= sizeof(m->at));
    memcpy(m->at + m->len, bytes, size);
    m->len += (uint32_t)size;
}

static void add_number(struct made *m, int64_t number, unsigned bytes)
{
    for (unsigned i = bytes; i > 0; i--) {
        unsigned char byte = (unsigned char)((uint64_t)number >> (i - 1) * 8);
        add(m, &byte, 1);
    }
}

static void add_header(struct made *m, char version, uint32_t times, uint32_t types,
                       uint32_t letters)
{
    const uint32_t counts[] = {0, 0, 0, times, types, letters};
    char rest[16] = {version};
    add(m, "TZif", 4);
    add(m, rest, sizeof(rest));
    for (int i = 0; i < 6; i++)
        add_number(m, counts[i], 4);
}

static void add_type(struct made *m, int64_t offset, int summer, int letter)
{
    add_number(m, offset, 4);
    add_number(m, summer, 1);
    add_number(m, letter, 1);
}

/* No times; one type; a rule. */
static struct made with_rule(const char *rule)
{
    struct made m = {.len = 0};
    add_header(&m, '2', 0, 0, 0);
    add_header(&m, '2', 0, 1, 4);
    add_type(&m, 77, 0, 0);
    add(&m, "ABC", 4);
    add(&m, "\n", 1);
    add(&m, rule, strlen(rule));
    add(&m, "\n", 1);
    return m;
}

static int64_t offset_in(const struct made *m, int64_t seconds)
{
    int64_t offset = -1;
    assert_true(zones_offset_in((struct str){m->at, m->len}, seconds, &offset));
    return offset;
}

/* Each change of a year lies between two of these. */
static void rules_are_as_glibc_has_them(void **state)
{
    static const char *const rules[] = {
        "CET-1CEST,M3.5.0,M10.5.0/3",
        "EST5EDT,M3.2.0,M11.1.0",
        "<+0330>-3:30",
        "IST-2IDT,M3.4.4/26,M10.5.0",
        "NZST-12NZDT,M9.5.0,M4.1.0/3",
        "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
        "AAA3BBB,J60/0,J300",
        "AAA3BBB,59/1,364/23:59:58",
        "LHST-10:30LHDT-11,M10.1.0,M4.1.0",
        "ABC-5:45:30",
        "GMT0",
        "WXY4VWX,M11.1.6,M2.4.1",
        "AAA0BBB,M1.1.0,M12.5.6",
    };
    char *before = getenv("TZ") != NULL ? strdup(getenv("TZ")) : NULL;
    (void)state;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        struct made m = with_rule(rules[i]);
        assert_int_equal(setenv("TZ", rules[i], 1), 0);
        tzset();
        for (time_t at = 946684800; at < 946684800 + 3294 * DAY; at += 1799) {
            struct tm tm;
            assert_non_null(localtime_r(&at, &tm));
            if (offset_in(&m, at) != tm.tm_gmtoff)
                fail_msg("%s at %lld: %lld, not %ld", rules[i], (long long)at,
                         (long long)offset_in(&m, at), tm.tm_gmtoff);
        }
    }
    if (before != NULL)
        setenv("TZ", before, 1);
    else
        unsetenv("TZ");
    tzset();
    free(before);
}

/* Where it is not understood the last type counts. */
static void a_rule_that_is_none_is_left_alone(void **state)
{
    static const char *const rules[] = {
        "",
        "A",
        "AB1",
        "ABC",
        "ABC169",
        "<ABC1",
        "ABC1DE,1,2",
        "ABC1DEF,1",
        "ABC1DEF,1,",
        "ABC1DEF,M0.1.0,1",
        "ABC1DEF,M13.1.0,1",
        "ABC1DEF,M1.6.0,1",
        "ABC1DEF,M1.0.0,1",
        "ABC1DEF,M1.1.7,1",
        "ABC1DEF,J0,1",
        "ABC1DEF,366,1",
        "ABC1DEF,1,2,3",
        "ABC1DEF,1/x,2",
        "ABC1DEF,1/1:60,2",
        "ABC1:",
        "ABC99999999999999999999",
        "ABC1DEF1x,1,2",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        struct made m = with_rule(rules[i]);
        if (offset_in(&m, 1700000000) != 77)
            fail_msg("%s is taken for a rule", rules[i]);
    }
    struct made m = with_rule("ABC1DEF"); /* then that of the United States */
    assert_int_equal(offset_in(&m, 1720000000), 0);
    assert_int_equal(offset_in(&m, 1705000000), -3600);
}

static struct made with_times(void)
{
    struct made m = {.len = 0};
    add_header(&m, '3', 1, 1, 1);
    add_number(&m, 5, 4); /* the same in four bytes each, which is not read */
    add_number(&m, 0, 1);
    add_type(&m, 9, 0, 0);
    add(&m, "", 1);
    add_header(&m, '3', 3, 4, 4);
    add_number(&m, INT64_C(-5000000000), 8);
    add_number(&m, 100, 8);
    add_number(&m, 200, 8);
    add_number(&m, 2, 1);
    add_number(&m, 1, 1);
    add_number(&m, 3, 1);
    add_type(&m, 1, 0, 0);
    add_type(&m, 20, 0, 0);
    add_type(&m, -300, 1, 3);
    add_type(&m, 4000, 0, 0);
    add(&m, "ABC", 4);
    return m;
}

static void each_time_begins_a_type(void **state)
{
    struct made m = with_times();
    (void)state;
    assert_int_equal(offset_in(&m, INT64_C(-5000000001)), 1); /* a type that none begins */
    assert_int_equal(offset_in(&m, INT64_C(-5000000000)), -300);
    assert_int_equal(offset_in(&m, 99), -300);
    assert_int_equal(offset_in(&m, 100), 20);
    assert_int_equal(offset_in(&m, 199), 20);
    assert_int_equal(offset_in(&m, 200), 4000);
    assert_int_equal(offset_in(&m, INT64_C(253402300799)), 4000);
}

/* Before the first time: the last type before it that is no summer time. */
static void what_was_before_all_times(void **state)
{
    struct made m = {.len = 0};
    (void)state;
    add_header(&m, 0, 2, 3, 1);
    add_number(&m, 100, 4);
    add_number(&m, 200, 4);
    add_number(&m, 2, 1);
    add_number(&m, 0, 1);
    add_type(&m, 1, 0, 0);
    add_type(&m, 2, 0, 0);
    add_type(&m, 3, 1, 0);
    add(&m, "", 1);
    assert_int_equal(offset_in(&m, 99), 2);
    assert_int_equal(offset_in(&m, -5), 2);
    assert_int_equal(offset_in(&m, 100), 3);
    assert_int_equal(offset_in(&m, 200), 1);
}

static bool is_read(const struct made *m, uint32_t len)
{
    int64_t offset;
    char *exact = malloc(len + 1); /* so that a sanitizer sees who reads on */
    assert_non_null(exact);
    memcpy(exact, m->at, len);
    bool good = zones_offset_in((struct str){exact, len}, 150, &offset);
    free(exact);
    return good;
}

static void what_is_cut_short_or_lies_is_malformed(void **state)
{
    struct made m = with_times(), lies;
    (void)state;
    for (uint32_t len = 0; len < m.len; len++)
        assert_false(is_read(&m, len));
    assert_true(is_read(&m, m.len));
    for (uint32_t at = 0; at < m.len; at++) { /* never more than is there */
        lies = m;
        lies.at[at] = (char)0xff;
        (void)is_read(&lies, m.len);
    }
    lies = m;
    lies.at[4] = '9';
    assert_false(is_read(&lies, m.len));
    lies = (struct made){.len = 0}; /* no type */
    add_header(&lies, 0, 0, 0, 0);
    assert_false(is_read(&lies, lies.len));
}

static void a_zone_is_found_by_its_name(void **state)
{
    struct arena a = {0};
    struct pool p = {.arena = &a};
    struct str error = {0};
    int64_t offset = -1;
    char *name = malloc(9000);
    (void)state;
    assert_true(zones_offset(&p, STR_LITERAL("Europe/Berlin"), 1720000000, &offset, &error));
    assert_int_equal(offset, 7200);
    assert_true(zones_offset(&p, STR_LITERAL("Asia/Kathmandu"), 1720000000, &offset, &error));
    assert_int_equal(offset, 20700);
    assert_false(zones_offset(&p, STR_LITERAL("Nowhere/Land"), 0, &offset, &error));
    assert_str(error, "unknown time zone Nowhere/Land");
    assert_false(zones_offset(&p, STR_LITERAL("Europe"), 0, &offset, &error));
    assert_str(error, "is a directory");
    assert_false(zones_offset(&p, STR_LITERAL("Europe/Berlin/x"), 0, &offset, &error));
    assert_str(error, "not a directory");
    assert_false(zones_offset(&p, STR_LITERAL("zone.tab"), 0, &offset, &error));
    assert_str(error, "malformed time zone information");
    assert_false(zones_offset(&p, STR_LITERAL("Asia/To\0kyo"), 0, &offset, &error));
    assert_str(error, "invalid argument");
    assert_non_null(name);
    memset(name, 'x', 9000);
    assert_false(zones_offset(&p, (struct str){name, 9000}, 0, &offset, &error));
    assert_str(error, "file name too long");
    free(name);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_as_glibc_has_them),
        cmocka_unit_test(a_rule_that_is_none_is_left_alone),
        cmocka_unit_test(each_time_begins_a_type),
        cmocka_unit_test(what_was_before_all_times),
        cmocka_unit_test(what_is_cut_short_or_lies_is_malformed),
        cmocka_unit_test(a_zone_is_found_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
