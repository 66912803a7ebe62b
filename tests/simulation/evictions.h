/* evictions: whoever makes room waits until the pods go that it takes it from. */
#ifndef TESTS_SIMULATION_EVICTIONS_H
#define TESTS_SIMULATION_EVICTIONS_H

#include "tests/simulation/process.h"

typedef bool evictions_stays(const struct proc *p, struct str uid);

void evictions_reset(void);
void evictions_heard(const struct proc *p, const struct message *m);
/* stays: the watch has shown this pod on a node to the one who says it, and not that it goes. */
void evictions_said(const struct proc *p, const struct message *m, evictions_stays *stays);

#endif
