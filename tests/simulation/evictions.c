/* evictions: the outcome of who makes room comes when all its victims are seen to go, as another
 * attempt before that would make room beside them once more. The one idea: an order is known from
 * its message, and a victim leaves it with whatever may be a sign that it goes.
 *
 * What must stay true: a victim that is left in an order is one of which its coordinator has heard
 * nothing but that it is on its node. */
#include "tests/simulation/evictions.h"

#include "tests/simulation/checks.h"
#include "tests/simulation/coverage.h"

#include <stdio.h>
#include <string.h>

#define ORDERS_MAX  64 /* more are not known of */
#define VICTIMS_MAX 16
#define SEEN        (29 * SECOND) /* for so long at least victims are waited for; clocks drift */

struct order {
    const struct proc *of; /* NULL: there is none */
    uint64_t life;
    char uid[40], victims[VICTIMS_MAX][40];
    uint32_t count;
    int64_t answered_at; /* by the binder: it is done; 0: not yet */
};

static struct order orders[ORDERS_MAX];

void evictions_reset(void)
{
    memset(orders, 0, sizeof(orders));
}

static struct order *order_of(const struct proc *p, struct str uid)
{
    for (uint32_t i = 0; i < ORDERS_MAX; i++)
        if (orders[i].of == p && orders[i].life == p->life && str_is(uid, orders[i].uid))
            return &orders[i];
    return NULL;
}

static void forget(struct order *o)
{
    if (o != NULL)
        o->of = NULL;
}

static void ordered(const struct proc *p, const struct preempt *m, evictions_stays *stays)
{
    forget(order_of(p, m->pod.uid));
    for (uint32_t i = 0; i < ORDERS_MAX; i++) {
        struct order *o = &orders[i];
        if (o->of != NULL && o->life == o->of->life)
            continue;
        *o = (struct order){.of = p, .life = p->life};
        snprintf(o->uid, sizeof(o->uid), "%.*s", STR_ARG(m->pod.uid));
        for (uint32_t v = 0; v < m->victims.count && o->count < VICTIMS_MAX; v++)
            if (!m->victims.at[v].deleting && stays(p, m->victims.at[v].uid))
                snprintf(o->victims[o->count++], sizeof(o->victims[0]), "%.*s",
                         STR_ARG(m->victims.at[v].uid));
        return;
    }
}

static void goes(const struct proc *p, struct str uid)
{
    for (uint32_t i = 0; i < ORDERS_MAX; i++) {
        struct order *o = &orders[i];
        for (uint32_t v = 0; o->of == p && v < o->count; v++)
            if (str_is(uid, o->victims[v]))
                memmove(o->victims[v--], o->victims[--o->count], sizeof(o->victims[0]));
    }
}

static void answered(const struct proc *p, const struct preempt_result *r)
{
    struct order *o = order_of(p, r->uid);
    if (!r->done)
        forget(o);
    else if (o != NULL && o->answered_at == 0)
        o->answered_at = clock_now();
}

/* Who is not in a snapshot has gone: once it has ended, of orders made meanwhile too. */
static void all_may_go(const struct proc *p)
{
    for (uint32_t i = 0; i < ORDERS_MAX; i++)
        if (orders[i].of == p)
            forget(&orders[i]);
}

void evictions_heard(const struct proc *p, const struct message *m)
{
    switch (m->type) {
    case MSG_snapshot_begin:
    case MSG_snapshot_end: all_may_go(p); break;
    case MSG_pod_gone: goes(p, m->pod_gone.uid); break;
    case MSG_preempt_result: answered(p, &m->preempt_result); break;
    case MSG_pod_set:
        if (m->pod_set.pod.deleting)
            goes(p, m->pod_set.pod.uid);
        break;
    default: break;
    }
}

static void ended(const struct proc *p, const struct outcome *said)
{
    struct order *o = order_of(p, said->uid);
    bool late = o == NULL || o->answered_at == 0 || clock_now() - o->answered_at >= SEEN;
    if (!late && said->result == OUTCOME_unschedulable && !said->activate && o->count > 0)
        violated("victims are waited for",
                 "%s ends the attempt of %.*s, and has not heard yet that %s goes, of %u", p->door,
                 STR_ARG(said->name), o->victims[0], o->count);
    if (o != NULL && o->count == 0)
        cover("preemption", "its victims go");
    forget(o);
}

void evictions_said(const struct proc *p, const struct message *m, evictions_stays *stays)
{
    if (m->type == MSG_preempt)
        ordered(p, &m->preempt, stays);
    else if (m->type == MSG_outcome)
        ended(p, &m->outcome);
}
