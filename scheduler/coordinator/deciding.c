/* deciding: pods that are being decided, from the head of the line into a slot and back. The one
 * idea: what is asked of workers about a pod is prepared when it takes its slot, on the state as it
 * is then.
 *
 * What must stay true: slots are taken from the first on, in the order of the line; given back they
 * stand there again in that order. */
#include "scheduler/coordinator/deciding.h"

#include "proto/base/must.h"
#include "scheduler/catalog/group_claims.h"
#include "scheduler/cluster/kept_pod.h"
#include "scheduler/coordinator/gang_try.h"
#include "scheduler/coordinator/landing.h"

void deciding_free(struct coordinator *c)
{
    for (uint32_t i = 0; i < RUN_PODS; i++)
        reduce_free(&c->deciding.slots[i].reduce);
    outbox_free(&c->deciding.held);
}

/* ---- what workers hear ---- */

/* What is held may overtake what is being decided. */
static void note_held(struct coordinator *c, const struct message *m)
{
    struct flight *f = NULL;
    c->deciding.held_gone |= m->type == MSG_shard_node_gone;
    if (m->type == MSG_shard_pod)
        f = flights_get(&c->flights, m->shard_pod.pod.uid);
    else if (m->type == MSG_shard_pod_gone)
        f = flights_get(&c->flights, m->shard_pod_gone.uid);
    if (f != NULL && f->state == FLIGHT_deciding)
        f->overtaken = true;
}

/* While a decision is under way workers hear of no change, so that all its steps see one state. */
void deciding_tell(void *context, uint32_t worker, const struct message *m)
{
    struct coordinator *c = context;
    must(c->out != NULL);
    if (c->deciding.under_way > 0)
        note_held(c, m);
    outbox_put(c->deciding.under_way > 0 ? &c->deciding.held : c->out,
               (struct address){WORKER, worker}, m);
}

/* What is held is looked at, so it comes by tell. */
bool deciding_tell_encoded(void *context, uint32_t worker, enum message_type type, struct str body)
{
    struct coordinator *c = context;
    const struct outgoing head = {.to = {WORKER, worker}, .type = type};
    must(c->out != NULL);
    if (c->deciding.under_way > 0)
        return false;
    outbox_put_encoded(c->out, &head, body);
    return true;
}

/* Whatever changes during a decision has to be known when it ends. */
bool deciding_lets_wait(void *context)
{
    const struct coordinator *c = context;
    return c->deciding.under_way == 0;
}

/* Who is gone need not be told to forget. */
void deciding_forget_worker(struct coordinator *c, uint32_t worker)
{
    for (uint32_t i = 0; i < c->deciding.asked_count; i++)
        if (c->deciding.asked[i] == worker)
            c->deciding.asked[i] = 0;
    if (c->deciding.asked_count == 1 && c->deciding.asked[0] == 0)
        c->deciding.asked_count = 0;
}

/* ---- whether there is anything to decide ---- */

bool deciding_is_known(const struct coordinator *c, const struct flight *f)
{
    return !flight_is_of_resize(f) && cache_pod(c->cache, f->pod.uid, NULL) != CACHE_absent;
}

/* Nothing is to be decided for it, unless that is a resize: as we know it, not as it was queued. */
static bool has_a_node(const struct coordinator *c, const struct flight *f)
{
    if (!flight_is_of_resize(f))
        return f->pod.node_name.len > 0;
    return !cache_pod_may_resize(c->cache, f->pod.uid);
}

bool deciding_has_no_cycle(const struct coordinator *c, const struct flight *f)
{
    bool ours = frameworks_find(&c->frameworks, f->pod.scheduler_name) != NULL;
    return deciding_is_known(c, f) || !ours || f->pod.deleting || has_a_node(c, f) ||
           cache_has_gone(c->cache, f->pod.uid); /* the queue has yet to hear of it */
}

bool deciding_is_idle(const struct coordinator *c, const struct flight *f)
{
    return deciding_has_no_cycle(c, f) || f->pod.unreadable.len > 0;
}

/* ---- taking ---- */

/* What was decided for the pod may not have come back in its status yet, or was not written. It
 * holds until the next failure that does not decide it anew, as upstream's nominator has it. */
static void remember_nomination(struct coordinator *c, struct flight *f)
{
    struct str node;
    if (f->pod.nominated_node.len > 0 || f->pod.resize_deferred ||
        !cache_nomination(c->cache, f->pod.uid, &node))
        return;
    f->pod.nominated_node = arena_copy(&f->arena, node);
    f->remembered = true;
}

/* Those whose decisions come first will be on nodes by then. */
static bool nobody_has_terms(const struct coordinator *c, uint32_t before)
{
    for (uint32_t i = 0; i < before; i++)
        if (kept_pod_has_terms(&c->deciding.slots[i].flight->pod))
            return false;
    return cache_pods_with_terms(c->cache) == 0;
}

