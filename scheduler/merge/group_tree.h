/* group_tree: a tree of groups that is tried as one (CompositePodGroup, scheduling.k8s.io): who is
 * below whom, how far each group is, and what kube-scheduler says of it and of its pods.
 *
 * A group's status is upstream's fwk.Status: what it is in one word (err), and reasons behind that.
 */
#ifndef SCHEDULER_MERGE_GROUP_TREE_H
#define SCHEDULER_MERGE_GROUP_TREE_H

#include "proto/base/arena.h"
#include "proto/messages.h"

enum tree_code { TREE_unseen, TREE_success, TREE_waits, TREE_unschedulable, TREE_error };

/* Texts are the arena's, or constant. */
struct tree_status {
    enum tree_code code;
    struct str error;   /* empty: the reasons are all there is */
    struct str reasons; /* joined by commas */
};

/* A group of the tree. Those below it stand behind it without a gap, and so do its pods and those
 * of all leaves below it. */
struct tree_branch {
    struct gang group;
    int64_t parent;        /* number of its parent; -1: it is the root */
    uint32_t size;         /* itself and the groups below it */
    uint32_t first, count; /* its pods */
    uint32_t children;
    bool leaf; /* a PodGroup */
};

struct group_tree {
    uint32_t count;
    struct tree_branch *at;
};

/* What came of a group; zero: it was not looked at. */
struct tree_result {
    struct tree_status status;
    bool any;      /* a pod of it was placed, and is still meant to be */
    uint32_t seen; /* of a leaf's pods so many were looked at */
};

/* From the arena, with copies of all, and without pods. count 0: these are no tree. */
struct group_tree group_tree_read(const struct gang_attempt *attempt, struct arena *a);
/* The leaves have their pods, in their order: first and count. The groups above them have those. */
void group_tree_seat(struct group_tree *tree);
/* Upstream looks no deeper for pods of a group: the first that is too deep below it; 0: none. */
uint32_t group_tree_too_deep(const struct group_tree *tree, uint32_t top);

/* GangScheduling's PlacementFeasible: of its pods, or children, so many are placed, and so many
 * have not been looked at. */
struct tree_status group_tree_feasible(const struct tree_branch *branch, int64_t scheduled,
                                       int64_t remaining, struct arena *a);
struct tree_status group_tree_failed(struct str reasons);
/* As it is at the end of a try: who still waits has failed. */
struct tree_status group_tree_ended(const struct tree_status *status);
/* None of its placements is enough; first: what came of the first of them. */
struct tree_status group_tree_unplaced(const struct tree_status *first, uint32_t placements,
                                       struct arena *a);
struct tree_status group_tree_error(struct str error);
/* The status in words, and in the words that the one above it quotes. */
struct str group_tree_message(const struct tree_status *status, struct arena *a);
struct str group_tree_quoted(const struct tree_status *status, struct arena *a);

/* What is told of each group in the end: what comes of a group whose parent has failed is what came
 * of that. */
struct tree_ending {
    uint32_t owner;   /* the group whose status it is: it, or one above it */
    uint32_t sharers; /* how many groups have that one's status */
};
/* One for each branch, from the arena; results of those that are told of another's are cleared. */
struct tree_ending *group_tree_end(const struct group_tree *tree, struct tree_result *results,
                                   struct arena *a);
/* The status with what PodGroupPostFilter said. Upstream appends that to the status once for each
 * of those that share it, so it stands there as often. */
struct str group_tree_told(const struct tree_status *status, uint32_t sharers, struct str said,
                           struct arena *a);

#endif
