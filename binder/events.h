/* events: what the binder tells the people who look at a pod: Scheduled, FailedScheduling,
 * Preempted, and LeaderElection on the lease; with upstream's deduplication into series. */
#ifndef BINDER_EVENTS_H
#define BINDER_EVENTS_H

#include "binder/lanes.h"
#include "proto/messages.h"

struct events_options {
    const char *hostname;  /* borrowed */
    uint32_t keys_max;     /* of the series cache; 0: 10,000 */
    uint32_t failures_max; /* waiting at most, so that Scheduled events find room; 0: 10,000 */
    uint64_t seed;         /* of the jitter */
    /* A 403 was seen, for the one warning about it. */
    void (*forbidden)(void *owner, const char *verb, const char *resource,
                      struct str namespace_name, const struct kube_response *response);
    void *owner;
};

struct events;

struct events *events_new(const struct events_options *options, struct lanes *lanes);
void events_free(struct events **events);

/* The pod is bound. */
void events_bound(struct events *e, struct instant at, const struct bind *bind);
/* The pod has devices that are not ready yet; repeated for the same version of a pod it becomes a
 * series. */
void events_waiting(struct events *e, struct instant at, const struct bind *bind);
/* An attempt failed; repeated for the same version of a pod it becomes a series. */
void events_failed(struct events *e, struct instant at, const struct pod_failed *failed);

/* What there is to say of a PodGroup. Strings are borrowed. */
struct events_group {
    const struct gang *group;
    struct str scheduler_name; /* empty: default-scheduler */
    const char *reason;        /* FailedScheduling, Scheduled, Timeout */
    struct str note;
    bool warning;
};
void events_group(struct events *e, struct instant at, const struct events_group *what);

/* A pod was made to go for another one. */
struct events_victim {
    struct str namespace_name, name, uid, resource_version;
    struct str scheduler_name; /* the preemptor's */
    struct str preemptor_uid, node_name;
    bool for_group; /* the preemptor is a PodGroup, and room is made in the cluster */
    bool for_tree;  /* and that is a CompositePodGroup */
    bool in_memory; /* it was not on the node yet: only its bind was ended */
};
void events_preempted(struct events *e, struct instant at, const struct events_victim *victim);

/* The lease that LeaderElection events are about. */
struct events_lease {
    struct str namespace_name, name, uid, resource_version;
};
void events_leader(struct events *e, struct instant at, const struct events_lease *lease,
                   struct str note);

/* Refreshes and ends series; returns when it wants to be called next. */
struct moment events_tick(struct events *e, struct instant at);
/* Forgets everything: leadership was lost, or the time to stop has come. */
void events_clear(struct events *e);

struct events_stats {
    uint32_t keys;
    uint64_t repeated; /* counted in a series instead of written singly */
    uint64_t evicted;  /* keys forgotten early because the cache was full */
    uint64_t dropped;  /* never written: lane full, leadership lost or refused by the server */
};
struct events_stats events_stats(const struct events *e);

#endif
