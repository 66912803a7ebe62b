/* counts: an open-addressing table over three numbers, and the adding up of several workers' lists.
 *
 * What must stay true: merged lists are sorted, so that equal contents are equal lists. */
#include "scheduler/table/counts.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/table/wrap.h"

#include <stdlib.h>
#include <string.h>

#define FOREIGN UINT32_C(0x80000000) /* numbers from here on are no atoms */

struct cell {
    struct count_entry entry;
    uint32_t holders; /* counts_hold */
    bool used;        /* has an entry, or had one: probing goes on behind it */
    bool gone;
};

struct counts {
    struct arena *arena; /* NULL: on the heap */
    struct cell *cells;
    uint32_t room, used, size; /* room is a power of two, or 0 */
    uint32_t in_slot[COUNTS_SLOTS];
    uint32_t foreign, foreign_room;
    struct str *foreign_texts; /* borrowed from the message */
};

struct counts *counts_new(struct arena *a)
{
    struct counts *c = a == NULL ? memory_take(sizeof(*c)) : arena_take(a, sizeof(*c));
    c->arena = a;
    return c;
}

void counts_free(struct counts **c)
{
    if (*c == NULL)
        return;
    must((*c)->arena == NULL && (*c)->foreign == 0);
    memory_free((*c)->cells);
    memory_free(*c);
    *c = NULL;
}

static uint32_t hash(uint32_t slot, uint32_t key, uint32_t value)
{
    uint64_t h = ((uint64_t)value << 32 | key) * UINT64_C(0x9E3779B97F4A7C15);
    h ^= (h >> 29) + slot * UINT64_C(0xBF58476D1CE4E5B9);
    h *= UINT64_C(0x94D049BB133111EB);
    return (uint32_t)(h >> 32);
}

/* The cell of that entry, or the free one where it would go. */
static struct cell *find(const struct counts *c, uint32_t slot, uint32_t key, uint32_t value)
{
    uint32_t at = hash(slot, key, value) & (c->room - 1);
    for (;; at = (at + 1) & (c->room - 1)) {
        struct cell *cell = &c->cells[at];
        if (!cell->used ||
            (cell->entry.slot == slot && cell->entry.key == key && cell->entry.value == value))
            return cell;
    }
}

static void grow(struct counts *c)
{
    struct counts old = *c;
    if (c->size >= old.room / 4) /* else most cells are gone ones, and tidying up is enough */
        c->room = old.room == 0 ? 16 : old.room * 2;
    c->cells = c->arena == NULL ? memory_take_array(c->room, sizeof(*c->cells))
                                : arena_take(c->arena, c->room * sizeof(*c->cells));
    c->used = c->size;
    for (uint32_t i = 0; i < old.room; i++) {
        const struct count_entry *e = &old.cells[i].entry;
        if (old.cells[i].used && !old.cells[i].gone)
            *find(c, e->slot, e->key, e->value) = old.cells[i];
    }
    if (c->arena == NULL)
        memory_free(old.cells);
}

/* The entry's cell; a new entry is 0. */
static struct cell *need(struct counts *c, uint32_t slot, uint32_t key, uint32_t value)
{
    if (c->used + 1 > c->room / 2)
        grow(c);
    struct cell *cell = find(c, slot, key, value);
    if (!cell->used)
        c->used++;
    if (!cell->used || cell->gone) {
        c->size++;
        c->in_slot[slot < COUNTS_SLOTS ? slot : 0] += slot < COUNTS_SLOTS;
        *cell = (struct cell){.entry = {slot, key, value, 0}, .used = true};
    }
    return cell;
}

static void take_out(struct counts *c, struct cell *cell)
{
    cell->gone = true;
    c->size--;
    if (cell->entry.slot < COUNTS_SLOTS)
        c->in_slot[cell->entry.slot]--;
}

void counts_add(struct counts *c, uint32_t slot, uint32_t key, uint32_t value, int64_t more)
{
    struct cell *cell = need(c, slot, key, value);
    cell->entry.count = wrap_add(cell->entry.count, more);
}

