/* random: a small seeded generator, for tie-breaks, jitter and tests; never for secrets. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

/* The state is the seed: the same state gives the same numbers. 0 is a fine seed. */
struct random {
    uint64_t state;
};

uint64_t random_next(struct random *r);
/* Uniform in [0, below), below > 0. */
uint64_t random_below(struct random *r, uint64_t below);
/* Uniform in [0, 1). */
double random_fraction(struct random *r);
/* A seed from the operating system. */
uint64_t random_seed(void);

#endif
