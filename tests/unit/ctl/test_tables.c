/* test_tables: tables as kubectl prints them, and label selectors as people type them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "ctl/tables/columns.h"
#include "ctl/tables/select.h"
#include "ctl/tables/tables.h"
#include "proto/kube/objects/selector.h"

static struct arena arena;
static struct buffer out;

static const char *span(int64_t seconds)
{
    buffer_reset(&out);
    columns_span_text(seconds * 1000, &out);
    return out.at;
}

static void spans_are_written_as_kubectl_writes_ages(void **state)
{
    const int64_t m = 60, h = 60 * m, d = 24 * h, y = 365 * d;
    (void)state;
    assert_string_equal(span(-5), "0s");
    assert_string_equal(span(0), "0s");
    assert_string_equal(span(119), "119s");
    assert_string_equal(span(120), "2m");
    assert_string_equal(span(9 * m + 59), "9m59s");
    assert_string_equal(span(10 * m + 1), "10m");
    assert_string_equal(span(179 * m + 59), "179m");
    assert_string_equal(span(3 * h), "3h");
    assert_string_equal(span(7 * h + 59 * m), "7h59m");
    assert_string_equal(span(8 * h + 59 * m), "8h");
    assert_string_equal(span(47 * h), "47h");
    assert_string_equal(span(48 * h), "2d");
    assert_string_equal(span(7 * d + 23 * h), "7d23h");
    assert_string_equal(span(8 * d + 23 * h), "8d");
    assert_string_equal(span(2 * y - d), "729d");
    assert_string_equal(span(2 * y), "2y");
    assert_string_equal(span(7 * y + 364 * d), "7y364d");
    assert_string_equal(span(8 * y + 5 * d), "8y");
}

static void add(struct columns *t, const char *name, int64_t number)
{
    columns_text(t, str_of(name));
    columns_i64(t, number);
    columns_text(t, STR_LITERAL("x"));
}

static const char *printed(const struct columns *t, bool headers)
{
    buffer_reset(&out);
    columns_print(t, headers, &out);
    return out.at;
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
    struct columns t = {.columns = 0};
    (void)state;
    columns_head(&t, "NAME");
    columns_head(&t, NULL);
    columns_head(&t, "N");
    columns_head(&t, "LAST ONE");
    add(&t, "a-long-name", 10);
    add(&t, "", 9);
    assert_string_equal(printed(&t, true), "NAME          N     LAST ONE\n"
                                           "a-long-name   10    x\n"
                                           "<none>        9     x\n");
    assert_true(columns_sort(&t, "n"));
    assert_string_equal(printed(&t, false), "<none>        9     x\na-long-name   10    x\n");
    assert_true(columns_sort(&t, "Last-One"));
    assert_true(columns_sort(&t, "name"));
    assert_false(columns_sort(&t, "nam"));
    assert_false(columns_sort(&t, "names"));
    add(&t, "after", 1); /* a sorted one grows */
    assert_int_equal(t.rows, 3);
    columns_free(&t);
}

static void no_byte_reaches_the_terminal_as_a_command(void **state)
{
    struct columns t = {.columns = 0};
    (void)state;
    columns_head(&t, "WHY");
    columns_text(&t, STR_LITERAL("a\x1b[2Jb\nc\x9b"
                                 "d\x7f"));
    assert_string_equal(printed(&t, false), "a?[2Jb?c?d?\n");
    columns_free(&t);
}

static bool selects(const char *text)
{
    const struct label labels[] = {{STR_LITERAL("app"), STR_LITERAL("web")},
                                   {STR_LITERAL("tier"), STR_LITERAL("")}};
    struct selector selector;
    if (!select_read(str_of(text), &selector, &arena))
        fail_msg("%s is refused", text);
    return label_selector_matches(&selector, labels, 2);
}

static void selectors_select(void **state)
{
    (void)state;
    assert_true(selects("app=web"));
    assert_true(selects("app == web , tier="));
    assert_false(selects("app=db"));
    assert_true(selects("app!=db"));
    assert_true(selects("zone!=a"));
    assert_false(selects("app != web"));
    assert_true(selects("app in (db, web)"));
    assert_false(selects("app in (db)"));
    assert_true(selects("app notin (db),tier"));
    assert_true(selects("zone notin (a,b)"));
    assert_true(selects("!zone"));
    assert_false(selects("! app"));
    assert_false(selects("zone"));
}

static void what_is_no_selector_is_refused(void **state)
{
    static const char *const wrong[] = {"",      "=a",       "a=b,", "a in b", "a in (b",
                                        "a = =", "a on (b)", "!",    "a b",    "in (b)",
                                        "a!",    "a=b=c",    ",",    "!(a)",   "a=@"};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct selector selector;
        if (select_read(str_of(wrong[i]), &selector, &arena))
            fail_msg("\"%s\" is taken", wrong[i]);
    }
}

static void main_reason(const char *message, const char *wanted)
{
    struct str reason = pods_main_reason(str_of(message));
    if (!str_is(reason, wanted))
        fail_msg("\"%.*s\", not \"%s\"", STR_ARG(reason), wanted);
}

/* They stand there as they are sorted by text, so that "1 node(s) were unschedulable" is before
 * "9 Insufficient cpu", and "10 …" before both. */
static void the_reason_of_most_nodes_is_found_in_a_message(void **state)
{
    (void)state;
    main_reason("0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s). "
                "preemption: 0/3 nodes are available: 3 Preemption is not helpful.",
                "2 node(s) had untolerated taint(s)");
    main_reason("0/12 nodes are available: 1 node(s) were unschedulable, 11 Insufficient cpu.",
                "11 Insufficient cpu");
    main_reason("0/12 nodes are available: 10 a b, 2 Insufficient cpu, 10 more of them.", "10 a b");
    main_reason("0/2 nodes are available: 2 node(s) of a, b and c, 1 Too many pods.",
                "2 node(s) of a, b and c");
    main_reason("0/1 nodes are available: 1 node(s) x/y.z: {a.b: c}.", "1 node(s) x/y.z: {a.b: c}");
    main_reason("0/2 nodes are available: pod has unbound claims. preemption: 2 nodes.",
                "pod has unbound claims");
    main_reason("0/0 nodes are available: ", "");
    main_reason("something else", "something else");
    assert_int_equal(pods_main_reason((struct str){0}).len, 0);
}

static int stop(void **state)
{
    (void)state;
    arena_free(&arena);
    buffer_free(&out);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_written_as_kubectl_writes_ages),
        cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
        cmocka_unit_test(no_byte_reaches_the_terminal_as_a_command),
        cmocka_unit_test(selectors_select),
        cmocka_unit_test(what_is_no_selector_is_refused),
        cmocka_unit_test(the_reason_of_most_nodes_is_found_in_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, stop);
}
