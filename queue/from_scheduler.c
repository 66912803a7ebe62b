/* from_scheduler: its life and term, its configuration, its credit, and how attempts ended.
 *
 * What must stay true: an attempt is closed by its own outcome, or taken back when its scheduler or
 * its leadership term is over; words of another life, or of another cycle, are counted and change
 * nothing. */
#include "queue/from_scheduler.h"

#include "proto/base/log.h"
#include "proto/kube/release/release.h"
#include "queue/equivalence.h"
#include "queue/gang.h"

#include <inttypes.h>

#define CREDIT_MAX 65536 /* a peer's number bounds our memory nowhere */

/* ---- its life and its term ---- */

static void take_back(struct queue *q, struct moment now, const char *why)
{
    if (q->queues.in_flight.count > 0)
        log_info("attempts are taken back|reason=\"%s\" count=%zu", why, q->queues.in_flight.count);
    queues_take_back(&q->queues, now);
}

static void meet(struct queue *q, struct moment now, struct address scheduler)
{
    take_back(q, now, "another life of the scheduler");
    gangs_untell(&q->queues.gangs, now);
    q->scheduler = scheduler;
    q->term = 0; /* another life says anew which term it is */
}

void from_scheduler_peer_up(struct queue *q, struct moment now, const struct delivery *in)
{
    if (in->from.process != SCHEDULER || in->from.peer == q->scheduler.peer)
        return;
    meet(q, now, in->from);
    q->credit = 0;
}

void from_scheduler_peer_down(struct queue *q, struct moment now, const struct delivery *in)
{
    if (in->from.process != SCHEDULER || in->from.peer != q->scheduler.peer)
        return;
    take_back(q, now, "the scheduler is gone");
    q->scheduler.peer = 0;
    q->credit = 0;
}

/* A scheduler of a newer term or life begins anew: what it held is over, attempts as well as room
 * and claims that kept others out. */
static void follow_term(struct queue *q, struct moment now, int64_t term)
{
    if (term <= q->term)
        return;
    take_back(q, now, "a new term of leadership");
    queues_wake_all(&q->queues, now);
    q->term = term;
}

void from_scheduler_pull(struct queue *q, struct moment now, const struct delivery *in)
{
    int64_t credit = in->message->pull.credit;
    if (in->from.peer != q->scheduler.peer) /* its greeting is still to come, or was lost */
        meet(q, now, in->from);
    follow_term(q, now, in->term);
    q->credit = credit < 0 ? 0 : credit > CREDIT_MAX ? CREDIT_MAX : credit;
}

/* ---- what it decides with ---- */

/* The same file says something else to another release, or with other gates. */
static bool decides_as(const struct queue *q, const struct features *features)
{
    return codec_equal(&features_record, &q->features, features);
}

/* Another configuration: pods that it serves and the former did not are in the watcher's next
 * snapshot, and pods that it does not serve are not kept from it. The order of the queue stays. */
void from_scheduler_queue_config(struct queue *q, struct moment now, const struct delivery *in)
{
    const struct queue_config *config = &in->message->queue_config;
    q->config_generation = config->generation;
    if (config->profiles.count == 0 ||
        (config->hash == q->config_hash && decides_as(q, &config->profiles.at[0].features)))
        return;
    profiles_serve(q, config->profiles.at, config->profiles.count);
    const char *what = config->hash == q->config_hash ? "release changed" : "configuration changed";
    q->config_hash = config->hash;
    q->features = config->profiles.at[0].features;
    q->queues.options.release = (uint8_t)q->features.release;
    q->queues.backoff.strict = !q->features.pop_from_backoff;
    if (!q->options.backoff_given && config->backoff_initial_s > 0 &&
        config->backoff_max_s >= config->backoff_initial_s) {
        q->queues.options.backoff_initial = span_of_seconds((double)config->backoff_initial_s);
        q->queues.options.backoff_max = span_of_seconds((double)config->backoff_max_s);
    }
    gangs_use_trees(&q->queues, q->features.group_trees);
    gangs_follow_all(&q->queues, now);
    queues_wake_all(&q->queues, now);
    queues_look_at_gates(&q->queues, now);
    subscriber_again(&q->stream);
    log_info("%s| release=%s generation=%" PRId64 " hash=%016" PRIx64 " profiles=%u", what,
             release_of(q->features.release)->version, config->generation, (uint64_t)config->hash,
             config->profiles.count);
}

