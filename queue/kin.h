/* kin: pods that ask for the same, and of which at least one was tried: what is true of one of them
 * is true of all.
 *
 * A rejection speaks for all kin until an event wakes one of those that it sent to sleep: who comes
 * to its turn meanwhile is not tried but parked (PLACE_parked). And after a rejection kin are tried
 * one at a time, more while they find places, so that the next rejection comes before many of them
 * are under way; whoever stands behind them in line waits with them, since it may not overtake.
 *
 * Cousins ask for the same but for their claims and volumes. A rejection says of them what is
 * likely and not what is certain, so it only holds up those whose backoff runs, and for
 * milliseconds. */
#ifndef QUEUE_KIN_H
#define QUEUE_KIN_H

#include "proto/base/heap.h"
#include "proto/base/moment.h"
#include "proto/base/table.h"
#include "proto/shelf.h"

#include <stdbool.h>
#include <stddef.h>

/* Nobody is spoken for by others for longer than this since its own last attempt; noticed with the
 * leftovers. So what a pod's condition says is never much older. */
#define KIN_SECONDS 60
/* The longest that cousins wait after rejections in a row; so few of them never do. */
#define COUSINS_PAUSE_MS 20
#define COUSINS_LEAST    4

struct entry;
struct queues;
struct surroundings;

struct kin {
    struct kins *kins;
    struct shelf_part *parts[SHELF_PARTS]; /* of each member's pod; this and around are the key */
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

void kins_free(struct kins *kins);

/* The pod of an entry that was tried before came anew, or has just been tried: it may have other
 * kin now, and if it was parked with the former, goes where it would be without. */
void kins_follow(struct queues *q, struct moment now, struct entry *e);
void kins_leave(struct entry *e);

/* Of an attempt: under way, and over. NULL is allowed. */
void kin_started(struct kin *k);
void kin_ended(struct kin *k);
/* The attempt found a place. NULL is allowed. */
void kin_won(struct kin *k);
/* The entry was rejected, and its kin would have been; it is asleep, or has been woken already. */
void kins_speak(struct entry *e, struct moment now);
/* The entry leaves its place. */
void kins_unplaced(struct entry *e);

/* Parks those at the head of the active queue who are spoken for. */
void kins_sift(struct queues *q, struct moment now);
/* The same at the head of those in backoff. */
void kins_sift_early(struct queues *q, struct moment now);
/* True while as many kin of it are under way as may be; of cousins, only early ones are counted
 * off. */
bool kins_full(const struct entry *e);

/* Parked pods whose kin are spoken for no more come back, as many as may be under way. */
void kins_tick(struct queues *q, struct moment now);
/* When that is wanted next, if nothing happens. */
struct moment kins_due(const struct kins *kins, struct moment now);
/* All come back, those whose own last attempt was too long ago to be tried whatever happens. */
void kins_flush(struct queues *q, struct moment now);

#endif
