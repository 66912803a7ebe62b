/* clock: virtual time, what is to happen in it, and the clocks that hosts show of it. */
#ifndef TESTS_SIMULATION_CLOCK_H
#define TESTS_SIMULATION_CLOCK_H

#include "proto/base/moment.h"
#include "proto/base/random.h"

/* A host's clocks, which may drift, step and stand still. */
struct host {
    const char *name;
    int64_t mono_base;       /* monotonic clock at true time 0, ns */
    int64_t drift_ppm;       /* of the monotonic clock */
    int64_t wall_offset_us;  /* of the wall clock */
    int64_t suspended_until; /* true time: nothing runs on it till then */
    int64_t down_until;      /* nobody starts on it till then */
    int64_t stepped_at;      /* its wall clock was set */
};

/* True time since the start, in ns. */
int64_t clock_now(void);
/* From now on moment_now and the wall clock are this host's; NULL: the true ones. */
void clock_at(const struct host *host);
struct moment clock_of(const struct host *host);
/* When the host's monotonic clock will show this; INT64_MAX for MOMENT_NEVER. */
int64_t clock_true(const struct host *host, struct moment at);

/* Calls it once, at the given true time (not before now); those of one time in the order in which
 * they were asked for. */
void clock_call(int64_t at, void (*call)(void *context, uint64_t argument), void *context,
                uint64_t argument);
/* Does what is due next, if that is not after until; else time becomes until and it says false. */
bool clock_step(int64_t until);
uint64_t clock_steps(void);
void clock_reset(uint64_t seed);

/* The simulation's dice. */
uint64_t dice(uint64_t below); /* 0 for 0 */
bool dice_percent(double percent);
int64_t dice_between(int64_t least, int64_t most);
/* Short most of the time, now and then long: ns. */
int64_t dice_spread(int64_t least, int64_t usual, int64_t most);

#define MS     INT64_C(1000000)
#define SECOND (1000 * MS)

#endif
