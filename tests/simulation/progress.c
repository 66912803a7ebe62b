/* progress: looks once a second who is well and which pods could be bound. What must stay true: a
 * pod that fitted all the while, as long as some instance was well all the while, is bound in time.
 */
#include "tests/simulation/progress.h"

#include "tests/simulation/calls.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/world.h"

#include <string.h>

/* The lease has to run out, to be taken, and lists have to be read again; a pod may wait for its
 * backoff. */
#define IN_TIME   (70 * SECOND)
#define NOMINATED (70 * SECOND) /* a group may keep room for itself for so long */
#define DEAF      (90 * SECOND) /* a watch that is forgotten may go unnoticed for so long */

static struct {
    int64_t well_since[GROUPS]; /* -1: it is not */
    int64_t deaf_at;            /* when one of them last was */
    int64_t fits_since[PODS_MAX];
    char uid[PODS_MAX][40];
    struct {
        int64_t cpu, memory, pods;
    } used[NODES_MAX];
} all;

static bool weather_is_fair(int group)
{
    const struct weather *w = weather();
    return w->usual <= 20 * MS &&
           w->refused + w->lost + w->unanswered + w->late + w->gone + w->rejected == 0 &&
           !w->cut[group] && !w->blind && w->watch_lag[group] == 0 && w->page <= SECOND &&
           !calls_are_deaf(group);
}

/* Some process of it waits for an answer that will not come. */
static bool hangs(int group)
{
    for (uint32_t i = 0; i < world_procs(); i++) {
        const struct proc *p = world_proc(i);
        if (p->group == group && p->alive && p->calls != NULL && calls_hang(p->calls))
            return true;
    }
    return false;
}

static bool is_well(int group)
{
    bool any = false;
    for (uint32_t i = 0; i < world_procs(); i++) {
        const struct proc *p = world_proc(i);
        if (p->group != group)
            continue;
        any = any || p->wanted;
        if (p->wanted &&
            (!p->alive || p->hung_until > clock_now() || p->starved_until > clock_now()))
            return false;
    }
    return any && !hangs(group) && weather_is_fair(group) &&
           world_host(group)->suspended_until <= clock_now();
}

static void add_up(void)
{
    memset(all.used, 0, sizeof(all.used));
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        const struct node_fact *n =
            p->there && p->node[0] != 0 && !facts_ended(p) ? facts_node(p->node) : NULL;
        if (n == NULL)
            continue;
        all.used[n - facts_nodes].cpu += p->cpu;
        all.used[n - facts_nodes].memory += p->memory;
        all.used[n - facts_nodes].pods++;
    }
}

/* The first node; NULL: it fits on none. */
static const char *place_for(const struct pod_fact *p)
{
    for (uint32_t i = 0; i < NODES_MAX; i++) {
        const struct node_fact *n = &facts_nodes[i];
        if (n->there && !n->closed && (!n->tainted || p->tolerates) &&
            (p->zone[0] == 0 || strcmp(p->zone, n->zone) == 0) &&
            all.used[i].cpu + p->cpu <= n->cpu && all.used[i].memory + p->memory <= n->memory &&
            all.used[i].pods + 1 <= n->pods && facts_fits(p, n)) /* the last is slow */
            return n->name;
    }
    return NULL;
}

/* Small pages of a slow server: each of the two instances may have to read the longest list before
 * it leads, or after. */
static int64_t lists_take(void)
{
    const struct traits *t = world_traits();
    int64_t pages = (int64_t)model_longest_list(world_model()) / t->page_size + 1;
    return 2 * (pages * t->page + t->page_most);
}

static void look_at_pod(uint32_t i, int64_t well_since)
{
    const struct pod_fact *p = &facts_pods[i];
    bool waits = p->there && p->plain && !p->gated && !p->foreign && p->node[0] == 0 &&
                 !p->deleting && !facts_ended(p);
    const char *place = waits ? place_for(p) : NULL;
    if (place == NULL || strcmp(all.uid[i], p->uid) != 0) {
        all.fits_since[i] = clock_now();
        memcpy(all.uid[i], p->uid, sizeof(all.uid[i]));
        return;
    }
    int64_t since = all.fits_since[i] > well_since ? all.fits_since[i] : well_since;
    int64_t most = IN_TIME + lists_take() + (world_traits()->gangs ? NOMINATED : 0);
    if (all.deaf_at > since) /* it may be the leader, which does not know yet */
        most += DEAF;
    if (clock_now() - since > most)
        violated("somebody leads who can",
                 "%s fits on %s for %lld s and %s is well for %lld s, and it is pending; %s leads",
                 p->name, place, (long long)((clock_now() - all.fits_since[i]) / SECOND),
                 all.well_since[0] == well_since ? "a" : "b",
                 (long long)((clock_now() - well_since) / SECOND),
                 !world_traits()->elect      ? "it"
                 : checks_lease_holder() < 0 ? "nobody"
                                             : world_identity(checks_lease_holder()));
}

static void look(void *context, uint64_t argument)
{
    int64_t well_since = INT64_MAX;
    (void)context;
    (void)argument;
    for (int g = 0; g < GROUPS; g++) {
        if (calls_are_deaf(g) || hangs(g))
            all.deaf_at = clock_now();
        if (!is_well(g))
            all.well_since[g] = -1;
        else if (all.well_since[g] < 0)
            all.well_since[g] = clock_now();
        if (all.well_since[g] >= 0 && all.well_since[g] < well_since)
            well_since = all.well_since[g];
    }
    add_up();
    for (uint32_t i = 0; i < PODS_MAX; i++)
        look_at_pod(i, well_since);
    clock_call(clock_now() + SECOND, look, NULL, 0);
}

void progress_disturbed(void)
{
    for (int g = 0; g < GROUPS; g++)
        all.well_since[g] = -1;
}

void progress_reset(void)
{
    memset(&all, 0, sizeof(all));
    progress_disturbed();
    clock_call(SECOND, look, NULL, 0);
}
