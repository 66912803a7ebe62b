/* tolerations: a pod's tolerations, turned into atoms when the first taint is asked about. */
#ifndef SCHEDULER_RULES_TOLERATIONS_H
#define SCHEDULER_RULES_TOLERATIONS_H

#include "scheduler/rules/plugin.h"

struct tolerations;

/* Those of the cycle's pod, from its arena; they borrow the cycle. */
struct tolerations *tolerations_make(const struct cycle *c);
/* Upstream's ToleratesTaint for any of them; Lt and Gt with TaintTolerationComparisonOperators. */
bool tolerations_hold(const struct tolerations *all, const struct node_taint *taint);
/* True when no NoSchedule or NoExecute taint of the node is left untolerated. */
bool tolerations_admit(const struct tolerations *all, const struct node_entry *node);

#endif
