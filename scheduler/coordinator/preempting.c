/* preempting: flights in FLIGHT_preempting. The one idea: the outcome of such an attempt is ready
 * from the start, and is only held until the victims are seen to go. There may be thousands, so
 * each change looks only at those that the binder has answered, and at deadlines when one is due.
 *
 * What must stay true: every such flight lands: with the binder's answer and the watch, or by its
 * deadline; one that failed asks for another attempt at once, as upstream does, and the queue makes
 * it wait when that fails as well. */
#include "scheduler/coordinator/preempting.h"

#include "proto/base/log.h"
#include "proto/base/must.h"
#include "scheduler/catalog/group_trees.h"
#include "scheduler/coordinator/landing.h"
#include "scheduler/coordinator/permitting.h"
#include "scheduler/merge/decisions_kept.h"
#include "scheduler/merge/gang_rules.h"
#include "scheduler/table/gang_names.h"
#include "scheduler/tracing/attempt_trace.h"

#define ANSWER_MS 30000 /* for the binder's answer, since it last said that it is at it */
#define SEEN_MS   30000 /* for the watch to show what the binder has done */
#define GOING_MS  100   /* for victims that go to be gone, if they need no longer than that */

static void copy_outcome(struct flight *f, const struct decision *d)
{
    f->node = arena_copy(&f->arena, d->preemption.node);
    f->plugins = (struct strs){0, arena_take(&f->arena, d->plugins.count * sizeof(struct str))};
    for (uint32_t i = 0; i < d->plugins.count; i++)
        f->plugins.at[f->plugins.count++] = arena_copy(&f->arena, d->plugins.at[i]);
}

/* A victim that waited for permission to be bound, and does so no more. */
static bool is_off(const struct coordinator *c, const struct victim *v)
{
    return cache_pod(c->cache, v->uid, NULL) == CACHE_absent;
}

/* Who is off is not waited for, whatever is decided for it next. */
static void copy_uids(const struct coordinator *c, struct flight *f, const struct preemption *p)
{
    f->victims = (struct strs){0, arena_take(&f->arena, p->victims.count * sizeof(struct str))};
    for (uint32_t i = 0; i < p->victims.count; i++)
        if (!is_off(c, &p->victims.at[i]))
            f->victims.at[f->victims.count++] = arena_copy(&f->arena, p->victims.at[i].uid);
}

/* Of victims that wait for permission to be bound only that ends, as upstream's does. */
static void end_waits(struct coordinator *c, const struct preemption *p)
{
    for (uint32_t i = 0; i < p->victims.count; i++) {
        struct flight *f = flights_get(&c->flights, p->victims.at[i].uid);
        if (f != NULL && f->state == FLIGHT_permitting)
            permitting_preempt(c, f);
    }
}

static bool any_to_evict(const struct coordinator *c, const struct preemption *p)
{
    for (uint32_t i = 0; i < p->victims.count; i++)
        if (!p->victims.at[i].deleting && !is_off(c, &p->victims.at[i]))
            return true;
    return false;
}

/* With what the cache knows of them, so that the binder need not look at each first. */
static void describe_victims(struct coordinator *c, const struct preemption *p,
                             struct preempt *request)
{
    request->victims.at = arena_take(&c->cycle_memory, p->victims.count * sizeof(struct victim));
    for (uint32_t i = 0; i < p->victims.count; i++) {
        if (is_off(c, &p->victims.at[i]))
            continue;
        struct victim *v = &request->victims.at[request->victims.count++];
        *v = p->victims.at[i];
        cache_describe_victim(c->cache, v, &c->cycle_memory);
    }
}

static void set_deadline(struct coordinator *c, struct flight *f, struct moment deadline)
{
    f->deadline = deadline;
    c->preempting.due = moment_earlier(c->preempting.due, deadline);
}

static void land(struct coordinator *c, struct flight *f, bool activate)
{
    must(f->state == FLIGHT_preempting);
    f->activate = activate;
    landing_end(c, f, OUTCOME_unschedulable, &f->plugins);
}

