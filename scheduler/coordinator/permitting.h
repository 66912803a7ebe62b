/* permitting: flights in FLIGHT_permitting: pods that have a node, and wait for the permission of
 * plugins on the bus to be bound to it. */
#ifndef SCHEDULER_COORDINATOR_PERMITTING_H
#define SCHEDULER_COORDINATOR_PERMITTING_H

#include "scheduler/coordinator/coordination.h"

/* The pod was assumed on its node: it is bound at once where its profile has nobody at Permit. */
void permitting_begin(struct coordinator *c, struct moment now, struct flight *f);
/* The plugin that is asked has answered. */
void permitting_on_answer(struct coordinator *c, struct moment now, struct flight *f,
                          const struct plugin_answer *answer);
/* A word about a pod that waits. */
void permitting_on_permit(struct coordinator *c, struct moment now, uint32_t peer,
                          const struct plugin_permit *said);
/* Its deadline is over: of an answer, or of waiting. */
void permitting_on_late(struct coordinator *c, struct moment now, struct flight *f);
/* A plugin's process is gone; another one may have taken its place. */
void permitting_on_plugin_down(struct coordinator *c, struct moment now, struct flight *f,
                               uint32_t peer);
/* The room that the pod has is given back, in reverse order (Unreserve). It is nowhere then: the
 * caller lands or returns it. */
void permitting_undo(struct coordinator *c, struct flight *f);
/* Decided anew, as its node, its term or its profile went. */
void permitting_restart(struct coordinator *c, struct flight *f);
/* The pod is being deleted, or is gone. */
void permitting_removed(struct coordinator *c, struct flight *f, bool gone);
/* A pod makes room with the one that waits: it fails without being deleted. */
void permitting_preempt(struct coordinator *c, struct flight *f);
/* Of all flights that wait, those whose node or pod is not known any more. */
void permitting_look(struct coordinator *c);
/* So many attempts more than usual may be outstanding, as these wait. */
int64_t permitting_credit(const struct coordinator *c);

#endif
