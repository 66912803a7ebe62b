/* faults: what goes wrong with processes, links, the API server and clocks; each for a time. What
 * must stay true: world_heal undoes all of them. */
#include "proto/base/random.h"
#include "proto/kube/release/release.h"
#include "tests/simulation/calls.h"
#include "tests/simulation/controllers.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/facts.h"
#include "tests/simulation/faults_links.h"
#include "tests/simulation/plan.h"
#include "tests/simulation/progress.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/users.h"
#include "tests/simulation/wires.h"
#include "tests/simulation/world.h"

#include <stdio.h>
#include <string.h>

#define WALL_STEP_MAX (INT64_C(3700) * 1000000)             /* us */
#define DATES         (INT64_C(25) * 365 * 86400 * 1000000) /* us; from before 2038 to behind it */
#define LOOK_EVERY    (20 * MS)
#define LOOKS         300
#define MEDDLED       5             /* pods */
#define LEASE_MOST    (20 * SECOND) /* then it was renewed by the new clock, or lost */
#define SUSPEND_MAX   (60 * SECOND)

/* Between least and most, by a number that the action carries. */
int64_t faults_so_long(uint32_t n, int64_t least, int64_t most)
{
    return least + (int64_t)(n % 1000) * (most - least) / 1000;
}

/* A percentage of the weather, by its place, is nothing again. */
static void fair(void *context, uint64_t argument)
{
    (void)context;
    *(double *)((char *)weather() + argument) = 0;
}

/* ---- processes ---- */

static struct proc *chosen(uint32_t n)
{
    struct proc *p = world_proc(n % world_procs());
    return p->alive ? p : NULL;
}

static bool kill_process(const struct action *x)
{
    struct proc *p = chosen(x->a);
    if (p == NULL)
        return false;
    cover("killed", process_name(p->kind));
    proc_kill(p);
    return true;
}

static bool kill_group(const struct action *x)
{
    for (uint32_t i = 0; i < world_procs(); i++)
        if (world_proc(i)->group == (int)(x->a % GROUPS))
            proc_kill(world_proc(i));
    return true;
}

/* For longer than any lease lasts: the other one has to do without it. */
static bool lose_host(const struct action *x)
{
    const struct proc *leader = world_leader();
    struct action of_one = *x;
    if (leader != NULL && x->c % 4 != 0)
        of_one.a = (uint32_t)leader->group;
    struct host *host = world_host((int)(of_one.a % GROUPS));
    if (world_traits()->groups < GROUPS || host->down_until > clock_now())
        return false;
    host->down_until = clock_now() + faults_so_long(x->b, 120 * SECOND, 300 * SECOND);
    trace(1, "%s is gone for %lld s", host->name,
          (long long)((host->down_until - clock_now()) / SECOND));
    return kill_group(&of_one);
}

static void kill_later(void *context, uint64_t life)
{
    struct proc *p = context;
    if (p->alive && p->life == life)
        proc_kill(p);
}

/* Requests are on their way for long when the one that sent them dies. */
static bool burst_and_kill(const struct action *x)
{
    struct proc *p = world_leader();
    struct action burst = *x;
    burst.kind = x->a % 2 ? DO_create_burst : DO_create_replacement;
    if (p == NULL || !users_do(&burst))
        return false;
    int64_t delay = faults_so_long(x->b, 20 * MS, 3 * SECOND);
    trace(1, "%s is killed in %lld ms", p->door, (long long)(delay / MS));
    weather()->late = 100;
    clock_call(clock_now() + delay, kill_later, p, p->life);
    struct proc *other = world_find(p->group, p->kind == BINDER ? SCHEDULER : BINDER);
    if (x->c % 3 == 0 && other != NULL) /* then nobody is left who would know of them */
        clock_call(clock_now() + delay, kill_later, other, other->life);
    clock_call(clock_now() + 4 * SECOND, fair, NULL, offsetof(struct weather, late));
    return true;
}

static bool stop_process(const struct action *x)
{
    struct proc *p = chosen(x->a);
    if (p == NULL)
        return false;
    cover("stopped", process_name(p->kind));
    trace(1, "%s is told to stop", p->door);
    proc_stop(p);
    return true;
}

static struct {
    bool wanted, too_few;
} orphans;

