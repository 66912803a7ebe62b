/* forest: groups of scheduling.k8s.io as trees (feature gate CompositePodGroup): PodGroups are the
 * leaves, a CompositePodGroup has groups for children, and what is queued and tried is the root.
 *
 * A group may be known before its parent is, or for longer; its pods wait with it until all groups
 * above it are known (upstream's incompletePodGroupPods). */
#ifndef QUEUE_FOREST_FOREST_H
#define QUEUE_FOREST_FOREST_H

#include "queue/group.h"

/* Upstream's WorkloadMaxTreeDepth. Its PreEnqueue looks for the root of a leaf no further up than
 * so many CompositePodGroups, and lets nobody through where there is none by then. */
#define FOREST_DEPTH_MOST 4

/* The group that it is a child of is another one now; NULL: none. */
void forest_link(struct group *g, struct group *parent);
/* The group, or the last one above it. NULL: one of them is not there, or they are a circle. */
struct group *forest_root(struct group *g);

/* A root, or a group below it. */
struct forest_node {
    struct group *group;
    int64_t parent; /* its number in the list; -1: it is the root */
    uint32_t depth; /* groups above it */
    int64_t pods;   /* of a leaf: on nodes and pending, but for those that are being deleted */
};
struct forest_list {
    uint32_t count;
    struct forest_node *at;
};
/* The group, which nothing is above, and all below it, each behind its parent, children by age and
 * then name; from the arena. Counts no pods. */
struct forest_list forest_list(struct group *root, struct arena *a);

/* Every group in the tree has enough pods, or children that have, as far as its minimum goes (at
 * least one); and no pod's group is too deep. Upstream: GangScheduling's PreEnqueue. */
bool forest_is_complete(struct group *root);
/* Pods of the tree on nodes. */
int64_t forest_assigned(struct group *root);
/* What the scheduler is told of the tree; from the arena, texts are borrowed. */
void forest_describe(struct group *root, struct gang_attempt *attempt, struct arena *a);

#endif
