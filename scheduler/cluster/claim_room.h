/* claim_room: what a pod comes to on a node whose own resources its devices take of, as upstream's
 * DynamicResources counts it (DRANodeAllocatableResources). Pure. */
#ifndef SCHEDULER_CLUSTER_CLAIM_ROOM_H
#define SCHEDULER_CLUSTER_CLAIM_ROOM_H

#include "scheduler/devices/room.h"

/* A claim of the pod, and what it has been given, or is to be. */
struct room_claim {
    struct str name; /* in the pod's namespace */
    uint32_t use_count;
    const struct dra_use *uses;
};

struct room_question {
    const struct devices *devices;
    const struct features *features;
    const struct pod *pod;
    const struct dra_node *node;
    uint32_t count;
    const struct room_claim *claims; /* of a claim that is named twice the last one counts */
};

/* What comes out. Everything is from the arena, or borrowed from the question. */
struct pod_room {
    bool fits;
    bool fails;        /* it does not, and the filter fails, with the reason */
    struct str reason; /* why not */
    uint32_t count;    /* claims that take something, by name */
    struct claim_room *claims;
    bool counts; /* devices say something of it, so that it is looked at: */
    uint32_t demand_count;
    struct quantity *demand; /* what there must be room for */
};
struct pod_room claim_room_of(const struct room_question *q, struct arena *a);

/* What the pod counts for on its node with these claims, which may be none: usage,
 * usage_score_cpu and usage_score_memory. The pod has amounts. */
void claim_room_usage(const struct features *features, struct pod *pod,
                      const struct claim_room *claims, uint32_t count, struct arena *a);

#endif