/* Another member of its group; NULL: it is alone. */
static const struct pod_fact *fellow_of(const struct pod_fact *p)
{
    for (uint32_t i = 0; i < PODS_MAX; i++)
        if (facts_pods[i].there && &facts_pods[i] != p && strcmp(facts_pods[i].set, p->set) == 0)
            return &facts_pods[i];
    return NULL;
}

/* Schedulers fall as soon as a group waits for room, and it cannot have that room any more, or is
 * too small to be tried again. */
static bool orphan_now(void)
{
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        struct node_fact *n = p->there && p->set[0] != 0 && p->node[0] == 0 && !p->deleting
                                  ? facts_node(p->nominated)
                                  : NULL;
        if (n == NULL)
            continue;
        trace(1, "schedulers fall, and %s of group %s cannot have room on %s", p->name, p->set,
              n->name);
        const struct pod_fact *fellow = orphans.too_few ? fellow_of(p) : NULL;
        if (fellow != NULL)
            (void)users_delete_pod(fellow->name, 0);
        else
            (void)users_close_node(n, true);
        for (int g = 0; g < GROUPS; g++)
            if (world_find(g, SCHEDULER) != NULL)
                proc_kill(world_find(g, SCHEDULER));
        return true;
    }
    return false;
}

static void orphan_look(void *context, uint64_t looks)
{
    if (looks > 0 && orphans.wanted && !orphan_now())
        clock_call(clock_now() + LOOK_EVERY, orphan_look, context, looks - 1);
}

/* A group that makes room for itself comes first. */
static bool orphan_group(const struct action *x)
{
    struct action group = *x;
    group.kind = x->a % 2 ? DO_create_group : DO_create_tree_group;
    group.b = 94;           /* neither too large nor basic, and more important than most */
    group.c = 4 + x->c % 2; /* of large pods */
    if (!users_do(&group))
        return false;
    orphans.wanted = true;
    orphans.too_few = x->c / 2 % 2;
    orphan_look(NULL, LOOKS);
    return true;
}

static bool hang(uint32_t n, int64_t length)
{
    struct proc *p = chosen(n);
    if (p == NULL)
        return false;
    cover("hung", process_name(p->kind));
    trace(1, "%s hangs for %lld ms", p->door, (long long)(length / MS));
    proc_hang(p, clock_now() + length);
    return true;
}

static bool hang_process(const struct action *x)
{
    return hang(x->a, faults_so_long(x->b, 100 * MS, 12 * SECOND));
}

static bool hang_for_long(const struct action *x)
{
    return hang(x->a, faults_so_long(x->b, 12 * SECOND, 200 * SECOND));
}

static struct {
    struct proc *p;
    int64_t until;
} stranded;

static void fall_again(void *context, uint64_t argument)
{
    (void)context;
    (void)argument;
    if (clock_now() >= stranded.until)
        return;
    if (stranded.p->alive)
        proc_kill(stranded.p);
    clock_call(clock_now() + SECOND / 2, fall_again, NULL, 0);
}

/* One process of the leader falls as soon as it has started, for so long that the other instance
 * has to take over. */
static bool strand_leader(const struct action *x)
{
    static const enum process kinds[] = {SCHEDULER, QUEUE, WATCHER};
    const struct proc *leader = world_leader();
    struct proc *p = leader == NULL ? NULL : world_find(leader->group, kinds[x->a % 3]);
    if (p == NULL || !p->alive || !world_traits()->elect || world_traits()->groups < GROUPS)
        return false;
    trace(1, "%s falls again and again for %d s", p->door, (int)(FAULTS_STRANDED / SECOND));
    stranded.p = p;
    stranded.until = clock_now() + FAULTS_STRANDED;
    fall_again(NULL, 0);
    return true;
}

/* Others have its processor: mostly what decides, or all of a host. */
static bool starve(const struct action *x)
{
    int64_t until = clock_now() + faults_so_long(x->b, SECOND, 60 * SECOND);
    int64_t round = faults_so_long(x->c, 50 * MS, 500 * MS);
    struct proc *p = chosen(x->a);
    if (p == NULL)
        return false;
    bool host = x->a / 64 % 3 == 0;
    trace(1, "%s has no processor for up to %lld ms, again and again, for %lld s",
          host ? p->host->name : p->door, (long long)(round / MS),
          (long long)((until - clock_now()) / SECOND));
    for (uint32_t i = 0; i < world_procs(); i++)
        if (world_proc(i) == p || (host && world_proc(i)->host == p->host))
            proc_starve(world_proc(i), until, round);
    cover("starved", host ? "host" : process_name(p->kind));
    return true;
}

