/* checks_devices: what must hold of ResourceClaims. */
#ifndef TESTS_SIMULATION_CHECKS_DEVICES_H
#define TESTS_SIMULATION_CHECKS_DEVICES_H

#include "tests/simulation/facts_devices.h"

/* No device is in two claims' allocations. */
void checks_devices(void);
/* It was bound to a node by us. seen_by_now: so long ago a user's change is no excuse, ns. */
void checks_devices_bound(const struct pod_fact *pod, int64_t seen_by_now);
/* In a calm: a pending pod, its node, or NULL: all that fit with their claims are bound. */
const struct pod_fact *checks_devices_pending(const struct node_fact **node);
void checks_devices_known(void);

#endif
