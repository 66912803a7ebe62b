/* test_picking: nodes for pods unlike each other, from what workers say of them: the best that no
 * pod before goes to, each of several equals as likely as any, and what becomes of that when the
 * nodes that get a pod are looked at again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>

#include "scheduler/merge/picking.h"

#define WORKERS 3

static struct picking *picking;

static int setup(void **state)
{
    (void)state;
    picking = picking_new(WORKERS);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    picking_free(&picking);
    return 0;
}

static struct node_pick pick(const char *node, int64_t total, int64_t ties)
{
    return (struct node_pick){
        .node = str_of(node), .total = total, .ties = ties, .feasible = ties > 0 ? ties + 1 : 0};
}

static bool says(uint32_t worker, struct node_pick *picks, uint32_t count)
{
    const struct map_picks_result said = {.cycle = 1, .round = 1, .picks = {count, picks}};
    return picking_take(picking, worker, &said);
}

static const struct picking_dice first = {TIE_BREAK_first, 0};

static const char *chosen(uint32_t pod, const struct picking_dice *dice, struct picked *out)
{
    static char name[32];
    if (!picking_choose(picking, pod, dice, out))
        return "nobody";
    snprintf(name, sizeof(name), "%.*s", STR_ARG(out->node));
    return name;
}

static void the_best_of_all_workers_is_chosen(void **state)
{
    (void)state;
    struct node_pick one[] = {pick("a1", 10, 1), pick("a2", 7, 2)};
    struct node_pick two[] = {pick("b1", 9, 1), pick("b2", 8, 1)};
    struct picked at;
    picking_begin(picking, 2, 2);
    assert_true(says(0, one, 2) && says(1, two, 2));
    assert_int_equal(picking_told(picking), 2);
    assert_string_equal(chosen(0, &first, &at), "a1");
    assert_int_equal(at.total, 10);
    assert_int_equal(at.feasible, 4);
    assert_int_equal(at.from, 0);
    assert_string_equal(chosen(1, &first, &at), "b2");
    assert_int_equal(at.from, 1);
    assert_int_equal(at.pick, 1);
}

static void a_node_that_was_picked_before_is_as_good_while_nobody_goes_there(void **state)
{
    (void)state;
    struct pick_rival better = {.pick = 0, .total = 20};
    struct node_pick one[] = {pick("a1", 10, 1), pick("a2", 7, 1)};
    struct node_pick two[] = {pick("b1", 30, 1), pick("b2", 8, 1)};
    struct picked at;
    one[1].rivals.count = 1;
    one[1].rivals.at = &better;
    picking_begin(picking, 2, 2);
    assert_true(says(0, one, 2) && says(1, two, 2));
    assert_string_equal(chosen(0, &first, &at), "b1");
    assert_string_equal(chosen(1, &first, &at), "a1");
    assert_int_equal(at.total, 20);
    assert_int_equal(at.pick, 0);

    two[0].total = 9; /* now the first pod goes to a1 itself */
    picking_begin(picking, 2, 2);
    assert_true(says(0, one, 2) && says(1, two, 2));
    assert_string_equal(chosen(0, &first, &at), "a1");
    assert_string_equal(chosen(1, &first, &at), "b2");
}

/* Four nodes tie: two free ones of the first worker, one that it picked before, one of the second.
 */
static void each_of_several_equals_is_as_likely(void **state)
{
    (void)state;
    enum { THROWS = 40000 };
    int counts[3] = {0};
    for (int64_t seed = 0; seed < THROWS; seed++) {
        struct node_pick one[] = {pick("a1", 5, 1), pick("a2", 7, 2)};
        struct node_pick two[] = {pick("b1", 6, 1), pick("b2", 7, 1)};
        const struct picking_dice dice = {TIE_BREAK_random, seed};
        struct picked at;
        one[1].tied = 1;
        picking_begin(picking, 2, 2);
        assert_true(says(0, one, 2) && says(1, two, 2));
        assert_string_equal(chosen(0, &dice, &at), "b1");
        const char *name = chosen(1, &dice, &at);
        assert_int_equal(at.ties, 4);
        counts[name[0] == 'b' ? 2 : name[1] == '1' ? 0 : 1]++;
    }
    assert_in_range(counts[0], THROWS / 4 - THROWS / 50, THROWS / 4 + THROWS / 50);
    assert_in_range(counts[1], THROWS / 2 - THROWS / 50, THROWS / 2 + THROWS / 50);
    assert_in_range(counts[2], THROWS / 4 - THROWS / 50, THROWS / 4 + THROWS / 50);
}

static void of_equals_the_first_by_name_is_taken_if_that_is_asked_for(void **state)
{
    (void)state;
    struct node_pick one[] = {pick("c1", 5, 1), pick("c2", 7, 2)};
    struct node_pick two[] = {pick("d1", 6, 1), pick("b2", 7, 1)};
    struct picked at;
    one[1].tied = 1;
    picking_begin(picking, 2, 2);
    assert_true(says(0, one, 2) && says(1, two, 2));
    assert_string_equal(chosen(0, &first, &at), "d1");
    assert_string_equal(chosen(1, &first, &at), "b2");
}

