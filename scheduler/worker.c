/* worker: the map side. It says worker_join, gets shard_reset and then the state of its nodes and
 * the requests in one ordered stream; each answer therefore describes exactly the state at the
 * request's place in the stream. What must stay true: after a gap or a new life of the scheduler it
 * answers nothing until it was reset. */
#include "scheduler/worker.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "scheduler/reduce.h"
#include "scheduler/shard.h"

#include <inttypes.h>

#define JOIN_AGAIN_MS 1000
#define TAKEN_SAID    512 /* state messages taken in before it is said */

struct worker {
    const char *instance;
    int64_t capacity;
    struct shard *shard;
    struct arena cycle;           /* of one answer */
    struct address scheduler;     /* peer 0: none */
    int64_t taken;                /* state messages since that was said */
    bool ready;                   /* shard_reset has come on this link */
    struct moment join_at;        /* when to ask again */
    struct moment (*clock)(void); /* NULL: none */
    uint64_t requests, second_rounds, joins, batches, batch_pods, batches_late;
};

struct worker *worker_new(const char *instance, int64_t capacity)
{
    struct worker *w = memory_take(sizeof(*w));
    w->instance = instance;
    w->capacity = capacity;
    w->shard = shard_new();
    return w;
}

void worker_set_clock(struct worker *w, struct moment (*clock)(void))
{
    w->clock = clock;
}

void worker_free(struct worker **worker)
{
    if (*worker == NULL)
        return;
    shard_free(&(*worker)->shard);
    arena_free(&(*worker)->cycle);
    memory_free(*worker);
    *worker = NULL;
}

static void join(struct worker *w, struct moment now, struct outbox *out)
{
    struct message m = {
        .type = MSG_worker_join,
        .worker_join = {.instance = str_of(w->instance), .capacity = w->capacity, .counts = true}};
    outbox_put(out, w->scheduler, &m);
    w->joins++;
    w->join_at = moment_after(now, span_of_ms(JOIN_AGAIN_MS));
}

/* ---- one handler a message ---- */

typedef void handler(struct worker *w, struct moment now, const struct delivery *in,
                     struct outbox *out);

static void on_peer_up(struct worker *w, struct moment now, const struct delivery *in,
                       struct outbox *out)
{
    if (in->from.process != SCHEDULER)
        return;
    w->scheduler = in->from;
    w->ready = false;
    join(w, now, out);
}

static void on_peer_down(struct worker *w, struct moment now, const struct delivery *in,
                         struct outbox *out)
{
    (void)now;
    (void)out;
    if (in->from.process != SCHEDULER || in->from.peer != w->scheduler.peer)
        return;
    w->scheduler.peer = 0;
    w->ready = false;
}

static void on_shard_reset(struct worker *w, struct moment now, const struct delivery *in,
                           struct outbox *out)
{
    (void)now;
    (void)out;
    const struct shard_reset *reset = &in->message->shard_reset;
    shard_reset(w->shard, reset->profiles.at, reset->profiles.count);
    w->ready = true;
    log_info("joined| scheduler=%.*s", STR_ARG(in->instance));
}

static void on_shard_node(struct worker *w, struct moment now, const struct delivery *in,
                          struct outbox *out)
{
    (void)now;
    (void)out;
    if (w->ready)
        shard_node_set(w->shard, &in->message->shard_node.node);
}

static void on_shard_node_gone(struct worker *w, struct moment now, const struct delivery *in,
                               struct outbox *out)
{
    (void)now;
    (void)out;
    if (w->ready)
        shard_node_gone(w->shard, in->message->shard_node_gone.name);
}

static void on_shard_pod(struct worker *w, struct moment now, const struct delivery *in,
                         struct outbox *out)
{
    (void)now;
    (void)out;
    if (w->ready)
        shard_pod_set(w->shard, &in->message->shard_pod.pod);
}

static void on_shard_pod_gone(struct worker *w, struct moment now, const struct delivery *in,
                              struct outbox *out)
{
    (void)now;
    (void)out;
    const struct shard_pod_gone *gone = &in->message->shard_pod_gone;
    if (w->ready)
        shard_pod_gone(w->shard, gone->uid);
}

static void on_shard_images(struct worker *w, struct moment now, const struct delivery *in,
                            struct outbox *out)
{
    (void)now;
    (void)out;
    if (w->ready)
        shard_images(w->shard, &in->message->shard_images);
}

static void on_shard_storage(struct worker *w, struct moment now, const struct delivery *in,
                             struct outbox *out)
{
    (void)now;
    (void)out;
    if (w->ready)
        shard_storage(w->shard, &in->message->shard_storage);
}

static void on_map_request(struct worker *w, struct moment now, const struct delivery *in,
                           struct outbox *out)
{
    (void)now;
    const struct map_request *request = &in->message->map_request;
    if (!w->ready)
        return; /* the scheduler will reset us, and asks again when it does */
    struct message m = {.type = MSG_map_result};
    arena_reset(&w->cycle);
    shard_map(w->shard, request, &m.map_result, &w->cycle);
    w->requests++;
    w->second_rounds += request->round > 1;
    outbox_put(out, in->from, &m);
}

/* Put on its node as shard_pod would, so that the next pod is decided as if it had come alone. */
static void put(struct worker *w, const struct map_request *request, struct str node)
{
    struct pod placed = request->pod;
    placed.node_name = node;
    shard_pod_set(w->shard, &placed);
}

