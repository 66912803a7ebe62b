/* differences: what several processes hold of one set, compared again and again; pure.
 *
 * While a cluster lives, what has changed is in one process sooner than in the next. So there are
 * several looks, some time apart, and what counts is what stays: the same object, with the same
 * values on both sides, in DIFFERENCE_LOOKS looks one behind the other, although whoever differs
 * has taken in since all that the other had when it was seen first. */
#ifndef CTL_DOCTOR_DIFFERENCES_H
#define CTL_DOCTOR_DIFFERENCES_H

#include "proto/base/arena.h"
#include "proto/base/map.h"
#include "proto/messages.h"

#define DIFFERENCE_LOOKS 3
#define DIFFERENCES_MAX  10000 /* more are counted alone */

/* What one of them holds of the set; borrowed. */
struct side {
    struct str who; /* watcher, queue, worker-1 */
    const struct held_thing *things;
    uint32_t count;
    int64_t epoch, sequence; /* its place in the state stream; epoch 0: it has none */
};

enum difference_kind {
    DIFFERENCE_lacks,   /* who has nothing of what there is */
    DIFFERENCE_extra,   /* who has what there is no more */
    DIFFERENCE_version, /* who has another version */
    DIFFERENCE_node     /* who has the pod on another node */
};

/* Strings are the differences' own. */
struct difference {
    enum difference_kind kind;
    struct str who, than; /* who differs from whom */
    struct str set;
    struct held_thing has, should; /* either is empty where it is not held */
    uint32_t first, last;          /* looks that showed it */
    int64_t epoch, sequence;       /* where than was at the first one; epoch 0: no stream between */
    bool caught_up;                /* who has been there since */
};

/* Zero-initialise. */
struct differences {
    uint32_t look; /* from 1 on */
    struct map *known;
    struct difference **at; /* in the order in which they were found, gone ones included */
    uint32_t count, room;
    uint64_t dropped; /* not kept, because there are too many */
    struct arena memory;
};

/* Another look: what is not found again by its end was in motion. */
void differences_look(struct differences *d);
/* Compares: than is what there is, and what the sides hold together is to be the same. who_lacks
 * is who lacks what none of them has. */
void differences_compare(struct differences *d, struct str set, const struct side *than,
                         const struct side *sides, uint32_t count);
/* Seen in the last look; and in enough of them to be believed. */
bool differences_open(const struct differences *d, const struct difference *one);
bool differences_settled(const struct differences *d, const struct difference *one);
uint32_t differences_count_open(const struct differences *d);
uint32_t differences_count_settled(const struct differences *d);
void differences_free(struct differences *d);

#endif