static void where_all_nodes_are_taken_or_something_failed_nobody_is_chosen(void **state)
{
    (void)state;
    struct pick_rival only = {.pick = 0, .total = 3};
    struct node_pick one[] = {
        pick("a1", 10, 1), {.feasible = 1, .rivals = {1, &only}}, {.fails = true}};
    struct picked at;
    picking_begin(picking, 1, 3);
    assert_true(says(0, one, 3));
    assert_string_equal(chosen(0, &first, &at), "a1");
    assert_string_equal(chosen(1, &first, &at), "nobody");
    assert_string_equal(chosen(2, &first, &at), "nobody");
}

/* ---- the check ---- */

static enum picking_verdict check(struct checked_node *changed, uint32_t count, bool narrows,
                                  struct picked *at)
{
    struct node_pick one[] = {pick("a1", 10, 1), pick("a2", 7, 1)};
    const struct map_checked said = {.cycle = 1, .round = 1, .changed = {count, changed}};
    picking_begin(picking, 1, 2);
    assert_true(says(0, one, 2));
    assert_string_equal(chosen(0, &first, at), "a1");
    assert_string_equal(chosen(1, &first, at), "a2");
    assert_true(picking_take_checked(picking, 0, 2, &said));
    return picking_check(picking, 1, narrows, &first, at);
}

static void a_place_stands_while_no_node_with_a_pod_is_better(void **state)
{
    (void)state;
    struct picked at;
    struct checked_node worse = {.pod = 1, .node = STR_LITERAL("a1"), .total = 6};
    struct checked_node better = {.pod = 1, .node = STR_LITERAL("a1"), .total = 8};
    struct checked_node as_good = {.pod = 1, .node = STR_LITERAL("a1"), .total = 7};
    assert_int_equal(check(NULL, 0, false, &at), PICKING_stands);
    assert_int_equal(check(&worse, 1, false, &at), PICKING_stands);
    assert_true(str_equal(at.node, STR_LITERAL("a2")) && at.total == 7);
    assert_int_equal(check(&better, 1, false, &at), PICKING_other);
    assert_true(str_equal(at.node, STR_LITERAL("a1")) && at.total == 8);
    assert_int_equal(check(&as_good, 1, false, &at), PICKING_other); /* the first by name */
    assert_true(str_equal(at.node, STR_LITERAL("a1")) && at.total == 7);
}

static void a_node_that_passes_no_more_matters_where_ranges_hang_on_it(void **state)
{
    (void)state;
    struct picked at;
    struct checked_node rejected = {.pod = 1, .node = STR_LITERAL("a1"), .rejected = true};
    struct checked_node fails = {.pod = 1, .node = STR_LITERAL("a1"), .fails = true};
    assert_int_equal(check(&rejected, 1, false, &at), PICKING_stands);
    assert_int_equal(check(&rejected, 1, true, &at), PICKING_unknown);
    assert_int_equal(check(&fails, 1, false, &at), PICKING_unknown);
}

/* ---- nonsense ---- */

static void nonsense_counts_as_nothing_said(void **state)
{
    (void)state;
    struct pick_rival late = {.pick = 1, .total = 1}, odd = {.pick = -1, .total = 1};
    struct node_pick good[] = {pick("a1", 1, 1), pick("a2", 1, 1)};
    struct node_pick bad[6][2];
    for (int i = 0; i < 6; i++) {
        bad[i][0] = good[0];
        bad[i][1] = good[1];
    }
    bad[0][1].feasible = -1;
    bad[1][1].ties = -1;
    bad[2][1].ties = INT64_MAX;
    bad[3][1].rivals.count = 1;
    bad[3][1].rivals.at = &late;
    bad[4][1].rivals.count = 1;
    bad[4][1].rivals.at = &odd;
    bad[5][1].tied = 2;
    for (int i = 0; i < 6; i++) {
        picking_begin(picking, 2, 2);
        assert_true(says(0, good, 2));
        assert_false(says(1, bad[i], 2));
        assert_int_equal(picking_told(picking), 0);
    }
    struct node_pick many[PICKS_MAX + 1];
    for (int i = 0; i <= PICKS_MAX; i++)
        many[i] = pick("a", 1, 1);
    picking_begin(picking, 1, 2);
    assert_false(says(0, many, PICKS_MAX + 1));
    picking_begin(picking, 1, 1);
    assert_true(says(0, good, 2)); /* of more pods than were asked about: the first */
    assert_int_equal(picking_told(picking), 1);
}

static void nonsense_about_a_check_is_noticed(void **state)
{
    (void)state;
    struct checked_node of_first = {.pod = 0}, behind = {.pod = 2}, before = {.pod = -1};
    struct checked_node *all[] = {&of_first, &behind, &before};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        const struct map_checked said = {.changed = {1, all[i]}};
        picking_begin(picking, 1, 2);
        assert_false(picking_take_checked(picking, 0, 2, &said));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_best_of_all_workers_is_chosen),
        TEST(a_node_that_was_picked_before_is_as_good_while_nobody_goes_there),
        TEST(each_of_several_equals_is_as_likely),
        TEST(of_equals_the_first_by_name_is_taken_if_that_is_asked_for),
        TEST(where_all_nodes_are_taken_or_something_failed_nobody_is_chosen),
        TEST(a_place_stands_while_no_node_with_a_pod_is_better),
        TEST(a_node_that_passes_no_more_matters_where_ranges_hang_on_it),
        TEST(nonsense_counts_as_nothing_said),
        TEST(nonsense_about_a_check_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
