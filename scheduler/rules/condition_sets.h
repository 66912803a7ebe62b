/* condition_sets: the types of pods' status.conditions, which most pods have in common, as numbers
 * that fit into a byte. */
#ifndef SCHEDULER_RULES_CONDITION_SETS_H
#define SCHEDULER_RULES_CONDITION_SETS_H

#include "proto/base/map.h"
#include "proto/messages.h"

#define CONDITION_SETS_MAX 255

/* Zero-initialise. */
struct condition_sets {
    uint32_t count;
    char *at[CONDITION_SETS_MAX]; /* types with a blank between them */
    struct map *numbers;          /* text -> its place in at */
};

void condition_sets_free(struct condition_sets *sets);
/* 1 to 255; 0 when there are too many different ones. */
uint8_t condition_sets_number(struct condition_sets *sets, const struct strs *types);
/* The types of a number that is not 0, in order; from the arena. */
struct strs condition_sets_types(const struct condition_sets *sets, uint8_t number,
                                 struct arena *a);

#endif
