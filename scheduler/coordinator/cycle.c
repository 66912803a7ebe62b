/* cycle: one pod at a time, from the head of the line to a decision.
 *
 * skip what needs no decision → ask every worker (map) → merge (reduce), perhaps a second round →
 * assume and send the bind, or say why not. What must stay true: at most one cycle is under way, or
 * batches or a run of them (batch.c, run.c), all of one group if of any, and the workers asked for
 * it are the ones that had the nodes when it began; when shares change, it begins again. */
#include "proto/base/log.h"
#include "proto/base/must.h"
#include "scheduler/catalog/device_extended.h"
#include "scheduler/cluster/kept_pod.h"
#include "scheduler/coordinator/coordination.h"
#include "scheduler/coordinator/extending.h"
#include "scheduler/coordinator/gang.h"
#include "scheduler/coordinator/gang_condition.h"
#include "scheduler/coordinator/permitting.h"
#include "scheduler/coordinator/preempting.h"
#include "scheduler/coordinator/releasing.h"

#include <stdio.h>
#include <string.h>

#define CATCH_UP_MS 2000
#define LANDED_MS   4 /* so long the queue need not hear of pods that were bound */

/* Of pods that were bound the queue hears at once while we could do with others. */
static bool has_enough(const struct coordinator *c)
{
    return (int64_t)map_count(c->flights.by_uid) > c->options.credit / 2;
}

struct moment cycle_tell_landed(struct coordinator *c, struct moment now)
{
    if (c->landed.count == 0)
        return MOMENT_NEVER;
    if (has_enough(c) && (int64_t)c->landed.count < c->options.credit / 8 &&
        !moment_reached(now, c->landed_by))
        return c->landed_by;
    outbox_move(c->out, &c->landed);
    return MOMENT_NEVER;
}

/* Each that is bound makes room for another attempt, and each of those that comes alone costs every
 * process on its way a turn of its own; so they come several at once when nobody waits for them. A
 * group's members are told of at once, since they may be the end of its transaction. */
static void tell_landed(struct coordinator *c, const struct flight *f, bool bound,
                        const struct message *outcome)
{
    bool may_wait = bound && !f->grouped && f->gang == NULL && has_enough(c);
    if (may_wait && c->landed.count == 0)
        c->landed_by = moment_after(c->last_call, span_of_ms(LANDED_MS));
    outbox_put(may_wait ? &c->landed : c->out, c->queue, outcome);
}

void cycle_land(struct coordinator *c, struct flight *f, const char *result,
                const struct strs *plugins)
{
    if (releasing_holds(c, f, result, plugins))
        return;
    struct message m = {.type = MSG_outcome,
                        .outcome = {.uid = f->pod.uid,
                                    .namespace_name = f->pod.namespace_name,
                                    .name = f->pod.name,
                                    .cycle = f->cycle,
                                    .result = str_of(result)}};
    if (plugins != NULL)
        m.outcome.plugins = *plugins;
    m.outcome.nominated_node = f->node;
    m.outcome.activate = f->activate;
    m.outcome.gated_epoch = f->gated_epoch;
    m.outcome.gated_sequence = f->gated_sequence;
    m.outcome.behind = f->behind;
    m.outcome.released = f->released;
    bool bound = strcmp(result, "bound") == 0;
    if (f->owed && c->queue.peer != 0)
        tell_landed(c, f, bound, &m);
    must((f->devices.count == 0 && f->devices.extended == NULL) || bound);
    if (bound) {
        device_settle(c->catalog, &f->devices, c->last_call);
        measure_bound(c, f);
        bus_plugins_post_bind(c, f);
    }
    flights_remove(&c->flights, f);
}

void cycle_report_failure(struct coordinator *c, const struct flight *f, const char *reason,
                          const struct failure *failure)
{
    struct message m = {.type = MSG_pod_failed,
                        .pod_failed = {.pod = f->pod,
                                       .reason = str_of(reason),
                                       .message = failure->message,
                                       .set_nominated = failure->nominate,
                                       .nominated_node = failure->nominated_node}};
    m.pod_failed.pod.node_name = (struct str){NULL, 0};
    outbox_put(c->out, c->binder, &m);
}

