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
struct dra_node;      /* allocate.h */

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
    struct strs groups; /* compatibilityGroups, of what a device consumes */
};

struct dra_taint {
    struct str key, value;
    struct str effect; /* NoSchedule and NoExecute keep requests away that do not tolerate it */
};

/* What a device takes of a resource of its node. Empty texts are absent fields. */
struct dra_node_resource {
    struct str name;
    bool maps;               /* it stands for some of the resource: */
    struct str capacity_key; /* for what is consumed of this capacity; empty: for the device */
    struct str multiplier;   /* a quantity: for each unit of it, or for the device */
    bool has_overhead;       /* it costs some on top: */
    struct str per_pod, per_container;
    bool old; /* it is for 1.36, and the others are not */
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
    uint32_t node_resource_count;
    const struct dra_node_resource *node_resources; /* nodeAllocatableResources */
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
    struct strs skips; /* skipNodeOperations */
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

/* ---- DeviceTaintRules ---- */

/* A taint of all devices that it selects. */
struct dra_taint_rule {
    struct str name;
    bool has_selector;               /* else it selects: in 1.36 all devices, since then none */
    struct str driver, pool, device; /* empty: any */
    struct dra_taint taint;
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

/* Adds a rule, or puts it in the place of the one of that name. */
void devices_put_taint_rule(struct devices *devices, const struct dra_taint_rule *rule);
void devices_remove_taint_rule(struct devices *devices, struct str name);

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
bool devices_node_differs(const struct devices *devices, const struct dra_node *node);
/* False: a node's name alone decides whether it differs. */
bool devices_labels_matter(const struct devices *devices);

/* False: of a node's labels nothing hangs in a search, either. */
bool devices_select_by_labels(const struct devices *devices);

/* False: no device takes anything of its node's own resources. */
bool devices_take_of_nodes(const struct devices *devices);
/* False: no slice has devices that only some nodes can do with (skipNodeOperations). */
bool devices_skip_operations(const struct devices *devices);

/* Has grown since an earlier call when a search on that node may come to something else than it did
 * then; as long as neither labels nor a node's operations matter (devices_select_by_labels,
 * devices_skip_operations). */
uint64_t devices_changed(const struct devices *devices, struct str node);

/* Devices that a node reaches. */
struct dra_stock {
    int64_t there; /* of a class, whatever becomes of their pools */
    int64_t used;  /* of those: allocated, as a whole or in part */
};

/* What scores by an extended resource count, as upstream's NodeResourcesFit does it. None of both
 * where there is no such class, or where a selector is in error. */
struct dra_stock devices_stock(struct devices *devices, const struct features *features,
                               struct str class_name, const struct dra_node *node);

/* Which slices a share of the nodes needs, so that allocating for its nodes comes out as with all:
 * pools are dealt with as a whole. Empty when the pool of that slice is for any node; else the one
 * node that all its slices name. Changes as slices come and go: ask again after each change of a
 * slice of the pool, and tell all slices of the pool anew when the answer is another one. */
struct str devices_pool_node(const struct devices *devices, struct str driver, struct str pool);

#endif
