/* test_map: a map against a plain array as its model, under churn that leaves tombstones behind,
 * and walks that remove what they are shown. */
#include "proto/base/map.h"
#include "proto/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define KEYS 500

static int values[KEYS];

static struct str key_of(int i, char *room, size_t size)
{
    return (struct str){room, (uint32_t)snprintf(room, size, "namespace-%d/pod", i)};
}

static void keys_are_copied_and_values_are_borrowed(void **state)
{
    (void)state;
    struct map *map = map_new();
    char text[] = "key";
    int one, two;
    assert_null(map_get(map, STR_LITERAL("key")));
    assert_null(map_set(map, str_of(text), &one));
    text[0] = 'x';
    assert_ptr_equal(map_get(map, STR_LITERAL("key")), &one);
    assert_ptr_equal(map_set(map, STR_LITERAL("key"), &two), &one);
    assert_int_equal(map_count(map), 1);
    assert_ptr_equal(map_remove(map, STR_LITERAL("key")), &two);
    assert_null(map_remove(map, STR_LITERAL("key")));
    assert_int_equal(map_count(map), 0);
    map_free(&map);
    assert_null(map);
    map_free(&map);
}

static void any_bytes_are_a_key(void **state)
{
    (void)state;
    struct map *map = map_new();
    int empty, zero, prefix;
    map_set(map, (struct str){NULL, 0}, &empty);
    map_set(map, (struct str){"a\0b", 3}, &zero);
    map_set(map, (struct str){"a", 1}, &prefix);
    assert_ptr_equal(map_get(map, STR_LITERAL("")), &empty);
    assert_ptr_equal(map_get(map, (struct str){"a\0b", 3}), &zero);
    assert_ptr_equal(map_get(map, STR_LITERAL("a")), &prefix);
    assert_null(map_get(map, (struct str){"a\0", 2}));
    assert_ptr_equal(map_remove(map, (struct str){NULL, 0}), &empty);
    map_free(&map);
}

static void check_against(const struct map *map, const bool *there, size_t count)
{
    char room[40];
    bool seen[KEYS] = {false};
    assert_int_equal(map_count(map), count);
    for (int i = 0; i < KEYS; i++)
        assert_ptr_equal(map_get(map, key_of(i, room, sizeof(room))), there[i] ? &values[i] : NULL);
    size_t at = 0, walked = 0;
    struct str key;
    void *value;
    for (; map_next(map, &at, &key, &value); walked++) {
        int i = (int)((int *)value - values);
        assert_true(there[i] && !seen[i]);
        assert_true(str_equal(key, key_of(i, room, sizeof(room))));
        seen[i] = true;
    }
    assert_int_equal(walked, count);
}

static void churn_agrees_with_the_model(void **state)
{
    (void)state;
    struct random r = {7};
    struct map *map = map_new();
    bool there[KEYS] = {false};
    size_t count = 0;
    char room[40];
    for (int step = 0; step < 50000; step++) {
        /* In waves: mostly growing, then mostly shrinking. */
        bool add = random_below(&r, 10) < (step / 5000 % 2 ? 3 : 7);
        int i = (int)random_below(&r, KEYS);
        struct str key = key_of(i, room, sizeof(room));
        void *before = add ? map_set(map, key, &values[i]) : map_remove(map, key);
        assert_ptr_equal(before, there[i] ? &values[i] : NULL);
        count += (size_t)(add && !there[i]);
        count -= (size_t)(!add && there[i]);
        there[i] = add;
        if (step % 1000 == 0)
            check_against(map, there, count);
    }
    check_against(map, there, count);
    map_free(&map);
}

/* Keys that come once and go: every slot becomes a tombstone again and again, and a search that
 * misses must still end. */
static void tombstones_never_fill_the_map(void **state)
{
    (void)state;
    struct map *map = map_new();
    char room[40];
    for (int i = 0; i < 20000; i++) {
        map_set(map, key_of(i, room, sizeof(room)), &values[0]);
        assert_null(map_get(map, key_of(i + 1, room, sizeof(room))));
        assert_ptr_equal(map_remove(map, key_of(i, room, sizeof(room))), &values[0]);
    }
    assert_int_equal(map_count(map), 0);
    map_free(&map);
}

static void a_walk_may_remove_what_it_is_shown(void **state)
{
    (void)state;
    struct map *map = map_new();
    char room[40];
    for (int i = 0; i < KEYS; i++)
        map_set(map, key_of(i, room, sizeof(room)), &values[i]);
    size_t at = 0, walked = 0;
    void *value;
    for (; map_next(map, &at, NULL, &value); walked++) {
        int i = (int)((int *)value - values);
        if (i % 3 != 0)
            assert_ptr_equal(map_remove(map, key_of(i, room, sizeof(room))), value);
    }
    assert_int_equal(walked, KEYS);
    assert_int_equal(map_count(map), (KEYS + 2) / 3);
    for (int i = 0; i < KEYS; i++)
        assert_ptr_equal(map_get(map, key_of(i, room, sizeof(room))), i % 3 ? NULL : &values[i]);
    map_free(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_copied_and_values_are_borrowed),
        cmocka_unit_test(any_bytes_are_a_key),
        cmocka_unit_test(churn_agrees_with_the_model),
        cmocka_unit_test(tombstones_never_fill_the_map),
        cmocka_unit_test(a_walk_may_remove_what_it_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