void counts_hold(struct counts *c, const struct count_entry *part)
{
    struct cell *cell = need(c, part->slot, part->key, part->value);
    cell->entry.count = wrap_add(cell->entry.count, part->count);
    cell->holders++;
}

void counts_release(struct counts *c, const struct count_entry *part)
{
    struct cell *cell = find(c, part->slot, part->key, part->value);
    must(cell->used && !cell->gone && cell->holders > 0);
    cell->entry.count = wrap_sub(cell->entry.count, part->count);
    if (--cell->holders == 0)
        take_out(c, cell);
}

bool counts_get(const struct counts *c, uint32_t slot, uint32_t key, uint32_t value, int64_t *count)
{
    *count = 0;
    if (c->room == 0)
        return false;
    const struct cell *cell = find(c, slot, key, value);
    if (!cell->used || cell->gone)
        return false;
    *count = cell->entry.count;
    return true;
}

void counts_remove(struct counts *c, uint32_t slot, uint32_t key, uint32_t value)
{
    if (c->room == 0)
        return;
    struct cell *cell = find(c, slot, key, value);
    if (cell->used && !cell->gone)
        take_out(c, cell);
}

bool counts_is_foreign(uint32_t key_or_value)
{
    return key_or_value >= FOREIGN;
}

uint32_t counts_size(const struct counts *c)
{
    return c->size;
}

uint32_t counts_in_slot(const struct counts *c, uint32_t slot)
{
    must(slot < COUNTS_SLOTS);
    return c->in_slot[slot];
}

bool counts_next(const struct counts *c, uint32_t *at, struct count_entry *entry)
{
    for (; *at < c->room; ++*at)
        if (c->cells[*at].used && !c->cells[*at].gone) {
            *entry = c->cells[(*at)++].entry;
            return true;
        }
    return false;
}

/* ---- messages ---- */

static int compare_counts(const void *a, const void *b)
{
    const struct count *x = a, *y = b;
    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    if (x->whole != y->whole)
        return x->whole ? -1 : 1;
    int order = str_compare(x->key, y->key);
    return order != 0 ? order : str_compare(x->value, y->value);
}

struct str counts_text(const struct counts *c, const struct atoms *atoms, uint32_t number)
{
    if (number >= FOREIGN) {
        must(number - FOREIGN < c->foreign);
        return c->foreign_texts[number - FOREIGN];
    }
    return number == 0 ? (struct str){0} : atom_text(atoms, number);
}

void counts_tell(const struct counts *c, const struct atoms *atoms, struct plugin_counts *out,
                 struct arena *a)
{
    uint32_t at = 0;
    struct count_entry e;
    out->counts.count = 0;
    out->counts.at = arena_take(a, c->size * sizeof(*out->counts.at));
    while (counts_next(c, &at, &e))
        out->counts.at[out->counts.count++] =
            (struct count){e.slot, counts_text(c, atoms, e.key), counts_text(c, atoms, e.value),
                           e.count, e.value == 0};
    qsort(out->counts.at, out->counts.count, sizeof(*out->counts.at), compare_counts);
}

struct counts *counts_fold(const struct counts *c, uint32_t key, struct arena *a)
{
    struct counts *folded = counts_new(a);
    uint32_t at = 0;
    struct count_entry e;
    while (counts_next(c, &at, &e)) {
        bool fold = key != 0 && e.key == key;
        counts_add(folded, e.slot, e.key, fold ? 0 : e.value, fold ? 1 : e.count);
    }
    return folded;
}

static uint32_t number_of(struct counts *c, const struct atoms *atoms, struct str text)
{
    uint32_t atom = atom_find(atoms, text);
    if (atom != 0)
        return atom;
    if (c->foreign == c->foreign_room) {
        c->foreign_room = c->foreign_room == 0 ? 16 : c->foreign_room * 2;
        struct str *texts = arena_take(c->arena, c->foreign_room * sizeof(*texts));
        if (c->foreign > 0)
            memcpy(texts, c->foreign_texts, c->foreign * sizeof(*texts));
        c->foreign_texts = texts;
    }
    c->foreign_texts[c->foreign] = text;
    return FOREIGN + c->foreign++;
}

