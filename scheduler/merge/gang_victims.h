/* gang_victims: gangs that are in a preemptor's way. By default members are chosen as any pod is,
 * as upstream does; a profile may have what a gang has beyond its minimum taken first, and the
 * whole gang where it would not be one any more (CoschedulingArgs.gangVictims). */
#ifndef SCHEDULER_MERGE_GANG_VICTIMS_H
#define SCHEDULER_MERGE_GANG_VICTIMS_H

#include "scheduler/merge/reduce.h"

/* Adds a budget for each gang on nodes, which allows what it has beyond its minimum. */
void gang_victims_protect(const struct reduce_start *start, struct map_request *request,
                          struct arena *a);
/* Names the groups of scheduling.k8s.io on nodes that can only go as a whole. */
void gang_victims_ask_of_wholes(const struct reduce_start *start, struct map_request *request,
                                struct arena *a);
/* Adds the other pods of groups that go as a whole. With WholeGangs: adds to the victims that were
 * chosen the other members, on any node, of gangs that these leave with fewer than their minimum.
 * Not of a gang with a member that the preemptor may not evict, nor of its own. */
void gang_victims_complete(const struct reduce_start *start, struct preemption *p, struct arena *a);

#endif
