/* random: splitmix64. The one idea: a decision that used chance can be replayed, because the state
 * that gave it is a single number that travels in messages. */
#include "proto/base/random.h"
#include "proto/base/must.h"

#include <sys/random.h>

uint64_t random_next(struct random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t random_below(struct random *r, uint64_t below)
{
    must(below > 0);
    uint64_t limit = UINT64_MAX - UINT64_MAX % below; /* above it the remainder would be biased */
    uint64_t v;
    do
        v = random_next(r);
    while (v >= limit);
    return v % below;
}

double random_fraction(struct random *r)
{
    return (double)(random_next(r) >> 11) * 0x1.0p-53;
}

uint64_t random_seed(void)
{
    uint64_t seed;
    must(getrandom(&seed, sizeof(seed), 0) == (ssize_t)sizeof(seed));
    return seed;
}
