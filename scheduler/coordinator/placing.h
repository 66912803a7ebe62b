/* placing: what becomes of a decision. */
#ifndef SCHEDULER_COORDINATOR_PLACING_H
#define SCHEDULER_COORDINATOR_PLACING_H

#include "scheduler/coordinator/coordination.h"

/* A pod whose place stands (deciding_stands) is assumed and bound. */
struct placement {
    struct str node;
    int64_t total, feasible; /* its score, and how many nodes there were to choose from */
    bool told;               /* the worker has put it on the node */
};
void placing_pod(struct coordinator *c, struct moment now, struct flight *f,
                 const struct placement *p);
/* The same for a slot; its volumes are reserved first. */
void placing_slot(struct coordinator *c, struct moment now, const struct slot *s, bool told);
/* It has none: it makes room, or fails. */
void placing_reject(struct coordinator *c, struct moment now, struct flight *f,
                    const struct decision *d);
/* A decision has been made, whatever comes of it. */
void placing_count(struct coordinator *c, struct moment now);

#endif
