/* queue: hands each message to who takes it, and offers attempts.
 *
 * The watcher says which pods are pending and what happens in the cluster (from_watcher.c); the
 * scheduler says how many attempts it can hold (credit) and how each ended (from_scheduler.c). What
 * must stay true: an attempt is handed out only on credit and only after a first whole snapshot. */
#include "queue/queue.h"

#include "proto/base/memory.h"
#include "queue/bus_plugins/consult.h"
#include "queue/equivalence.h"
#include "queue/forest/forest.h"
#include "queue/from_scheduler.h"
#include "queue/from_watcher.h"
#include "queue/gang.h"
#include "queue/mirror.h"
#include "queue/owners.h"
#include "queue/tracing/traced.h"

#define STREAM_WINDOW 2048
#define TELL_MOST     32 /* messages about waiting groups at once */
#define TELL_PAUSE_MS 20

struct queue *queue_new(const struct queue_options *options)
{
    struct queue *q = memory_take(sizeof(*q));
    struct queues_options inner = {.backoff_initial = options->backoff_initial,
                                   .backoff_max = options->backoff_max,
                                   .unschedulable_max = options->unschedulable_max,
                                   .wall_us_at_zero = options->wall_us_at_zero,
                                   .first_cycle = options->first_cycle};
    q->options = *options;
    q->scheduler.process = SCHEDULER;
    q->mirror = mirror_new();
    q->owners = owners_new();
    q->timing.clock = options->clock;
    q->consulting = consulting_new(&q->queues);
    q->config_hash = options->config_hash;
    if (options->profile_count > 0)
        q->features = options->profiles[0].features;
    q->config_generation = 1;
    inner.release = (uint8_t)q->features.release;
    queues_init(&q->queues, &inner);
    q->queues.hinting = q->consulting->hinting;
    profiles_serve(q, options->profiles, options->profile_count);
    q->queues.backoff.strict = options->profile_count > 0 && !q->features.pop_from_backoff;
    q->queues.measured.clock = options->clock;
    subscriber_init(&q->stream, STREAM_WINDOW);
    q->trace_ids.state = options->trace_seed;
    return q;
}

void queue_free(struct queue **queue)
{
    if (*queue == NULL)
        return;
    queues_free(&(*queue)->queues);
    consulting_free(&(*queue)->consulting);
    mirror_free(&(*queue)->mirror);
    owners_free(&(*queue)->owners);
    profiles_free(*queue);
    comparer_clear(&(*queue)->told);
    arena_free(&(*queue)->scratch);
    memory_free(*queue);
    *queue = NULL;
}

const struct queues *queue_inside(const struct queue *queue)
{
    return &queue->queues;
}

/* ---- messages ---- */

/* Namespaces, budgets, barriers, the view's age and the API server's version decide nothing here:
 * no plugin asks to be told of them, and hints do not expand namespace selectors. */
static void on_nothing(struct queue *q, struct moment now, const struct delivery *in)
{
    (void)q;
    (void)now;
    (void)in;
}

/* As after a gap: what the snapshot does not hold is gone. */
static void on_reread(struct queue *q, struct moment now, const struct delivery *in)
{
    (void)now;
    (void)in;
    log_info("a snapshot is asked for, as somebody wants what is held to be read anew");
    subscriber_again(&q->stream);
}

static void on_peer_up(struct queue *q, struct moment now, const struct delivery *in)
{
    if (!consulting_take(q->consulting, now, in))
        from_scheduler_peer_up(q, now, in);
}

static void on_peer_down(struct queue *q, struct moment now, const struct delivery *in)
{
    if (!consulting_take(q->consulting, now, in))
        from_scheduler_peer_down(q, now, in);
}

static void on_plugin(struct queue *q, struct moment now, const struct delivery *in)
{
    (void)consulting_take(q->consulting, now, in);
}

/* One line a message. */
static handler *const handlers[MSG_COUNT] = {
    [MSG_peer_up] = on_peer_up,
    [MSG_peer_down] = on_peer_down,
    [MSG_snapshot_begin] = from_watcher_snapshot_begin,
    [MSG_snapshot_end] = from_watcher_snapshot_end,
    [MSG_node_set] = from_watcher_node_set,
    [MSG_node_gone] = from_watcher_node_gone,
    [MSG_pod_set] = from_watcher_pod_set,
    [MSG_pod_gone] = from_watcher_pod_gone,
    [MSG_namespace_set] = on_nothing,
    [MSG_resource_claim_set] = from_watcher_object_set,
    [MSG_resource_slice_set] = from_watcher_object_set,
    [MSG_device_class_set] = from_watcher_object_set,
    [MSG_device_taint_rule_set] = from_watcher_object_set,
    [MSG_claim_set] = from_watcher_object_set,
    [MSG_volume_set] = from_watcher_object_set,
    [MSG_storage_class_set] = from_watcher_object_set,
    [MSG_csi_node_set] = from_watcher_object_set,
    [MSG_csi_driver_set] = from_watcher_object_set,
    [MSG_csi_capacity_set] = from_watcher_object_set,
    [MSG_attachment_set] = from_watcher_object_set,
    [MSG_owner_set] = from_watcher_owner_set,
    [MSG_budget_set] = on_nothing,
    [MSG_pod_group_set] = from_watcher_pod_group_set,
    [MSG_group_members] = on_nothing,
    [MSG_group_kinds] = from_watcher_group_kinds,
    [MSG_server_version] = on_nothing,
    [MSG_object_gone] = from_watcher_object_gone,
    [MSG_namespace_gone] = on_nothing,
    [MSG_barrier_reached] = on_nothing,
    [MSG_names] = from_watcher_names,
    [MSG_view] = on_nothing,
    [MSG_queue_config] = from_scheduler_queue_config,
    [MSG_plugin_back] = from_scheduler_plugin_back,
    [MSG_plugin_answer] = on_plugin,
    [MSG_plugin_hinted] = on_plugin,
    [MSG_plugin_activate] = on_plugin,
    [MSG_pull] = from_scheduler_pull,
    [MSG_outcome] = from_scheduler_outcome,
    [MSG_reread] = on_reread,
};

