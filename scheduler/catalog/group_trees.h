/* group_trees: which CompositePodGroups are above a PodGroup of scheduling.k8s.io, as far as that
 * says how its pods are evicted (feature gate CompositePodGroup). Upstream: TraverseHierarchyUp. */
#ifndef SCHEDULER_CATALOG_GROUP_TREES_H
#define SCHEDULER_CATALOG_GROUP_TREES_H

#include "scheduler/catalog/catalog.h"

/* So many groups, the PodGroup among them, are looked at from a pod upwards. */
#define GROUP_TREES_DEPTH 4

/* The topmost group that is there without a gap, whose priority is that of its pods; NULL: the
 * PodGroup that is named is not there. Without the gate it is that PodGroup itself. */
const struct gang *group_trees_root(const struct catalog *catalog, const struct features *features,
                                    const struct gang *named);
/* The topmost of these that is only disrupted as a whole; NULL: none. */
const struct gang *group_trees_whole(const struct catalog *catalog, const struct features *features,
                                     const struct gang *named);
/* Is the PodGroup the one that is named, or below it? */
bool group_trees_is_below(const struct catalog *catalog, const struct gang *leaf,
                          const struct gang *top);

#endif
