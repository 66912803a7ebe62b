/* landing: the end of an attempt: its outcome for the queue, its failure for the pod's owner. The
 * one idea: whoever ends an attempt says how, and what is still being taken back of its claims
 * comes first.
 *
 * What must stay true: every attempt that the queue waits for gets one outcome; a flight that has
 * landed holds no devices and no volumes, unless its pod was bound: then the watch has the last
 * word. */
#include "scheduler/coordinator/landing.h"

#include "proto/base/must.h"
#include "scheduler/coordinator/gang_try.h"
#include "scheduler/coordinator/release_list.h"
#include "scheduler/merge/decisions_kept.h"
#include "scheduler/tracing/attempt_trace.h"

#include <string.h>

#define TOLD_MS 4 /* so long the queue need not hear of pods that were bound */

/* Of pods that were bound the queue hears at once while we could do with others. */
static bool has_enough(const struct coordinator *c)
{
    return (int64_t)flights_count(&c->flights) > c->options.credit / 2;
}

struct moment landing_tell(struct coordinator *c, struct moment now)
{
    if (c->landed.out.count == 0)
        return MOMENT_NEVER;
    if (has_enough(c) && (int64_t)c->landed.out.count < c->options.credit / 8 &&
        !moment_reached(now, c->landed.by))
        return c->landed.by;
    outbox_move(c->out, &c->landed.out);
    return MOMENT_NEVER;
}

void landing_forget(struct coordinator *c)
{
    outbox_reset(&c->landed.out);
}

void landing_free(struct coordinator *c)
{
    outbox_free(&c->landed.out);
    volume_doubts_free(&c->landed.doubts);
}

void landing_end_doubts(struct coordinator *c, struct moment now)
{
    if (volume_doubts_end(&c->landed.doubts, c->catalog, now))
        landing_say_free(c, "VolumeBinding");
}

/* Each that is bound makes room for another attempt, and each of those that comes alone costs every
 * process on its way a turn of its own; so they come several at once when nobody waits for them. A
 * group's members are told of at once, since they may be the end of its transaction. */
static void tell_outcome(struct coordinator *c, const struct flight *f, bool bound,
                         const struct message *outcome)
{
    bool may_wait = bound && !f->grouped && f->gang == NULL && has_enough(c);
    if (may_wait && c->landed.out.count == 0)
        c->landed.by = moment_after(c->last_call, span_of_ms(TOLD_MS));
    outbox_put(may_wait ? &c->landed.out : c->out, c->queue, outcome);
}

/* The flight waits for what is taken back: it lands like this when all is answered. */
static bool has_to_wait(struct coordinator *c, struct flight *f, enum outcome_result result,
                        const struct strs *plugins)
{
    struct release_list *r = f->releasing;
    if (r == NULL || r->open == 0)
        return false;
    struct strs kept = {0};
    if (plugins != NULL && plugins->count > 0)
        kept.at = arena_take(&f->arena, plugins->count * sizeof(struct str));
    for (; plugins != NULL && kept.count < plugins->count; kept.count++)
        kept.at[kept.count] = arena_copy(&f->arena, plugins->at[kept.count]);
    f->plugins = kept;
    r->result = result;
    gang_try_leave(f);
    flights_start(&c->flights, f, FLIGHT_releasing);
    return true;
}

/* Of an attempt that is traced: all that was written down of it. */
static void tell_trace(struct coordinator *c, const struct flight *f, enum outcome_result result)
{
    struct message m = {.type = MSG_spans};
    const struct attempt_end end = {.pod = &f->pod,
                                    .attempt = f->attempts,
                                    .result = words_text(&outcome_result_words, result),
                                    .failed =
                                        result == OUTCOME_unschedulable || result == OUTCOME_error};
    if (f->trace == NULL || c->binder.peer == 0)
        return;
    attempt_trace_end(f->trace, &end, coordinator_wall_us(c), &m.spans);
    outbox_put(c->out, c->binder, &m);
}

void landing_end(struct coordinator *c, struct flight *f, enum outcome_result result,
                 const struct strs *plugins)
{
    if (has_to_wait(c, f, result, plugins))
        return;
    struct message m = {.type = MSG_outcome,
                        .outcome = {.uid = f->pod.uid,
                                    .namespace_name = f->pod.namespace_name,
                                    .name = f->pod.name,
                                    .cycle = f->cycle,
                                    .result = result}};
    if (plugins != NULL)
        m.outcome.plugins = *plugins;
    if (!f->pod.resize_deferred)
        m.outcome.nominated_node = f->node;
    /* A claim of before is kept, also one that the pod's status does not show yet. */
    if (m.outcome.nominated_node.len == 0 && result == OUTCOME_unschedulable)
        (void)cache_nomination(c->cache, f->pod.uid, &m.outcome.nominated_node);
    m.outcome.activate = f->activate;
    m.outcome.gated_epoch = f->gated_epoch;
    m.outcome.gated_sequence = f->gated_sequence;
    m.outcome.behind = f->behind;
    m.outcome.released = f->released;
    bool bound = result == OUTCOME_bound;
    if (f->owed && c->queue.peer != 0)
        tell_outcome(c, f, bound, &m);
    tell_trace(c, f, result);
    must((f->devices.count == 0 && f->devices.extended == NULL && f->reserved.count == 0) || bound);
    if (bound) {
        device_settle(c->catalog, &f->devices, c->last_call);
        volume_doubts_add(&c->landed.doubts, &f->reserved, c->last_call);
        measure_bound(c, f);
        bus_plugins_post_bind(c, f);
    }
    flights_remove(&c->flights, f);
}

/* Whether a pod whose resize is deferred is scheduled is no question: nobody is told. */
void landing_report(struct coordinator *c, const struct flight *f, enum condition_reason reason,
                    const struct failure *failure)
{
    if (f->pod.resize_deferred)
        return;
    attempt_trace_fail(f->trace, failure->message);
    decisions_kept_add(c->decisions, &f->pod,
                       &(struct past_decision){.wall_us = coordinator_wall_us(c),
                                               .attempt = f->attempts,
                                               .nodes = cache_nodes(c->cache),
                                               .node = failure->nominated_node,
                                               .message = failure->message});
    struct message m = {.type = MSG_pod_failed,
                        .pod_failed = {.pod = f->pod,
                                       .reason = reason,
                                       .message = failure->message,
                                       .set_nominated = failure->nominate,
                                       .nominated_node = failure->nominated_node}};
    m.pod_failed.pod.node_name = (struct str){NULL, 0};
    outbox_put(c->out, c->binder, &m);
}

void landing_fail(struct coordinator *c, struct flight *f, struct str message)
{
    if (!f->pod.resize_deferred)
        cache_nominate(c->cache, &f->pod, (struct str){NULL, 0});
    measure_failed(c, f, false);
    landing_report(
        c, f, REASON_scheduler_error,
        &(struct failure){.message = message, .nominate = f->pod.nominated_node.len > 0});
    landing_end(c, f, OUTCOME_error, NULL);
}

void landing_say_free(struct coordinator *c, const char *plugin)
{
    const struct message m = {.type = MSG_plugin_back, .plugin_back = {.name = str_of(plugin)}};
    if (c->queue.peer != 0)
        outbox_put(c->out, c->queue, &m);
}

void landing_say_room(struct coordinator *c)
{
    landing_say_free(c, "");
}