/* The n-th worker of a group; running says which kind. */
static struct proc *worker_of(uint32_t n, bool running)
{
    for (uint32_t i = 0; i < world_procs(); i++) {
        struct proc *p = world_proc((n + i) % world_procs());
        if (p->kind == WORKER && p->wanted == running)
            return p;
    }
    return NULL;
}

static bool worker_leaves(const struct action *x)
{
    struct proc *p = worker_of(x->a, true);
    uint32_t left = 0;
    for (uint32_t i = 0; p != NULL && i < world_procs(); i++)
        left += world_proc(i)->kind == WORKER && world_proc(i)->group == p->group &&
                world_proc(i)->wanted;
    if (p == NULL || (left < 2 && !world_traits()->own_worker))
        return false;
    cover("workers left", left < 2 ? "none" : "some");
    trace(1, "%s leaves", p->door);
    p->wanted = false;
    proc_stop(p);
    return true;
}

static bool worker_comes(const struct action *x)
{
    struct proc *p = worker_of(x->a, false);
    if (p == NULL || p->alive || p->host->down_until > clock_now())
        return false;
    p->wanted = true;
    proc_start(p);
    return true;
}

static bool reconfigure(const struct action *x)
{
    trace(1, "configuration %u", x->b % CONFIGS);
    for (int g = 0; g < GROUPS; g++)
        world_reconfigure(g, x->b % CONFIGS);
    return true;
}

/* Or a downgrade; now and then to one that nobody here knows. */
static bool upgrade_server(const struct action *x)
{
    uint32_t minor = x->a % 8 == 0 ? RELEASE_NEWEST + 1 : RELEASE_OLDEST + x->b % 2;
    char word[16];
    snprintf(word, sizeof(word), "1.%u", minor);
    trace(1, "the API server is %s", word);
    cover("api server is", word);
    model_set_version(world_model(), word);
    return true;
}

/* SIGUSR2: what it holds is compared with what the watcher has. */
static bool compare_names(const struct action *x)
{
    struct proc *p = world_find((int)(x->a % GROUPS), SCHEDULER);
    if (p == NULL || !p->alive)
        return false;
    trace(1, "%s compares", p->door);
    proc_dump(p);
    return true;
}

/* An operator asks what it holds, and has it read anew. */
static bool reread(const struct action *x)
{
    struct proc *p = chosen(x->a);
    bool holds =
        p != NULL && p->core != NULL && (p->kind & (WATCHER | QUEUE | SCHEDULER | WORKER)) != 0;
    if (!holds)
        return false;
    cover("rereads", process_name(p->kind));
    trace(1, "%s is told to read anew", p->door);
    proc_reread(p);
    return true;
}

/* ---- the API server ---- */

#define FOR_A_TIME(x, field, percent) foul(x, #field, offsetof(struct weather, field), percent)

static bool foul(const struct action *x, const char *name, size_t field, double percent)
{
    int64_t length = faults_so_long(x->c, SECOND, 25 * SECOND);
    trace(1, "%d of 100 requests are %s for %lld ms", (int)percent, name, (long long)(length / MS));
    *(double *)((char *)weather() + field) = percent;
    clock_call(clock_now() + length, fair, NULL, field);
    return true;
}

static double some_percent(uint32_t n)
{
    static const double percents[] = {5, 20, 60, 100};
    return percents[n % 4];
}

static void usual_pace(void *context, uint64_t argument)
{
    (void)context;
    (void)argument;
    weather()->usual = 8 * MS;
    weather()->most = 40 * MS;
}

static bool slowness(const struct action *x)
{
    int64_t length = faults_so_long(x->c, SECOND, 40 * SECOND);
    weather()->usual = faults_so_long(x->a, 20 * MS, 2 * SECOND);
    weather()->most = weather()->usual * 4;
    trace(1, "requests take %lld ms for %lld ms", (long long)(weather()->usual / MS),
          (long long)(length / MS));
    clock_call(clock_now() + length, usual_pace, NULL, 0);
    return true;
}

