/* placing: what becomes of a decision: the pod is assumed on its node and bound, makes room, or is
 * told why it has no place. What must stay true: of each decision exactly one of these comes, and a
 * group's member waits for its group. */
#include "scheduler/coordinator/placing.h"

#include "proto/base/log.h"
#include "proto/base/must.h"
#include "scheduler/coordinator/deciding.h"
#include "scheduler/coordinator/gang.h"
#include "scheduler/coordinator/gang_condition.h"
#include "scheduler/coordinator/landing.h"
#include "scheduler/coordinator/permitting.h"
#include "scheduler/coordinator/preempting.h"
#include "scheduler/coordinator/releasing.h"
#include "scheduler/coordinator/reserving.h"
#include "scheduler/tracing/attempt_trace.h"

void placing_count(struct coordinator *c, struct moment now)
{
    measure_took(c, moment_since(now, deciding_began(c)).ns / 1000);
}

void placing_pod(struct coordinator *c, struct moment now, struct flight *f,
                 const struct placement *p)
{
    placing_count(c, now);
    measure_hops(c, f, now);
    flights_start(&c->flights, f, f->gang != NULL ? FLIGHT_placed : FLIGHT_binding);
    const struct pod placed = reserving_placed(c, f);
    bool assumed = p->told ? cache_assume_told(c->cache, &placed, p->node)
                           : cache_assume(c->cache, &placed, p->node);
    must(assumed); /* it stands */
    f->pod.node_name = arena_copy(&f->arena, p->node);
    f->score = p->total;
    f->feasible = p->feasible;
    log_debug("placed| pod=%.*s/%.*s node=%.*s score=%lld feasible=%lld",
              STR_ARG(f->pod.namespace_name), STR_ARG(f->pod.name), STR_ARG(p->node),
              (long long)p->total, (long long)p->feasible);
    if (f->gang != NULL) {
        attempt_trace_phase(f->trace, "Wait for group", coordinator_wall_us(c));
        gang_placed(f);
        return;
    }
    COUNT(c, scheduled, 1);
    if (f->pod.gang.len > 0)
        gang_condition_placed(c, f);
    permitting_begin(c, now, f);
}

/* A plugin's Reserve has turned the pod away, in the words in which Permit does. */
static void reject_reserve(struct coordinator *c, struct flight *f, const struct reserve_failure *r,
                           struct str node)
{
    struct str by = str_of(r->plugin);
    const struct decision d = {.kind = DECISION_unschedulable,
                               .message = permitting_rejection(c, r->error),
                               .plugins = {1, &by},
                               .clear_nominated = true,
                               .node = node};
    if (f->gang == NULL) {
        flights_start(&c->flights, f, FLIGHT_deciding);
        releasing_unreserve(c, f);
    }
    placing_reject(c, c->last_call, f, &d);
}

/* A plugin's Reserve has failed, and so has the attempt. */
static void fail_reserve(struct coordinator *c, const struct slot *s,
                         const struct reserve_failure *r)
{
    struct flight *f = s->flight;
    struct str node = reduce_decision(s->reduce)->node;
    if (r->code != CODE_error) {
        reject_reserve(c, f, r, node);
        return;
    }
    struct str why = arena_print(&c->cycle_memory, "running Reserve plugin \"%s\": %.*s", r->plugin,
                                 STR_ARG(r->error));
    COUNT(c, errors, 1);
    if (f->gang != NULL) {
        gang_reject(c, f, &(struct decision){.kind = DECISION_error, .message = why, .node = node});
        return;
    }
    flights_start(&c->flights, f, FLIGHT_deciding);
    releasing_unreserve(c, f);
    landing_fail(c, f, why);
}

/* Its resize fits: the kubelet's to carry out. Upstream fails to assume a pod that it knows to be
 * on a node, an error after which it is tried again; one without a node Permit turns away. */
static bool ends_resize(struct coordinator *c, struct moment now, struct flight *f)
{
    struct str permit = STR_LITERAL("DeferredPodScheduling");
    const struct strs by = {1, &permit};
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    bool on_node = flight_is_of_resize(f);
    if (!f->pod.resize_deferred || !(on_node || strs_hold(fw->profile.permit, permit)))
        return false;
    placing_count(c, now);
    measure_failed(c, f, !on_node);
    COUNT(c, unschedulable, !on_node);
    COUNT(c, errors, on_node);
    log_debug("resize fits| pod=%.*s/%.*s", STR_ARG(f->pod.namespace_name), STR_ARG(f->pod.name));
    flights_start(&c->flights, f, FLIGHT_deciding);
    landing_end(c, f, on_node ? OUTCOME_error : OUTCOME_unschedulable, on_node ? NULL : &by);
    return true;
}

void placing_slot(struct coordinator *c, struct moment now, const struct slot *s, bool told)
{
    const struct decision *d = reduce_decision(s->reduce);
    const struct placement p = {d->node, d->total, d->feasible, told};
    measure_decided(c, s, now);
    if (ends_resize(c, now, s->flight))
        return;
    struct reserve_failure why;
    enum reserved reserved = reserving_begin(c, s, &why);
    if (reserved == RESERVED_all) {
        placing_pod(c, now, s->flight, &p);
        return;
    }
    placing_count(c, now);
    if (reserved == RESERVED_failed) {
        fail_reserve(c, s, &why);
    } else {
        flights_return(&c->flights, s->flight);
        COUNT(c, restarted, 1);
    }
}

void placing_reject(struct coordinator *c, struct moment now, struct flight *f,
                    const struct decision *d)
{
    bool unschedulable = d->kind == DECISION_unschedulable;
    if (f->gang != NULL) {
        gang_reject(c, f, d);
        return;
    }
    bool preempts = d->preemption.node.len > 0;
    bool nominated = d->nominated.len > 0 && cache_has_node(c->cache, d->nominated);
    /* Who only waits for its victims keeps its claim, also one that no status shows: without it, it
     * would make the same one again. */
    f->remembered &= !d->preemption.waits;
    measure_failed(c, f, unschedulable);
    if (f->pod.gang.len > 0)
        gang_condition_failed(c, f, d);
    COUNT(c, unschedulable, unschedulable);
    COUNT(c, errors, !unschedulable);
    log_debug("not placed| pod=%.*s/%.*s message=\"%.*s\"", STR_ARG(f->pod.namespace_name),
              STR_ARG(f->pod.name), STR_ARG(d->message));
    bool tells_later = releasing_deallocate(c, f, d, !preempts) && !preempts;
    if (!tells_later)
        landing_report(
            c, f, unschedulable ? REASON_unschedulable : REASON_scheduler_error,
            &(struct failure){.message = d->message,
                              .nominate = d->clear_nominated || preempts || nominated,
                              .nominated_node = nominated ? d->nominated : d->preemption.node});
    if (preempts) {
        gang_claims_late(c, now, &f->pod);
        preempting_begin(c, now, f, d);
        return;
    }
    if (nominated) {
        cache_nominate(c->cache, &f->pod, d->nominated);
        f->remembered = false;
    } else if ((d->clear_nominated || f->remembered) && !tells_later && !f->pod.resize_deferred)
        cache_nominate(c->cache, &f->pod, (struct str){NULL, 0});
    if (f->remembered && !tells_later)
        landing_say_room(c);
    flights_start(&c->flights, f, FLIGHT_deciding);
    landing_end(c, f, unschedulable ? OUTCOME_unschedulable : OUTCOME_error, &d->plugins);
}