static void count_refusal(struct queue *q, struct moment now)
{
    q->count.refused++;
    if (log_limited(&q->refused_log, now))
        log_warn("refused: %s|object=\"%.*s\" suppressed=%u", q->refused.what,
                 STR_ARG(q->refused.name), q->refused_log.suppressed_before);
    q->refused = (struct refusal){NULL, {NULL, 0}};
}

bool queue_takes(enum message_type type)
{
    return handlers[type] != NULL || type == MSG_pending_request || type == MSG_holdings_request;
}

void queue_handle(void *state, struct moment now, const struct delivery *in, struct outbox *out)
{
    struct queue *q = state;
    q->now = now;
    if (subscriber_take(&q->stream, now, in, out) == STREAM_ignore)
        return;
    if (in->message->type == MSG_pending_request)
        queue_tell_pending(q, in, out);
    if (in->message->type == MSG_holdings_request)
        queue_tell_holdings(q, in, out);
    if (handlers[in->message->type] == NULL)
        return;
    q->queues.in_flight.position = q->stream.sequence;
    q->queues.told_us = in->sent_us;
    measure_message(&q->queues.measured);
    handlers[in->message->type](q, now, in);
    if (q->refused.what != NULL)
        count_refusal(q, now);
    arena_reset(&q->scratch);
}

/* ---- attempts ---- */

static void offer_group(struct queue *q, struct moment now, struct group *g, size_t count,
                        struct outbox *out)
{
    const struct gangs *gs = &q->queues.gangs;
    struct gang_member *members = arena_take(&q->scratch, count * sizeof(*members));
    for (size_t i = 0; i < count; i++) {
        struct entry *e = gs->taken[i];
        members[i] = (struct gang_member){.pod = *entry_pod(e),
                                          .attempts = e->attempts,
                                          .first_us = e->first_us,
                                          .cycle = e->flight->cycle};
        traced_member(q, now, e, &members[i]);
    }
    struct message m = {.type = MSG_gang_attempt,
                        .gang_attempt = {.group = g->record,
                                         .needed = group_needed(g),
                                         .members = {(uint32_t)count, members},
                                         .epoch = q->stream.epoch,
                                         .sequence = q->stream.sequence,
                                         .placed = group_placed(g)}};
    m.gang_attempt.group.min_member = group_least(g);
    if (group_is_tree(g))
        forest_describe(g, &m.gang_attempt, &q->scratch);
    outbox_put(out, q->scheduler, &m);
    arena_reset(&q->scratch);
}

/* A group counts as many as it has members. One that is larger than what is left of the credit goes
 * all the same, and nothing else does then until enough of it is back: so no group is too large,
 * and nobody waits until the scheduler is idle. */
static void offer(struct queue *q, struct moment now, struct outbox *out)
{
    const struct in_flight *f = &q->queues.in_flight;
    struct group *g;
    struct entry *e;
    size_t count;
    if (!q->stream.synced || q->scheduler.peer == 0)
        return;
    while ((int64_t)f->count < q->credit) {
        if ((g = gangs_pop(&q->queues, now, &count)) != NULL) {
            offer_group(q, now, g, count, out);
            continue;
        }
        if ((e = queues_pop(&q->queues, now)) == NULL)
            return;
        struct message m = {.type = MSG_attempt,
                            .attempt = {.pod = *entry_pod(e),
                                        .attempts = e->attempts,
                                        .first_us = e->first_us,
                                        .cycle = e->flight->cycle,
                                        .epoch = q->stream.epoch,
                                        .sequence = q->stream.sequence}};
        traced_attempt(q, now, e, &m.attempt);
        outbox_put(out, q->scheduler, &m);
        if (m.attempt.traceparent.len > 0)
            arena_reset(&q->scratch);
    }
}

/* Why groups wait; a few at once, since nothing holds these messages back. */
static struct moment tell(struct queue *q, struct moment now, struct outbox *out)
{
    struct message m = {.type = MSG_gang_waits};
    if (!q->stream.synced || q->scheduler.peer == 0)
        return MOMENT_NEVER;
    for (int i = 0; i < TELL_MOST; i++) {
        bool any = gangs_tell(&q->queues, now, &m.gang_waits, &q->scratch);
        if (any)
            outbox_put(out, q->scheduler, &m);
        arena_reset(&q->scratch);
        if (!any)
            return gangs_tell_due(&q->queues.gangs);
    }
    return moment_after(now, span_of_ms(TELL_PAUSE_MS));
}

struct moment queue_tick(void *state, struct moment now, struct outbox *out)
{
    struct queue *q = state;
    q->now = now;
    struct moment next =
        moment_earlier(queues_tick(&q->queues, now), subscriber_tick(&q->stream, now, out));
    next = moment_earlier(next, consulting_tick(q->consulting, now, out));
    offer(q, now, out);
    next = moment_earlier(next, equivalence_due(&q->queues.equivalence, now));
    return moment_earlier(next, tell(q, now, out));
}
