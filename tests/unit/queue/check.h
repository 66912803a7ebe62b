/* check: what must be true of the queues between any two steps; shared by the queue's tests. */
#ifndef TESTS_UNIT_QUEUE_CHECK_H
#define TESTS_UNIT_QUEUE_CHECK_H

#include "proto/base/must.h"
#include "queue/forest/forest.h"
#include "queue/gang.h"
#include "queue/gate.h"
#include "queue/hints.h"
#include "queue/queues.h"
#include "queue/rank.h"

#include <string.h>

#ifndef CHECK_NAMES_EVERY
#define CHECK_NAMES_EVERY 1
#endif

static void check_heap(struct heap *heap, enum place place)
{
    for (size_t i = 0; i < heap_count(heap); i++) {
        struct entry *e = heap_at(heap, i);
        const struct entry *parent = heap_at(heap, i > 0 ? (i - 1) / 2 : 0);
        must(e->place == place && heap_has(heap, e));
        if (place == PLACE_active)
            must(i == 0 || !rank_entry_before(e, parent));
        else
            must(i == 0 || e->backoff_ends.ns >= parent->backoff_ends.ns);
    }
}

static size_t check_list(const struct entry_list *list, enum place place)
{
    size_t count = 0;
    const struct entry *before = NULL;
    for (const struct entry *e = list->first; e != NULL; before = e, e = e->next, count++)
        must(e->place == place && e->prev == before);
    must(list->last == before && list->count == count);
    return count;
}

static size_t check_flights(const struct in_flight *f)
{
    size_t here = 0, left = 0;
    int64_t cycle = INT64_MIN;
    for (const struct flight *flight = f->first; flight != NULL; flight = flight->next) {
        must(flight->cycle > cycle && flight->cycle <= f->cycle);
        cycle = flight->cycle;
        left += flight->entry == NULL;
        here += flight->entry != NULL;
        must(flight->entry == NULL ||
             (flight->entry->flight == flight && flight->entry->place == PLACE_in_flight));
    }
    must(f->count == here + left && f->left == left);
    return here;
}

static void check_unschedulable(const struct unschedulable *u)
{
    uint32_t by_plugin[64] = {0};
    uint64_t plugins = 0;
    size_t gated = 0;
    for (const struct entry *e = u->list.first; e != NULL; e = e->next) {
        uint64_t set = e->rejectors | e->pending_plugins;
        must(set != 0 || e->gate == GATE_deleting);
        plugins |= set;
        gated += e->gate != GATE_none;
        must(e->wait_count == (uint32_t)__builtin_popcountll(gate_listens(e)));
        for (int i = 0; i < 64; i++)
            by_plugin[i] += (uint32_t)(set >> i & 1);
    }
    must(plugins == u->plugins && gated == u->gated);
    must(memcmp(by_plugin, u->by_plugin, sizeof(by_plugin)) == 0);
}

/* A group's counts, and that it waits or sleeps as a whole. Returns who waits with it. */
static size_t check_group(const struct group *g)
{
    size_t members = 0, waits = 0, sleeps = 0, alone = 0, bound = 0;
    for (const struct member *m = g->first; m != NULL; m = m->next, members++) {
        const struct entry *e = m->entry;
        must(e->member == m && m->group == g);
        struct group *root = m->leaf->up != NULL ? forest_root(m->leaf) : NULL;
        must(g == (root != NULL ? root : m->leaf));
        waits += e->place == PLACE_gang;
        bound += e->place == PLACE_bound;
        sleeps += e->place == PLACE_unschedulable && e->gate == GATE_none;
        alone += e->place == PLACE_active || e->place == PLACE_backoff ||
                 e->place == PLACE_error_backoff;
    }
    must(members == g->member_count && bound == g->bound);
    must(check_list(&g->ready, PLACE_gang) == waits);
    if (g->marked) /* it is looked at when the batch is over */
        return waits;
    must(g->satisfied == (g->exists && group_least(g) <= group_placed(g) && !group_is_whole(g)));
    must(g->satisfied ? waits == 0 : alone == 0);
    must(g->satisfied || g->flights > 0 || waits == 0 || sleeps == 0);
    must(g->state != GROUP_ready || ((int64_t)waits >= group_needed(g) && g->flights == 0));
    must((g->queued.index_plus_one != 0) ==
         (g->state == GROUP_ready || (g->state == GROUP_backoff && !g->waits_out)));
    return waits;
}

