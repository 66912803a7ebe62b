/* allocate: finds devices for the claims of one pod on one node after the other.
 *
 *   search = dra_search_new(devices, features, claims, count)  once a pod (and set of claims)
 *   dra_search_node(search, &node, &limits, &answer)           for each node
 *   dra_search_result(search, i, arena, &allocation)           behind DRA_ALLOCATED, claim i
 *   dra_search_free(&search)
 *
 * Mirrors Allocator.Allocate of upstream's structured allocator, "incubating", or "stable" where
 * the gates select that: the first solution of the same depth-first search, in the same number of
 * steps. The answer depends on nothing but the store, the claims and the node, so whoever has the
 * same slices and uses finds the same devices again. The store must not change while a search
 * lives; several searches of one store may live, one is asked at a time. */
#ifndef ALLOCATE_H
#define ALLOCATE_H

#include "proto/base/arena.h"
#include "scheduler/devices/devices.h"

/* AllocationResultsMaxSize: devices of a claim. */
#define DRA_RESULTS_MAX 32
/* FirstAvailableDeviceRequestMaxSize: subrequests of a request; also what the first one scores. */
#define DRA_SUBREQUESTS_MAX 8

/* ---- the question; everything is borrowed until the search is freed ---- */

struct dra_toleration {
    struct str key, operator_name, value, effect;
    bool has_seconds;
    int64_t seconds;
};

/* An ExactDeviceRequest, or a DeviceSubRequest, which has a name and no admin_access. */
/* derivedAttributes: what constraints see of a device under that name. */
struct dra_derived {
    struct str name;
    struct str expression; /* CEL */
};

struct dra_choice {
    struct str name; /* of a subrequest; empty in an Exactly request */
    struct str class_name;
    uint32_t selector_count;
    const struct str *selectors; /* CEL expressions; an empty one is of an unknown kind */
    struct str mode;             /* ExactCount or All */
    int64_t count;               /* of ExactCount */
    bool admin_access;           /* adminAccess is set and true */
    uint32_t toleration_count;
    const struct dra_toleration *tolerations;
    uint32_t capacity_count;
    const struct dra_amount *capacities; /* capacity.requests, by qualified name */
    uint32_t derived_count;
    const struct dra_derived *derived;
};

struct dra_request {
    struct str name;
    bool first_available; /* choices are of firstAvailable; else the one choice is exactly */
    uint32_t choice_count;
    const struct dra_choice *choices;
};

struct dra_constraint {
    struct strs requests;          /* "R" or "R/S"; none means all */
    struct str match_attribute;    /* "domain/id"; empty: not set */
    struct str distinct_attribute; /* "domain/id"; empty: not set */
};

/* A ResourceClaim that is to be allocated. */
struct dra_claim {
    struct str namespace_name, name;
    uint32_t request_count;
    const struct dra_request *requests;
    uint32_t constraint_count;
    const struct dra_constraint *constraints;
    uint32_t config_count;
    const struct dra_config *configs;
};

struct dra_search;

/* The same claims for all nodes. Where nodes differ in the claims that must be allocated (extended
 * resources), there is a search for each set. */
struct dra_search *dra_search_new(struct devices *devices, const struct features *features,
                                  const struct dra_claim *claims, uint32_t count);
void dra_search_free(struct dra_search **search);

/* ---- a node ---- */

struct dra_node {
    struct str name;
    /* The value of a label; false when the node has no such label. */
    bool (*label)(const void *context, struct str key, struct str *value);
    const void *context;
    bool skips; /* it declares the feature DRAOptionalNodeOperations */
};

/* When to give up. */
struct dra_limits {
    uint64_t steps;                       /* 0: any number; upstream's allocateOne is a step */
    bool (*expired)(const void *context); /* asked now and then; NULL: never */
    const void *context;
};

enum dra_outcome {
    DRA_NOTHING,       /* "cannot allocate all claims": UnschedulableAndUnresolvable */
    DRA_ALLOCATED,     /* dra_search_result tells what, until the search is asked again */
    DRA_INVALID_POOLS, /* the same as nothing, with the text of the answer as the reason */
    DRA_EXPIRED,       /* upstream: Error "node N: timed out trying to allocate devices" */
    DRA_ERROR,         /* Error with the text of the answer; upstream ends the cycle with it */
};

struct dra_answer {
    struct str text; /* in the search's memory until it is asked again */
    int64_t score; /* DRA_ALLOCATED: over firstAvailable requests, 8 less the index of the choice */
    uint64_t steps; /* how many it took */
};

/* limits may be NULL. *answer is always filled in. The node is borrowed until the search is asked
 * again. */
enum dra_outcome dra_search_node(struct dra_search *search, const struct dra_node *node,
                                 const struct dra_limits *limits, struct dra_answer *answer);

/* ---- what a claim has got ---- */

/* A DeviceRequestAllocationResult. A shareID is random and therefore made by who writes it. */
struct dra_result {
    struct str request; /* "R" or "R/S" */
    struct dra_use use;
    uint32_t toleration_count;
    const struct dra_toleration *tolerations;
    struct strs binding_conditions;
    struct strs binding_failure_conditions;
    struct strs skips; /* skipNodeOperations of its slice */
};

/* An AllocationResult. */
struct dra_allocation {
    uint32_t result_count;
    const struct dra_result *results;
    uint32_t config_count;
    const struct dra_config *configs;
    bool has_selector;         /* else it is available everywhere */
    struct node_term selector; /* the one term of its nodeSelector */
};

/* Behind DRA_ALLOCATED, for claim 0 <= i < count: fills *out in the arena; texts are borrowed from
 * the store and the question. False with *error (in the arena) where upstream says `create
 * NodeSelector for claim ...`. */
bool dra_search_result(const struct dra_search *search, uint32_t i, struct arena *arena,
                       struct dra_allocation *out, struct str *error);

#endif
