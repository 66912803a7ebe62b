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

void places_to_active(struct queues *q, struct moment now, struct entry *e)
{
    must(e->place == PLACE_nowhere);
    if (e->first_us == 0)
        e->first_us = q->options.wall_us_at_zero + now.ns / 1000;
    entry_fold(e);
    if (group_holds(e))
        group_add_ready(e->member->group, e);
    else
        active_add(&q->active, e);
    measure_incoming(&q->measured, "active", q->cause);
}

static void to_backoff(struct queues *q, struct entry *e)
{
    entry_fold(e);
    backoff_add(&q->backoff, e);
    measure_incoming(&q->measured, "backoff", q->cause);
}

/* Whoever lay there before has not come. */
static void park(struct queues *q, struct entry *e, bool comes)
{
    unschedulable_add(&q->unschedulable, e);
    if (comes)
        measure_incoming(&q->measured, "unschedulable", q->cause);
}

void places_requeue(struct queues *q, struct moment now, struct entry *e, enum worth worth)
{
    if (worth == WORTH_skip && e->place == PLACE_unschedulable)
        return;
    bool comes = e->place != PLACE_unschedulable;
    places_leave(q, e);
    bool passes = gate_passes(e);
    if (worth != WORTH_skip)
        measure_pre_enqueue(&q->measured, e);
    if (worth == WORTH_skip && group_holds(e) && e->member->group->awake)
        worth = WORTH_after_backoff; /* its group is to be tried again, whatever it waits for */
    if (!passes || worth == WORTH_skip)
        park(q, e, comes);
    else if (!group_holds(e) && worth == WORTH_after_backoff && backoff_runs(e, now))
        to_backoff(q, e);
    else
        places_to_active(q, now, e);
}
