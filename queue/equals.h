/* equals: pods that ask for the same, and of which at least one was tried (equivalence.h: what that
 * is for).
 *
 * Similar pods ask for the same but for their claims and volumes. */
#ifndef QUEUE_EQUALS_H
#define QUEUE_EQUALS_H

#include "proto/base/heap.h"
#include "proto/base/moment.h"
#include "proto/base/table.h"
#include "proto/packed_store.h"

#include <stdbool.h>
#include <stddef.h>

struct entry;
struct queues;
struct surroundings;

struct equals {
    struct equivalence *equivalence;
    struct store_part *parts[STORE_PARTS]; /* of each member's pod; this and around are the key */
    const struct surroundings *around;
    size_t members;      /* entries */
    size_t under_way;    /* attempts whose outcome is owed, of pods that may have left since */
    size_t limit;        /* so many at once */
    size_t released;     /* were parked, and wait for their turn again */
    struct heap *parked; /* who may be tried first, first; NULL while nobody ever was */
    uint32_t hash;
    bool similar;        /* they have claims or volumes; of the key, too */
    struct span pause;   /* of similar pods, after the last rejection */
    struct moment until; /* its end */
    size_t wins;         /* since the last rejection */
    bool spoken;         /* a rejection speaks for all; who was rejected is asleep */
    bool marked;         /* to be looked at by equivalence_tick */
    struct equals *next; /* marked, too */
};

struct equivalence {
    struct table table;
    struct equals *marked;
    size_t parked;   /* entries */
    uint64_t spared; /* turns that were not taken */
};

#define EQUALS_LIMIT_MOST 65536

/* True when the pod asks for what they ask for. */
bool equals_has(const struct equals *k, const struct entry *e);
/* The pod, which has no equals, gets those that ask for the same; limit is theirs if it is the
 * first.
 */
void equals_join(struct equivalence *equivalence, struct entry *e, size_t limit);
/* The pod of the entry has equals no more; it may have had none. */
void equals_leave(struct entry *e);
/* The entry leaves its place. */
void equals_unplaced(struct entry *e);
/* It will be looked at (equivalence_tick). */
void equals_mark(struct equals *k);
void equals_free(struct equals *k);

/* Of an attempt: under way, and over. NULL is allowed. */
void equals_started(struct equals *k);
void equals_ended(struct equals *k);
/* The attempt found a place. NULL is allowed. */
void equals_won(struct equals *k);

#endif
