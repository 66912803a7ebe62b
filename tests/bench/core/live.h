/* live: coordinator and workers as the processes run them, in one program and without a bus: the
 * same handle and tick, messages encoded by their sender and decoded by their receiver, and the CPU
 * time of each counted apart. Who includes this plays watcher, queue and binder. */
#ifndef TESTS_BENCH_CORE_LIVE_H
#define TESTS_BENCH_CORE_LIVE_H

#include "proto/bus/outbox.h"
#include "proto/messages.h"

#define LIVE_WORKERS_MAX 64
#define LIVE_EPOCH       7

struct live;

struct live_options {
    const struct profile *profiles; /* borrowed */
    uint32_t profile_count, workers;
    enum tie_break_rule tie_break;
    int64_t credit, batch; /* as in coordinator_options; bare has no batches */
    bool bare;         /* workers are shards alone: only what the shard does is counted as work */
    bool codec_within; /* decoding is not counted apart */
    bool framed;       /* messages also get the bus's frame, as they would between processes */
    /* What coordinator says to watcher, queue or binder. */
    void (*heard)(void *context, const struct message *m);
    /* After each turn of the coordinator. */
    void (*turned)(void *context);
    void *context;
};

/* CPU time since live_new. Decoding is the receiver's, framing the sender's; encoding a message's
 * body is a part of its sender's work, as in the processes. */
struct live_cost {
    int64_t work, codec; /* coordinator */
    int64_t worker_work[LIVE_WORKERS_MAX], worker_codec[LIVE_WORKERS_MAX];
    int64_t wall;             /* that live_run_apart took; 0: it was not run */
    uint64_t messages, bytes; /* that went either way */
};

/* Workers join, everybody is there, the binder leads; a snapshot has begun. */
struct live *live_new(const struct live_options *options);
void live_free(struct live **l);
/* A message of the watcher's stream; it is delivered by live_run. */
void live_stream(struct live *l, const struct message *m);
/* The snapshot is complete; runs until the coordinator may decide. False when it does not. */
bool live_ready(struct live *l);
void live_say(struct live *l, enum process from, const struct message *m);
/* Delivers until nobody says anything. */
void live_run(struct live *l);
/* The same with a thread for each process, at once; what is spent is counted by thread, decoding as
 * work. Whoever hears is called when all is over. Not with bare or framed. */
void live_run_apart(struct live *l);
/* How far the stream is. */
int64_t live_sequence(const struct live *l);
const struct live_cost *live_cost(const struct live *l);
/* Sum over all workers and the coordinator. */
int64_t live_cost_total(const struct live_cost *cost);
/* Largest share of one process. */
int64_t live_cost_longest(const struct live_cost *cost);
void live_cost_add(struct live_cost *sum, const struct live_cost *more);
/* to - from. */
void live_cost_since(struct live_cost *out, const struct live_cost *from,
                     const struct live_cost *to);

#endif
