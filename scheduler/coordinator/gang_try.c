/* gang_try: who belongs to a group that is tried. The one idea: members keep their places, so that
 * the order stays the queue's whoever leaves. What must stay true: a flight and its place point at
 * each other, and the counts say how many flights are in which state. */
#include "scheduler/coordinator/gang_try.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/cluster/cache.h"
#include "scheduler/coordinator/flight.h"

struct gang_try *gang_try_new(const struct gang *group, int64_t needed, uint32_t room)
{
    struct gang_try *g = memory_take(sizeof(*g));
    codec_copy(&gang_record, &g->group, group, &g->arena);
    g->needed = needed;
    g->users = 1;
    g->at = memory_take_array(room, sizeof(*g->at));
    return g;
}

void gang_try_drop(struct gang_try *g)
{
    must(g->users > 0);
    if (--g->users > 0)
        return;
    arena_free(&g->arena);
    memory_free(g->at);
    memory_free(g);
}

void gang_try_add(struct gang_try *g, struct flight *f)
{
    must(f->gang == NULL);
    f->gang = g;
    f->grouped = true;
    f->place = g->count;
    g->at[g->count++] = (struct gang_place){.flight = f};
    g->users++;
}

void gang_try_leave(struct flight *f)
{
    struct gang_try *g = f->gang;
    if (g == NULL)
        return;
    must(g->at[f->place].flight == f);
    g->placed -= f->state == FLIGHT_placed;
    g->passed -= f->state == FLIGHT_passed;
    g->left++;
    g->at[f->place].flight = NULL;
    f->gang = NULL;
    gang_try_drop(g);
}

uint32_t gang_try_waiting(const struct gang_try *g)
{
    return g->count - g->placed - g->passed - g->left;
}

uint32_t gang_try_placed_beside(const struct gang_try *g, const struct flight *f)
{
    uint32_t count = 0;
    if (g->tree == NULL)
        return g->placed;
    for (uint32_t i = 0; i < g->count; i++) {
        const struct flight *other = g->at[i].flight;
        count += other != NULL && other->state == FLIGHT_placed &&
                 str_equal(other->pod.gang, f->pod.gang);
    }
    return count;
}

const struct strs *gang_try_placement(const struct gang_try *g)
{
    const struct gang_placements *p = &g->placements;
    if (g->tree != NULL)
        return tree_try_nodes(g->tree);
    return p->count > 0 ? &p->at[p->current].nodes : NULL;
}

struct strs gang_try_asked(struct gang_try *g, uint32_t first, uint32_t count)
{
    uint32_t room = 0;
    for (uint32_t i = first; i < first + count; i++)
        room += g->at[i].flight != NULL ? g->at[i].flight->pod.request.count : 0;
    struct strs asked = {0, arena_take(&g->arena, room * sizeof(struct str))};
    for (uint32_t i = first; i < first + count; i++) {
        const struct flight *f = g->at[i].flight;
        for (uint32_t k = 0; f != NULL && f->state == FLIGHT_placed && k < f->pod.request.count;
             k++)
            if (!strs_hold(asked, f->pod.request.at[k].name))
                asked.at[asked.count++] = arena_copy(&g->arena, f->pod.request.at[k].name);
    }
    return asked;
}

void gang_try_keep_first(struct gang_try *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        g->at[i].first_failed = g->at[i].failed;
        g->at[i].first = g->at[i].why;
    }
}

void gang_try_take_first(struct gang_try *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        g->at[i].failed = g->at[i].first_failed;
        g->at[i].why = g->at[i].first;
    }
}

static struct strs copy_strs(const struct strs *list, struct arena *a)
{
    struct strs copy = {0, arena_take(a, list->count * sizeof(struct str))};
    for (uint32_t i = 0; i < list->count; i++)
        copy.at[copy.count++] = arena_copy(a, list->at[i]);
    return copy;
}

static struct deallocation copy_deallocation(const struct deallocation *d, struct arena *a)
{
    return (struct deallocation){.claim = arena_copy(a, d->claim),
                                 .uid = arena_copy(a, d->uid),
                                 .version = d->version,
                                 .deletes = d->deletes,
                                 .group_uid = arena_copy(a, d->group_uid),
                                 .unreserves = d->unreserves,
                                 .pending = d->pending};
}

void gang_try_note_failure(struct gang_try *g, struct gang_place *m, const struct decision *d)
{
    m->failed = true;
    m->why = (struct decision){.kind = d->kind,
                               .message = arena_copy(&g->arena, d->message),
                               .plugins = copy_strs(&d->plugins, &g->arena),
                               .node = arena_copy(&g->arena, d->node),
                               .clear_nominated = d->clear_nominated && (!g->whole || g->former)};
    if (g->tree == NULL && (!g->whole || g->former || !g->placements.constrained))
        m->why.deallocation = copy_deallocation(&d->deallocation, &g->arena);
    m->why.for_group = copy_deallocation(&d->for_group, &g->arena);
    m->why.claims_known = d->claims_known;
    m->why.preemption.reason = arena_copy(&g->arena, d->preemption.reason);
    m->why.preemption.node = arena_copy(&g->arena, d->preemption.node);
}

void gang_try_note_room(struct gang_try *g, struct gang_place *m, const struct preemption *p)
{
    m->evicts = true;
    m->room =
        (struct preemption){.node = arena_copy(&g->arena, p->node), .violations = p->violations};
    m->room.victims.at = arena_take(&g->arena, p->victims.count * sizeof(struct victim));
    for (; m->room.victims.count < p->victims.count; m->room.victims.count++)
        codec_copy(&victim_record, &m->room.victims.at[m->room.victims.count],
                   &p->victims.at[m->room.victims.count], &g->arena);
}

struct strs gang_try_nominated(const struct gang_try *g, const struct cache *cache, struct arena *a)
{
    struct strs uids = {0};
    struct str node;
    if (g == NULL)
        return uids;
    uids.at = arena_take(a, g->count * sizeof(struct str));
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i].flight != NULL && cache_nomination(cache, g->at[i].flight->pod.uid, &node))
            uids.at[uids.count++] = g->at[i].flight->pod.uid;
    return uids;
}
