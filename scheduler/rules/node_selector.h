/* node_selector: node selector terms, turned into atoms once a cycle and matched against nodes. */
#ifndef SCHEDULER_RULES_NODE_SELECTOR_H
#define SCHEDULER_RULES_NODE_SELECTOR_H

#include "scheduler/rules/plugin.h"
#include "scheduler/table/label_index.h"

struct node_matcher;

/* NULL for a term without requirements, which selects nothing. A malformed term gives a matcher
 * that matches nothing. */
struct node_matcher *node_matcher_make(const struct cycle *c, const struct node_term *term);
bool node_matcher_matches(const struct atoms *atoms, const struct node_matcher *m,
                          const struct node_entry *node);
/* How many entries of a label_index the matcher needs at most, and adds them: a node that it
 * matches has one of these labels, or it asks for none. */
uint32_t node_matcher_index_room(const struct node_matcher *m);
void node_matcher_index(const struct node_matcher *m, uint32_t number, struct label_index *x);

/* The pod's nodeSelector and required node affinity (upstream's RequiredNodeAffinity), without what
 * the profile adds. A pod that has neither goes everywhere. */
struct required_affinity;
struct required_affinity *required_affinity_make(const struct cycle *c);
bool required_affinity_matches(const struct atoms *atoms, const struct required_affinity *r,
                               const struct node_entry *node);

/* Terms that are ORed, without those that select nothing; how many. From the cycle's arena. */
uint32_t node_matchers_make(const struct cycle *c, const struct node_term *at, uint32_t count,
                            struct node_matcher ***out);
bool node_matchers_match_any(const struct atoms *atoms, struct node_matcher *const *terms,
                             uint32_t count, const struct node_entry *node);

/* The same for many rows of the share: no[i] |= 1 where row from + i does not match, … */
void node_matchers_rows(const struct cycle *c, struct node_matcher *const *terms, uint32_t count,
                        struct row_range rows, uint8_t *no);
void required_affinity_rows(const struct cycle *c, const struct required_affinity *r,
                            struct row_range rows, uint8_t *no);
/* … and yes[i] = 1 where it matches, else 0. */
void node_matcher_rows(const struct cycle *c, const struct node_matcher *m, struct row_range rows,
                       uint8_t *yes);

/* The value of a label as an atom, 0 when the node has no such label. */
uint32_t node_label_value(const struct node_entry *node, uint32_t key);

#endif
