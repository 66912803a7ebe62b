/* batch: several pods in one exchange with a worker that has all nodes. It decides them in order,
 * putting each on its node before it looks at the next, and stops at the first that needs more. A
 * second batch is sent behind the first, so that the worker decides while we conclude.
 *
 * What must stay true: the decisions are those of one pod at a time. So only pods go along whose
 * request cannot be another once those before them are placed; answers are concluded in order; and
 * from the first that does not stand on, the second batch included, the worker is made to forget
 * and all is decided again. While anything is held for workers no batch follows: they hear of it
 * when those under way are concluded. */
#include "scheduler/catalog/device_extended.h"
#include "scheduler/cluster/kept_pod.h"
#include "scheduler/coordinator/coordination.h"
#include "scheduler/coordinator/deciding.h"
#include "scheduler/coordinator/placing.h"
#include "scheduler/table/like_pod.h"

#define BATCH_US 1000 /* then a worker begins no further pod */

/* ---- who goes along ---- */

/* Claims count in the catalog once their pod is placed, and volumes are reserved there. */
static bool is_plain(const struct pod *pod)
{
    return pod->volumes.count + pod->claims.count + pod->resource_claims.count +
               pod->device_claims.count ==
           0;
}

/* On its node the pod has to be to the worker what it is to us: of what PreFilter prepares, only
 * spread constraints do not matter there. */
static bool is_as_seen(const struct pod *prepared, const struct pod *pod)
{
    struct pod seen = *pod;
    seen.spread.count = prepared->spread.count;
    seen.spread.at = prepared->spread.at;
    return codec_equal(&pod_record, prepared, &seen);
}

/* A plugin's Reserve may say no to a pod, on which those behind it would count. */
static bool reserves(const struct coordinator *c, const struct pod *pod)
{
    return frameworks_find(&c->frameworks, pod->scheduler_name)->reserve.count > 0;
}

/* Nominations end with decisions, so whoever has to do with one is asked about alone. So is
 * everybody where a walk over the nodes begins where the one before ended, or equal nodes take
 * turns. */
bool batch_goes_along(const struct coordinator *c, const struct slot *s)
{
    const struct pod *pod = &s->flight->pod;
    const struct map_request *request = reduce_request(s->reduce);
    return !deciding_walks(c) && s->flight->extension == NULL && is_plain(pod) &&
           !reserves(c, pod) && pod->nominated_node.len == 0 && !pod->resize_deferred &&
           !s->rivals && request->findings.device_resources.count == 0 &&
           request->findings.device_stocks.count == 0 && is_as_seen(&request->pod, pod);
}

bool batch_may_follow(const struct coordinator *c, struct moment now, const struct flight *f)
{
    return f != NULL && f->gang == gang_under_way(c) && f->extension == NULL && is_plain(&f->pod) &&
           !extended_is_wanted(c->catalog, &f->pod) && !deciding_is_idle(c, f) &&
           !readiness_view_is_behind(c, now, f);
}

bool batch_is_alike(const struct coordinator *c, const struct flight *f,
                    const struct flight *deciding)
{
    const struct pod one = like_pod(&f->pod), other = like_pod(&deciding->pod);
    struct str node;
    return codec_equal(&pod_record, &one, &other) && !cache_nomination(c->cache, f->pod.uid, &node);
}

/* A pod that has terms is one on a node to those behind it, which is not the same for all. */
static bool may_be_like_former(const struct coordinator *c, uint32_t from, const struct flight *f)
{
    const struct flight *former =
        deciding_count(c) > from ? deciding_slot(c, deciding_count(c) - 1)->flight : NULL;
    return former != NULL && !kept_pod_has_terms(&former->pod) && batch_is_alike(c, f, former);
}

