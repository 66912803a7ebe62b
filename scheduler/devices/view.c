/* view: the pools as one node sees them, in the order in which they are tried. Mirrors upstream's
 * GatherPools. The one idea: the slices that the node may reach and those for any node come in the
 * order of pools, so that merging the lists yields one pool after the other. What must stay true: a
 * pool of which something is missing or wrong offers nothing, and is in the view all the same. */
#include "scheduler/devices/inside.h"

#include "proto/base/memory.h"

#include <string.h>

/* The slices of one pool while they are gathered: those in reach, of the newest generation. */
struct gathering {
    struct devices *devices;
    const struct dra_ways *ways;
    const struct dra_node *node;
    struct arena *arena;
    uint32_t count;
    struct slice **at; /* those of one list after those of the other; each by name */
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

/* Sets of counters that the node does not reach are in its view all the same. */
static bool sees_all_counters(const struct dra_ways *ways)
{
    return ways->features.release < 37 || ways->stable;
}

static bool in_reach(const struct gathering *g, const struct slice *slice, bool *relevant)
{
    const struct dra_reach *reach = &slice->said.reach;
    *relevant = slice->set_count > 0 && sees_all_counters(g->ways);
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
    if (!g->ways->features.device_partitions && (slice->said.per_device || slice->set_count > 0))
        return true;
    if (g->ways->no_groups && slice->uses_groups)
        return true;
    if (!in_reach(g, slice, &relevant))
        return false;
    if (!relevant || (g->count > 0 && slice->said.generation < g->at[0]->said.generation))
        return true;
    if (g->count > 0 && slice->said.generation > g->at[0]->said.generation)
        g->count = 0;
    g->at[g->count++] = slice;
    return true;
}

/* By name: those of one list go in between those of the other. */
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
    bool unknown = edition->unknown_counters || (edition->unknown_in_groups && !g->ways->no_groups);
    if (!unknown || whole)
        return unknown;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i]->unknown_counters)
            return true;
    return false;
}

/* ---- a view of 1.37 that lacks slices of the generation, which has more than there should be ----
 */

static bool shares_set(const struct slice *slice, struct str set)
{
    for (uint32_t i = 0; i < slice->set_count; i++)
        if (str_equal(slice->sets[i], set))
            return true;
    return false;
}

static bool shares_counter(const struct slice *slice, const struct consumption *c)
{
    for (uint32_t i = 0; i < slice->counter_count; i++)
        if (str_equal(slice->counters[i].set, c->set) &&
            str_equal(slice->counters[i].name, c->name))
            return true;
    return c->name.len == 0 && shares_set(slice, c->set);
}

static bool consumes_out_of_view(const struct gathering *g, const struct slice *slice)
{
    for (uint32_t d = 0; d < slice->device_count; d++)
        for (uint32_t i = 0; i < slice->devices[d].consumption_count; i++) {
            bool known = false;
            for (uint32_t k = 0; k < g->count && !known; k++)
                known = shares_counter(g->at[k], &slice->devices[d].consumption[i]);
            if (!known)
                return true;
        }
    return false;
}

/* Sets of counters count only where the node reaches them. */
static bool invalid_in_part(const struct gathering *g)
{
    uint32_t of_set = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        if (g->at[i]->set_count == 0 && consumes_out_of_view(g, g->at[i]))
            return true;
        for (uint32_t s = 0; s < g->at[i]->set_count; s++, of_set = 0) {
            for (uint32_t k = 0; k < g->count; k++)
                of_set += shares_set(g->at[k], g->at[i]->sets[s]);
            if (of_set > 1)
                return true;
        }
    }
    return false;
}

static bool invalid(const struct gathering *g, const struct edition *edition, bool all, bool whole)
{
    if (doubled(g, edition, all))
        return true;
    if (!g->ways->features.device_partitions)
        return false;
    if (!whole && g->ways->features.release >= 37 && !g->ways->stable)
        return invalid_in_part(g);
    return edition->doubled_sets || consumes_unknown(g, edition, whole);
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
    uint32_t count = edition->slices.count - (g->ways->no_groups ? edition->grouped : 0);
    bool all = g->count == count;
    *pool = (struct view_pool){.pool = g->at[0]->pool, .edition = edition, .whole = true};
    if (g->count != wanted) {
        if (pool->pool->editions != edition)
            return false;
        pool->incomplete = count != wanted;
        if (pool->incomplete)
            return true;
    } else {
        pool->whole = all;
    }
    edition_settle(edition);
    pool->invalid = invalid(g, edition, all, pool->whole);
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

/* Lists of slices, each in order, that are walked as one. */
#define LISTS_MAX 3
struct walk {
    uint32_t count;
    const struct slices *lists[LISTS_MAX];
    uint32_t at[LISTS_MAX];
};

/* The first one of the next pool; NULL: there is none left. */
static const struct slice *next_of(const struct walk *w)
{
    const struct slice *first = NULL;
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->at[i] == w->lists[i]->count)
            continue;
        const struct slice *slice = w->lists[i]->at[w->at[i]];
        if (first == NULL || (!same_pool(slice, first) && slice_compare(slice, first) < 0))
            first = slice;
    }
    return first;
}

/* What may be in reach of the node, and what is in every view. */
static struct walk walk_for(struct devices *devices, const struct view_question *q)
{
    struct slices *own = &devices->own;
    struct walk w = {.count = 2, .lists = {own, &devices->shared, &devices->counting}};
    uint32_t kept = 0;
    reach_index_gather(devices->index, q->node, own);
    if (!sees_all_counters(q->ways))
        return w;
    for (uint32_t i = 0; i < own->count; i++)
        if (own->at[i]->set_count == 0)
            own->at[kept++] = own->at[i];
    own->count = kept;
    w.count = 3;
    return w;
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

bool view_gather(struct devices *devices, const struct view_question *q, struct node_view *view,
                 struct str *error)
{
    struct walk w = walk_for(devices, q);
    const struct slice *first;
    uint32_t room = 0;
    bool binding = false;
    struct gathering g = {
        .devices = devices, .ways = q->ways, .node = q->node, .arena = q->arena, .error = error};
    for (uint32_t i = 0; i < w.count; i++)
        room += w.lists[i]->count;
    g.at = gathering_room(devices, room);
    view->count = 0;
    while ((first = next_of(&w)) != NULL) {
        g.count = 0;
        for (uint32_t i = 0; i < w.count; i++)
            if (!offer_run(&g, w.lists[i], &w.at[i], first))
                return false;
        if (g.count > 0 && build(&g, view_room(view)))
            binding = view->at[view->count++].has_binding || binding;
    }
    if (binding && !q->ways->stable)
        put_binding_last(view, q->arena);
    return true;
}
