/* label_index against a plain look at everything, over random things and nodes. */
#include "scheduler/table/label_index.h"

#include "proto/base/random.h"
#include "tests/unit/scheduler/cluster.h"

enum { THINGS = 60, ALTERNATIVES = 3, VALUES = 4, LABELS = 12 };

struct thing {
    uint32_t count; /* 0: asks for none */
    struct node_label labels[ALTERNATIVES];
};

static bool suits(const struct thing *t, const struct node_label *labels, uint32_t count)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->labels[i].key != 0 && t->labels[i].value != 0 &&
            label_value(labels, count, t->labels[i].key) == t->labels[i].value)
            return true;
    return t->count == 0;
}

static struct label_index *index_of(const struct thing *things, struct arena *a)
{
    struct label_index *x = label_index_make(THINGS * ALTERNATIVES, a);
    for (uint32_t i = 0; i < THINGS; i++) {
        for (uint32_t k = 0; k < things[i].count; k++)
            label_index_add(x, i, things[i].labels[k]);
        if (things[i].count == 0)
            label_index_add_any(x, i);
    }
    label_index_end(x);
    return x;
}

static void make_things(struct random *r, uint32_t keys, struct thing *things)
{
    for (uint32_t i = 0; i < THINGS; i++) {
        things[i].count = (uint32_t)random_below(r, ALTERNATIVES + 1);
        for (uint32_t k = 0; k < things[i].count; k++)
            things[i].labels[k] = (struct node_label){(uint32_t)random_below(r, keys + 1),
                                                      (uint32_t)random_below(r, VALUES + 1)};
    }
}

static uint32_t make_labels(struct random *r, uint32_t keys, struct node_label *labels)
{
    uint32_t count = 0;
    for (uint32_t key = 1; key <= keys && count < LABELS; key++)
        if (random_below(r, 3) > 0)
            labels[count++] = (struct node_label){key, 1 + (uint32_t)random_below(r, VALUES)};
    return count;
}

/* exactly: nothing is found that the labels rule out. */
static void compare(struct random *r, uint32_t keys, bool exactly)
{
    struct arena a = {0};
    struct thing things[THINGS];
    make_things(r, keys, things);
    const struct label_index *x = index_of(things, &a);
    for (int node = 0; node < 20; node++) {
        struct node_label labels[LABELS];
        uint32_t count = make_labels(r, keys, labels);
        uint32_t found = label_index_next(x, labels, count, 0);
        for (uint32_t i = 0; i < THINGS; i++) {
            if (found < i)
                found = label_index_next(x, labels, count, i);
            bool there = suits(&things[i], labels, count);
            assert_true(!there || found == i);
            assert_true(there || !exactly || found != i);
            assert_int_equal(label_index_next(x, labels, count, i), found);
        }
        assert_int_equal(label_index_next(x, labels, count, THINGS), LABEL_INDEX_NONE);
    }
    arena_free(&a);
}

static void what_is_found_is_what_a_look_at_all_finds(void **state)
{
    (void)state;
    struct random r = {.state = 7};
    for (int round = 0; round < 200; round++)
        compare(&r, 1 + (uint32_t)random_below(&r, 8), true);
}

static void more_keys_than_it_keeps_apart_lose_nothing(void **state)
{
    (void)state;
    struct random r = {.state = 8};
    for (int round = 0; round < 100; round++)
        compare(&r, LABELS, false);
}

static void without_things_nothing_is_found(void **state)
{
    (void)state;
    struct arena a = {0};
    struct label_index *x = label_index_make(0, &a);
    label_index_end(x);
    const struct node_label label = {1, 1};
    assert_int_equal(label_index_next(x, &label, 1, 0), LABEL_INDEX_NONE);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_found_is_what_a_look_at_all_finds),
        cmocka_unit_test(more_keys_than_it_keeps_apart_lose_nothing),
        cmocka_unit_test(without_things_nothing_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
