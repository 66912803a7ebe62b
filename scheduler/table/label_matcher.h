/* label_matcher: a label selector turned into atoms, matched against labels sorted by key atom.
 *
 * Upstream's labels.Selector: no selector (not present) matches nothing, a selector without
 * requirements matches everything; all requirements must hold. In and Exists need the key; NotIn
 * and DoesNotExist hold where the key is absent. A malformed selector (label_selector_check says
 * no) matches nothing here; upstream fails instead, so whoever can fail looks before.
 *
 * Two makers, for two lives. What is found is good for one cycle and takes no atoms: a text that
 * nobody on this worker uses is 0 and equals no label's atom, which is right as long as no label
 * comes that would bring the text. What is taken holds its atoms until it is freed, for the
 * selectors of pods that stay. */
#ifndef SCHEDULER_TABLE_LABEL_MATCHER_H
#define SCHEDULER_TABLE_LABEL_MATCHER_H

#include "proto/messages.h"
#include "scheduler/table/atoms.h"
#include "scheduler/table/nodes.h"

struct label_matcher;

/* For a cycle: all from the arena, nothing to free. */
struct label_matcher *label_matcher_find(const struct atoms *atoms, const struct selector *selector,
                                         struct arena *a);
/* For as long as it is wanted: one user of each of its atoms until label_matcher_free. */
struct label_matcher *label_matcher_take(struct atoms *atoms, const struct selector *selector);
/* Only what was taken; NULL is allowed; *m is NULL afterwards. */
void label_matcher_free(struct atoms *atoms, struct label_matcher **m);

bool label_matcher_matches(const struct label_matcher *m, const struct node_label *labels,
                           uint32_t count);
/* The place-th label that it asks for with exactly this value, from 0 on: what has not that label
 * is not wanted. False: there is none at that place. A value or key 0: nobody has it. */
bool label_matcher_asks(const struct label_matcher *m, uint32_t place, struct node_label *label);
/* True for a selector that matches nothing whatever the labels: none at all, or a malformed one. */
bool label_matcher_is_nothing(const struct label_matcher *m);
/* True for a selector without requirements (upstream's Empty), which matches everything. */
bool label_matcher_is_empty(const struct label_matcher *m);

#endif
