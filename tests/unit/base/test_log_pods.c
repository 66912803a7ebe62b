/* test_log_pods: whom full detail is asked for, for how long, and which texts speak of one. */
#include "proto/base/log.h"
#include "proto/base/log_pods.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define AT(ms) ((struct moment){(ms)*1000000LL + 1})

static int begin(void **state)
{
    (void)state;
    log_open("test", LOG_LEVEL_error);
    log_pods_reset();
    return 0;
}

static bool watch(const char *name, int64_t for_ms, int64_t now_ms)
{
    return log_pods_watch(STR_LITERAL("ns"), str_of(name), for_ms, AT(now_ms));
}

static void it_ends_by_itself(void **state)
{
    (void)state;
    assert_false(log_pods_in("pod=ns/a"));
    assert_true(watch("a", 100, 0));
    assert_true(watch("b", 300, 0));
    assert_true(watch("a", 200, 0)); /* a new end */
    assert_int_equal(log_pods_count(), 2);
    assert_int_equal(log_pods_expire(AT(199)), 0);
    assert_true(log_pods_in("pod=ns/a"));
    assert_int_equal(log_pods_expire(AT(200)), 1);
    assert_false(log_pods_in("pod=ns/a"));
    assert_true(log_pods_in("pod=ns/b"));
    assert_true(watch("b", 0, 250)); /* no more */
    assert_true(watch("c", 0, 250));
    assert_int_equal(log_pods_count(), 0);
}

static void it_is_bounded(void **state)
{
    char name[16];
    (void)state;
    assert_false(watch("a", LOG_PODS_MOST_MS + 1, 0));
    assert_false(watch("a", -1, 0));
    assert_false(watch("", 10, 0));
    for (int i = 0; i < LOG_PODS_MAX; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        assert_true(watch(name, 10, 0));
    }
    assert_false(watch("more", 10, 0));
    assert_true(watch("p3", 20, 0));
    assert_int_equal(log_pods_expire(AT(10)), LOG_PODS_MAX - 1);
    assert_true(watch("more", 10, 10));
}

static void a_word_is_a_whole_one(void **state)
{
    (void)state;
    assert_true(watch("a", 100, 0));
    assert_true(log_pods_in("placed| pod=ns/a node=n"));
    assert_true(log_pods_in("\"ns/a\""));
    assert_false(log_pods_in("pod=ns/ab"));
    assert_false(log_pods_in("pod=ns/a-1"));
    assert_false(log_pods_in("pod=other-ns/a"));
    assert_true(log_pods_in("pod=ns/ab also=ns/a"));
}

static void its_uid_is_learnt(void **state)
{
    const struct str ns = STR_LITERAL("ns"), a = STR_LITERAL("a"), none = {NULL, 0};
    (void)state;
    assert_true(watch("a", 100, 0));
    assert_false(log_pods_is(none, none, STR_LITERAL("u1")));
    assert_false(log_pods_is(ns, STR_LITERAL("b"), STR_LITERAL("u1")));
    assert_false(log_pods_in("uid=u1"));
    assert_true(log_pods_is(ns, a, STR_LITERAL("u1")));
    assert_true(log_pods_is(none, none, STR_LITERAL("u1")));
    assert_true(log_pods_in("uid=u1"));
    assert_true(log_pods_is(ns, a, STR_LITERAL("u2"))); /* it was made anew */
    assert_false(log_pods_is(none, none, STR_LITERAL("u1")));
    assert_true(log_pods_is(ns, a, none));
    assert_true(log_pods_in("uid=u2"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        TEST(it_ends_by_itself),
        TEST(it_is_bounded),
        TEST(a_word_is_a_whole_one),
        TEST(its_uid_is_learnt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
