/* berth-extender: calls the HTTP extenders of the configuration for the scheduler, so that nobody
 * else waits for them. This file only reads the command line and puts the parts together. */
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/bus/actor.h"
#include "proto/bus/options.h"
#include "proto/kube/config/config_flags.h"
#include "scheduler/extender/sets.h"

struct program {
    struct config_flags flags; /* first: config_flags.h asks for it */
    struct arena memory;
    struct scheduler_config config;
};

static const struct own_option own_options[] = {
    {"kubeconfig", "FILE", "how to reach the API server, unless --config names one",
     config_take_kubeconfig},
    {"master", "URL", "API server, instead of the one in the kubeconfig", config_take_master},
    {0},
};

static struct kube_client *reach_api(const struct program *p, struct kube_config **way, char *error,
                                     size_t room)
{
    const struct kube_client_options options = {.user_agent = "berth-extender/" OPTIONS_VERSION};
    char *path = p->config.kubeconfig.len > 0 ? str_copy(p->config.kubeconfig) : NULL;
    *way = kube_config_load(path, p->flags.master, error, room);
    memory_free(path);
    return *way != NULL ? kube_client_new(*way, &options, error, room) : NULL;
}

static int run(const struct options *options, struct kube_client *api)
{
    char error[1024];
    struct bus *bus = NULL;
    int result = 1;
    struct sets *sets = sets_new(options->config_path, api, error, sizeof(error));
    if (sets != NULL)
        bus = bus_open(&options->bus, error, sizeof(error));
    if (bus != NULL)
        result = actor_run(bus, &(struct actor){.state = sets,
                                                .handle = sets_handle,
                                                .tick = sets_tick,
                                                .fd = sets_fd(sets),
                                                .work = sets_work,
                                                .status = sets_status});
    else
        log_error("%s", error);
    sets_free(&sets);
    bus_close(&bus);
    return result;
}

int main(int argc, char **argv)
{
    struct program p = {0};
    struct options options;
    struct str why = {0};
    char error[1024];
    options_parse(&options,
                  &(struct options_spec){.self = EXTENDER,
                                         .peers = SCHEDULER,
                                         .own = own_options,
                                         .own_state = &p,
                                         .usage = "calls HTTP extenders for the scheduler"},
                  argc, argv);
    if (!scheduler_config_load(options.config_path, release_features(RELEASE_NEWEST), &p.config,
                               &p.memory, &why) ||
        !config_flags_apply(&p.flags, &p.config, &p.memory, &why)) {
        log_error("configuration refused| error=\"%.*s\"", STR_ARG(why));
        arena_free(&p.memory);
        return 1;
    }
    struct kube_config *way = NULL;
    struct kube_client *api = reach_api(&p, &way, error, sizeof(error));
    int result = 1;
    if (api == NULL)
        log_error("%s", error);
    else
        result = run(&options, api);
    kube_client_free(&api);
    kube_config_free(&way);
    arena_free(&p.memory);
    return result;
}
