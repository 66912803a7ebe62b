/* test_comparer: names come in parts, a list that is not whole is not compared, and what differs is
 * told in both directions. */
#include "proto/comparer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct comparer comparer;

static bool take(int64_t id, int64_t part, bool last, const char *node, const char *uid)
{
    struct str nodes[] = {str_of(node)};
    struct named_pod pods[] = {{.uid = str_of(uid), .scheduler_name = STR_LITERAL("mine")}};
    struct names said = {.id = id, .part = part, .last = last};
    said.nodes = (struct strs){1, nodes};
    said.pods.count = 1;
    said.pods.at = pods;
    return comparer_take(&comparer, &said);
}

static void parts_make_a_whole(void **state)
{
    (void)state;
    assert_false(take(7, 1, false, "a", "u-1"));
    assert_true(take(7, 2, true, "b", "u-2"));
    assert_int_equal(map_count(comparer.nodes), 2);
    const struct name_told *pod = map_get(comparer.pods, str_of("u-1"));
    assert_non_null(pod);
    assert_true(str_is(pod->scheduler_name, "mine"));
    comparer_clear(&comparer);
}

static void a_gap_or_another_list_drops_it(void **state)
{
    (void)state;
    assert_false(take(7, 2, true, "b", "u-2")); /* the beginning was not seen */
    assert_false(take(7, 1, false, "a", "u-1"));
    assert_false(take(7, 3, true, "c", "u-3"));
    assert_false(take(8, 1, false, "a", "u-1"));
    assert_false(take(9, 2, true, "b", "u-2"));
    assert_null(comparer.nodes);
    assert_true(take(9, 1, true, "a", "u-1"));
    assert_int_equal(map_count(comparer.pods), 1);
    comparer_clear(&comparer);
}

static void many_names_are_counted(void **state)
{
    struct mismatch m = {0};
    (void)state;
    for (int i = 0; i < 1000; i++)
        mismatch_missed(&m, str_of("a-name-of-a-node"));
    mismatch_redundant(&m, str_of("b"));
    assert_int_equal(m.missed_count, 1000);
    assert_true(m.missed.len < 800);
    assert_string_equal(m.redundant.at, "b");
    mismatch_log(&m, "Nodes");
    assert_int_equal(m.missed_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_make_a_whole),
        cmocka_unit_test(a_gap_or_another_list_drops_it),
        cmocka_unit_test(many_names_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
