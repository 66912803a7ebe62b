/* script: a plan as a text that a person reads, stores and plays again, without the seed that it
 * was drawn from:
 *
 *   # what stands behind a number sign is for the reader
 *   start dice=7 instances=2 lease=yes nodes=3 …    the world, and the seed of its chance
 *   at 12.34s kill_process a=3                      an action of plan.def, its time, its numbers
 *   expect quiet                                    or the invariant that is violated
 *
 * Words that are left out mean the plainest world, and 0 as an action's number. Durations are
 * numbers of s or ms. */
#ifndef TESTS_SIMULATION_SCRIPT_H
#define TESTS_SIMULATION_SCRIPT_H

#include "tests/simulation/plan.h"

#define EXPECT_ROOM  32 /* as struct finding.check */
#define EXPECT_QUIET "quiet"

struct script {
    struct plan plan;
    char expect[EXPECT_ROOM];
};

/* Its first line alone, without the end of line. */
void script_print_start(struct buffer *to, const struct plan *plan);
/* The plan's notes become comments. */
void script_print(struct buffer *to, const struct plan *plan, const char *expect);
/* False with a text in error that names line and word; script is given back with plan_free of its
 * plan when it is true. */
bool script_parse(struct str text, struct script *script, struct buffer *error);

/* Words of a start line. */
uint32_t script_words(void);
/* The word's value becomes the plainest that there is, or (half) goes half of the way. False: that
 * changes nothing, or there is no such world. */
bool script_plainer(struct plan *plan, uint32_t word, bool half);

#endif
