/* in_flight: attempts under way. The one idea: an event is judged when it comes, for every plugin,
 * and kept as a set of plugins; when the outcome names the rejectors, the intersection says whether
 * something has happened meanwhile that makes another attempt worthwhile. So no list of past events
 * is kept, and a slow attempt costs no memory. */
#include "queue/in_flight.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "queue/equals.h"
#include "queue/group.h"
#include "queue/hints.h"

void in_flight_add(struct in_flight *f, struct entry *e, bool early)
{
    must(e->place == PLACE_nowhere && e->flight == NULL);
    struct flight *flight = memory_take(sizeof(*flight));
    flight->cycle = ++f->cycle;
    flight->entry = e;
    if (e->member != NULL) {
        flight->group = e->member->group;
        flight->group->flights++;
    }
    flight->equals = e->equals;
    equals_started(e->equals);
    flight->early = early;
    flight->departed = f->departed;
    f->early.under_way += early;
    flight->ignore_arrivals = hints_ignoring_arrivals(entry_pod(e), e->around);
    flight->prev = f->last;
    if (f->last != NULL)
        f->last->next = flight;
    else
        f->first = flight;
    f->last = flight;
    f->count++;
    e->flight = flight;
    e->place = PLACE_in_flight;
}

struct flight *in_flight_find(const struct in_flight *f, int64_t cycle)
{
    struct flight *flight = f->first;
    while (flight != NULL && flight->cycle != cycle)
        flight = flight->next;
    return flight;
}

void in_flight_close(struct in_flight *f, struct flight *flight)
{
    must(f->count > 0);
    if (flight->prev != NULL)
        flight->prev->next = flight->next;
    else
        f->first = flight->next;
    if (flight->next != NULL)
        flight->next->prev = flight->prev;
    else
        f->last = flight->prev;
    f->count--;
    if (flight->group != NULL) {
        flight->group->flights--;
        group_mark(flight->group);
    }
    equals_ended(flight->equals);
    f->early.under_way -= flight->early;
    if (flight->entry == NULL) {
        must(f->left > 0);
        f->left--;
        store_drop(flight->store, flight->left);
    } else {
        flight->entry->flight = NULL;
        flight->entry->place = PLACE_nowhere;
    }
    memory_free(flight);
}

void in_flight_leave(struct in_flight *f, struct entry *e)
{
    must(e->place == PLACE_in_flight && e->flight->entry == e);
    e->flight->store = e->store;
    e->flight->left = store_share(e->kept);
    e->flight->entry = NULL;
    e->flight = NULL;
    e->place = PLACE_nowhere;
    f->left++;
}

/* Only plugins that are not known to be helped yet have to be asked. */
static void note(const struct in_flight *f, struct flight *flight, const struct event *event,
                 uint64_t interest)
{
    uint64_t ask = interest & ~flight->helped;
    flight->woken |= event->wildcard;
    if (ask != 0 && hints_arrival(event)) /* by far the most frequent, and for most pods nothing */
        ask &= ~flight->ignore_arrivals;
    if (ask != 0)
        flight->helped |= hints_helped(event, entry_pod(flight->entry), flight->entry->around, ask);
    if ((interest & flight->helped) != 0) /* who is helped already is not asked again */
        flight->heard = f->position;
}

void in_flight_departed(struct in_flight *f, const struct departure *gone)
{
    if (f->count > 0)
        f->departures[f->departed++ % DEPARTURES] = *gone;
}

void in_flight_gated(struct flight *flight, int64_t position)
{
    if (flight->heard <= position)
        flight->helped = 0;
}

void in_flight_follow(struct entry *e)
{
    if (e->place == PLACE_in_flight)
        e->flight->ignore_arrivals = hints_ignoring_arrivals(entry_pod(e), e->around);
}

void in_flight_note_own(const struct in_flight *f, struct entry *e, const struct event *event)
{
    must(e->place == PLACE_in_flight);
    note(f, e->flight, event, hints_interest(event));
}

void in_flight_note(struct in_flight *f, const struct event *event)
{
    uint64_t interest = hints_interest(event);
    for (struct flight *flight = f->first; flight != NULL; flight = flight->next)
        if (flight->entry != NULL)
            note(f, flight, event, interest);
}

void in_flight_note_plugins(struct in_flight *f, uint64_t plugins)
{
    for (struct flight *flight = f->first; flight != NULL; flight = flight->next) {
        flight->helped |= plugins;
        flight->heard = f->position;
    }
}
