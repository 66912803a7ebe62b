/* traced: which attempts are traced, and what the queue has to say of one. */
#ifndef QUEUE_TRACING_TRACED_H
#define QUEUE_TRACING_TRACED_H

#include "queue/queue_inside.h"

/* The attempt gets a trace, by chance, with the queue's spans in the queue's scratch. */
void traced_attempt(struct queue *q, struct moment now, const struct entry *e,
                    struct attempt *attempt);
void traced_member(struct queue *q, struct moment now, const struct entry *e,
                   struct gang_member *member);

#endif
