/* berth-queue: decides which pending pod is tried next, and when. This file only reads the command
 * line and the configuration and runs the core, which is in queue.c. */
#include "proto/base/log.h"
#include "proto/bus/actor.h"
#include "proto/journal/journal.h"
#include "proto/kube/config/tracing_config.h"
#include "queue/settings.h"

/* Cycles count from the microseconds since 1970, which are beyond whatever an earlier life has
 * counted to. */
static int run(const struct options *options, struct queue_options *core)
{
    struct moment now;
    journal_clocks(&now, &core->first_cycle);
    core->clock = journal_now;
    core->wall_us_at_zero = core->first_cycle - now.ns / 1000;
    struct queue *queue = queue_new(core);
    struct actor actor = {.state = queue,
                          .handle = queue_handle,
                          .tick = queue_tick,
                          .fd = -1,
                          .status = queue_status,
                          .dump = queue_dump,
                          .observe = queue_observe};
    int status = actor_main(options, &actor);
    queue_free(&queue);
    return status;
}

int main(int argc, char **argv)
{
    struct settings settings = {0};
    struct options options;
    struct arena memory = {0};
    struct scheduler_config config;
    struct queue_options core;
    struct tracing_config tracing;
    struct str why = {NULL, 0};
    options_replay(QUEUE, &argc, &argv);
    options_parse(&options,
                  &(struct options_spec){.self = QUEUE,
                                         .peers = WATCHER,
                                         .own = settings_options,
                                         .own_state = &settings,
                                         .usage = "decides which pending pod is tried next"},
                  argc, argv);
    int status = 1;
    if (scheduler_config_load(options.config_path, release_features(RELEASE_NEWEST), &config,
                              &memory, &why) &&
        settings_apply(&settings, &config, &core, &why) &&
        tracing_config_load(settings.tracing_config, &tracing, &memory, &why)) {
        core.trace_per_million = tracing.per_million;
        if (tracing.per_million > 0)
            core.trace_seed = journal_seed();
        status = run(&options, &core);
    } else {
        log_error("configuration refused|error=\"%.*s\"", STR_ARG(why));
    }
    arena_free(&memory);
    return status;
}
