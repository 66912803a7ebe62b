/* gang_review: decides for each group that something happened to whether it is complete enough, and
 * hands it over.
 *
 *   members ready ──► idle · flying · missing · few · gated · … · backoff ──► ready ──► in flight
 *        ▲                                                                                │
 *        └── all of them, when anything can help one ◄── asleep, each for its own reason ─┘
 *
 * What must stay true after gangs_tick: of a group that has not minMember on nodes either all pods
 * that could be tried wait together (PLACE_gang), or all of them sleep; so it is tried as a whole
 * and wakes as a whole. A group that has them keeps nobody waiting. */
#include "queue/gang.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "queue/equivalence.h"
#include "queue/forest/forest.h"
#include "queue/hints.h"
#include "queue/measure.h"
#include "queue/places.h"
#include "queue/rank.h"

#include <stdlib.h>

void gangs_hurry(const struct entry *e)
{
    if (group_holds(e))
        e->member->group->attempt.hurry = true;
}

/* ---- how a transaction ended ---- */

void gangs_ended(struct queues *q, const struct entry *e, enum gang_end end, uint64_t rejectors)
{
    if (!group_holds(e) || e->flight == NULL || e->flight->group != e->member->group)
        return;
    struct group_try *t = &e->member->group->attempt;
    t->bound += end == GANG_bound;
    t->rejected += end == GANG_rejected;
    t->fit += end == GANG_rejected && (rejectors & ~q->gangs.sake) == 0;
    t->errors += end == GANG_error;
    t->skipped += end == GANG_skipped;
    t->nominated |= end == GANG_rejected && e->nominated != NULL;
}

/* The plugin does not deny a group that all but a few members of minMember had a place for: others
 * that come may make up for those. Nor one that room is made for. */
static void deny(struct queues *q, struct moment now, struct group *g, const struct group_try *t)
{
    const struct surroundings *around = g->around;
    int64_t gap = t->needed - t->fit;
    bool small = gap * 100 <= around->gang_reject_percentage * g->record.min_member;
    if (around->gang_backoff_s == 0 || t->nominated || small)
        return;
    g->denied_until = moment_after(now, span_of_seconds((double)around->gang_backoff_s));
    q->gangs.counts.denied++;
}

static struct moment end_of(const struct queues *q, struct moment now, struct span wait)
{
    return wait.ns > 0 ? backoff_aligned(&q->backoff, moment_after(now, wait)) : (struct moment){0};
}

/* Those that were left out of a message that had no room for them fare as the others do. */
static void park_left_out(struct queues *q, struct group *g)
{
    while (!g->awake && g->ready.first != NULL) {
        struct entry *e = g->ready.first;
        group_remove_ready(g, e);
        e->rejectors = q->gangs.coscheduling;
        e->pending_plugins = 0;
        unschedulable_add(&q->unschedulable, e);
    }
}

/* What is left after some were placed is tried at once. */
static void go_on(struct group *g, const struct group_try *t)
{
    g->awake |= t->rejected > 0;
    g->failures = g->errors = 0;
    g->failed_us = 0;
    g->backoff_ends = (struct moment){0};
}

/* Every outcome has come, and minMember are not placed. */
static void conclude(struct queues *q, struct moment now, struct group *g)
{
    const struct group_try t = g->attempt;
    struct span wait = q->backoff.initial;
    g->attempt = (struct group_try){0};
    if (group_is_whole(g) && t.bound > 0)
        go_on(g, &t);
    if (t.errors + t.skipped == 0 && (t.rejected == 0 || t.bound > 0))
        return;
    g->waits_out = t.errors + t.skipped > 0;
    if (t.errors > 0) {
        wait = backoff_after(&q->backoff, ++g->errors);
    } else if (t.skipped == 0) {
        g->errors = 0;
        wait = backoff_after(&q->backoff, ++g->failures);
        q->gangs.counts.failed++;
        deny(q, now, g, &t);
        park_left_out(q, g);
    }
    g->permitted_until = (struct moment){0};
    g->age = now;
    g->failed_us = q->gangs.wall_us_at_zero + now.ns / 1000;
    g->backoff_ends = t.hurry || q->backoff.max.ns == 0 ? (struct moment){0} : end_of(q, now, wait);
    /* As upstream, which has no hints for groups; where pods are tried one by one, those that found
     * no place have theirs. */
    if (group_is_whole(g) || (group_is_in_tree(g) && t.fit > 0))
        g->retry = moment_after(g->backoff_ends.ns > 0 ? g->backoff_ends : now, span_of_seconds(1));
}