void cycle_fail(struct coordinator *c, struct flight *f, struct str message)
{
    cache_nominate(c->cache, &f->pod, (struct str){NULL, 0});
    measure_failed(c, f, false);
    cycle_report_failure(
        c, f, "SchedulerError",
        &(struct failure){.message = message, .nominate = f->pod.nominated_node.len > 0});
    cycle_land(c, f, "error", NULL);
}

/* ---- pods that need no decision ---- */

static void report_deleting(struct coordinator *c, const struct flight *f)
{
    struct message m = {
        .type = MSG_pod_failed,
        .pod_failed = {.pod = f->pod,
                       .reason = STR_LITERAL("FailedScheduling"),
                       .message = arena_print(&c->cycle_memory,
                                              "skip schedule deleting pod: "
                                              "%.*s/%.*s",
                                              STR_ARG(f->pod.namespace_name), STR_ARG(f->pod.name)),
                       .event_only = true}};
    outbox_put(c->out, c->binder, &m);
}

static bool is_known(const struct coordinator *c, const struct flight *f)
{
    return cache_pod(c->cache, f->pod.uid, NULL) != CACHE_absent;
}

static bool has_no_cycle(const struct coordinator *c, const struct flight *f)
{
    bool ours = frameworks_find(&c->frameworks, f->pod.scheduler_name) != NULL;
    return is_known(c, f) || !ours || f->pod.deleting || f->pod.node_name.len > 0;
}

bool cycle_is_idle(const struct coordinator *c, const struct flight *f)
{
    return has_no_cycle(c, f) || f->pod.unreadable.len > 0;
}

/* It is never placed by what of it was understood alone; its owner is told, and again after each
 * backoff. */
static void fail_unreadable(struct coordinator *c, struct flight *f)
{
    cycle_fail(c, f,
               arena_print(&c->cycle_memory, "the pod cannot be understood: %.*s",
                           STR_ARG(f->pod.unreadable)));
}

/* True when the flight was ended because there is nothing to decide about it. */
static bool skip(struct coordinator *c, struct flight *f)
{
    if (!cycle_is_idle(c, f))
        return false;
    if (!has_no_cycle(c, f)) {
        fail_unreadable(c, f);
        return true;
    }
    if (f->pod.deleting && !is_known(c, f))
        report_deleting(c, f);
    if (is_known(c, f))
        gang_is_known(f);
    c->count.skipped++;
    cycle_land(c, f, "skipped", NULL);
    return true;
}

/* ---- ends of a cycle ---- */

/* What is to happen to the pod's claims before it is bound. */
static void add_claims(const struct coordinator *c, const struct flight *f, struct bind *b)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    if (f->reserved.count == 0 || fw == NULL ||
        !framework_lists(fw->profile.pre_bind, "VolumeBinding"))
        return;
    b->claims.count = f->reserved.count;
    b->claims.at = f->reserved.at;
    b->bind_timeout_s = fw->profile.bind_timeout_s;
    b->set_nominated = !str_equal(f->pod.nominated_node, f->pod.node_name);
}

/* A pod may name a claim twice; it is written once. */
static void name_each_claim_once(struct bind *bind, struct arena *a)
{
    uint32_t count = bind->device_claims.count;
    const struct device_claim *named = bind->device_claims.at;
    bind->device_claims.at = arena_take(a, count * sizeof(*named));
    for (uint32_t i = 0; i < count; i++) {
        bind->device_claims.at[i] = named[i];
        for (uint32_t k = 0; k < i; k++)
            bind->device_claims.at[i].unneeded |= str_equal(named[k].claim, named[i].claim);
    }
}

/* A claim is made for what devices stand for. Upstream says where the pod will be even if none has
 * to be made there. */
