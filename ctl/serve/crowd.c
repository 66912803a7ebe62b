/* crowd: a table of connections, without any socket. It is looked through whole: it is short, and
 * that happens once a connection. What must stay true: at most CROWD_MAX are not leaving, unless
 * all of them are known and being answered; and each that is not waiting for us has a deadline. */
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

void crowd_answered(struct guest *guest, bool known, struct moment now)
{
    guest->state = GUEST_answered;
    guest->known |= known;
    guest->deadline = moment_after(now, span_of_ms(CROWD_ANSWER_MS));
    guest->spared = moment_after(now, span_of_ms(CROWD_SPARED_MS));
}

void crowd_ended(struct guest *guest, struct moment now)
{
    guest->state = GUEST_silent;
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

/* Among whom one is looked for that goes: known ones that have asked for nothing; strangers but
 * those that have just been answered; or all strangers. */
enum among { AMONG_known, AMONG_slow, AMONG_strangers };

static bool may_go(const struct guest *g, enum among among, struct moment now)
{
    if (g->state == GUEST_none || g->leaving || g->known != (among == AMONG_known))
        return false;
    if (among == AMONG_known)
        return g->state == GUEST_silent;
    return among == AMONG_strangers || g->state != GUEST_answered || moment_reached(now, g->spared);
}

static uint32_t count_of(const struct crowd *crowd, const struct origin *origin, enum among among,
                         struct moment now)
{
    uint32_t count = 0;
    for (size_t i = 0; i < CROWD_ROOM; i++)
        count += may_go(&crowd->at[i], among, now) && origin_same(&crowd->at[i].origin, origin);
    return count;
}

static struct guest *oldest_of_most(struct crowd *crowd, enum among among, struct moment now)
{
    struct guest *chosen = NULL;
    uint32_t most = 0;
    for (size_t i = 0; i < CROWD_ROOM; i++) {
        struct guest *g = &crowd->at[i];
        if (!may_go(g, among, now))
            continue;
        bool same = chosen != NULL && origin_same(&chosen->origin, &g->origin);
        uint32_t count = same ? most : count_of(crowd, &g->origin, among, now);
        if (chosen != NULL && (count < most || (count == most && g->came.ns >= chosen->came.ns)))
            continue;
        chosen = g;
        most = count;
    }
    return chosen;
}

/* Were those that are answered spared however many they are, whoever fills all places with slow
 * readers would leave newcomers alone to go: so they are spared while they are fewer than half. */
struct guest *crowd_surplus(struct crowd *crowd, struct moment now)
{
    uint32_t staying = 0, strangers = 0, slow = 0;
    for (size_t i = 0; i < CROWD_ROOM; i++) {
        const struct guest *g = &crowd->at[i];
        staying += g->state != GUEST_none && !g->leaving;
        strangers += may_go(g, AMONG_strangers, now);
        slow += may_go(g, AMONG_slow, now);
    }
    if (staying <= CROWD_MAX)
        return NULL;
    struct guest *g = NULL;
    if (strangers <= CROWD_STRANGERS)
        g = oldest_of_most(crowd, AMONG_known, now);
    if (g == NULL)
        g = oldest_of_most(crowd, slow > strangers / 2 ? AMONG_slow : AMONG_strangers, now);
    return told_to_go(g);
}
