/* pulse: is a process of ours hung? Decided from what the supervisor sees of it from time to time:
 * whether its loop turns (proto/base/beat.h) and what the kernel says of its first thread, which is
 * the one that the loop runs in. */
#ifndef CTL_PULSE_H
#define CTL_PULSE_H

#include "proto/base/moment.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Its loop has not turned for so long, and it has not run either: stopped, or waiting for something
 * that does not come. */
#define PULSE_STILL_MS 5000
/* Its loop has not turned for so long although it runs: busy with one piece of work. The longest
 * one is taking in a page of a list or a snapshot, which is seconds. */
#define PULSE_BUSY_MS 60000
/* It has not come to its loop. */
#define PULSE_START_MS 60000
/* How often to look. */
#define PULSE_LOOK_MS 500

struct pulse_sight {
    uint64_t turns;  /* of its loop; 0: it starts */
    int64_t cpu;     /* what its first thread has used, in any unit */
    bool runs;       /* running or ready to, by the kernel's word */
    bool under_test; /* a debugger holds it */
};

/* Zero: nothing was seen yet. */
struct pulse {
    struct pulse_sight last;
    struct moment looked;
    struct span silent, still; /* since the loop has turned; and since it has run */
};

/* NULL: it is well; else why it is taken for hung. Time in which the looker itself did not look, as
 * when the host was suspended or everything was stopped, does not count. */
const char *pulse_look(struct pulse *p, struct moment now, const struct pulse_sight *sight);
/* Asks the kernel about the process's first thread: cpu, runs and under_test. False when there is
 * no such process, or no /proc. */
bool pulse_see(pid_t pid, struct pulse_sight *sight);

#endif
