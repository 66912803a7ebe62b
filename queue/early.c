/* early: an idle scheduler takes pods whose backoff still runs, as upstream's does, but it takes
 * them as a bet. Upstream tries one at a time; with as many at once as there is credit, pods that
 * many events wake and that none helps would be tried again and again as fast as messages travel.
 *
 * What must stay true: there is always a next moment at which one may be taken, at most
 * EARLY_PAUSE_MS away; bets that are won make room for more of them at once, up to all credit, and
 * bets that are lost make it less; a pod's own backoff ends all the same. */
#include "queue/early.h"

void early_init(struct early *e)
{
    *e = (struct early){.limit = EARLY_LEAST};
}

bool early_may(const struct early *e, struct moment now)
{
    return e->under_way < e->limit && moment_reached(now, e->paused);
}

void early_won(struct early *e)
{
    e->limit = e->limit < EARLY_MOST ? e->limit * 2 : EARLY_MOST;
    e->pause = span_of_ms(0);
    e->paused = (struct moment){0};
}

void early_lost(struct early *e, struct moment now)
{
    int64_t ms = span_ms(e->pause);
    e->limit = e->limit / 2 > EARLY_LEAST ? e->limit / 2 : EARLY_LEAST;
    e->pause = span_of_ms(ms == 0 ? 1 : ms * 2 < EARLY_PAUSE_MS ? ms * 2 : EARLY_PAUSE_MS);
    e->paused = moment_after(now, e->pause);
}
