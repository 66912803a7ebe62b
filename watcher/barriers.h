/* barriers: questions of the scheduler's that wait until enough lists have ended, or watches have
 * caught up with the version of one (reflector.h; both are counted as lists): everything that was
 * true when it asked is in the stream before the answer. */
#ifndef WATCHER_BARRIERS_H
#define WATCHER_BARRIERS_H

#include "proto/base/log.h"
#include "proto/bus/delivery.h"

#define BARRIERS_MAX 64 /* that wait, and as many that were reached are known */

/* A barrier's number belongs to who asks: another life of the scheduler may draw it again. */
struct barrier_name {
    int64_t id;
    struct address from; /* peer 0: the asker is gone */
};

/* Reached when the kind i has ended list number tickets[i]; 0: does not matter. */
struct barrier_asked {
    struct barrier_name name;
    uint64_t *tickets;
};

struct barriers {
    struct barrier_asked waiting[BARRIERS_MAX];
    size_t count;
    struct barrier_name reached[BARRIERS_MAX]; /* the last ones, in a ring */
    uint64_t reached_count, refused;
    int64_t last; /* id of the one reached last; 0: none */
    struct log_limit limit;
};

void barriers_free(struct barriers *b);
/* Takes a question; its tickets, one for each kind, all 0, for the caller to fill. NULL: it waits
 * already, or there is no room for it. *again: it was reached, and the asker has not heard so: no
 * list need be begun for it. */
uint64_t *barriers_ask(struct barriers *b, struct moment now, const struct barrier_name *name,
                       size_t kinds, bool *again);
/* Who is gone may come back and take the answer all the same, but makes room for others. */
void barriers_lose(struct barriers *b, struct address from);
/* True when one is reached whose tickets are all over; it waits no longer, and is the last one. */
bool barriers_next(struct barriers *b, bool (*over)(const void *context, const uint64_t *tickets),
                   const void *context);

#endif
