/* progress: while things go wrong, too, pods are bound as long as one instance is well: whoever
 * leads, leads for those who can. */
#ifndef TESTS_SIMULATION_PROGRESS_H
#define TESTS_SIMULATION_PROGRESS_H

#include <stdint.h>

void progress_reset(void);
/* Something happened to everybody that does not show in processes and weather. */
void progress_disturbed(void);

#endif
