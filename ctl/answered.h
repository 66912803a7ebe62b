/* answered: every node's verdict where extenders or plugins on the bus had a say in a decision. */
#ifndef CTL_ANSWERED_H
#define CTL_ANSWERED_H

#include "ctl/report.h"
#include "scheduler/merge/extension.h"

/* The verdicts of all nodes, sorted, for one who is shown a decision that was made with these
 * answers: rules has what the rules alone say of every node, and r the decision, whose scores are
 * of the nodes that were left. A node that one of them turned away says so in its words, and totals
 * have what they add. A node that was ruled out before they were asked is left out, and count is of
 * those that are left. From the arena, texts shared. */
struct verdict *answered_verdicts(const struct extension *answers, const struct verdict *rules,
                                  uint32_t *count, const struct report *r, struct arena *a);

#endif
