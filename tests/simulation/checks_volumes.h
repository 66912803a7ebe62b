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
/* Whether such a pod takes the last place of its node, where a claim of somebody got its volume
 * since that time: whoever hears of that late counts it twice, as a claim and as what is attached,
 * and nothing wakes the pod when he hears it, as upstream: it is tried again after five minutes. */
bool checks_volumes_counted_twice(int64_t since);
void checks_volumes_known(void);

#endif
