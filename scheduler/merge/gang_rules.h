/* gang_rules: what kube-scheduler 1.37 asks of a group of scheduling.k8s.io before it tries it, and
 * the words in which it says that the group has no room. 1.36 asks nothing, and evicts for such
 * pods as for any; with WorkloadAwarePreemption for the group. */
#ifndef SCHEDULER_MERGE_GANG_RULES_H
#define SCHEDULER_MERGE_GANG_RULES_H

#include "proto/base/arena.h"
#include "scheduler/cluster/cache.h"
#include "scheduler/rules/framework.h"

/* The pod is decided as one of such a group, by the rules of 1.37. */
bool gang_rules_hold(const struct framework *framework, const struct pod *pod);
/* The pod evicts nobody by itself, as in 1.36 with WorkloadAwarePreemption: its group does. */
bool gang_rules_spare(const struct framework *framework, const struct pod *pod);
/* Its group makes room as one, by the rules of either. */
bool gang_rules_as_one(const struct framework *framework, const struct pod *pod);

/* Pods of one group, looked at one after the other. */
struct gang_rules {
    const struct framework *framework;
    const struct gang *group;
    struct arena *arena;
    struct str policy; /* to evict others: the group's, or that of its first pod; empty: none yet */
    struct str fault;  /* of the first pod that is not like its group; empty: there is none */
};
struct gang_rules gang_rules_begin(const struct framework *framework, const struct gang *group,
                                   struct arena *a);
/* A pod that is to be placed. */
void gang_rules_look(struct gang_rules *rules, const struct pod *pod);
/* Its pods on nodes; of these the policy is not known any more. */
void gang_rules_look_at_placed(struct gang_rules *rules, const struct cache *cache);
/* The same of a leaf of the tree that the group is. */
void gang_rules_look_at_leaf(struct gang_rules *rules, const struct cache *cache,
                             const struct gang *leaf);

/* Why so few of a group are no group: with `scheduled` of it on nodes or placed it can have no more
 * than one less than it needs. */
struct str gang_rules_unplaced(int64_t min_member, int64_t scheduled, struct arena *a);

enum gang_room {
    GANG_ROOM_no_help,
    GANG_ROOM_nobody,      /* there is nobody of lower priority */
    GANG_ROOM_never,       /* it may not evict */
    GANG_ROOM_constrained, /* nor in 1.36, where it has to be within one domain */
    GANG_ROOM_going,       /* who was evicted for it is still there */
    GANG_ROOM_found
};
/* What became of the group's ResourceClaims. */
enum gang_claims_end { GANG_CLAIMS_kept, GANG_CLAIMS_deallocated, GANG_CLAIMS_unreserved };
/* What came of looking for pods that could go. */
struct gang_room_found {
    enum gang_claims_end claims;
    enum gang_room room;
    uint32_t victims;
    struct str helpless; /* what is said of the group without them, where that does not help */
    bool constrained;    /* it has to be within one domain */
};
/* What the PodGroupPostFilter plugins say of that. */
struct str gang_rules_room(const struct framework *framework, const struct gang_room_found *found,
                           struct arena *a);

#endif
