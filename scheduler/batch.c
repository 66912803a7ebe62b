/* batch: several pods in one exchange with a worker that has all nodes. It decides them in order,
 * putting each on its node before it looks at the next, and stops at the first that needs more.
 *
 * What must stay true: the decisions are those of one pod at a time. So only pods go along whose
 * request cannot be another once those before them are placed; answers are concluded in order; and
 * from the first that does not stand on, the worker is made to forget and all is decided again. */
#include "scheduler/coordination.h"

#define BATCH_US    1000              /* then a worker begins no further pod */
#define BATCH_BYTES ((size_t)1 << 20) /* of pods in memory, which is far below a frame's limit */

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

/* Nominations end with decisions, so whoever has to do with one is asked about alone. */
static bool goes_along(const struct slot *s)
{
    const struct pod *pod = &s->flight->pod;
    const struct map_request *request = reduce_request(s->reduce);
    return is_plain(pod) && pod->nominated_node.len == 0 && request->nominated.count == 0 &&
           is_as_seen(&request->pod, pod);
}

static bool may_follow(const struct coordinator *c, struct moment now, const struct flight *f)
{
    return f != NULL && is_plain(&f->pod) && !cycle_is_idle(c, f) &&
           !cycle_view_is_behind(c, now, f);
}

void batch_grow(struct coordinator *c, struct moment now)
{
    size_t bytes = c->slots[0].flight->arena.total;
    if (c->asked_count != 1 || !goes_along(&c->slots[0]))
        return;
    while (c->under_way < c->batch_limit && may_follow(c, now, c->flights.first)) {
        bytes += c->flights.first->arena.total;
        enum reduce_step step = cycle_take(c, now);
        if (step == REDUCE_ask && goes_along(&c->slots[c->under_way - 1]) && bytes <= BATCH_BYTES)
            continue;
        cycle_give_back(c, c->under_way - 1); /* its turn is when those before it are placed */
        return;
    }
}

void batch_ask(struct coordinator *c)
{
    struct message m = {.type = MSG_map_batch, .map_batch = {.limit_us = BATCH_US}};
    struct map_batch *b = &m.map_batch;
    b->requests.at = arena_take(&c->cycle_memory, c->under_way * sizeof(struct map_request));
    for (; b->requests.count < c->under_way; b->requests.count++)
        b->requests.at[b->requests.count] = *reduce_request(c->slots[b->requests.count].reduce);
    b->cycle = b->requests.at[0].cycle;
    outbox_put(c->out, (struct address){WORKER, c->asked[0]}, &m);
}

/* ---- how many ---- */

static void set_limit(struct coordinator *c, uint32_t limit)
{
    uint32_t most = (uint32_t)c->options.batch;
    c->batch_limit = limit > most ? most : limit;
    if (c->batch_limit == 0)
        c->batch_limit = 1;
}

void batch_learn(struct coordinator *c, bool placed)
{
    if (!placed)
        set_limit(c, c->batch_limit / 2);
    else if (c->batch_limit == 1)
        set_limit(c, 2);
}

/* Those that the worker does not come to were prepared and sent for nothing. */
static void learn(struct coordinator *c, uint32_t asked, uint32_t placed)
{
    if (placed < asked)
        set_limit(c, placed + placed / 4 + (placed > 0));
    else if (2 * placed > c->batch_limit)
        set_limit(c, 2 * placed);
}

/* ---- the answer ---- */

void batch_undo(struct coordinator *c, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to && c->asked_count > 0; i++) {
        struct message m = {.type = MSG_shard_pod_gone,
                            .shard_pod_gone = {.uid = c->slots[i].flight->pod.uid}};
        outbox_put(c->out, (struct address){WORKER, c->asked[0]}, &m);
    }
}

/* A worker is a peer: it may say anything. */
static uint32_t at_most(int64_t said, uint32_t most)
{
    return said < 0 ? 0 : said > most ? most : (uint32_t)said;
}

/* A node that went meanwhile, and came back, has lost the pods that the worker put there. */
static bool has_been_gone(struct coordinator *c, struct str node)
{
    for (size_t i = 0; c->held_gone && i < c->held.count; i++) {
        struct message m;
        if (c->held.at[i].type == MSG_shard_node_gone &&
            outbox_get(&c->held, i, &m, &c->cycle_memory) &&
            str_equal(m.shard_node_gone.name, node))
            return true;
    }
    return false;
}

/* Of the slots only this one is left. */
static void keep_only(struct coordinator *c, uint32_t slot)
{
    struct slot kept = c->slots[slot];
    cycle_give_back(c, slot + 1);
    c->slots[slot] = c->slots[0];
    c->slots[0] = kept;
    c->under_way = 1;
}

/* How many of the first answers chose a node that stands, and the step that the next one led to:
 * REDUCE_wait when there is none. */
static uint32_t take_answers(struct coordinator *c, const struct map_batch_result *result,
                             enum reduce_step *step)
{
    uint32_t answers = at_most(result->results.count, c->under_way), good = 0;
    for (; good < answers; good++) {
        *step = reduce_add(c->slots[good].reduce, 0, &result->results.at[good]);
        if (good >= result->placed || *step != REDUCE_done || !cycle_stands(c, &c->slots[good]))
            return good;
    }
    *step = REDUCE_wait;
    return good;
}

void batch_on_result(struct coordinator *c, struct moment now, uint32_t worker,
                     const struct map_batch_result *result)
{
    enum reduce_step step;
    if (c->under_way < 2 || worker != c->asked[0] ||
        result->cycle != reduce_request(c->slots[0].reduce)->cycle) {
        c->count.late++;
        return;
    }
    uint32_t good = take_answers(c, result, &step);
    batch_undo(c, good, at_most(result->placed, c->under_way));
    learn(c, c->under_way, good);
    c->count.batches++;
    c->count.batch_pods += good + (step != REDUCE_wait);
    c->count.batches_cut += good < c->under_way;
    for (uint32_t i = 0; i < good; i++)
        cycle_place(c, now, &c->slots[i],
                    !has_been_gone(c, reduce_decision(c->slots[i].reduce)->node));
    if (step == REDUCE_wait) {
        cycle_give_back(c, good);
        cycle_end(c);
    } else {
        keep_only(c, good);
        cycle_step(c, now, step);
    }
}
