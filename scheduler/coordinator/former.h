/* former: what a former life, the scheduler's own or the binder's, may still have under way;
 * nothing is decided before it has ended. */
#ifndef SCHEDULER_COORDINATOR_FORMER_H
#define SCHEDULER_COORDINATOR_FORMER_H

#include "scheduler/coordinator/coordination.h"

void former_init(struct coordinator *c);
void former_free(struct coordinator *c);
/* A bind or a release has ended, whoever asked for it; by the UID of the pod or the claim. */
void former_ended(struct coordinator *c, struct str uid);
/* From what the binder has in flight: binds and releases that nobody here asked for. */
void former_find(struct coordinator *c, const struct leadership *l);
/* The binder is gone. Call it while the coordinator still holds that it leads, if it did. */
void former_lose_binder(struct coordinator *c, struct moment now);
/* What a binder says of itself; before its term is taken. */
void former_hear(struct coordinator *c, const struct leadership *l);

#endif
