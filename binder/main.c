/* berth-binder: turns decisions into writes on the API server, and holds the lease that allows
 * them. This file only reads the command line and puts the parts together; the core is binder.c. */
#include "binder/deadman.h"
#include "binder/lanes.h"
#include "binder/settings.h"
#include "binder/shell.h"
#include "proto/base/log.h"
#include "proto/journal/journal.h"

static struct kube_client *reach(const struct settings *s, struct kube_config **config)
{
    char error[1024];
    const struct lease_options *lease = &s->binder.lease;
    struct kube_client_options options = {.user_agent = "berth-binder/" OPTIONS_VERSION,
                                          .in_flight_max = LANES_IN_FLIGHT_MAX};
    *config = kube_config_load(s->kubeconfig, s->master, error, sizeof(error));
    struct kube_client *client =
        *config ? kube_client_new(*config, &options, error, sizeof(error)) : NULL;
    if (client == NULL)
        log_error("%s", error);
    else
        log_info("binding|server=%s identity=%s leader_elect=%s", kube_config_server(*config),
                 lease->identity, lease->elect ? "true" : "false");
    return client;
}

static int run(struct settings *s, const struct options *options, struct kube_client *client)
{
    char error[1024];
    struct shell shell = {.client = client};
    const struct shell_options with = {.config_path = options->config_path,
                                       .trace_url = s->trace_url};
    if (!shell_open(&shell, &with, error, sizeof(error))) {
        log_error("%s", error);
        shell_close(&shell);
        return 1;
    }
    s->binder.api = shell_api(&shell);
    shell.binder = binder_new(&s->binder);
    struct actor actor = shell_actor(&shell);
    if (!journal_plays())
        deadman_open();
    int result = actor_main(options, &actor);
    deadman_close();
    binder_free(&shell.binder);
    shell_close(&shell);
    return result;
}

int main(int argc, char **argv)
{
    struct settings settings = {0};
    struct options options;
    struct str error = {0};
    struct options_spec spec = {.self = BINDER,
                                .own = settings_options,
                                .own_state = &settings,
                                .usage = "binds pods and holds the leader election lease"};
    options_replay(BINDER, &argc, &argv);
    options_parse(&options, &spec, argc, argv);
    if (!settings_load(&settings, options.config_path, &error)) {
        log_error("%.*s", STR_ARG(error));
        settings_free(&settings);
        return 1;
    }
    struct kube_config *config = NULL;
    struct kube_client *client = journal_plays() ? NULL : reach(&settings, &config);
    int result = 1;
    if (client != NULL || journal_plays())
        result = run(&settings, &options, client);
    kube_client_free(&client);
    kube_config_free(&config);
    settings_free(&settings);
    return result;
}