static void add_special_claim(struct coordinator *c, const struct flight *f, struct bind *bind)
{
    struct extended_claim *special = f->devices.extended;
    bind->set_nominated |= extended_is_wanted(c->catalog, &f->pod);
    if (special == NULL)
        return;
    bind->extended.at = arena_take(&c->cycle_memory, sizeof(*special));
    bind->extended.at[0] = *special;
    bind->extended.at[0].allocation.uid = (struct str){NULL, 0};
    bind->extended.count = 1;
}

/* Claims get their devices and are reserved for the pod before it is bound. */
static void add_devices(struct coordinator *c, const struct flight *f, struct bind *bind)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    if (fw == NULL || !framework_lists(fw->profile.pre_bind, "DynamicResources"))
        return;
    bind->device_claims.count = f->pod.device_claims.count;
    bind->device_claims.at = f->pod.device_claims.at;
    name_each_claim_once(bind, &c->cycle_memory);
    bind->allocations.count = f->devices.count;
    bind->allocations.at = f->devices.at;
    bind->relied_on.count = f->devices.relied_count;
    bind->relied_on.at = f->devices.relied_on;
    for (uint32_t i = 0; i < bind->device_claims.count; i++)
        bind->set_nominated |= !bind->device_claims.at[i].unneeded;
    add_special_claim(c, f, bind);
    bind->set_nominated &= !str_equal(f->pod.nominated_node, f->pod.node_name);
    if (bind->device_claims.count + bind->extended.count > 0)
        bind->device_timeout_ms = fw->profile.device_binding_timeout_ms;
}

void cycle_send_bind(struct coordinator *c, struct flight *f)
{
    struct message m = {.type = MSG_bind,
                        .bind = {.uid = f->pod.uid,
                                 .namespace_name = f->pod.namespace_name,
                                 .name = f->pod.name,
                                 .node_name = f->pod.node_name,
                                 .scheduler_name = f->pod.scheduler_name,
                                 .resource_version = f->pod.resource_version,
                                 .popped_us = f->popped_us}};
    if (f->popped_us > 0)
        m.bind.hops = f->hops;
    f->popped_us = 0; /* if it has to be sent again, that is no part of the decision */
    extending_add_binder(c, &f->pod, &m.bind, &c->cycle_memory);
    add_claims(c, f, &m.bind);
    add_devices(c, f, &m.bind);
    outbox_put(c->out, c->binder, &m);
}

void cycle_cancel_bind(struct coordinator *c, struct str uid, struct str node, const char *why)
{
    struct message m = {.type = MSG_bind_cancel,
                        .bind_cancel = {.uid = uid, .node_name = node, .reason = str_of(why)}};
    outbox_put(c->out, c->binder, &m);
}

enum reserved { RESERVED_all, RESERVED_failed, RESERVED_not };

/* A plugin's Reserve has failed, and so has the attempt. */
static enum reserved reserve_failed(struct coordinator *c, const struct slot *s, const char *plugin,
                                    struct str error)
{
    struct flight *f = s->flight;
    struct str node = reduce_decision(s->reduce)->node;
    struct str why = arena_print(&c->cycle_memory, "running Reserve plugin \"%s\": %.*s", plugin,
                                 STR_ARG(error));
    cycle_unreserve_quietly(c, f);
    c->count.errors++;
    if (f->gang != NULL) {
        gang_reject(c, f, &(struct decision){.kind = DECISION_error, .message = why, .node = node});
        return RESERVED_failed;
    }
    flights_start(&c->flights, f, FLIGHT_deciding);
    releasing_unreserve(c, f);
    cycle_fail(c, f, why);
    return RESERVED_failed;
}

static enum reserved reserve_devices(struct coordinator *c, const struct slot *s,
                                     const struct node *node)
{
    struct flight *f = s->flight;
    struct str error = {0};
    const struct device_reserve_question q = {.pod = &f->pod,
                                              .open = reduce_decision(s->reduce)->open_claims,
                                              .node = node,
                                              .random = &c->random};
    enum device_outcome outcome = device_reserve(c->catalog, &q, &f->devices, &error, &f->arena);
    if (outcome == DEVICES_failed)
        return reserve_failed(c, s, "DynamicResources", error);
    if (outcome == DEVICES_reserved)
        return RESERVED_all;
    cycle_unreserve_quietly(c, f);
    return RESERVED_not;
}

