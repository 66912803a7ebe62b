/* gang_condition: what is said of groups of the API in the tree: the condition PodGroupScheduled
 * for pods of a group that are decided by themselves (policy basic, or late members of a gang), and
 * the metrics of attempts at groups. Of groups of the other APIs nothing is said here. */
#ifndef SCHEDULER_COORDINATOR_GANG_CONDITION_H
#define SCHEDULER_COORDINATOR_GANG_CONDITION_H

#include "scheduler/coordinator/coordination.h"

enum group_result { GROUP_scheduled, GROUP_unschedulable, GROUP_waits_for_victims, GROUP_error };

/* A pod by itself is assumed on a node: its group is scheduled. */
void gang_condition_placed(struct coordinator *c, const struct flight *f);
/* A pod by itself has no node: neither has its group, unless it is scheduled already. */
void gang_condition_failed(struct coordinator *c, const struct flight *f, const struct decision *d);
/* An attempt at a group that began then has ended. */
void gang_condition_measure(const struct coordinator *c, const struct gang *group,
                            struct str scheduler_name, struct moment began,
                            enum group_result result);

#endif
