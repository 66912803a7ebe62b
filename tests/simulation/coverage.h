/* coverage: what a run has reached, counted by kind and name; what is known and was never reached
 * is named at the end. */
#ifndef TESTS_SIMULATION_COVERAGE_H
#define TESTS_SIMULATION_COVERAGE_H

#include <stdint.h>
#include <stdio.h>

#define COVERAGE_MAX   512
#define COVERAGE_SLOTS 2048 /* a power of two, of which most stay free */

struct covered {
    char kind[24], name[40];
    uint64_t count;
};

struct coverage {
    uint32_t count;
    struct covered at[COVERAGE_MAX];
    uint16_t slots[COVERAGE_SLOTS]; /* by their words: one more than the place in at; 0: free */
};

/* Where it is counted from now on. */
void coverage_into(struct coverage *c);
/* kind and name: kept by their contents. */
void cover(const char *kind, const char *name);
/* It can be reached. */
void coverage_known(const char *kind, const char *name);
void coverage_add(struct coverage *to, const struct coverage *from);
void coverage_print(struct coverage *c, FILE *to);
uint32_t coverage_missing(const struct coverage *c);

#endif
