/* picking: nodes for pods that are unlike each other, from what several workers say of each of them
 * on nodes as they are (map_picks_result), and of nodes to which pods before it would come
 * (map_checked). */
#ifndef SCHEDULER_MERGE_PICKING_H
#define SCHEDULER_MERGE_PICKING_H

#include "proto/base/random.h"
#include "proto/messages.h"
#include "scheduler/rules/framework.h"
#include "scheduler/rules/score_range.h"

#define PICKS_MAX 16 /* pods of a question; no more than there are bits */

struct picking;

/* For up to so many workers. */
struct picking *picking_new(uint32_t workers);
void picking_free(struct picking **p);

/* A question of so many pods is asked of so many workers. */
void picking_begin(struct picking *p, uint32_t workers, uint32_t pods);
/* Takes in what a worker says, once each; false: it makes no sense, and counts as having said
 * nothing. */
bool picking_take(struct picking *p, uint32_t worker, const struct map_picks_result *said);
/* How many of the pods every worker has told of. */
uint32_t picking_told(const struct picking *p);

/* True when a worker has other ranges for the pod than those that all were asked with. */
bool picking_has_ranges(const struct picking *p, uint32_t pod);
/* What all were asked with. */
struct picking_ranges {
    const struct framework *framework;
    uint32_t count;
    const struct extreme *at;
};

/* The ranges of all workers, by scorer, and bits of those that there are: what they have told, and
 * where they have told nothing what they were asked with. */
uint64_t picking_merge_ranges(struct picking *p, uint32_t pod, const struct picking_ranges *asked,
                              struct score_range *all);

/* Where a pod goes. */
struct picked {
    struct str node;         /* until the next picking_begin */
    int64_t total, feasible; /* its score; how many nodes pass, with none of these pods on them */
    int64_t ties;            /* how many nodes have that total */
    uint32_t from;           /* whose node that is */
    uint32_t pick;           /* and which of its picks */
};

/* Of one pod: as its request has them. */
struct picking_dice {
    enum tie_break_rule tie_break; /* random or first */
    int64_t seed;                  /* workers make the first throw */
};

/* The best node for the pod, of those that no pod before it goes to; it is taken then. Pods come in
 * order. False: none can be told, and the pod is to be asked about alone. */
bool picking_choose(struct picking *p, uint32_t pod, const struct picking_dice *dice,
                    struct picked *out);

/* Takes in what a worker says of its nodes with so many of the pods on them; false: it makes no
 * sense. */
bool picking_take_checked(struct picking *p, uint32_t worker, uint32_t pods,
                          const struct map_checked *said);

enum picking_verdict {
    PICKING_stands, /* the pod goes there, and the next one may be looked at */
    PICKING_other,  /* it goes where *at says now, a node that a pod before it goes to: of those
                       behind it nothing is known */
    PICKING_unknown /* it is to be decided when those before it are placed */
};
/* Whether what was chosen for the pod is still best, with those before it on their nodes. narrows:
 * ranges might be others without some node. */
enum picking_verdict picking_check(const struct picking *p, uint32_t pod, bool narrows,
                                   const struct picking_dice *dice, struct picked *at);

/* Bits of plugins that had nothing to do for the pod, as in map_result. */
void picking_skipped(const struct picking *p, uint32_t pod, uint64_t *pre_filter, uint64_t *score);

#endif