static void way_is_free(void *context, uint64_t group)
{
    (void)context;
    weather()->cut[group] = false;
}

static bool cut_api(const struct action *x)
{
    uint32_t group = x->a % GROUPS;
    int64_t length = faults_so_long(x->b, SECOND, 60 * SECOND);
    trace(1, "%s reaches no API server for %lld ms", world_identity((int)group),
          (long long)(length / MS));
    weather()->cut[group] = true;
    clock_call(clock_now() + length, way_is_free, NULL, group);
    return true;
}

static void in_time(void *context, uint64_t group)
{
    (void)context;
    weather()->watch_lag[group] = 0;
}

static bool lag_watches(const struct action *x)
{
    uint32_t group = x->a % GROUPS;
    weather()->watch_lag[group] = faults_so_long(x->b, 50 * MS, 20 * SECOND);
    int64_t length = faults_so_long(x->c, SECOND, 40 * SECOND);
    trace(1, "watches of %s are %lld ms late for %lld ms", world_identity((int)group),
          (long long)(weather()->watch_lag[group] / MS), (long long)(length / MS));
    clock_call(clock_now() + length, in_time, NULL, group);
    return true;
}

/* A connection is dead and nobody says so. Mostly that of the watches, as it lives longest. */
static bool cut_off(const struct action *x)
{
    bool watches = x->b % 4 != 0;
    struct proc *p = world_find((int)(x->a % GROUPS), watches ? WATCHER : BINDER);
    enum kube_channel channel = watches    ? KUBE_CHANNEL_watch
                                : x->c % 2 ? KUBE_CHANNEL_write
                                           : KUBE_CHANNEL_lease;
    if (p == NULL || !p->alive || !calls_cut_off(p->calls, channel))
        return false;
    trace(1, "a connection of %s is dead", p->door);
    cover("dead connection of", p->name);
    return true;
}

static bool forget_watch(const struct action *x)
{
    return calls_deafen_watch((int)(x->a % GROUPS), x->b);
}

static bool error_watches(const struct action *x)
{
    static const int codes[] = {410, 429, 500, 410, 504};
    calls_error_watches((int)(x->a % GROUPS), codes[x->b % 5]);
    return true;
}

static void usual_bookmarks(void *context, uint64_t argument)
{
    (void)context;
    (void)argument;
    weather()->no_bookmarks = false;
}

static bool no_bookmarks(const struct action *x)
{
    weather()->no_bookmarks = true;
    clock_call(clock_now() + faults_so_long(x->c, 60 * SECOND, 300 * SECOND), usual_bookmarks, NULL,
               0);
    return true;
}

static const char *const histories[] = {"pods", "nodes", "resourceclaims", "persistentvolumeclaims",
                                        "persistentvolumes"};

static bool compact(const struct action *x)
{
    static const char *const kinds[] = {"pods", "nodes", "pods", "resourceclaims"};
    trace(1, "history of %s is forgotten", kinds[x->a % 4]);
    model_compact(world_model(), kinds[x->a % 4]);
    if (x->b % 2 == 0)
        calls_break_watches((int)(x->b / 2 % GROUPS), true);
    return true;
}

static bool break_watches(const struct action *x)
{
    int group = (int)(x->a % GROUPS);
    trace(1, "watches of %s break", world_identity(group));
    calls_break_watches(group, x->b % 2 == 0);
    return true;
}

static bool server_away;

/* What a StatefulSet does, and people: what comes back has the name of what was there. */
static void replace_some(void *context, uint64_t seed)
{
    static const uint32_t kinds[] = {DO_recreate_pod, DO_remake_claim, DO_recreate_pod,
                                     DO_recreate_volume_claim};
    struct random r = {seed};
    (void)context;
    if (!server_away)
        return;
    for (uint64_t i = 0, count = 1 + random_below(&r, 8); i < count; i++)
        (void)users_do(&(struct action){.kind = kinds[random_below(&r, 4)],
                                        .a = (uint32_t)random_next(&r),
                                        .b = (uint32_t)random_next(&r),
                                        .c = (uint32_t)random_next(&r)});
}

