/* core: what each process's main.c does with its core, without the bus. What must stay true: a core
 * is started, turned and ended here alone, so that what is played back (record.c) goes the same
 * way. */
#include "tests/simulation/core.h"

#include "binder/binder.h"
#include "proto/base/random.h"
#include "queue/queue.h"
#include "scheduler/coordinator/coordinator.h"
#include "scheduler/worker/worker.h"
#include "tests/simulation/calls.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/world.h"
#include "watcher/feed.h"
#include "watcher/watcher.h"

#include <stdio.h>

#define BARRIER_WAIT_MS 300 /* as watcher/main.c */
#define UNSCHEDULABLE_S 300
#define LOG_BYTES       32 /* of the stream, for each change of a kind that a watch may be behind */

/* ---- start ---- */

static struct instant both_clocks(void *state)
{
    (void)state;
    return (struct instant){moment_now(), moment_wall_us()};
}

static uint64_t api_send(void *state, const struct kube_request *request)
{
    struct proc *p = state;
    p->sent = true;
    return kube_client_send(calls_client(p->calls), request);
}

static void api_cancel(void *state, uint64_t number)
{
    kube_client_cancel(calls_client(((struct proc *)state)->calls), number);
}

static const struct extender_config *api_extender(void *state, const struct bind *bind,
                                                  uint32_t *route)
{
    (void)state;
    (void)bind;
    *route = 0;
    return NULL;
}

static void api_release(void *state, uint32_t route)
{
    (void)state;
    (void)route;
}

static void *start_watcher(struct proc *p)
{
    p->calls = calls_new(p);
    struct watcher *w = watcher_new(
        &(struct watcher_options){.kinds = kube_resources,
                                  .kind_count = kube_resource_count,
                                  .page_size = world_traits()->page_size,
                                  .barrier_wait = span_of_ms(BARRIER_WAIT_MS),
                                  .log_bytes_max = (size_t)world_traits()->history * LOG_BYTES,
                                  .epoch = moment_wall_us(),
                                  .seed = random_seed()});
    p->feed = feed_new(w, calls_client(p->calls));
    return w;
}

static void *start_queue(struct proc *p)
{
    const struct scheduler_config *config = p->config;
    return queue_new(&(struct queue_options){
        .profiles = config->profiles.at,
        .profile_count = config->profiles.count,
        .config_hash = scheduler_config_hash(config),
        .gang_sort = config->profiles.at[0].gang_sort,
        .backoff_initial = span_of_seconds((double)config->pod_initial_backoff_s),
        .backoff_max = span_of_seconds((double)config->pod_max_backoff_s),
        .unschedulable_max = span_of_seconds(UNSCHEDULABLE_S),
        .wall_us_at_zero = moment_wall_us() - moment_now().ns / 1000,
        .clock = moment_now,
        .first_cycle = moment_wall_us()});
}

static void *start_coordinator(struct proc *p)
{
    const struct scheduler_config *config = p->config;
    const struct traits *t = world_traits();
    return coordinator_new(
        &(struct coordinator_options){.profiles = config->profiles.at,
                                      .profile_count = config->profiles.count,
                                      .config_hash = scheduler_config_hash(config),
                                      .backoff_initial_s = config->pod_initial_backoff_s,
                                      .backoff_max_s = config->pod_max_backoff_s,
                                      .tie_break = t->tie_break,
                                      .seed = random_seed(),
                                      .credit = t->credit,
                                      .batch = t->batch,
                                      .wall_us_at_zero = moment_wall_us() - moment_now().ns / 1000,
                                      .clock = moment_now});
}

static void *start_worker(struct proc *p)
{
    struct worker *w = worker_new(p->name, p->capacity);
    worker_set_clock(w, moment_now);
    worker_time_plugins(w, moment_now);
    return w;
}

static void *start_binder(struct proc *p)
{
    p->calls = calls_new(p);
    p->sent = false;
    return binder_new(&(struct binder_options){.lease = {.elect = world_traits()->elect,
                                                         .namespace_name = "kube-system",
                                                         .name = "kube-scheduler",
                                                         .identity = world_identity(p->group),
                                                         .duration = span_of_seconds(15),
                                                         .renew_deadline = span_of_seconds(10),
                                                         .retry_period = span_of_seconds(2),
                                                         .seed = random_seed(),
                                                         .falls = p->fell},
                                               .api = {.state = p,
                                                       .send = api_send,
                                                       .cancel = api_cancel,
                                                       .extender = api_extender,
                                                       .release = api_release,
                                                       .clock = both_clocks},
                                               .hostname = p->host->name,
                                               .seed = random_seed()});
}

