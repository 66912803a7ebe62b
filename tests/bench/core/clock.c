/* clock: reads the process's CPU clock. Asking is a system call of more than half a microsecond on
 * some machines, so what it costs is found out once and taken off every lap; a lap is never
 * negative.
 *
 * What must stay true: wall time is not in here, because it says more about the neighbours on a
 * shared machine than about the program. */
#include "tests/bench/core/clock.h"

#include <sys/resource.h>
#include <time.h>

#define TRIES 2001
#define ROUND 64 /* repetitions between two looks at the clock */

static int64_t cost = -1; /* of one reading; -1: not known yet */

static int64_t read_clock(clockid_t id)
{
    struct timespec t;
    if (clock_gettime(id, &t) != 0)
        return 0;
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t clock_thread_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clock_children_ns(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return ((int64_t)u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
           ((int64_t)u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

int64_t clock_cpu_ns_of(int pid)
{
    clockid_t id;
    return clock_getcpuclockid(pid, &id) == 0 ? read_clock(id) : 0;
}

/* The least of many: what is above it was an interruption. */
static void find_cost(void)
{
    cost = INT64_MAX;
    int64_t last = clock_cpu_ns();
    for (int i = 0; i < TRIES; i++) {
        int64_t now = clock_cpu_ns();
        if (now - last < cost)
            cost = now - last;
        last = now;
    }
}

void stopwatch_start(struct stopwatch *w)
{
    if (cost < 0)
        find_cost();
    w->last = clock_cpu_ns();
}

int64_t stopwatch_lap(struct stopwatch *w)
{
    int64_t now = clock_cpu_ns(), took = now - w->last - cost;
    w->last = now;
    return took > 0 ? took : 0;
}

double clock_ns_of(void (*once)(void *), void *state, double seconds)
{
    struct stopwatch watch;
    double ns = 0, calls = 0;
    int round = 1; /* a slow one is over after the first, a fast one is not measured by itself */
    do {
        stopwatch_start(&watch);
        for (int i = 0; i < round; i++)
            once(state);
        ns += (double)stopwatch_lap(&watch);
        calls += round;
        round = round < ROUND ? 2 * round : round;
    } while (ns < seconds * 1e9);
    return ns / calls;
}