/* Whether nodes were chosen by what the pod's claims have been given. Without the filter they are
 * not, and another decision would choose no better. */
static bool nodes_follow_claims(const struct framework *fw, const struct pod *pod)
{
    return pod->device_claims.count > 0 &&
           framework_lists(fw->profile.pre_filter, "DynamicResources") &&
           framework_lists(fw->profile.filter, "DynamicResources");
}

/* Assumes what becomes of the pod's volumes and claims on its node. RESERVED_not: its devices have
 * gone meanwhile, so it is to be decided anew. */
static enum reserved reserve(struct coordinator *c, const struct slot *s)
{
    struct flight *f = s->flight;
    const struct decision *d = reduce_decision(s->reduce);
    const struct volume_brief *brief = &reduce_request(s->reduce)->brief.volumes;
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    bool volumes =
        brief->delayed.count > 0 && framework_lists(fw->profile.reserve, "VolumeBinding");
    bool devices = (d->open_claims > 0 || nodes_follow_claims(fw, &f->pod)) &&
                   framework_lists(fw->profile.reserve, "DynamicResources");
    struct node node = {.name = d->node};
    struct str error;
    if (!volumes && !devices)
        return RESERVED_all;
    (void)cache_node_get(c->cache, d->node, &node, &c->cycle_memory);
    const struct reserve_question q = {.pod = &f->pod, .brief = brief, .node = &node};
    if (volumes && !volume_reserve(c->catalog, &q, &f->reserved, &error, &f->arena))
        return reserve_failed(c, s, "VolumeBinding", error);
    return devices ? reserve_devices(c, s, &node) : RESERVED_all;
}

void cycle_unreserve_quietly(struct coordinator *c, struct flight *f)
{
    (void)device_unreserve(c->catalog, &f->devices);
    (void)volume_unreserve(c->catalog, &f->reserved);
}

void cycle_unreserve(struct coordinator *c, struct flight *f)
{
    if (device_unreserve(c->catalog, &f->devices))
        cycle_say_free(c, "DynamicResources");
    if (volume_unreserve(c->catalog, &f->reserved))
        cycle_say_free(c, "VolumeBinding");
}

void cycle_say_free(struct coordinator *c, const char *plugin)
{
    const struct message m = {.type = MSG_plugin_back, .plugin_back = {.name = str_of(plugin)}};
    if (c->queue.peer != 0)
        outbox_put(c->out, c->queue, &m);
}

static void count_decision(struct coordinator *c, struct moment now)
{
    int64_t took_us = moment_since(now, c->cycle_started).ns / 1000;
    c->count.decision_us += took_us;
    if (took_us > c->count.decision_us_max)
        c->count.decision_us_max = took_us;
    c->count.cycles++;
}

bool cycle_stands(const struct coordinator *c, const struct flight *f, struct str node)
{
    return !f->gone && !f->overtaken && !is_known(c, f) && cache_has_node(c->cache, node);
}

bool cycle_slot_stands(const struct coordinator *c, const struct slot *s)
{
    const struct decision *d = reduce_decision(s->reduce);
    return d->kind == DECISION_node && cycle_stands(c, s->flight, d->node);
}

void cycle_place(struct coordinator *c, struct moment now, struct flight *f,
                 const struct placement *p)
{
    count_decision(c, now);
    measure_hops(c, f, now);
    flights_start(&c->flights, f, f->gang != NULL ? FLIGHT_placed : FLIGHT_binding);
    bool assumed = p->told ? cache_assume_told(c->cache, &f->pod, p->node)
                           : cache_assume(c->cache, &f->pod, p->node);
    must(assumed); /* it stands */
    f->pod.node_name = arena_copy(&f->arena, p->node);
    snprintf(c->last_node, sizeof(c->last_node), "%.*s", STR_ARG(p->node));
    log_debug("placed| pod=%.*s/%.*s node=%.*s score=%lld feasible=%lld",
              STR_ARG(f->pod.namespace_name), STR_ARG(f->pod.name), STR_ARG(p->node),
              (long long)p->total, (long long)p->feasible);
    if (f->gang != NULL) {
        gang_placed(f);
        return;
    }
    c->count.scheduled++;
    if (f->pod.gang.len > 0)
        gang_condition_placed(c, f);
    permitting_begin(c, now, f);
}

