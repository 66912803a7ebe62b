/* clock: time is a number that the next event sets. What must stay true: nothing in the program
 * reads a real clock or a real source of randomness; the linker gives it these (--wrap). */
#include "tests/simulation/clock.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <sys/types.h>

#define WALL_AT_ZERO INT64_C(1767323045000006) /* 2026-01-02T03:04:05.000006Z */
#define DRIFT_STEPS  3 /* each leaves a few thousandths of the error that the one before left */

struct event {
    int64_t at;
    uint64_t order;
    void (*call)(void *context, uint64_t argument);
    void *context;
    uint64_t argument;
};

static struct {
    int64_t now;
    uint64_t order, steps;
    struct event *heap;
    size_t count, room;
    const struct host *host;
    struct random dice;
} clock;

static bool before(const struct event *a, const struct event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void sift_up(size_t i)
{
    struct event e = clock.heap[i];
    while (i > 0 && before(&e, &clock.heap[(i - 1) / 2])) {
        clock.heap[i] = clock.heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    clock.heap[i] = e;
}

static void sift_down(size_t i)
{
    struct event e = clock.heap[i];
    for (size_t child; (child = 2 * i + 1) < clock.count; i = child) {
        if (child + 1 < clock.count && before(&clock.heap[child + 1], &clock.heap[child]))
            child++;
        if (!before(&clock.heap[child], &e))
            break;
        clock.heap[i] = clock.heap[child];
    }
    clock.heap[i] = e;
}

void clock_call(int64_t at, void (*call)(void *context, uint64_t argument), void *context,
                uint64_t argument)
{
    if (clock.count == clock.room) {
        clock.room = clock.room ? clock.room * 2 : 256;
        clock.heap = memory_resize(clock.heap, clock.room * sizeof(*clock.heap));
    }
    clock.heap[clock.count] = (struct event){.at = at > clock.now ? at : clock.now,
                                             .order = ++clock.order,
                                             .call = call,
                                             .context = context,
                                             .argument = argument};
    sift_up(clock.count++);
}

bool clock_step(int64_t until)
{
    if (clock.count == 0 || clock.heap[0].at > until) {
        clock.now = until > clock.now ? until : clock.now;
        return false;
    }
    struct event e = clock.heap[0];
    if (--clock.count > 0) {
        clock.heap[0] = clock.heap[clock.count];
        sift_down(0);
    }
    clock.now = e.at;
    clock.steps++;
    e.call(e.context, e.argument);
    return true;
}

uint64_t clock_steps(void)
{
    return clock.steps;
}

void clock_reset(uint64_t seed)
{
    clock.now = 0;
    clock.count = 0;
    clock.order = clock.steps = 0;
    clock.host = NULL;
    clock.dice.state = seed;
}

int64_t clock_now(void)
{
    return clock.now;
}

void clock_at(const struct host *host)
{
    clock.host = host;
}

static int64_t shown_at(const struct host *host, int64_t now)
{
    return host->mono_base + now + now / 1000000 * host->drift_ppm;
}

struct moment clock_of(const struct host *host)
{
    return (struct moment){shown_at(host, clock.now)};
}

int64_t clock_true(const struct host *host, struct moment at)
{
    if (at.ns == INT64_MAX)
        return INT64_MAX;
    int64_t shown = at.ns - host->mono_base, guess = shown;
    for (int i = 0; i < DRIFT_STEPS; i++)
        guess += at.ns - shown_at(host, guess);
    return guess + 2000; /* never before the host's clock shows it */
}

uint64_t dice(uint64_t below)
{
    return below == 0 ? 0 : random_below(&clock.dice, below);
}

bool dice_percent(double percent)
{
    return random_fraction(&clock.dice) * 100 < percent;
}

int64_t dice_between(int64_t least, int64_t most)
{
    return most <= least ? least : least + (int64_t)dice((uint64_t)(most - least));
}

int64_t dice_spread(int64_t least, int64_t usual, int64_t most)
{
    return dice_percent(95) ? dice_between(least, usual) : dice_between(usual, most);
}

/* ---- what the linker puts in the place of the real ones ---- */

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): ld's names */
struct moment __wrap_moment_now(void);
int64_t __wrap_moment_wall_us(void);
int64_t __wrap_moment_boot_ns(void);
uint64_t __wrap_random_seed(void);
pid_t __wrap_getpid(void);

struct moment __wrap_moment_now(void)
{
    return clock.host != NULL ? clock_of(clock.host) : (struct moment){clock.now + SECOND};
}

int64_t __wrap_moment_wall_us(void)
{
    int64_t offset = clock.host != NULL ? clock.host->wall_offset_us : 0;
    return WALL_AT_ZERO + clock.now / 1000 + offset;
}

int64_t __wrap_moment_boot_ns(void)
{
    return __wrap_moment_now().ns;
}

uint64_t __wrap_random_seed(void)
{
    return random_next(&clock.dice);
}

pid_t __wrap_getpid(void)
{
    return 4711;
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
