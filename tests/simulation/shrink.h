/* shrink: makes a plan as short and as plain as its finding allows. */
#ifndef TESTS_SIMULATION_SHRINK_H
#define TESTS_SIMULATION_SHRINK_H

#include "tests/simulation/plan.h"

/* check: the invariant that is to be violated still. At most so many runs. Returns how many there
 * were. */
uint32_t shrink(struct plan *plan, const char *check, uint32_t runs_max);

#endif
