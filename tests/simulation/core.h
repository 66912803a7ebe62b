/* core: a process's core, as its main.c starts and turns it. */
#ifndef TESTS_SIMULATION_CORE_H
#define TESTS_SIMULATION_CORE_H

#include "proto/kube/config/config_file.h"
#include "tests/simulation/process.h"

/* With p->config; its client is made as well where it has one. */
void core_start(struct proc *p);
void core_handle(struct proc *p, struct moment now, const struct delivery *in);
/* Work on the client, and the tick; returns when it wants to be called next. */
struct moment core_turn(struct proc *p, struct moment now);
/* Of a scheduler. */
void core_reconfigure(struct proc *p, struct moment now, const struct scheduler_config *config);
/* Of a binder: a clean end begins. */
void core_stop(struct proc *p, struct moment now);
/* As the coverage table has it; until the next call. */
const char *core_message_name(enum process kind, enum message_type type);
/* Tells the coverage table which messages each kind takes, and what a scheduler waits for. */
void core_known(void);
/* Its client stays. */
void core_free(struct proc *p);

#endif
