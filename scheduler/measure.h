/* measure: what the coordinator counts about attempts, with upstream's metrics (metrics.def). An
 * attempt is counted when it ends: with the bind that the API server confirmed, or with the failure
 * that the pod's owner is told of; one that is decided anew counts once. */
#ifndef SCHEDULER_MEASURE_H
#define SCHEDULER_MEASURE_H

#include "proto/base/moment.h"
#include "proto/messages.h"

struct coordinator;
struct flight;
struct series;
struct slot;

#define MEASURED_PROFILES 16 /* more are counted, too, only slower */
#define MEASURED_POINTS   8
#define MEASURED_CODES    4

/* The series of one profile, looked up once. */
struct measured_profile {
    struct series *points[MEASURED_POINTS][MEASURED_CODES];
    struct series *results[3], *latencies[3];
};

struct measure {
    struct measured_profile profiles[MEASURED_PROFILES];
    struct measured_profile spare; /* of the profiles beyond; looked up each time */
    struct series *attempts[16];   /* of the SLI, by number of attempts */
    struct moment (*clock)(void);  /* NULL: none, and what happens inside a call takes no time */
};

/* What the steps of a decision took, in nanoseconds; in its slot. */
struct measured_steps {
    int64_t pre_filter, filter, score, post_filter;
};

/* The decision of a slot begins: between the two is its PreFilter. */
void measure_begin(struct coordinator *c, struct slot *s, struct moment now);
void measure_prepared(struct coordinator *c, struct slot *s);
/* A worker's answer to the slot's request. */
void measure_answer(struct slot *s, const struct map_result *result);
/* The slot has its decision: once for each attempt that is not decided anew. */
void measure_decided(struct coordinator *c, const struct slot *s, struct moment now);
/* The same for a slot without a request of its own, decided with one that it is like, and chosen
 * from so many nodes; between them its steps are filled in. */
void measure_begin_alike(struct slot *s, struct moment now);
void measure_placed_alike(struct coordinator *c, const struct slot *s, int64_t feasible,
                          struct moment now);
/* The attempt has ended. */
void measure_bound(struct coordinator *c, const struct flight *f);
void measure_failed(struct coordinator *c, const struct flight *f, bool unschedulable);
/* A plugin on the bus has answered, or should have: status is Success, Unschedulable, Wait or
 * Error.
 */
void measure_plugin(const struct coordinator *c, const struct flight *f,
                    const struct bus_plugin *plugin, const char *point, const char *status);
/* Permit is over for the pod, since it was assumed at began. */
void measure_permit(const struct coordinator *c, const struct flight *f, struct moment began,
                    const char *status);
/* A pod has waited for permission since began. */
void measure_waited(const struct coordinator *c, struct moment began, const char *result);
/* Victims were chosen, and (asked) the binder was asked to evict them; how that ended. */
void measure_victims(struct coordinator *c, struct flight *f, uint32_t victims, bool asked);
void measure_evicted(struct coordinator *c, const struct flight *f, bool done);

#endif