void cycle_place_slot(struct coordinator *c, struct moment now, const struct slot *s, bool told)
{
    const struct decision *d = reduce_decision(s->reduce);
    const struct placement p = {d->node, d->total, d->feasible, told};
    measure_decided(c, s, now);
    enum reserved reserved = reserve(c, s);
    if (reserved == RESERVED_all) {
        cycle_place(c, now, s->flight, &p);
        return;
    }
    count_decision(c, now);
    if (reserved == RESERVED_not) {
        flights_return(&c->flights, s->flight);
        c->count.restarted++;
    }
}

static void reject(struct coordinator *c, struct moment now, struct flight *f,
                   const struct decision *d)
{
    bool unschedulable = d->kind == DECISION_unschedulable;
    if (f->gang != NULL) {
        gang_reject(c, f, d);
        return;
    }
    bool preempts = d->preemption.node.len > 0;
    measure_failed(c, f, unschedulable);
    if (f->pod.gang.len > 0)
        gang_condition_failed(c, f, d);
    *(unschedulable ? &c->count.unschedulable : &c->count.errors) += 1;
    log_debug("not placed| pod=%.*s/%.*s message=\"%.*s\"", STR_ARG(f->pod.namespace_name),
              STR_ARG(f->pod.name), STR_ARG(d->message));
    bool tells_later = releasing_deallocate(c, f, d, !preempts) && !preempts;
    if (!tells_later)
        cycle_report_failure(c, f, unschedulable ? "Unschedulable" : "SchedulerError",
                             &(struct failure){.message = d->message,
                                               .nominate = d->clear_nominated || preempts,
                                               .nominated_node = d->preemption.node});
    if (preempts) {
        preempting_begin(c, now, f, d);
        return;
    }
    if ((d->clear_nominated || f->remembered) && !tells_later)
        cache_nominate(c->cache, &f->pod, (struct str){NULL, 0});
    if (f->remembered && !tells_later)
        cycle_say_free(c, ROOM_OF_NOMINATIONS);
    flights_start(&c->flights, f, FLIGHT_deciding);
    cycle_land(c, f, unschedulable ? "unschedulable" : "error", &d->plugins);
}

void cycle_end(struct coordinator *c)
{
    c->under_way = c->batch_count = 0;
    outbox_move(c->out, &c->held);
}

static void conclude(struct coordinator *c, struct moment now)
{
    const struct slot *s = &c->slots[0];
    const struct decision *d = reduce_decision(s->reduce);
    struct flight *f = s->flight;
    cycle_end(c);
    batch_learn(c, d->kind == DECISION_node);
    if (cycle_slot_stands(c, s)) {
        cycle_place_slot(c, now, s, false);
        return;
    }
    count_decision(c, now);
    if (f->gone || is_known(c, f)) { /* it went, or somebody has bound it, meanwhile */
        c->count.skipped++;
        cycle_land(c, f, "skipped", NULL);
    } else if (d->kind == DECISION_node) {
        flights_return(&c->flights, f); /* its node went, or it came and went: once more */
        c->count.restarted++;
    } else {
        measure_decided(c, s, now);
        reject(c, now, f, d);
    }
}

/* ---- asking ---- */

static void ask(struct coordinator *c)
{
    const struct reduce *r = c->slots[0].reduce;
    struct message m = {.type = MSG_map_request, .map_request = *reduce_request(r)};
    bool put = false;
    c->count.second_rounds += m.map_request.round > 1;
    for (uint32_t i = 0; i < c->asked_count; i++) {
        const struct address to = {WORKER, c->asked[i]};
        if (!reduce_asks(r, i))
            continue;
        if (put)
            outbox_put_again(c->out, to);
        else
            outbox_put(c->out, to, &m);
        put = true;
    }
}

