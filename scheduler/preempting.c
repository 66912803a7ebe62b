/* preempting: flights in FLIGHT_preempting. The one idea: the outcome of such an attempt is ready
 * from the start, and is only held until the victims are seen to go.
 *
 * What must stay true: every such flight lands: with the binder's answer and the watch, or by its
 * deadline; a preemption that failed lets the pod be tried again at once, as upstream does. */
#include "scheduler/preempting.h"

#include "proto/base/log.h"
#include "proto/base/must.h"

#define ANSWER_MS 30000 /* for the binder's answer; its own requests time out earlier */
#define SEEN_MS   5000  /* for the watch to show what the binder has done */

static void copy_uids(struct flight *f, const struct preemption *p)
{
    f->victims = (struct strs){0, arena_take(&f->arena, p->victims.count * sizeof(struct str))};
    for (uint32_t i = 0; i < p->victims.count; i++)
        f->victims.at[f->victims.count++] = arena_copy(&f->arena, p->victims.at[i].uid);
}

static void copy_outcome(struct flight *f, const struct decision *d)
{
    f->node = arena_copy(&f->arena, d->preemption.node);
    f->plugins = (struct strs){0, arena_take(&f->arena, d->plugins.count * sizeof(struct str))};
    for (uint32_t i = 0; i < d->plugins.count; i++)
        f->plugins.at[f->plugins.count++] = arena_copy(&f->arena, d->plugins.at[i]);
}

static bool any_to_evict(const struct preemption *p)
{
    for (uint32_t i = 0; i < p->victims.count; i++)
        if (!p->victims.at[i].deleting)
            return true;
    return false;
}

static void land(struct coordinator *c, struct flight *f, bool activate)
{
    must(f->state == FLIGHT_preempting && c->preempting > 0);
    c->preempting--;
    f->activate = activate;
    cycle_land(c, f, "unschedulable", &f->plugins);
}

void preempting_begin(struct coordinator *c, struct moment now, struct flight *f,
                      const struct decision *d)
{
    const struct preemption *p = &d->preemption;
    cache_nominate(c->cache, &f->pod, p->node);
    copy_outcome(f, d);
    copy_uids(f, p);
    flights_start(&c->flights, f, FLIGHT_preempting);
    c->preempting++;
    c->count.preempted += p->victims.count;
    log_info("makes room| pod=%.*s/%.*s node=%.*s victims=%u violations=%lld",
             STR_ARG(f->pod.namespace_name), STR_ARG(f->pod.name), STR_ARG(p->node),
             p->victims.count, (long long)p->violations);
    if (!any_to_evict(p)) {
        land(c, f, false);
        return;
    }
    struct message m = {.type = MSG_preempt, .preempt = {.pod = f->pod, .node_name = p->node}};
    m.preempt.victims.count = p->victims.count;
    m.preempt.victims.at = p->victims.at;
    uint32_t count;
    const struct pod *lower =
        cache_nominated_below(c->cache, p->node, f->pod.priority, &count, &c->cycle_memory);
    m.preempt.lower.count = count;
    m.preempt.lower.at = (struct pod *)lower; /* only read */
    outbox_put(c->out, c->binder, &m);
    f->deadline = moment_after(now, span_of_ms(ANSWER_MS));
}

void preempting_on_result(struct coordinator *c, struct moment now,
                          const struct preempt_result *result)
{
    struct flight *f = flights_get(&c->flights, result->uid);
    if (f == NULL || f->state != FLIGHT_preempting || f->answered ||
        !str_equal(f->node, result->node_name))
        return; /* of an earlier attempt */
    if (!result->done) {
        log_warn("preemption failed| pod=%.*s/%.*s node=%.*s message=\"%.*s\"",
                 STR_ARG(f->pod.namespace_name), STR_ARG(f->pod.name), STR_ARG(f->node),
                 STR_ARG(result->message));
        land(c, f, true);
        return;
    }
    f->answered = true;
    f->deadline = moment_after(now, span_of_ms(SEEN_MS));
    preempting_look(c, now);
}

void preempting_on_loss(struct coordinator *c, struct flight *f)
{
    log_warn("a preemption got lost and is decided again| pod=%.*s/%.*s node=%.*s",
             STR_ARG(f->pod.namespace_name), STR_ARG(f->pod.name), STR_ARG(f->node));
    land(c, f, true);
}

static bool all_are_going(const struct coordinator *c, const struct flight *f)
{
    struct arena a = {0};
    bool going = true;
    for (uint32_t i = 0; i < f->victims.count && going; i++) {
        struct pod pod;
        going = !cache_pod_get(c->cache, f->victims.at[i], &pod, &a) || pod.deleting;
        arena_reset(&a);
    }
    arena_free(&a);
    return going;
}

void preempting_look(struct coordinator *c, struct moment now)
{
    size_t at = 0;
    void *value;
    while (c->preempting > 0 && map_next(c->flights.by_uid, &at, NULL, &value)) {
        struct flight *f = value;
        if (f->state != FLIGHT_preempting)
            continue;
        bool late = moment_reached(now, f->deadline);
        if (f->answered && (late || all_are_going(c, f)))
            land(c, f, false);
        else if (late)
            land(c, f, true);
    }
}
