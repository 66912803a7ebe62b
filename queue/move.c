/* move: MoveAllToActiveOrBackoff.
 *
 *   1 no plugin asked for such events, or nobody waits for one who did: done
 *   2 for each unschedulable pod: is the event worth another attempt to it?
 *   3 yes, and its backoff still runs: to the backoff queue; else to the active queue
 *   4 attempts under way are told too, since their verdict may be out of date when it comes
 *
 * What must stay true: waking keeps the backoff and the timestamp, so a pod that every event wakes
 * cannot push itself in front of pods that were never tried; and an event leaves a mark only on
 * attempts that it may help, so nothing is retried because of a move that moved nothing. */
#include "queue/move.h"

#include "proto/base/must.h"
#include "queue/hints.h"

static enum move_worth worth_of(const struct entry *e, uint64_t helped)
{
    if ((helped & e->pending_plugins) != 0)
        return MOVE_immediately;
    return (helped & e->rejectors) != 0 ? MOVE_after_backoff : MOVE_skip;
}

enum move_worth move_worth(struct entry *e, const struct event *event)
{
    uint64_t waits_for = e->rejectors | e->pending_plugins;
    if (waits_for == 0 || event->wildcard)
        return MOVE_after_backoff;
    return worth_of(e, hints_helped(event, entry_pod(e), e->around, waits_for));
}

enum move_worth move_worth_in_flight(const struct entry *e)
{
    must(e->place == PLACE_in_flight);
    enum move_worth worth = worth_of(e, e->flight->helped);
    return worth == MOVE_skip && e->flight->woken ? MOVE_after_backoff : worth;
}

/* PreEnqueue: true when nothing holds the pod back. The entry is nowhere. A pod that is being
 * deleted is held back as well: upstream pops it and passes it over. */
static bool passes_gates(struct entry *e)
{
    e->gated = e->deleting || (e->around->obeys_gates && e->has_gates);
    if (e->gated)
        e->rejectors |= plugins_bit("SchedulingGates");
    return !e->gated;
}

static void to_backoff(struct queues *q, struct entry *e)
{
    entry_fold(e);
    backoff_add(&q->backoff, e);
}

void move_requeue(struct queues *q, struct moment now, struct entry *e, enum move_worth worth)
{
    if (worth == MOVE_skip && e->place == PLACE_unschedulable)
        return;
    queues_unplace(q, e);
    if (!passes_gates(e) || worth == MOVE_skip)
        unschedulable_add(&q->unschedulable, e);
    else if (worth == MOVE_after_backoff && backoff_runs(e, now))
        to_backoff(q, e);
    else
        queues_to_active(q, now, e);
}

/* A gated pod listens only to what its gate asked for. */
static bool listens(const struct entry *e, const struct event *event, uint64_t interest)
{
    if (e->gated)
        return !event->wildcard && (interest & plugins_bit("SchedulingGates")) != 0;
    return ((e->rejectors | e->pending_plugins) & interest) != 0;
}

static size_t wake(struct queues *q, struct moment now, const struct event *event,
                   const struct pod *at_most)
{
    uint64_t interest = hints_interest(event);
    size_t woken = 0;
    /* Pods that a gate holds go to the end of the list: the walk stops where the end is now. */
    struct entry *last = q->unschedulable.list.last, *next;
    for (struct entry *e = q->unschedulable.list.first; e != NULL; e = next) {
        next = e == last ? NULL : e->next;
        if (!listens(e, event, interest) || (at_most != NULL && e->priority > at_most->priority))
            continue;
        move_requeue(q, now, e, move_worth(e, event));
        woken += e->place != PLACE_unschedulable;
    }
    return woken;
}

size_t move_all(struct queues *q, struct moment now, const struct event *event,
                const struct pod *at_most)
{
    size_t woken = 0;
    q->counts.events++;
    if ((hints_interest(event) & q->unschedulable.plugins) != 0)
        woken = wake(q, now, event, at_most);
    in_flight_note(&q->in_flight, event);
    q->counts.woken += woken;
    return woken;
}