/* Nor do those have a lower priority whose decisions come first. */
static bool nobody_is_lower(const struct coordinator *c, int64_t priority, uint32_t before)
{
    for (uint32_t i = 0; i < before; i++)
        if (c->deciding.slots[i].flight->pod.priority < priority)
            return false;
    return cache_least_priority(c->cache) >= priority;
}

static uint32_t owner_of(const void *context, struct str node)
{
    const struct coordinator *c = context;
    uint32_t worker;
    return cache_owner(c->cache, node, &worker) ? deciding_shard_of(c, worker) : UINT32_MAX;
}

void deciding_begin(struct coordinator *c, struct moment now)
{
    cache_flush(c->cache);
    c->deciding.held_gone = false;
    c->deciding.began = now;
    c->deciding.asked_count = cache_workers(c->cache);
    must(c->deciding.asked_count <= WORKERS_MAX);
    for (uint32_t i = 0; i < c->deciding.asked_count; i++)
        c->deciding.asked[i] = cache_worker(c->cache, i);
}

/* The first waiting flight goes into the next slot: it is decided on the view as it is now. */
static struct slot *take(struct coordinator *c)
{
    must(c->deciding.under_way < RUN_PODS && flights_first(&c->flights) != NULL);
    struct slot *s = &c->deciding.slots[c->deciding.under_way++];
    s->flight = flights_first(&c->flights);
    s->flight->behind = readiness_view_is_older(c, s->flight);
    flights_start(&c->flights, s->flight, FLIGHT_deciding);
    return s;
}

/* Pods of its group are on nodes, but for those that this attempt has placed. */
static bool group_is_active(const struct coordinator *c, const struct flight *f)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    const struct gang *group =
        fw == NULL ? NULL : group_claims_owner(c->catalog, &fw->profile.features, &f->pod);
    uint32_t placed = group != NULL && f->gang != NULL ? gang_try_placed_beside(f->gang, f) : 0;
    return group != NULL && cache_gang_on_nodes(c->cache, group) > (int64_t)placed;
}

/* How its decision starts, as far as that is the same for one that is like another. */
static struct reduce_start start_of(struct coordinator *c, struct slot *s)
{
    const struct pod *pod = &s->flight->pod;
    const struct gang_try *g = s->flight->gang;
    const struct strs *placement = g != NULL ? gang_try_placement(g) : NULL;
    if (s->reduce == NULL)
        s->reduce = reduce_new();
    return (struct reduce_start){.cycle = ++c->deciding.cycle,
                                 .framework = frameworks_find(&c->frameworks, pod->scheduler_name),
                                 .catalog = c->catalog,
                                 .pod = pod,
                                 .shards = c->deciding.asked_count,
                                 .nodes =
                                     placement != NULL ? placement->count : cache_nodes(c->cache),
                                 .placement = placement,
                                 .placed = g != NULL && g->placements.constrained,
                                 .group_is_active = group_is_active(c, s->flight),
                                 .tie_break = c->options.tie_break,
                                 .seed = (int64_t)random_next(&c->random),
                                 .turn = c->deciding.turn};
}

/* Upstream asks no extender that it has for its opinion of nodes. */
static bool extenders_filter(const struct coordinator *c)
{
    for (uint32_t i = 0; i < c->options.extender_count; i++)
        if (c->options.extenders[i].filter_verb.len > 0)
            return true;
    return false;
}

/* Bits of the extenders among those who are asked about nodes; plugins on the bus are behind them.
 */
static bool asks_extenders(const struct flight *f)
{
    return f->extension != NULL &&
           (f->extension->asked.nodes & ((UINT64_C(1) << EXTENDERS_MAX) - 1)) != 0;
}

static uint32_t place_of(const void *context, struct str node)
{
    return cache_place(((const struct coordinator *)context)->cache, node);
}

/* Where percentageOfNodesToScore is not set all nodes count, but extenders are told of as many as
 * upstream tells them: every node goes over the wire for every pod. Asked again about the same pod
 * they are asked about the same nodes. */
static struct walk walk_of(struct coordinator *c, struct flight *f, const struct framework *fw)
{
    int64_t percentage = fw->profile.percentage_of_nodes_to_score;
    struct walk w = {.ends = percentage > 0 || asks_extenders(f),
                     .first = percentage > 0 && fw->score_count == 0 && !extenders_filter(c),
                     .percentage = percentage,
                     .nodes = cache_nodes(c->cache),
                     .place = place_of,
                     .context = c};
    if ((!w.ends && c->options.tie_break != TIE_BREAK_round_robin) || w.nodes == 0)
        return (struct walk){0};
    cache_walk(c->cache);
    if (!w.ends)
        return w;
    w.start = (f->walk_began ? f->walk_start : c->deciding.walk_next) % w.nodes;
    f->walk_began = true;
    f->walk_start = w.start;
    return w;
}

void deciding_note_walk(struct coordinator *c, struct flight *f, const struct decision *d)
{
    if (f->walk_began && d->nodes > 0)
        c->deciding.walk_next = (f->walk_start + d->walked) % d->nodes;
    f->walk_began = false;
    c->deciding.turn += d->took_turn;
}

