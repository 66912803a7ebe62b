/* faults_links: what goes wrong between processes, and who comes that is none of ours. What must
 * stay true: nothing of it goes on behind faults_heal_links. */
#include "tests/simulation/faults_links.h"

#include "tests/simulation/facts.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/users.h"
#include "tests/simulation/wires.h"
#include "tests/simulation/world.h"

#include <string.h>

static bool on_link(const struct action *x, void (*hurt)(uint32_t link, const struct action *x))
{
    uint32_t count = wires_connections();
    if (count == 0)
        return false;
    trace(1, "%s: %s", action_name(x->kind), wires_name(x->a % count));
    hurt(x->a % count, x);
    return true;
}

static void cut(uint32_t link, const struct action *x)
{
    (void)x;
    wires_cut(link);
}

static void hold(uint32_t link, const struct action *x)
{
    wires_hold(link, clock_now() + faults_so_long(x->b, 10 * MS, 8 * SECOND));
}

static void lose(uint32_t link, const struct action *x)
{
    wires_lose(link, 1 + x->b % 3);
}

static void twice(uint32_t link, const struct action *x)
{
    (void)x;
    wires_double(link);
}

/* Who waits for room is deleted, and queues hear of it late. */
static bool delete_nominee(const struct action *x)
{
    int64_t length = faults_so_long(x->b, SECOND, 8 * SECOND);
    const struct pod_fact *p = NULL;
    for (uint32_t i = 0; i < PODS_MAX && p == NULL; i++) {
        const struct pod_fact *any = &facts_pods[(x->a + i) % PODS_MAX];
        p = any->there && any->node[0] == 0 && any->nominated[0] != 0 ? any : NULL;
    }
    if (p == NULL)
        return false;
    trace(1, "%s is deleted, and queues hear of it %lld ms later", p->name,
          (long long)(length / MS));
    for (uint32_t i = 0; i < wires_connections(); i++)
        if (strstr(wires_name(i), "queue>watcher") != NULL)
            wires_hold(i, clock_now() + length);
    return users_delete_pod(p->name, 0);
}

static struct {
    int64_t until, every;
} flapping;

static void flap(void *context, uint64_t argument)
{
    (void)context;
    (void)argument;
    if (clock_now() >= flapping.until)
        return;
    if (wires_connections() > 0)
        wires_cut(0);
    clock_call(clock_now() + flapping.every, flap, NULL, 0);
}

/* What has just been connected is cut off, again and again: what one says first is not heard to
 * its end. */
static bool flap_links(const struct action *x)
{
    if (flapping.until > clock_now())
        return false;
    flapping.until = clock_now() + faults_so_long(x->b, SECOND, 8 * SECOND);
    flapping.every = faults_so_long(x->c, 5 * MS, 300 * MS);
    trace(1, "the newest link is cut every %lld ms for %lld ms", (long long)(flapping.every / MS),
          (long long)((flapping.until - clock_now()) / MS));
    flap(NULL, 0);
    return true;
}

static void usual_bus(void *context, uint64_t argument)
{
    (void)context;
    (void)argument;
    wires_reset();
}

/* Snapshots are made at beginnings, so a watcher begins anew. */
static bool tear_snapshots(const struct action *x)
{
    struct proc *p = world_find((int)(x->a % GROUPS), WATCHER);
    int64_t length = faults_so_long(x->b, SECOND, 10 * SECOND);
    if (p == NULL)
        return false;
    trace(1, "%s falls, and snapshots break off for %lld ms", p->door, (long long)(length / MS));
    wires_tear(clock_now() + length);
    proc_kill(p);
    return true;
}

static bool slow_bus(const struct action *x)
{
    int64_t least = faults_so_long(x->a, MS, 50 * MS),
            most = faults_so_long(x->b, 50 * MS, 2 * SECOND);
    int64_t length = faults_so_long(x->c, SECOND, 30 * SECOND);
    trace(1, "frames take %lld to %lld ms for %lld ms", (long long)(least / MS),
          (long long)(most / MS), (long long)(length / MS));
    wires_latency(least, most);
    clock_call(clock_now() + length, usual_bus, NULL, 0);
    return true;
}

static bool stranger_comes(const struct action *x)
{
    return world_stranger_comes(x->a, x->b,
                                clock_now() + faults_so_long(x->c, SECOND, 20 * SECOND));
}

void faults_heal_links(void)
{
    flapping.until = 0;
}

bool faults_do_links(const struct action *x)
{
    switch (x->kind) {
    case DO_cut_link: return on_link(x, cut);
    case DO_hold_link: return on_link(x, hold);
    case DO_lose_frame: return on_link(x, lose);
    case DO_double_frame: return on_link(x, twice);
    case DO_flap_links: return flap_links(x);
    case DO_tear_snapshots: return tear_snapshots(x);
    case DO_delete_nominee: return delete_nominee(x);
    case DO_slow_bus: return slow_bus(x);
    case DO_stranger_comes: return stranger_comes(x);
    default: return false;
    }
}
