/* gate: upstream's PreEnqueue: what holds a pod back before it is tried at all. Such a pod is told
 * nothing: no condition, no event. */
#ifndef QUEUE_GATE_H
#define QUEUE_GATE_H

#include "queue/entry.h"

/* True when nothing holds the pod back; sets its gate, and adds the plugin to its rejectors. The
 * entry is in no place. */
bool gate_passes(struct entry *e);
/* Whether upstream's lookup of the pod's ResourceClaims, those of DynamicResources, finds no fault
 * with any. Without a mirror in its surroundings none is known. */
bool gate_claims_usable(const struct surroundings *around, const struct pod *pod);
/* The plugins whose events a pod in unschedulable listens to: what rejected it, or its gate. */
uint64_t gate_listens(const struct entry *e);

#endif
