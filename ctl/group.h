/* group: all pending pods of a PodGroup are decided as one, as the scheduler's transaction does it
 * (scheduler/coordinator/gangs.md). */
#ifndef GROUP_H
#define GROUP_H

#include "ctl/attempt.h"

/* Reports each member that is decided, then the group itself in r, which is zero but for its op. */
void attempt_group(const struct attempts *a, const struct gang *group, struct report *r);

#endif