static void server_is_back(void *context, uint64_t argument)
{
    (void)argument;
    if (!server_away)
        return;
    server_away = false;
    for (size_t i = 0; i < sizeof(histories) / sizeof(histories[0]); i++)
        model_compact(world_model(), histories[i]);
    for (uint64_t g = 0; g < GROUPS; g++)
        way_is_free(context, g);
}

/* The API server that both instances speak to starts anew and remembers no history; users and
 * controllers go on through another one. */
static bool restart_server(const struct action *x)
{
    int64_t length = faults_so_long(x->b, 300 * MS, 15 * SECOND);
    if (server_away)
        return false;
    server_away = true;
    trace(1, "the API server is away for %lld ms", (long long)(length / MS));
    for (int g = 0; g < GROUPS; g++) {
        calls_break_watches(g, true);
        weather()->cut[g] = true;
    }
    clock_call(clock_now() + length / 2, replace_some, NULL, x->c);
    clock_call(clock_now() + length, server_is_back, NULL, 0);
    return true;
}

static void allowed(void *context, uint64_t argument)
{
    (void)context;
    (void)argument;
    model_allow(world_model());
}

static bool forbid(const struct action *x)
{
    static const char *const rules[] = {"create:pods/binding", "list:nodes",     "watch:pods",
                                        "patch:pods/status",   "list:podgroups", "delete:pods",
                                        "list:podgroups",      "update:leases"};
    trace(1, "forbidden: %s", rules[x->a % 8]);
    model_deny(world_model(), rules[x->a % 8]);
    clock_call(clock_now() + faults_so_long(x->b, SECOND, 40 * SECOND), allowed, NULL, 0);
    return true;
}

/* ---- provisioners ---- */

static void usual_storage(void *context, uint64_t argument)
{
    (void)context;
    (void)argument;
    controllers_heal();
}

/* Up to longer than a bind waits. */
static bool slow_storage(const struct action *x)
{
    if (!world_traits()->volumes)
        return false;
    controllers_storage()->least = faults_so_long(x->a, SECOND, 30 * SECOND);
    controllers_storage()->most = controllers_storage()->least * 3;
    clock_call(clock_now() + faults_so_long(x->c, SECOND, 100 * SECOND), usual_storage, NULL, 0);
    return true;
}

static bool failing_storage(const struct action *x)
{
    if (!world_traits()->volumes)
        return false;
    controllers_storage()->fails = some_percent(x->a);
    clock_call(clock_now() + faults_so_long(x->c, SECOND, 60 * SECOND), usual_storage, NULL, 0);
    return true;
}

/* While pods come whose claims are written to. */
static bool meddle(const struct action *x)
{
    struct action pods = *x;
    pods.kind = x->b % 2 && world_traits()->volumes ? DO_create_volume_pod : DO_create_sharing_pods;
    for (uint32_t i = 0; i < MEDDLED; i++) {
        (void)users_do(&pods);
        pods.a++;
        pods.b += 7;
    }
    if (x->a / 16 % 2 == 0) /* so that reservations are taken back */
        (void)FOR_A_TIME(x, rejected, some_percent(x->a / 32));
    return FOR_A_TIME(x, meddled, some_percent(x->a / 4));
}

/* ---- clocks ---- */

/* Now and then to another year: a host that lost its date, or finds it again. Not where PodGroups
 * are served: two days after its start a group is told of no more, as upstream. */
static bool step_wall(const struct action *x)
{
    static const int64_t most[] = {2000000, 60000000, WALL_STEP_MAX, DATES};
    uint32_t kind = world_traits()->gangs ? x->c % 3 : x->c % 4;
    struct host *h = world_host((int)(x->a % GROUPS));
    int64_t by = faults_so_long(x->b, -most[kind], most[kind]);
    if (kind == 3)
        by -= h->wall_offset_us;
    if (h->suspended_until > 0 && clock_now() - h->suspended_until < LEASE_MOST)
        return false; /* both clocks would be wrong, and there is no third */
    trace(1, "wall clock of %s steps by %lld ms", h->name, (long long)(by / 1000));
    h->wall_offset_us += by;
    h->stepped_at = clock_now();
    return true;
}

