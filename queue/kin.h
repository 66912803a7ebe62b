/* kin: pods that ask for the same, and of which at least one was tried (kins.h: what that is for).
 *
 * Cousins ask for the same but for their claims and volumes. */
#ifndef QUEUE_KIN_H
#define QUEUE_KIN_H

#include "proto/base/heap.h"
#include "proto/base/moment.h"
#include "proto/base/table.h"
#include "proto/packed_store.h"

#include <stdbool.h>
#include <stddef.h>

struct entry;
struct queues;
struct surroundings;

struct kin {
    struct kins *kins;
    struct store_part *parts[STORE_PARTS]; /* of each member's pod; this and around are the key */
    const struct surroundings *around;
    size_t members;      /* entries */
    size_t under_way;    /* attempts whose outcome is owed, of pods that may have left since */
    size_t limit;        /* so many at once */
    size_t released;     /* were parked, and wait for their turn again */
    struct heap *parked; /* who may be tried first, first; NULL while nobody ever was */
    uint32_t hash;
    bool cousins;        /* they have claims or volumes; of the key, too */
    struct span pause;   /* of cousins, after the last rejection */
    struct moment until; /* its end */
    size_t wins;         /* since the last rejection */
    bool spoken;         /* a rejection speaks for all; who was rejected is asleep */
    bool marked;         /* to be looked at by kins_tick */
    struct kin *next;    /* marked, too */
};

struct kins {
    struct table table;
    struct kin *marked;
    size_t parked;   /* entries */
    uint64_t spared; /* turns that were not taken */
};

#define KIN_LIMIT_MOST 65536

/* True when the pod asks for what they ask for. */
bool kin_has(const struct kin *k, const struct entry *e);
/* The pod, which has no kin, gets those that ask for the same; limit is theirs if it is the first.
 */
void kin_join(struct kins *kins, struct entry *e, size_t limit);
/* The pod of the entry has kin no more; it may have had none. */
void kin_leave(struct entry *e);
/* The entry leaves its place. */
void kin_unplaced(struct entry *e);
/* It will be looked at (kins_tick). */
void kin_mark(struct kin *k);
void kin_free(struct kin *k);

/* Of an attempt: under way, and over. NULL is allowed. */
void kin_started(struct kin *k);
void kin_ended(struct kin *k);
/* The attempt found a place. NULL is allowed. */
void kin_won(struct kin *k);

#endif