/* The group that makes room as one, the root where it is of a tree; NULL: the pod does. */
static const struct gang *group_for(const struct coordinator *c, const struct flight *f)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    const struct gang named = {
        .api = f->pod.gang_api, .namespace_name = f->pod.namespace_name, .name = f->pod.gang};
    const struct gang *group = NULL;
    if (f->grouped && fw != NULL && gang_rules_as_one(fw, &f->pod))
        group = group_trees_root(c->catalog, &fw->profile.features, &named);
    return group;
}

void preempting_begin(struct coordinator *c, struct moment now, struct flight *f,
                      const struct decision *d)
{
    const struct preemption *p = &d->preemption;
    bool claims = p->node.len > 0 && !f->pod.resize_deferred;
    struct str nominated;
    if (claims) /* else its group has room, and nobody says where it goes itself */
        cache_nominate(c->cache, &f->pod, p->node);
    copy_outcome(f, d);
    flights_start(&c->flights, f, FLIGHT_preempting);
    if (claims && /* it went before it was offered */
        !cache_nomination(c->cache, f->pod.uid, &nominated)) {
        landing_end(c, f, OUTCOME_skipped, NULL);
        return;
    }
    COUNT(c, preempted, p->victims.count);
    attempt_trace_phase(f->trace, "Preempt", coordinator_wall_us(c));
    log_info("makes room| pod=%.*s/%.*s node=%.*s victims=%u violations=%lld",
             STR_ARG(f->pod.namespace_name), STR_ARG(f->pod.name), STR_ARG(p->node),
             p->victims.count, (long long)p->violations);
    end_waits(c, p);
    copy_uids(c, f, p);
    measure_victims(c, f, p, any_to_evict(c, p));
    if (!any_to_evict(c, p)) {
        land(c, f, false);
        return;
    }
    struct message m = {.type = MSG_preempt, .preempt = {.pod = f->pod, .node_name = p->node}};
    describe_victims(c, p, &m.preempt);
    uint32_t count = 0;
    const struct pod *lower = NULL;
    const struct gang *group = group_for(c, f);
    if (group != NULL)
        m.preempt.group_uid = group->uid;
    m.preempt.for_tree = group != NULL && str_is(group->api, GANG_API_TREE);
    if (m.preempt.group_uid.len == 0)
        lower = cache_nominated_below(c->cache, p->node, f->pod.priority, &count, &c->cycle_memory);
    m.preempt.lower.count = count;
    m.preempt.lower.at = (struct pod *)lower; /* only read */
    outbox_put(c->out, c->binder, &m);
    set_deadline(c, f, moment_after(now, span_of_ms(ANSWER_MS)));
}

/* For whoever asks why the pod waits: its condition says nothing of it, as upstream's. */
static void keep_failure(struct coordinator *c, const struct flight *f, struct str why)
{
    struct buffer message = {0};
    buffer_print(&message, "preemption on node %.*s failed: %.*s", STR_ARG(f->node), STR_ARG(why));
    decisions_kept_add(c->decisions, &f->pod,
                       &(struct past_decision){.wall_us = coordinator_wall_us(c),
                                               .attempt = f->attempts,
                                               .nodes = cache_nodes(c->cache),
                                               .message = buffer_str(&message)});
    buffer_free(&message);
}

void preempting_on_result(struct coordinator *c, struct moment now,
                          const struct preempt_result *result)
{
    struct flight *f = flights_get(&c->flights, result->uid);
    if (f == NULL || f->state != FLIGHT_preempting || f->answered ||
        !str_equal(f->node, result->node_name))
        return; /* of an earlier attempt */
    measure_evicted(c, f, result->done);
    if (!result->done) {
        log_warn("preemption failed| pod=%.*s/%.*s node=%.*s message=\"%.*s\"",
                 STR_ARG(f->pod.namespace_name), STR_ARG(f->pod.name), STR_ARG(f->node),
                 STR_ARG(result->message));
        keep_failure(c, f, result->message);
        land(c, f, true);
        return;
    }
    flights_answered(&c->flights, f);
    set_deadline(c, f, moment_after(now, span_of_ms(SEEN_MS)));
    preempting_look(c, now);
}

/* Behind hundreds of other evictions its own may take minutes, on a slow API server. */
void preempting_goes_on(struct coordinator *c, struct flight *f)
{
    set_deadline(c, f, moment_after(c->last_call, span_of_ms(ANSWER_MS)));
}

