/* bind_request: asking the binder for a pod's Binding. */
#ifndef SCHEDULER_COORDINATOR_BIND_REQUEST_H
#define SCHEDULER_COORDINATOR_BIND_REQUEST_H

#include "scheduler/coordinator/coordination.h"

/* Asks the binder; also again, when the request got lost. */
void bind_request_send(struct coordinator *c, struct flight *f);
/* Whether status.nominatedNodeName is to say where the pod will be when its bind may take a while:
 * NominatedNodeNameForExpectation. */
bool bind_request_says_where(const struct coordinator *c, const struct flight *f);
/* The binder need not go on waiting for the pod's claims; it answers as ever. */
void bind_request_cancel(struct coordinator *c, struct str uid, struct str node, const char *why);

#endif
