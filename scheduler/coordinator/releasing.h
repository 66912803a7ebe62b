/* releasing: what is taken back of a pod's claims when its attempt ends without a bind: devices
 * (upstream's PostFilter of DynamicResources) and the pod's reservations (its Unreserve).
 *
 * Upstream writes these in the middle of the attempt and waits. Here the binder is asked, others
 * are decided meanwhile, and the attempt's outcome is held until the binder has answered: so a pod
 * is never bound while something that belongs to an earlier attempt may still be written. */
#ifndef SCHEDULER_COORDINATOR_RELEASING_H
#define SCHEDULER_COORDINATOR_RELEASING_H

#include "scheduler/coordinator/coordination.h"

/* Asks for the pod to be taken out of the claims that an earlier attempt has reserved for it. For
 * an attempt that is over behind Reserve; it is to land next. */
void releasing_unreserve(struct coordinator *c, struct flight *f);
/* Asks for the claim that PostFilter has chosen, if any. With tells the failure is told when the
 * answer is there, with the words that fit it; the flight is to land next. False: nothing to ask.
 */
bool releasing_deallocate(struct coordinator *c, struct flight *f, const struct decision *d,
                          bool tells);
/* Asks for a claim of the pod's group, if there is one; the flight is to land next. */
void releasing_take_back(struct coordinator *c, struct flight *f, const struct deallocation *d);

void releasing_on_answer(struct coordinator *c, const struct claim_released *said);
/* The binder has these claims under way, as a set: what is missing three times in a row got lost,
 * and is asked for again. */
void releasing_find_lost(struct coordinator *c, struct flight *f, const struct map *under_way);
/* True when some flight waits for an answer about this claim. */
bool releasing_expects(const struct coordinator *c, struct str claim_uid);

#endif
