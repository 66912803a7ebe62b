/* places: one pod out of its place and into another.
 *
 *   leaving      whatever the place was, nothing refers to it from there any more
 *   requeueing   gates hold it · not worth an attempt: unschedulable
 *                its backoff still runs: backoff; else active, or with its group
 *
 * What must stay true: an entry is in exactly one place, the one that it says; its equals and its
 * group know when it leaves. Going on keeps backoff and timestamp. */
#include "queue/places.h"

#include "proto/base/must.h"
#include "queue/gate.h"

void places_leave(struct queues *q, struct entry *e)
{
    equals_unplaced(e);
    switch (e->place) {
    case PLACE_active: active_remove(&q->active, e); break;
    case PLACE_backoff:
    case PLACE_error_backoff: backoff_remove(&q->backoff, e); break;
    case PLACE_unschedulable: unschedulable_remove(&q->unschedulable, e); break;
    case PLACE_in_flight: in_flight_leave(&q->in_flight, e); break;
    case PLACE_bound:
        entry_list_remove(&q->bound, e);
        e->place = PLACE_nowhere;
        group_remove_bound(e);
        break;
    case PLACE_gang:
        group_mark(e->member->group);
        group_remove_ready(e->member->group, e);
        break;
    case PLACE_parked:
    case PLACE_nowhere:
    case PLACE_COUNT: break;
    }
    must(e->place == PLACE_nowhere);
}

/* meant: the queue that it was to go to anyway; IN_QUEUES: none. */
static void count(struct queues *q, const struct entry *e, enum queued_in where,
                  enum queued_in meant, const char *cause)
{
    struct measured *m = &q->measured;
    bool gated = where == IN_unschedulable && e->gate != GATE_none;
    measure_incoming(m, where, cause);
    if (group_stands_for(e))
        return;
    measure_seen(m, QUEUED_pod, gated ? IN_gated : where);
    if (where != meant)
        measure_entity(m, QUEUED_pod, where, cause);
}

void places_count(struct queues *q, const struct entry *e, enum queued_in where, const char *cause)
{
    count(q, e, where, IN_QUEUES, cause);
}

static void to_active(struct queues *q, struct moment now, struct entry *e, enum queued_in meant)
{
    must(e->place == PLACE_nowhere);
    if (e->first_us == 0)
        e->first_us = q->options.wall_us_at_zero + now.ns / 1000;
    entry_fold(e);
    if (group_holds(e))
        group_add_ready(e->member->group, e);
    else
        active_add(&q->active, e);
    count(q, e, IN_active, meant, q->cause);
}

void places_to_active(struct queues *q, struct moment now, struct entry *e)
{
    to_active(q, now, e, IN_QUEUES);
}

static void to_backoff(struct queues *q, struct entry *e, enum queued_in meant)
{
    entry_fold(e);
    backoff_add(&q->backoff, e);
    count(q, e, IN_backoff, meant, q->cause);
}

/* Whoever lay there before has not come. */
static void park(struct queues *q, struct entry *e, bool comes, enum queued_in meant)
{
    unschedulable_add(&q->unschedulable, e);
    if (comes)
        count(q, e, IN_unschedulable, meant, q->cause);
}

/* As upstream, gates are asked where a pod may be taken next: in a strict backoff it may not. */
static bool enters_unasked(const struct queues *q, struct moment now, const struct entry *e,
                           enum worth worth)
{
    return q->backoff.strict && !e->deleting && !group_holds(e) && worth == WORTH_after_backoff &&
           backoff_runs(&q->backoff, e, now);
}

static void requeue(struct queues *q, struct moment now, struct entry *e, enum worth worth,
                    enum queued_in meant)
{
    if (worth == WORTH_skip && e->place == PLACE_unschedulable)
        return;
    bool comes = e->place != PLACE_unschedulable;
    places_leave(q, e);
    if (enters_unasked(q, now, e, worth)) {
        e->gate = GATE_none;
        to_backoff(q, e, meant);
        return;
    }
    bool passes = gate_passes(e);
    if (worth != WORTH_skip)
        measure_pre_enqueue(&q->measured, e);
    if (worth == WORTH_skip && group_holds(e) && e->member->group->awake)
        worth = WORTH_after_backoff; /* its group is to be tried again, whatever it waits for */
    if (!passes || worth == WORTH_skip)
        park(q, e, comes, meant);
    else if (!group_holds(e) && worth == WORTH_after_backoff && backoff_runs(&q->backoff, e, now))
        to_backoff(q, e, meant);
    else
        to_active(q, now, e, meant);
}

void places_requeue(struct queues *q, struct moment now, struct entry *e, enum worth worth)
{
    static const enum queued_in meant[] = {[WORTH_skip] = IN_unschedulable,
                                           [WORTH_after_backoff] = IN_backoff,
                                           [WORTH_immediately] = IN_active};
    requeue(q, now, e, worth, meant[worth]);
}

void places_from_backoff(struct queues *q, struct moment now, struct entry *e)
{
    if (q->backoff.strict)
        requeue(q, now, e, WORTH_immediately, IN_active);
    else
        places_to_active(q, now, e);
}

void places_enter(struct queues *q, struct moment now, struct entry *e)
{
    requeue(q, now, e, WORTH_immediately, IN_QUEUES);
}
