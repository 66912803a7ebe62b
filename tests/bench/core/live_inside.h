/* live_inside: what live.c (turns, one process after the other) and live_apart.c (a thread each)
 * know of each other; nobody else includes it. */
#ifndef TESTS_BENCH_CORE_LIVE_INSIDE_H
#define TESTS_BENCH_CORE_LIVE_INSIDE_H

#include "proto/bus/actor.h"
#include "scheduler/coordinator/coordinator.h"
#include "scheduler/worker/shard.h"
#include "scheduler/worker/worker.h"
#include "tests/bench/core/clock.h"
#include "tests/bench/core/live.h"

static const struct address coordinator_at = {SCHEDULER, 1};
static const struct moment now = {1000000000};

/* A process and what has arrived at its door. */
struct side {
    struct outbox inbox, taken; /* .to is whom a message is from */
    size_t next;                /* in taken */
    struct worker *worker;      /* one of the two, or none for the coordinator */
    struct shard *shard;
    struct address self;
    int64_t *work, *codec; /* its places in the cost */
    int64_t link;
    struct arena decoded; /* of one message */
    struct outbox out;    /* what it says */
};

struct live {
    struct live_options options;
    struct coordinator *coordinator;
    struct side middle, workers[LIVE_WORKERS_MAX];
    struct live_cost cost;
    struct stopwatch watch;
    struct arena heard;
    struct buffer frame;
    int64_t sequence, part;
};

/* Puts a message into somebody's inbox. */
void live_put(struct live *l, struct side *to, const struct outgoing *head, struct str body);
/* Whom a process means; NULL when it is none of coordinator and workers. */
struct side *live_addressee(struct live *l, struct address to);
/* One that was said to watcher, queue or binder. */
void live_hear(struct live *l, const struct outbox *said, size_t i);
/* Decodes and handles message i of those taken. */
void live_handle(struct live *l, struct side *side, size_t i);
void live_tick(struct live *l, struct side *side);

#endif
