/* coordination: the coordinator's state, shared by coordinator.c (messages, readiness) and cycle.c
 * (deciding); nobody else includes it. */
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

struct coordinator {
    struct coordinator_options options;
    struct frameworks frameworks;
    struct cache *cache;
    struct catalog *catalog;
    struct reduce *reduce;
    struct subscriber stream;
    struct flights flights;
    struct random random;
    struct outbox *out; /* of the call that is running; cache_tell needs it */
    struct moment last_call;
    struct arena cycle_memory;

    /* the decision that is under way */
    struct flight *deciding; /* NULL: none */
    struct outbox held;      /* what workers are to hear as soon as it is decided */
    uint32_t preempting;     /* flights in that state */
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
            bind_failed, restarted, late;
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

#endif
