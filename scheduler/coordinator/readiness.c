/* readiness: why the coordinator does not decide. The one idea: what it waits for is either a
 * matter of leadership, or a lack of this instance, and only the latter is the binder's reason to
 * let another instance lead. What must stay true: a lack that is told is one that keeps pods
 * waiting. */
#include "scheduler/coordinator/coordination.h"

#define SAY_MS      1000
#define CATCH_UP_MS 2000

/* Without the view's snapshot nothing else can be told. */
static const char *lacks_to_decide(const struct coordinator *c, struct moment now)
{
    if (!c->stream.synced)
        return "snapshot";
    if (!c->ready.synced || c->ready.age_ms > span_ms(c->options.stale_after) ||
        moment_since(now, c->ready.heard).ns > c->options.stale_after.ns)
        return "a fresh view";
    if (following_is_open(c))
        return "the API server's version";
    if (cache_workers(c->cache) == 0 && cache_nodes(c->cache) > 0)
        return "a worker";
    if (cache_owed(c->cache) > 0)
        return "workers to catch up";
    return "";
}

const char *readiness_lacks(const struct coordinator *c, struct moment now)
{
    if (c->queue.peer == 0)
        return "the queue";
    if (c->watcher.peer == 0)
        return "the watcher"; /* what is known can still be decided, what is new cannot */
    return lacks_to_decide(c, now);
}

const char *coordinator_waits_for(const struct coordinator *c, struct moment now)
{
    if (c->binder.peer == 0)
        return "binder";
    if (!leadership_leads(c))
        return "leadership";
    if (!former_has_settled(c, now))
        return "writes of a former binder";
    if (!c->stream.synced)
        return "snapshot";
    if (former_is_under_way(c))
        return "binds of a former life";
    if (!leadership_has_barrier(c))
        return "barrier";
    return lacks_to_decide(c, now);
}

void readiness_say(struct coordinator *c, struct moment now)
{
    if (c->binder.peer == 0 || !moment_reached(now, c->ready.due))
        return;
    const char *lacks = readiness_lacks(c, now);
    struct message m = {.type = MSG_readiness,
                        .readiness = {.ready = lacks[0] == 0, .lacks = str_of(lacks)}};
    outbox_put(c->out, c->binder, &m);
    c->ready.due = moment_after(now, span_of_ms(SAY_MS));
}

void readiness_say_soon(struct coordinator *c, struct moment now)
{
    c->ready.due = now;
}

void readiness_hear(struct coordinator *c, struct moment now, const struct view *view)
{
    c->ready.heard = now;
    c->ready.synced = view->synced;
    c->ready.age_ms = view->age_ms;
}

int64_t readiness_view_age_ms(const struct coordinator *c, struct moment now)
{
    int64_t silent_ms = span_ms(moment_since(now, c->ready.heard));
    if (c->ready.heard.ns == 0)
        return -1;
    return c->ready.age_ms > silent_ms ? c->ready.age_ms : silent_ms;
}

/* Our view must not be older than the queue's was: else a pod could be rejected on the old one, and
 * the event that would have helped it has already gone by. Bounded, because a position of a life of
 * the watcher that ended may never be reached; the outcome says then that it is so. */
bool readiness_view_is_older(const struct coordinator *c, const struct flight *f)
{
    return !subscriber_has_reached(&c->stream, f->epoch, f->sequence);
}

bool readiness_view_is_behind(const struct coordinator *c, struct moment now,
                              const struct flight *f)
{
    return readiness_view_is_older(c, f) &&
           !moment_reached(now, moment_after(f->taken, span_of_ms(CATCH_UP_MS)));
}