/* Takes those at the head of the line behind a batch's first slot, until so many are used. */
static void take_along(struct coordinator *c, struct moment now, uint32_t from, size_t bytes)
{
    uint32_t slots = from + batch_limit(c);
    while (deciding_count(c) < slots && batch_may_follow(c, now, flights_first(&c->flights))) {
        bytes += flights_first(&c->flights)->arena.total;
        if (bytes <= BATCH_BYTES && may_be_like_former(c, from, flights_first(&c->flights))) {
            (void)deciding_take_alike(c, now);
            continue;
        }
        enum reduce_step step = deciding_take(c, now);
        if (step == REDUCE_ask && batch_goes_along(c, deciding_slot(c, deciding_count(c) - 1)) &&
            bytes <= BATCH_BYTES)
            continue;
        /* its turn is when those before it are placed */
        deciding_give_back(c, deciding_count(c) - 1);
        return;
    }
}

static int64_t cycle_of(const struct coordinator *c, uint32_t slot)
{
    return deciding_request(c, slot)->cycle;
}

static struct map_request to_send(const struct map_request *r)
{
    if (!r->like_former)
        return *r;
    return (struct map_request){.cycle = r->cycle,
                                .seed = r->seed,
                                .like_former = true,
                                .pod = {.uid = r->pod.uid, .name = r->pod.name}};
}

/* The slots from this one on are a batch. */
static void ask(struct coordinator *c, struct moment now, uint32_t from)
{
    uint32_t count = deciding_count(c) - from;
    struct message m = {.type = MSG_map_batch,
                        .map_batch = {.cycle = cycle_of(c, from),
                                      .limit_us = BATCH_US,
                                      .follows = c->batch.count > 0 ? cycle_of(c, 0) : 0}};
    struct map_batch *b = &m.map_batch;
    b->requests.at = arena_take(&c->cycle_memory, count * sizeof(struct map_request));
    for (; b->requests.count < count; b->requests.count++)
        b->requests.at[b->requests.count] = to_send(deciding_request(c, from + b->requests.count));
    c->batch.at[c->batch.count].size = count;
    c->batch.at[c->batch.count++].began = now;
    outbox_put(c->out, deciding_worker(c, 0), &m);
}

bool batch_begin(struct coordinator *c, struct moment now)
{
    if (deciding_workers(c) != 1 || !batch_goes_along(c, deciding_slot(c, 0)))
        return false;
    take_along(c, now, 0, deciding_slot(c, 0)->flight->arena.total);
    if (deciding_count(c) == 1)
        return false;
    ask(c, now, 0);
    return true;
}

/* With fewer waiting than are under way the next batch had better grow until its turn. */
static bool is_due(const struct coordinator *c, struct moment now)
{
    return c->batch.count < BATCHES_MAX && c->batch.whole &&
           flights_in(&c->flights, FLIGHT_waiting) >= c->batch.at[0].size &&
           coordinator_waits_for(c, now)[0] == 0;
}

void batch_follow(struct coordinator *c, struct moment now)
{
    uint32_t from = deciding_count(c);
    if (!is_due(c, now))
        return;
    cache_flush(c->cache);
    if (deciding_holds_news(c))
        return;
    arena_reset(&c->cycle_memory); /* pods of batches borrow nothing from it */
    take_along(c, now, from, 0);
    if (deciding_count(c) > from)
        ask(c, now, from);
    else
        c->batch.whole = false; /* not to be tried at every turn */
}

/* ---- how many ---- */

void batch_init(struct coordinator *c)
{
    c->batch.limit = (uint32_t)c->options.batch;
    c->batch.whole = true;
}

uint32_t batch_limit(const struct coordinator *c)
{
    uint32_t most = batch_most(c);
    return c->batch.limit < most ? c->batch.limit : most;
}

/* What an exchange costs grows with the workers that take part in it, and so do the pods that share
 * the cost. To each worker it is as long as ever. */
uint32_t batch_most(const struct coordinator *c)
{
    uint32_t one = (uint32_t)c->options.batch, workers = deciding_workers(c);
    if (one == 1 || workers <= 1)
        return one;
    return one < RUN_PODS / workers ? one * workers : RUN_PODS;
}

static void set_limit(struct coordinator *c, uint32_t limit)
{
    uint32_t most = batch_most(c);
    c->batch.limit = limit > most ? most : limit;
    if (c->batch.limit == 0)
        c->batch.limit = 1;
}

