/* pending: decides all pods that wait in a world, in the order of the scheduler's queue. */
#ifndef CTL_SIMULATE_PENDING_H
#define CTL_SIMULATE_PENDING_H

#include "ctl/attempt.h"

/* Zero-initialise. */
struct pending {
    struct map *known; /* namespace/name of pods, to what stands here of them */
    struct waiting **at;
    uint32_t count;
    struct arena arena;
};

/* A pod has come, or has changed; its place in line is that of its first coming. */
void pending_note(struct pending *p, const struct pod *pod);
void pending_free(struct pending *p);
/* Tries each pod that has no node and is not being deleted: by priority, then by creation, then as
 * they came; those of a PodGroup, where the profile knows it, as one when the turn of their first
 * one comes. Reports each. Who found no node may find one beside those placed after it (a spread
 * that has become even): such a pod, outside of a group, is tried again, as a placed pod wakes it
 * in the queue, until no more are placed, and is reported once more when it is. */
void pending_decide(struct pending *p, const struct attempts *a);

#endif
