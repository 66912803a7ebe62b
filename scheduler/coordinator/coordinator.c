/* coordinator: from the queue's attempts to decisions and back; deciding itself is in cycle.c.
 *
 * What must stay true: it decides only while the binder leads, no bind of a former life is in
 * flight, a barrier of this term has been reached and the view is fresh; every attempt gets exactly
 * one outcome; a pod is assumed from its decision until the watch or the binder tells the truth. */
#include "scheduler/coordinator/coordinator.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/release/release.h"
#include "scheduler/coordinator/bind_ends.h"
#include "scheduler/coordinator/bind_request.h"
#include "scheduler/coordinator/claim_waits.h"
#include "scheduler/coordinator/coordination.h"
#include "scheduler/coordinator/deciding.h"
#include "scheduler/coordinator/expiring.h"
#include "scheduler/coordinator/extending.h"
#include "scheduler/coordinator/following.h"
#include "scheduler/coordinator/former.h"
#include "scheduler/coordinator/gang.h"
#include "scheduler/coordinator/landing.h"
#include "scheduler/coordinator/leadership.h"
#include "scheduler/coordinator/permitting.h"
#include "scheduler/coordinator/preempting.h"
#include "scheduler/coordinator/release_list.h"
#include "scheduler/coordinator/releasing.h"
#include "scheduler/coordinator/report.h"
#include "scheduler/coordinator/reserving.h"
#include "scheduler/merge/decisions_kept.h"
#include "scheduler/tracing/attempt_trace.h"

#include <inttypes.h>
#include <stdio.h>

#define KEPT             10000 /* decisions, for who asks */
#define CREDIT_DEFAULT   256
#define CREDIT_STEP      64   /* credit grows with those that make room, but not with each */
#define PREEMPTING_MAX   8192 /* that make room at once without being counted as credit */
#define STREAM_WINDOW    2048
#define WORKER_WINDOW    4096 /* messages on the way to a worker; a link holds 100,000 */
#define STALE_DEFAULT_MS 60000
#define PULL_AGAIN_MS    1000 /* messages can be lost */
#define TICK_MS          250

/* Gates are the same in all profiles. */
static void take_gates(struct coordinator *c)
{
    catalog_stand_in(c->catalog, c->frameworks.count == 0 ||
                                     c->frameworks.at[0].profile.features.device_extended);
}

/* How many decisions are kept. */
static uint32_t kept_of(const struct coordinator_options *options)
{
    int64_t kept = options->kept == 0 ? KEPT : options->kept;
    return kept < 0 ? 0 : (uint32_t)kept;
}

struct coordinator *coordinator_new(const struct coordinator_options *options)
{
    struct coordinator *c = memory_take(sizeof(*c));
    c->options = *options;
    if (c->options.credit == 0)
        c->options.credit = CREDIT_DEFAULT;
    if (c->options.stale_after.ns == 0)
        c->options.stale_after = span_of_ms(STALE_DEFAULT_MS);
    c->random.state = options->seed;
    c->pull.credit = -1;
    preempting_init(c);
    if (c->options.batch <= 0 || c->options.batch > BATCH_MAX)
        c->options.batch = BATCH_MAX;
    batch_init(c);
    run_init(c);
    picks_init(c);
    frameworks_build(&c->frameworks, options->profiles, options->profile_count);
    deciding_configure(c);
    bus_plugins_configure(c);
    c->catalog = catalog_new();
    take_gates(c);
    c->gang_statuses = gang_statuses_new();
    c->cache = cache_new(&(struct cache_options){.profiles = options->profiles,
                                                 .profile_count = options->profile_count,
                                                 .generation = 1,
                                                 .hash = options->config_hash,
                                                 .tell = deciding_tell,
                                                 .tell_encoded = deciding_tell_encoded,
                                                 .context = c,
                                                 .window = WORKER_WINDOW,
                                                 .may_wait = deciding_lets_wait,
                                                 .catalog = c->catalog});
    c->config.generation = 1;
    following_taken(c, options->gates_left);
    c->options.gates_left = NULL; /* the caller's */
    flights_init(&c->flights);
    extending_init(c);
    c->decisions = decisions_kept_new(kept_of(options));
    former_init(c);
    subscriber_init(&c->stream, STREAM_WINDOW);
    return c;
}

