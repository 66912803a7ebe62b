/* view: the pools as one node sees them, in the order in which they are tried. Mirrors upstream's
 * GatherPools. The one idea: the slices of the node and those for any node are kept in the order of
 * pools, so that merging the two lists yields one pool after the other. What must stay true: a pool
 * of which something is missing or wrong offers nothing, and is in the view all the same. */
#include "scheduler/devices/inside.h"

#include "proto/base/memory.h"

#include <string.h>

/* The slices of one pool while they are gathered: those in reach, of the newest generation. */
struct gathering {
    struct devices *devices;
    const struct dra_node *node;
    struct arena *arena;
    uint32_t count;
    struct slice **at; /* local ones first, then shared ones; each by name */
    struct str *error;
};

static bool bad_reach(const struct gathering *g, const struct slice *slice, struct str device,
                      struct str why)
{
    if (device.len == 0)
        *g->error = arena_print(g->arena,
                                "gather pool information: failed to perform node selection for "
                                "slice %.*s: failed to parse node selector: %.*s",
                                STR_ARG(slice->said.name), STR_ARG(why));
    else
        *g->error = arena_print(g->arena,
                                "gather pool information: failed to perform node selection for "
                                "device %.*s in slice %.*s: failed to parse node selector: %.*s",
                                STR_ARG(device), STR_ARG(slice->said.name), STR_ARG(why));
    return false;
}

/* A selector is looked at only when nothing before it decides. */
static bool reach_known(const struct dra_reach *reach, struct str bad)
{
    return bad.len == 0 || reach->node_name.len > 0 || reach->all_nodes;
}

static bool device_in_reach(const struct gathering *g, const struct slice *slice, bool *relevant)
{
    for (uint32_t i = 0; i < slice->device_count && !*relevant; i++) {
        const struct device *d = &slice->devices[i];
        if (!reach_known(&d->said.reach, d->bad_reach))
            return bad_reach(g, slice, d->said.name, d->bad_reach);
        *relevant = reach_matches(&d->said.reach, g->node);
    }
    return true;
}

static bool in_reach(const struct gathering *g, const struct slice *slice, bool *relevant)
{
    const struct dra_reach *reach = &slice->said.reach;
    *relevant = slice->set_count > 0;
    if (*relevant)
        return true;
    if (reach->node_name.len == 0 && !reach->all_nodes && !reach->has_terms)
        return !slice->said.per_device || device_in_reach(g, slice, relevant);
    if (!reach_known(reach, slice->bad_reach))
        return bad_reach(g, slice, (struct str){0}, slice->bad_reach);
    *relevant = reach_matches(reach, g->node);
    return true;
}

static bool offer(struct gathering *g, struct slice *slice)
{
    bool relevant;
    if (!in_reach(g, slice, &relevant))
        return false;
    if (!relevant || (g->count > 0 && slice->said.generation < g->at[0]->said.generation))
        return true;
    if (g->count > 0 && slice->said.generation > g->at[0]->said.generation)
        g->count = 0;
    g->at[g->count++] = slice;
    return true;
}

/* By name: the shared ones go in between the local ones. */
static void sort_by_name(struct gathering *g)
{
    for (uint32_t i = 1; i < g->count; i++) {
        struct slice *slice = g->at[i];
        uint32_t k = i;
        while (k > 0 && slice_compare(g->at[k - 1], slice) > 0) {
            g->at[k] = g->at[k - 1];
            k--;
        }
        g->at[k] = slice;
    }
}

/* Whether two devices of one name are among the slices. */
static bool doubled(const struct gathering *g, const struct edition *edition, bool all)
{
    if (!edition->doubled_devices || all)
        return edition->doubled_devices;
    uint64_t round = g->devices->round;
    for (uint32_t i = 0; i < g->count; i++)
        g->at[i]->seen = round;
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t d = 0; d < g->at[i]->device_count; d++)
            for (const struct device *t = g->at[i]->devices[d].twin; t != NULL; t = t->twin)
                if (t->slice->seen == round)
                    return true;
    return false;
}

static bool consumes_unknown(const struct gathering *g, const struct edition *edition, bool whole)
{
    if (!edition->unknown_counters || whole)
        return edition->unknown_counters;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i]->unknown_counters)
            return true;
    return false;
}