/* Takes the next step until answers are missing or the cycle is over. */
void cycle_step(struct coordinator *c, struct moment now, enum reduce_step step)
{
    if (step == REDUCE_ask)
        ask(c);
    else if (step == REDUCE_extend)
        extending_ask(c, now);
    else if (step == REDUCE_done)
        conclude(c, now);
}

/* What was decided for the pod may not have come back in its status yet, or was not written. It
 * holds until the next failure that does not decide it anew, as upstream's nominator has it. */
static void remember_nomination(struct coordinator *c, struct flight *f)
{
    struct str node;
    if (f->pod.nominated_node.len > 0 || !cache_nomination(c->cache, f->pod.uid, &node))
        return;
    f->pod.nominated_node = arena_copy(&f->arena, node);
    f->remembered = true;
}

/* Those whose decisions come first will be on nodes by then. */
static bool nobody_has_terms(const struct coordinator *c, uint32_t before)
{
    for (uint32_t i = 0; i < before; i++)
        if (kept_pod_has_terms(&c->slots[i].flight->pod))
            return false;
    return cache_pods_with_terms(c->cache) == 0;
}

/* Nor do those have a lower priority whose decisions come first. */
static bool nobody_is_lower(const struct coordinator *c, int64_t priority, uint32_t before)
{
    for (uint32_t i = 0; i < before; i++)
        if (c->slots[i].flight->pod.priority < priority)
            return false;
    return cache_least_priority(c->cache) >= priority;
}

static uint32_t owner_of(const void *context, struct str node)
{
    const struct coordinator *c = context;
    uint32_t worker, i = 0;
    if (!cache_owner(c->cache, node, &worker))
        return UINT32_MAX;
    while (i < c->asked_count && c->asked[i] != worker)
        i++;
    return i < c->asked_count ? i : UINT32_MAX;
}

/* Our view must not be older than the queue's was: else a pod could be rejected on the old one, and
 * the event that would have helped it has already gone by. Bounded, because a position of a life of
 * the watcher that ended may never be reached; the outcome says then that it is so. */
static bool view_is_older(const struct coordinator *c, const struct flight *f)
{
    return !subscriber_has_reached(&c->stream, f->epoch, f->sequence);
}

void cycle_start(struct coordinator *c, struct flight *f)
{
    f->behind = view_is_older(c, f);
    flights_start(&c->flights, f, FLIGHT_deciding);
}

enum reduce_step cycle_take(struct coordinator *c, struct moment now)
{
    must(c->under_way < RUN_PODS && c->flights.first != NULL);
    struct flight *f = c->flights.first;
    struct slot *s = &c->slots[c->under_way++];
    remember_nomination(c, f);
    cycle_start(c, f);
    s->flight = f;
    if (s->reduce == NULL)
        s->reduce = reduce_new();
    measure_begin(c, s, now);
    struct reduce_start start = {.cycle = ++c->cycle,
                                 .framework =
                                     frameworks_find(&c->frameworks, f->pod.scheduler_name),
                                 .catalog = c->catalog,
                                 .cache = c->cache,
                                 .timer = c->measure.clock,
                                 .pod = &f->pod,
                                 .extension = f->extension,
                                 .shards = c->asked_count,
                                 .nodes = cache_nodes(c->cache),
                                 .no_terms = nobody_has_terms(c, c->under_way - 1),
                                 .own_hostnames = cache_odd_hostnames(c->cache) == 0,
                                 .tie_break = str_of(c->options.tie_break),
                                 .seed = (int64_t)random_next(&c->random),
                                 .after = str_of(c->last_node),
                                 .now_us = c->options.wall_us_at_zero + now.ns / 1000,
                                 .owner = owner_of,
                                 .owner_context = c};
    start.none_lower = nobody_is_lower(c, f->pod.priority, c->under_way - 1);
    start.clock = start.cycle % MEASURED_ONE_IN == 0 ? c->measure.clock : NULL;
    s->rivals = cache_has_rivals(c->cache, &f->pod);
    start.siblings = gang_nominated(c, f);
    enum reduce_step first = reduce_start(s->reduce, &start);
    measure_prepared(c, s);
    return first;
}

