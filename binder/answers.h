/* answers: messages that are owed to the scheduler, kept in order until there is an outbox for
 * them: what is known inside of an answer of the API server is said at the end of the round. */
#ifndef BINDER_ANSWERS_H
#define BINDER_ANSWERS_H

#include "proto/bus/outbox.h"

struct answer;

/* Zero-initialise. */
struct answers {
    struct answer *first, *last;
    uint32_t count;
};

/* Encodes the record of that message type now. */
void answers_add(struct answers *answers, enum message_type type, const void *record);
/* Moves all of them into the outbox; out may be NULL: they are forgotten. */
void answers_flush(struct answers *answers, struct outbox *out);

#endif
