/* berth-scheduler: the coordinator, or with --worker a worker. Parses the command line and runs
 * the core; everything that decides is elsewhere. */
#include "proto/base/log.h"
#include "proto/bus/actor.h"
#include "proto/bus/options.h"
#include "proto/kube/config/config_file.h"
#include "scheduler/program.h"

static int run_worker(const struct options *options, const struct settings *s)
{
    struct worker *worker = program_worker(options->bus.instance, s);
    struct actor actor = {.state = worker,
                          .handle = worker_handle,
                          .tick = worker_tick,
                          .fd = -1,
                          .status = worker_status};
    int status = actor_main(options, &actor);
    worker_free(&worker);
    return status;
}

static int run_scheduler(const struct options *options, const struct scheduler_config *config,
                         const struct settings *s)
{
    struct program program;
    program_open(&program, options->config_path, config, s);
    const struct actor actor = program_actor(&program);
    int status = actor_main(options, &actor);
    program_close(&program);
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
                                 : run_scheduler(&options, &config, &settings);
    arena_free(&memory);
    return status;
}
