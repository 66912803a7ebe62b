/* tie_break: which of several nodes that are equally good is taken, by a worker that decides and by
 * the coordinator alike. */
#ifndef SCHEDULER_RULES_TIE_BREAK_H
#define SCHEDULER_RULES_TIE_BREAK_H

#include "proto/messages.h"

/* The node that is chosen when a single share gives this answer to the step map, with a node
 * feasible and none nominated; borrowed from the answer. */
struct str tie_break_choice(enum tie_break_rule tie_break, const struct map_result *result);

#endif
