/* crowd: a table of connections, without any socket. It is looked through whole: it is short, and
 * that happens once a connection. What must stay true: at most CROWD_MAX are not leaving, unless
 * all of them are being answered; and each that is not waiting for us has a deadline. */
#include "ctl/serve/crowd.h"

struct guest *crowd_enter(struct crowd *crowd, const struct origin *origin, int fd,
                          struct moment now)
{
    for (size_t i = 0; i < CROWD_ROOM; i++) {
        struct guest *g = &crowd->at[i];
        if (g->state != GUEST_none)
            continue;
        *g = (struct guest){.state = GUEST_silent,
                            .fd = fd,
                            .origin = *origin,
                            .came = now,
                            .deadline = moment_after(now, span_of_ms(CROWD_FIRST_MS))};
        crowd->count++;
        return g;
    }
    return NULL;
}

void crowd_leave(struct crowd *crowd, struct guest *guest)
{
    *guest = (struct guest){.state = GUEST_none};
    crowd->count--;
}

void crowd_asks(struct guest *guest, struct moment now)
{
    guest->state = GUEST_asking;
    guest->deadline = moment_after(now, span_of_ms(CROWD_BODY_MS));
}

void crowd_waits(struct guest *guest)
{
    guest->state = GUEST_waiting;
    guest->deadline = MOMENT_NEVER;
}

void crowd_answered(struct guest *guest, struct moment now)
{
    guest->state = GUEST_answered;
    guest->deadline = moment_after(now, span_of_ms(CROWD_ANSWER_MS));
}

void crowd_ended(struct guest *guest, bool known, struct moment now)
{
    guest->state = GUEST_silent;
    guest->known |= known;
    guest->deadline = moment_after(now, span_of_ms(CROWD_IDLE_MS));
}

static struct guest *told_to_go(struct guest *g)
{
    if (g != NULL) {
        g->leaving = true;
        g->deadline = MOMENT_NEVER;
    }
    return g;
}

struct guest *crowd_late(struct crowd *crowd, struct moment now)
{
    for (size_t i = 0; i < CROWD_ROOM; i++) {
        struct guest *g = &crowd->at[i];
        if (g->state != GUEST_none && !g->leaving && moment_reached(now, g->deadline))
            return told_to_go(g);
    }
    return NULL;
}

struct moment crowd_next(const struct crowd *crowd)
{
    struct moment next = MOMENT_NEVER;
    for (size_t i = 0; i < CROWD_ROOM; i++)
        if (crowd->at[i].state != GUEST_none && !crowd->at[i].leaving)
            next = moment_earlier(next, crowd->at[i].deadline);
    return next;
}

/* ---- too many ---- */

/* One that may be told to go: nobody knows it, or, if there is hardly anyone of these, one that is
 * known and has asked for nothing. */
static bool may_go(const struct guest *g, bool known)
{
    return g->state != GUEST_none && !g->leaving && g->known == known &&
           (known ? g->state == GUEST_silent : g->state != GUEST_answered);
}

static uint32_t count_of(const struct crowd *crowd, const struct origin *origin, bool known)
{
    uint32_t count = 0;
    for (size_t i = 0; i < CROWD_ROOM; i++)
        count += may_go(&crowd->at[i], known) && origin_same(&crowd->at[i].origin, origin);
    return count;
}

static struct guest *oldest_of_most(struct crowd *crowd, bool known)
{
    struct guest *chosen = NULL;
    uint32_t most = 0;
    for (size_t i = 0; i < CROWD_ROOM; i++) {
        struct guest *g = &crowd->at[i];
        if (!may_go(g, known))
            continue;
        bool same = chosen != NULL && origin_same(&chosen->origin, &g->origin);
        uint32_t count = same ? most : count_of(crowd, &g->origin, known);
        if (chosen != NULL && (count < most || (count == most && g->came.ns >= chosen->came.ns)))
            continue;
        chosen = g;
        most = count;
    }
    return chosen;
}

struct guest *crowd_surplus(struct crowd *crowd)
{
    uint32_t staying = 0, strangers = 0;
    for (size_t i = 0; i < CROWD_ROOM; i++) {
        const struct guest *g = &crowd->at[i];
        staying += g->state != GUEST_none && !g->leaving;
        strangers += may_go(g, false);
    }
    if (staying <= CROWD_MAX)
        return NULL;
    struct guest *g = NULL;
    if (strangers <= CROWD_STRANGERS)
        g = oldest_of_most(crowd, true);
    return told_to_go(g != NULL ? g : oldest_of_most(crowd, false));
}
