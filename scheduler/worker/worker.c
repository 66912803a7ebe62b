/* worker: the map side. It says worker_join, gets shard_reset and then the state of its nodes and
 * the requests in one ordered stream; each answer therefore describes exactly the state at the
 * request's place in the stream. What must stay true: after a gap or a new life of the scheduler it
 * answers nothing until it was reset. */
#include "scheduler/worker/worker.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "proto/bus/actor.h"
#include "proto/bus/holdings.h"
#include "scheduler/rules/limits.h"
#include "scheduler/worker/node_picks.h"
#include "scheduler/worker/run_question.h"
#include "scheduler/worker/shard.h"

#include <inttypes.h>
#include <stdio.h>

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
    int64_t generation, hash;     /* of the configuration that came with it */
    struct moment join_at;        /* when to ask again */
    struct moment (*clock)(void); /* NULL: none */
    struct moment read;           /* what it said last */
    int64_t whole;                /* cycle of the last batch, if all of it was placed; else 0 */
    int64_t run;                  /* cycle of a run whose pods are on nodes until its end is told */
    struct run_puts run_puts;     /* which */
    struct node_picks *picks;
    struct run_late {
        struct worker *worker;
        struct moment began;
        int64_t limit_us;
    } run_late;
    uint64_t requests, second_rounds, joins, batches, batch_pods, batches_late, runs, run_pods;
    uint64_t picks_asked, picked, checks;
};

struct worker *worker_new(const char *instance, int64_t capacity)
{
    struct worker *w = memory_take(sizeof(*w));
    w->instance = instance;
    w->capacity = capacity;
    w->shard = shard_new();
    w->picks = node_picks_new();
    return w;
}

void worker_set_clock(struct worker *w, struct moment (*clock)(void))
{
    w->clock = clock;
    shard_set_clock(w->shard, clock);
}

void worker_time_plugins(struct worker *w, struct moment (*clock)(void))
{
    shard_time_plugins(w->shard, clock);
}

void worker_free(struct worker **worker)
{
    if (*worker == NULL)
        return;
    shard_free(&(*worker)->shard);
    arena_free(&(*worker)->cycle);
    run_puts_free(&(*worker)->run_puts);
    node_picks_free(&(*worker)->picks);
    memory_free(*worker);
    *worker = NULL;
}

static void join(struct worker *w, struct moment now, struct outbox *out)
{
    struct message m = {.type = MSG_worker_join,
                        .worker_join = {.instance = str_of(w->instance),
                                        .capacity = w->capacity,
                                        .counts = true,
                                        .picks = true}};
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
    shard_reset(w->shard, NULL, 0); /* all of it is told again, if to anybody; memory is not kept */
}

/* A worker that left out a rule that it does not know would pass nodes that the rule rejects, and
 * nobody would be told. */
static bool can_decide(const struct shard_reset *reset, struct str scheduler)
{
    struct str profile, plugin;
    if (!frameworks_lack(reset->profiles.at, reset->profiles.count, &profile, &plugin))
        return true;
    log_error("a plugin is not known to this worker, which is older than its scheduler and ends|"
              "plugin=%.*s profile=%.*s scheduler=%.*s",
              STR_ARG(plugin), STR_ARG(profile), STR_ARG(scheduler));
    return false;
}

static void on_shard_reset(struct worker *w, struct moment now, const struct delivery *in,
                           struct outbox *out)
{
    (void)now;
    (void)out;
    const struct shard_reset *reset = &in->message->shard_reset;
    if (!can_decide(reset, in->instance)) {
        w->ready = false;
        actor_fail();
        return;
    }
    shard_reset(w->shard, reset->profiles.at, reset->profiles.count);
    w->ready = true;
    w->whole = w->run = w->run_puts.count = 0;
    node_picks_forget(w->picks);
    w->generation = reset->generation;
    w->hash = reset->hash;
    log_info("joined| scheduler=%.*s", STR_ARG(in->instance));
}

