/* volume_reserve: the volumes of a pod that has got its node; upstream's AssumePodVolumes and
 * RevertAssumedPodVolumes.
 *
 * Each delayed claim gets a volume, or leave to have one made for the node. Both are assumed in the
 * catalog at once, so that the next pod does not take the same volume; the binder writes them. */
#ifndef SCHEDULER_CATALOG_VOLUME_RESERVE_H
#define SCHEDULER_CATALOG_VOLUME_RESERVE_H

#include "scheduler/catalog/catalog.h"

/* What is assumed for one pod. Zero-initialise: nothing. */
struct reservation {
    struct str profile, node;
    uint32_t count;
    struct claim_binding *at; /* in the order in which they are written */
};

struct reserve_question {
    const struct pod *pod;
    const struct volume_findings *findings; /* the pod's, as its workers had it */
    const struct node *node;
};

/* Fills out, from the arena. False when the catalog or the node has changed since the findings were
 * written, so that the volumes are not to be had any more: nothing is assumed then, and error says
 * why. */
bool volume_reserve(struct catalog *catalog, const struct reserve_question *q,
                    struct reservation *out, struct str *error, struct arena *a);
/* Gives up what is still assumed, and empties r. True: that was something; no object tells of it.
 */
bool volume_unreserve(struct catalog *catalog, struct reservation *r);

#endif