void coordinator_free(struct coordinator **coordinator)
{
    struct coordinator *c = *coordinator;
    if (c == NULL)
        return;
    frameworks_clear(&c->frameworks);
    cache_free(&c->cache);
    catalog_free(&c->catalog);
    deciding_free(c);
    run_free(c);
    picks_free(c);
    pod_ends_free(c);
    decisions_kept_free(&c->decisions);
    flights_free(&c->flights);
    gang_free(c);
    gang_claims_free(c);
    gang_statuses_free(&c->gang_statuses);
    landing_free(c);
    expiring_free(c);
    former_free(c);
    compare_free(c);
    arena_free(&c->cycle_memory);
    memory_free(c);
    *coordinator = NULL;
}

/* ---- what we keep telling others ---- */

/* Who makes room by preemption waits for the API server; others are decided meanwhile, however many
 * that are (upstream's loop does not wait for evictions either). */
static int64_t credit_of(const struct coordinator *c)
{
    int64_t steps = (flights_in(&c->flights, FLIGHT_preempting) + CREDIT_STEP - 1) / CREDIT_STEP;
    int64_t makers = steps * CREDIT_STEP;
    return c->options.credit + (makers < PREEMPTING_MAX ? makers : PREEMPTING_MAX) +
           extending_credit(c) + permitting_credit(c);
}

static void say_pull(struct coordinator *c, struct moment now)
{
    bool ready = coordinator_waits_for(c, now)[0] == 0;
    int64_t credit = ready ? credit_of(c) : 0;
    if (c->queue.peer == 0 ||
        (credit == c->pull.credit &&
         !moment_reached(now, moment_after(c->pull.said, span_of_ms(PULL_AGAIN_MS)))))
        return;
    struct message m = {.type = MSG_pull, .pull = {.credit = credit}};
    outbox_put(c->out, c->queue, &m);
    c->pull.credit = credit;
    c->pull.said = now;
}

/* Everything that may be due after any message. */
/* Returns when somebody who stands aside goes on at the latest. */
static struct moment go_on(struct coordinator *c, struct moment now)
{
    leadership_ask(c, now);
    if (deciding_count(c) == 0)
        cache_catch_up(c->cache);
    extending_look(c, now);
    struct moment due = claim_waits_look(c, now);
    cycle_advance(c, now);
    say_pull(c, now);
    return due;
}

/* Whether any profile has gangs: else their status is nobody's here. */
static bool has_gangs(const struct coordinator *c)
{
    for (uint32_t i = 0; i < c->frameworks.count; i++)
        if (c->frameworks.at[i].profile.gangs != GANGS_off)
            return true;
    return false;
}

/* ---- one handler a message ---- */

typedef void handler(struct coordinator *c, struct moment now, const struct delivery *in);

/* The queue offers the pods that these profiles serve. */
static void say_config(struct coordinator *c)
{
    struct message m = {.type = MSG_queue_config,
                        .queue_config = {.generation = c->config.generation,
                                         .hash = c->options.config_hash,
                                         .backoff_initial_s = c->options.backoff_initial_s,
                                         .backoff_max_s = c->options.backoff_max_s}};
    if (c->queue.peer == 0 || c->options.config_hash == 0)
        return;
    uint32_t count = c->frameworks.count;
    struct profile *profiles = memory_take_array(count + 1, sizeof(*profiles));
    for (uint32_t i = 0; i < count; i++)
        profiles[i] = c->frameworks.at[i].profile;
    m.queue_config.profiles.count = count;
    m.queue_config.profiles.at = profiles;
    outbox_put(c->out, c->queue, &m);
    memory_free(profiles);
}

/* Who has a node already may get another one with other profiles. */
static void restart_permitting(struct coordinator *c)
{
    struct flight *next;
    for (struct flight *f = flights_first_asked(&c->flights); f != NULL; f = next) {
        next = f->next;
        if (f->state == FLIGHT_permitting)
            permitting_restart(c, f);
    }
}

/* True when there are others. */
static bool take_extenders(struct coordinator *c, const struct coordinator_config *config)
{
    if (config->extenders_hash == c->options.extenders_hash)
        return false;
    c->options.extenders = config->extenders;
    c->options.extender_count = config->extender_count;
    c->options.extenders_hash = config->extenders_hash;
    log_info("extenders changed| extenders=%u hash=%016" PRIx64, config->extender_count,
             (uint64_t)config->extenders_hash);
    return true;
}