/* What is told of the share's nodes, their pods, and what else its rules look at. */
static void on_share(struct worker *w, struct moment now, const struct delivery *in,
                     struct outbox *out)
{
    const struct message *m = in->message;
    (void)now;
    (void)out;
    if (!w->ready)
        return;
    switch (m->type) {
    case MSG_shard_node: shard_node_set(w->shard, &m->shard_node.node); break;
    case MSG_shard_node_gone: shard_node_gone(w->shard, m->shard_node_gone.name); break;
    case MSG_shard_pod: shard_pod_told(w->shard, &m->shard_pod); break;
    case MSG_shard_pod_gone: shard_pod_gone(w->shard, m->shard_pod_gone.uid); break;
    case MSG_shard_images: shard_images(w->shard, &m->shard_images); break;
    case MSG_shard_storage: shard_storage(w->shard, &m->shard_storage); break;
    case MSG_shard_nominated: shard_nominated(w->shard, &m->shard_nominated.pod); break;
    case MSG_shard_nominated_gone:
        shard_nominated_gone(w->shard, m->shard_nominated_gone.uid);
        break;
    default: must(false);
    }
}

/* shard_map, and how long it took since the clock was read last. */
static void map_timed(struct worker *w, const struct map_request *request, struct map_result *out)
{
    shard_map(w->shard, request, out, &w->cycle);
    if (w->clock == NULL)
        return;
    int64_t began = w->read.ns, filtered = shard_filtered_ns(w->shard);
    w->read = w->clock();
    bool apart = filtered >= began;
    out->filter_ns = (apart ? filtered : w->read.ns) - began;
    out->score_ns = apart ? w->read.ns - filtered : 0;
}

static void on_map_request(struct worker *w, struct moment now, const struct delivery *in,
                           struct outbox *out)
{
    const struct map_request *request = &in->message->map_request;
    if (!w->ready)
        return; /* the scheduler will reset us, and asks again when it does */
    struct message m = {.type = MSG_map_result};
    w->read = w->clock != NULL ? w->clock() : now;
    arena_reset(&w->cycle);
    map_timed(w, request, &m.map_result);
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
static bool try_one(struct worker *w, const struct map_request *request, struct map_result *out)
{
    struct map_result r;
    map_timed(w, request, &r);
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
                               .skipped = r.skipped,
                               .score_skipped = r.score_skipped,
                               .filter_ns = r.filter_ns,
                               .score_ns = r.score_ns,
                               .timed = r.timed};
    put(w, request, out->best_node);
    return true;
}

static bool is_late(const struct worker *w, struct moment began, int64_t limit_us)
{
    return w->clock != NULL && limit_us > 0 &&
           moment_reached(w->read, moment_after(began, span_of_us(limit_us)));
}

/* Keeps what the next batch needs, if it follows this one. */
static void end_batch(struct worker *w, const struct map_batch *batch, int64_t placed)
{
    w->batches++;
    w->whole = placed == batch->requests.count ? batch->cycle : 0;
}

/* The next request, which may say only in what it differs from the one before. */
static void take_request(struct map_request *request, const struct map_request *next)
{
    if (!next->like_former) {
        *request = *next;
        return;
    }
    request->cycle = next->cycle;
    request->seed = next->seed;
    request->pod.uid = next->pod.uid;
    request->pod.name = next->pod.name;
}

static void on_map_batch(struct worker *w, struct moment now, const struct delivery *in,
                         struct outbox *out)
{
    const struct map_batch *batch = &in->message->map_batch;
    if (!w->ready || (batch->follows != 0 && batch->follows != w->whole))
        return; /* as with a map_request; or it will be asked again, as part of another batch */
    struct message m = {.type = MSG_map_batch_result, .map_batch_result = {.cycle = batch->cycle}};
    struct map_batch_result *r = &m.map_batch_result;
    struct moment began = w->clock != NULL ? w->clock() : now;
    w->read = began;
    bool late = false;
    arena_reset(&w->cycle);
    r->results.at = arena_take(&w->cycle, batch->requests.count * sizeof(struct map_result));
    struct map_request request = {0};
    for (uint32_t i = 0; i < batch->requests.count && !late && r->placed == i; i++) {
        take_request(&request, &batch->requests.at[i]);
        r->placed += try_one(w, &request, &r->results.at[r->results.count++]);
        late = i + 1 < batch->requests.count && is_late(w, began, batch->limit_us);
    }
    end_batch(w, batch, r->placed);
    w->batch_pods += r->results.count;
    w->batches_late += late;
    outbox_put(out, in->from, &m);
}

/* ---- runs ---- */

/* Pods of a run have no names yet. Some turn out to be these, the others come off their nodes
 * again, the last one first. */