void preempting_on_loss(struct coordinator *c, struct flight *f)
{
    log_warn("a preemption got lost and is decided again| pod=%.*s/%.*s node=%.*s",
             STR_ARG(f->pod.namespace_name), STR_ARG(f->pod.name), STR_ARG(f->node));
    land(c, f, true);
}

static bool all_are_going(const struct coordinator *c, const struct flight *f)
{
    uint32_t i = 0;
    while (i < f->victims.count && cache_pod_is_going(c->cache, f->victims.at[i]))
        i++;
    return i == f->victims.count;
}

/* Whether any of them is still there; then what comes from here on may help, and what came does not
 * (see land_seen). */
static bool any_is_there(const struct coordinator *c, const struct flight *f)
{
    for (uint32_t i = 0; i < f->victims.count; i++)
        if (cache_pod(c->cache, f->victims.at[i], NULL) != CACHE_absent)
            return true;
    return false;
}

/* Its victims are seen to go. While one of them is still there another attempt would fail as the
 * first did: the events of before are over, and the one that ends that victim is still to come.
 * Not so within a snapshot: all of it has one position, so that what is missing from it, maybe that
 * very victim, is told at the position that we would name. */
static void land_seen(struct coordinator *c, struct flight *f)
{
    if (!any_is_there(c, f)) {
        f->gated_epoch = f->gated_sequence = 0;
    } else if (f->gated_epoch == 0 && !c->stream.in_snapshot) {
        f->gated_epoch = c->stream.epoch;
        f->gated_sequence = c->stream.sequence;
    }
    land(c, f, false);
}

/* All go. Those that terminate at once are gone a moment later, as the API server shows such an end
 * in two steps; an attempt in between, which others' ends would wake it for, would fail. So it is
 * held for that moment, and what is heard during it counts. */
static void look_at_going(struct coordinator *c, struct moment now, struct flight *f)
{
    if (!any_is_there(c, f) || c->stream.in_snapshot) {
        land_seen(c, f);
        return;
    }
    if (f->gated_epoch != 0)
        return; /* held already; ends with its deadline */
    f->gated_epoch = c->stream.epoch;
    f->gated_sequence = c->stream.sequence;
    set_deadline(c, f, moment_earlier(f->deadline, moment_after(now, span_of_ms(GOING_MS))));
}

/* Answered and not seen in time counts as seen, so that no pod is held for ever. But its victims
 * seem to be there still: an attempt now would choose others beside them. */
static void end_the_late(struct coordinator *c, struct moment now)
{
    struct moment due = MOMENT_NEVER;
    struct flight *f;
    size_t at = 0;
    while (flights_in(&c->flights, FLIGHT_preempting) > 0 &&
           (f = flights_next(&c->flights, &at)) != NULL) {
        if (f->state != FLIGHT_preempting)
            continue;
        if (moment_reached(now, f->deadline) && f->answered)
            land_seen(c, f);
        else if (moment_reached(now, f->deadline))
            land(c, f, true);
        else
            due = moment_earlier(due, f->deadline);
    }
    c->preempting.due = due;
}

void preempting_init(struct coordinator *c)
{
    c->preempting.due = MOMENT_NEVER;
}

struct moment preempting_due(const struct coordinator *c)
{
    return c->preempting.due;
}

void preempting_look(struct coordinator *c, struct moment now)
{
    struct flight *f = flights_first_answered(&c->flights), *next;
    for (; f != NULL; f = next) {
        next = f->next;
        if (all_are_going(c, f))
            look_at_going(c, now, f);
    }
    if (moment_reached(now, c->preempting.due))
        end_the_late(c, now);
}

static bool forget_victim(struct flight *f, struct str uid)
{
    uint32_t i = 0;
    while (i < f->victims.count && !str_equal(f->victims.at[i], uid))
        i++;
    if (i == f->victims.count)
        return false;
    f->victims.at[i] = f->victims.at[--f->victims.count];
    return true;
}

void preempting_unbound(struct coordinator *c, struct str uid)
{
    bool any = false;
    struct flight *f;
    size_t at = 0;
    while (flights_in(&c->flights, FLIGHT_preempting) > 0 &&
           (f = flights_next(&c->flights, &at)) != NULL)
        any |= f->state == FLIGHT_preempting && forget_victim(f, uid);
    if (any)
        preempting_look(c, c->last_call);
}
