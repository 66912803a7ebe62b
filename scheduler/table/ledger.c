/* ledger: a short list of parts for each row, and their sums in one table. The one idea: to change
 * a row is to take its old parts out and to put its new ones in.
 *
 * What must stay true: the sums are those of all rows' parts, and an entry has as many holders as
 * rows have a part of it. Most rows count for little, so lists are as long as they must be. */
#include "scheduler/table/ledger.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/table/wrap.h"

#include <string.h>

struct parts {
    uint32_t count;
    struct count_entry *at;
};

struct ledger {
    uint32_t rows;
    struct parts *row; /* one more than rows: the others */
    size_t held;       /* parts in all rows */
    struct counts *sums;
    struct counts *told; /* NULL: nobody is told */
    uint32_t folded_key;
};

/* ---- lists ---- */

static struct count_entry *entry_of(const struct entries *e, const struct count_entry *like)
{
    for (uint32_t i = 0; i < e->count; i++)
        if (e->at[i].slot == like->slot && e->at[i].key == like->key &&
            e->at[i].value == like->value)
            return &e->at[i];
    return NULL;
}

void entries_append(struct entries *e, const struct count_entry *entry)
{
    if (e->count == e->room) {
        e->room = e->room == 0 ? 8 : e->room * 2;
        e->at = memory_resize(e->at, e->room * sizeof(*e->at));
    }
    e->at[e->count++] = *entry;
}

void entries_add(struct entries *e, uint32_t slot, uint32_t key, uint32_t value, int64_t more)
{
    const struct count_entry entry = {slot, key, value, more};
    struct count_entry *known = entry_of(e, &entry);
    if (known != NULL)
        known->count = wrap_add(known->count, more);
    else
        entries_append(e, &entry);
}

void entries_free(struct entries *e)
{
    memory_free(e->at);
    *e = (struct entries){0};
}

/* ---- the ledger ---- */

struct ledger *ledger_new(uint32_t rows)
{
    struct ledger *l = memory_take(sizeof(*l));
    l->rows = rows;
    l->row = memory_take_array((size_t)rows + 1, sizeof(*l->row));
    l->sums = counts_new(NULL);
    return l;
}

void ledger_free(struct ledger **ledger)
{
    struct ledger *l = *ledger;
    if (l == NULL)
        return;
    for (uint32_t i = 0; i <= l->rows; i++)
        memory_free(l->row[i].at);
    memory_free(l->row);
    counts_free(&l->sums);
    counts_free(&l->told);
    memory_free(l);
    *ledger = NULL;
}

struct counts *ledger_sums(const struct ledger *l)
{
    return l->sums;
}

static bool same(const struct parts *old, const struct entries *now)
{
    bool equal = old->count == now->count;
    for (uint32_t i = 0; equal && i < old->count; i++) {
        const struct count_entry *a = &old->at[i], *b = &now->at[i];
        equal =
            a->slot == b->slot && a->key == b->key && a->value == b->value && a->count == b->count;
    }
    return equal;
}

/* Entries whose part of this row differs between the two. */
static void tell_changes(const struct entries *old, const struct entries *now,
                         struct entries *changed)
{
    for (uint32_t i = 0; i < now->count; i++) {
        const struct count_entry *was = entry_of(old, &now->at[i]);
        if (was == NULL || was->count != now->at[i].count)
            entries_append(changed, &now->at[i]);
    }
    for (uint32_t i = 0; i < old->count; i++)
        if (entry_of(now, &old->at[i]) == NULL)
            entries_append(changed, &old->at[i]);
}

/* As others are told of it. */
static struct count_entry folded(const struct ledger *l, const struct count_entry *part)
{
    if (l->folded_key == 0 || part->key != l->folded_key)
        return *part;
    return (struct count_entry){part->slot, part->key, 0, 1};
}

/* In before out, so that an entry that stays keeps its cell. */
static void exchange(struct ledger *l, const struct parts *old, const struct entries *now,
                     bool told)
{
    for (uint32_t i = 0; i < now->count; i++) {
        const struct count_entry part = folded(l, &now->at[i]);
        counts_hold(l->sums, &now->at[i]);
        if (told && part.key != COUNTS_OWN)
            counts_hold(l->told, &part);
    }
    for (uint32_t i = 0; i < old->count; i++) {
        const struct count_entry part = folded(l, &old->at[i]);
        counts_release(l->sums, &old->at[i]);
        if (told && part.key != COUNTS_OWN)
            counts_release(l->told, &part);
    }
}

static void set_parts(struct ledger *l, uint32_t row, const struct entries *now,
                      struct entries *changed)
{
    struct parts *parts = &l->row[row];
    if (same(parts, now))
        return;
    const struct entries old = {.count = parts->count, .at = parts->at};
    if (changed != NULL)
        tell_changes(&old, now, changed);
    exchange(l, parts, now, l->told != NULL && row < l->rows);
    if (parts->count != now->count)
        parts->at = memory_resize(parts->at, now->count * sizeof(*parts->at) + 1);
    l->held += now->count;
    l->held -= parts->count;
    parts->count = now->count;
    if (now->count > 0)
        memcpy(parts->at, now->at, now->count * sizeof(*parts->at));
}

void ledger_set(struct ledger *l, uint32_t row, const struct entries *now, struct entries *changed)
{
    must(row < l->rows);
    set_parts(l, row, now, changed);
}

void ledger_others(struct ledger *l, const struct entries *now, struct entries *changed)
{
    set_parts(l, l->rows, now, changed);
}

void ledger_tell(struct ledger *l, uint32_t folded_key)
{
    must(l->held == 0 && l->told == NULL);
    l->told = counts_new(NULL);
    l->folded_key = folded_key;
}

const struct counts *ledger_told(const struct ledger *l)
{
    return l->told;
}

size_t ledger_bytes(const struct ledger *l)
{
    return l->rows * sizeof(*l->row) + l->held * sizeof(struct count_entry) +
           (size_t)counts_size(l->sums) * 4 * sizeof(struct count_entry);
}
