/* device_room: what a pod's devices take of a node's own resources, for whoever searches devices
 * (DRANodeAllocatableResources). Without that gate, or without such devices, it does nothing. */
#ifndef SCHEDULER_CLUSTER_DEVICE_ROOM_H
#define SCHEDULER_CLUSTER_DEVICE_ROOM_H

#include "scheduler/catalog/catalog.h"
#include "scheduler/cluster/claim_room.h"

struct device_room {
    const struct devices *store;
    const struct features *features;
    const struct pod *pod;
    bool on;
    bool each_node; /* claims that have been allocated count, so that no two nodes are alike */
    uint32_t count; /* of those, in 1.37 */
    const struct resource_claim **claims;
    struct room_claim *given; /* what they have been given */
    bool *shared;             /* by claim: another pod has it, and it cannot be shared */
    struct arena *arena;
};

/* Until the pod is done with, the catalog must not change. */
struct device_room device_room_of(const struct catalog *catalog, const struct features *features,
                                  const struct pod *pod, struct arena *a);

/* The devices that the claim has been given are for that node as well. */
bool device_claim_reaches(const struct resource_claim *claim, const struct node *node);

/* The node declares that it can do without operations of a device's driver. */
bool device_node_skips(const struct node *node);
/* The claim has a device that is only for such nodes, as 1.37 asks with or without a gate. */
bool device_claim_skips(const struct features *features, const struct resource_claim *claim);

/* Why the node is refused before devices are looked for; empty: it is not. */
struct str device_room_refuses(const struct device_room *r, const struct node *node);

/* What has been found for the node: the searched claims by name, the pod's first, as many as
 * names. search is NULL: nothing was to be found. */
struct room_search {
    const struct dra_search *search;
    const struct dra_node *node;
    struct strs names;
};
struct pod_room device_room_on(const struct device_room *r, const struct room_search *found,
                               struct arena *a);

#endif
