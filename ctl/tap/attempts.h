/* attempts: which attempt each pod is in, as the messages of the queue have told. */
#ifndef CTL_TAP_ATTEMPTS_H
#define CTL_TAP_ATTEMPTS_H

#include "proto/messages.h"

#define ATTEMPTS_OF_MESSAGE 64

struct tap_attempts;

struct tap_attempts *tap_attempts_new(void);
void tap_attempts_free(struct tap_attempts **attempts);
/* Looks at a message, from whichever side it was mirrored. */
void tap_attempts_learn(struct tap_attempts *attempts, const struct message *m);
/* The numbers of the attempts of the pods that a message names; of the first that many, and of
 * those whose attempt was seen. */
size_t tap_attempts_of(const struct tap_attempts *attempts, const struct message *m,
                       int64_t numbers[ATTEMPTS_OF_MESSAGE]);

#endif
