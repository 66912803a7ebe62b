/* world: hosts, processes and their supervisors, and one API server. What must stay true: a process
 * that is wanted and has ended is started again, as ctl/child.c does. */
#include "tests/simulation/world.h"

#include "binder/binder.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/release/release.h"
#include "tests/simulation/calls.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/controllers.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/plan.h"
#include "tests/simulation/progress.h"
#include "tests/simulation/promises.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/wires.h"

#include <stdio.h>
#include <string.h>

#define RESTART_LEAST (100 * MS)
#define RESTART_MOST  (10 * SECOND)
#define LONG_LIFE     (10 * SECOND)
#define FALLS         (60 * SECOND) /* are remembered for so long, as CHILD_FALLS_MS */
#define SWEEP         (5 * SECOND)
#define RELEASES      (RELEASE_NEWEST - RELEASE_OLDEST + 1)
#define LIE           1000000 /* the term that a stranger says to know of */

static const char *const config_texts[CONFIGS] = {
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n",
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    "podInitialBackoffSeconds: 2\npodMaxBackoffSeconds: 5\nprofiles:\n"
    "- schedulerName: default-scheduler\n  pluginConfig:\n  - name: VolumeBinding\n    args:\n"
    "      bindTimeoutSeconds: 15\n",
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
    "- schedulerName: default-scheduler\n  pluginConfig:\n  - name: NodeResourcesFit\n    args:\n"
    "      scoringStrategy:\n        type: MostAllocated\n        resources:\n        - name: cpu\n"
    "          weight: 1\n",
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
    "- schedulerName: default-scheduler\n  plugins:\n    score:\n      disabled:\n"
    "      - name: ImageLocality\n      - name: PodTopologySpread\n"};

static const char gang_text[] =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
    "- schedulerName: default-scheduler\n  plugins:\n    multiPoint:\n      enabled:\n"
    "      - name: Coscheduling\n    queueSort:\n      enabled:\n      - name: Coscheduling\n"
    "      disabled:\n      - name: '*'\n";

static struct {
    struct traits traits;
    struct model *model;
    struct host hosts[GROUPS + 1];
    struct proc procs[PROCS_MAX], strangers[STRANGERS];
    int64_t backoff[PROCS_MAX];
    uint32_t count;
    struct scheduler_config configs[RELEASES][CONFIGS + 1];
    uint32_t config[GROUPS];
    struct arena memory;
    int64_t model_at;
} w;

const struct traits *world_traits(void)
{
    return &w.traits;
}

struct model *world_model(void)
{
    return w.model;
}

struct host *world_host(int group)
{
    return &w.hosts[group];
}

uint32_t world_procs(void)
{
    return w.count;
}

struct proc *world_proc(uint32_t i)
{
    must(i < w.count);
    return &w.procs[i];
}

struct proc *world_find(int group, enum process kind)
{
    for (uint32_t i = 0; i < w.count; i++)
        if (w.procs[i].group == group && w.procs[i].kind == kind)
            return &w.procs[i];
    return NULL;
}

const char *world_identity(int group)
{
    static const char *const names[] = {"a", "b"};
    return group >= 0 ? names[group] : "users";
}

struct proc *world_leader(void)
{
    for (int g = 0; g < GROUPS; g++) {
        struct proc *p = world_find(g, BINDER);
        if (p != NULL && p->alive && binder_leading(p->core))
            return p;
    }
    return NULL;
}

/* ---- configuration ---- */

static void read_config(uint32_t i, const char *text)
{
    struct str error = {0};
    for (int64_t minor = RELEASE_OLDEST; minor <= RELEASE_NEWEST; minor++) {
        struct scheduler_config *config = &w.configs[minor - RELEASE_OLDEST][i];
        struct features features = release_features(minor);
        features.gangs = features.gang_counts = w.traits.tree;
        if (scheduler_config_parse(str_of(text), features, config, &w.memory, &error))
            continue;
        fprintf(stderr, "configuration %u: %.*s\n", i, STR_ARG(error));
        must(!"a configuration of the simulation is refused");
    }
}

uint32_t world_config_number(int group)
{
    return w.traits.gangs ? CONFIGS : w.config[group];
}

const struct scheduler_config *world_config_at(uint32_t number, int64_t minor)
{
    must(number <= CONFIGS);
    return &w.configs[release_of(minor)->minor - RELEASE_OLDEST][number];
}

int64_t world_config_hash(uint32_t number)
{
    return scheduler_config_hash(world_config_at(number, RELEASE_NEWEST));
}

