/* coordination: the coordinator's state, shared by the files of this folder; nobody else includes
 * it. Who decides, and who may call whom, stands in the README. */
#ifndef SCHEDULER_COORDINATOR_COORDINATION_H
#define SCHEDULER_COORDINATOR_COORDINATION_H

#include "proto/base/log.h"
#include "proto/base/map.h"
#include "proto/base/random.h"
#include "proto/bus/stream.h"
#include "proto/roll.h"
#include "scheduler/catalog/catalog.h"
#include "scheduler/cluster/cache.h"
#include "scheduler/coordinator/bus_plugins.h"
#include "scheduler/coordinator/coordinator.h"
#include "scheduler/coordinator/flight.h"
#include "scheduler/coordinator/gang_status.h"
#include "scheduler/coordinator/measure.h"
#include "scheduler/coordinator/pod_ends.h"
#include "scheduler/coordinator/question.h"
#include "scheduler/merge/reduce.h"
#include "scheduler/rules/framework.h"

#define WORKERS_MAX 64
#define BATCH_MAX   64
#define BATCHES_MAX 2   /* the worker decides one while we conclude another */
#define RUN_PODS    512 /* of a run: a batch's for each worker, but no more than these */

/* A pod that is being decided. */
struct slot {
    struct flight *flight;
    struct reduce *reduce;
    bool rivals; /* a nomination counts for the pod */
    struct measured_steps steps;
};

struct coordinator {
    struct coordinator_options options; /* without profiles: the frameworks have them */
    struct frameworks frameworks;
    int64_t generation; /* of the configuration, from 1 */
    uint64_t configs_refused;
    struct cache *cache;
    struct catalog *catalog;
    struct subscriber stream;
    struct roll roll;    /* of the watcher, while the cache is compared with it */
    bool compare_wanted; /* SIGUSR2 has come */
    struct flights flights;
    struct pods_shown shown;
    struct random random;
    struct outbox *out; /* of the call that is running; cache_tell needs it */
    struct moment last_call;
    struct arena cycle_memory;
    struct measure measure;

    /* the decision that is under way: of one pod, or of batches */
    struct slot slots[RUN_PODS];
    uint32_t under_way; /* how many of them are used; 0: nothing is being decided */
    struct {
        uint32_t size; /* so many slots, behind those of the one before */
        struct moment began;
    } batches[BATCHES_MAX];
    uint32_t batch_count; /* of those that a worker was asked for; 0: a single pod, if any */
    uint32_t batch_limit; /* how many pods the next batch may have */
    bool batch_whole;     /* the last one was concluded as a whole: another may follow */
    struct run *run;      /* pods that are alike, with several workers; all slots are its */
    struct outbox held;   /* what workers are to hear as soon as nothing is under way */
    struct outbox landed; /* outcomes of pods that were bound, which the queue hears of together */
    struct moment landed_by;
    bool held_gone;               /* that a node went is among it */
    uint32_t preempting;          /* flights in that state */
    struct moment preempting_due; /* none of them has an earlier deadline */
    int64_t cycle;
    struct moment cycle_started;
    uint32_t asked[WORKERS_MAX], asked_count; /* workers by shard number */
    char last_node[256];                      /* round-robin: chosen last */

    /* may we decide? */
    struct address queue, watcher, binder, extender; /* peer 0: not there */
    bool leading;
    int64_t term;
    struct map *foreign; /* by UID: binds in flight that a former life of ours asked for, and claims
                            of which it wanted something taken back */
    struct moment settles;   /* by then writes of a binder that is gone have ended; 0: none is */
    int64_t lost_term;       /* of the binder that is gone */
    bool binder_led;         /* the binder that is there has led */
    bool unanswered;         /* it stops, and writes of it may come after its end */
    struct question barrier; /* of this term */
    bool barrier_reached;
    struct question doubt; /* about claims that are settled */
    struct moment pull_said, view_heard;
    bool view_synced;
    int64_t view_age_ms;
    int64_t credit_said;
    struct moment readiness_due;

    struct gang_try *gang; /* the group whose transaction is under way; NULL: none */
    struct gang_statuses *gang_statuses;
    struct gang_claims *gang_claims; /* nominations of groups, and until when they last */

    uint32_t extender_order[EXTENDERS_MAX]; /* in which they are called */
    int64_t questions;                      /* ids given to those for extenders and plugins */
    struct moment asked_due;                /* no flight that is asked about is due earlier */
    struct bus_plugins plugins;
    uint32_t permitting; /* flights in that state */
    int64_t release_id;  /* given to a request about a claim last; 0: none was */
    struct log_limit plugin_log;

