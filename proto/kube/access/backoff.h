/* backoff: how long to wait before trying again: doubling from 0.8 s, at most 30 s, with jitter. */
#ifndef KUBE_ACCESS_BACKOFF_H
#define KUBE_ACCESS_BACKOFF_H

#include "proto/base/moment.h"
#include "proto/base/random.h"

/* Zero-initialise, or set the random state to a seed. */
struct backoff {
    uint32_t failures; /* in a row */
    struct random random;
};

/* Counts one more failure and says how long to wait. retry_after_s: what the server asked for at
 * least (up to ten minutes are honoured), or -1. */
struct span backoff_next(struct backoff *b, int retry_after_s);
/* After a success. */
void backoff_reset(struct backoff *b);

#endif