void batch_learn(struct coordinator *c, bool placed)
{
    if (!placed)
        set_limit(c, c->batch.limit / 2);
    else if (c->batch.limit == 1)
        set_limit(c, 2);
}

/* Those that the worker does not come to were prepared and sent for nothing. */
void batch_learned(struct coordinator *c, uint32_t asked, uint32_t placed)
{
    if (placed < asked)
        set_limit(c, placed + placed / 4 + (placed > 0));
    else if (2 * placed > c->batch.limit)
        set_limit(c, 2 * placed);
}

/* ---- the answer ---- */

static void undo(struct coordinator *c, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to && deciding_workers(c) > 0; i++) {
        struct message m = {.type = MSG_shard_pod_gone,
                            .shard_pod_gone = {.uid = deciding_slot(c, i)->flight->pod.uid}};
        outbox_put(c->out, deciding_worker(c, 0), &m);
    }
}

void batch_abandon(struct coordinator *c)
{
    undo(c, 0, deciding_count(c));
}

/* From the first batch's slots that are not good on, those behind which the worker did not come
 * excepted, and all of the batch behind it. */
static void undo_rest(struct coordinator *c, uint32_t good, uint32_t placed)
{
    undo(c, good, placed);
    undo(c, c->batch.at[0].size, deciding_count(c));
}

/* A worker is a peer: it may say anything. */
static uint32_t at_most(int64_t said, uint32_t most)
{
    return said < 0 ? 0 : said > most ? most : (uint32_t)said;
}

/* The first batch is concluded as a whole; the next one moves up. */
static void move_up(struct coordinator *c)
{
    deciding_drop(c, c->batch.at[0].size);
    c->batch.at[0] = c->batch.at[1];
    if (--c->batch.count == 0)
        deciding_end(c);
}

/* How many of the first batch's first answers chose a node that stands, and the step that the next
 * one led to: REDUCE_wait when there is none, or when it is to be asked about again. */
static uint32_t take_answers(struct coordinator *c, const struct map_batch_result *result,
                             enum reduce_step *step)
{
    uint32_t answers = at_most(result->results.count, c->batch.at[0].size), good = 0;
    for (; good < answers; good++) {
        *step = deciding_answer(c, good, 0, &result->results.at[good]);
        if (good >= result->placed || *step != REDUCE_done ||
            !deciding_decision_stands(c, deciding_slot(c, good)))
            break;
    }
    /* One that borrows from the slots before it cannot go on without them. */
    if (good == answers || deciding_request(c, good)->like_former)
        *step = REDUCE_wait;
    return good;
}

enum reduce_step batch_on_result(struct coordinator *c, struct moment now, uint32_t worker,
                                 const struct map_batch_result *result)
{
    enum reduce_step step;
    if (c->batch.count == 0 || deciding_shard_of(c, worker) != 0 ||
        result->cycle != cycle_of(c, 0)) {
        COUNT(c, late, 1);
        return REDUCE_wait;
    }
    uint32_t size = c->batch.at[0].size, good = take_answers(c, result, &step);
    c->batch.whole = good == size;
    if (!c->batch.whole)
        undo_rest(c, good, at_most(result->placed, size));
    batch_learned(c, size, good);
    deciding_set_began(c, c->batch.at[0].began);
    COUNT(c, batches, 1);
    COUNT(c, batch_pods, good + (step != REDUCE_wait));
    COUNT(c, batches_cut, !c->batch.whole);
    for (uint32_t i = 0; i < good; i++) {
        const struct slot *s = deciding_slot(c, i);
        placing_slot(c, now, s, !deciding_has_been_gone(c, reduce_decision(s->reduce)->node));
    }
    if (c->batch.whole) {
        move_up(c);
    } else if (step == REDUCE_wait) {
        deciding_give_back(c, good);
        deciding_end(c);
    } else {
        deciding_keep_only(c, good);
        batch_end(c);
        return step;
    }
    return REDUCE_wait;
}
