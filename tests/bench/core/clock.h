/* clock: CPU time of this process, as exact as the kernel tells it. */
#ifndef TESTS_BENCH_CORE_CLOCK_H
#define TESTS_BENCH_CORE_CLOCK_H

#include <stdint.h>

/* CPU nanoseconds of this process, of all its threads, since it started. */
int64_t clock_cpu_ns(void);
/* Of the thread that asks. */
int64_t clock_thread_ns(void);
/* Of children that have ended and were waited for. */
int64_t clock_children_ns(void);
/* The same of another process, by its pid; 0 when it is gone. */
int64_t clock_cpu_ns_of(int pid);

/* Laps: each gives the CPU time since the one before, less what asking costs. */
struct stopwatch {
    int64_t last;
};

void stopwatch_start(struct stopwatch *w);
int64_t stopwatch_lap(struct stopwatch *w);

/* CPU nanoseconds of one call, over as many as fit into the time; at least one. */
double clock_ns_of(void (*once)(void *), void *state, double seconds);

#endif
