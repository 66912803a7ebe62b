/* scored_resources: resolves names once a cycle, so that reading a node is an index into a column.
 * What must stay true: a resource that a node does not offer, or a scalar that the pod does not ask
 * for, takes no part in any score. */
#include "scheduler/rules/scored_resources.h"

#include <stdlib.h>

/* Devices that stand for a resource where a node has none of its own. */
struct scored_stock {
    int64_t there, used; /* on nodes that are not listed */
    uint32_t count;
    struct listed {
        uint32_t name; /* atom */
        int64_t there, used;
    } * at; /* sorted by atom */
};

static int by_atom(const void *one, const void *other)
{
    uint32_t a = ((const struct listed *)one)->name, b = ((const struct listed *)other)->name;
    return a < b ? -1 : a > b;
}

/* Nodes of other shares have no atoms here, mostly. */
static const struct scored_stock *stock_of(const struct cycle *c, const struct device_stock *said)
{
    struct scored_stock *stock = arena_take(c->arena, sizeof(*stock));
    *stock = (struct scored_stock){.there = said->there, .used = said->used};
    stock->at = arena_take(c->arena, said->nodes.count * sizeof(*stock->at));
    for (uint32_t i = 0; i < said->nodes.count; i++) {
        const struct device_count *node = &said->nodes.at[i];
        uint32_t name = atom_find(c->atoms, node->node);
        if (name != 0)
            stock->at[stock->count++] = (struct listed){name, node->there, node->used};
    }
    if (stock->count > 1)
        qsort(stock->at, stock->count, sizeof(*stock->at), by_atom);
    return stock;
}

static const struct scored_stock *find_stock(const struct cycle *c, struct str resource)
{
    for (uint32_t i = 0; i < c->findings->device_stocks.count; i++)
        if (str_equal(c->findings->device_stocks.at[i].resource, resource))
            return stock_of(c, &c->findings->device_stocks.at[i]);
    return NULL;
}

static void look_up(const struct scored_stock *stock, const struct node_entry *node,
                    int64_t room_used[2])
{
    const struct listed key = {.name = node->name};
    const struct listed *found =
        stock->count == 0 ? NULL
                          : bsearch(&key, stock->at, stock->count, sizeof(*stock->at), by_atom);
    room_used[0] = found != NULL ? found->there : stock->there;
    room_used[1] = found != NULL ? found->used : stock->used;
}

struct scored_resources *scored_resources_make(const struct cycle *c, const struct quantity *names,
                                               uint32_t count, const struct quantity *asks,
                                               uint32_t ask_count)
{
    struct scored_resources *all = arena_take(c->arena, sizeof(*all));
    all->count = count;
    all->at = arena_take(c->arena, count * sizeof(*all->at));
    for (uint32_t i = 0; i < count; i++) {
        struct scored_resource *r = &all->at[i];
        r->fixed = resource_fixed(names[i].name);
        r->weight = names[i].amount;
        r->asked = resource_amount(asks, ask_count, names[i].name);
        if (r->fixed >= 0)
            continue;
        bool is_scalar = resource_is_scalar(names[i].name);
        r->resource = is_scalar ? atom_find(c->atoms, names[i].name) : 0;
        r->stock = is_scalar && r->asked != 0 ? find_stock(c, names[i].name) : NULL;
        r->left_out = (r->resource == 0 && r->stock == NULL) || r->asked == 0;
    }
    return all;
}

/* What is used of one of the fixed resources, by row. */
static const int64_t *used_column(const struct scored_resources *all, int fixed,
                                  const struct nodes *n)
{
    _Static_assert((int)SCORED_cpu == (int)RESOURCE_cpu, "cpu comes first in both");
    _Static_assert((int)SCORED_memory == (int)RESOURCE_memory, "memory comes second in both");
    bool scored = all->with_defaults && fixed < SCORED_COUNT;
    return scored ? n->scored[fixed] : n->requested[fixed];
}

bool scored_resource_on(const struct scored_resources *all, uint32_t i, const struct nodes *n,
                        uint32_t row, int64_t room_used[2])
{
    const struct scored_resource *r = &all->at[i];
    if (r->left_out)
        return false;
    if (r->fixed < 0) {
        const struct scalar *s = nodes_scalar(n, row, r->resource);
        room_used[0] = s == NULL ? 0 : s->allocatable;
        room_used[1] = s == NULL ? 0 : s->requested;
        if (room_used[0] == 0 && r->stock != NULL)
            look_up(r->stock, n->entry[row], room_used);
    } else {
        room_used[0] = n->allocatable[r->fixed][row];
        room_used[1] = used_column(all, r->fixed, n)[row];
    }
    return room_used[0] != 0;
}

bool scored_resource_column(const struct scored_resources *all, uint32_t i, const struct nodes *n,
                            struct row_range rows, struct kernel_resource *out)
{
    const struct scored_resource *r = &all->at[i];
    if (r->fixed < 0)
        return false;
    *out = (struct kernel_resource){.room = n->allocatable[r->fixed] + rows.from,
                                    .used = used_column(all, r->fixed, n) + rows.from,
                                    .asked = r->asked};
    bool plain = n->inexact == 0 && r->asked >= 0 && r->asked < KERNEL_EXACT / 2;
    return plain || kernel_is_exact(out, rows.count);
}
