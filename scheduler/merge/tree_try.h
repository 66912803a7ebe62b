/* tree_try: a tree of groups that is tried as one: the steps of kube-scheduler 1.37's
 * podGroupSchedulingRecursiveAlgorithm, each up to where pods have to be decided.
 *
 * Pods are members, by number, in the order of the tree's leaves. Who decides them does for it what
 * struct tree_hands says; between two steps members of one leaf at most wait to be decided. */
#ifndef SCHEDULER_MERGE_TREE_TRY_H
#define SCHEDULER_MERGE_TREE_TRY_H

#include "scheduler/merge/gang_placements.h"
#include "scheduler/merge/group_tree.h"
#include "scheduler/merge/reduce.h"

/* How a member is just now. */
struct tree_pod {
    bool there;                 /* false: it has left */
    bool placed;                /* it is assumed on `node` */
    const struct decision *why; /* it has no place; NULL: it has one, or was not decided */
    struct str node;
};

/* What came of a pod in the try that its group's result is of. */
struct tree_member {
    const struct decision *why; /* NULL: it has a place; */
    struct str node;            /* empty: it was not looked at */
};

/* Of all members. */
struct tree_counts {
    uint32_t waiting, placed;
};

/* Context is what the try was made with; what is returned lies in the try's arena. */
struct tree_hands {
    struct tree_counts (*count)(const void *context);
    struct tree_pod (*look)(const void *context, uint32_t member);
    /* These members, who are placed nowhere, are the next to be decided. */
    void (*line_up)(void *context, uint32_t first, uint32_t count);
    /* Who still waits is not decided. */
    void (*pass)(void *context);
    /* Those of them who are placed are not any more. */
    void (*undo)(void *context, uint32_t first, uint32_t count);
    /* These, where `members` names a node for them and `wanted` is set, are placed there: at once,
     * or when they have been decided once more. False: they cannot be any more. */
    bool (*place)(void *context, const struct tree_member *members, const bool *wanted);
    /* They were; or somebody was not, and false. */
    bool (*placed)(void *context, const struct tree_member *members);
    /* Resources that those of them who are placed ask for. */
    struct strs (*asked)(void *context, uint32_t first, uint32_t count);
    /* A domain was tried, so long, for a leaf. */
    void (*measure)(void *context, const struct gang_placements *p, bool fits, int64_t ns);
};

struct tree_frame;

/* Set first what is above the line; it lies in the arena with all that it points to, but for what
 * is borrowed: framework, cache, hands. */
struct tree_try {
    struct group_tree tree;
    struct arena *arena;
    const struct framework *framework;
    struct cache *cache;
    const struct tree_hands *hands;
    void *context;
    struct random dice;
    uint32_t count; /* members, also those that name no leaf */
    /* ---- */
    struct moment now;
    struct tree_result *results; /* by branch, */
    struct tree_member *members; /* and by member: of the try that is under way */
    struct tree_result *said;    /* of the first one, with nobody gone; NULL: it has not ended */
    struct tree_member *said_of;
    struct tree_frame *frames;
    uint32_t depth; /* frames, from the root to the group that is tried; 0: all was tried */
    bool lost;      /* the world has changed: it has to begin anew */
};

/* The tree of the attempt, whose members are still to be added, leaf by leaf. NULL: it is none. */
struct tree_try *tree_try_new(const struct gang_attempt *attempt, struct arena *a);
/* The first try begins, of all that is set: nobody waits, and nobody is placed. */
void tree_try_begin(struct tree_try *t);
/* Another one, with others gone from the nodes; what came of the first is still known. */
void tree_try_again(struct tree_try *t);
/* Nobody is left to be decided in the leaf, or it does not matter any more. */
bool tree_try_rests(const struct tree_try *t);
/* The next step. False: all was tried; who is placed is so for good. True: somebody is to be
 * decided, or all is lost. */
bool tree_try_goes_on(struct tree_try *t, struct moment now);
/* All was tried, and the root has what it needs. */
bool tree_try_is_enough(const struct tree_try *t);
/* Nodes that members may go to just now; NULL: any. */
const struct strs *tree_try_nodes(const struct tree_try *t);

#endif