/* ---- where it stands ---- */

/* Its pods as the plugin counts them: those on nodes, and those that wait here. */
struct head_count {
    int64_t pods, gated;
};

static struct head_count count_heads(const struct group *g)
{
    struct head_count c = {.pods = (int64_t)g->assigned};
    for (const struct member *m = g->first; m != NULL; m = m->next) {
        c.pods += !m->entry->deleting;
        c.gated += m->entry->gate != GATE_none && m->entry->gate != GATE_deleting;
    }
    return c;
}

/* As upstream queues it since 1.37, as one: a single member with a gate holds all. */
static bool is_held_by_a_gate(const struct group *g)
{
    return group_is_whole(g) && count_heads(g).gated > 0;
}

static bool is_mixed(const struct group *g)
{
    if (!group_is_in_tree(g))
        return false;
    for (const struct entry *e = g->ready.first; e != NULL; e = e->next)
        if (e->around != g->ready.first->around)
            return true;
    return false;
}

static bool is_too_large(const struct group *g)
{
    size_t bytes = 0;
    int64_t needed = group_needed(g);
    if (group_is_tree(g))
        needed = (int64_t)g->ready.count; /* a leaf of which some are missing is another one */
    for (const struct entry *e = g->ready.first; e != NULL && needed > 0; e = e->next, needed--)
        bytes += store_size(e->store, e->kept);
    return bytes > GANG_BYTES_MAX;
}

static bool is_short(struct queues *q, struct moment now, struct group *g)
{
    struct arena memory = {0};
    if (!g->record.has_min_resources || !moment_reached(now, g->permitted_until))
        return false;
    bool gap = room_gap(q, g, &memory).count > 0;
    arena_free(&memory);
    if (!gap)
        g->permitted_until = moment_after(now, span_of_seconds((double)g->around->gang_wait_s));
    return gap;
}

/* A group below others has pods of its own only while one of those is missing. */
static enum group_state standing(struct queues *q, struct moment now, struct group *g)
{
    if (g->ready.count == 0)
        return GROUP_idle;
    if (g->flights > 0)
        return GROUP_flying;
    if (!g->exists)
        return gangs_why_unread(g) != NULL ? GROUP_unread : GROUP_missing;
    if (g->up != NULL) /* its root is not known */
        return GROUP_missing;
    if (group_is_tree(g) && !forest_is_complete(g))
        return GROUP_few;
    if ((int64_t)g->ready.count < group_needed(g)) {
        struct head_count c = count_heads(g);
        return c.pods < group_least(g) || c.gated == 0 ? GROUP_few : GROUP_gated;
    }
    if (is_held_by_a_gate(g))
        return GROUP_gated;
    if (is_mixed(g))
        return GROUP_mixed;
    if (is_too_large(g))
        return GROUP_large;
    if (!moment_reached(now, g->denied_until))
        return GROUP_denied;
    return is_short(q, now, g) ? GROUP_short : GROUP_ready;
}

static bool backoff_over(const struct queues *q, const struct group *g, struct moment now)
{
    return g->backoff_ends.ns == 0 || g->backoff_ends.ns < backoff_aligned(&q->backoff, now).ns;
}

static int64_t sort_key_of(const struct group *g)
{
    int64_t highest = INT64_MIN;
    for (const struct entry *e = g->ready.first; e != NULL; e = e->next)
        highest = e->key > highest ? e->key : highest;
    return highest;
}

/* When its backoff may be cut short. */
static struct moment early_at(const struct group *g)
{
    struct moment waited = moment_after(g->age, span_of_ms(GANG_EARLY_AFTER_MS));
    struct moment spaced = moment_after(g->gangs->early, span_of_ms(GANG_EARLY_SPACING_MS));
    return waited.ns > spaced.ns ? waited : spaced;
}

static struct moment due_of(const struct group *g, const struct queues *q)
{
    if (g->state == GROUP_backoff)
        return moment_after(backoff_second(g->backoff_ends), span_of_seconds(1));
    if (g->state == GROUP_denied)
        return g->denied_until;
    if (g->state == GROUP_short)
        return moment_after(q->gangs.room.asked, span_of_seconds(ROOM_AGAIN_SECONDS));
    if (g->state == GROUP_idle && g->retry.ns > 0)
        return g->retry;
    return MOMENT_NEVER;
}

