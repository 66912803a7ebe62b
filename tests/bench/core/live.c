/* live: turns, as the actor loop has them: a process takes what has arrived, handles it, ticks, and
 * what it said goes into the others' inboxes. Time stands still for the cores, so that no timer
 * disturbs a measurement; CPU time is counted by process.
 *
 * What must stay true: only decoding, handle and tick are inside the counted laps; moving bytes
 * between inboxes stands for ZeroMQ, which the section "rounds" measures. */
#include "tests/bench/core/live.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/bus/delivery.h"
#include "proto/bus/frame.h"
#include "tests/bench/core/live_inside.h"

#include <string.h>

/* ---- moving messages ---- */

void live_put(struct live *l, struct side *to, const struct outgoing *head, struct str body)
{
    l->cost.messages++;
    l->cost.bytes += body.len;
    if (!l->options.framed) {
        outbox_put_encoded(&to->inbox, head, body);
        return;
    }
    const struct envelope envelope = {.type = head->type,
                                      .link = ++to->link,
                                      .term = 1,
                                      .generation = 1,
                                      .epoch = head->epoch,
                                      .sequence = head->sequence,
                                      .sent_us = INT64_C(1767225600000000),
                                      .incarnation = INT64_C(0x1234567812345678),
                                      .part = head->part};
    frame_build(&l->frame, &envelope, body);
    outbox_put_encoded(&to->inbox, head, buffer_str(&l->frame));
}

/* Into the coordinator's inbox, from one of those that the caller plays. */
static void say(struct live *l, const struct outgoing *head, const struct message *m)
{
    struct outbox one = {0};
    outbox_put(&one, head->to, m);
    struct outgoing with = *head;
    with.type = m->type;
    live_put(l, &l->middle, &with, outbox_body(&one, 0));
    outbox_free(&one);
}

static struct address played(enum process process)
{
    return (struct address){process, process == WATCHER ? 101 : process == QUEUE ? 102 : 103};
}

void live_say(struct live *l, enum process from, const struct message *m)
{
    say(l, &(struct outgoing){.to = played(from)}, m);
}

void live_stream(struct live *l, const struct message *m)
{
    if (l->part > 0)
        l->part++;
    else
        l->sequence++;
    say(l,
        &(struct outgoing){
            .to = played(WATCHER), .epoch = LIVE_EPOCH, .sequence = l->sequence, .part = l->part},
        m);
}

void live_hear(struct live *l, const struct outbox *said, size_t i)
{
    enum message_type type = said->at[i].type;
    struct message m;
    if (type != MSG_barrier && type != MSG_bind && type != MSG_pod_failed && type != MSG_preempt &&
        type != MSG_outcome)
        return;
    arena_reset(&l->heard);
    must(outbox_get(said, i, &m, &l->heard));
    if (type == MSG_barrier)
        live_stream(l, &(struct message){.type = MSG_barrier_reached,
                                         .barrier_reached = {.id = m.barrier.id}});
    else if (l->options.heard != NULL)
        l->options.heard(l->options.context, &m);
}

struct side *live_addressee(struct live *l, struct address to)
{
    if (to.process == WORKER && to.peer >= 1 && to.peer <= l->options.workers)
        return &l->workers[to.peer - 1];
    return to.process == SCHEDULER ? &l->middle : NULL;
}

/* What a process has said goes where it belongs. Framing is the sender's. */
static void route(struct live *l, struct side *from)
{
    if (l->options.framed)
        stopwatch_start(&l->watch);
    for (size_t i = 0; i < from->out.count; i++) {
        struct outgoing head = from->out.at[i];
        struct side *to = live_addressee(l, head.to);
        head.to = from->self;
        if (to != NULL)
            live_put(l, to, &head, outbox_body(&from->out, i));
    }
    if (l->options.framed)
        *from->codec += stopwatch_lap(&l->watch);
    for (size_t i = 0; i < from->out.count; i++)
        if (from->out.at[i].to.process != SCHEDULER && from->out.at[i].to.process != WORKER)
            live_hear(l, &from->out, i);
    outbox_reset(&from->out);
}

/* ---- turns ---- */

static void decode(const struct live *l, struct side *side, size_t i, struct message *m)
{
    struct str bytes = outbox_body(&side->taken, i);
    const uint8_t *at = (const uint8_t *)bytes.at;
    struct byte_cursor body = {at, at + bytes.len};
    struct envelope envelope = {.type = side->taken.at[i].type};
    if (l->options.framed)
        must(frame_open(bytes, &envelope, &body) == REFUSED_nothing);
    must(frame_decode(&envelope, body, m, &side->decoded) == REFUSED_nothing);
}