void coordinator_reconfigure(struct coordinator *c, struct moment now,
                             const struct coordinator_config *config, struct outbox *out)
{
    c->out = out;
    c->last_call = now;
    cycle_abandon(c);
    extending_restart(c);
    restart_permitting(c);
    run_forget(c);
    picks_forget(c);
    measure_flush(c);
    frameworks_build(&c->frameworks, config->profiles, config->profile_count);
    take_gates(c);
    deciding_configure(c);
    uint32_t plugins = bus_plugins_count(c);
    bus_plugins_configure(c);
    if (take_extenders(c, config) || plugins + bus_plugins_count(c) > 0)
        extending_reconfigure(c);
    c->config.generation++;
    const char *what =
        c->options.config_hash == config->hash ? "release changed" : "configuration changed";
    if (following_taken(c, config->gates_left))
        subscriber_again(&c->stream);
    c->options.config_hash = config->hash;
    c->options.backoff_initial_s = config->backoff_initial_s;
    c->options.backoff_max_s = config->backoff_max_s;
    cache_reconfigure(c->cache, &(struct cache_options){.profiles = config->profiles,
                                                        .profile_count = config->profile_count,
                                                        .generation = c->config.generation,
                                                        .hash = config->hash});
    say_config(c);
    c->out = NULL;
    log_info("%s| release=%s generation=%" PRId64 " hash=%016" PRIx64 " profiles=%u", what,
             release_of(config->profiles[0].features.release)->version, c->config.generation,
             (uint64_t)config->hash, config->profile_count);
}

int64_t coordinator_extenders_hash(const struct coordinator *c)
{
    return c->options.extenders_hash;
}

void coordinator_config_refused(struct coordinator *c)
{
    c->config.refused++;
    following_refused(c);
}

static void on_peer_up(struct coordinator *c, struct moment now, const struct delivery *in)
{
    if (in->from.process == QUEUE) {
        c->queue = in->from;
        c->pull.credit = -1;
        landing_forget(c);
        say_config(c);
    } else if (in->from.process == BINDER) {
        c->binder = in->from;
        readiness_say_soon(c, now);
    } else if (in->from.process == WATCHER) {
        c->watcher = in->from;
    } else if (in->from.process == EXTENDER) {
        c->extender = in->from;
        flights_may_admit(&c->flights);
    } else if (in->from.process == PLUGIN) {
        bus_plugins_up(c, in->message->peer_up.instance, in->from.peer);
    }
}

static void drop_waiting(struct coordinator *c)
{
    struct flight *f;
    cycle_abandon(c);
    while ((f = flights_first(&c->flights)) != NULL)
        flights_remove(&c->flights, f);
    extending_drop(c);
    claim_waits_drop(c);
}

static void on_peer_down(struct coordinator *c, struct moment now, const struct delivery *in)
{
    uint32_t peer = in->from.peer;
    if (in->from.process == WORKER) {
        deciding_forget_worker(c, peer);
        cycle_abandon(c);
        cache_worker_leave(c->cache, peer);
    } else if (in->from.process == QUEUE && peer == c->queue.peer) {
        c->queue.peer = 0;
        landing_forget(c);
        drop_waiting(c);
        leadership_forget_debts(c);
    } else if (in->from.process == EXTENDER && peer == c->extender.peer) {
        if (gang_under_way(c) != NULL)
            cycle_abandon(c);
        c->extender.peer = 0;
        extending_on_loss(c);
    } else if (in->from.process == PLUGIN) {
        extending_on_plugin_down(c, now, peer);
    } else if (in->from.process == BINDER && peer == c->binder.peer) {
        c->binder.peer = 0;
        former_lose_binder(c, now);
        leadership_end(c);
    } else if (in->from.process == WATCHER && peer == c->watcher.peer) {
        c->watcher.peer = 0;
        leadership_lose_watcher(c);
    }
}

static void on_snapshot_begin(struct coordinator *c, struct moment now, const struct delivery *in)
{
    gang_statuses_take(c->gang_statuses, now, in->message);
    pod_ends_snapshot_begin(c);
    cache_snapshot_begin(c->cache);
    catalog_snapshot_begin(c->catalog);
}

static void on_snapshot_end(struct coordinator *c, struct moment now, const struct delivery *in)
{
    gang_statuses_take(c->gang_statuses, now, in->message);
    catalog_snapshot_end(c->catalog);
    pod_ends_snapshot_read(c);
    cache_snapshot_end(c->cache);
    permitting_look(c);
    pod_ends_snapshot_end(c, now);
    leadership_on_snapshot(c, now);
    log_info("snapshot applied| nodes=%u pods=%u", cache_nodes(c->cache), cache_pods(c->cache));
}

