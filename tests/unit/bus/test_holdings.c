/* test_holdings: digests need no order and can be added up; things come in parts, of the set that
 * was asked for alone. */
#include "proto/bus/holdings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static struct held_thing thing(const char *uid, int64_t version, const char *node)
{
    return (struct held_thing){STR_LITERAL("default/p"), str_of(uid), version, str_of(node)};
}

static struct held_set set_of(const struct held_thing *things, size_t count)
{
    struct held_set set = held_set_of(STR_LITERAL("pods"));
    for (size_t i = 0; i < count; i++)
        held_set_add(&set, &things[i]);
    return set;
}

static void digests_need_no_order_and_add_up(void **state)
{
    struct held_thing ab[] = {thing("a", 1, "n"), thing("b", 2, "m")};
    struct held_thing ba[] = {ab[1], ab[0]};
    struct held_set x = set_of(ab, 2), y = set_of(ba, 2);
    struct held_set a = set_of(ab, 1), b = set_of(ba, 1);
    (void)state;
    assert_true(x.digest == y.digest && x.versions == y.versions);
    assert_true((uint64_t)a.digest + (uint64_t)b.digest == (uint64_t)x.digest);
    assert_int_equal(x.count, 2);
}

static void what_is_otherwise_has_another_digest(void **state)
{
    struct held_thing one = thing("a", 1, "n"), node = thing("a", 1, "m"), uid = thing("b", 1, "n");
    struct held_thing version = thing("a", 2, "n"), named = one;
    (void)state;
    named.name = STR_LITERAL("q"); /* which a worker knows otherwise */
    assert_true(set_of(&one, 1).digest != set_of(&node, 1).digest);
    assert_true(set_of(&one, 1).digest != set_of(&uid, 1).digest);
    assert_true(set_of(&one, 1).digest == set_of(&version, 1).digest);
    assert_true(set_of(&one, 1).versions != set_of(&version, 1).versions);
    assert_true(set_of(&one, 1).digest == set_of(&named, 1).digest);
}

static void things_come_in_parts(void **state)
{
    struct outbox out = {0};
    struct arena a = {0};
    struct holder h;
    struct message m = {.type = MSG_holdings_request,
                        .holdings_request = {.id = 7, .list = STR_LITERAL("pods")}};
    struct delivery in = {.from = {TOOL, 3}, .message = &m};
    int64_t things = 0;
    (void)state;
    holder_begin(&h, &in, &out);
    h.said.whole = true;
    holder_set(&h, STR_LITERAL("nodes"));
    holder_add(&h, &(struct held_thing){.name = STR_LITERAL("n")});
    holder_set(&h, STR_LITERAL("pods"));
    for (int i = 0; i < 4100; i++) {
        char uid[16];
        snprintf(uid, sizeof(uid), "u-%d", i);
        struct held_thing t = thing(uid, i, "n");
        holder_add(&h, &t);
    }
    holder_end(&h);
    assert_int_equal(out.count, 3);
    for (size_t i = 0; i < out.count; i++) {
        assert_true(outbox_get(&out, i, &m, &a));
        assert_int_equal(m.holdings.id, 7);
        assert_int_equal(m.holdings.part, i + 1);
        assert_int_equal(m.holdings.last, i == 2);
        assert_int_equal(m.holdings.sets.count, i == 2 ? 2 : 0);
        things += m.holdings.things.count;
    }
    assert_int_equal(things, 4100);
    assert_true(m.holdings.whole);
    assert_int_equal(m.holdings.sets.at[1].count, 4100);
    outbox_free(&out);
    arena_free(&a);
}

static void without_a_list_there_is_one_part(void **state)
{
    struct outbox out = {0};
    struct arena a = {0};
    struct holder h;
    struct str names[] = {STR_LITERAL("mine")};
    struct message m = {.type = MSG_holdings_request,
                        .holdings_request = {.id = 8, .schedulers = {1, names}}};
    struct delivery in = {.from = {TOOL, 3}, .message = &m};
    (void)state;
    holder_begin(&h, &in, &out);
    assert_true(holder_wants(&h, STR_LITERAL("mine")));
    assert_false(holder_wants(&h, STR_LITERAL("yours")));
    holder_set(&h, STR_LITERAL("pods"));
    for (int i = 0; i < 5000; i++) {
        struct held_thing t = thing("u", 1, "n");
        holder_add(&h, &t);
    }
    holder_end(&h);
    assert_int_equal(out.count, 1);
    assert_true(outbox_get(&out, 0, &m, &a));
    assert_int_equal(m.holdings.things.count, 0);
    assert_int_equal(m.holdings.sets.at[0].count, 5000);
    outbox_free(&out);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_need_no_order_and_add_up),
        cmocka_unit_test(what_is_otherwise_has_another_digest),
        cmocka_unit_test(things_come_in_parts),
        cmocka_unit_test(without_a_list_there_is_one_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
