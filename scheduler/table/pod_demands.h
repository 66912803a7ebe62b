/* pod_demands: what pods on nodes take from them; pods that take exactly the same, as those of one
 * owner do, share one record of it. */
#ifndef SCHEDULER_TABLE_POD_DEMANDS_H
#define SCHEDULER_TABLE_POD_DEMANDS_H

#include "proto/base/table.h"
#include "proto/messages.h"
#include "scheduler/table/atoms.h"
#include "scheduler/table/nodes.h"

struct pod_demand {
    int64_t priority;
    int64_t usage[RESOURCE_COUNT];
    int64_t scored[SCORED_COUNT]; /* with defaults for what a container does not ask for */
    uint32_t scalar_count, port_count;
    struct scalar *scalars; /* .requested */
    struct host_socket *ports;
    uint32_t users, hash;
    size_t bytes; /* of the lists behind it */
};

/* All of a share; zero-initialise, and drop all demands before it goes. */
struct pod_demands {
    struct table known;
};

/* The demand of this pod, for one more user. */
struct pod_demand *pod_demand_take(struct pod_demands *d, struct atoms *atoms,
                                   const struct pod *pod);
/* One user less. */
void pod_demand_drop(struct pod_demands *d, struct atoms *atoms, struct pod_demand *demand);

#endif
