/* label_index: numbers sorted by the label that they ask for. The one idea: behind a binary search
 * for a label and a number stands the next number that asks for this label.
 *
 * What must stay true: whatever was added is found with every set of labels that has its label;
 * what is found too often costs time alone. */
#include "scheduler/table/label_index.h"

#include "proto/base/must.h"

#include <stdlib.h>

/* Of so many different keys labels are searched; what asks for another one counts as asking for
 * none, so that a search does not grow with the keys. */
enum { KEYS_MAX = 8 };

struct asking {
    struct node_label label; /* {0, 0}: none */
    uint32_t number;
};

struct label_index {
    uint32_t room, count, key_count;
    uint32_t keys[KEYS_MAX];
    struct asking *at; /* sorted once all are there */
};

struct label_index *label_index_make(uint32_t room, struct arena *a)
{
    struct label_index *x = arena_take(a, sizeof(*x));
    x->room = room;
    x->at = arena_take(a, room * sizeof(*x->at));
    return x;
}

static void add(struct label_index *x, uint32_t number, struct node_label label)
{
    must(x->count < x->room);
    x->at[x->count++] = (struct asking){label, number};
}

void label_index_add_any(struct label_index *x, uint32_t number)
{
    add(x, number, (struct node_label){0, 0});
}

static bool has_key(struct label_index *x, uint32_t key)
{
    for (uint32_t i = 0; i < x->key_count; i++)
        if (x->keys[i] == key)
            return true;
    if (x->key_count == KEYS_MAX)
        return false;
    x->keys[x->key_count++] = key;
    return true;
}

void label_index_add(struct label_index *x, uint32_t number, struct node_label label)
{
    if (label.key == 0 || label.value == 0)
        return;
    if (has_key(x, label.key))
        add(x, number, label);
    else
        label_index_add_any(x, number);
}

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare(const struct asking *a, const struct asking *b)
{
    int order = compare_numbers(a->label.key, b->label.key);
    if (order == 0)
        order = compare_numbers(a->label.value, b->label.value);
    return order != 0 ? order : compare_numbers(a->number, b->number);
}

static int compare_any(const void *a, const void *b)
{
    return compare(a, b);
}

void label_index_end(struct label_index *x)
{
    qsort(x->at, x->count, sizeof(*x->at), compare_any);
}

/* The least number from `from` on that asks for this label. */
static uint32_t next_with(const struct label_index *x, struct node_label label, uint32_t from)
{
    struct asking wanted = {label, from};
    uint32_t low = 0, high = x->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare(&x->at[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < x->count && x->at[low].label.key == label.key &&
                 x->at[low].label.value == label.value;
    return found ? x->at[low].number : LABEL_INDEX_NONE;
}

uint32_t label_index_next(const struct label_index *x, const struct node_label *labels,
                          uint32_t count, uint32_t from)
{
    uint32_t least = next_with(x, (struct node_label){0, 0}, from);
    for (uint32_t i = 0; i < x->key_count && least > from; i++) {
        uint32_t value = label_value(labels, count, x->keys[i]);
        if (value == 0)
            continue;
        uint32_t next = next_with(x, (struct node_label){x->keys[i], value}, from);
        least = next < least ? next : least;
    }
    return least;
}
