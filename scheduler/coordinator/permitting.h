/* permitting: flights in FLIGHT_permitting: pods that have a node, for which plugins on the bus
 * reserve what is theirs, and then plugins, of ours or on the bus, permit to be bound to it. */
#ifndef SCHEDULER_COORDINATOR_PERMITTING_H
#define SCHEDULER_COORDINATOR_PERMITTING_H

#include "scheduler/coordinator/coordination.h"

/* The pod was assumed on its node: it is bound at once where its profile has nobody at Reserve
 * and Permit. */
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
/* How upstream tells of a plugin that turns away a pod that has a node, for this reason: an attempt
 * that found a single node, and that was no good. In the cycle's memory. */
struct str permitting_rejection(struct coordinator *c, struct str reason);
/* If something has changed: who waits for a plugin of ours is to be asked for again. Returns when
 * it wants to be called next. */
struct moment permitting_look_again(struct coordinator *c, struct moment now);
/* So many attempts more than usual may be outstanding, as these wait. */
int64_t permitting_credit(const struct coordinator *c);

#endif
