/* reserving: volumes and claims of pods that have a node. */
#ifndef SCHEDULER_COORDINATOR_RESERVING_H
#define SCHEDULER_COORDINATOR_RESERVING_H

#include "scheduler/coordinator/coordination.h"

enum reserved { RESERVED_all, RESERVED_failed, RESERVED_not };

/* Whose Reserve failed, and why; the error is in the flight's or the cycle's memory. */
struct reserve_failure {
    const char *plugin;
    enum code code; /* CODE_error, or the pod is turned away for this */
    struct str error;
};

/* What hooks are asked about a pod that is to have, or has, this node. */
struct attempt_question reserving_question(const struct coordinator *c, struct flight *f,
                                           const struct framework *fw, struct str node);

/* The profile's Reserve plugins in their order: hooks, and what is assumed of the slot's pod's
 * volumes and claims on its node. RESERVED_failed: *why
 * says whose Reserve failed. RESERVED_not: its devices have gone meanwhile, so it is to be decided
 * anew. Nothing is reserved then. */
enum reserved reserving_begin(struct coordinator *c, const struct slot *s,
                              struct reserve_failure *why);
/* The same of the devices of a pod for which room is to be made on the decision's node, as the next
 * members of its group see it. False: they are not there, whoever goes; nothing is reserved. */
bool reserving_room(struct coordinator *c, struct flight *f, const struct decision *d);
/* The pod as it counts on its node with what was reserved for it; borrowed from the flight and the
 * cycle's memory. */
struct pod reserving_placed(struct coordinator *c, const struct flight *f);
/* What was reserved for it besides room is given back, within the decision: nobody was turned away
 * for it. */
void reserving_undo_quietly(struct coordinator *c, struct flight *f);
/* The same later: who was turned away for it is worth another attempt. */
void reserving_undo(struct coordinator *c, struct flight *f);

#endif
