/* consulted: what extenders had answered when a recorded decision was made, so that it can be made
 * again with it. They are not asked again: today they might say something else. */
#ifndef CTL_EXPLAIN_CONSULTED_H
#define CTL_EXPLAIN_CONSULTED_H

#include "ctl/record/past.h"
#include "ctl/report.h"
#include "ctl/world.h"
#include "scheduler/merge/extension.h"

/* As the scheduler keeps it (extension.h), to be freed by extension_free; it borrows from p. The
 * world says who a pod is that an extender alone has named. NULL: they were not asked, or had not
 * answered. */
struct extension *consulted_answers(const struct past *p, const struct world *w);
/* The verdicts of all nodes, sorted, for one who is shown a decision that was made with these
 * answers: rules has what the rules alone say of every node, and r the decision, whose scores are
 * of the nodes that were left. A node that an extender turned away says so in its words, and totals
 * have what extenders add. From the arena, texts shared. */
struct verdict *consulted_verdicts(const struct extension *answers, const struct verdict *rules,
                                   uint32_t count, const struct report *r, struct arena *a);

#endif
