/* node_selector: node selector terms, turned into atoms once a cycle and matched against nodes. */
#ifndef SCHEDULER_NODE_SELECTOR_H
#define SCHEDULER_NODE_SELECTOR_H

#include "scheduler/plugin.h"

struct node_matcher;

/* NULL for a term without requirements, which selects nothing. A malformed term gives a matcher
 * that matches nothing. */
struct node_matcher *node_matcher_make(const struct cycle *c, const struct node_term *term);
bool node_matcher_matches(const struct atoms *atoms, const struct node_matcher *m,
                          const struct node_entry *node);

/* The value of a label as an atom, 0 when the node has no such label. */
uint32_t node_label_value(const struct node_entry *node, uint32_t key);

#endif
