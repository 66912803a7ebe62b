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
#endif