void counts_take(struct counts *c, const struct atoms *atoms, const struct plugin_counts *from)
{
    for (uint32_t i = 0; i < from->counts.count; i++) {
        const struct count *e = &from->counts.at[i];
        counts_add(c, (uint32_t)e->slot, e->key.len == 0 ? 0 : number_of(c, atoms, e->key),
                   e->whole ? 0 : number_of(c, atoms, e->value), e->count);
    }
}

/* Adds up equal entries of a sorted list. */
static void fold(struct plugin_counts *list)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->counts.count; i++) {
        struct count *at = list->counts.at;
        if (kept > 0 && compare_counts(&at[kept - 1], &at[i]) == 0)
            at[kept - 1].count = wrap_add(at[kept - 1].count, at[i].count);
        else
            at[kept++] = at[i];
    }
    list->counts.count = kept;
}

static struct plugin_counts *merged_of(struct plugin_counts *all, uint32_t *count,
                                       struct str plugin)
{
    for (uint32_t i = 0; i < *count; i++)
        if (str_equal(all[i].plugin, plugin))
            return &all[i];
    all[*count] = (struct plugin_counts){.plugin = plugin};
    return &all[(*count)++];
}

/* Calls visit for each list of each part, with the merged list of its plugin. */
static void each_list(const struct plugin_counts *const *parts, const uint32_t *part_sizes,
                      uint32_t part_count, struct merged_counts *m,
                      void (*visit)(struct plugin_counts *all, const struct plugin_counts *list))
{
    for (uint32_t i = 0; i < part_count; i++)
        for (uint32_t k = 0; k < part_sizes[i]; k++)
            visit(merged_of(m->at, &m->count, parts[i][k].plugin), &parts[i][k]);
}

static void add_size(struct plugin_counts *all, const struct plugin_counts *list)
{
    all->counts.count += list->counts.count;
}

static void add_entries(struct plugin_counts *all, const struct plugin_counts *list)
{
    must(all->counts.at != NULL);
    for (uint32_t i = 0; i < list->counts.count; i++)
        all->counts.at[all->counts.count++] = list->counts.at[i];
}

static void reserve(struct plugin_counts *all, struct arena *a)
{
    all->counts.at = arena_take(a, (all->counts.count + 1) * sizeof(struct count));
    all->counts.count = 0;
}

static void sort_and_fold(struct plugin_counts *all)
{
    must(all->counts.at != NULL);
    qsort(all->counts.at, all->counts.count, sizeof(struct count), compare_counts);
    fold(all);
}

void counts_merge(const struct plugin_counts *const *parts, const uint32_t *part_sizes,
                  uint32_t part_count, struct merged_counts *out, struct arena *a)
{
    uint32_t lists = 0;
    for (uint32_t i = 0; i < part_count; i++)
        lists += part_sizes[i];
    *out = (struct merged_counts){0, arena_take(a, (lists + 1) * sizeof(struct plugin_counts))};
    each_list(parts, part_sizes, part_count, out, add_size);
    for (uint32_t i = 0; i < out->count; i++)
        reserve(&out->at[i], a);
    each_list(parts, part_sizes, part_count, out, add_entries);
    for (uint32_t i = 0; i < out->count; i++)
        sort_and_fold(&out->at[i]);
}

bool counts_same(const struct plugin_counts *a, const struct plugin_counts *b)
{
    if (a->counts.count != b->counts.count)
        return false;
    for (uint32_t i = 0; i < a->counts.count; i++)
        if (compare_counts(&a->counts.at[i], &b->counts.at[i]) != 0 ||
            a->counts.at[i].count != b->counts.at[i].count)
            return false;
    return true;
}
