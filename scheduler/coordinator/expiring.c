/* expiring: pods that are assumed behind their binding's end, the oldest first. The one idea: all
 * have the same time, so that a line is enough, and whoever was seen meanwhile is found out at its
 * end.
 *
 * What must stay true: who is seen on a node is never forgotten here, and who is shown later counts
 * again; without an option that says how long, nobody is in the line. */
#include "scheduler/coordinator/expiring.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "scheduler/coordinator/coordination.h"
#include "scheduler/coordinator/landing.h"

struct expiring_pod {
    struct expiring_pod *next;
    struct moment due;
    struct arena memory;
    struct bind_result bound; /* in the memory */
};

void expiring_begin(struct coordinator *c, const struct bind_result *bound)
{
    if (c->options.assumed_ttl.ns == 0)
        return;
    struct expiring_pod *p = memory_take(sizeof(*p));
    codec_copy(message_info[MSG_bind_result].record, &p->bound, bound, &p->memory);
    p->due = moment_after(c->last_call, c->options.assumed_ttl);
    if (c->expiring.last != NULL)
        c->expiring.last->next = p;
    else
        c->expiring.first = p;
    c->expiring.last = p;
}

static void drop_first(struct coordinator *c)
{
    struct expiring_pod *p = c->expiring.first;
    c->expiring.first = p->next;
    if (p->next == NULL)
        c->expiring.last = NULL;
    arena_free(&p->memory);
    memory_free(p);
}

/* A later attempt of the same pod, if there is one, is in flight and not ours to forget. */
static void expire(struct coordinator *c, const struct bind_result *bound)
{
    if (cache_pod(c->cache, bound->uid, NULL) != CACHE_assumed ||
        flights_get(&c->flights, bound->uid) != NULL)
        return;
    cache_forget(c->cache, bound->uid);
    COUNT(c, expired, 1);
    log_warn("assumed pod expired| pod=%.*s/%.*s node=%.*s", STR_ARG(bound->namespace_name),
             STR_ARG(bound->name), STR_ARG(bound->node_name));
    landing_say_room(c);
}

struct moment expiring_look(struct coordinator *c, struct moment now)
{
    while (c->expiring.first != NULL && moment_reached(now, c->expiring.first->due)) {
        expire(c, &c->expiring.first->bound);
        drop_first(c);
    }
    return c->expiring.first != NULL ? c->expiring.first->due : MOMENT_NEVER;
}

void expiring_free(struct coordinator *c)
{
    while (c->expiring.first != NULL)
        drop_first(c);
}