static void end_run(struct worker *w, const struct map_run_end *end)
{
    char room[RUN_NAME_ROOM];
    const struct run_pod *pods = end->pods.at;
    uint32_t places = w->run_puts.count, count = end->pods.count;
    bool *taken = arena_take(&w->cycle, places * sizeof(*taken));
    for (uint32_t i = 0; i < count; i++) {
        int64_t place = pods[i].place;
        if (place < 0 || place >= places || taken[place])
            continue; /* the scheduler is a peer: it may say anything */
        taken[place] = true;
        if (w->run_puts.at[place].put)
            shard_pod_rename(w->shard, run_unnamed((uint32_t)place, room), pods[i].uid,
                             pods[i].name);
        w->run_pods += w->run_puts.at[place].put;
    }
    for (uint32_t i = places; i > 0; i--)
        if (!taken[i - 1] && w->run_puts.at[i - 1].put)
            shard_pod_gone(w->shard, run_unnamed(i - 1, room));
    shard_run_learn(w->shard, &w->run_puts, taken, end->placed);
    w->run = 0;
    w->run_puts.count = 0;
}

static bool same_extremes(const struct map_result *a, const struct map_result *b)
{
    if (a->extremes.count != b->extremes.count)
        return false;
    for (uint32_t i = 0; i < a->extremes.count; i++)
        if (!str_equal(a->extremes.at[i].plugin, b->extremes.at[i].plugin) ||
            a->extremes.at[i].least != b->extremes.at[i].least ||
            a->extremes.at[i].greatest != b->extremes.at[i].greatest)
            return false;
    return true;
}

static bool is_placed(const struct map_result *r)
{
    return r->feasible > 0 && r->error.len == 0 && r->score_error.len == 0 && !r->nominated_fits;
}

/* at, count: of one, or none yet. */
static void add_parts(struct worker *w, const struct map_result *r, struct timed_parts **at,
                      uint32_t *count)
{
    if (r->timed.count == 0)
        return;
    const struct timed_parts *more = &r->timed.at[0];
    if (*count == 0)
        *at = arena_take(&w->cycle, sizeof(**at));
    struct timed_parts *all = *at;
    *count = 1;
    all->pre_filter_ns += more->pre_filter_ns;
    all->filter_ns += more->filter_ns;
    all->pre_score_ns += more->pre_score_ns;
    all->score_ns += more->score_ns;
}

/* The next place of a run; false when there is none that says the same of ranges. */
static bool place_one(struct worker *w, const struct map_run *run, struct random *dice,
                      const struct map_result *first, struct map_run_result *result)
{
    struct run_place *out = &result->places.at[result->places.count];
    char room[RUN_NAME_ROOM];
    struct map_result r;
    struct map_request request = run->request;
    request.seed = (int64_t)random_next(dice);
    map_timed(w, &request, &r);
    add_parts(w, &r, &result->timed.at, &result->timed.count);
    if (!is_placed(&r) || !same_extremes(first, &r))
        return false;
    *out = (struct run_place){
        .node = arena_copy(&w->cycle, r.best_node), .total = r.best_total, .ties = r.best_count};
    request.pod.uid = run_unnamed(w->run_puts.count, room);
    request.pod.name = (struct str){NULL, 0};
    put(w, &request, out->node);
    run_puts_add(&w->run_puts, 0, true);
    return true;
}

static void place_run(struct worker *w, const struct map_run *run, struct map_run_result *out)
{
    uint32_t most = run->count < 0 || run->count > RUN_MAX ? RUN_MAX : (uint32_t)run->count;
    const struct moment began = w->read;
    struct random dice = {(uint64_t)run->request.seed};
    struct map_result first;
    map_timed(w, &run->request, &first);
    add_parts(w, &first, &out->timed.at, &out->timed.count);
    out->feasible = first.feasible;
    out->skipped = first.skipped;
    out->score_skipped = first.score_skipped;
    out->fails = first.feasible > 0 && !is_placed(&first);
    out->fails |= first.error.len > 0;
    if (out->fails || first.feasible == 0)
        return;
    out->extremes.count = first.extremes.count;
    out->extremes.at = first.extremes.at;
    out->places.at = arena_take(&w->cycle, most * sizeof(struct run_place));
    while (out->places.count < most && place_one(w, run, &dice, &first, out)) {
        out->places.count++;
        if (is_late(w, began, run->limit_us))
            return;
    }
}

