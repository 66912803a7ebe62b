/* walk: over how many nodes a pod is decided, and which, where percentageOfNodesToScore says so;
 * and whose turn it is among equal ones.
 *
 * kube-scheduler walks the nodes round-robin over their zones, each pod from where the last one's
 * walk ended, and stops at the first feasible node beyond those that it wants. Here every node is
 * filtered all the same; what lies behind the end of the walk is left out before scores are
 * compared. */
#ifndef SCHEDULER_MERGE_WALK_H
#define SCHEDULER_MERGE_WALK_H

#include "proto/base/arena.h"
#include "proto/messages.h"

struct listed_nodes {
    uint32_t count;
    struct listed_node *at; /* sorted by node */
};

struct walk {
    bool ends;          /* false: it goes over all nodes */
    bool first;         /* nothing is scored, so that the first feasible node is enough */
    int64_t percentage; /* of the nodes, 1 to 100; 0: as upstream has it by their number */
    int64_t start;      /* the place of its first node */
    int64_t nodes;      /* how many places there are: all nodes of the cluster */
    /* A node's place in the order of the walk, below nodes. */
    uint32_t (*place)(const void *context, struct str node);
    const void *context;
};

/* How many feasible nodes are looked for among so many: upstream's numFeasibleNodesToFind. */
int64_t walk_wanted(const struct walk *w, int64_t nodes);
/* Of the nodes with that total, of which there is one at least: the one whose turn it is among
 * them, in the order of the walk. */
struct str walk_turn(const struct walk *w, const struct listed_nodes *nodes, int64_t total,
                     uint64_t turn, struct arena *a);
/* Leaves those of the feasible nodes, which are sorted and of so many that were filtered, that the
 * walk comes to before it ends, sorted again. Returns over how many nodes it went. */
int64_t walk_cut(const struct walk *w, int64_t filtered, struct strs *feasible, struct arena *a);

#endif
