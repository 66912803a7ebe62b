/* claim_waits: flights beside the line, looked at when some claim's devices have been written, or
 * will not be. What must stay true: nobody waits longer than WAIT_MS in one attempt, so that a bind
 * that hangs delays others no longer than that. */
#include "scheduler/coordinator/claim_waits.h"

#define WAIT_MS  1000
#define WAIT_MAX 1024 /* flights; their pods are kept */

static bool is_being_given(const struct coordinator *c, const struct flight *f)
{
    const struct device_book *book = catalog_devices(c->catalog);
    for (uint32_t i = 0; i < f->pod.device_claims.count; i++) {
        const struct device_claim *named = &f->pod.device_claims.at[i];
        const struct resource_claim *claim =
            named->unneeded
                ? NULL
                : catalog_resource_claim(c->catalog, f->pod.namespace_name, named->claim);
        if (claim != NULL && !claim->allocated && device_book_in_flight(book, claim->uid))
            return true;
    }
    return false;
}

bool claim_waits_take(struct coordinator *c, struct moment now, struct flight *f)
{
    if (f->pod.device_claims.count == 0 || f->gang != NULL ||
        device_book_count_in_flight(catalog_devices(c->catalog)) == 0 ||
        flights_in(&c->flights, FLIGHT_aside) >= WAIT_MAX || !is_being_given(c, f))
        return false;
    if (f->aside_until.ns == 0)
        f->aside_until = moment_after(now, span_of_ms(WAIT_MS));
    if (moment_reached(now, f->aside_until))
        return false;
    flights_put_aside(&c->flights, f);
    COUNT(c, stood_aside, 1);
    return true;
}

struct moment claim_waits_look(struct coordinator *c, struct moment now)
{
    struct moment due = MOMENT_NEVER;
    uint64_t ends = device_book_ends(catalog_devices(c->catalog));
    bool changed = ends != c->claim_ends;
    c->claim_ends = ends;
    for (struct flight *f = flights_last_aside(&c->flights), *before; f != NULL; f = before) {
        before = f->prev; /* from the last one on, as each goes to the head of the line */
        if (moment_reached(now, f->aside_until) || (changed && !is_being_given(c, f)))
            flights_return(&c->flights, f);
        else
            due = moment_earlier(due, f->aside_until);
    }
    return due;
}

void claim_waits_drop(struct coordinator *c)
{
    struct flight *f;
    while ((f = flights_last_aside(&c->flights)) != NULL)
        flights_remove(&c->flights, f);
}
