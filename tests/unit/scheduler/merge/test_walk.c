/* test_walk: over how many nodes a pod is decided, and over which, where percentageOfNodesToScore
 * is set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>

#include "scheduler/merge/walk.h"

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

/* A node's place is in its name: n000 is the first. */
static uint32_t place(const void *context, struct str node)
{
    int64_t number = 0;
    (void)context;
    assert_true(str_to_i64((struct str){node.at + 1, node.len - 1}, &number));
    return (uint32_t)number;
}

/* As kube-scheduler's own table of numFeasibleNodesToFind has it. */
static void as_many_are_wanted_as_upstream_looks_for(void **state)
{
    (void)state;
    const struct {
        int64_t percentage, nodes, wanted;
    } table[] = {{0, 10, 10},    {40, 10, 10},     {0, 1000, 420},  {40, 1000, 400},
                 {0, 6000, 300}, {40, 6000, 2400}, {100, 300, 300}, {1, 99, 99},
                 {1, 100, 100},  {1, 101, 100},    {50, 190, 100},  {0, 100000, 5000}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const struct walk w = {.ends = true, .percentage = table[i].percentage};
        assert_int_equal(walk_wanted(&w, table[i].nodes), table[i].wanted);
    }
    const struct walk first = {.ends = true, .first = true, .percentage = 50};
    assert_int_equal(walk_wanted(&first, 1000), 1);
}

/* Every other of 300 nodes is feasible. */
static struct strs feasible(void)
{
    struct strs names = {0, arena_take(&arena, 150 * sizeof(struct str))};
    for (int i = 0; i < 300; i += 2)
        names.at[names.count++] = arena_print(&arena, "n%03d", i);
    return names;
}

static void the_walk_ends_at_the_first_node_too_many(void **state)
{
    (void)state;
    struct strs names = feasible();
    const struct walk w = {.ends = true, .percentage = 10, .nodes = 300, .place = place};
    assert_int_equal(walk_cut(&w, 300, &names, &arena), 200); /* 100 feasible ones, n200 ends it */
    assert_int_equal(names.count, 100);
    assert_true(str_is(names.at[0], "n000"));
    assert_true(str_is(names.at[99], "n198"));
}

static void it_goes_round(void **state)
{
    (void)state;
    struct strs names = feasible();
    const struct walk w = {
        .ends = true, .percentage = 10, .start = 251, .nodes = 300, .place = place};
    assert_int_equal(walk_cut(&w, 300, &names, &arena), 201); /* n252 … n298, n000 … n150 */
    assert_int_equal(names.count, 100);
    assert_true(str_is(names.at[0], "n000"));
    assert_true(str_is(names.at[75], "n150"));
    assert_true(str_is(names.at[76], "n252"));
}

static void few_feasible_nodes_take_a_walk_over_all(void **state)
{
    (void)state;
    struct strs names = feasible();
    names.count = 100;
    const struct walk w = {.ends = true, .percentage = 10, .nodes = 300, .place = place};
    assert_int_equal(walk_cut(&w, 300, &names, &arena), 300);
    assert_int_equal(names.count, 100);
}

static void a_walk_that_does_not_end_leaves_all(void **state)
{
    (void)state;
    struct strs names = feasible();
    const struct walk w = {.nodes = 300};
    assert_int_equal(walk_cut(&w, 300, &names, &arena), 300);
    assert_int_equal(names.count, 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_are_wanted_as_upstream_looks_for),
        cmocka_unit_test(the_walk_ends_at_the_first_node_too_many),
        cmocka_unit_test(it_goes_round),
        cmocka_unit_test(few_feasible_nodes_take_a_walk_over_all),
        cmocka_unit_test(a_walk_that_does_not_end_leaves_all),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
