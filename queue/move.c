/* move: MoveAllToActiveOrBackoff.
 *
 *   1 no plugin asked for such events, or nobody waits for one who did: done
 *   2 for each unschedulable pod that the index names: the event is worth another attempt to it
 *   3 yes, and its backoff still runs: to the backoff queue; else to the active queue
 *   4 a pod that has left a node wakes those with a claim on it, whatever their hints say
 *   5 attempts under way are told too, since their verdict may be out of date when it comes
 *
 * What must stay true: waking keeps the backoff and the timestamp, so a pod that every event wakes
 * cannot push itself in front of pods that were never tried; and an event leaves a mark only on
 * attempts that it may help, so nothing is retried because of a move that moved nothing. */
#include "queue/move.h"

#include "proto/base/must.h"
#include "queue/bus_plugins/hinting.h"
#include "queue/bus_plugins/wakes.h"
#include "queue/hints.h"
#include "queue/measure.h"
#include "queue/nominated.h"

static enum worth worth_of(const struct entry *e, uint64_t helped)
{
    if ((helped & e->pending_plugins) != 0)
        return WORTH_immediately;
    return (helped & e->rejectors) != 0 ? WORTH_after_backoff : WORTH_skip;
}

enum worth move_worth(struct entry *e, const struct event *event)
{
    uint64_t waits_for = e->rejectors | e->pending_plugins;
    if (waits_for == 0 || event->wildcard)
        return WORTH_after_backoff;
    return worth_of(e, hints_helped(event, entry_pod(e), e->around, waits_for));
}

enum worth move_worth_in_flight(const struct entry *e)
{
    must(e->place == PLACE_in_flight);
    enum worth worth = worth_of(e, e->flight->helped);
    return worth == WORTH_skip && e->flight->woken ? WORTH_after_backoff : worth;
}

/* Only a plugin on the bus that wants to be asked whether such an event helps may be helped by it.
 */
static bool is_asked_about(struct queues *q, struct entry *e, const struct event *event,
                           uint64_t helped)
{
    uint64_t asks =
        q->hinting != NULL && e->around->bus != NULL ? helped & e->around->bus->asks : 0;
    return asks != 0 && worth_of(e, helped & ~asks) == WORTH_skip &&
           hinting_add(q->hinting, e, event, asks);
}

/* Of gated pods those are among them whose gate asked for such events: whether they are let through
 * is then looked at once more. */
static size_t wake(struct queues *q, struct moment now, const struct event *event,
                   const struct pod *at_most)
{
    size_t woken = 0;
    q->cause = event_label(event);
    struct entry *next = needs_helped(&q->unschedulable.needs, event);
    while (next != NULL) {
        struct entry *e = next;
        uint64_t helped = e->helped;
        next = e->found_next;
        e->found_next = NULL;
        e->helped = 0;
        if (at_most != NULL && e->priority > at_most->priority)
            continue;
        if (is_asked_about(q, e, event, helped))
            continue;
        places_requeue(q, now, e, worth_of(e, helped));
        woken += e->place != PLACE_unschedulable;
    }
    return woken;
}

size_t move_all(struct queues *q, struct moment now, const struct event *event,
                const struct pod *at_most)
{
    size_t woken = 0;
    q->counts.events++;
    if (q->hinting != NULL)
        hinting_begin(q->hinting);
    if ((hints_interest(event) & q->unschedulable.plugins) != 0)
        woken = wake(q, now, event, at_most);
    if (at_most == NULL)
        woken += nominated_departed(q, now, event);
    in_flight_note(&q->in_flight, event);
    q->counts.woken += woken;
    return woken;
}
