/* coordination: the coordinator's state, shared by coordinator.c (messages, readiness), cycle.c
 * (deciding), batch.c (several pods in one exchange) and preempting.c; nobody else includes it. */
#ifndef SCHEDULER_COORDINATION_H
#define SCHEDULER_COORDINATION_H

#include "proto/base/random.h"
#include "proto/bus/stream.h"
#include "scheduler/cache.h"
#include "scheduler/catalog.h"
#include "scheduler/coordinator.h"
#include "scheduler/flight.h"
#include "scheduler/framework.h"
#include "scheduler/reduce.h"

#define WORKERS_MAX 64
#define BATCH_MAX   64

/* A pod that is being decided. */
struct slot {
    struct flight *flight;
    struct reduce *reduce;
};

struct coordinator {
    struct coordinator_options options;
    struct frameworks frameworks;
    struct cache *cache;
    struct catalog *catalog;
    struct subscriber stream;
    struct flights flights;
    struct random random;
    struct outbox *out; /* of the call that is running; cache_tell needs it */
    struct moment last_call;
    struct arena cycle_memory;

    /* the decision that is under way: of one pod, or of a batch */
    struct slot slots[BATCH_MAX];
    uint32_t under_way;   /* how many of them are used; 0: nothing is being decided */
    uint32_t batch_limit; /* how many pods the next batch may have */
    struct outbox held;   /* what workers are to hear as soon as it is decided */
    bool held_gone;       /* that a node went is among it */
    uint32_t preempting;  /* flights in that state */
    int64_t cycle;
    struct moment cycle_started;
    uint32_t asked[WORKERS_MAX], asked_count; /* workers by shard number */
    char last_node[256];                      /* round-robin: chosen last */

    /* may we decide? */
    struct address queue, watcher, binder; /* peer 0: not there */
    bool leading;
    int64_t term;
    uint32_t foreign_binds; /* binds in flight that a former life of ours asked for */
    int64_t barrier_id;     /* of this term; 0: not asked yet */
    bool barrier_reached;
    struct moment barrier_asked, pull_said, view_heard;
    bool view_synced;
    int64_t view_age_ms;
    int64_t credit_said;

    struct {
        uint64_t cycles, second_rounds, scheduled, unschedulable, errors, skipped, bound,
            bind_failed, restarted, late, batches, batch_pods, batches_cut;
        int64_t decision_us, decision_us_max;
        uint64_t preempted; /* victims named */
    } count;
};

/* ---- cycle.c ---- */

/* Decides waiting flights for as long as that needs no answer from anybody. */
void cycle_advance(struct coordinator *c, struct moment now);
/* Gives up the decision under way; its pod is the next to be tried. */
void cycle_abandon(struct coordinator *c);
void cycle_on_map_result(struct coordinator *c, struct moment now, uint32_t worker,
                         const struct map_result *result);
/* Takes the first waiting flight into the next slot, and its first step. */
enum reduce_step cycle_take(struct coordinator *c, struct moment now);
/* Flights from this slot on go back to the head of the line, as if they had not been taken. */
void cycle_give_back(struct coordinator *c, uint32_t from);
/* Goes on with the only slot. */
void cycle_step(struct coordinator *c, struct moment now, enum reduce_step step);
/* True when the slot's decision is a node and nothing has come in between that makes it moot. */
bool cycle_stands(const struct coordinator *c, const struct slot *s);
/* Such a slot's pod is assumed and bound. told: the worker has put it on the node. */
void cycle_place(struct coordinator *c, struct moment now, const struct slot *s, bool told);
/* Nothing is under way any more: workers hear what has happened meanwhile, in order. */
void cycle_end(struct coordinator *c);
/* True when there is nothing to decide about this flight. */
bool cycle_is_idle(const struct coordinator *c, const struct flight *f);
/* True when our view is older than the queue's was when it made this attempt. */
bool cycle_view_is_behind(const struct coordinator *c, struct moment now, const struct flight *f);
/* The flight is over: tells the queue if it waits, and forgets the flight. plugins may be NULL. */
void cycle_land(struct coordinator *c, struct flight *f, const char *result,
                const struct strs *plugins);
/* Asks the binder; also again, when the request got lost. */
void cycle_send_bind(struct coordinator *c, const struct flight *f);
/* The binder need not go on waiting for the pod's claims; it answers as ever. */
void cycle_cancel_bind(struct coordinator *c, struct str uid, struct str node, const char *why);
/* Tells the pod's owner, through the binder, that the attempt failed. */
struct failure {
    struct str message;
    bool nominate;             /* status.nominatedNodeName is to become nominated_node */
    struct str nominated_node; /* empty: cleared */
};
void cycle_report_failure(struct coordinator *c, const struct flight *f, const char *reason,
                          const struct failure *failure);
/* The attempt ends with an error that is not the pod's doing: told and landed. */
void cycle_fail(struct coordinator *c, struct flight *f, struct str message);

/* ---- batch.c ---- */

/* The first slot waits for its worker: more flights may go along. */
void batch_grow(struct coordinator *c, struct moment now);
void batch_ask(struct coordinator *c);
/* The worker shall forget the pods of these slots, which it may have put on nodes itself. */
void batch_undo(struct coordinator *c, uint32_t from, uint32_t to);
/* How a decision of one pod ended, for the size of the next batch. */
void batch_learn(struct coordinator *c, bool placed);
void batch_on_result(struct coordinator *c, struct moment now, uint32_t worker,
                     const struct map_batch_result *result);

#endif