static void on_node_set(struct coordinator *c, struct moment now, const struct delivery *in)
{
    (void)now;
    cache_node_set(c->cache, &in->message->node_set.node);
}

static void on_node_gone(struct coordinator *c, struct moment now, const struct delivery *in)
{
    (void)now;
    cache_node_gone(c->cache, in->message->node_gone.name);
    if (flights_in(&c->flights, FLIGHT_permitting) > 0)
        permitting_look(c);
}

/* Somebody else has bound the pod that waits for permission. */
static void overtake(struct coordinator *c, struct flight *f)
{
    permitting_undo(c, f);
    landing_end(c, f, OUTCOME_skipped, NULL);
}

/* The watch is the truth: an assigned pod ends its flight, whoever bound it. */
static void on_pod_set(struct coordinator *c, struct moment now, const struct delivery *in)
{
    const struct pod told = following_read(c, &in->message->pod_set.pod), *pod = &told;
    struct flight *f = flights_get(&c->flights, pod->uid);
    struct str nominated;
    bool known = pod->node_name.len > 0 || cache_nomination(c->cache, pod->uid, &nominated);
    enum cache_change change = cache_pod_set(c->cache, pod);
    pod_ends_see(c, pod);
    if (!known && cache_nomination(c->cache, pod->uid, &nominated))
        gang_claims_adopt(c, now, pod);
    if (change == CACHE_moved)
        log_warn("pod is on another node than assumed| pod=%.*s/%.*s node=%.*s",
                 STR_ARG(pod->namespace_name), STR_ARG(pod->name), STR_ARG(pod->node_name));
    if (change == CACHE_resized) /* it may take less; upstream tells nobody */
        landing_say_free(c, "NodeResourcesFit");
    if (pod->deleting)
        preempting_look(c, now);
    if (f == NULL)
        return;
    if (flight_is_untried(f))
        flight_set_pod(f, pod);
    else if ((f->state == FLIGHT_asking || flight_is_in_decision(f)) &&
             (pod->node_name.len == 0 || flight_is_of_resize(f)))
        flight_keep_pod(f, pod);
    else if (f->state == FLIGHT_binding && pod->node_name.len > 0)
        bind_ends_seen(c, f, pod->node_name);
    else if (f->state == FLIGHT_permitting && pod->deleting)
        permitting_removed(c, f, false);
    else if (f->state == FLIGHT_permitting && pod->node_name.len > 0)
        overtake(c, f);
}

static void on_pod_gone(struct coordinator *c, struct moment now, const struct delivery *in)
{
    pod_ends(c, now, in->message->pod_gone.uid);
}

static void on_preempt_result(struct coordinator *c, struct moment now, const struct delivery *in)
{
    preempting_on_result(c, now, &in->message->preempt_result);
}

static void on_claim_released(struct coordinator *c, struct moment now, const struct delivery *in)
{
    (void)now;
    former_ended(c, in->message->claim_released.claim_uid);
    releasing_on_answer(c, &in->message->claim_released);
}

static void on_names(struct coordinator *c, struct moment now, const struct delivery *in)
{
    (void)now;
    compare_take(c, &in->message->names);
}

static void on_barrier_reached(struct coordinator *c, struct moment now, const struct delivery *in)
{
    leadership_on_barrier(c, now, in->message->barrier_reached.id);
}

static void on_view(struct coordinator *c, struct moment now, const struct delivery *in)
{
    readiness_hear(c, now, &in->message->view);
}

static void on_server_version(struct coordinator *c, struct moment now, const struct delivery *in)
{
    following_hear(c, &in->message->server_version);
    following_look(c, now);
}

static void on_attempt(struct coordinator *c, struct moment now, const struct delivery *in)
{
    const struct attempt *attempt = &in->message->attempt;
    struct flight *f = flights_get(&c->flights, attempt->pod.uid);
    if (f == NULL) {
        f = flights_add(&c->flights, &attempt->pod);
        f->taken = now;
        extending_take(c, f);
    } else { /* what was found of it the queue has not heard, nor what came since then */
        f->behind = true;
    }
    f->owed = true;
    f->cycle = attempt->cycle;
    f->attempts = attempt->attempts;
    f->first_us = attempt->first_us;
    f->popped_us = in->sent_us;
    attempt_trace_begin(&f->trace, attempt->traceparent, attempt->spans.at, attempt->spans.count,
                        coordinator_wall_us(c));
    f->hops = (struct decision_hops){.to_scheduler = delivery_us(in)};
    f->epoch = attempt->epoch;
    f->sequence = attempt->sequence;
    pod_ends_offered(c, now, attempt->pod.uid, attempt->epoch, attempt->sequence);
    leadership_turn_back(c);
}

