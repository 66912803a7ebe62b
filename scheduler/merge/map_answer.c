/* map_answer: a worker's numbers, checked against each other. What must stay true: sums over
 * answers that make sense cannot overflow, and parts are never more than their whole. */
#include "scheduler/merge/map_answer.h"

#include "scheduler/merge/preemption.h"

bool map_answer_makes_sense(const struct map_result *said)
{
    return said->feasible >= 0 && said->evaluated >= said->feasible &&
           said->evaluated <= INT32_MAX && said->unresolvable >= 0 &&
           said->unresolvable <= said->evaluated - said->feasible && said->best_count >= 0 &&
           said->best_count <= said->feasible && (said->best_count > 0) == (said->feasible > 0) &&
           candidates_make_sense(said);
}
