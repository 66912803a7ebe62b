/* berth-scheduler: the coordinator, or with --worker a worker. Parses the command line, opens the
 * bus and runs the core; everything that decides is elsewhere. */
#include "proto/base/log.h"
#include "proto/base/random.h"
#include "proto/bus/actor.h"
#include "proto/bus/options.h"
#include "proto/kube/config/config_file.h"
#include "scheduler/coordinator/coordinator.h"
#include "scheduler/live_config.h"
#include "scheduler/settings.h"
#include "scheduler/worker/worker.h"

static int run_worker(struct bus *bus, const struct options *options, const struct settings *s)
{
    struct worker *worker = worker_new(options->bus.instance, s->capacity);
    worker_set_clock(worker, moment_now);
    worker_time_plugins(worker, moment_now);
    struct actor actor = {.state = worker,
                          .handle = worker_handle,
                          .tick = worker_tick,
                          .fd = -1,
                          .status = worker_status};
    int status = actor_run(bus, &actor);
    worker_free(&worker);
    return status;
}

static int run_coordinator(struct bus *bus, const struct scheduler_config *config,
                           const struct settings *s, const char *path)
{
    int64_t now_us = moment_now().ns / 1000;
    struct live live;
    live_config_init(&live.config, path, &s->flags, config);
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
                                      .seed = random_seed(),
                                      .credit = s->credit,
                                      .batch = s->batch,
                                      .stale_after = span_of_seconds(s->stale_after_s),
                                      .wall_us_at_zero = moment_wall_us() - now_us,
                                      .clock = moment_now});
    struct actor actor = live_actor(&live);
    int status = actor_run(bus, &actor);
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
    struct str why = {NULL, 0};
    char error[512];
    settings_init(&settings, argc, argv);
    options_parse(&options,
                  &(struct options_spec){
                      .self = settings.worker ? WORKER : SCHEDULER,
                      .peers = settings.worker ? SCHEDULER : WATCHER | QUEUE | BINDER,
                      .own = scheduler_options,
                      .own_state = &settings,
                      .usage = "decides where pods run; with --worker it filters and scores nodes"},
                  argc, argv);
    if (!scheduler_config_load(options.config_path, &config, &memory, &why) ||
        !config_flags_apply(&settings.flags, &config, &memory, &why)) {
        log_error("configuration refused| error=\"%.*s\"", STR_ARG(why));
        return 1;
    }
    struct bus *bus = bus_open(&options.bus, error, sizeof(error));
    if (bus == NULL) {
        log_error("cannot open the bus| error=\"%s\"", error);
        return 1;
    }
    int status = settings.worker ? run_worker(bus, &options, &settings)
                                 : run_coordinator(bus, &config, &settings, options.config_path);
    bus_close(&bus);
    arena_free(&memory);
    return status;
}
