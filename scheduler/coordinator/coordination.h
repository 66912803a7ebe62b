/* coordination: the coordinator's state, shared by the files of this folder; nobody else includes
 * it. Who decides, and who may call whom, stands in the README. */
#ifndef SCHEDULER_COORDINATOR_COORDINATION_H
#define SCHEDULER_COORDINATOR_COORDINATION_H

#include "proto/base/log.h"
#include "proto/base/map.h"
#include "proto/base/random.h"
#include "proto/bus/question.h"
#include "proto/bus/stream.h"
#include "proto/comparer.h"
#include "scheduler/catalog/catalog.h"
#include "scheduler/catalog/volume_doubts.h"
#include "scheduler/cluster/cache.h"
#include "scheduler/coordinator/bus_plugins.h"
#include "scheduler/coordinator/coordinator.h"
#include "scheduler/coordinator/flight.h"
#include "scheduler/coordinator/gang_status.h"
#include "scheduler/coordinator/measure.h"
#include "scheduler/coordinator/pod_ends.h"
#include "scheduler/merge/reduce.h"
#include "scheduler/rules/framework.h"

#define WORKERS_MAX 64
#define BATCH_MAX   64
/* Of several pods of a question in memory, which is far below a frame's limit. */
#define BATCH_BYTES ((size_t)1 << 20)
#define BATCHES_MAX 2   /* the worker decides one while we conclude another */
#define RUN_PODS    512 /* of a run: a batch's for each worker, but no more than these */

/* A pod that is being decided. */
struct slot {
    struct flight *flight;
    struct reduce *reduce;
    bool rivals; /* a nomination counts for the pod */
    struct measured_steps steps;
};

/* First what all files of the folder read, or hand to its functions; then parts, each touched by
 * the files that are named behind it alone, and asked by others (tests/tidy/owners.py). */
struct coordinator {
    /* set by: coordinator.c */
    struct coordinator_options options; /* without profiles: the frameworks have them */
    struct frameworks frameworks;
    struct decisions_kept *decisions; /* what berth explain tells of */
    struct cache *cache;
    struct catalog *catalog;
    struct subscriber stream;
    struct gang_statuses *gang_statuses;
    struct outbox *out; /* of the call that is running; cache_tell needs it */
    struct moment last_call;
    struct arena cycle_memory;
    struct address queue, watcher, binder, extender; /* peer 0: not there */

    /* set by: coordinator.c gang.c; who goes back to where a transaction began has the dice of then
     */
    struct random random;

    struct flights flights; /* owner: flight.c */

    /* the decision that is under way: of one pod, or of batches */
    struct {
        struct slot slots[RUN_PODS];
        uint32_t under_way; /* how many of them are used; 0: nothing is being decided */
        int64_t cycle;
        struct moment began;
        uint32_t asked[WORKERS_MAX], asked_count; /* workers by shard number */
        struct outbox held; /* what workers are to hear as soon as nothing is under way */
        bool held_gone;     /* that a node went is among it */
        uint64_t turn;      /* round-robin: how many choices there were */
        int64_t walk_next;  /* the place where the next pod's walk over the nodes begins */
        bool walks; /* the order of nodes matters: a profile's walks end before they have been over
                     * all of them, or equal ones take turns */
    } deciding;     /* owner: deciding.c */

    struct {
        struct {
            uint32_t size; /* so many slots, behind those of the one before */
            struct moment began;
        } at[BATCHES_MAX];
        uint32_t count; /* of those that a worker was asked for; 0: a single pod, if any */
        uint32_t limit; /* how many pods the next batch may have */
        bool whole;     /* the last one was concluded as a whole: another may follow */
    } batch;            /* owner: batch.c */

    struct run *run;     /* owner: run.c run_groups.c; pods that are alike, with several workers */
    struct picks *picks; /* owner: picks.c; pods that are not, with several workers */

    struct {
        bool leads;
        int64_t term;
        struct question barrier; /* of this term */
        bool barrier_reached;
        struct question doubt; /* about claims that are settled */
    } lead;                    /* owner: leadership.c */

    struct {
        struct map *foreign;   /* by UID: binds in flight that a former life of ours asked for, and
                                  claims of which it wanted something taken back */
        struct moment settles; /* by then writes of a binder that is gone have ended; 0: none is */
        int64_t lost_term;     /* of the binder that is gone */
        bool binder_led;       /* the binder that is there has led */
        bool unanswered;       /* it stops, and writes of it may come after its end */
    } former;                  /* owner: former.c */

