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
    int64_t received_us;           /* ours, when it was handed over; 0 = not known */
    const struct message *message; /* borrowed until handle() returns */
    /* Holds all that message borrows: who swaps an arena of its own for it keeps the message. NULL:
     * it lies elsewhere, and is copied by who needs it longer. */
    struct arena *kept;
};

/* How long it was under way by the two wall clocks, waiting in our sockets included; 0 when that is
 * not known, or when they say that it took less than nothing. */
static inline int64_t delivery_us(const struct delivery *in)
{
    bool known = in->sent_us > 0 && in->received_us > in->sent_us;
    return known ? in->received_us - in->sent_us : 0;
}

#endif
