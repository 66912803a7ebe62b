/* checks_volumes: what must hold of claims and volumes. */
#ifndef TESTS_SIMULATION_CHECKS_VOLUMES_H
#define TESTS_SIMULATION_CHECKS_VOLUMES_H

#include "tests/simulation/facts_volumes.h"

/* A claim or volume is about to change in facts; called on both sides of it. */
void checks_volume_before(const struct model_change *change);
void checks_volume_after(const struct model_change *change);
/* It was bound to a node by us. seen_by_now: so long ago a user's change is no excuse, ns. */
void checks_volumes_bound(const struct pod_fact *pod, int64_t seen_by_now);
/* In a calm: a pending pod, its node, or NULL: all that fit with their volumes are bound. */
const struct pod_fact *checks_volumes_pending(const struct node_fact **node);
void checks_volumes_known(void);

#endif