/* A worker without its process: what it is told becomes calls, and only those are counted. */
static void shard_turn(struct live *l, struct side *side, const struct message *m)
{
    struct arena memory = {0};
    struct message answer = {.type = MSG_map_result};
    stopwatch_start(&l->watch);
    switch (m->type) {
    case MSG_shard_reset:
        shard_reset(side->shard, m->shard_reset.profiles.at, m->shard_reset.profiles.count);
        break;
    case MSG_shard_node: shard_node_set(side->shard, &m->shard_node.node); break;
    case MSG_shard_node_gone: shard_node_gone(side->shard, m->shard_node_gone.name); break;
    case MSG_shard_pod: shard_pod_told(side->shard, &m->shard_pod); break;
    case MSG_shard_pod_gone: shard_pod_gone(side->shard, m->shard_pod_gone.uid); break;
    case MSG_shard_images: shard_images(side->shard, &m->shard_images); break;
    case MSG_shard_nominated: shard_nominated(side->shard, &m->shard_nominated.pod); break;
    case MSG_shard_nominated_gone:
        shard_nominated_gone(side->shard, m->shard_nominated_gone.uid);
        break;
    case MSG_shard_storage: shard_storage(side->shard, &m->shard_storage); break;
    case MSG_map_request:
        shard_map(side->shard, &m->map_request, &answer.map_result, &memory);
        break;
    default: break;
    }
    *side->work += stopwatch_lap(&l->watch);
    if (m->type == MSG_map_request)
        outbox_put(&side->out, coordinator_at, &answer);
    arena_free(&memory);
}

void live_handle(struct live *l, struct side *side, size_t i)
{
    struct message m;
    const struct outgoing *head = &side->taken.at[i];
    struct delivery in = {.from = head->to,
                          .epoch = head->epoch,
                          .sequence = head->sequence,
                          .part = head->part,
                          .message = &m,
                          .kept = frame_is_kept(head->type) ? &side->decoded : NULL};
    decode(l, side, i, &m);
    if (side->shard != NULL)
        shard_turn(l, side, &m);
    else if (side->worker != NULL)
        worker_handle(side->worker, now, &in, &side->out);
    else
        coordinator_handle(l->coordinator, now, &in, &side->out);
}

void live_tick(struct live *l, struct side *side)
{
    if (side->worker != NULL)
        (void)worker_tick(side->worker, now, &side->out);
    else if (side->shard == NULL)
        (void)coordinator_tick(l->coordinator, now, &side->out);
}

/* Decoding by itself is tried once more before, so that its share is known without a clock reading
 * a message; what counts is the lap in which the messages are decoded and handled one by one. */
static void turn(struct live *l, struct side *side)
{
    struct message m;
    size_t end =
        side->taken.count - side->next > ACTOR_TURN ? side->next + ACTOR_TURN : side->taken.count;
    stopwatch_start(&l->watch);
    for (size_t i = side->next; i < end && !l->options.codec_within; i++)
        decode(l, side, i, &m);
    int64_t codec = stopwatch_lap(&l->watch);
    for (size_t i = side->next; i < end; i++)
        live_handle(l, side, i);
    live_tick(l, side);
    int64_t all = stopwatch_lap(&l->watch);
    if (side->shard == NULL) {
        codec = codec < all ? codec : all;
        *side->work += all - codec;
    }
    *side->codec += codec;
    side->next = end;
    route(l, side);
}

/* False when nothing had arrived. */
static bool side_run(struct live *l, struct side *side)
{
    if (side->next == side->taken.count) {
        struct outbox empty = side->taken;
        side->taken = side->inbox;
        side->inbox = empty;
        outbox_reset(&side->inbox);
        side->next = 0;
    }
    if (side->taken.count == 0)
        return false;
    turn(l, side);
    if (side->next == side->taken.count) {
        outbox_reset(&side->taken);
        side->next = 0;
    }
    return true;
}

void live_run(struct live *l)
{
    bool busy = true;
    while (busy) {
        busy = side_run(l, &l->middle);
        if (busy && l->options.turned != NULL)
            l->options.turned(l->options.context);
        for (uint32_t k = 0; k < l->options.workers; k++)
            busy |= side_run(l, &l->workers[k]);
    }
}

/* ---- beginning and end ---- */

