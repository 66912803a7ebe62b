/* group: all pending pods of a PodGroup are decided as one, as the scheduler's transaction does it
 * (scheduler/coordinator/gangs.md). */
#ifndef GROUP_H
#define GROUP_H

#include "ctl/attempt.h"

/* The PodGroup with which the scheduler would try the pod; false: it is tried by itself, as it
 * names none, or its profile knows no such groups, or there is no such group. */
bool group_of(const struct world *w, const struct pod *pod, struct gang *group, struct arena *a);
/* Reports each member that is decided, then the group itself in r, which is zero but for its op. */
void attempt_group(const struct attempts *a, const struct gang *group, struct report *r);

#endif
