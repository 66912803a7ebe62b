/* room: what a claim's devices take of the own resources of the node that they are given on, as
 * upstream's DynamicResources writes it into the status of the pod (DRANodeAllocatableResources).
 *
 * In 1.36 a device maps amounts that are added up; since 1.37 it may cost something on top, for
 * each pod and for each container. */
#ifndef DEVICES_ROOM_H
#define DEVICES_ROOM_H

#include "scheduler/devices/allocate.h"

/* A claim with what it has been given, or is to be. */
struct dra_room_question {
    const struct devices *devices;
    int64_t release;             /* 36 or 37 */
    const struct dra_node *node; /* NULL: any */
    struct str namespace_name, claim;
    uint32_t use_count;
    const struct dra_use *uses; /* its devices, in their order */
};

enum dra_room {
    DRA_ROOM_none,  /* they say nothing of it */
    DRA_ROOM_empty, /* they do, and take nothing all the same */
    DRA_ROOM_some,  /* and *out says how much; its containers are left out */
    DRA_ROOM_error, /* upstream: Error with that text */
};

/* Fills *out from the arena: texts are borrowed from the question, or in the arena as is *error. */
enum dra_room dra_room_of(const struct dra_room_question *q, struct claim_room *out,
                          struct arena *a, struct str *error);
/* One of them stands for some of a resource of any node. */
bool dra_room_maps(const struct dra_room_question *q);

#endif
