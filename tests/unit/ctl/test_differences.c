/* test_differences: what several processes hold, look by look: what stays is told, what moves is
 * not. */
#include "ctl/doctor/differences.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SET STR_LITERAL("assigned")

static struct differences d;

static int start(void **state)
{
    (void)state;
    d = (struct differences){0};
    return 0;
}

static int stop(void **state)
{
    (void)state;
    differences_free(&d);
    return 0;
}

static struct held_thing thing(const char *uid, int64_t version, const char *node)
{
    return (struct held_thing){STR_LITERAL("default/p"), str_of(uid), version, str_of(node)};
}

static struct side side(const char *who, const struct held_thing *things, uint32_t count,
                        int64_t sequence)
{
    return (struct side){str_of(who), things, count, 1, sequence};
}

/* One look at a watcher and a queue that hold one thing each, or nothing. */
static void look(const struct held_thing *has, const struct held_thing *should, int64_t sequence)
{
    struct side watcher = side("watcher", should, should != NULL, 10);
    struct side queue = side("queue", has, has != NULL, sequence);
    differences_look(&d);
    differences_compare(&d, SET, &watcher, &queue, 1);
}

static void what_is_alike_is_no_difference(void **state)
{
    struct held_thing a = thing("u", 3, "n");
    (void)state;
    look(&a, &a, 10);
    assert_int_equal(differences_count_open(&d), 0);
}

static void what_stays_is_settled_with_the_third_look(void **state)
{
    struct held_thing a = thing("u", 3, "n");
    (void)state;
    look(&a, NULL, 10);
    look(&a, NULL, 10);
    assert_int_equal(differences_count_open(&d), 1);
    assert_int_equal(differences_count_settled(&d), 0);
    look(&a, NULL, 10);
    assert_int_equal(differences_count_settled(&d), 1);
    assert_int_equal(d.at[0]->kind, DIFFERENCE_extra);
    assert_true(str_is(d.at[0]->who, "queue") && str_is(d.at[0]->than, "watcher"));
    look(&a, &a, 10); /* and is over with the first that does not show it */
    assert_int_equal(differences_count_open(&d), 0);
}

static void what_is_lacking_is_told_of(void **state)
{
    struct held_thing a = thing("u", 3, "n");
    (void)state;
    for (int i = 0; i < 3; i++)
        look(NULL, &a, 10);
    assert_int_equal(differences_count_settled(&d), 1);
    assert_int_equal(d.at[0]->kind, DIFFERENCE_lacks);
    assert_true(str_is(d.at[0]->should.uid, "u"));
}

static void what_changes_in_between_never_settles(void **state)
{
    (void)state;
    for (int i = 0; i < 9; i++) {
        struct held_thing has = thing("u", i, "n"), should = thing("u", i + 1, "n");
        look(&has, &should, 10 + i);
        assert_int_equal(differences_count_open(&d), i > 0); /* version 0 is none */
        assert_int_equal(differences_count_settled(&d), 0);
    }
}

static void who_comes_and_goes_never_settles(void **state)
{
    struct held_thing a = thing("u", 3, "n");
    (void)state;
    for (int i = 0; i < 4; i++) {
        look(&a, NULL, 10);
        look(&a, NULL, 10);
        look(&a, &a, 10);
    }
    look(&a, NULL, 10);
    assert_int_equal(differences_count_settled(&d), 0);
}

/* It may be on its way. */
static void who_has_not_caught_up_is_not_blamed(void **state)
{
    struct held_thing a = thing("u", 3, "n");
    (void)state;
    for (int i = 0; i < 5; i++)
        look(&a, NULL, 9);
    assert_int_equal(differences_count_open(&d), 1);
    assert_int_equal(differences_count_settled(&d), 0);
    look(&a, NULL, 10);
    assert_int_equal(differences_count_settled(&d), 1);
}

static void nor_who_follows_another_life_of_the_stream(void **state)
{
    struct held_thing a = thing("u", 3, "n");
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct side watcher = side("watcher", NULL, 0, 10), queue = side("queue", &a, 1, 99);
        queue.epoch = 7;
        differences_look(&d);
        differences_compare(&d, SET, &watcher, &queue, 1);
    }
    assert_int_equal(differences_count_settled(&d), 0);
}

static void nodes_and_versions_count(void **state)
{
    struct held_thing has[] = {thing("u", 3, "a"), thing("v", 4, "n"), thing("w", 0, "n")};
    struct held_thing should[] = {thing("u", 3, "b"), thing("v", 5, "n"), thing("w", 9, "n")};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct side watcher = side("watcher", should, 3, 10), queue = side("queue", has, 3, 10);
        differences_look(&d);
        differences_compare(&d, SET, &watcher, &queue, 1);
    }
    assert_int_equal(differences_count_settled(&d), 2); /* w's version is not kept */
    assert_int_equal(d.at[0]->kind, DIFFERENCE_node);
    assert_int_equal(d.at[1]->kind, DIFFERENCE_version);
}

static void workers_hold_it_together(void **state)
{
    struct held_thing all[] = {thing("u", 0, "a"), thing("v", 0, "b"), thing("w", 0, "b")};
    struct held_thing odd[] = {thing("v", 0, "b"), thing("x", 0, "b")};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct side scheduler = side("scheduler", all, 3, 10);
        struct side workers[] = {side("worker-1", &all[0], 1, 0), side("worker-2", odd, 2, 0)};
        workers[0].epoch = workers[1].epoch = 0;
        differences_look(&d);
        differences_compare(&d, STR_LITERAL("share-pods"), &scheduler, workers, 2);
    }
    assert_int_equal(differences_count_settled(&d), 2);
    assert_true(str_is(d.at[0]->who, "workers") && str_is(d.at[0]->should.uid, "w"));
    assert_true(str_is(d.at[1]->who, "worker-2") && str_is(d.at[1]->has.uid, "x"));
}

static void so_many_are_kept_and_no_more(void **state)
{
    static struct held_thing many[DIFFERENCES_MAX + 5];
    static char uids[DIFFERENCES_MAX + 5][8];
    (void)state;
    for (int i = 0; i < DIFFERENCES_MAX + 5; i++) {
        for (int c = 0, n = i; c < 7; c++, n /= 10)
            uids[i][c] = (char)('0' + n % 10);
        many[i] = thing(uids[i], 1, "n");
    }
    struct side watcher = side("watcher", NULL, 0, 10);
    struct side queue = side("queue", many, DIFFERENCES_MAX + 5, 10);
    differences_look(&d);
    differences_compare(&d, SET, &watcher, &queue, 1);
    assert_int_equal(d.count, DIFFERENCES_MAX);
    assert_int_equal(d.dropped, 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_alike_is_no_difference),
        TEST(what_stays_is_settled_with_the_third_look),
        TEST(what_is_lacking_is_told_of),
        TEST(what_changes_in_between_never_settles),
        TEST(who_comes_and_goes_never_settles),
        TEST(who_has_not_caught_up_is_not_blamed),
        TEST(nor_who_follows_another_life_of_the_stream),
        TEST(nodes_and_versions_count),
        TEST(workers_hold_it_together),
        TEST(so_many_are_kept_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