static void on_gang_attempt(struct coordinator *c, struct moment now, const struct delivery *in)
{
    const struct gang_attempt *a = &in->message->gang_attempt;
    if (gang_has_former(c, a))
        cycle_abandon(c);
    gang_take(c, now, a);
    for (uint32_t i = 0; i < a->members.count; i++)
        pod_ends_offered(c, now, a->members.at[i].pod.uid, a->epoch, a->sequence);
    leadership_turn_back(c);
}

static void on_gang_waits(struct coordinator *c, struct moment now, const struct delivery *in)
{
    (void)now;
    gang_waits(c, &in->message->gang_waits);
}

static void on_extended(struct coordinator *c, struct moment now, const struct delivery *in)
{
    extending_on_answer(c, now, &in->message->extended);
}

static void on_plugin_answer(struct coordinator *c, struct moment now, const struct delivery *in)
{
    extending_on_plugin_answer(c, now, in->from.peer, &in->message->plugin_answer);
}

static void on_plugin_permit(struct coordinator *c, struct moment now, const struct delivery *in)
{
    permitting_on_permit(c, now, in->from.peer, &in->message->plugin_permit);
}

static void on_worker_join(struct coordinator *c, struct moment now, const struct delivery *in)
{
    (void)now;
    const struct worker_join *join = &in->message->worker_join;
    if (cache_workers(c->cache) == WORKERS_MAX) {
        log_warn("worker refused: %d are the most| worker=%.*s", WORKERS_MAX,
                 STR_ARG(join->instance));
        return;
    }
    cycle_abandon(c);
    picks_on_join(c, in->from.peer, join->picks);
    if (join->counts)
        cache_worker_join_paced(c->cache, in->from.peer, join->capacity);
    else
        cache_worker_join(c->cache, in->from.peer, join->capacity);
    log_info("worker joined| worker=%.*s workers=%u", STR_ARG(join->instance),
             cache_workers(c->cache));
}

static void on_shard_taken(struct coordinator *c, struct moment now, const struct delivery *in)
{
    (void)now;
    cache_worker_took(c->cache, in->from.peer, in->message->shard_taken.count);
}

static void on_map_result(struct coordinator *c, struct moment now, const struct delivery *in)
{
    cycle_on_map_result(c, now, in->from.peer, &in->message->map_result);
}

static void on_map_batch_result(struct coordinator *c, struct moment now, const struct delivery *in)
{
    cycle_step(c, now, batch_on_result(c, now, in->from.peer, &in->message->map_batch_result));
}

static void on_map_run_result(struct coordinator *c, struct moment now, const struct delivery *in)
{
    run_on_result(c, now, in->from.peer, &in->message->map_run_result);
}

static void on_map_picks_result(struct coordinator *c, struct moment now, const struct delivery *in)
{
    cycle_step(c, now, picks_on_result(c, now, in->from.peer, &in->message->map_picks_result));
}

static void on_map_checked(struct coordinator *c, struct moment now, const struct delivery *in)
{
    picks_on_checked(c, now, in->from.peer, &in->message->map_checked);
}

static void on_bind_result(struct coordinator *c, struct moment now, const struct delivery *in)
{
    (void)now;
    bind_ends_answered(c, &in->message->bind_result);
}

static void on_leadership(struct coordinator *c, struct moment now, const struct delivery *in)
{
    (void)now;
    leadership_take(c, &in->message->leadership);
}

static void on_pod_group(struct coordinator *c, struct moment now, const struct delivery *in)
{
    gang_statuses_take(c->gang_statuses, now, in->message);
    if (in->message->type == MSG_pod_group_set)
        catalog_take(c->catalog, in->message);
}

static void on_object(struct coordinator *c, struct moment now, const struct delivery *in)
{
    gang_statuses_take(c->gang_statuses, now, in->message);
    catalog_take(c->catalog, in->message);
    cache_object(c->cache, in->message);
}

static void on_nothing(struct coordinator *c, struct moment now, const struct delivery *in)
{
    (void)c, (void)now, (void)in;
}

