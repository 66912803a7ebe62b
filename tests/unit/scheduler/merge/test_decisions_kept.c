/* test_decisions_kept: the last decisions are told newest first, and never more are kept than were
 * asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>

#include "proto/base/buffer.h"
#include "scheduler/merge/decisions_kept.h"

static void add(struct decisions_kept *k, const char *name, int64_t us, const char *message)
{
    const struct pod pod = {
        .namespace_name = STR_LITERAL("a"), .name = str_of(name), .uid = STR_LITERAL("u")};
    decisions_kept_add(k, &pod,
                       &(struct past_decision){
                           .wall_us = us, .node = STR_LITERAL("n1"), .message = str_of(message)});
}

static uint32_t ask(struct decisions_kept *k, const char *name, struct past_decision out[4])
{
    return decisions_kept_of(k, STR_LITERAL("a"), str_of(name), out, 4);
}

static void the_newest_comes_first(void **state)
{
    (void)state;
    struct past_decision out[4];
    struct decisions_kept *k = decisions_kept_new(10);
    assert_int_equal(decisions_kept_since(k), 0);
    assert_int_equal(ask(k, "p", out), 0);
    add(k, "p", 1, "first");
    add(k, "q", 2, "another");
    add(k, "p", 3, "second");
    assert_int_equal(ask(k, "p", out), 2);
    assert_true(str_is(out[0].message, "second") && str_is(out[1].message, "first"));
    assert_true(str_is(out[0].uid, "u") && str_is(out[0].node, "n1"));
    assert_int_equal(out[1].wall_us, 1);
    assert_int_equal(decisions_kept_of(k, STR_LITERAL("b"), STR_LITERAL("p"), out, 4), 0);
    assert_int_equal(decisions_kept_count(k), 3);
    assert_int_equal(decisions_kept_since(k), 1);
    decisions_kept_free(&k);
}

static void the_latest_have_names(void **state)
{
    (void)state;
    struct past_decision out[3];
    struct decisions_kept *k = decisions_kept_new(3);
    assert_int_equal(decisions_kept_latest(k, out, 3), 0);
    for (int64_t us = 1; us <= 4; us++)
        add(k, us % 2 ? "odd" : "even", us, "why");
    assert_int_equal(decisions_kept_latest(k, out, 3), 3);
    for (int64_t us = 4; us > 1; us--) {
        const struct past_decision *d = &out[4 - us];
        assert_int_equal(d->wall_us, us);
        assert_true(str_is(d->name, us % 2 ? "odd" : "even") && str_is(d->namespace_name, "a"));
    }
    assert_int_equal(decisions_kept_latest(k, out, 1), 1);
    assert_int_equal(out[0].wall_us, 4);
    assert_int_equal(ask(k, "odd", (struct past_decision[4]){0}), 1);
    decisions_kept_free(&k);
}

static void the_oldest_gives_way(void **state)
{
    static const uint32_t sizes[] = {1, 2, 63, 64, 65, 100, 128, 129};
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct past_decision out[4];
        struct decisions_kept *k = decisions_kept_new(sizes[i]);
        for (int64_t us = 1; us <= 300; us++) {
            char name[16];
            snprintf(name, sizeof(name), "p%d", (int)us);
            add(k, name, us, us % 2 ? "a longer text than the other one" : "short");
            assert_int_equal(decisions_kept_count(k), us < sizes[i] ? us : sizes[i]);
            assert_int_equal(decisions_kept_since(k), us < sizes[i] ? 1 : us - sizes[i] + 1);
            assert_int_equal(ask(k, name, out), 1);
            assert_int_equal(out[0].wall_us, us);
        }
        assert_int_equal(ask(k, "p1", out), 0);
        decisions_kept_free(&k);
    }
}

static void no_more_are_told_than_there_is_room_for(void **state)
{
    (void)state;
    struct past_decision out[4];
    struct decisions_kept *k = decisions_kept_new(100);
    for (int64_t us = 1; us <= 9; us++)
        add(k, "p", us, "");
    assert_int_equal(ask(k, "p", out), 4);
    assert_int_equal(out[0].wall_us, 9);
    assert_int_equal(out[3].wall_us, 6);
    decisions_kept_free(&k);
}

static void none_are_kept_where_none_are_wanted(void **state)
{
    (void)state;
    struct past_decision out[4];
    struct decisions_kept *k = decisions_kept_new(0);
    add(k, "p", 1, "x");
    assert_int_equal(ask(k, "p", out), 0);
    assert_int_equal(decisions_kept_count(k), 0);
    decisions_kept_free(&k);
}

/* Never within a character. */
static void a_long_message_is_cut(void **state)
{
    (void)state;
    struct past_decision out[4];
    struct decisions_kept *k = decisions_kept_new(2);
    struct buffer text = {0};
    while (text.len + 1 < DECISIONS_KEPT_MESSAGE)
        buffer_add_text(&text, "x");
    buffer_add_text(&text, "\xe2\x80\xa6 and more");
    add(k, "p", 1, text.at);
    assert_int_equal(ask(k, "p", out), 1);
    assert_int_equal(out[0].message.len, DECISIONS_KEPT_MESSAGE - 1);
    buffer_free(&text);
    decisions_kept_free(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_comes_first),
        cmocka_unit_test(the_latest_have_names),
        cmocka_unit_test(the_oldest_gives_way),
        cmocka_unit_test(no_more_are_told_than_there_is_room_for),
        cmocka_unit_test(none_are_kept_where_none_are_wanted),
        cmocka_unit_test(a_long_message_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
