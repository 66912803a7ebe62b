/* reach_index: slices by what a node must be called, or be labelled, to reach them. A slice is in
 * it under keys: a node's name, or a label with its value. Any other node than those with one of
 * its keys is out of its reach. What must stay true: a slice that another node may reach, or whose
 * selector is in error, is not in the index, so that whoever asks need not look at what he is not
 * given; and a slice is taken out under the keys under which it was put in. */
#include "proto/base/memory.h"
#include "proto/kube/objects/selector.h"
#include "scheduler/devices/inside.h"

#include <stdlib.h>
#include <string.h>

/* Beyond that a slice is looked at for each node. */
#define KEYS_MAX 1024

struct reach_index {
    struct map *labels;  /* by label: how many slices have keys of it, as a pointer; "": names */
    struct map *buckets; /* struct slices by label, a zero byte, and value */
    struct buffer key;
    struct reach_keys keys; /* of the slice that is being put in */
};

struct reach_index *reach_index_new(void)
{
    struct reach_index *index = memory_take(sizeof(*index));
    index->labels = map_new();
    index->buckets = map_new();
    return index;
}

void reach_index_free(struct reach_index **index)
{
    map_free(&(*index)->labels);
    map_free(&(*index)->buckets);
    buffer_free(&(*index)->key);
    memory_free((*index)->keys.at);
    memory_free(*index);
    *index = NULL;
}

static struct slices *bucket_of(struct reach_index *index, struct str label, struct str value)
{
    buffer_reset(&index->key);
    buffer_add_str(&index->key, label);
    buffer_add(&index->key, "", 1);
    buffer_add_str(&index->key, value);
    return map_get(index->buckets, buffer_str(&index->key));
}

/* ---- the keys of a slice ---- */

static bool add_key(struct reach_keys *keys, struct str label, struct str value)
{
    if (keys->count == KEYS_MAX)
        return false;
    if (keys->count == keys->room) {
        keys->room = keys->room == 0 ? 4 : keys->room * 2;
        keys->at = memory_resize(keys->at, keys->room * sizeof(*keys->at));
    }
    keys->at[keys->count++] = (struct reach_key){label, value};
    return true;
}

static bool is_in(const struct requirement *r)
{
    return kube_operator_of(r->operator_name) == OPERATOR_In;
}

/* How many slices there are already under what the requirement lets through. */
static size_t crowd(struct reach_index *index, const struct requirement *r, struct str label)
{
    size_t sum = 0;
    for (uint32_t i = 0; i < r->values.count; i++) {
        const struct slices *bucket = bucket_of(index, label, r->values.at[i]);
        sum += 1 + (bucket == NULL ? 0 : bucket->count);
    }
    return sum;
}

static bool add_requirement(struct reach_keys *keys, const struct requirement *r, struct str label)
{
    for (uint32_t i = 0; i < r->values.count; i++)
        if (!add_key(keys, label, r->values.at[i]))
            return false;
    return true;
}

/* By the one requirement that leaves the fewest slices; false: by none. */
static bool add_term(struct reach_index *index, const struct node_term *term)
{
    const struct requirement *best = NULL;
    struct str label = {0};
    size_t least = SIZE_MAX;
    if (term->expressions.count == 0 && term->fields.count == 0)
        return true;
    for (uint32_t i = 0; i < term->fields.count; i++) {
        const struct requirement *r = &term->fields.at[i];
        if (best == NULL && is_in(r) && str_is(r->key, "metadata.name")) {
            best = r;
            least = crowd(index, r, label);
        }
    }
    for (uint32_t i = 0; i < term->expressions.count; i++) {
        const struct requirement *r = &term->expressions.at[i];
        size_t many = is_in(r) ? crowd(index, r, r->key) : SIZE_MAX;
        if (many < least) {
            best = r;
            label = r->key;
            least = many;
        }
    }
    return best != NULL && add_requirement(&index->keys, best, label);
}

static bool is_set(const struct dra_reach *reach)
{
    return reach->node_name.len > 0 || reach->all_nodes || reach->has_terms;
}

static bool add_reach(struct reach_index *index, const struct dra_reach *reach, struct str bad)
{
    if (reach->node_name.len > 0)
        return add_key(&index->keys, (struct str){0}, reach->node_name);
    if (reach->all_nodes || bad.len > 0)
        return false;
    for (uint32_t i = 0; reach->has_terms && i < reach->term_count; i++)
        if (!add_term(index, &reach->terms[i]))
            return false;
    return true;
}

static bool find_keys(struct reach_index *index, const struct slice *slice)
{
    index->keys.count = 0;
    if (is_set(&slice->said.reach))
        return add_reach(index, &slice->said.reach, slice->bad_reach);
    for (uint32_t i = 0; slice->said.per_device && i < slice->device_count; i++)
        if (!add_reach(index, &slice->devices[i].said.reach, slice->devices[i].bad_reach))
            return false;
    return true;
}

