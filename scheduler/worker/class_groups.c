/* class_groups: rows that counting rules cannot tell apart. The one idea: what such a rule says of
 * a node follows from the values of a few labels, from the counts, and from what the node counts
 * for itself alone; so it need be asked only once for all nodes of a zone, however many there are.
 *
 * What must stay true: every row is in exactly one group, with the rows that have the same values
 * of every label that the rules read and the same counts of their own; a group's passing and spans
 * are of its rows that rules by row let pass. */
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/rules/node_selector.h"
#include "scheduler/worker/classes_inside.h"

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

/* ---- kinds ---- */

#define KINDS_MAX 128
#define TABLE     ((size_t)KINDS_MAX * 4)

/* The labels of one row, as far as a rule reads them. */
struct look {
    uint32_t values[KEEP_KEYS];
};

static struct look look_of(const uint32_t *const *columns, const struct kept_rule *rule,
                           uint32_t row)
{
    struct look look = {{0}};
    for (uint32_t i = 0; i < rule->key_count; i++) {
        uint32_t value = columns[i][row];
        look.values[i] = (rule->keys[i] & KEEP_PRESENCE) != 0 ? value != 0 : value;
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

/* A kind in the table of those found so far, and how its rows look. */
struct known_kind {
    bool used;
    uint32_t number;
    struct look look;
};

static uint32_t kind_of(struct known_kind *table, const struct look *look, uint32_t *count)
{
    size_t at = hash_of(look) % TABLE;
    while (table[at].used && memcmp(&table[at].look, look, sizeof(*look)) != 0)
        at = (at + 1) % TABLE;
    if (!table[at].used)
        table[at] = (struct known_kind){true, (*count)++, *look};
    return table[at].number;
}

/* More kinds than this are not worth while: nearly every row is one of its own. */
static uint32_t kinds_max(const struct pod_class *k)
{
    return k->rows / 2 < KINDS_MAX ? k->rows / 2 : KINDS_MAX;
}

/* False when there are too many. */
static bool find_kinds(struct pod_class *k, struct kept_rule *rule)
{
    uint32_t count = 0;
    struct known_kind *table = memory_take_array(TABLE, sizeof(*table));
    const uint32_t *columns[KEEP_KEYS];
    for (uint32_t i = 0; i < rule->key_count; i++)
        (void)class_label(k, rule->keys[i] & ~KEEP_PRESENCE);
    for (uint32_t i = 0; i < rule->key_count; i++)
        columns[i] = class_label(k, rule->keys[i] & ~KEEP_PRESENCE);
    rule->kind = memory_resize(rule->kind, k->rows * sizeof(*rule->kind) + 1);
    for (uint32_t row = 0; row < k->rows && count <= kinds_max(k); row++) {
        const struct look look = look_of(columns, rule, row);
        rule->kind[row] = kind_of(table, &look, &count);
    }
    memory_free(table);
    return count <= kinds_max(k);
}

bool class_kinds(struct pod_class *k, struct kept_rule *rule)
{
    uint32_t keys[KEEP_KEYS] = {0};
    uint32_t count = rule->plugin->keep->keys(&rule->states, keys);
    bool grouped = rule->groups;
    if (rule->kind != NULL && count == rule->key_count &&
        memcmp(keys, rule->keys, sizeof(keys)) == 0)
        return rule->groups && rule->no_groups;
    rule->key_count = count <= KEEP_KEYS ? count : 0;
    memcpy(rule->keys, keys, sizeof(keys));
    rule->groups = count <= KEEP_KEYS && !rule->no_groups && find_kinds(k, rule);
    rule->no_groups |= !rule->groups;
    return grouped || rule->groups;
}

void class_own(const struct pod_class *k, struct kept_rule *rule, uint32_t row,
               const struct entries *counts)
{
    int64_t own = 0;
    for (uint32_t i = 0; i < counts->count; i++) {
        uint32_t slot = counts->at[i].slot + 1;
        if (rule->plugin->keep->key(&rule->states, &counts->at[i]) != KEEP_ROW)
            continue;
        own = counts->at[i].count;
        rule->no_groups |= rule->own_slot != 0 && rule->own_slot != slot;
        rule->own_slot = slot;
    }
    if (own == 0 && rule->own == NULL)
        return;
    if (rule->own == NULL)
        rule->own = memory_take_array(k->rows, sizeof(*rule->own));
    rule->own[row] = own;
}

/* ---- groups ---- */

static void label_group(const struct pod_class *k, uint32_t row, struct row_group *out)
{
    *out = (struct row_group){.count = 0};
    for (uint32_t i = 0; i < k->kept_count; i++) {
        const struct kept_rule *rule = &k->kept[i];
        if (!rule->groups)
            continue;
        out->kind[i] = rule->kind[row];
        out->own[i] = rule->own == NULL ? 0 : rule->own[row];
    }
}

static bool same_label(const struct row_group *a, const struct row_group *b)
{
    return memcmp(a->kind, b->kind, sizeof(a->kind)) == 0 &&
           memcmp(a->own, b->own, sizeof(a->own)) == 0;
}

static void start_spans(struct pod_class *k, struct row_group *g)
{
    for (uint32_t i = 0; i < k->framework->score_count; i++)
        kept_range_begin(&g->spans[i], k->framework->score[i].plugin);
}

static uint8_t *hint_of(struct pod_class *k, const struct row_group *label)
{
    uint64_t h = 0;
    for (uint32_t i = 0; i < KEPT_MAX; i++)
        h = (h ^ label->kind[i] ^ (uint64_t)label->own[i] << 20) * UINT64_C(0xBF58476D1CE4E5B9);
    return &k->group_hint[(h >> 40) % sizeof(k->group_hint)];
}

/* A group of that label: a known one, an empty one, or a new one; NULL when there are too many. */
static struct row_group *need_group(struct pod_class *k, const struct row_group *label)
{
    struct row_group *empty = NULL;
    uint8_t *hint = hint_of(k, label);
    if (*hint < k->group_count && same_label(&k->groups[*hint], label))
        return &k->groups[*hint];
    for (uint32_t i = 0; i < k->group_count; i++) {
        *hint = (uint8_t)i;
        if (same_label(&k->groups[i], label))
            return &k->groups[i];
        if (k->groups[i].count == 0)
            empty = &k->groups[i];
    }
    if (empty == NULL && k->group_count == GROUPS_MAX)
        return NULL;
    if (empty == NULL) {
        if (k->groups == NULL)
            k->groups = memory_take_array(GROUPS_MAX, sizeof(*k->groups));
        empty = &k->groups[k->group_count++];
        empty->spans = memory_take_array(k->framework->score_count + 1, sizeof(*empty->spans));
    }
    empty->run_pods = empty->run_taken = empty->run_last = 0;
    memcpy(empty->kind, label->kind, sizeof(empty->kind));
    memcpy(empty->own, label->own, sizeof(empty->own));
    start_spans(k, empty);
    return empty;
}

static void reserve(struct row_group *g)
{
    if (g->count < g->room)
        return;
    g->room = g->room == 0 ? BLOCK_ROWS : g->room * 2;
    g->rows = memory_resize(g->rows, g->room * sizeof(*g->rows));
    g->blocks = memory_resize(g->blocks, g->room / BLOCK_ROWS * sizeof(*g->blocks));
    g->dirty = memory_resize(g->dirty, g->room / BLOCK_ROWS);
    for (uint32_t i = g->count / BLOCK_ROWS; i < g->room / BLOCK_ROWS; i++)
        g->dirty[i] = 0;
}

static void touch_place(struct row_group *g, uint32_t place)
{
    g->dirty[place / BLOCK_ROWS] = 1;
    g->is_dirty = true;
}

bool group_join(struct pod_class *k, uint32_t row)
{
    struct row_group label;
    label_group(k, row, &label);
    struct row_group *g = need_group(k, &label);
    if (g == NULL)
        return false;
    reserve(g);
    k->group[row] = (uint32_t)(g - k->groups);
    k->place[row] = g->count;
    g->rows[g->count++] = row;
    touch_place(g, k->place[row]);
    if (k->outcome[row] != 0)
        return true;
    g->passing++;
    for (uint32_t i = 0; i < k->framework->score_count; i++)
        if (class_has_spans(k, i))
            kept_range_enter(&g->spans[i], k->raw[i][row]);
    return true;
}

void group_leave(struct pod_class *k, uint32_t row)
{
    struct row_group *g = &k->groups[k->group[row]];
    uint32_t place = k->place[row], last = g->rows[g->count - 1];
    must(g->rows[place] == row);
    g->rows[place] = last;
    k->place[last] = place;
    touch_place(g, place);
    touch_place(g, --g->count);
    if (k->outcome[row] != 0)
        return;
    g->passing--;
    for (uint32_t i = 0; i < k->framework->score_count; i++)
        if (class_has_spans(k, i))
            kept_range_leave(&g->spans[i], k->raw[i][row]);
}

void group_touch(struct pod_class *k, uint32_t row)
{
    touch_place(&k->groups[k->group[row]], k->place[row]);
}

void groups_touch_all(struct pod_class *k)
{
    for (uint32_t i = 0; i < k->group_count; i++) {
        struct row_group *g = &k->groups[i];
        for (uint32_t place = 0; place < g->count; place += BLOCK_ROWS)
            touch_place(g, place);
    }
}

void groups_span(struct pod_class *k, uint32_t scorer)
{
    for (uint32_t i = 0; i < k->group_count; i++)
        class_span_group(k, &k->groups[i], scorer);
}

void groups_free(struct pod_class *k)
{
    for (uint32_t i = 0; i < k->group_count; i++) {
        memory_free(k->groups[i].rows);
        memory_free(k->groups[i].blocks);
        memory_free(k->groups[i].dirty);
        memory_free(k->groups[i].spans);
    }
    memory_free(k->groups);
    k->groups = NULL;
    k->group_count = 0;
}
