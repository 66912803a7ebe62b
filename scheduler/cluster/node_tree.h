/* node_tree: the order in which nodes are walked: round-robin over their zones. */
#ifndef SCHEDULER_CLUSTER_NODE_TREE_H
#define SCHEDULER_CLUSTER_NODE_TREE_H

#include "proto/messages.h"

struct node_tree;
struct zone;

/* Embed one in what is ordered. */
struct tree_link {
    struct zone *zone; /* NULL: not in the tree */
    struct tree_link *before, *behind;
};

struct node_tree *node_tree_new(void);
void node_tree_free(struct node_tree **t);
/* Puts the node behind the others of its zone; one whose zone did not change stays where it is. */
void node_tree_set(struct node_tree *t, struct tree_link *link, const struct node *node);
void node_tree_remove(struct node_tree *t, struct tree_link *link);
uint32_t node_tree_count(const struct node_tree *t);
/* All links: the first of each zone, the second of each, …; out has room for node_tree_count. */
void node_tree_order(const struct node_tree *t, struct tree_link **out);

#endif
