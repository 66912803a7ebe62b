/* cycle: one pod at a time, from the head of the line to a decision.
 *
 * skip what needs no decision → ask every worker (map) → merge (reduce), perhaps a second round →
 * assume and send the bind, or say why not. What must stay true: at most one cycle is under way, or
 * several pods together (batch.c, run.c, picks.c), all of one group if of any, and the workers
 * asked for it are the ones that had the nodes when it began; when shares change, it begins again.
 */
#include "proto/base/log.h"
#include "scheduler/catalog/device_extended.h"
#include "scheduler/cluster/kept_pod.h"
#include "scheduler/coordinator/claim_waits.h"
#include "scheduler/coordinator/coordination.h"
#include "scheduler/coordinator/deciding.h"
#include "scheduler/coordinator/extending.h"
#include "scheduler/coordinator/gang.h"
#include "scheduler/coordinator/gang_condition.h"
#include "scheduler/coordinator/landing.h"
#include "scheduler/coordinator/permitting.h"
#include "scheduler/coordinator/placing.h"
#include "scheduler/coordinator/preempting.h"
#include "scheduler/coordinator/releasing.h"

#include <stdio.h>
#include <string.h>

/* ---- pods that need no decision ---- */

static void report_deleting(struct coordinator *c, const struct flight *f)
{
    struct message m = {
        .type = MSG_pod_failed,
        .pod_failed = {.pod = f->pod,
                       .reason = REASON_failed_scheduling,
                       .message = arena_print(&c->cycle_memory,
                                              "skip schedule deleting pod: "
                                              "%.*s/%.*s",
                                              STR_ARG(f->pod.namespace_name), STR_ARG(f->pod.name)),
                       .event_only = true}};
    outbox_put(c->out, c->binder, &m);
}

/* It is never placed by what of it was understood alone; its owner is told, and again after each
 * backoff. */
static void fail_unreadable(struct coordinator *c, struct flight *f)
{
    landing_fail(c, f,
                 arena_print(&c->cycle_memory, "the pod cannot be understood: %.*s",
                             STR_ARG(f->pod.unreadable)));
}

/* True when the flight was ended because there is nothing to decide about it. */
static bool skip(struct coordinator *c, struct flight *f)
{
    if (!deciding_is_idle(c, f))
        return false;
    if (!deciding_has_no_cycle(c, f)) {
        fail_unreadable(c, f);
        return true;
    }
    if (f->pod.deleting && !deciding_is_known(c, f))
        report_deleting(c, f);
    if (deciding_is_known(c, f))
        gang_is_known(f);
    COUNT(c, skipped, 1);
    landing_end(c, f, OUTCOME_skipped, NULL);
    return true;
}

/* ---- ends of a cycle ---- */

static void conclude(struct coordinator *c, struct moment now)
{
    const struct slot *s = deciding_slot(c, 0);
    const struct decision *d = reduce_decision(s->reduce);
    struct flight *f = s->flight;
    deciding_note_walk(c, f, d);
    deciding_end(c);
    batch_learn(c, d->kind == DECISION_node);
    if (deciding_decision_stands(c, s)) {
        placing_slot(c, now, s, false);
        return;
    }
    placing_count(c, now);
    if (f->gone || deciding_is_known(c, f)) { /* it went, or somebody has bound it, meanwhile */
        COUNT(c, skipped, 1);
        landing_end(c, f, OUTCOME_skipped, NULL);
    } else if (d->kind == DECISION_node) {
        flights_return(&c->flights, f); /* its node went, or it came and went: once more */
        COUNT(c, restarted, 1);
    } else {
        measure_decided(c, s, now);
        placing_reject(c, now, f, d);
    }
}

/* ---- asking ---- */

static void ask(struct coordinator *c)
{
    const struct reduce *r = deciding_slot(c, 0)->reduce;
    struct message m = {.type = MSG_map_request, .map_request = *reduce_request(r)};
    bool put = false;
    COUNT(c, second_rounds, m.map_request.round > 1);
    for (uint32_t i = 0; i < deciding_workers(c); i++) {
        const struct address to = deciding_worker(c, i);
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

/* How workers are asked about several pods at once. A pod of which none of these wants to ask is
 * the only one: one question after the other goes to every worker. What comes from a worker says by
 * its type which it answers. */
static const struct exchange {
    bool (*begin)(struct coordinator *c, struct moment now);
    bool (*is_under_way)(const struct coordinator *c);
    void (*abandon)(struct coordinator *c);
} exchanges[] = {
    {batch_begin, batch_is_under_way, batch_abandon}, /* one worker, which has all nodes */
    {run_begin, run_is_under_way, run_abandon}, /* pods that are alike; in groups of nodes too */
    {picks_begin, picks_are_under_way, picks_abandon} /* pods that are unlike each other */
};

#define EXCHANGES (sizeof(exchanges) / sizeof(exchanges[0]))

static bool begin_with_others(struct coordinator *c, struct moment now)
{
    for (size_t i = 0; i < EXCHANGES; i++)
        if (exchanges[i].begin(c, now))
            return true;
    return false;
}

static const struct exchange *with_others(const struct coordinator *c)
{
    for (size_t i = 0; i < EXCHANGES; i++)
        if (exchanges[i].is_under_way(c))
            return &exchanges[i];
    return NULL;
}

enum reduce_step cycle_begin(struct coordinator *c, struct moment now)
{
    deciding_begin(c, now);
    enum reduce_step first = deciding_take(c, now);
    return first == REDUCE_ask && begin_with_others(c, now) ? REDUCE_wait : first;
}

void cycle_advance(struct coordinator *c, struct moment now)
{
    struct flight *f;
    while (deciding_count(c) == 0 && coordinator_waits_for(c, now)[0] == 0 &&
           (f = gang_next(c, now)) != NULL) {
        arena_reset(&c->cycle_memory);
        if (!skip(c, f) && !claim_waits_take(c, now, f))
            cycle_step(c, now, cycle_begin(c, now));
    }
    if (batch_is_under_way(c))
        batch_follow(c, now);
}

static void abandon_decision(struct coordinator *c)
{
    const struct exchange *e = with_others(c);
    if (e != NULL)
        e->abandon(c);
    deciding_give_back(c, 0);
    deciding_end(c);
    COUNT(c, restarted, 1);
}

void cycle_abandon(struct coordinator *c)
{
    if (deciding_count(c) > 0)
        abandon_decision(c);
    gang_abandon(c);
}

void cycle_on_map_result(struct coordinator *c, struct moment now, uint32_t worker,
                         const struct map_result *result)
{
    uint32_t shard = deciding_shard_of(c, worker);
    if (deciding_count(c) != 1 || with_others(c) != NULL || shard == UINT32_MAX ||
        result->cycle != deciding_request(c, 0)->cycle)
        COUNT(c, late, 1);
    else
        cycle_step(c, now, deciding_answer(c, 0, shard, result));
}
