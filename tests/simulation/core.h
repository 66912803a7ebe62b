/* core: a process's core, as its main.c starts and turns it. */
#ifndef TESTS_SIMULATION_CORE_H
#define TESTS_SIMULATION_CORE_H

#include "tests/simulation/process.h"

/* With p->config: p->core and p->actor; its client is made as well where it has one, unless a
 * journal is played back. */
void core_start(struct proc *p);
/* As the coverage table has it; until the next call. */
const char *core_message_name(enum process kind, enum message_type type);
/* Tells the coverage table which messages each kind takes, and what a scheduler waits for. */
void core_known(void);
/* Its client stays. */
void core_free(struct proc *p);

#endif
