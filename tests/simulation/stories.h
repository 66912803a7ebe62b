/* stories: actions of several steps in one order, for situations to which a plan hardly comes by
 * itself. */
#ifndef SIMULATION_STORIES_H
#define SIMULATION_STORIES_H

#include "tests/simulation/plan.h"

/* Time passes in most of them. False: it is none of them, or there was nothing to do. */
bool stories_do(const struct action *action);

#endif
