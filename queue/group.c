/* group: one PodGroup with its pods: what is asked of it, who waits with it, and the heaps it is
 * in. What must stay true: a pod is among the ready ones exactly while its place is PLACE_gang; the
 * group is in the heap of ready groups, or of those in backoff, exactly while its state asks for
 * that. */
#include "queue/group.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/objects/objects.h"
#include "queue/hints.h"

void group_free(struct group *g)
{
    must(g->first == NULL && g->ready.count == 0);
    sums_free(&g->usage);
    arena_free(&g->memory);
    memory_free(g->key);
    memory_free(g);
}

void group_mark(struct group *g)
{
    if (g->marked)
        return;
    g->marked = true;
    g->next_marked = g->gangs->marked;
    g->gangs->marked = g;
}

/* ---- what is asked of it ---- */

bool group_is_gang(const struct group *g)
{
    return g->exists && group_least(g) > 0;
}

bool group_is_in_tree(const struct group *g)
{
    return str_is(g->api, "scheduling.k8s.io") || group_is_tree(g);
}

bool group_is_tree(const struct group *g)
{
    return str_is(g->api, KUBE_GANG_COMPOSITE);
}

int64_t group_least(const struct group *g)
{
    bool counts = !group_is_in_tree(g) || g->around == NULL || !g->around->uncounted_groups;
    return counts ? g->record.min_member : 0;
}

int64_t group_placed(const struct group *g)
{
    return (int64_t)(g->assigned + g->below + g->bound);
}

bool group_is_whole(const struct group *g)
{
    return group_is_in_tree(g) && g->around != NULL && g->around->whole_groups;
}

int64_t group_needed(const struct group *g)
{
    int64_t needed = group_least(g) - group_placed(g), least = group_is_whole(g);
    if (group_is_tree(g)) /* its minimum counts groups */
        return 1;
    return needed > least ? needed : least;
}

bool group_holds(const struct entry *e)
{
    return e->member != NULL && !e->member->group->satisfied;
}

bool group_stands_for(const struct entry *e)
{
    return e->member != NULL && group_is_in_tree(e->member->group);
}

/* ---- its pods ---- */

void group_add_ready(struct group *g, struct entry *e)
{
    must(e->place == PLACE_nowhere);
    e->place = PLACE_gang;
    entry_list_add(&g->ready, e);
    g->awake = true;
    if (g->around == NULL)
        g->around = e->around;
    group_mark(g);
}

void group_remove_ready(struct group *g, struct entry *e)
{
    must(e->place == PLACE_gang);
    entry_list_remove(&g->ready, e);
    e->place = PLACE_nowhere;
}

void group_add_bound(const struct entry *e)
{
    if (e->member == NULL)
        return;
    e->member->group->bound++;
    group_mark(e->member->group);
}

void group_remove_bound(const struct entry *e)
{
    if (e->member == NULL)
        return;
    must(e->member->group->bound > 0);
    e->member->group->bound--;
    group_mark(e->member->group);
}

/* ---- its heaps ---- */

void group_set_state(struct group *g, enum group_state state)
{
    struct gangs *gs = g->gangs;
    if (g->queued.index_plus_one != 0)
        heap_remove(g->state == GROUP_ready ? gs->ready : gs->backoff, g);
    g->state = state;
    if (state == GROUP_ready)
        heap_push(gs->ready, g);
    else if (state == GROUP_backoff && !g->waits_out)
        heap_push(gs->backoff, g);
}

void group_set_telling(struct group *g, struct moment due)
{
    struct heap *telling = g->gangs->telling;
    if (g->telling.index_plus_one != 0)
        heap_remove(telling, g);
    g->tell_due = due;
    if (due.ns != MOMENT_NEVER.ns)
        heap_push(telling, g);
}
