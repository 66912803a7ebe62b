/* test_str: borrowed bytes compare, search and convert by their length, never by a zero byte; the
 * limits of int64 are exact. */
#include "proto/base/str.h"
#include "proto/base/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void integers_are_exact_to_the_limits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } table[] = {
        {"0", 0},
        {"-0", 0},
        {"+7", 7},
        {"007", 7},
        {"9223372036854775807", INT64_MAX},
        {"+9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"-9223372036854775807", -INT64_MAX},
        {"000000000000000000000000000000012", 12},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        int64_t value = 4711;
        if (!str_to_i64(str_of(table[i].text), &value) || value != table[i].value)
            fail_msg("%s: %lld", table[i].text, (long long)value);
    }
}

static void what_is_no_int64_is_refused(void **state)
{
    (void)state;
    static const char *const table[] = {
        "",
        "-",
        "+",
        "--1",
        "+-1",
        " 1",
        "1 ",
        "1x",
        "0x1",
        "1.0",
        "1e3",
        "٣",
        "1_0",
        "9223372036854775808",
        "-9223372036854775809",
        "18446744073709551616",
        "99999999999999999999999",
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        int64_t value = 4711;
        if (str_to_i64(str_of(table[i]), &value))
            fail_msg("\"%s\" was read as %lld", table[i], (long long)value);
        assert_int_equal(value, 4711);
    }
    int64_t value;
    assert_false(str_to_i64((struct str){"1\0", 2}, &value));
    assert_false(str_to_i64((struct str){NULL, 0}, &value));
    assert_true(str_to_i64((struct str){"123", 2}, &value)); /* not past the length */
    assert_int_equal(value, 12);
}

static void order_is_that_of_bytes(void **state)
{
    (void)state;
    static const struct str sorted[] = {
        {NULL, 0}, {"\0", 1}, {"A", 1}, {"a", 1}, {"a\0", 2}, {"aa", 2}, {"b", 1}, {"\xff", 1},
    };
    size_t count = sizeof(sorted) / sizeof(sorted[0]);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            int order = str_compare(sorted[i], sorted[k]);
            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
            assert_int_equal(str_equal(sorted[i], sorted[k]), i == k);
            if (i == k)
                assert_true(str_hash(sorted[i]) == str_hash(sorted[k]));
            else
                assert_false(str_hash(sorted[i]) == str_hash(sorted[k]));
        }
}

/* Of as many buckets as names, by chance 63 % are met. */
static void hashes_of_names_that_count_up_are_spread(void **state)
{
    enum { NAMES = 1 << 14 };
    static const char *const before[] = {"", "n", "default/pod-", "7d1c8b52-0000-4000-8000-0000"};
    static uint8_t low[NAMES], high[NAMES], mixed[NAMES];
    (void)state;
    for (size_t f = 0; f < 2 * sizeof(before) / sizeof(before[0]); f++) {
        int met[3] = {0};
        memset(low, 0, sizeof(low));
        memset(high, 0, sizeof(high));
        memset(mixed, 0, sizeof(mixed));
        for (int i = 0; i < NAMES; i++) {
            char name[64];
            snprintf(name, sizeof(name), "%s%0*d%s", before[f / 2], f % 2 == 0 ? 1 : 8, i,
                     f > 5 ? ".example.com" : "");
            uint64_t hash = str_hash(str_of(name));
            low[hash % NAMES] = high[hash >> 50] = 1;
            mixed[table_hash(hash) >> 18] = 1;
        }
        for (int i = 0; i < NAMES; i++) {
            met[0] += low[i];
            met[1] += high[i];
            met[2] += mixed[i];
        }
        for (int k = 0; k < 3; k++)
            assert_true(met[k] > NAMES * 60 / 100);
    }
}

static void searching_stays_inside(void **state)
{
    (void)state;
    struct str s = {"abc/d", 3};
    assert_int_equal(str_find(s, 'c'), 2);
    assert_int_equal(str_find(s, '/'), -1);
    assert_int_equal(str_find((struct str){NULL, 0}, 'c'), -1);
    assert_true(str_starts_with(s, "abc"));
    assert_false(str_starts_with(s, "abc/"));
    assert_true(str_starts_with((struct str){NULL, 0}, ""));
    assert_true(str_is(s, "abc"));
    assert_false(str_is(s, "ab"));
    assert_true(str_is((struct str){NULL, 0}, ""));
    assert_int_equal(str_of(NULL).len, 0);
}

static void a_kept_str_is_its_own(void **state)
{
    (void)state;
    char text[] = "name";
    struct str kept = str_keep((struct str){text, 3}), empty = str_keep((struct str){NULL, 0});
    text[0] = 'x';
    assert_int_equal(kept.len, 3);
    assert_string_equal(kept.at, "nam");
    assert_string_equal(empty.at, "");
    str_drop(&kept);
    str_drop(&empty);
    assert_null(kept.at);
    assert_int_equal(kept.len, 0);
    str_drop(&kept); /* nothing to give back */
}

static void pieces_are_split_and_trimmed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *pieces; /* each piece in brackets */
    } table[] = {{"a__b", "[a][b]"},     {"", "[]"},       {"__", "[][]"}, {"a___b", "[a][_b]"},
                 {" a __\tb", "[a][b]"}, {"a_b", "[a_b]"}, {"  ", "[]"}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct str rest = str_of(table[i].text), piece;
        char got[64] = "";
        while (str_split(&rest, "__", &piece)) {
            piece = str_trim(piece);
            size_t len = strlen(got);
            snprintf(got + len, sizeof(got) - len, "[%.*s]", STR_ARG(piece));
        }
        assert_string_equal(got, table[i].pieces);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_exact_to_the_limits),
        cmocka_unit_test(what_is_no_int64_is_refused),
        cmocka_unit_test(order_is_that_of_bytes),
        cmocka_unit_test(hashes_of_names_that_count_up_are_spread),
        cmocka_unit_test(searching_stays_inside),
        cmocka_unit_test(a_kept_str_is_its_own),
        cmocka_unit_test(pieces_are_split_and_trimmed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
