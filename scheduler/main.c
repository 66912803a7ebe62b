/* berth-scheduler: the coordinator, or with --worker a worker. Parses the command line and runs
 * the core; everything that decides is elsewhere. */
#include "proto/base/log.h"
#include "proto/bus/actor.h"
#include "proto/bus/options.h"
#include "proto/journal/journal.h"
#include "proto/kube/config/config_file.h"
#include "scheduler/coordinator/coordinator.h"
#include "scheduler/live_config.h"
#include "scheduler/own_worker.h"
#include "scheduler/settings.h"
#include "scheduler/worker/worker.h"

static struct worker *new_worker(const char *instance, const struct settings *s)
{
    struct worker *worker = worker_new(instance, s->capacity);
    worker_set_clock(worker, journal_now);
    worker_time_plugins(worker, journal_now);
    return worker;
}

static int run_worker(const struct options *options, const struct settings *s)
{
    struct worker *worker = new_worker(options->bus.instance, s);
    struct actor actor = {.state = worker,
                          .handle = worker_handle,
                          .tick = worker_tick,
                          .fd = -1,
                          .status = worker_status};
    int status = actor_main(options, &actor);
    worker_free(&worker);
    return status;
}

/* With a worker of its own, for when there is no other. */
static int run_with_worker(const struct options *options, const struct actor *coordinator,
                           const struct settings *s)
{
    struct own_worker both;
    struct worker *worker = new_worker(OWN_WORKER, s);
    own_worker_init(&both, coordinator, worker);
    struct actor actor = own_worker_actor(&both);
    int status = actor_main(options, &actor);
    own_worker_free(&both);
    worker_free(&worker);
    return status;
}

static int run_coordinator(const struct options *options, const struct scheduler_config *config,
                           const struct settings *s)
{
    struct moment now;
    int64_t wall_us;
    journal_clocks(&now, &wall_us);
    struct live live;
    live_config_init(&live.config, options->config_path, &s->flags, config);
    live.coordinator = coordinator_new(
        &(struct coordinator_options){.profiles = config->profiles.at,
                                      .profile_count = config->profiles.count,
                                      .extenders = config->extenders.at,
                                      .extender_count = config->extenders.count,
                                      .extenders_hash = scheduler_config_extenders_hash(config),
                                      .config_hash = live.config.hash,
                                      .backoff_initial_s = config->pod_initial_backoff_s,
                                      .backoff_max_s = config->pod_max_backoff_s,
                                      .tie_break = s->tie_break,
                                      .seed = journal_seed(),
                                      .credit = s->credit,
                                      .batch = s->batch,
                                      .kept = s->kept,
                                      .stale_after = span_of_seconds(s->stale_after_s),
                                      .assumed_ttl = span_of_seconds(s->assumed_ttl_s),
                                      .follows = s->flags.release == 0,
                                      .gates_left = live.config.left,
                                      .wall_us_at_zero = wall_us - now.ns / 1000,
                                      .clock = journal_now});
    struct actor actor = live_actor(&live);
    int status = s->own_worker ? run_with_worker(options, &actor, s) : actor_main(options, &actor);
    coordinator_free(&live.coordinator);
    live_config_free(&live.config);
    return status;
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct options options;
    struct arena memory = {0};
    struct scheduler_config config;
    char error[512];
    struct str why = {NULL, 0};
    options_replay(SCHEDULER | WORKER, &argc, &argv);
    settings_init(&settings, argc, argv);
    options_parse(&options,
                  &(struct options_spec){
                      .self = settings.worker ? WORKER : SCHEDULER,
                      .peers = settings.worker ? SCHEDULER : WATCHER | QUEUE | BINDER,
                      .own = scheduler_options,
                      .own_state = &settings,
                      .usage = "decides where pods run; with --worker it filters and scores nodes"},
                  argc, argv);
    if (!config_flags_check(&settings.flags, error, sizeof(error))) {
        log_error("feature gates refused| error=\"%s\"", error);
        return 1;
    }
    if (!config_flags_load(&settings.flags, options.config_path, &config, &memory, &why)) {
        log_error("configuration refused| error=\"%.*s\"", STR_ARG(why));
        return 1;
    }
    int status = settings.worker ? run_worker(&options, &settings)
                                 : run_coordinator(&options, &config, &settings);
    arena_free(&memory);
    return status;
}
