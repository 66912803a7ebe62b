/* delivery: a received message with what its envelope said; what a core's handle() gets. */
#ifndef DELIVERY_H
#define DELIVERY_H

#include "proto/bus/outbox.h"

struct delivery {
    struct address from;
    struct str instance;           /* the sender's name among its kind, such as worker-1 */
    int64_t term;                  /* the term the sender knew */
    int64_t generation;            /* its config generation */
    int64_t epoch, sequence;       /* stream position; 0 when not a stream message */
    int64_t part;                  /* place in a snapshot from 1; 0 = not in one */
    int64_t sent_us;               /* sender's wall clock */
    const struct message *message; /* borrowed until handle() returns */
};

#endif
