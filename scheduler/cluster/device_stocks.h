/* device_stocks: what NodeResourcesFit and NodeResourcesBalancedAllocation are to know of devices:
 * of each extended resource that they score by, that the pod asks for and that a DeviceClass stands
 * for, how many devices a node reaches and how many are in use. Workers, who score, know none. */
#ifndef SCHEDULER_CLUSTER_DEVICE_STOCKS_H
#define SCHEDULER_CLUSTER_DEVICE_STOCKS_H

#include "scheduler/cluster/device_findings.h"

/* Fills the findings' device_stocks, from the arena. */
void device_stocks(const struct device_question *q, const struct profile *profile,
                   struct findings *out, struct arena *a);

#endif
