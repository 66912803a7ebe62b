/* score_range: the range of a rule's raw scores over some nodes, which scores are normalised with:
 * of one worker's nodes or of all, found in one go or kept while nodes come and go. */
#ifndef SCHEDULER_RULES_SCORE_RANGE_H
#define SCHEDULER_RULES_SCORE_RANGE_H

#include "proto/messages.h"

struct plugin;

/* All zero: of nobody. */
struct score_range {
    bool any;
    int64_t least, greatest;
};

/* Of nobody yet; of a rule that needs only the greatest, 0 stands in it as if a node had it. */
struct score_range score_range_begin(const struct plugin *p);
/* SCORE_IGNORED changes nothing. */
void score_range_add(struct score_range *range, int64_t raw);

/* Widens it by another. */
static inline void score_range_join(struct score_range *range, const struct score_range *by)
{
    if (!by->any)
        return;
    if (!range->any || by->least < range->least)
        range->least = by->least;
    if (!range->any || by->greatest > range->greatest)
        range->greatest = by->greatest;
    range->any = true;
}

static inline bool score_range_same(const struct score_range *a, const struct score_range *b)
{
    return a->any == b->any && a->least == b->least && a->greatest == b->greatest;
}

/* The part lies in it. */
bool score_range_holds(const struct score_range *range, const struct score_range *part);

/* What a message tells of the rule's, and how a message tells it. */
struct score_range score_range_told(const struct extreme *at, uint32_t count,
                                    const struct plugin *p);
struct extreme score_range_tell(const struct score_range *range, const struct plugin *p);

/* A range and how many stand at its ends. */
struct kept_range {
    struct score_range range;
    uint32_t at_least, at_greatest;
};

void kept_range_begin(struct kept_range *kept, const struct plugin *p);
void kept_range_enter(struct kept_range *kept, int64_t raw);
void kept_range_leave(struct kept_range *kept, int64_t raw);
/* True when one left that was the last at an end: the range is to be found anew. */
bool kept_range_is_worn(const struct kept_range *kept);

#endif
