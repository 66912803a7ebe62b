/* requested_score: what NodeResourcesFit scores, and the two plugins of the old Policy that score
 * beside it. For the members score_begin, score and score_rows of a plugin. */
#ifndef SCHEDULER_RULES_REQUESTED_SCORE_H
#define SCHEDULER_RULES_REQUESTED_SCORE_H

#include "scheduler/rules/plugin.h"

enum requested_kind {
    STRATEGY_least_allocated,
    STRATEGY_most_allocated,
    STRATEGY_requested_to_capacity_ratio
};

struct requested_strategy {
    enum requested_kind kind;
    const struct quantity *resources; /* amounts are weights */
    uint32_t count;
    const struct shape_point *points; /* of the ratio; borrowed during the cycle */
    uint32_t point_count;
};

/* What a shape says of a utilization in percent, 0 to SCORE_MAX: straight lines between its points,
 * cut toward zero. */
int64_t shape_score(const struct shape_point *points, uint32_t count, int64_t utilization);
/* A cycle's state, in its arena. */
void *requested_begin(const struct cycle *c, const struct requested_strategy *strategy);
/* 0 to SCORE_MAX. */
int64_t requested_score(const struct cycle *c, const void *state, const struct nodes *n,
                        uint32_t row);
void requested_score_rows(const struct cycle *c, const void *state, const struct nodes *n,
                          struct row_range rows, int64_t *raw);

#endif