static bool run_is_late(void *state)
{
    const struct run_late *late = state;
    if (late->worker->clock != NULL)
        late->worker->read = late->worker->clock();
    return is_late(late->worker, late->began, late->limit_us);
}

static void list_run(struct worker *w, const struct map_run *run, struct map_run_result *out)
{
    w->run_late = (struct run_late){w, w->read, run->limit_us};
    shard_run(w->shard, &(struct run_question){.run = run,
                                               .out = out,
                                               .arena = &w->cycle,
                                               .clock = {run_is_late, &w->run_late},
                                               .puts = &w->run_puts});
    (void)run_is_late(&w->run_late);
}

static void on_map_run(struct worker *w, struct moment now, const struct delivery *in,
                       struct outbox *out)
{
    const struct map_run *run = &in->message->map_run;
    struct message m = {
        .type = MSG_map_run_result,
        .map_run_result = {.cycle = run->request.cycle, .round = run->request.round}};
    if (!w->ready)
        return; /* as with a map_request */
    arena_reset(&w->cycle);
    end_run(w, &(struct map_run_end){0});
    w->run = run->request.cycle;
    w->whole = 0;
    w->read = w->clock != NULL ? w->clock() : now;
    int64_t began = w->read.ns;
    if (run->grouped)
        list_run(w, run, &m.map_run_result);
    else
        place_run(w, run, &m.map_run_result);
    w->runs++;
    m.map_run_result.filter_ns = w->read.ns - began;
    outbox_put(out, in->from, &m);
}

static void on_map_run_end(struct worker *w, struct moment now, const struct delivery *in,
                           struct outbox *out)
{
    (void)now;
    (void)out;
    const struct map_run_end *end = &in->message->map_run_end;
    arena_reset(&w->cycle);
    if (w->ready && w->run == end->cycle)
        end_run(w, end);
}

/* ---- picks ---- */

static void on_map_picks(struct worker *w, struct moment now, const struct delivery *in,
                         struct outbox *out)
{
    const struct map_picks *asked = &in->message->map_picks;
    struct message m = {.type = MSG_map_picks_result,
                        .map_picks_result = {.cycle = asked->cycle, .round = asked->round}};
    struct map_picks_result *said = &m.map_picks_result;
    struct map_result r;
    if (!w->ready)
        return; /* as with a map_request */
    arena_reset(&w->cycle);
    end_run(w, &(struct map_run_end){0});
    w->whole = 0;
    const struct moment began = w->clock != NULL ? w->clock() : now;
    w->read = began;
    said->picks.at = arena_take(&w->cycle, asked->requests.count * sizeof(struct node_pick));
    node_picks_begin(w->picks, asked, in->kept);
    while (node_picks_next(w->picks, w->shard, &said->picks.at[said->picks.count], &r, &w->cycle)) {
        said->picks.count++;
        add_parts(w, &r, &said->timed.at, &said->timed.count);
        w->read = w->clock != NULL ? w->clock() : now;
        if (is_late(w, began, asked->limit_us))
            break;
    }
    said->filter_ns = w->read.ns - began.ns;
    w->picks_asked++;
    w->picked += said->picks.count;
    outbox_put(out, in->from, &m);
}

static void on_map_check(struct worker *w, struct moment now, const struct delivery *in,
                         struct outbox *out)
{
    const struct map_check *check = &in->message->map_check;
    struct message m = {.type = MSG_map_checked,
                        .map_checked = {.cycle = check->cycle, .round = check->round}};
    (void)now;
    arena_reset(&w->cycle);
    if (!w->ready || !node_picks_check(w->picks, w->shard, check, &m.map_checked, &w->cycle))
        return;
    w->checks++;
    outbox_put(out, in->from, &m);
}

static void on_map_picks_end(struct worker *w, struct moment now, const struct delivery *in,
                             struct outbox *out)
{
    (void)now;
    (void)out;
    if (w->ready)
        node_picks_place(w->picks, w->shard, &in->message->map_picks_end);
}

/* ---- a comparison ---- */

struct telling {
    const struct worker *worker;
    struct holder holder;
};

/* Pods of a run that have no names yet are nobody's to know. */
static bool is_unnamed(const struct worker *w, struct str uid)
{
    char room[RUN_NAME_ROOM];
    for (uint32_t i = 0; i < w->run_puts.count; i++)
        if (w->run_puts.at[i].put && str_equal(uid, run_unnamed(i, room)))
            return true;
    return false;
}