    struct {
        uint64_t cycles, second_rounds, scheduled, unschedulable, errors, skipped, bound,
            bind_failed, restarted, late, batches, batch_pods, batches_cut, runs, run_pods,
            run_grouped_pods, run_risen_pods, runs_followed;
        uint64_t gangs_placed, gangs_failed, gangs_evicting, gangs_restarted;
        int64_t decision_us, decision_us_max;
        uint64_t preempted; /* victims named */
        uint64_t asked_again,
            crowded_out; /* of extenders: answers that did not hold; see extending.c */
    } count;
};

/* ---- readiness.c ---- */

/* What is missing before it could decide if it led; "" if nothing is. */
const char *readiness_lacks(const struct coordinator *c, struct moment now);
/* True when our view is older than the queue's was when it made this attempt. */
bool readiness_view_is_behind(const struct coordinator *c, struct moment now,
                              const struct flight *f);
/* The same, however long it is already. */
bool readiness_view_is_older(const struct coordinator *c, const struct flight *f);
/* Tells the binder, once a second. */
void readiness_say(struct coordinator *c, struct moment now);

/* ---- cycle.c ---- */

/* Decides waiting flights for as long as that needs no answer from anybody. */
void cycle_advance(struct coordinator *c, struct moment now);
/* Begins with the first waiting flight, and others that go along. The step that is left to take, by
 * cycle_step; REDUCE_wait: none. */
enum reduce_step cycle_begin(struct coordinator *c, struct moment now);
/* Gives up the decision under way, and the transaction that it is part of; its pod, or its group,
 * is the next to be tried. */
void cycle_abandon(struct coordinator *c);
void cycle_on_map_result(struct coordinator *c, struct moment now, uint32_t worker,
                         const struct map_result *result);
/* Goes on with the only slot. */
void cycle_step(struct coordinator *c, struct moment now, enum reduce_step step);

/* ---- batch.c ---- */

/* The first slot waits for its worker: asks for it with others that go along. False: nobody does.
 */
bool batch_begin(struct coordinator *c, struct moment now);
/* Asks for another batch behind the one that is under way, if there is reason to. */
void batch_follow(struct coordinator *c, struct moment now);
/* The worker shall forget the pods of these slots, which it may have put on nodes itself. */
void batch_undo(struct coordinator *c, uint32_t from, uint32_t to);
/* How many pods may be asked for at once, of as many workers as there are now. */
uint32_t batch_most(const struct coordinator *c);
/* How a decision of one pod ended, for the size of the next batch. */
void batch_learn(struct coordinator *c, bool placed);
void batch_on_result(struct coordinator *c, struct moment now, uint32_t worker,
                     const struct map_batch_result *result);
/* The same of several pods: so many were placed of those asked for. */
void batch_learned(struct coordinator *c, uint32_t asked, uint32_t placed);
/* True when the first differs in nothing but names from the second, which is being decided: what
 * is found out for that one holds for it, too. */
bool batch_is_alike(const struct coordinator *c, const struct flight *f,
                    const struct flight *deciding);
/* True when this slot's pod may be decided with others. */
bool batch_goes_along(const struct slot *s);
/* True when this flight, NULL for none, may be the next one's. */
bool batch_may_follow(const struct coordinator *c, struct moment now, const struct flight *f);
/* True when the node went meanwhile, whether it came back or not. */
bool batch_has_been_gone(struct coordinator *c, struct str node);

/* ---- run.c ---- */

struct run *run_new(void);
void run_free(struct run **run);
/* The first slot waits for its workers: asks for it with others like it. False: nobody is. */
bool run_begin(struct coordinator *c, struct moment now);
bool run_is_under_way(const struct coordinator *c);
/* The workers shall take back what they have placed. */
void run_abandon(struct coordinator *c);
/* The frameworks are about to be others. */
void run_forget(struct coordinator *c);
void run_on_result(struct coordinator *c, struct moment now, uint32_t worker,
                   const struct map_run_result *said);

/* ---- compare.c ---- */

/* Asks the watcher for its names when SIGUSR2 has come. */
void compare_ask(struct coordinator *c);
/* A part of them; with the last one the cache is compared. */
void compare_take(struct coordinator *c, const struct names *said);

#endif