/* One line a message; the handlers are above, in this order. */
static handler *const handlers[MSG_COUNT] = {
    [MSG_peer_up] = on_peer_up,
    [MSG_peer_down] = on_peer_down,
    [MSG_snapshot_begin] = on_snapshot_begin,
    [MSG_snapshot_end] = on_snapshot_end,
    [MSG_node_set] = on_node_set,
    [MSG_node_gone] = on_node_gone,
    [MSG_pod_set] = on_pod_set,
    [MSG_pod_gone] = on_pod_gone,
    [MSG_namespace_set] = on_object,
    [MSG_namespace_gone] = on_object,
    [MSG_resource_claim_set] = on_object,
    [MSG_resource_slice_set] = on_object,
    [MSG_device_class_set] = on_object,
    [MSG_device_taint_rule_set] = on_object,
    [MSG_claim_set] = on_object,
    [MSG_volume_set] = on_object,
    [MSG_storage_class_set] = on_object,
    [MSG_csi_node_set] = on_object,
    [MSG_csi_driver_set] = on_object,
    [MSG_csi_capacity_set] = on_object,
    [MSG_attachment_set] = on_object,
    [MSG_owner_set] = on_object,
    [MSG_budget_set] = on_object,
    [MSG_pod_group_set] = on_pod_group,
    [MSG_group_members] = on_pod_group,
    [MSG_group_kinds] = on_nothing,
    [MSG_server_version] = on_server_version,
    [MSG_gang_attempt] = on_gang_attempt,
    [MSG_gang_waits] = on_gang_waits,
    [MSG_object_gone] = on_object,
    [MSG_barrier_reached] = on_barrier_reached,
    [MSG_names] = on_names,
    [MSG_view] = on_view,
    [MSG_attempt] = on_attempt,
    [MSG_extended] = on_extended,
    [MSG_plugin_answer] = on_plugin_answer,
    [MSG_plugin_permit] = on_plugin_permit,
    [MSG_worker_join] = on_worker_join,
    [MSG_shard_taken] = on_shard_taken,
    [MSG_map_result] = on_map_result,
    [MSG_map_batch_result] = on_map_batch_result,
    [MSG_map_run_result] = on_map_run_result,
    [MSG_map_picks_result] = on_map_picks_result,
    [MSG_map_checked] = on_map_checked,
    [MSG_bind_result] = on_bind_result,
    [MSG_preempt_result] = on_preempt_result,
    [MSG_claim_released] = on_claim_released,
    [MSG_leadership] = on_leadership,
    [MSG_explain_request] = report_explain,
    [MSG_holdings_request] = compare_tell,
    [MSG_reread] = compare_reread,
};

bool coordinator_takes(enum message_type type)
{
    return handlers[type] != NULL;
}

void coordinator_handle(void *state, struct moment now, const struct delivery *in,
                        struct outbox *out)
{
    struct coordinator *c = state;
    c->out = out;
    c->last_call = now;
    if (in->from.process == WORKER)
        measure_heard(c, delivery_us(in));
    c->permits.changed |= in->from.process == WATCHER;
    if (in->from.process != WATCHER || subscriber_take(&c->stream, now, in, out) == STREAM_apply ||
        in->message->type == MSG_peer_up || in->message->type == MSG_peer_down)
        if (handlers[in->message->type] != NULL)
            handlers[in->message->type](c, now, in);
    c->out = NULL;
}

struct moment coordinator_tick(void *state, struct moment now, struct outbox *out)
{
    struct coordinator *c = state;
    c->out = out;
    c->last_call = now;
    struct moment next = subscriber_tick(&c->stream, now, out);
    compare_ask(c);
    following_look(c, now);
    preempting_look(c, now);
    gang_claims_look(c, now);
    leadership_say_doubt(c, now);
    landing_end_doubts(c, now);
    if (leadership_leads(c) && c->binder.peer != 0 && c->stream.synced && has_gangs(c))
        gang_statuses_tick(c->gang_statuses, now, c->binder, out);
    next = moment_earlier(next, permitting_look_again(c, now));
    next = moment_earlier(next, expiring_look(c, now));
    next = moment_earlier(next, go_on(c, now));
    readiness_say(c, now);
    next = moment_earlier(next, landing_tell(c, now));
    c->out = NULL;
    if (coordinator_release_changes(c)) /* whoever has the configuration is asked for it */
        return now;
    next = moment_earlier(next, moment_earlier(flights_asked_due(&c->flights), preempting_due(c)));
    return moment_earlier(next, moment_after(now, span_of_ms(TICK_MS)));
}

int64_t coordinator_term(const void *state)
{
    return leadership_term(state);
}