enum reduce_step cycle_take_alike(struct coordinator *c, struct moment now)
{
    must(c->under_way > 0 && c->under_way < RUN_PODS && c->flights.first != NULL);
    struct flight *f = c->flights.first;
    const struct reduce *like = c->slots[c->under_way - 1].reduce;
    struct slot *s = &c->slots[c->under_way++];
    cycle_start(c, f);
    s->flight = f;
    s->rivals = false;
    if (s->reduce == NULL)
        s->reduce = reduce_new();
    measure_begin_alike(s, now);
    const struct reduce_start start = {.cycle = ++c->cycle,
                                       .framework =
                                           frameworks_find(&c->frameworks, f->pod.scheduler_name),
                                       .catalog = c->catalog,
                                       .pod = &f->pod,
                                       .shards = c->asked_count,
                                       .nodes = cache_nodes(c->cache),
                                       .tie_break = str_of(c->options.tie_break),
                                       .seed = (int64_t)random_next(&c->random),
                                       .after = str_of(c->last_node)};
    return reduce_start_alike(s->reduce, &start, like);
}

void cycle_give_back(struct coordinator *c, uint32_t from)
{
    for (uint32_t i = c->under_way; i > from; i--) {
        struct flight *f = c->slots[i - 1].flight;
        flights_return(&c->flights, f);
        if (f->gone)
            cycle_land(c, f, "skipped", NULL);
    }
    if (from < c->under_way)
        c->under_way = from;
}

enum reduce_step cycle_begin(struct coordinator *c, struct moment now)
{
    cache_flush(c->cache);
    c->held_gone = false;
    c->cycle_started = now;
    c->asked_count = cache_workers(c->cache);
    must(c->asked_count <= WORKERS_MAX);
    for (uint32_t i = 0; i < c->asked_count; i++)
        c->asked[i] = cache_worker(c->cache, i);
    enum reduce_step first = cycle_take(c, now);
    bool asked = first == REDUCE_ask && (batch_begin(c, now) || run_begin(c, now));
    return asked ? REDUCE_wait : first;
}

bool cycle_view_is_behind(const struct coordinator *c, struct moment now, const struct flight *f)
{
    return view_is_older(c, f) &&
           !moment_reached(now, moment_after(f->taken, span_of_ms(CATCH_UP_MS)));
}

void cycle_advance(struct coordinator *c, struct moment now)
{
    struct flight *f;
    while (c->under_way == 0 && coordinator_waits_for(c, now)[0] == 0 &&
           (f = gang_next(c, now)) != NULL) {
        arena_reset(&c->cycle_memory);
        if (!skip(c, f))
            cycle_step(c, now, cycle_begin(c, now));
    }
    if (c->batch_count > 0)
        batch_follow(c, now);
}

static void abandon_decision(struct coordinator *c)
{
    if (c->batch_count > 0)
        batch_undo(c, 0, c->under_way);
    run_abandon(c);
    cycle_give_back(c, 0);
    cycle_end(c);
    c->count.restarted++;
}

void cycle_abandon(struct coordinator *c)
{
    if (c->under_way > 0)
        abandon_decision(c);
    gang_abandon(c);
}

void cycle_on_map_result(struct coordinator *c, struct moment now, uint32_t worker,
                         const struct map_result *result)
{
    if (c->under_way != 1 || c->batch_count > 0 || run_is_under_way(c) ||
        result->cycle != reduce_request(c->slots[0].reduce)->cycle) {
        c->count.late++;
        return;
    }
    for (uint32_t i = 0; i < c->asked_count; i++)
        if (c->asked[i] == worker) {
            measure_answer(c, &c->slots[0], result);
            cycle_step(c, now, reduce_add(c->slots[0].reduce, i, result));
            return;
        }
    c->count.late++;
}