static void set_timer(struct group *g, struct moment due)
{
    struct heap *timed = g->gangs->timed;
    if (g->timed.index_plus_one != 0)
        heap_remove(timed, g);
    g->due = due;
    if (due.ns != MOMENT_NEVER.ns)
        heap_push(timed, g);
}

/* Upstream's queue has an in-tree group as one. */
static void count_group(struct queues *q, struct group *g)
{
    enum queued_in where;
    bool queued = measure_place_of_group(g, &where);
    if (!queued) {
        g->counted = 0;
        return;
    }
    measure_seen(&q->measured, QUEUED_podgroup, where);
    enum queued_in counted = where == IN_gated ? IN_unschedulable : where;
    if (g->counted != (int64_t)counted + 1)
        measure_entity(&q->measured, QUEUED_podgroup, counted, q->cause);
    g->counted = (int64_t)counted + 1;
}

/* It is in no heap. */
static void settle(struct queues *q, struct moment now, struct group *g)
{
    enum group_state state = standing(q, now, g);
    if (state == GROUP_ready && !backoff_over(q, g, now))
        state = GROUP_backoff;
    if (state == GROUP_ready || state == GROUP_backoff)
        g->sort_key = sort_key_of(g);
    group_set_state(g, state);
    count_group(q, g);
    if (g->satisfied || g->member_count == g->bound)
        g->since = (struct moment){0};
    else if (g->since.ns == 0)
        g->since = now;
    set_timer(g, due_of(g, q));
    group_note_state(g, now);
}

/* ---- looking at it ---- */

/* What sleeps wakes; with only_idle those alone that failed for others' sake. */
static void wake_sleepers(struct queues *q, struct moment now, struct group *g, bool only_idle)
{
    for (struct member *m = g->first; m != NULL; m = m->next) {
        struct entry *e = m->entry;
        bool idle = ((e->rejectors | e->pending_plugins) & ~q->gangs.sake) == 0;
        if (e->place == PLACE_unschedulable && e->gate == GATE_none && (idle || !only_idle))
            places_requeue(q, now, e, WORTH_after_backoff);
    }
}

/* minMember are placed, or it is a gang no more: its pods go like any others. */
static void release(struct queues *q, struct moment now, struct group *g)
{
    g->satisfied = true;
    g->failures = g->errors = 0;
    g->failed_us = 0;
    g->attempt = (struct group_try){0};
    g->backoff_ends = g->denied_until = g->permitted_until = (struct moment){0};
    g->age = (struct moment){(g->record.created - q->gangs.wall_us_at_zero) * 1000};
    wake_sleepers(q, now, g, true);
    while (g->ready.first != NULL)
        places_requeue(q, now, g->ready.first, WORTH_after_backoff);
}

static bool is_forgotten(const struct group *g)
{
    return !g->exists && g->member_count + g->pending == 0 && g->assigned == 0 && g->flights == 0 &&
           g->children == NULL;
}

static void bury(struct gangs *gs, struct group *g)
{
    group_set_state(g, GROUP_idle);
    set_timer(g, MOMENT_NEVER);
    g->what = 0;
    group_set_telling(g, MOMENT_NEVER);
    must(map_remove(gs->groups, str_of(g->key)) == g);
    group_free(g);
}

static void look_at(struct queues *q, struct moment now, struct group *g)
{
    g->below = group_is_tree(g) && g->up == NULL ? (size_t)forest_assigned(g) : 0;
    int64_t placed = group_placed(g);
    bool satisfied = g->exists && group_least(g) <= placed && !group_is_whole(g);
    if (is_forgotten(g)) {
        bury(&q->gangs, g);
        return;
    }
    group_set_state(g, GROUP_idle); /* out of the heaps: its rank may change */
    if (g->satisfied && !satisfied)
        gangs_collect(q, g);
    if (!satisfied && g->flights == 0) {
        g->awake |= placed != (int64_t)g->placed_seen;
        conclude(q, now, g);
    }
    if (g->retry.ns > 0 && moment_reached(now, g->retry)) {
        g->retry = (struct moment){0};
        g->awake = true;
    }
    if (satisfied || g->flights == 0)
        g->placed_seen = (size_t)placed;
    if (satisfied && (!g->satisfied || g->ready.count > 0))
        release(q, now, g);
    if (!satisfied && g->awake)
        wake_sleepers(q, now, g, false);
    settle(q, now, g);
}

static void look_at_marked(struct queues *q, struct moment now)
{
    struct gangs *gs = &q->gangs;
    while (gs->marked != NULL) {
        struct group *g = gs->marked;
        gs->marked = g->next_marked;
        g->next_marked = NULL;
        g->marked = false;
        look_at(q, now, g);
    }
}

