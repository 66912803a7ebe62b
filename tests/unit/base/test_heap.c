/* test_heap: the heap against a sorted array as its model, with entries pushed, taken out from
 * anywhere, and moved when their order changes. */
#include "proto/base/heap.h"
#include "proto/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define ENTRIES 200

struct entry {
    int64_t key;
    struct heap_link link;
};

static bool less(const void *a, const void *b)
{
    return ((const struct entry *)a)->key < ((const struct entry *)b)->key;
}

static struct heap_link *link_of(void *entry)
{
    return &((struct entry *)entry)->link;
}

/* The keys of what should be in the heap, in order. */
struct model {
    int64_t keys[ENTRIES];
    size_t count;
};

static void model_add(struct model *m, int64_t key)
{
    size_t i = m->count++;
    for (; i > 0 && m->keys[i - 1] > key; i--)
        m->keys[i] = m->keys[i - 1];
    m->keys[i] = key;
}

static void model_drop(struct model *m, int64_t key)
{
    size_t i = 0;
    while (m->keys[i] != key)
        i++;
    for (m->count--; i < m->count; i++)
        m->keys[i] = m->keys[i + 1];
}

static void check_top(struct heap *heap, const struct model *m)
{
    const struct entry *top = heap_top(heap);
    assert_int_equal(heap_count(heap), m->count);
    if (m->count == 0)
        assert_null(top);
    else
        assert_int_equal(top->key, m->keys[0]);
}

static void an_empty_heap_gives_nothing(void **state)
{
    (void)state;
    struct heap *heap = heap_new(less, link_of);
    struct entry e = {0};
    assert_null(heap_top(heap));
    assert_null(heap_pop(heap));
    assert_false(heap_has(heap, &e));
    heap_push(heap, &e);
    assert_true(heap_has(heap, &e));
    assert_ptr_equal(heap_at(heap, 0), &e);
    assert_ptr_equal(heap_pop(heap), &e);
    assert_false(heap_has(heap, &e));
    heap_free(&heap);
    assert_null(heap);
    heap_free(&heap);
}

/* Removes, pushes or moves one entry, in the heap and in the model. */
static void step(struct heap *heap, struct model *m, struct entry *e, struct random *r)
{
    int64_t key = (int64_t)random_below(r, 50); /* few values, so many ties */
    if (!heap_has(heap, e)) {
        e->key = key;
        heap_push(heap, e);
        model_add(m, key);
    } else if (random_below(r, 2) == 0) {
        heap_remove(heap, e);
        model_drop(m, e->key);
    } else {
        model_drop(m, e->key);
        e->key = key;
        heap_fix(heap, e);
        model_add(m, key);
    }
}

static void random_changes_agree_with_a_sorted_array(void **state)
{
    (void)state;
    struct random r = {42};
    struct entry entries[ENTRIES] = {{0}};
    struct heap *heap = heap_new(less, link_of);
    struct model model = {.count = 0};
    for (int i = 0; i < 20000; i++) {
        step(heap, &model, &entries[random_below(&r, ENTRIES)], &r);
        check_top(heap, &model);
    }
    assert_true(model.count > 10);
    for (size_t i = 0; i < model.count; i++) {
        const struct entry *e = heap_pop(heap);
        assert_int_equal(e->key, model.keys[i]);
        assert_int_equal(e->link.index_plus_one, 0);
    }
    assert_null(heap_pop(heap));
    heap_free(&heap);
}

static void every_single_removal_leaves_the_rest_in_order(void **state)
{
    (void)state;
    for (size_t gone = 0; gone < 40; gone++) {
        struct random r = {gone};
        struct entry entries[40] = {{0}};
        struct heap *heap = heap_new(less, link_of);
        struct model model = {.count = 0};
        for (size_t i = 0; i < 40; i++) {
            entries[i].key = (int64_t)random_below(&r, 1000);
            heap_push(heap, &entries[i]);
            model_add(&model, entries[i].key);
        }
        heap_remove(heap, &entries[gone]);
        model_drop(&model, entries[gone].key);
        for (size_t i = 0; i < model.count; i++)
            assert_int_equal(((struct entry *)heap_pop(heap))->key, model.keys[i]);
        assert_int_equal(heap_count(heap), 0);
        heap_free(&heap);
    }
}

static void a_walk_shows_each_entry_once(void **state)
{
    (void)state;
    struct entry entries[ENTRIES] = {{0}};
    bool seen[ENTRIES] = {false};
    struct heap *heap = heap_new(less, link_of);
    for (size_t i = 0; i < ENTRIES; i++) {
        entries[i].key = (int64_t)(i * 7919 % ENTRIES);
        heap_push(heap, &entries[i]);
    }
    for (size_t i = 0; i < heap_count(heap); i++) {
        size_t which = (size_t)((struct entry *)heap_at(heap, i) - entries);
        assert_false(seen[which]);
        seen[which] = true;
    }
    assert_int_equal(heap_count(heap), ENTRIES);
    heap_free(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_heap_gives_nothing),
        cmocka_unit_test(random_changes_agree_with_a_sorted_array),
        cmocka_unit_test(every_single_removal_leaves_the_rest_in_order),
        cmocka_unit_test(a_walk_shows_each_entry_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
