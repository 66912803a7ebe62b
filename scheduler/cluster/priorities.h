/* priorities: how many pods have which priority, for whoever wants to know the lowest. There are
 * few different ones in most clusters, so a pod keeps a number of four bits instead of its own. */
#ifndef SCHEDULER_CLUSTER_PRIORITIES_H
#define SCHEDULER_CLUSTER_PRIORITIES_H

#include <stdint.h>

#define PRIORITIES_KNOWN 15
#define PRIORITY_OTHER   PRIORITIES_KNOWN /* the number of all that found no room */

/* Zero-initialise. */
struct priorities {
    int64_t priority[PRIORITIES_KNOWN]; /* where there are pods of it */
    uint32_t pods[PRIORITIES_KNOWN + 1];
};

/* Counts a pod; returns the number to give back when it goes, PRIORITY_OTHER at most. */
uint8_t priorities_add(struct priorities *p, int64_t priority);
void priorities_remove(struct priorities *p, uint8_t number);
/* INT64_MAX: there are no pods. INT64_MIN: that is not known, as there are too many priorities. */
int64_t priorities_least(const struct priorities *p);

#endif