/* All its processes stand still; the monotonic clock as well, the wall clock goes on. */
static bool suspend_host(const struct action *x)
{
    int group = (int)(x->a % GROUPS);
    int64_t length = faults_so_long(x->b, SECOND, SUSPEND_MAX);
    int64_t stepped = world_host(group)->stepped_at;
    if (stepped > 0 && clock_now() - stepped < LEASE_MOST)
        return false; /* see step_wall */
    if (world_host(group)->suspended_until > clock_now())
        return false; /* its monotonic clock would go back */
    trace(1, "host %d is suspended for %lld ms", group, (long long)(length / MS));
    for (uint32_t i = 0; i < world_procs(); i++)
        if (world_proc(i)->group == group)
            proc_hang(world_proc(i), clock_now() + length);
    world_host(group)->mono_base -= length;
    world_host(group)->suspended_until = clock_now() + length;
    return true;
}

void faults_heal(void)
{
    faults_heal_links();
    server_away = orphans.wanted = false;
}

void faults_reset(void)
{
    wires_reset();
    faults_heal();
}

static bool on_processes(const struct action *x)
{
    switch (x->kind) {
    case DO_kill_process: return kill_process(x);
    case DO_kill_group: return kill_group(x);
    case DO_lose_host: return lose_host(x);
    case DO_stop_process: return stop_process(x);
    case DO_orphan_group: return orphan_group(x);
    case DO_hang_process: return hang_process(x);
    case DO_hang_for_long: return hang_for_long(x);
    case DO_strand_leader: return strand_leader(x);
    case DO_starve: return starve(x);
    case DO_worker_leaves: return worker_leaves(x);
    case DO_worker_comes: return worker_comes(x);
    case DO_reconfigure: return reconfigure(x);
    case DO_compare_names: return compare_names(x);
    case DO_reread: return reread(x);
    case DO_step_wall: return step_wall(x);
    case DO_suspend_host: return suspend_host(x);
    default: return false;
    }
}

static bool on_server(const struct action *x)
{
    switch (x->kind) {
    case DO_refusals: return FOR_A_TIME(x, refused, some_percent(x->a));
    case DO_losses: return FOR_A_TIME(x, lost, some_percent(x->a));
    case DO_no_answers: return FOR_A_TIME(x, unanswered, some_percent(x->a));
    case DO_late_requests: return FOR_A_TIME(x, late, some_percent(x->a));
    case DO_rejections: return FOR_A_TIME(x, rejected, some_percent(x->a));
    case DO_gone_versions: return FOR_A_TIME(x, gone, some_percent(x->a));
    case DO_meddle: return meddle(x);
    case DO_slowness: return slowness(x);
    case DO_cut_api: return cut_api(x);
    case DO_lag_watches: return lag_watches(x);
    case DO_break_watches: return break_watches(x);
    case DO_compact: return compact(x);
    case DO_restart_server: return restart_server(x);
    case DO_tear_watches: calls_tear_watches((int)(x->a % GROUPS)); return true;
    case DO_error_watches: return error_watches(x);
    case DO_no_bookmarks: return no_bookmarks(x);
    case DO_forget_watch: return forget_watch(x);
    case DO_cut_off: return cut_off(x);
    case DO_forbid: return forbid(x);
    case DO_upgrade_server: return upgrade_server(x);
    case DO_burst_and_kill: return burst_and_kill(x);
    case DO_slow_storage: return slow_storage(x);
    case DO_failing_storage: return failing_storage(x);
    default: return false;
    }
}

/* What does not show in the state of processes and weather. */
static bool disturbs_all(uint32_t kind)
{
    return kind == DO_cut_link || kind == DO_hold_link || kind == DO_lose_frame ||
           kind == DO_double_frame || kind == DO_slow_bus || kind == DO_stranger_comes ||
           kind == DO_forbid || kind == DO_upgrade_server || kind == DO_compact ||
           kind == DO_break_watches || kind == DO_restart_server || kind == DO_flap_links ||
           kind == DO_delete_nominee || kind == DO_tear_watches || kind == DO_tear_snapshots ||
           kind == DO_error_watches || kind == DO_cut_off || kind == DO_step_wall ||
           kind == DO_reconfigure || kind == DO_suspend_host;
}

bool faults_do(const struct action *x)
{
    if (disturbs_all(x->kind))
        progress_disturbed();
    return on_processes(x) || faults_do_links(x) || on_server(x);
}
