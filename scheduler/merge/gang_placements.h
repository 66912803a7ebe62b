/* gang_placements: the domains that a group of scheduling.k8s.io is tried in, where all its pods
 * have to be in one (schedulingConstraints, with TopologyAwareWorkloadScheduling): which there are,
 * what each is worth, and what is said of them. */
#ifndef SCHEDULER_MERGE_GANG_PLACEMENTS_H
#define SCHEDULER_MERGE_GANG_PLACEMENTS_H

#include "proto/base/random.h"
#include "scheduler/cluster/cache.h"
#include "scheduler/rules/framework.h"

struct gang_placement {
    struct str domain;
    struct strs nodes; /* sorted; all that there are */
    bool fits;         /* the group has enough places there */
    int64_t pods;      /* of the group on nodes with those that were placed there */
    int64_t filling;   /* how full its nodes are then, of 100 */
};

/* What it points to lies in the arena that it was found with. */
struct gang_placements {
    bool counted; /* what is said of a group counts them, also where it is free to go anywhere */
    bool constrained; /* it is not */
    bool none;        /* and no domain is left for it */
    struct str fault; /* why it is not tried; empty: it is */
    uint32_t count;   /* of domains; 0: it is free */
    struct gang_placement *at;
    uint32_t current;  /* the one that it is tried in */
    bool chosen;       /* which is the one that it gets, or it is free */
    struct strs asked; /* resources that its pods there ask for */
};

/* Where a group may go. */
struct placement_question {
    const struct gang *group; /* its constraint counts; a tree's has those that follow: */
    const struct gang *const
        *leaves; /* whose pods on nodes are its own; NULL: it has them itself */
    uint32_t leaf_count;
    const struct strs *within; /* nodes of the domain that the groups above it are in; NULL: all */
};
/* In the order of their values. With pods on nodes only the one that these are in. */
struct gang_placements gang_placements_find(const struct framework *framework,
                                            const struct placement_question *question,
                                            struct cache *cache, struct arena *a);
/* The try of the current one has ended, with its pods still there. */
void gang_placements_note(struct gang_placements *p, const struct framework *framework,
                          const struct cache *cache, int64_t pods, bool fits);
/* The best of those that fit, one of several by these dice; count: none does. */
uint32_t gang_placements_best(const struct gang_placements *p, const struct framework *framework,
                              struct random dice);
/* What is said of a group that has room in none, of whose try in the first one that was said. */
struct str gang_placements_words(const struct gang_placements *p, int64_t release, struct str first,
                                 struct arena *a);

#endif
