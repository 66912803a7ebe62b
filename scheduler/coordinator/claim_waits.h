/* claim_waits: pods that use a claim which another pod's bind is just being given devices for.
 *
 * Upstream rejects such a pod ("… is in the process of being allocated"), tells its owner, and
 * tries it again when the claim has them. A bind takes milliseconds, so here the attempt waits for
 * that instead: what the pod gets is the same, and nothing is written about it. After a while, or
 * when too many wait, it is decided as upstream would. */
#ifndef SCHEDULER_COORDINATOR_CLAIM_WAITS_H
#define SCHEDULER_COORDINATOR_CLAIM_WAITS_H

#include "scheduler/coordinator/coordination.h"

/* True: the waiting flight stands aside for now. */
bool claim_waits_take(struct coordinator *c, struct moment now, struct flight *f);
/* Those that need not wait any more go to the head of the line, in their order. Returns when it is
 * to be called again at the latest. */
struct moment claim_waits_look(struct coordinator *c, struct moment now);
/* Forgets them all; for when the queue is gone. */
void claim_waits_drop(struct coordinator *c);

#endif
