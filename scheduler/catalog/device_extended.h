/* device_extended: extended resources that DeviceClasses stand for. A pod that asks for such a one
 * gets, where its node has none of it, devices of the class instead: in one ResourceClaim that is
 * made for it when it is bound, the special claim, which differs from node to node. */
#ifndef SCHEDULER_CATALOG_DEVICE_EXTENDED_H
#define SCHEDULER_CATALOG_DEVICE_EXTENDED_H

#include "scheduler/catalog/catalog.h"

/* Stands in for the name of a claim that is not made yet, as upstream's texts have it. */
#define SPECIAL_CLAIM_NAME "<extended-resources>"

#define EXTENDED_MAX 64 /* a claim may ask for half as many */

/* What there is to say of a pod, whatever the node. */
struct extended_plan {
    bool wanted; /* a class stands for something that it asks for: there is a special claim */
    const struct resource_claim *stale; /* an earlier attempt has made it; borrowed */
    bool too_many;                      /* more than EXTENDED_MAX: fits nowhere */
    uint32_t count;                     /* of what a class may stand for: */
    struct extended_resource {
        struct str name;  /* borrowed from the pod */
        struct str class; /* borrowed from the catalog; empty: none stands for it */
    } * at;               /* from the arena */
};

struct extended_plan extended_plan_of(const struct catalog *catalog, const struct pod *pod,
                                      struct arena *a);

/* Whether the pod's plan is wanted, without making one. */
bool extended_is_wanted(const struct catalog *catalog, const struct pod *pod);

/* Into the findings: which resources classes stand for. Asked several times it does nothing more.
 */
void extended_note(const struct catalog *catalog, const struct pod *pod, struct findings *findings,
                   struct arena *a);

/* What devices are needed for on a node: bit i of the set is resource i of the plan. */
struct extended_need {
    uint64_t of;
    bool cannot; /* the node lacks a resource that no class stands for */
};

/* node is NULL for one that has nothing. */
struct extended_need extended_need_on(const struct extended_plan *plan, const struct node *node);

/* The special claim as it is to be on nodes with this need: requests and uses. Its allocation is
 * empty. Texts are borrowed from the pod and the catalog, the rest is from the arena. */
struct extended_claim extended_claim_for(const struct extended_plan *plan, const struct pod *pod,
                                         uint64_t need, struct arena *a);

#endif
