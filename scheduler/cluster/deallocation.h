/* deallocation: what upstream's PostFilter of DynamicResources takes back: the devices of a claim
 * that is in the pod's way and that nobody else uses. Pure; who writes it is releasing.c. */
#ifndef SCHEDULER_CLUSTER_DEALLOCATION_H
#define SCHEDULER_CLUSTER_DEALLOCATION_H

#include "scheduler/catalog/catalog.h"

/* A claim to be deallocated. An empty name: none. */
struct deallocation {
    struct str claim, uid;
    int64_t version;      /* that it was decided on */
    bool deletes;         /* it goes altogether: an earlier attempt has made it for extended
                             resources */
    struct str group_uid; /* it may be reserved for this PodGroup; empty: for the pod alone */
    bool unreserves;      /* no more than that reservation goes */
    bool pending; /* its devices were to be another member's, in this attempt: the API server
                     knows of none, and nothing is written */
};

/* True when some claim of the pod that is not available everywhere, as the findings say, could be
 * deallocated: it is worth asking where it is in the way. */
bool deallocation_may_help(const struct catalog *catalog, const struct pod *pod,
                           const struct gang *group, const struct findings *findings);

struct deallocation_question {
    const struct catalog *catalog;
    const struct pod *pod;
    const struct gang *group;      /* the pod's, whose claims count; NULL: none do */
    struct strs unavailable;       /* names of claims that some node cannot use */
    enum tie_break_rule tie_break; /* first: the first in the pod's order; else dice, as upstream */
    int64_t seed;
};

/* The special claim that an earlier attempt has left, or the one that is deallocated; its strings
 * are in the arena. */
struct deallocation deallocation_pick(const struct deallocation_question *q, struct arena *a);
/* Of those that are in the way the one that its group could do without, besides what was picked:
 * it is reserved for the group, or for nobody, or another of its pods was to have it. */
struct deallocation deallocation_pick_for_group(const struct deallocation_question *q,
                                                const struct deallocation *picked, struct arena *a);
/* The group's reservation of a claim that has devices; none, and *error, from the arena, where that
 * cannot be told. */
struct deallocation deallocation_unreserve(const struct catalog *catalog, const struct gang *group,
                                           struct str *error, struct arena *a);

#endif