/* One pod of a batch; false when it is not simply placed. */
static bool try_one(struct worker *w, const struct map_request *request, struct map_result *out,
                    struct str *node)
{
    struct map_result r;
    shard_map(w->shard, request, &r, &w->cycle);
    *out = r;
    if (r.feasible == 0 || r.error.len > 0 || r.score_error.len > 0 || r.nominated_fits)
        return false;
    *out = (struct map_result){.cycle = r.cycle,
                               .round = r.round,
                               .nodes = r.nodes,
                               .feasible = r.feasible,
                               .evaluated = r.evaluated,
                               .unresolvable = r.unresolvable,
                               .best_total = r.best_total,
                               .best_count = r.best_count,
                               .best_node = arena_copy(&w->cycle, r.best_node),
                               .best_after = arena_copy(&w->cycle, r.best_after),
                               .skipped = r.skipped,
                               .score_skipped = r.score_skipped};
    *node = reduce_choice(request->tie_break, out);
    put(w, request, *node);
    return true;
}

static bool is_late(const struct worker *w, struct moment began, int64_t limit_us)
{
    return w->clock != NULL && limit_us > 0 &&
           moment_reached(w->clock(), moment_after(began, span_of_us(limit_us)));
}

static void on_map_batch(struct worker *w, struct moment now, const struct delivery *in,
                         struct outbox *out)
{
    const struct map_batch *batch = &in->message->map_batch;
    if (!w->ready)
        return; /* as with a map_request */
    struct message m = {.type = MSG_map_batch_result, .map_batch_result = {.cycle = batch->cycle}};
    struct map_batch_result *r = &m.map_batch_result;
    struct moment began = w->clock != NULL ? w->clock() : now;
    struct str node = {NULL, 0};
    bool late = false;
    arena_reset(&w->cycle);
    r->results.at = arena_take(&w->cycle, batch->requests.count * sizeof(struct map_result));
    for (uint32_t i = 0; i < batch->requests.count && !late && r->placed == i; i++) {
        struct map_request request = batch->requests.at[i];
        if (i > 0)
            request.after = node;
        r->placed += try_one(w, &request, &r->results.at[r->results.count++], &node);
        late = i + 1 < batch->requests.count && is_late(w, began, batch->limit_us);
    }
    w->batches++;
    w->batch_pods += r->results.count;
    w->batches_late += late;
    outbox_put(out, in->from, &m);
}

/* One line a message; the handlers are above, in this order. */
static handler *const handlers[MSG_COUNT] = {
    [MSG_peer_up] = on_peer_up,
    [MSG_peer_down] = on_peer_down,
    [MSG_shard_reset] = on_shard_reset,
    [MSG_shard_node] = on_shard_node,
    [MSG_shard_node_gone] = on_shard_node_gone,
    [MSG_shard_pod] = on_shard_pod,
    [MSG_shard_pod_gone] = on_shard_pod_gone,
    [MSG_shard_images] = on_shard_images,
    [MSG_shard_storage] = on_shard_storage,
    [MSG_map_request] = on_map_request,
    [MSG_map_batch] = on_map_batch,
};

bool worker_takes(enum message_type type)
{
    return handlers[type] != NULL;
}

static bool is_state(enum message_type type)
{
    return (type >= MSG_shard_reset && type <= MSG_shard_images) || type == MSG_shard_storage;
}

/* The scheduler sends so much and no more, as a link that is full loses messages. */
static void count_taken(struct worker *w, struct outbox *out)
{
    if (++w->taken < TAKEN_SAID)
        return;
    struct message m = {.type = MSG_shard_taken, .shard_taken = {.count = w->taken}};
    outbox_put(out, w->scheduler, &m);
    w->taken = 0;
}

void worker_handle(void *state, struct moment now, const struct delivery *in, struct outbox *out)
{
    struct worker *w = state;
    bool local = in->message->type == MSG_peer_up || in->message->type == MSG_peer_down;
    if (!local && in->from.peer != w->scheduler.peer)
        return; /* a former life of the scheduler */
    if (in->message->type == MSG_shard_reset)
        w->taken = 0;
    if (handlers[in->message->type] != NULL)
        handlers[in->message->type](w, now, in, out);
    if (is_state(in->message->type))
        count_taken(w, out);
}

struct moment worker_tick(void *state, struct moment now, struct outbox *out)
{
    struct worker *w = state;
    if (w->ready || w->scheduler.peer == 0)
        return MOMENT_NEVER;
    if (moment_reached(now, w->join_at))
        join(w, now, out);
    return w->join_at;
}

void worker_status(void *state, struct buffer *lines)
{
    const struct worker *w = state;
    buffer_print(lines, "joined=%s\n", w->ready ? "yes" : "no");
    buffer_print(lines, "nodes=%u\npods=%u\n", shard_nodes(w->shard), shard_pods(w->shard));
    buffer_print(lines, "map_requests=%" PRIu64 "\nsecond_rounds=%" PRIu64 "\n", w->requests,
                 w->second_rounds);
    buffer_print(lines,
                 "map_batches=%" PRIu64 "\nbatch_pods=%" PRIu64 "\nbatches_late=%" PRIu64 "\n",
                 w->batches, w->batch_pods, w->batches_late);
    buffer_print(lines, "joins=%" PRIu64 "\n", w->joins);
}