    struct {
        struct moment heard; /* of the view; 0: never */
        bool synced;
        int64_t age_ms;
        struct moment due; /* the binder is to be told */
    } ready;               /* owner: readiness.c */

    struct {
        int64_t minor;     /* of the API server; 0: not known */
        char name[64];     /* as it calls that */
        char problem[160]; /* why it is not known */
        int64_t wanted;    /* the release that it is to decide as; 0: not known */
        bool refused;      /* the configuration cannot be read as of that */
        char left[200];    /* feature gates that have no place in what is decided as */
        struct moment silent_since, may_change;
        struct features read_as; /* what pods came to was read as of that one */
        bool pods_vary;          /* and one of them comes to something else in another */
    } release;                   /* owner: following.c */

    struct {
        int64_t credit;
        struct moment said;
    } pull; /* owner: coordinator.c */

    struct {
        int64_t generation; /* of the configuration, from 1 */
        uint64_t refused;
    } config; /* owner: coordinator.c report.c */

    struct {
        struct outbox out; /* outcomes of pods that were bound, which the queue hears of together */
        struct moment by;
        struct volume_doubts doubts; /* volumes of pods that were bound */
    } landed;                        /* owner: landing.c */

    struct {
        struct expiring_pod *first, *last; /* in the order of their deadlines */
    } expiring;                            /* owner: expiring.c; without a watch's word so far */

    struct {
        struct moment due; /* no flight that makes room has an earlier deadline */
    } preempting;          /* owner: preempting.c */

    struct {
        uint32_t order[EXTENDERS_MAX]; /* in which extenders are called */
    } asking;                          /* owner: extending.c extender_questions.c */

    struct {
        struct comparer told; /* of the watcher, while the cache is compared with it */
        bool wanted;          /* SIGUSR2 has come */
    } compare;                /* owner: compare.c */

    struct {
        bool changed; /* nodes or pods, since those who wait for plugins of ours were looked at */
        struct moment looked;
    } permits; /* owner: permitting.c coordinator.c */

    struct bus_plugins plugins;      /* owner: bus_plugins.c */
    struct gang_try *gang;           /* owner: gang.c; whose transaction is under way; NULL: none */
    struct gang_claims *gang_claims; /* owner: gang_claims.c */
    struct pods_shown shown;         /* owner: pod_ends.c */
    uint64_t claim_ends;    /* owner: claim_waits.c; device_book_ends when it looked last */
    int64_t release_id;     /* owner: releasing.c; given to a request about a claim last; 0: none */
    struct measure measure; /* owner: measure.c */

    struct counters count; /* owner: measure.c report.c; others add to it by COUNT */
};

/* The wall clock as of the call that is being answered. */
static inline int64_t coordinator_wall_us(const struct coordinator *c)
{
    return c->options.wall_us_at_zero + c->last_call.ns / 1000;
}

/* ---- what anybody may ask of a part, whose owner the name begins with ---- */

static inline bool batch_is_under_way(const struct coordinator *c)
{
    return c->batch.count > 0;
}

/* None is under way any more. */
static inline void batch_end(struct coordinator *c)
{
    c->batch.count = 0;
}

static inline bool leadership_leads(const struct coordinator *c)
{
    return c->lead.leads;
}

static inline int64_t leadership_term(const struct coordinator *c)
{
    return c->lead.term;
}

/* The view is as new as the term. */
static inline bool leadership_has_barrier(const struct coordinator *c)
{
    return c->lead.barrier_reached;
}

/* Writes of a binder that is gone have ended. */
static inline bool former_has_settled(const struct coordinator *c, struct moment now)
{
    return moment_reached(now, c->former.settles);
}

/* A bind or a release of a former life is in flight. */
static inline bool former_is_under_way(const struct coordinator *c)
{
    return map_count(c->former.foreign) > 0;
}

static inline bool readiness_view_is_synced(const struct coordinator *c)
{
    return c->stream.synced && c->ready.synced;
}

/* The group whose transaction is under way; NULL: none. */
static inline struct gang_try *gang_under_way(const struct coordinator *c)
{
    return c->gang;
}

static inline uint32_t bus_plugins_count(const struct coordinator *c)
{
    return c->plugins.count;
}

/* ---- following.c ---- */

/* The release that it is to decide as is not known, or not taken yet. */
bool following_is_open(const struct coordinator *c);

/* ---- readiness.c ---- */

