/* bind_ends: a bind is over, by the binder's word or since the watch shows the pod on a node. */
#ifndef SCHEDULER_COORDINATOR_BIND_ENDS_H
#define SCHEDULER_COORDINATOR_BIND_ENDS_H

#include "scheduler/coordinator/coordinator.h"
#include "scheduler/coordinator/flight.h"

/* The binder has answered. */
void bind_ends_answered(struct coordinator *c, const struct bind_result *r);
/* The pod of a flight that is being bound is on the node, whoever bound it; f is gone then. */
void bind_ends_seen(struct coordinator *c, struct flight *f, struct str node);

#endif
