/* score_ranges: the ranges of raw scores that one worker tells, by scorer of the framework, and
 * what it has normalised with. */
#ifndef SCHEDULER_MERGE_SCORE_RANGES_H
#define SCHEDULER_MERGE_SCORE_RANGES_H

#include "scheduler/rules/framework.h"
#include "scheduler/rules/score_range.h"

#define SCORE_RANGES_MAX 64 /* scorers of a framework */

/* Of one worker. */
struct score_ranges {
    struct score_range *own, *used; /* as many as the framework has scorers */
    uint64_t told;                  /* bit by scorer; none where no node is feasible */
};

void score_ranges_new(struct score_ranges *r, const struct framework *fw, struct arena *a);
/* Once for each answer; of a rule that nobody knows nothing is noted. */
void score_ranges_note(struct score_ranges *r, const struct framework *fw, const struct extreme *at,
                       uint32_t count);
/* Into those of all workers; *any says of which scorers there is one yet. */
void score_ranges_merge(const struct score_ranges *r, struct score_range *all, uint64_t *any);
/* It has normalised with its own, widened by what it was asked with; NULL: with nothing. */
void score_ranges_use(struct score_ranges *r, const struct score_range *asked_with);
/* True when it has normalised with anything else than what there is of all workers. */
bool score_ranges_differ(const struct score_ranges *r, const struct framework *fw,
                         const struct score_range *all);

#endif
