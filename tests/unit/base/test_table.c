/* test_table: a table against a plain array as its model, under churn that leaves marks of removed
 * things behind, with hashes that collide, and walks that remove what they are shown. */
#include "proto/base/random.h"
#include "proto/base/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define THINGS 600

static int things[THINGS];

static bool is_number(const void *thing, const void *key)
{
    return *(const int *)thing == *(const int *)key;
}

/* Few distinct hashes, so that different things share one. */
static uint32_t hash_of(int i)
{
    return table_hash((uint64_t)i % 50);
}

static void check_against(const struct table *t, const bool *there)
{
    size_t count = 0, at = 0, walked = 0;
    for (int i = 0; i < THINGS; i++) {
        assert_ptr_equal(table_get(t, hash_of(i), is_number, &i), there[i] ? &things[i] : NULL);
        count += there[i];
    }
    assert_int_equal(t->count, count);
    for (const int *thing; (thing = table_next(t, &at)) != NULL; walked++)
        assert_true(there[*thing]);
    assert_int_equal(walked, count);
}

static void it_holds_what_was_added_and_not_removed(void **state)
{
    (void)state;
    struct table t = {0};
    struct random random = {.state = 7};
    bool there[THINGS] = {false};
    for (int i = 0; i < THINGS; i++)
        things[i] = i;
    for (int step = 0; step < 20000; step++) {
        int i = (int)(random_next(&random) % THINGS);
        if (there[i])
            table_remove(&t, hash_of(i), &things[i]);
        else
            table_add(&t, hash_of(i), &things[i]);
        there[i] = !there[i];
        if (step % 500 == 0)
            check_against(&t, there);
    }
    check_against(&t, there);
    assert_true(t.used * 8 <= t.room * 7);
    table_free(&t);
    assert_int_equal(t.count, 0);
}

static void a_thing_is_replaced_in_its_place(void **state)
{
    (void)state;
    struct table t = {0};
    int one = 1, same = 1, two = 2;
    table_add(&t, hash_of(1), &one);
    table_add(&t, hash_of(1), &two);
    table_replace(&t, hash_of(1), &one, &same);
    assert_ptr_equal(table_get(&t, hash_of(1), is_number, &one), &same);
    assert_ptr_equal(table_get(&t, hash_of(1), is_number, &two), &two);
    assert_int_equal(t.count, 2);
    table_free(&t);
}

static void a_walk_may_remove_all(void **state)
{
    (void)state;
    struct table t = {0};
    size_t at = 0;
    int *thing;
    for (int i = 0; i < THINGS; i++) {
        things[i] = i;
        table_add(&t, hash_of(i), &things[i]);
    }
    while ((thing = table_next(&t, &at)) != NULL)
        table_remove(&t, hash_of(*thing), thing);
    assert_int_equal(t.count, 0);
    at = 0;
    assert_null(table_next(&t, &at));
    table_free(&t);
}

static void an_empty_one_holds_nothing(void **state)
{
    (void)state;
    struct table t = {0};
    size_t at = 0;
    int key = 3;
    assert_null(table_get(&t, hash_of(3), is_number, &key));
    assert_null(table_next(&t, &at));
    assert_true(table_hash(0) > 1); /* the two that mean an empty place */
    table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_holds_what_was_added_and_not_removed),
        cmocka_unit_test(a_thing_is_replaced_in_its_place),
        cmocka_unit_test(a_walk_may_remove_all),
        cmocka_unit_test(an_empty_one_holds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
