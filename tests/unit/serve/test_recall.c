/* test_recall: what strangers bring pushes out nothing that is known, answers are bounded, and what
 * was good is still there when it is too old. */
#include "ctl/serve/recall.h"

#include "proto/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct recall cache;
static int forgotten;

static void forget(struct recalled *r)
{
    forgotten++;
    memory_free(r);
}

static int set_up(void **state)
{
    (void)state;
    forgotten = 0;
    recall_init(&cache, forget);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    recall_free(&cache);
    return 0;
}

static struct moment at(int64_t ms)
{
    return (struct moment){ms * 1000000};
}

static const unsigned char *key(char kind, int number)
{
    static unsigned char out[RECALL_KEY_SIZE];
    memset(out, 0, sizeof(out));
    out[0] = (unsigned char)kind;
    memcpy(out + 1, &number, sizeof(number));
    return out;
}

static struct recalled *ask(char kind, int number)
{
    struct recalled *r = memory_take(sizeof(*r));
    memcpy(r->key, key(kind, number), RECALL_KEY_SIZE);
    recall_ask(&cache, r);
    return r;
}

static struct recalled *learn(char kind, int number, bool good, int64_t until_ms)
{
    struct recalled *r = ask(kind, number);
    recall_settle(&cache, r, good, at(until_ms));
    return r;
}

static void strangers_push_out_nothing_that_is_known(void **state)
{
    (void)state;
    struct recalled *scraper = learn('s', 0, true, 10000);
    for (int i = 0; i < 5000; i++)
        learn('x', i, false, 10000);
    assert_ptr_equal(recall_find(&cache, key('s', 0), at(1)), scraper);
    assert_int_equal(forgotten, 5000 - RECALL_BAD_MAX);
    assert_null(recall_find(&cache, key('x', 0), at(1)));
    assert_non_null(recall_find(&cache, key('x', 4999), at(1)));
}

static void of_good_answers_the_one_that_nobody_wanted_goes(void **state)
{
    (void)state;
    for (int i = 0; i < RECALL_GOOD_MAX; i++)
        learn('s', i, true, 10000);
    assert_non_null(recall_find(&cache, key('s', 0), at(1)));
    learn('s', RECALL_GOOD_MAX, true, 10000);
    assert_non_null(recall_find(&cache, key('s', 0), at(1)));
    assert_null(recall_find(&cache, key('s', 1), at(1)));
    assert_int_equal(forgotten, 1);
}

static void an_old_answer_is_kept_if_it_was_good(void **state)
{
    (void)state;
    struct recalled *good = learn('s', 0, true, 1000), *bad = learn('x', 0, false, 1000);
    assert_ptr_equal(recall_find(&cache, key('x', 0), at(999)), bad);
    assert_null(recall_find(&cache, key('x', 0), at(1000)));
    assert_ptr_equal(recall_find(&cache, key('s', 0), at(99999)), good);
    recall_ask(&cache, good); /* once more */
    assert_int_equal(good->kind, RECALL_asking);
    recall_settle(&cache, good, false, at(200000));
    assert_int_equal(cache.lists[RECALL_good].count, 0);
    assert_null(recall_find(&cache, key('s', 0), at(200000)));
}

static void what_is_being_asked_is_never_forgotten(void **state)
{
    (void)state;
    struct recalled *asked = ask('q', 0);
    for (int i = 0; i < 3000; i++)
        learn('x', i, i % 2 == 0, 10000);
    assert_ptr_equal(recall_find(&cache, key('q', 0), at(99999)), asked);
    assert_int_equal(asked->kind, RECALL_asking);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(strangers_push_out_nothing_that_is_known),
        TEST(of_good_answers_the_one_that_nobody_wanted_goes),
        TEST(an_old_answer_is_kept_if_it_was_good),
        TEST(what_is_being_asked_is_never_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
