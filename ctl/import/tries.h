/* tries: who is tried when, in the place of the queue: by priority, then in the order in which they
 * came; who found no node waits until something may have changed that, and for its backoff. */
#ifndef CTL_IMPORT_TRIES_H
#define CTL_IMPORT_TRIES_H

#include "proto/base/map.h"
#include "proto/messages.h"

enum try_state { TRY_active, TRY_backoff, TRY_waits, TRY_sent };

struct
try {
    const struct pod *pod; /* as it is by now; borrowed */
    enum try_state state;
    uint64_t number; /* in the order in which they became active */
    int64_t attempts, errors, first_us, tried_us, cycle; /* errors: in a row */
    size_t place;
};

/* Zero-initialise. */
struct tries {
    struct try **at; /* of pods without a node, in no order */
    size_t count, room;
    struct map *by_uid;
    uint64_t numbers;
    int64_t cycles, sent;
};

void tries_free(struct tries *t);
/* A pod without a node has come. */
void tries_add(struct tries *t, int64_t now_us, const struct pod *pod);
/* It is gone, or has a node; nothing happens to one that is not here. */
void tries_drop(struct tries *t, struct str uid);
/* Who is tried next, as sent; NULL: nobody now. */
struct try *tries_next(struct tries *t, int64_t now_us);
/* How that ended. Whom the core skips is not tried any more. */
void tries_ended(struct tries *t, int64_t now_us, const struct outcome *how);
/* Nodes have more room than before, or there are more of them. */
void tries_wake(struct tries *t, int64_t now_us);
/* When somebody becomes active by himself; INT64_MAX: nobody does. */
int64_t tries_due(const struct tries *t);

#endif