static void tell_held(void *context, const struct shard_held *what)
{
    struct telling *t = context;
    if (what->uid.len == 0 || what->uid.len > RUN_NAME_ROOM || !is_unnamed(t->worker, what->uid))
        holder_add(&t->holder, &(struct held_thing){what->name, what->uid, 0, what->node});
}

static void on_holdings_request(struct worker *w, struct moment now, const struct delivery *in,
                                struct outbox *out)
{
    struct telling t = {.worker = w};
    (void)now;
    holder_begin(&t.holder, in, out);
    t.holder.said.whole = w->ready;
    holder_set(&t.holder, STR_LITERAL("share-nodes"));
    shard_each_node(w->shard, tell_held, &t);
    holder_set(&t.holder, STR_LITERAL("share-pods"));
    shard_each_pod(w->shard, tell_held, &t);
    holder_end(&t.holder);
}

/* It is told everything anew, and answers nothing before. */
static void on_reread(struct worker *w, struct moment now, const struct delivery *in,
                      struct outbox *out)
{
    (void)in;
    if (w->scheduler.peer == 0 || !w->ready)
        return;
    log_info("joins anew, as somebody wants what is held to be read anew");
    w->ready = false;
    join(w, now, out);
}

/* One line a message; the handlers are above, in this order. */
static handler *const handlers[MSG_COUNT] = {
    [MSG_peer_up] = on_peer_up,
    [MSG_peer_down] = on_peer_down,
    [MSG_shard_reset] = on_shard_reset,
    [MSG_shard_node] = on_share,
    [MSG_shard_node_gone] = on_share,
    [MSG_shard_pod] = on_share,
    [MSG_shard_pod_gone] = on_share,
    [MSG_shard_images] = on_share,
    [MSG_shard_storage] = on_share,
    [MSG_shard_nominated] = on_share,
    [MSG_shard_nominated_gone] = on_share,
    [MSG_map_request] = on_map_request,
    [MSG_map_batch] = on_map_batch,
    [MSG_map_run] = on_map_run,
    [MSG_map_run_end] = on_map_run_end,
    [MSG_map_picks] = on_map_picks,
    [MSG_map_check] = on_map_check,
    [MSG_map_picks_end] = on_map_picks_end,
    [MSG_holdings_request] = on_holdings_request,
    [MSG_reread] = on_reread,
};

bool worker_takes(enum message_type type)
{
    return handlers[type] != NULL;
}

static bool is_state(enum message_type type)
{
    return type == MSG_shard_reset || handlers[type] == on_share;
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
    enum message_type type = in->message->type;
    bool local = type == MSG_peer_up || type == MSG_peer_down;
    bool asks = type == MSG_holdings_request || type == MSG_reread;
    if (!local && !asks && in->from.peer != w->scheduler.peer)
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
    size_t class_bytes;
    buffer_print(lines, "joined=%s\n", w->ready ? "yes" : "no");
    buffer_print(lines, "config_generation=%" PRId64 "\nconfig_hash=%016" PRIx64 "\n",
                 w->generation, (uint64_t)w->hash);
    buffer_print(lines, "nodes=%u\npods=%u\nnominated=%u\n", shard_nodes(w->shard),
                 shard_pods(w->shard), shard_nominations(w->shard));
    uint32_t classes = shard_classes(w->shard, &class_bytes);
    buffer_print(lines, "classes=%u\nclass_bytes=%zu\n", classes, class_bytes);
    buffer_print(lines, "map_requests=%" PRIu64 "\nsecond_rounds=%" PRIu64 "\n", w->requests,
                 w->second_rounds);
    buffer_print(lines,
                 "map_batches=%" PRIu64 "\nbatch_pods=%" PRIu64 "\nbatches_late=%" PRIu64 "\n",
                 w->batches, w->batch_pods, w->batches_late);
    buffer_print(lines, "map_runs=%" PRIu64 "\nrun_pods=%" PRIu64 "\n", w->runs, w->run_pods);
    buffer_print(lines, "map_picks=%" PRIu64 "\npicked_pods=%" PRIu64 "\nmap_checks=%" PRIu64 "\n",
                 w->picks_asked, w->picked, w->checks);
    buffer_print(lines, "repeated=%" PRIu64 "\ndry_run_nodes=%" PRIu64 "\njoins=%" PRIu64 "\n",
                 shard_repeated(w->shard), shard_dry_run_rows(w->shard), w->joins);
}