void world_reconfigure(int group, uint32_t which)
{
    if (w.config[group] == which || w.traits.gangs)
        return; /* the file says the same as before */
    w.config[group] = which;
    struct proc *p = world_find(group, SCHEDULER);
    if (p != NULL && p->alive)
        proc_reconfigure(p);
}

/* ---- supervisors ---- */

/* As child_fell of ctl/child.c. */
static uint32_t fell_lately(const struct proc *p)
{
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof(p->fell_at) / sizeof(p->fell_at[0]); i++)
        count += p->fell_at[i] > 0 && clock_now() - p->fell_at[i] < FALLS;
    return count;
}

static void note_fall(struct proc *p)
{
    p->fell_at[2] = p->fell_at[1];
    p->fell_at[1] = p->fell_at[0];
    p->fell_at[0] = clock_now();
}

static void start_again(void *context, uint64_t life)
{
    struct proc *p = context;
    if (p->alive || !p->wanted || p->life != life)
        return;
    int64_t until = p->host->suspended_until;
    until = until > p->host->down_until ? until : p->host->down_until;
    if (until > clock_now()) {
        clock_call(until, start_again, p, life);
        return;
    }
    p->fell = fell_lately(p);
    proc_start(p);
}

void world_proc_ended(struct proc *p)
{
    if (p->kind == TOOL || p < w.procs || p >= w.procs + w.count)
        return;
    int64_t *backoff = &w.backoff[p - w.procs];
    note_fall(p);
    if (clock_now() - p->started_at > LONG_LIFE || *backoff == 0)
        *backoff = RESTART_LEAST;
    if (p->wanted)
        clock_call(clock_now() + *backoff + dice_between(0, 50 * MS), start_again, p, p->life);
    *backoff = *backoff * 2 < RESTART_MOST ? *backoff * 2 : RESTART_MOST;
}

static void supervise(void *context, uint64_t life)
{
    struct proc *p = context;
    (void)life;
    if (!p->alive && p->wanted)
        proc_start(p);
}

/* ---- strangers ---- */

static void stranger_leaves(void *context, uint64_t life)
{
    struct proc *p = context;
    if (p->alive && p->life == life)
        proc_kill(p);
}

/* In the moment in which the one falls whose kind it says to be. */
static void take_the_place(const struct proc *stranger, const struct proc *to)
{
    struct proc *p = world_find(to->group, stranger->kind);
    if (p != NULL && p != to && p->alive)
        proc_kill(p);
}

bool world_stranger_comes(uint32_t whose, uint32_t what, int64_t until)
{
    static const enum process kinds[] = {BINDER, QUEUE, WATCHER, WORKER, SCHEDULER};
    static const enum process doors[] = {SCHEDULER, WATCHER, BINDER, QUEUE};
    struct proc *p = &w.strangers[whose % STRANGERS];
    struct proc *to = world_find((int)(whose / 2 % w.traits.groups), doors[what / 5 % 4]);
    if (p->alive || to == NULL)
        return false;
    p->kind = kinds[what % 5];
    bool replaces = what / 60 % 2 == 0; /* else it is one more, with a name of its own */
    snprintf(p->name, sizeof(p->name), "%s%s", process_name(p->kind), replaces ? "" : "-2");
    p->group = -1;
    p->host = &w.hosts[GROUPS];
    p->stranger = true;
    snprintf(p->door, sizeof(p->door), "sim://stranger/%u", (unsigned)(whose % STRANGERS));
    if (replaces)
        take_the_place(p, to);
    trace(1, "a stranger says to be %s at %s", p->name, to->door);
    cover("stranger says to be", p->name);
    /* In the place of a scheduler a binder would believe it about the term, as it has our key, and
     * count on from there. */
    bool lies = (!replaces || to->kind != BINDER) && what / 20 % 3 == 0;
    if (lies &&
        p->kind == SCHEDULER) /* whoever it comes to finds that place empty, or refuses it */
        promises_lie(LIE, until);
    proc_start_stranger(p, to, lies ? LIE : 0);
    clock_call(until, stranger_leaves, p, p->life);
    return true;
}

/* ---- the API server's own time ---- */

static void model_turn(void *context, uint64_t sweep);

static void plan_model(int64_t at)
{
    if (at < w.model_at) {
        w.model_at = at;
        clock_call(at, model_turn, NULL, 0);
    }
}

static void model_turn(void *context, uint64_t sweep)
{
    (void)context;
    clock_at(NULL);
    if (sweep)
        clock_call(clock_now() + SWEEP, model_turn, NULL, 1);
    else if (clock_now() < w.model_at)
        return;
    w.model_at = INT64_MAX;
    plan_model(clock_now() + model_tick(w.model, sweep != 0) * MS);
}

