/* promises: what each process has promised to wait for, or to know, before it says something; seen
 * at its door, by the messages that it was given and those that it sends. */
#ifndef TESTS_SIMULATION_PROMISES_H
#define TESTS_SIMULATION_PROMISES_H

#include "proto/bus/delivery.h"
#include "tests/simulation/checks.h"

void promises_reset(void);
/* A message that p is about to handle. */
void promises_heard(const struct proc *p, const struct delivery *in);
/* Its outbox, about to be sent. */
void promises_said(const struct proc *p);
/* A request that it sends; a Binding that the server has carried out. */
void promises_asked(const struct seen_call *call);
void promises_carried_out(const char *body, const char *node);
/* Behind each round: which terms it has and knows. */
void promises_terms(const struct proc *p);
/* A binder's, or the lease's. */
void promises_term_made(const char *who, int64_t term);
/* Until then somebody may say so who is believed. */
void promises_lie(int64_t term, int64_t until);

#endif