/* Of a plugin that is not known by name here, whom it has turned away is not known either. */
void from_scheduler_plugin_back(struct queue *q, struct moment now, const struct delivery *in)
{
    const struct strs back = {1, (struct str *)&in->message->plugin_back.name}; /* only read */
    if (in->from.process == SCHEDULER && back.at->len == 0)
        queues_wake_all(&q->queues, now);
    else if (in->from.process == SCHEDULER)
        queues_wake_rejected_by(&q->queues, now, plugins_known(&q->queues.named, &back));
}

/* ---- how attempts ended ---- */

/* What came while its victims were there still would not have helped it; who has left its node
 * since then, or at all, may. */
static void forget_until_gated(struct queue *q, struct entry *e, const struct outcome *outcome)
{
    bool gated = outcome->gated_epoch != 0 && outcome->gated_epoch == q->stream.epoch;
    if (gated)
        in_flight_gated(e->flight, outcome->gated_sequence);
    if (nominated_missed(&q->queues, e, gated ? outcome->gated_sequence : 0))
        e->flight->woken = true;
}

/* The plugins that an outcome names. */
struct named_plugins {
    uint64_t rejectors, pending;
};

static void reject(struct queue *q, struct moment now, struct entry *e,
                   const struct outcome *outcome, struct named_plugins by)
{
    queues_nominated(&q->queues, now, e, outcome->nominated_node);
    forget_until_gated(q, e, outcome);
    e->flight->woken |= outcome->behind;
    queues_rejected(&q->queues, now, e, by.rejectors, by.pending);
    if (!outcome->released && !outcome->activate && !outcome->behind && outcome->gated_epoch == 0)
        equivalence_speak(e, now);
    if (outcome->activate)
        queues_activate(&q->queues, now, e);
}

/* Its victims could not be evicted, which is worth another attempt at once, as upstream; and again.
 * Who evicts is refused for some reason then, and an attempt that chooses the same victims at once
 * would go on for ever, as fast as the API server refuses. */
static bool fails_on(const struct entry *e, const struct outcome *outcome)
{
    return outcome->activate && e->hurried && !group_holds(e);
}

static void close_attempt(struct queue *q, struct moment now, struct entry *e,
                          const struct outcome *outcome)
{
    struct named_plugins by = {plugins_known(&q->queues.named, &outcome->plugins),
                               plugins_known(&q->queues.named, &outcome->pending_plugins)};
    bool rejected = outcome->result == OUTCOME_unschedulable, fails = fails_on(e, outcome);
    e->hurried = outcome->activate;
    if (rejected && (by.rejectors | by.pending) == 0 && group_holds(e))
        by.rejectors = q->queues.gangs.coscheduling; /* upstream's in-tree groups name no plugin */
    if (outcome->released && (rejected || outcome->result == OUTCOME_bound))
        queues_released(&q->queues, now, e);
    if (outcome->result == OUTCOME_bound) {
        queues_bound(&q->queues, now, e);
    } else if (outcome->result == OUTCOME_skipped) {
        queues_skipped(&q->queues, now, e, outcome->released);
    } else if (rejected && fails) {
        queues_nominated(&q->queues, now, e, outcome->nominated_node);
        queues_failed(&q->queues, now, e);
    } else if (rejected && (by.rejectors | by.pending) != 0) {
        reject(q, now, e, outcome, by);
    } else {
        if (!rejected && outcome->result != OUTCOME_error)
            q->refused =
                (struct refusal){"outcome without a result, taken for an error", outcome->uid};
        nominated_decided(&q->queues.nominations, e, outcome->nominated_node, !rejected);
        queues_failed(&q->queues, now, e);
    }
}

void from_scheduler_outcome(struct queue *q, struct moment now, const struct delivery *in)
{
    const struct outcome *outcome = &in->message->outcome;
    if (in->from.peer != q->scheduler.peer || q->scheduler.peer == 0) {
        q->count.late_outcomes++;
        return;
    }
    follow_term(q, now, in->term);
    struct flight *flight = in_flight_find(&q->queues.in_flight, outcome->cycle);
    if (flight == NULL)
        q->count.late_outcomes++;
    else if (flight->entry == NULL)
        queues_left(&q->queues, now, flight, outcome->released || outcome->result == OUTCOME_error);
    else if (!entry_has_uid(flight->entry, outcome->uid))
        q->refused = (struct refusal){"outcome with the UID of another pod", outcome->uid};
    else
        close_attempt(q, now, flight->entry, outcome);
}
