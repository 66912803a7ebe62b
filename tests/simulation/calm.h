/* calm: all faults end, and it has to become quiet. */
#ifndef TESTS_SIMULATION_CALM_H
#define TESTS_SIMULATION_CALM_H

#include <stdbool.h>

/* examines: some more is asked of the system once it is quiet. */
void calm(bool examines);
/* The last one: then all pods leave, and with them what was kept of them. */
void calm_at_the_end(void);

#endif