/* Groups that found too little are asked again together, not with each pod that goes. */
static void look_at_room(struct gangs *gs, struct moment now)
{
    struct moment next = moment_after(gs->room.asked, span_of_seconds(ROOM_AGAIN_SECONDS));
    if (moment_reached(now, next))
        gs->room.asked = now;
}

struct moment gangs_tick(struct queues *q, struct moment now)
{
    struct gangs *gs = &q->gangs;
    const struct group *first;
    if (map_count(gs->groups) == 0)
        return MOMENT_NEVER;
    q->cause = "PodGroup";
    look_at_room(gs, now);
    while ((first = heap_top(gs->timed)) != NULL && moment_reached(now, first->due)) {
        struct group *g = heap_pop(gs->timed);
        group_mark(g);
    }
    look_at_marked(q, now);
    first = heap_top(gs->timed);
    struct moment next = first != NULL ? first->due : MOMENT_NEVER;
    first = heap_top(gs->backoff);
    if (first != NULL && !q->backoff.strict && !moment_reached(now, early_at(first)))
        next = moment_earlier(next, early_at(first));
    return next;
}

/* ---- handing over ---- */

static int in_order(const void *a, const void *b)
{
    const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    if (x->first_us != y->first_us)
        return x->first_us < y->first_us ? -1 : 1;
    return str_compare(store_str(x->kept, TAG_pod_name), store_str(y->kept, TAG_pod_name));
}

static void collect_ready(struct gangs *gs, const struct group *g)
{
    size_t count = 0;
    if (gs->taken_room < g->ready.count) {
        gs->taken_room = g->ready.count;
        gs->taken = memory_resize(gs->taken, gs->taken_room * sizeof(struct entry *));
    }
    for (struct entry *e = g->ready.first; e != NULL; e = e->next)
        gs->taken[count++] = e;
    qsort(gs->taken, count, sizeof(struct entry *), in_order);
}

/* All ready members, as far as the message has room for them. */
static size_t take(struct queues *q, struct group *g)
{
    struct gangs *gs = &q->gangs;
    size_t count = g->ready.count, bytes = 0;
    g->attempt = (struct group_try){.needed = group_needed(g)};
    collect_ready(gs, g);
    for (size_t i = 0; i < count; i++) {
        struct entry *e = gs->taken[i];
        bytes += store_size(e->store, e->kept);
        if (bytes > GANG_BYTES_MAX && (int64_t)i >= g->attempt.needed) {
            count = i;
            break;
        }
        group_remove_ready(g, e);
        e->member->told = 0; /* its condition will say something else */
        e->attempts++;
        q->counts.attempts++;
        in_flight_add(&q->in_flight, e, false);
    }
    g->awake = false;
    g->retry = (struct moment){0};
    g->told = 0;
    gs->counts.handed++;
    gs->counts.members_handed += count;
    return count;
}

/* Of the groups in backoff, nobody being active, the one that has waited longest; behind pods whose
 * wait ends before. */
static struct group *pop_early(struct queues *q, struct moment now)
{
    struct group *g = heap_top(q->gangs.backoff);
    const struct entry *pod = heap_top(q->backoff.pods);
    if (g == NULL || q->backoff.strict || active_count(&q->active) > 0 ||
        !moment_reached(now, early_at(g)) ||
        (pod != NULL && pod->backoff_ends.ns <= g->backoff_ends.ns))
        return NULL;
    if (standing(q, now, g) != GROUP_ready) {
        group_set_state(g, GROUP_idle);
        group_mark(g);
        return NULL;
    }
    q->gangs.early = now;
    q->counts.popped_early++;
    measure_incoming(&q->measured, IN_active, "PopFromBackoffQ");
    return g;
}

struct group *gangs_pop(struct queues *q, struct moment now, size_t *count)
{
    equivalence_sift(q, now);
    struct group *g = heap_top(q->gangs.ready);
    const struct entry *e = heap_top(q->active.heap);
    if (g != NULL && e != NULL) {
        struct rank a = rank_of_group(g), b = rank_of_entry(e);
        if (!rank_before(&a, &b))
            return NULL;
    }
    if (g == NULL)
        g = pop_early(q, now);
    if (g == NULL)
        return NULL;
    group_set_state(g, GROUP_idle);
    *count = take(q, g);
    settle(q, now, g);
    return g;
}
