/* measure_groups: metrics of evictions for groups of scheduling.k8s.io, which upstream counts since
 * 1.37, and of evictions of such groups. */
#ifndef SCHEDULER_COORDINATOR_MEASURE_GROUPS_H
#define SCHEDULER_COORDINATOR_MEASURE_GROUPS_H

#include "scheduler/coordinator/coordination.h"
#include "scheduler/coordinator/gang_try.h"
#include "scheduler/merge/gang_rules.h"

/* It was looked for victims for a group, for so long. */
void measure_group_room(const struct framework *fw, enum gang_room room, int64_t ns);
/* A group was tried in one more domain, or once where it is free, for so long; since 1.37. */
void measure_placement(const struct framework *fw, const struct gang_placements *p, bool fits,
                       int64_t ns);
/* What is evicted for a group that was tried as one. */
void measure_group_victims(const struct coordinator *c, const struct framework *fw,
                           const struct gang_try *g);
/* What is evicted for one pod, which may be a group by itself. */
void measure_pod_victims(const struct coordinator *c, const struct framework *fw,
                         const struct flight *f, const struct preemption *p);
/* "compositepodgroup", "podgroup" or "pod": for whom it is evicted. */
struct str measure_preemptor(const struct coordinator *c, const struct framework *fw,
                             const struct flight *f);

#endif
