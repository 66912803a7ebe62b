/* gang_tree: a transaction whose group is a tree of groups (CompositePodGroup): what is tried when
 * is merge/tree_try's; here is what that does to flights and to the cache. */
#ifndef SCHEDULER_COORDINATOR_GANG_TREE_H
#define SCHEDULER_COORDINATOR_GANG_TREE_H

#include "scheduler/coordinator/coordination.h"
#include "scheduler/coordinator/gang_try.h"

/* Nobody waits any more: the tree is tried step by step. */
void gang_tree_begin(struct coordinator *c, struct gang_try *g);
/* The same once more, with others gone from the nodes. */
void gang_tree_again(struct coordinator *c, struct gang_try *g);
/* False: all was tried. */
bool gang_tree_goes_on(struct coordinator *c, struct gang_try *g);
/* With everybody gone who may be evicted there is room: members that have a place are there, those
 * of groups that failed too, as upstream nominates them; others have none. */
void gang_tree_keep_cleared(struct coordinator *c, struct gang_try *g);
/* Who was nominated elsewhere for a while is nominated as before. */
void gang_tree_restore(struct gang_try *g);

#endif
