/* gang_tree: the hands of a try of a tree. The one idea: members are passed over but for those of
 * the leaf that is tried; who is placed once more where it was is nominated there, so that it is
 * looked at there first.
 *
 * What must stay true: while the tree is tried, who waits or is decided belongs to one leaf. */
#include "scheduler/coordinator/gang_tree.h"

#include "proto/base/must.h"
#include "scheduler/catalog/device_extended.h"
#include "scheduler/coordinator/gang.h"
#include "scheduler/coordinator/measure_groups.h"

/* ---- its hands; the context is the coordinator, whose transaction it is ---- */

static struct tree_counts count(const void *context)
{
    const struct gang_try *g = gang_under_way(context);
    return (struct tree_counts){gang_try_waiting(g), g->placed};
}

static struct tree_pod look(const void *context, uint32_t member)
{
    const struct gang_place *m = &gang_under_way(context)->at[member];
    bool placed = m->flight != NULL && m->flight->state == FLIGHT_placed;
    return (struct tree_pod){.there = m->flight != NULL,
                             .placed = placed,
                             .why = m->failed ? &m->why : NULL,
                             .node = m->node};
}

static bool is_affected(const struct gang_place *m)
{
    return m->affected;
}

static void line_up(void *context, uint32_t first, uint32_t count)
{
    struct coordinator *c = context;
    struct gang_try *g = gang_under_way(c);
    for (uint32_t i = 0; i < g->count; i++) {
        struct gang_place *m = &g->at[i];
        m->affected = i >= first && i < first + count && m->flight != NULL;
        if (!m->affected)
            continue;
        m->failed = false;
        m->node = (struct str){NULL, 0};
    }
    gang_line_up(c, g, is_affected);
}

static void pass(void *context)
{
    struct coordinator *c = context;
    struct gang_try *g = gang_under_way(c);
    for (uint32_t i = 0; i < g->count; i++) {
        struct flight *f = g->at[i].flight;
        if (f == NULL || f->state != FLIGHT_waiting)
            continue;
        flights_start(&c->flights, f, FLIGHT_passed);
        g->passed++;
    }
}

static void undo(void *context, uint32_t first, uint32_t count)
{
    struct coordinator *c = context;
    struct gang_try *g = gang_under_way(c);
    for (uint32_t i = first + count; i > first; i--) {
        struct gang_place *m = &g->at[i - 1];
        if (m->flight == NULL || m->flight->state != FLIGHT_placed)
            continue;
        gang_undo_place(c, m);
        g->placed--;
        g->passed++;
    }
}

/* Nothing has to be reserved for it but room. */
static bool takes_room_alone(const struct coordinator *c, const struct flight *f)
{
    const struct pod *p = &f->pod;
    return f->extension == NULL && !extended_is_wanted(c->catalog, p) &&
           p->volumes.count + p->claims.count + p->resource_claims.count + p->device_claims.count ==
               0;
}

/* False: it is somewhere already, or its node has gone. */
static bool assume(struct coordinator *c, struct gang_try *g, struct gang_place *m, struct str node)
{
    struct flight *f = m->flight;
    if (!cache_has_node(c->cache, node) || !cache_assume(c->cache, &f->pod, node))
        return false;
    flights_start(&c->flights, f, FLIGHT_placed);
    f->pod.node_name = arena_copy(&f->arena, node);
    m->node = node;
    g->passed--;
    g->placed++;
    return true;
}

static bool place(void *context, const struct tree_member *members, const bool *wanted)
{
    struct coordinator *c = context;
    struct gang_try *g = gang_under_way(c);
    bool all = true;
    for (uint32_t i = 0; i < g->count; i++) {
        struct gang_place *m = &g->at[i];
        m->affected = wanted[i] && m->flight != NULL && m->flight->state == FLIGHT_passed &&
                      !takes_room_alone(c, m->flight);
        if (wanted[i] && m->flight != NULL && !m->affected)
            all &= assume(c, g, m, members[i].node);
    }
    gang_line_up(c, g, is_affected);
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i].affected)
            g->at[i].flight->pod.nominated_node = members[i].node;
    g->moved = true;
    return all;
}

static bool placed(void *context, const struct tree_member *members)
{
    struct gang_try *g = gang_under_way(context);
    bool all = true;
    for (uint32_t i = 0; i < g->count; i++) {
        const struct flight *f = g->at[i].flight;
        all &= !g->at[i].affected || f == NULL ||
               (f->state == FLIGHT_placed && str_equal(f->pod.node_name, members[i].node));
    }
    gang_tree_restore(g);
    return all;
}

static struct strs asked(void *context, uint32_t first, uint32_t count)
{
    return gang_try_asked(gang_under_way(context), first, count);
}

static void measure(void *context, const struct gang_placements *p, bool fits, int64_t ns)
{
    measure_placement(gang_under_way(context)->tree->framework, p, fits, ns);
}

/* ---- its life ---- */

void gang_tree_begin(struct coordinator *c, struct gang_try *g)
{
    static const struct tree_hands hands = {.count = count,
                                            .look = look,
                                            .line_up = line_up,
                                            .pass = pass,
                                            .undo = undo,
                                            .place = place,
                                            .placed = placed,
                                            .asked = asked,
                                            .measure = measure};
    struct tree_try *t = g->tree;
    t->framework = frameworks_find(&c->frameworks, g->scheduler_name);
    t->cache = c->cache;
    t->hands = &hands;
    t->context = c;
    t->dice = g->dice;
    t->count = g->count;
    t->now = c->last_call;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i].flight != NULL)
            g->at[i].nominated = arena_copy(&g->arena, g->at[i].flight->pod.nominated_node);
    pass(c);
    tree_try_begin(t);
}

void gang_tree_again(struct coordinator *c, struct gang_try *g)
{
    must(g->placed == 0);
    g->tree->now = c->last_call;
    tree_try_again(g->tree);
}

bool gang_tree_goes_on(struct coordinator *c, struct gang_try *g)
{
    struct tree_try *t = g->tree;
    bool goes_on = tree_try_goes_on(t, c->last_call);
    g->lost |= t->lost;
    g->stopped |= !goes_on && g->phase == GANG_placing && t->said[0].status.code == TREE_error;
    return goes_on;
}

void gang_tree_restore(struct gang_try *g)
{
    for (uint32_t i = 0; i < g->count && g->moved; i++)
        if (g->at[i].flight != NULL)
            g->at[i].flight->pod.nominated_node =
                arena_copy(&g->at[i].flight->arena, g->at[i].nominated);
    g->moved = false;
}

void gang_tree_keep_cleared(struct coordinator *c, struct gang_try *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        struct gang_place *m = &g->at[i];
        m->node = g->tree->members[i].node;
        if (m->flight != NULL && m->flight->state == FLIGHT_passed && m->node.len > 0 &&
            !assume(c, g, m, m->node))
            m->node = (struct str){NULL, 0};
    }
}