void deciding_configure(struct coordinator *c)
{
    c->deciding.walks = c->options.tie_break == TIE_BREAK_round_robin;
    for (uint32_t i = 0; i < c->frameworks.count; i++)
        c->deciding.walks |= c->frameworks.at[i].profile.percentage_of_nodes_to_score > 0;
}

enum reduce_step deciding_take(struct coordinator *c, struct moment now)
{
    struct slot *s = take(c);
    struct flight *f = s->flight;
    remember_nomination(c, f);
    measure_begin(c, s, now);
    struct reduce_start how = start_of(c, s);
    how.cache = c->cache;
    how.timer = c->options.clock;
    how.clock = how.cycle % MEASURED_ONE_IN == 0 ? c->options.clock : NULL;
    how.extension = f->extension;
    how.detail =
        f->extension != NULL && f->extension->no_node.wanted && !f->extension->no_node.given;
    how.walk = walk_of(c, f, how.framework);
    how.no_terms = nobody_has_terms(c, c->deciding.under_way - 1);
    how.none_lower = (f->gang != NULL && f->gang->whole) || /* it evicts as one, later */
                     nobody_is_lower(c, f->pod.priority, c->deciding.under_way - 1);
    how.own_hostnames = cache_odd_hostnames(c->cache) == 0;
    how.now_us = c->options.wall_us_at_zero + now.ns / 1000;
    how.owner = owner_of;
    how.owner_context = c;
    how.siblings = gang_try_nominated(f->gang, c->cache, &c->cycle_memory);
    s->rivals = cache_has_rivals(c->cache, &f->pod);
    enum reduce_step first = reduce_start(s->reduce, &how);
    measure_prepared(c, s);
    return first;
}

enum reduce_step deciding_take_alike(struct coordinator *c, struct moment now)
{
    must(c->deciding.under_way > 0);
    struct slot *s = take(c);
    s->rivals = false;
    measure_begin_alike(s, now);
    const struct reduce_start how = start_of(c, s);
    return reduce_start_alike(s->reduce, &how, s[-1].reduce);
}

void deciding_take_along(struct coordinator *c, struct moment now)
{
    measure_begin_alike(take(c), now);
}

bool deciding_is_counted(struct coordinator *c, const struct map_request *r)
{
    const struct framework *fw = frameworks_find(&c->frameworks, r->pod.scheduler_name);
    uint32_t room = fw->filter_count + fw->score_count;
    const struct plugin **rules = arena_take(&c->cycle_memory, room * sizeof(struct plugin *));
    return framework_counting(fw, &r->pod, &r->findings, rules) > 0;
}

enum reduce_step deciding_answer(struct coordinator *c, uint32_t at, uint32_t shard,
                                 const struct map_result *result)
{
    struct slot *s = &c->deciding.slots[at];
    measure_answer(c, s, result);
    measure_traced_answer(c, s, shard, result);
    return reduce_add(s->reduce, shard, result);
}

/* ---- giving back ---- */

bool deciding_stands(const struct coordinator *c, const struct flight *f, struct str node)
{
    return !f->gone && !f->overtaken && !deciding_is_known(c, f) && cache_has_node(c->cache, node);
}

bool deciding_decision_stands(const struct coordinator *c, const struct slot *s)
{
    const struct decision *d = reduce_decision(s->reduce);
    return d->kind == DECISION_node && deciding_stands(c, s->flight, d->node);
}

/* A node that came back has lost the pods that a worker put there. */
bool deciding_has_been_gone(struct coordinator *c, struct str node)
{
    for (size_t i = 0; c->deciding.held_gone && i < c->deciding.held.count; i++) {
        struct message m;
        if (c->deciding.held.at[i].type == MSG_shard_node_gone &&
            outbox_get(&c->deciding.held, i, &m, &c->cycle_memory) &&
            str_equal(m.shard_node_gone.name, node))
            return true;
    }
    return false;
}

void deciding_give_back(struct coordinator *c, uint32_t from)
{
    for (uint32_t i = c->deciding.under_way; i > from; i--) {
        struct flight *f = c->deciding.slots[i - 1].flight;
        flights_return(&c->flights, f);
        if (f->gone)
            landing_end(c, f, OUTCOME_skipped, NULL);
    }
    if (from < c->deciding.under_way)
        c->deciding.under_way = from;
}

static void swap(struct coordinator *c, uint32_t one, uint32_t other)
{
    struct slot kept = c->deciding.slots[one];
    c->deciding.slots[one] = c->deciding.slots[other];
    c->deciding.slots[other] = kept;
}

void deciding_drop(struct coordinator *c, uint32_t count)
{
    c->deciding.under_way -= count;
    for (uint32_t i = 0; i < c->deciding.under_way; i++)
        swap(c, i, count + i);
}

void deciding_keep_only(struct coordinator *c, uint32_t at)
{
    deciding_give_back(c, at + 1);
    swap(c, at, 0);
    c->deciding.under_way = 1;
}

void deciding_end(struct coordinator *c)
{
    c->deciding.under_way = 0;
    batch_end(c);
    outbox_move(c->out, &c->deciding.held);
}
