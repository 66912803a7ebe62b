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

static struct strs copy_strs(const struct strs *list, struct arena *a)
{
    struct strs copy = {0, arena_take(a, list->count * sizeof(struct str))};
    for (uint32_t i = 0; i < list->count; i++)
        copy.at[copy.count++] = arena_copy(a, list->at[i]);
    return copy;
}

void gang_try_note_failure(struct gang_try *g, struct gang_place *m, const struct decision *d)
{
    m->failed = true;
    m->why = (struct decision){.kind = d->kind,
                               .message = arena_copy(&g->arena, d->message),
                               .plugins = copy_strs(&d->plugins, &g->arena),
                               .node = arena_copy(&g->arena, d->node),
                               .clear_nominated = d->clear_nominated};
    m->why.deallocation =
        (struct deallocation){.claim = arena_copy(&g->arena, d->deallocation.claim),
                              .uid = arena_copy(&g->arena, d->deallocation.uid),
                              .version = d->deallocation.version,
                              .deletes = d->deallocation.deletes};
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