/* Keeps those with devices. */
static void keep_slices(const struct gathering *g, struct view_pool *pool)
{
    pool->slices = arena_take(g->arena, g->count * sizeof(struct slice *));
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i]->set_count == 0) {
            pool->slices[pool->slice_count++] = g->at[i];
            pool->has_binding = pool->has_binding || g->at[i]->has_binding;
        }
}

/* False when the pool is being replaced by a newer generation, none of which is in reach. */
static bool build(struct gathering *g, struct view_pool *pool)
{
    struct edition *edition = g->at[0]->edition;
    int64_t wanted = g->at[0]->said.slice_count;
    bool all = g->count == edition->slices.count;
    *pool = (struct view_pool){.pool = g->at[0]->pool, .edition = edition, .whole = true};
    if (g->count != wanted) {
        if (pool->pool->editions != edition)
            return false;
        pool->incomplete = edition->slices.count != wanted;
        if (pool->incomplete)
            return true;
    } else {
        pool->whole = all;
    }
    edition_settle(edition);
    pool->invalid = doubled(g, edition, all) || edition->doubled_sets ||
                    consumes_unknown(g, edition, pool->whole);
    if (pool->invalid)
        return true;
    sort_by_name(g);
    keep_slices(g, pool);
    return true;
}

static bool same_pool(const struct slice *a, const struct slice *b)
{
    return a->pool == b->pool;
}

/* Offers the slices of the first one's pool, which are next in the list. */
static bool offer_run(struct gathering *g, const struct slices *list, uint32_t *at,
                      const struct slice *first)
{
    while (*at < list->count && same_pool(list->at[*at], first))
        if (!offer(g, list->at[(*at)++]))
            return false;
    return true;
}

static const struct slice *next_of(const struct slices *a, uint32_t i, const struct slices *b,
                                   uint32_t k)
{
    if (i == a->count)
        return b->at[k];
    if (k == b->count || same_pool(a->at[i], b->at[k]))
        return a->at[i];
    return slice_compare(a->at[i], b->at[k]) < 0 ? a->at[i] : b->at[k];
}

static struct view_pool *view_room(struct node_view *view)
{
    if (view->count == view->room) {
        view->room = view->room == 0 ? 4 : view->room * 2;
        view->at = memory_resize(view->at, view->room * sizeof(*view->at));
    }
    return &view->at[view->count];
}

/* Room for all slices at once. */
static struct slice **gathering_room(struct devices *devices, uint32_t room)
{
    if (devices->gathered.room < room) {
        devices->gathered.room = room;
        devices->gathered.at = memory_resize(devices->gathered.at, room * sizeof(struct slice *));
    }
    return devices->gathered.at;
}

/* Pools with binding conditions behind the others; each part stays in order. */
static void put_binding_last(struct node_view *view, struct arena *arena)
{
    uint32_t kept = 0, last = 0;
    struct view_pool *binding = arena_take(arena, view->count * sizeof(*binding));
    for (uint32_t i = 0; i < view->count; i++)
        if (view->at[i].has_binding)
            binding[last++] = view->at[i];
        else
            view->at[kept++] = view->at[i];
    if (last > 0)
        memcpy(&view->at[kept], binding, last * sizeof(*binding));
}

bool view_gather(struct devices *devices, const struct dra_node *node, struct arena *arena,
                 struct node_view *view, struct str *error)
{
    static const struct slices none;
    const struct slices *local = map_get(devices->locals, node->name);
    const struct slices *shared = &devices->shared;
    bool binding = false;
    local = local == NULL ? &none : local;
    struct gathering g = {.devices = devices, .node = node, .arena = arena, .error = error};
    g.at = gathering_room(devices, local->count + shared->count);
    view->count = 0;
    for (uint32_t i = 0, k = 0; i < local->count || k < shared->count;) {
        const struct slice *first = next_of(local, i, shared, k);
        g.count = 0;
        if (!offer_run(&g, local, &i, first) || !offer_run(&g, shared, &k, first))
            return false;
        if (g.count > 0 && build(&g, view_room(view)))
            binding = view->at[view->count++].has_binding || binding;
    }
    if (binding)
        put_binding_last(view, arena);
    return true;
}