static int compare_keys(const void *one, const void *other)
{
    const struct reach_key *a = one, *b = other;
    int order = str_compare(a->label, b->label);
    return order == 0 ? str_compare(a->value, b->value) : order;
}

/* Each key once. */
static void keep_keys(struct reach_index *index, struct slice *slice)
{
    struct reach_keys *keys = &index->keys;
    if (keys->count > 1)
        qsort(keys->at, keys->count, sizeof(*keys->at), compare_keys);
    slice->keys.at = arena_take(&slice->arena, keys->count * sizeof(*keys->at));
    for (uint32_t i = 0; i < keys->count; i++)
        if (i == 0 || compare_keys(&keys->at[i - 1], &keys->at[i]) != 0)
            slice->keys.at[slice->keys.count++] = keys->at[i];
}

/* ---- putting in and taking out ---- */

static void count_label(struct reach_index *index, struct str label, int times)
{
    intptr_t count = (intptr_t)map_get(index->labels, label) + times;
    if (count == 0)
        map_remove(index->labels, label);
    else
        map_set(index->labels, label, (void *)count); /* NOLINT(performance-no-int-to-ptr) */
}

static void enter_bucket(struct reach_index *index, struct slice *slice,
                         const struct reach_key *key)
{
    struct slices *bucket = bucket_of(index, key->label, key->value);
    if (bucket == NULL) {
        bucket = memory_take(sizeof(*bucket));
        map_set(index->buckets, buffer_str(&index->key), bucket);
    }
    slices_add(bucket, slice);
    count_label(index, key->label, 1);
}

static void leave_bucket(struct reach_index *index, struct slice *slice,
                         const struct reach_key *key)
{
    struct slices *bucket = bucket_of(index, key->label, key->value);
    slices_remove(bucket, slice);
    count_label(index, key->label, -1);
    if (bucket->count > 0)
        return;
    map_remove(index->buckets, buffer_str(&index->key));
    memory_free(bucket->at);
    memory_free(bucket);
}

bool reach_index_put(struct reach_index *index, struct slice *slice)
{
    if (!find_keys(index, slice))
        return false;
    keep_keys(index, slice);
    for (uint32_t i = 0; i < slice->keys.count; i++)
        enter_bucket(index, slice, &slice->keys.at[i]);
    return true;
}

void reach_index_take_out(struct reach_index *index, struct slice *slice)
{
    for (uint32_t i = 0; i < slice->keys.count; i++)
        leave_bucket(index, slice, &slice->keys.at[i]);
}

/* ---- asking ---- */

/* The slices under what the node has for that label; NULL: none. */
static const struct slices *bucket_for(struct reach_index *index, const struct dra_node *node,
                                       struct str label)
{
    struct str value = node->name;
    bool there = label.len > 0 ? node->label(node->context, label, &value) : node->name.len > 0;
    return there ? bucket_of(index, label, value) : NULL;
}

bool reach_index_has(struct reach_index *index, const struct dra_node *node)
{
    size_t at = 0;
    struct str label;
    void *count;
    while (map_next(index->labels, &at, &label, &count))
        if (bucket_for(index, node, label) != NULL)
            return true;
    return false;
}

bool reach_index_wants_labels(const struct reach_index *index)
{
    return map_count(index->labels) > (map_get(index->labels, (struct str){0}) != NULL);
}

static void append(struct slices *list, const struct slices *more)
{
    uint32_t sum = list->count + more->count;
    if (list->room < sum) {
        list->room = sum * 2;
        list->at = memory_resize(list->at, list->room * sizeof(struct slice *));
    }
    memcpy(list->at + list->count, more->at, more->count * sizeof(struct slice *));
    list->count = sum;
}

static int compare_slices(const void *one, const void *other)
{
    return slice_compare(*(struct slice *const *)one, *(struct slice *const *)other);
}

static void put_in_order(struct slices *list)
{
    uint32_t kept = 0;
    qsort(list->at, list->count, sizeof(struct slice *), compare_slices);
    for (uint32_t i = 0; i < list->count; i++)
        if (kept == 0 || list->at[kept - 1] != list->at[i])
            list->at[kept++] = list->at[i];
    list->count = kept;
}

void reach_index_gather(struct reach_index *index, const struct dra_node *node, struct slices *list)
{
    size_t at = 0;
    struct str label;
    void *count;
    uint32_t buckets = 0;
    list->count = 0;
    while (map_next(index->labels, &at, &label, &count)) {
        const struct slices *bucket = bucket_for(index, node, label);
        if (bucket == NULL)
            continue;
        append(list, bucket);
        buckets++;
    }
    if (buckets > 1)
        put_in_order(list);
}
