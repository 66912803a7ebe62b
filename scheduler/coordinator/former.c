/* former: binds of which the binder tells although no flight here knows them, and writes of a
 * binder that died. What must stay true: whatever they change is in the view before anything is
 * decided, as the barrier is asked for behind them. */
#include "scheduler/coordinator/former.h"
#include "scheduler/coordinator/bind_request.h"
#include "scheduler/coordinator/releasing.h"

#define SETTLE_MS 10000 /* no write of a binder lasts longer */

void former_init(struct coordinator *c)
{
    c->former.foreign = map_new();
}

void former_free(struct coordinator *c)
{
    map_free(&c->former.foreign);
}

void former_ended(struct coordinator *c, struct str uid)
{
    map_remove(c->former.foreign, uid);
}

static void clear_foreign(struct coordinator *c)
{
    size_t at = 0;
    struct str uid;
    void *value;
    while (map_next(c->former.foreign, &at, &uid, &value))
        map_remove(c->former.foreign, uid);
}

/* Whether the view has confirmed the bind: nothing about it is in doubt then, whoever asked for it.
 * It is one of ours, usually: the watch is often faster than the answer to the POST. */
static bool seen_bound(const struct coordinator *c, const struct binding *b)
{
    struct str node;
    return cache_pod(c->cache, b->uid, &node) == CACHE_assigned && str_equal(node, b->node_name);
}

/* Binds of a former life that still wait for their claims could take minutes: they are given up, as
 * upstream's end with the process, and decided anew. Those whose Binding was sent end by
 * themselves, and their answers say when (on_bind_result). */
void former_find(struct coordinator *c, const struct leadership *l)
{
    clear_foreign(c);
    for (uint32_t i = 0; i < l->in_flight.count; i++) {
        const struct binding *b = &l->in_flight.at[i];
        const struct flight *f = flights_get(&c->flights, b->uid);
        if ((f != NULL && f->state == FLIGHT_binding) || seen_bound(c, b))
            continue;
        map_set(c->former.foreign, b->uid, c);
        if (leadership_leads(c))
            bind_request_cancel(c, b->uid, b->node_name, "the scheduler was restarted");
    }
    /* A pod must not be bound while its reservation may still be taken back. */
    for (uint32_t i = 0; i < l->releasing.count; i++)
        if (!releasing_expects(c, l->releasing.at[i]))
            map_set(c->former.foreign, l->releasing.at[i], c);
}

/* Whoever has said no farewell, or one with something unanswered, may have writes under way, unless
 * it was only waiting for those of the one before. */
void former_lose_binder(struct coordinator *c, struct moment now)
{
    bool clean = !leadership_leads(c) && !c->former.unanswered;
    c->former.binder_led = c->former.unanswered = false;
    if (clean || !moment_reached(now, c->former.settles))
        return;
    c->former.settles = moment_after(now, span_of_ms(SETTLE_MS));
    c->former.lost_term = leadership_term(c);
}

/* One that does not lead at first waits by itself for what may be under way; one that does not lead
 * any more ends, and what it was to wait for goes on; one of the same term lives. */
void former_hear(struct coordinator *c, const struct leadership *l)
{
    if ((!l->leading && !c->former.binder_led) || l->lead_term == c->former.lost_term)
        c->former.settles = (struct moment){0};
    c->former.binder_led |= l->leading;
    c->former.unanswered = l->unanswered;
}
