/* berth-extender: calls the HTTP extenders of the configuration for the scheduler, so that nobody
 * else waits for them. This file only reads the command line and puts the parts together. */
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/bus/actor.h"
#include "proto/bus/options.h"
#include "proto/kube/config_flags.h"
#include "scheduler/extender/courier.h"

struct program {
    struct config_flags flags; /* first: config_flags.h asks for it */
    struct arena memory;
    struct scheduler_config config;
    struct courier *courier;
    struct caller *caller;
};

static const struct own_option own_options[] = {
    {"kubeconfig", "FILE", "how to reach the API server, unless --config names one",
     config_take_kubeconfig},
    {"master", "URL", "API server, instead of the one in the kubeconfig", config_take_master},
    {0},
};

static void handle(void *state, struct moment now, const struct delivery *in, struct outbox *out)
{
    caller_handle(((struct program *)state)->caller, now, in, out);
}

static void work(void *state, struct moment now, struct outbox *out)
{
    (void)out;
    courier_work(((struct program *)state)->courier, now);
}

static struct moment tick(void *state, struct moment now, struct outbox *out)
{
    struct program *p = state;
    struct moment next = caller_tick(p->caller, now, out);
    return moment_earlier(next, courier_deadline(p->courier, now));
}

static void status(void *state, struct buffer *lines)
{
    const struct program *p = state;
    caller_status(p->caller, lines);
    courier_status(p->courier, lines);
}

static struct kube_client *reach_api(const struct program *p, struct kube_config **way, char *error,
                                     size_t room)
{
    const struct kube_client_options options = {.user_agent = "berth-extender/" OPTIONS_VERSION};
    char *path = p->config.kubeconfig.len > 0 ? str_copy(p->config.kubeconfig) : NULL;
    *way = kube_config_load(path, p->flags.master, error, room);
    memory_free(path);
    return *way != NULL ? kube_client_new(*way, &options, error, room) : NULL;
}

static int run(struct program *p, const struct options *options, struct kube_client *api)
{
    char error[1024];
    struct bus *bus = NULL;
    int result = 1;
    p->courier =
        courier_new(p->config.extenders.at, p->config.extenders.count, api, error, sizeof(error));
    if (p->courier != NULL)
        bus = bus_open(&options->bus, error, sizeof(error));
    if (bus != NULL) {
        p->caller = caller_new(&(struct caller_options){.extenders = p->config.extenders.at,
                                                        .count = p->config.extenders.count,
                                                        .ports = courier_ports(p->courier)});
        courier_serve(p->courier, p->caller);
        result = actor_run(bus, &(struct actor){.state = p,
                                                .handle = handle,
                                                .tick = tick,
                                                .fd = courier_fd(p->courier),
                                                .work = work,
                                                .status = status});
        caller_free(&p->caller);
    } else {
        log_error("%s", error);
    }
    courier_free(&p->courier);
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
    if (!scheduler_config_load(options.config_path, &p.config, &p.memory, &why) ||
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
        result = run(&p, &options, api);
    kube_client_free(&api);
    kube_config_free(&way);
    arena_free(&p.memory);
    return result;
}
