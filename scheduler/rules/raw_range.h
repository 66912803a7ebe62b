/* raw_range: the range of a rule's raw scores over feasible nodes, which a score is normalised
 * with, kept while nodes come and go. */
#ifndef SCHEDULER_RULES_RAW_RANGE_H
#define SCHEDULER_RULES_RAW_RANGE_H

#include "scheduler/rules/plugin.h"

/* Of a rule that needs only the greatest, 0 stands in it as if a node had it. */
struct raw_range {
    bool any;
    int64_t least, greatest;
    uint32_t at_least, at_greatest; /* how many are at its ends */
};

/* Of nobody yet. */
void raw_range_start(struct raw_range *range, const struct plugin *p);
/* SCORE_IGNORED changes nothing. */
void raw_range_enter(struct raw_range *range, int64_t raw);
void raw_range_leave(struct raw_range *range, int64_t raw);
/* True when one left that was the last at an end: the range is to be found anew. */
bool raw_range_is_worn(const struct raw_range *range);

#endif
