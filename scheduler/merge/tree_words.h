/* tree_words: what kube-scheduler 1.37 says of the leaves of a tree of groups, and of their pods,
 * when a try has ended: upstream's submitPodGroupAlgorithmResult. It says nothing of groups above
 * them. */
#ifndef SCHEDULER_MERGE_TREE_WORDS_H
#define SCHEDULER_MERGE_TREE_WORDS_H

#include "scheduler/merge/gang_rules.h"
#include "scheduler/merge/tree_try.h"

/* Of a group. */
struct tree_words {
    struct str before, after; /* it was looked for victims */
    bool waits;               /* some are evicted, or go already */
};

/* By branch, from the try's arena: by what came of the first try, what came of looking for victims,
 * and their number. Results that are those of a group above are so from then on. */
struct tree_words *tree_words_find(struct tree_try *t, enum gang_room room, uint32_t victims);

struct tree_told {
    enum tree_code code;
    struct str message;
};
/* Of a leaf, by its number in the tree. */
struct tree_told tree_words_of_leaf(const struct tree_try *t, const struct tree_words *words,
                                    uint32_t branch);

/* Of a member that is not bound: how it ends. */
struct tree_member_told {
    bool error;
    struct str message;
    const struct decision *own; /* it is told why it has no place itself; NULL: it is not */
    bool clears;                /* its nomination */
};
struct tree_member_told tree_words_of_member(const struct tree_try *t,
                                             const struct tree_words *words, uint32_t member);

#endif
