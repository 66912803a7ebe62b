/* early: how many pods are tried before their backoff is over, because nothing else is to be done.
 */
#ifndef QUEUE_EARLY_H
#define QUEUE_EARLY_H

#include "proto/base/moment.h"

#include <stdbool.h>
#include <stddef.h>

#define EARLY_LEAST    4 /* so many may be under way at once, however they end */
#define EARLY_MOST     65536
#define EARLY_PAUSE_MS 20 /* the longest pause after attempts that failed */

struct early {
    size_t under_way;     /* attempts of pods that were taken early; their outcomes are owed */
    size_t limit;         /* so many of them at once */
    struct span pause;    /* after the next failure */
    struct moment paused; /* none is taken before */
};

void early_init(struct early *e);
/* Whether one more may be taken now. */
bool early_may(const struct early *e, struct moment now);
/* An attempt of such a pod ended with a node, or with a rejection. */
void early_won(struct early *e);
void early_lost(struct early *e, struct moment now);

#endif