static void join(struct live *l, uint32_t k)
{
    struct side *side = &l->workers[k];
    side->self = (struct address){WORKER, k + 1};
    side->work = &l->cost.worker_work[k];
    side->codec = &l->cost.worker_codec[k];
    struct message up = {.type = MSG_peer_up};
    if (l->options.bare) {
        side->shard = shard_new();
        outbox_put(
            &side->out, coordinator_at,
            &(struct message){.type = MSG_worker_join,
                              .worker_join = {.instance = STR_LITERAL("shard"), .capacity = 1}});
    } else {
        side->worker = worker_new("worker", 1);
        struct delivery in = {.from = coordinator_at, .message = &up};
        worker_handle(side->worker, now, &in, &side->out);
    }
    route(l, side);
    live_run(l);
}

struct live *live_new(const struct live_options *options)
{
    struct live *l = memory_take(sizeof(*l));
    must(options->workers <= LIVE_WORKERS_MAX);
    l->options = *options;
    l->middle.self = coordinator_at;
    l->middle.work = &l->cost.work;
    l->middle.codec = &l->cost.codec;
    l->coordinator =
        coordinator_new(&(struct coordinator_options){.profiles = options->profiles,
                                                      .profile_count = options->profile_count,
                                                      .tie_break = options->tie_break,
                                                      .seed = 1,
                                                      .credit = options->credit,
                                                      .batch = options->bare ? 1 : options->batch});
    for (uint32_t k = 0; k < options->workers; k++)
        join(l, k);
    const struct message up = {.type = MSG_peer_up};
    live_say(l, WATCHER, &up);
    live_say(l, QUEUE, &up);
    live_say(l, BINDER, &up);
    l->sequence = l->part = 1;
    say(l,
        &(struct outgoing){
            .to = played(WATCHER), .epoch = LIVE_EPOCH, .sequence = l->sequence, .part = l->part},
        &(struct message){.type = MSG_snapshot_begin});
    live_run(l);
    return l;
}

bool live_ready(struct live *l)
{
    live_stream(l, &(struct message){.type = MSG_snapshot_end});
    l->part = 0;
    live_stream(l, &(struct message){.type = MSG_view, .view = {.synced = true}});
    live_say(l, BINDER,
             &(struct message){
                 .type = MSG_leadership,
                 .leadership = {.leading = true, .lead_term = 1, .identity = STR_LITERAL("me")}});
    live_run(l);
    return coordinator_waits_for(l->coordinator, now)[0] == 0;
}

static void side_free(struct side *side)
{
    worker_free(&side->worker);
    shard_free(&side->shard);
    outbox_free(&side->inbox);
    outbox_free(&side->taken);
    outbox_free(&side->out);
    arena_free(&side->decoded);
}

void live_free(struct live **live)
{
    struct live *l = *live;
    if (l == NULL)
        return;
    coordinator_free(&l->coordinator);
    for (uint32_t k = 0; k < l->options.workers; k++)
        side_free(&l->workers[k]);
    side_free(&l->middle);
    arena_free(&l->heard);
    buffer_free(&l->frame);
    memory_free(l);
    *live = NULL;
}

int64_t live_sequence(const struct live *l)
{
    return l->sequence;
}

/* ---- what it cost ---- */

const struct live_cost *live_cost(const struct live *l)
{
    return &l->cost;
}

int64_t live_cost_total(const struct live_cost *cost)
{
    int64_t sum = cost->work + cost->codec;
    for (uint32_t k = 0; k < LIVE_WORKERS_MAX; k++)
        sum += cost->worker_work[k] + cost->worker_codec[k];
    return sum;
}

int64_t live_cost_longest(const struct live_cost *cost)
{
    int64_t most = cost->work + cost->codec;
    for (uint32_t k = 0; k < LIVE_WORKERS_MAX; k++) {
        int64_t one = cost->worker_work[k] + cost->worker_codec[k];
        most = one > most ? one : most;
    }
    return most;
}

void live_cost_add(struct live_cost *sum, const struct live_cost *more)
{
    sum->work += more->work;
    sum->codec += more->codec;
    sum->wall += more->wall;
    sum->messages += more->messages;
    sum->bytes += more->bytes;
    for (uint32_t k = 0; k < LIVE_WORKERS_MAX; k++) {
        sum->worker_work[k] += more->worker_work[k];
        sum->worker_codec[k] += more->worker_codec[k];
    }
}

void live_cost_since(struct live_cost *out, const struct live_cost *from,
                     const struct live_cost *to)
{
    *out = *to;
    out->work -= from->work;
    out->codec -= from->codec;
    out->wall -= from->wall;
    out->messages -= from->messages;
    out->bytes -= from->bytes;
    for (uint32_t k = 0; k < LIVE_WORKERS_MAX; k++) {
        out->worker_work[k] -= from->worker_work[k];
        out->worker_codec[k] -= from->worker_codec[k];
    }
}