/* Who is a child of whom, and how many pending pods name the group. */
static void check_tree(const struct queues *q, const struct group *g)
{
    size_t at = 0, pending = 0, children = 0;
    void *value;
    while (map_next(q->gangs.groups, &at, NULL, &value)) {
        const struct group *other = value;
        children += other->up == g;
        for (const struct member *m = other->first; m != NULL; m = m->next)
            pending += m->leaf == g;
    }
    must(pending == g->pending);
    for (const struct group *c = g->children; c != NULL; c = c->next_child, children--)
        must(c->up == g && (c->next_child == NULL || c->next_child->prev_child == c));
    must(children == 0 && (g->up == NULL || (g->exists && q->gangs.trees)));
}

static size_t check_groups(const struct queues *q)
{
    size_t at = 0, waits = 0;
    struct str key;
    void *value;
    while (map_next(q->gangs.groups, &at, &key, &value)) {
        const struct group *g = value;
        must(str_equal(key, str_of(g->key)));
        check_tree(q, g);
        waits += check_group(g);
    }
    for (size_t i = 1; i < heap_count(q->gangs.ready); i++) {
        struct rank child = rank_of_group(heap_at(q->gangs.ready, i));
        struct rank parent = rank_of_group(heap_at(q->gangs.ready, (i - 1) / 2));
        must(!rank_before(&child, &parent));
    }
    return waits;
}

/* Who is parked is spoken for by somebody who listens, or there is something that leads on. */
static void check_equivalence(const struct equivalence *equivalence)
{
    size_t at = 0, parked = 0;
    const struct equals *k;
    while ((k = table_next(&equivalence->table, &at)) != NULL) {
        size_t here = k->parked != NULL ? heap_count(k->parked) : 0;
        for (size_t i = 0; i < here; i++) {
            const struct entry *e = heap_at(k->parked, i);
            must(e->place == PLACE_parked && e->equals == k && e->rejectors != 0);
        }
        must(k->members >= here + k->released && k->limit > 0);
        must(here == 0 || k->spoken || k->marked || k->under_way + k->released >= k->limit);
        parked += here;
    }
    must(parked == equivalence->parked);
}

/* Every entry is in exactly one place, every place holds only entries, heaps are in order. */
static void check_queues(const struct queues *q)
{
    size_t in_places = active_count(&q->active) + backoff_count(&q->backoff);
    check_heap(q->active.heap, PLACE_active);
    check_heap(q->backoff.pods, PLACE_backoff);
    check_heap(q->backoff.errors, PLACE_error_backoff);
    in_places += check_list(&q->unschedulable.list, PLACE_unschedulable);
    in_places += check_list(&q->bound, PLACE_bound);
    in_places += check_flights(&q->in_flight) + check_groups(q) + q->equivalence.parked;
    check_equivalence(&q->equivalence);
    check_unschedulable(&q->unschedulable);
    must(in_places == map_count(q->entries));
    size_t at = 0, nominated = 0, looked = (size_t)q->in_flight.cycle;
    struct str key;
    void *value;
    while (map_next(q->entries, &at, &key, &value)) {
        const struct entry *e = value;
        nominated += e->nominated != NULL;
        must(!e->released || e->place == PLACE_active || e->place == PLACE_backoff);
        must(e->place != PLACE_nowhere && e->place < PLACE_COUNT);
        must(e->place == PLACE_unschedulable || e->waits == NULL);
        must(e->helped == 0 && e->found_next == NULL);
        if (++looked % CHECK_NAMES_EVERY == 0) /* reading names is most of what this costs */
            must(key.len == store_str(e->kept, TAG_pod_namespace_name).len + 1 +
                                store_str(e->kept, TAG_pod_name).len);
    }
    must(nominated == q->nominations.count);
}

#endif
