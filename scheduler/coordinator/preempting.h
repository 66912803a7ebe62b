/* preempting: a flight from the decision to evict others for it until the API server shows that
 * they go.
 *
 * Its outcome is held back meanwhile, so that the queue does not offer the pod again before its
 * victims are seen to terminate (upstream gates it in PreEnqueue for as long); everything that
 * happens in between counts when the outcome arrives. The nomination holds from the decision on. */
#ifndef SCHEDULER_COORDINATOR_PREEMPTING_H
#define SCHEDULER_COORDINATOR_PREEMPTING_H

#include "scheduler/coordinator/coordination.h"

/* The decision nominates a node: remembers it, and asks the binder to evict the victims. The flight
 * lands at once when there is nobody left to evict. */
void preempting_begin(struct coordinator *c, struct moment now, struct flight *f,
                      const struct decision *d);
void preempting_on_result(struct coordinator *c, struct moment now,
                          const struct preempt_result *result);
/* The binder says that it is at it, and has not answered. */
void preempting_goes_on(struct coordinator *c, struct flight *f);
/* The binder does not know of it: the request or its answer got lost. */
void preempting_on_loss(struct coordinator *c, struct flight *f);
/* The pod's bind came to nothing: as a victim it has gone, whatever is decided for it next. */
void preempting_unbound(struct coordinator *c, struct str uid);
/* Lands the flights whose victims are seen to go, and those that waited too long. Call it after a
 * pod has changed or gone, and now and then. */
void preempting_look(struct coordinator *c, struct moment now);

void preempting_init(struct coordinator *c);
/* No flight that makes room has an earlier deadline. */
struct moment preempting_due(const struct coordinator *c);

#endif
