/* group_claims: ResourceClaims of a PodGroup (DRAWorkloadResourceClaims). A claim that a pod names
 * as its PodGroup does is reserved for the group, once, and stays so while the group is there; it
 * may be made for the group, too. Pure: what follows from the objects. */
#ifndef SCHEDULER_CATALOG_GROUP_CLAIMS_H
#define SCHEDULER_CATALOG_GROUP_CLAIMS_H

#include "scheduler/catalog/catalog.h"

/* The pod is in a PodGroup of scheduling.k8s.io whose claims count. */
bool group_claims_count(const struct features *features, const struct pod *pod);
/* That PodGroup; NULL: they do not count, or it is not there. Borrowed from the catalog. */
const struct gang *group_claims_owner(const struct catalog *catalog,
                                      const struct features *features, const struct pod *pod);
/* The claim that the pod names is the group's (NULL: no). False as well where the group's claims
 * cannot be understood; then *malformed, if it is not NULL, is the one that is in the way. */
bool group_claims_bind(const struct gang *group, const struct device_claim *named,
                       const struct device_claim **malformed);
/* The claim was made for a group of the pod's group's name. */
bool group_claims_made_for(const struct pod *pod, const struct resource_claim *claim);
/* It is reserved for the pod, or for a group of the pod's group's name. */
bool group_claims_reserved(const struct pod *pod, const struct resource_claim *claim);
/* It has devices, and is reserved for nobody, for the pod alone, or (NULL: not) for the group
 * alone. */
bool group_claims_free(const struct resource_claim *claim, const struct pod *pod,
                       const struct gang *group);
/* The first claim of the group that has devices and is reserved for it. NULL: there is none, or it
 * cannot be told: then *error, from the arena, says why. */
const struct resource_claim *group_claims_held(const struct catalog *catalog,
                                               const struct gang *group, struct str *error,
                                               struct arena *a);

#endif