void core_start(struct proc *p)
{
    p->core = p->kind == WATCHER     ? start_watcher(p)
              : p->kind == QUEUE     ? start_queue(p)
              : p->kind == SCHEDULER ? start_coordinator(p)
              : p->kind == WORKER    ? start_worker(p)
                                     : start_binder(p);
}

void core_reconfigure(struct proc *p, struct moment now, const struct scheduler_config *config)
{
    struct coordinator_config next = {.profiles = config->profiles.at,
                                      .profile_count = config->profiles.count,
                                      .hash = scheduler_config_hash(config),
                                      .backoff_initial_s = config->pod_initial_backoff_s,
                                      .backoff_max_s = config->pod_max_backoff_s};
    coordinator_reconfigure(p->core, now, &next, &p->out);
}

void core_stop(struct proc *p, struct moment now)
{
    binder_stop(p->core, now, &p->out);
}

/* ---- a round ---- */

void core_handle(struct proc *p, struct moment now, const struct delivery *in)
{
    switch (p->kind) {
    case WATCHER: watcher_handle(p->core, now, in, &p->out); break;
    case QUEUE: queue_handle(p->core, now, in, &p->out); break;
    case SCHEDULER: coordinator_handle(p->core, now, in, &p->out); break;
    case WORKER: worker_handle(p->core, now, in, &p->out); break;
    default: binder_handle(p->core, now, in, &p->out); break;
    }
}

/* As binder/shell.c: nothing goes out but behind a look at the fence. */
static void binder_work(struct proc *p, struct moment now)
{
    binder_guard(p->core);
    p->sent = false;
    kube_client_work(calls_client(p->calls), now);
}

static struct moment tick_binder(struct proc *p, struct moment now)
{
    struct moment next = binder_tick(p->core, now, &p->out);
    if (p->sent) {
        binder_work(p, now);
        next = moment_earlier(next, binder_tick(p->core, now, &p->out));
    }
    return moment_earlier(next, kube_client_deadline(calls_client(p->calls), now));
}

struct moment core_turn(struct proc *p, struct moment now)
{
    switch (p->kind) {
    case WATCHER:
        feed_work(p->feed, now);
        return moment_earlier(watcher_tick(p->core, now, &p->out), feed_deadline(p->feed, now));
    case QUEUE: return queue_tick(p->core, now, &p->out);
    case SCHEDULER: return coordinator_tick(p->core, now, &p->out);
    case WORKER: return worker_tick(p->core, now, &p->out);
    case BINDER: binder_work(p, now); return tick_binder(p, now);
    default: return MOMENT_NEVER;
    }
}

/* ---- what can be reached ---- */

static bool takes(enum process kind, enum message_type type)
{
    switch (kind) {
    case WATCHER: return watcher_takes(type);
    case QUEUE: return queue_takes(type);
    case SCHEDULER: return coordinator_takes(type);
    case WORKER: return worker_takes(type);
    default: return binder_takes(type);
    }
}

const char *core_message_name(enum process kind, enum message_type type)
{
    static char name[40];
    snprintf(name, sizeof(name), "%.10s<%.27s", process_name(kind),
             message_info[type].record->name);
    return name;
}

void core_known(void)
{
    static const enum process kinds[] = {WATCHER, QUEUE, SCHEDULER, WORKER, BINDER};
    static const char *const waits[] = {
        "binder",  "leadership",   "snapshot", "binds of a former life",
        "barrier", "a fresh view", "a worker", "workers to catch up"};
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        for (int type = 1; type < MSG_COUNT; type++)
            if (message_info[type].record != NULL && takes(kinds[k], (enum message_type)type))
                coverage_known("message", core_message_name(kinds[k], (enum message_type)type));
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
        coverage_known("scheduler waits for", waits[i]);
}

/* ---- end ---- */

void core_free(struct proc *p)
{
    struct watcher *w = p->core;
    struct queue *q = p->core;
    struct coordinator *c = p->core;
    struct worker *k = p->core;
    struct binder *b = p->core;
    if (p->core == NULL)
        return;
    if (p->kind == WATCHER) {
        feed_free(&p->feed);
        watcher_free(&w);
    } else if (p->kind == QUEUE) {
        queue_free(&q);
    } else if (p->kind == SCHEDULER) {
        coordinator_free(&c);
    } else if (p->kind == WORKER) {
        worker_free(&k);
    } else {
        binder_free(&b);
    }
    p->core = NULL;
}
