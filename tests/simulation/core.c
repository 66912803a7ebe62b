/* core: what each process's main.c does with its core, without the bus. What must stay true: a core
 * is started, turned and ended here alone, so that what is played back (record.c) goes the same
 * way. */
#include "tests/simulation/core.h"

#include "binder/binder.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/journal/journal.h"
#include "proto/kube/access/talk.h"
#include "proto/kube/release/release.h"
#include "queue/queue.h"
#include "scheduler/coordinator/coordinator.h"
#include "scheduler/own_worker.h"
#include "scheduler/worker/worker.h"
#include "tests/simulation/calls.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/trace.h"
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
    struct instant at;
    (void)state;
    journal_clocks(&at.now, &at.wall_us);
    return at;
}

static uint64_t api_send(void *state, const struct kube_request *request)
{
    struct proc *p = state;
    p->sent = true;
    return talk_send(p->talk, request);
}

static void api_cancel(void *state, uint64_t number)
{
    talk_cancel(((struct proc *)state)->talk, number);
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

/* Nobody is asked where a journal is played back. */
static struct kube_client *open_client(struct proc *p)
{
    p->calls = journal_plays() ? NULL : calls_new(p);
    return p->calls != NULL ? calls_client(p->calls) : NULL;
}

static void *start_watcher(struct proc *p)
{
    int64_t epoch = journal_wall_us();
    struct watcher *w = watcher_new(
        &(struct watcher_options){.kinds = kube_resources,
                                  .kind_count = kube_resource_count,
                                  .page_size = world_traits()->page_size,
                                  .catch_up_from = world_traits()->catch_up ? 1 : UINT32_MAX,
                                  .barrier_wait = span_of_ms(BARRIER_WAIT_MS),
                                  .log_bytes_max = (size_t)world_traits()->history * LOG_BYTES,
                                  .epoch = epoch,
                                  .seed = journal_seed()});
    p->feed = feed_new(w, open_client(p));
    return w;
}

static void *start_queue(struct proc *p)
{
    const struct scheduler_config *config = world_config_at(p->config, RELEASE_OLDEST);
    struct moment now;
    int64_t wall_us;
    journal_clocks(&now, &wall_us);
    return queue_new(&(struct queue_options){
        .profiles = config->profiles.at,
        .profile_count = config->profiles.count,
        .config_hash = world_config_hash(p->config),
        .gang_sort = config->profiles.at[0].gang_sort,
        .backoff_initial = span_of_seconds((double)config->pod_initial_backoff_s),
        .backoff_max = span_of_seconds((double)config->pod_max_backoff_s),
        .unschedulable_max = span_of_seconds(UNSCHEDULABLE_S),
        .wall_us_at_zero = wall_us - now.ns / 1000,
        .clock = journal_now,
        .first_cycle = wall_us});
}

static void *start_coordinator(struct proc *p)
{
    const struct scheduler_config *config = world_config_at(p->config, RELEASE_OLDEST);
    const struct traits *t = world_traits();
    struct moment now;
    int64_t wall_us;
    uint32_t tie_break;
    must(words_find(&tie_break_rule_words, str_of(t->tie_break), &tie_break));
    journal_clocks(&now, &wall_us);
    return coordinator_new(
        &(struct coordinator_options){.profiles = config->profiles.at,
                                      .profile_count = config->profiles.count,
                                      .config_hash = world_config_hash(p->config),
                                      .backoff_initial_s = config->pod_initial_backoff_s,
                                      .backoff_max_s = config->pod_max_backoff_s,
                                      .tie_break = (enum tie_break_rule)tie_break,
                                      .seed = journal_seed(),
                                      .credit = t->credit,
                                      .batch = t->batch,
                                      .follows = true,
                                      .wall_us_at_zero = wall_us - now.ns / 1000,
                                      .clock = journal_now});
}

static void *start_worker(struct proc *p)
{
    struct worker *w = worker_new(p->name, p->capacity);
    worker_set_clock(w, journal_now);
    worker_time_plugins(w, journal_now);
    return w;
}

static void start_own_worker(struct proc *p)
{
    struct worker *w = worker_new(OWN_WORKER, 1);
    worker_set_clock(w, journal_now);
    worker_time_plugins(w, journal_now);
    p->own = memory_take(sizeof(*p->own));
    own_worker_init(p->own, &p->actor, w);
    p->actor = own_worker_actor(p->own);
}

static void *start_binder(struct proc *p)
{
    p->talk = talk_new(open_client(p));
    p->sent = false;
    uint64_t lease_seed = journal_seed();
    return binder_new(&(struct binder_options){.lease = {.elect = world_traits()->elect,
                                                         .namespace_name = "kube-system",
                                                         .name = "kube-scheduler",
                                                         .identity = world_identity(p->group),
                                                         .duration = span_of_seconds(15),
                                                         .renew_deadline = span_of_seconds(10),
                                                         .retry_period = span_of_seconds(2),
                                                         .seed = lease_seed,
                                                         .falls = p->fell},
                                               .api = {.state = p,
                                                       .send = api_send,
                                                       .cancel = api_cancel,
                                                       .extender = api_extender,
                                                       .release = api_release,
                                                       .clock = both_clocks},
                                               .hostname = p->host->name,
                                               .seed = journal_seed()});
}

/* ---- a round ---- */

static void handle_watcher(void *state, struct moment now, const struct delivery *in,
                           struct outbox *out)
{
    watcher_handle(((struct proc *)state)->core, now, in, out);
}

static void work_watcher(void *state, struct moment now, struct outbox *out)
{
    (void)out;
    feed_work(((struct proc *)state)->feed, now);
}

static struct moment tick_watcher(void *state, struct moment now, struct outbox *out)
{
    struct proc *p = state;
    return moment_earlier(watcher_tick(p->core, now, out), feed_deadline(p->feed, now));
}

static void handle_coordinator(void *state, struct moment now, const struct delivery *in,
                               struct outbox *out)
{
    coordinator_handle(((struct proc *)state)->core, now, in, out);
}

/* As scheduler/live_config.c, with configurations by number in the place of a file. */
static void look_at_config(struct proc *p, struct moment now, struct outbox *out)
{
    bool changed = journal_change("configuration", p->reconfigure);
    p->reconfigure = false;
    if (!changed && !coordinator_release_changes(p->core))
        return;
    uint32_t number = (uint32_t)journal_number(world_config_number(p->group));
    int64_t minor = coordinator_release(p->core);
    const struct scheduler_config *config = world_config_at(number, minor);
    struct coordinator_config next = {.profiles = config->profiles.at,
                                      .profile_count = config->profiles.count,
                                      .hash = world_config_hash(number),
                                      .backoff_initial_s = config->pod_initial_backoff_s,
                                      .backoff_max_s = config->pod_max_backoff_s};
    trace(1, "%s decides as 1.%lld", p->door, (long long)minor);
    coordinator_reconfigure(p->core, now, &next, out);
}

static struct moment tick_coordinator(void *state, struct moment now, struct outbox *out)
{
    look_at_config(state, now, out);
    return coordinator_tick(((struct proc *)state)->core, now, out);
}

static void dump_coordinator(void *state)
{
    coordinator_dump(((struct proc *)state)->core);
}

static void handle_binder(void *state, struct moment now, const struct delivery *in,
                          struct outbox *out)
{
    binder_handle(((struct proc *)state)->core, now, in, out);
}

/* As binder/shell.c: nothing goes out but behind a look at the fence. */
static void work_binder(void *state, struct moment now, struct outbox *out)
{
    struct proc *p = state;
    (void)out;
    binder_guard(p->core);
    p->sent = false;
    talk_work(p->talk, now);
}

static struct moment tick_binder(void *state, struct moment now, struct outbox *out)
{
    struct proc *p = state;
    struct moment next = binder_tick(p->core, now, out);
    if (p->sent) {
        work_binder(p, now, out);
        next = moment_earlier(next, binder_tick(p->core, now, out));
    }
    return moment_earlier(next, talk_deadline(p->talk, now));
}

static void stop_binder(void *state, struct moment now, struct outbox *out)
{
    binder_stop(((struct proc *)state)->core, now, out);
}

static int64_t term_of(const void *state)
{
    return proc_term(state);
}

static struct actor actor_of(struct proc *p)
{
    switch (p->kind) {
    case WATCHER:
        return (struct actor){
            .state = p, .handle = handle_watcher, .work = work_watcher, .tick = tick_watcher};
    case QUEUE: return (struct actor){.state = p->core, .handle = queue_handle, .tick = queue_tick};
    case SCHEDULER:
        return (struct actor){.state = p,
                              .handle = handle_coordinator,
                              .tick = tick_coordinator,
                              .dump = dump_coordinator,
                              .term = term_of};
    case WORKER:
        return (struct actor){.state = p->core, .handle = worker_handle, .tick = worker_tick};
    default:
        return (struct actor){.state = p,
                              .handle = handle_binder,
                              .work = work_binder,
                              .tick = tick_binder,
                              .stop = stop_binder,
                              .term = term_of};
    }
}

void core_start(struct proc *p)
{
    p->core = p->kind == WATCHER     ? start_watcher(p)
              : p->kind == QUEUE     ? start_queue(p)
              : p->kind == SCHEDULER ? start_coordinator(p)
              : p->kind == WORKER    ? start_worker(p)
                                     : start_binder(p);
    p->actor = actor_of(p);
    if (p->kind == SCHEDULER && world_traits()->own_worker)
        start_own_worker(p);
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

/* Each is asked for at every message, so it is printed once. */
const char *core_message_name(enum process kind, enum message_type type)
{
    static char names[PROCESS_COUNT][MSG_COUNT][40];
    char *name = names[__builtin_ctz(kind)][type];
    if (name[0] == 0)
        snprintf(name, sizeof(names[0][0]), "%.10s<%.27s", process_name(kind),
                 message_info[type].record->name);
    return name;
}

void core_known(void)
{
    static const enum process kinds[] = {WATCHER, QUEUE, SCHEDULER, WORKER, BINDER};
    static const char *const waits[] = {"binder",
                                        "leadership",
                                        "snapshot",
                                        "binds of a former life",
                                        "barrier",
                                        "a fresh view",
                                        "the API server's version",
                                        "a worker",
                                        "workers to catch up"};
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        for (int type = 1; type < MSG_COUNT; type++)
            if (message_info[type].record != NULL && takes(kinds[k], (enum message_type)type))
                coverage_known("message", core_message_name(kinds[k], (enum message_type)type));
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        coverage_known("played back", process_name(kinds[k]));
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
        coverage_known("scheduler waits for", waits[i]);
}

/* ---- end ---- */

static void free_own_worker(struct proc *p)
{
    if (p->own == NULL)
        return;
    worker_free(&p->own->worker);
    own_worker_free(p->own);
    memory_free(p->own);
    p->own = NULL;
}

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
        free_own_worker(p);
    } else if (p->kind == WORKER) {
        worker_free(&k);
    } else {
        binder_free(&b);
        talk_free(&p->talk);
    }
    p->core = NULL;
}
