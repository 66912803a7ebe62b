/* measure: what the coordinator counts about attempts, with upstream's metrics (metrics.def). An
 * attempt is counted when it ends: with the bind that the API server confirmed, or with the failure
 * that the pod's owner is told of; one that is decided anew counts once. */
#ifndef SCHEDULER_COORDINATOR_MEASURE_H
#define SCHEDULER_COORDINATOR_MEASURE_H

#include "proto/base/moment.h"
#include "proto/messages.h"

struct preemption;
struct coordinator;
struct flight;
struct series;
struct slot;

#define MEASURED_PROFILES 16 /* more are counted, too, only slower */
#define MEASURED_POINTS   8
#define MEASURED_CODES    4

#define MEASURED_ONE_IN 10 /* decisions whose plugins are timed, as upstream */
#define MEASURED_ASKED  4  /* points of plugin_evaluation_total */

/* The series of one profile, looked up once. */
struct measured_profile {
    int64_t asked[MEASURED_ASKED][64]; /* of plugins, as the profile lists them; not yet told */
    struct series *points[MEASURED_POINTS][MEASURED_CODES];
    struct series *results[3], *latencies[3];
};

/* What decisions consist of, as shares of 1, where a worker tells only what all took together; and
 * what that was learnt from, in nanoseconds, older ones with less weight. All 0: nothing yet. */
struct measured_parts {
    double pre_filter, pre_score, score; /* the rest is the filters' */
    struct {
        double pre_filter, filter, pre_score, score;
    } learnt;
};

struct measure {
    struct measured_profile profiles[MEASURED_PROFILES];
    struct measured_profile spare; /* of the profiles beyond; looked up each time */
    struct series *attempts[16];   /* of the SLI, by number of attempts */
    struct measured_parts parts;
    int64_t back_us; /* how long the last message of a worker was under way */
};

/* What the steps of a decision took, in nanoseconds; in its slot. */
struct measured_steps {
    int64_t pre_filter, filter, pre_score, score, post_filter;
};

/* Since the coordinator's begin. */
struct counters {
    uint64_t cycles, second_rounds, scheduled, unschedulable, errors, skipped, bound, bind_failed,
        restarted, late, batches, batch_pods, batches_cut, runs, run_pods, run_grouped_pods,
        run_risen_pods, runs_followed, picks, picked_pods, picks_cut, expired;
    uint64_t gangs_placed, gangs_failed, gangs_evicting, gangs_restarted;
    uint64_t decision_us, decision_us_max;
    uint64_t preempted;                /* victims named */
    uint64_t stood_aside;              /* while a claim was written; claim_waits.c */
    uint64_t asked_again, crowded_out; /* of extenders: answers that did not hold; extending.c */
};

#define COUNT(c, what, times) ((c)->count.what += (uint64_t)(times))

/* The decision of a slot begins: between the two is its PreFilter. */
void measure_begin(struct coordinator *c, struct slot *s, struct moment now);
void measure_prepared(struct coordinator *c, struct slot *s);
/* A worker's answer to the slot's request. */
void measure_answer(struct coordinator *c, struct slot *s, const struct map_result *result);
/* The same, for the trace of an attempt that has one. */
void measure_traced_answer(const struct coordinator *c, const struct slot *s, uint32_t shard,
                           const struct map_result *result);
/* A worker's answer about a run. */
void measure_run_answer(struct coordinator *c, const struct map_run_result *result);
/* The same about pods unlike each other. */
void measure_picks_answer(struct coordinator *c, const struct map_picks_result *result);
/* A decision has been made, in so many microseconds, whatever comes of it. */
void measure_took(struct coordinator *c, int64_t us);
/* The slot has its decision: once for each attempt that is not decided anew. */
void measure_decided(struct coordinator *c, const struct slot *s, struct moment now);
/* The same for a slot without a request of its own, decided with one that it is like, and chosen
 * from so many nodes; between them its steps are filled in. */
void measure_begin_alike(struct slot *s, struct moment now);
void measure_placed_alike(struct coordinator *c, const struct slot *s, int64_t feasible,
                          struct moment now);
/* Which plugins had nothing to do for such pods, as pre_filter_outcome and decision say it. */
struct measured_skips {
    uint64_t pre_filter, score;
};
/* A message of a worker came, which was so long under way. */
void measure_heard(struct coordinator *c, int64_t under_way_us);
/* The flight has a node, by the answer that came last: where its time went, for its bind. */
void measure_hops(const struct coordinator *c, struct flight *f, struct moment now);
/* Plugins were asked about pods of a run, decided like the first of them. */
void measure_asked_alike(struct coordinator *c, const struct slot *s, int64_t feasible,
                         const struct measured_skips *skips);
/* Profiles are about to change: tells what is kept by their order. */
void measure_flush(struct coordinator *c);
/* The attempt has ended. */
void measure_bound(struct coordinator *c, const struct flight *f);
void measure_failed(struct coordinator *c, const struct flight *f, bool unschedulable);
/* A plugin on the bus has answered, or should have: status is one of upstream's codes. */
void measure_plugin(const struct coordinator *c, const struct flight *f,
                    const struct bus_plugin *plugin, const char *point, const char *status);
/* What it said at Score was normalised here, which takes no time worth telling. */
void measure_normalised(const struct bus_plugin *plugin);
/* Reserve, or Permit, is over for the pod, for which it began then. */
void measure_extension_point(const struct coordinator *c, const struct flight *f, const char *point,
                             struct moment began, const char *status);
/* A pod has waited for permission since began. */
void measure_waited(const struct coordinator *c, struct moment began, const char *result);
/* Victims were chosen, and (asked) the binder was asked to evict them; how that ended. */
void measure_victims(struct coordinator *c, struct flight *f, const struct preemption *p,
                     bool asked);
void measure_evicted(struct coordinator *c, const struct flight *f, bool done);

#endif
