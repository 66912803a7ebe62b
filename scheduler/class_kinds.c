/* class_kinds: rows that a counting rule cannot tell apart. The one idea: what such a rule says of
 * a node follows from the values of a few labels and from the counts, so it need be asked only once
 * for all nodes of a zone, however many there are.
 *
 * What must stay true: two rows of the same kind have the same value of every label that the rule
 * reads, or both have the label where only that matters. */
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/classes_inside.h"
#include "scheduler/node_selector.h"

#include <string.h>

const uint32_t *class_label(struct pod_class *k, uint32_t key)
{
    for (uint32_t i = 0; i < k->column_count; i++)
        if (k->columns[i].key == key)
            return k->columns[i].values;
    k->columns = memory_resize(k->columns, (k->column_count + 1) * sizeof(*k->columns));
    struct label_column *column = &k->columns[k->column_count++];
    *column = (struct label_column){key, memory_take_array(k->rows, sizeof(*column->values))};
    for (uint32_t row = 0; row < k->rows; row++)
        column->values[row] = node_label_value(k->cycle.nodes->entry[row], key);
    return column->values;
}

/* The labels of one row, as far as a rule reads them. */
struct look {
    uint32_t values[KEEP_KEYS];
};

static struct look look_of(struct pod_class *k, const struct kept_rule *rule, uint32_t row)
{
    struct look look = {{0}};
    for (uint32_t i = 0; i < rule->key_count; i++) {
        uint32_t key = rule->keys[i], value = class_label(k, key & ~KEEP_PRESENCE)[row];
        look.values[i] = (key & KEEP_PRESENCE) != 0 ? value != 0 : value;
    }
    return look;
}

static uint32_t hash_of(const struct look *look)
{
    uint64_t h = UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t i = 0; i < KEEP_KEYS; i++)
        h = (h ^ look->values[i]) * UINT64_C(0xBF58476D1CE4E5B9);
    return (uint32_t)(h >> 32);
}

/* A kind in the table of those found so far: a row that is of it. */
struct place {
    bool used;
    uint32_t kind;
    struct look look;
};

static uint32_t kind_of(struct place *table, uint32_t room, const struct look *look,
                        uint32_t *count)
{
    uint32_t at = hash_of(look) & (room - 1);
    while (table[at].used && memcmp(&table[at].look, look, sizeof(*look)) != 0)
        at = (at + 1) & (room - 1);
    if (!table[at].used)
        table[at] = (struct place){true, (*count)++, *look};
    return table[at].kind;
}

/* More kinds than this are not worth while: nearly every row is one of its own. */
static uint32_t kinds_max(const struct pod_class *k)
{
    return k->rows / 2 < MEMO_ROOM / 2 ? k->rows / 2 : MEMO_ROOM / 2;
}

static void find_kinds(struct pod_class *k, struct kept_rule *rule)
{
    uint32_t count = 0, room = MEMO_ROOM * 2;
    struct place *table = memory_take_array(room, sizeof(*table));
    rule->kind = memory_resize(rule->kind, k->rows * sizeof(*rule->kind) + 1);
    for (uint32_t row = 0; row < k->rows && count <= kinds_max(k); row++) {
        const struct look look = look_of(k, rule, row);
        rule->kind[row] = kind_of(table, room, &look, &count);
    }
    if (count > kinds_max(k)) {
        memory_free(rule->kind);
        rule->kind = NULL;
    }
    memory_free(table);
}

void class_kinds(struct pod_class *k, struct kept_rule *rule)
{
    uint32_t keys[KEEP_KEYS] = {0};
    uint32_t count = rule->plugin->keep->keys(&rule->states, keys);
    if (count > KEEP_KEYS) {
        memory_free(rule->kind);
        rule->kind = NULL;
        rule->key_count = 0;
        return;
    }
    bool same = rule->kind != NULL && count == rule->key_count &&
                memcmp(keys, rule->keys, sizeof(keys)) == 0;
    if (same)
        return;
    memcpy(rule->keys, keys, sizeof(keys));
    rule->key_count = count;
    find_kinds(k, rule);
}

void class_own(const struct pod_class *k, struct kept_rule *rule, uint32_t row,
               const struct entries *counts)
{
    int64_t own = 0;
    uint32_t found = 0;
    for (uint32_t i = 0; i < counts->count; i++) {
        if (rule->plugin->keep->key(&rule->states, &counts->at[i]) != KEEP_ROW)
            continue;
        own = counts->at[i].count;
        found = found == 0 ? counts->at[i].slot + 1 : UINT32_MAX;
        rule->own_is_many |=
            found == UINT32_MAX || (rule->own_slot != 0 && found != rule->own_slot);
        rule->own_slot = found;
    }
    if (own == 0 && rule->own == NULL)
        return;
    if (rule->own == NULL)
        rule->own = memory_take_array(k->rows, sizeof(*rule->own));
    rule->own[row] = own;
}

struct kind_memo *class_memo(struct kept_rule *rule, struct kind_memo *memo, uint32_t row,
                             uint64_t when)
{
    if (rule->kind == NULL || rule->own_is_many)
        return NULL;
    int64_t own = rule->own == NULL ? 0 : rule->own[row];
    uint32_t kind = rule->kind[row];
    struct kind_memo *m = &memo[(kind + (uint64_t)own * 31) % MEMO_ROOM];
    if (m->when != when || m->kind != kind || m->own != own)
        *m = (struct kind_memo){0, kind, own, 0};
    return m;
}
