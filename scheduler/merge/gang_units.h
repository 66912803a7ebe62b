/* gang_units: whom a group might evict that makes room as one, all over the cluster: pods of lower
 * priority, one by one, or a group that is only disrupted as a whole. */
#ifndef SCHEDULER_MERGE_GANG_UNITS_H
#define SCHEDULER_MERGE_GANG_UNITS_H

#include "scheduler/merge/preemption.h"

struct cache;
struct catalog;

/* Evicted together or not at all. What it points to lies in the arena. */
struct gang_unit {
    struct victim *pods;
    struct str *nodes; /* of each pod */
    uint32_t count, room;
    int64_t priority; /* its group's, for a pod that has one; in 1.36 only if all of it goes */
    int64_t started;  /* the earliest; the present for a pod that has not started */
    int rank;    /* a group that goes as a whole, or a pod of one, is spared before other pods: 1;
                    and a tree of groups before these: 2 */
    bool hidden; /* taken for gone */
    uint32_t broken; /* its pods that a PodDisruptionBudget would protect */
};

/* Set all up to `features` first: priority is the group's, the time is microseconds of the wall
 * clock, and the rest is borrowed for as long as it is used. */
struct gang_units {
    struct arena *arena;
    struct cache *cache;
    const struct catalog *catalog;
    int64_t priority, now_us;
    bool former; /* as 1.36 does with WorkloadAwarePreemption */
    struct features features;
    uint32_t count, room;
    struct gang_unit *at;
};

/* Finds all of lower priority, in no order. False: there are none. */
bool gang_units_find(struct gang_units *all);
/* Puts them in upstream's order: those that break a budget first, then the most important. */
void gang_units_rank(struct gang_units *all);
void gang_units_hide(struct gang_units *all, uint32_t unit);
void gang_units_show(struct gang_units *all, uint32_t unit);
/* Hidden, it would take more of one of these resources than the node has left. */
bool gang_units_overfills(const struct gang_units *all, uint32_t unit, struct str node,
                          const struct strs *resources);
/* All that are hidden are there again, and nothing is known of them any more. */
void gang_units_forget(struct gang_units *all);
/* The victims: all that are hidden, the most important first, and how many budgets they break. */
void gang_units_list_hidden(struct gang_units *all, struct preemption *p);

/* A pod of lower priority that a scheduler has evicted still terminates on this node. */
bool gang_units_go_from(const struct gang_units *all, struct str node);

#endif