/* What is missing before it could decide if it led; "" if nothing is. */
const char *readiness_lacks(const struct coordinator *c, struct moment now);
/* True when our view is older than the queue's was when it made this attempt. */
bool readiness_view_is_behind(const struct coordinator *c, struct moment now,
                              const struct flight *f);
/* The same, however long it is already. */
bool readiness_view_is_older(const struct coordinator *c, const struct flight *f);
/* Tells the binder, once a second, or at once when it has come. */
void readiness_say(struct coordinator *c, struct moment now);
void readiness_say_soon(struct coordinator *c, struct moment now);
/* What the watcher says of its view. */
void readiness_hear(struct coordinator *c, struct moment now, const struct view *view);
/* How old it is by that, and by how long ago that was; -1: it was never heard of. */
int64_t readiness_view_age_ms(const struct coordinator *c, struct moment now);

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

void batch_init(struct coordinator *c);
/* The first slot waits for its worker: asks for it with others that go along. False: nobody does.
 */
bool batch_begin(struct coordinator *c, struct moment now);
/* Asks for another batch behind the one that is under way, if there is reason to. */
void batch_follow(struct coordinator *c, struct moment now);
/* The worker shall forget the pods asked for, which it may have put on nodes itself. */
void batch_abandon(struct coordinator *c);
/* How many pods may be asked for at once, of as many workers as there are now. */
uint32_t batch_most(const struct coordinator *c);
/* How many may be asked for just now. */
uint32_t batch_limit(const struct coordinator *c);
/* How a decision of one pod ended, for the size of the next batch. */
void batch_learn(struct coordinator *c, bool placed);
/* The step that is left to take with the only slot, by cycle_step; REDUCE_wait: none. */
enum reduce_step batch_on_result(struct coordinator *c, struct moment now, uint32_t worker,
                                 const struct map_batch_result *result);
/* The same of several pods: so many were placed of those asked for. */
void batch_learned(struct coordinator *c, uint32_t asked, uint32_t placed);
/* True when the first differs in nothing but names from the second, which is being decided: what
 * is found out for that one holds for it, too. */
bool batch_is_alike(const struct coordinator *c, const struct flight *f,
                    const struct flight *deciding);
/* True when this slot's pod may be decided with others. */
bool batch_goes_along(const struct coordinator *c, const struct slot *s);
/* True when this flight, NULL for none, may be the next one's. */
bool batch_may_follow(const struct coordinator *c, struct moment now, const struct flight *f);

/* ---- run.c ---- */

void run_init(struct coordinator *c);
void run_free(struct coordinator *c);
/* The first slot waits for its workers: asks for it with others like it. False: nobody is. */
bool run_begin(struct coordinator *c, struct moment now);
bool run_is_under_way(const struct coordinator *c);
/* The workers shall take back what they have placed. */
void run_abandon(struct coordinator *c);
/* The frameworks are about to be others. */
void run_forget(struct coordinator *c);
void run_on_result(struct coordinator *c, struct moment now, uint32_t worker,
                   const struct map_run_result *said);

/* ---- picks.c ---- */

void picks_init(struct coordinator *c);
void picks_free(struct coordinator *c);
/* The first slot waits for its workers: asks for it with others that are unlike it. False: nobody
 * goes along. */
bool picks_begin(struct coordinator *c, struct moment now);
bool picks_are_under_way(const struct coordinator *c);
/* A worker joins, of a version that can answer or of one that cannot. */
void picks_on_join(struct coordinator *c, uint32_t worker, bool can);
void picks_abandon(struct coordinator *c);
/* The frameworks are about to be others. */
void picks_forget(struct coordinator *c);
/* As batch_on_result. */
enum reduce_step picks_on_result(struct coordinator *c, struct moment now, uint32_t worker,
                                 const struct map_picks_result *said);
void picks_on_checked(struct coordinator *c, struct moment now, uint32_t worker,
                      const struct map_checked *said);

/* ---- compare.c ---- */

/* SIGUSR2 has come. */
void compare_want(struct coordinator *c);
void compare_free(struct coordinator *c);
/* Asks the watcher for its names, when that is wanted. */
void compare_ask(struct coordinator *c);
/* A part of them; with the last one the cache is compared. */
void compare_take(struct coordinator *c, const struct names *said);
/* Answers a holdings_request. */
void compare_tell(struct coordinator *c, struct moment now, const struct delivery *in);
/* Somebody wants it to be read anew. */
void compare_reread(struct coordinator *c, struct moment now, const struct delivery *in);

#endif
