/* hints: which plugins' rejections an event may cure, for one pod. */
#ifndef QUEUE_HINTS_H
#define QUEUE_HINTS_H

#include "proto/base/moment.h"
#include "queue/event.h"
#include "queue/plugins.h"

struct mirror;
struct bus_wakes;
struct consults;
struct owners;
struct queue_plugin;

/* One question in ten is timed, for the metrics. Zero-initialise but for the clock. */
struct hint_timing {
    struct moment (*clock)(void); /* NULL: none is */
    uint32_t turn;
};

/* What is known about all pods of one profile. */
struct surroundings {
    const struct profile *profile; /* NULL: the default one */
    const struct owners *owners;   /* whose pods are spread by default; NULL: none are known */
    const struct mirror *mirror;   /* where ResourceClaims are looked up */
    bool obeys_gates;              /* the profile runs SchedulingGates before a pod is queued, */
    bool obeys_claims;             /* and DynamicResources */
    const struct queue_plugin **hooks; /* at PreEnqueue (plugin.h), besides those two, */
    uint32_t hook_count;
    const struct queue_plugin *sort; /* who sorts; NULL: PrioritySort; the same in all profiles, */
    bool gang_sort;                  /* or Coscheduling's */
    bool gangs;                      /* pods that name a PodGroup go with it (gang.h) */
    bool gangs_named;                /* its profile names Coscheduling */
    bool built_in_gangs;             /* with one of scheduling.k8s.io, too, */
    bool whole_groups;               /* and every attempt is one of all pods of such a group */
    bool uncounted_groups;           /* and none of them has a minimum, whatever its policy is */
    int64_t gang_wait_s;             /* permitWaitingTimeSeconds, */
    int64_t gang_backoff_s;          /* podGroupBackoffSeconds, 0 = off, */
    int64_t gang_reject_percentage;  /* and podGroupRejectPercentage */
    struct hint_timing *timing;      /* NULL: questions are not timed */
    /* Of the profile's plugins on the bus: whom it asks before a pod is queued, and what may help
     * those that they turned away; NULL: it has none. */
    const struct consults *consults;
    const struct bus_wakes *bus;
};

/* Plugins that ask to be told of such events at all. */
uint64_t hints_interest(const struct event *event);
/* Those among them for which the event makes another attempt of this pod worthwhile. */
uint64_t hints_helped(const struct event *event, const struct pod *pod,
                      const struct surroundings *around, uint64_t among);
/* Plugins for which no event in which another pod appears on a node does (hints_arrival), whatever
 * pod that is: known from this pod alone, because most have neither constraints nor terms. */
uint64_t hints_ignoring_arrivals(const struct pod *pod, const struct surroundings *around);
/* Such an event. */
bool hints_arrival(const struct event *event);
#endif
