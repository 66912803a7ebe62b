/* spread_constraints: which topology spread constraints hold for a pod, and whom they count.
 *
 * Its own with their matchLabelKeys made part of the selector; or, when it has none, the profile's
 * defaults, which count the pods of the same Services and of the same controller. */
#ifndef SCHEDULER_RULES_SPREAD_CONSTRAINTS_H
#define SCHEDULER_RULES_SPREAD_CONSTRAINTS_H

#include "scheduler/rules/framework.h"

/* Puts the constraints that hold into the prepared pod's spread (match_label_keys are then of no
 * further meaning), and into the findings whether soft ones ignore nodes that lack a key. All that
 * is not the pod's or the profile's own is from the question's arena. Upstream: filterTopology-
 * SpreadConstraints, buildDefaultConstraints and DefaultSelector. */
void spread_constraints_prepare(const struct pre_filter_question *q);

/* True for DoNotSchedule; upstream looks at no other value but ScheduleAnyway. */
bool spread_constraint_is_hard(const struct spread_constraint *c);
bool spread_constraint_is_soft(const struct spread_constraint *c);

/* False when some hard (or soft) one has a malformed selector: error then gets upstream's words. */
bool spread_constraints_check(const struct pod *pod, bool hard, struct buffer *error);

#endif
