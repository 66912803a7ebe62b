/* devices: what there is for dynamic resource allocation (DRA): ResourceSlices in pools, what is
 * allocated of them, and DeviceClasses. allocate.h searches in it.
 *
 * What upstream's k8s.io/dynamic-resource-allocation/structured ("incubating", which the default
 * gates of 1.36 select) reads anew for each pod, kept up to date and indexed by node. All texts
 * that are handed in are copied. Quantities are texts as the API server wrote them. One thread at a
 * time.
 */
#ifndef DEVICES_H
#define DEVICES_H

#include "proto/base/buffer.h"
#include "proto/messages.h"

struct cel_attribute; /* scheduler/cel/cel.h */

/* ---- ResourceSlices ---- */

/* Which nodes reach a slice or a device: the first of these that is set decides. */
struct dra_reach {
    struct str node_name;
    bool all_nodes;
    bool has_terms;                /* nodeSelector is set */
    uint32_t term_count;           /* the API server allows exactly one */
    const struct node_term *terms; /* ORed */
};

struct dra_amount {
    struct str name;
    struct str value; /* a quantity */
};

/* A capacity's requestPolicy. Empty texts are absent fields. */
struct dra_policy {
    struct str standard;    /* default */
    bool has_range;         /* validRange is set */
    struct str least, most; /* validRange.min and .max */
    struct str step;
    uint32_t value_count; /* validValues, ascending */
    const struct str *values;
};

struct dra_capacity {
    struct str name;  /* "domain/id", or "id" of the driver's domain */
    struct str value; /* a quantity */
    bool has_policy;
    struct dra_policy policy;
};

/* A set of counters: of a slice's sharedCounters, or of what a device consumes of one. */
struct dra_counters {
    struct str set;
    uint32_t count;
    const struct dra_amount *at;
};

struct dra_taint {
    struct str key, value;
    struct str effect; /* NoSchedule and NoExecute keep requests away that do not tolerate it */
};

struct dra_device {
    struct str name;
    uint32_t attribute_count;
    const struct cel_attribute *attributes;
    uint32_t capacity_count;
    const struct dra_capacity *capacities;
    bool allow_multiple;    /* allowMultipleAllocations */
    bool binds_to_node;     /* bindsToNode */
    struct dra_reach reach; /* looked at only where the slice has per_device */
    uint32_t consumes_count;
    const struct dra_counters *consumes; /* consumesCounters */
    uint32_t taint_count;
    const struct dra_taint *taints;
    struct strs binding_conditions;
    struct strs binding_failure_conditions;
};

/* A ResourceSlice. Its name is its key. */
struct dra_slice {
    struct str name;
    struct str driver;
    struct str pool;
    int64_t generation;  /* spec.pool.generation */
    int64_t slice_count; /* spec.pool.resourceSliceCount: how many there are when all are there */
    struct dra_reach reach;
    bool per_device; /* perDeviceNodeSelection */
    uint32_t shared_count;
    const struct dra_counters *shared; /* sharedCounters */
    uint32_t device_count;
    const struct dra_device *devices;
};

/* ---- DeviceClasses ---- */

/* An opaque configuration, of a class, of a claim, or in an allocation's result. */
struct dra_config {
    struct strs requests;  /* "R" or "R/S"; a claim's with none is for all; a class's has none */
    bool from_class;       /* of results: source FromClass, else FromClaim */
    struct str driver;     /* opaque.driver */
    struct str parameters; /* opaque.parameters, as JSON */
    bool opaque;           /* opaque is set */
};

struct dra_class {
    struct str name;
    uint32_t selector_count;
    const struct str *selectors; /* CEL expressions; an empty one is of an unknown kind */
    uint32_t config_count;
    const struct dra_config *configs;
};

/* ---- what is allocated ---- */

/* One result of an allocation: of a claim's status, in flight, or assumed. */
struct dra_use {
    struct str driver, pool, device;
    bool admin_access; /* counts for nothing */
    bool shared;       /* it has a shareID */
    uint32_t consumed_count;
    const struct dra_amount *consumed; /* consumedCapacity, by qualified name */
};

/* ---- the store ---- */

struct devices;

struct devices *devices_new(void);
/* Frees all that is in it and nulls the caller's pointer. */
void devices_free(struct devices **devices);

/* Adds a slice, or puts it in the place of the one of that name. False, and nothing changes, when a
 * quantity in it is malformed; *error then names slice, device and field. */
bool devices_put_slice(struct devices *devices, const struct dra_slice *slice,
                       struct buffer *error);
/* False when there is none of that name. */
bool devices_remove_slice(struct devices *devices, struct str name);

/* Adds a class, or puts it in the place of the one of that name. */
void devices_put_class(struct devices *devices, const struct dra_class *class);
bool devices_remove_class(struct devices *devices, struct str name);
/* NULL when there is none. Lives until the class is put again or removed. */
const struct dra_class *devices_class(const struct devices *devices, struct str name);

/* A claim has got these, or gives them back. Both sides must be told the same: whoever takes keeps
 * the list to give it back. A claim that is seen twice (in flight, then in its status) is taken
 * once. Devices need not exist (any more): what is allocated outlives its slice. A malformed
 * quantity counts as zero. */
void devices_take(struct devices *devices, const struct dra_use *uses, uint32_t count);
void devices_give_back(struct devices *devices, const struct dra_use *uses, uint32_t count);

/* For status and tests: slices, pools, devices that there are, and devices that are in use. */
struct devices_totals {
    uint32_t slices, pools, devices, in_use, classes;
};
struct devices_totals devices_totals(const struct devices *devices);

/* False: to this node nothing matters but what any node without a name and labels would see, so
 * that a search answers for all such nodes alike. */
bool devices_node_differs(const struct devices *devices, struct str node);

/* Which slices a share of the nodes needs, so that allocating for its nodes comes out as with all:
 * pools are dealt with as a whole. Empty when the pool of that slice is for any node; else the one
 * node that all its slices name. Changes as slices come and go: ask again after each change of a
 * slice of the pool, and tell all slices of the pool anew when the answer is another one. */
struct str devices_pool_node(const struct devices *devices, struct str driver, struct str pool);

#endif
