/* pause: when a request that failed in passing is to be tried again. */
#ifndef BINDER_PAUSE_H
#define BINDER_PAUSE_H

#include "proto/base/moment.h"
#include "proto/base/random.h"

/* How often a request is tried at all, as upstream's patches. */
#define PAUSE_TRIES_MAX 4

/* As between upstream's tries: after the first failure 10 ms, after each further one five times as
 * long, a tenth of jitter. retry_after_s up to 10 is honoured; -1 = none. */
struct moment pause_short(struct random *random, struct moment now, int failures,
                          int retry_after_s);
/* Doubles from 50 ms (waits 0) to 5 s, between half and all of it; retry_after_s is honoured. */
struct moment pause_long(struct random *random, struct moment now, int waits, int retry_after_s);

#endif