static void changed(const struct model_change *change)
{
    checks_changed(change);
    trace(2, "api: %c %s %s node=%s phase=%s", change->kind, change->plural, change->key,
          change->node, change->phase);
    plan_model(clock_now() + 10 * MS); /* a kubelet may have an errand */
}

/* ---- open and close ---- */

static void add_proc(int group, enum process kind, uint32_t number)
{
    struct proc *p = &w.procs[w.count++];
    *p = (struct proc){.kind = kind,
                       .group = group,
                       .host = &w.hosts[group],
                       .wanted = true,
                       .capacity = 1 + number,
                       .wake_at = INT64_MAX};
    if (kind == WORKER)
        snprintf(p->name, sizeof(p->name), "worker-%u", number);
    else
        snprintf(p->name, sizeof(p->name), "%s", process_name(kind));
    if (kind == WORKER)
        snprintf(p->door, sizeof(p->door), "sim://%s/worker-%u", world_identity(group), number);
    else
        snprintf(p->door, sizeof(p->door), "sim://%s/%s", world_identity(group),
                 process_name(kind));
}

static void add_group(int group)
{
    add_proc(group, WATCHER, 0);
    add_proc(group, QUEUE, 0);
    add_proc(group, SCHEDULER, 0);
    add_proc(group, BINDER, 0);
    for (uint32_t i = 0; i < WORKERS_MAX; i++) {
        add_proc(group, WORKER, i);
        w.procs[w.count - 1].wanted = i < w.traits.workers;
    }
}

static void set_clocks(void)
{
    static const char *const names[] = {"host-a", "host-b", "elsewhere"};
    for (int g = 0; g <= GROUPS; g++)
        w.hosts[g] = (struct host){.name = names[g],
                                   .mono_base = dice_between(100, 1000000) * SECOND,
                                   .drift_ppm = dice_between(-200, 200) * w.traits.drift,
                                   .wall_offset_us = dice_between(-3000000, 3000000)};
}

void world_open(const struct traits *traits, uint64_t seed)
{
    memset(&w, 0, sizeof(w));
    w.traits = *traits;
    clock_reset(seed);
    trace_reset();
    facts_reset();
    checks_reset();
    users_reset();
    faults_reset();
    facts_volumes_reset();
    facts_devices_reset();
    controllers_reset();
    controllers_devices_reset();
    progress_reset();
    set_clocks();
    for (uint32_t i = 0; i < CONFIGS; i++)
        read_config(i, config_texts[i]);
    read_config(CONFIGS, gang_text);
    w.config[0] = w.config[1] = traits->config;
    w.model = model_new(traits->history, &(struct model_hooks){changed, calls_woken});
    char version[16];
    snprintf(version, sizeof(version), "1.%u", traits->minor);
    model_set_version(w.model, version);
    w.model_at = INT64_MAX;
    calls_reset(w.model);
    weather()->page = traits->page;
    weather()->page_most = traits->page_most;
    clock_call(SWEEP, model_turn, NULL, 1);
    for (int g = 0; g < (int)traits->groups; g++)
        add_group(g);
    for (uint32_t i = 0; i < w.count; i++)
        clock_call(dice_between(0, 500 * MS), supervise, &w.procs[i], 0);
}

void world_close(void)
{
    for (uint32_t i = 0; i < w.count; i++) {
        w.procs[i].wanted = false;
        proc_kill(&w.procs[i]);
    }
    for (uint32_t i = 0; i < STRANGERS; i++)
        proc_kill(&w.strangers[i]);
}

void world_run(int64_t until)
{
    while (clock_step(until))
        continue;
}

void world_heal(void)
{
    struct weather *sky = weather();
    *sky = (struct weather){
        .usual = 8 * MS, .most = 40 * MS, .page = w.traits.page, .page_most = w.traits.page_most};
    model_allow(w.model);
    controllers_heal();
    wires_reset();
    wires_heal();
    faults_heal();
    for (int g = 0; g < GROUPS; g++)
        w.hosts[g].down_until = clock_now();
    for (uint32_t i = 0; i < STRANGERS; i++)
        proc_kill(&w.strangers[i]);
    for (uint32_t i = 0; i < w.count; i++) {
        struct proc *p = &w.procs[i];
        int64_t until = p->host->suspended_until;
        p->starved_until = 0;
        if (!p->alive && p->wanted)
            clock_call(clock_now() + RESTART_MOST, start_again, p, p->life);
        if (p->alive && p->hung_until > clock_now()) {
            p->hung_until = until > clock_now() ? until : clock_now();
            proc_wake(p, p->hung_until);
        }
    }
}
