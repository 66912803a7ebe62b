/* The command line: one table that reads the flags, checks them and prints --help.
 *
 * The one idea: a flag is a row with the place its value goes to; --name VALUE and --name=VALUE
 * are the same, and whatever is not in the table is refused by name. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct flag {
    const char *name, *value, *help;
    const char **place;
};

enum { FLAG_COUNT = 17 };

static void flags_of(struct options *o, struct flag flags[static FLAG_COUNT], const char **deny,
                     const char **history)
{
    const struct flag all[FLAG_COUNT] = {
        {"--listen", "ADDR:PORT", "where to serve; port 0 takes any free one (127.0.0.1:0)",
         &o->listen},
        {"--port-file", "FILE", "write the port to FILE once serving", &o->port_file},
        {"--tls-cert", "FILE", "serve https with this certificate (PEM)", &o->tls_cert},
        {"--tls-key", "FILE", "its private key (PEM)", &o->tls_key},
        {"--client-ca", "FILE", "accept client certificates of this authority: CN=user, O=group",
         &o->client_ca},
        {"--token-file", "FILE", "rows token,user,uid[,groups]; without it everybody is admin",
         &o->token_file},
        {"--deny", "VERB:RESOURCE[,…]",
         "answer 403 to everybody but admins, as a missing RBAC rule does", deny},
        {"--audit-log", "FILE", "append one audit.k8s.io/v1 Event a request", &o->audit_log},
        {"--watch-history", "N", "changes kept for each resource (16384)", history},
        {"--runtime-config", "GROUP/VERSION=true",
         "serve PodGroups of scheduling.k8s.io, too, in the versions that the release has",
         &o->runtime_config},
        {"--version", "1.N", "the version that it says it is (1.36)", &o->version},
        {"--faults", "FILE|JSON", "rules of the fault menu, as for PUT /faults", &o->faults},
        {"--kubelet", "none|delete|run", "what the toy kubelet does (delete; run with --demo)",
         &o->kubelet},
        {"--demo", "KEY=VALUE[,…]",
         "make a lively cluster: nodes, pods-per-second, pod-lifetime, zones, pending-max",
         &o->demo},
        {"--fill", "KEY=VALUE[,…]",
         "begin with a full cluster: nodes, pods (bound), zones, namespaces, replicas", &o->fill},
        {"--write-kubeconfig", "FILE", "write a kubeconfig that reaches this server",
         &o->write_kubeconfig},
        {"--log-level", "LEVEL", "error, warn, info or debug (info)", &o->log_level},
    };
    memcpy(flags, all, sizeof all);
}

void options_help(void)
{
    struct options none = {0};
    struct flag flags[FLAG_COUNT];
    const char *unused_deny, *unused_history;
    flags_of(&none, flags, &unused_deny, &unused_history);
    puts("usage: apiserver [--listen ADDR:PORT] [options]\n\n"
         "A small Kubernetes API server for demonstrations, fault injection and scale tests.\n");
    for (int i = 0; i < FLAG_COUNT; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", flags[i].name, flags[i].value);
        printf("  %-28s %s\n", left, flags[i].help);
    }
}

/* The value of one flag; advances past it. NULL when it is missing. */
static const char *value_of(int *at, int argc, char **argv)
{
    const char *equals = strchr(argv[*at], '=');
    if (equals != NULL)
        return equals + 1;
    return *at + 1 < argc ? argv[++*at] : NULL;
}

static const struct flag *find_flag(const struct flag *flags, const char *argument)
{
    size_t size = strcspn(argument, "=");
    for (int i = 0; i < FLAG_COUNT; i++) {
        if (strlen(flags[i].name) == size && strncmp(flags[i].name, argument, size) == 0)
            return &flags[i];
    }
    return NULL;
}

static bool check(struct options *o, const char *history, struct buffer *why)
{
    static const char *const modes[] = {"none", "delete", "run"};
    char *end = NULL;
    o->watch_history = strtol(history, &end, 10);
    bool known = o->kubelet == NULL;
    for (int i = 0; i < 3 && !known; i++)
        known = strcmp(o->kubelet, modes[i]) == 0;
    if (*end || o->watch_history < 1 || o->watch_history > 10000000)
        buffer_print(why, "--watch-history %s: expected a number from 1 to 10000000", history);
    else if ((o->tls_cert == NULL) != (o->tls_key == NULL))
        buffer_add_text(why, "--tls-cert and --tls-key belong together");
    else if (o->client_ca != NULL && o->tls_cert == NULL)
        buffer_add_text(why, "--client-ca needs --tls-cert and --tls-key");
    else if (!known)
        buffer_print(why, "--kubelet %s: expected none, delete or run", o->kubelet);
    else if (o->runtime_config != NULL &&
             strncmp(o->runtime_config, "scheduling.k8s.io/v1", 20) != 0)
        buffer_print(why, "--runtime-config %s: expected scheduling.k8s.io/VERSION=true",
                     o->runtime_config);
    return why->len == 0;
}

bool options_read(struct options *options, int argc, char **argv, struct buffer *why)
{
    const char *deny = NULL, *history = "16384";
    struct flag flags[FLAG_COUNT];
    *options = (struct options){.listen = "127.0.0.1:0", .log_level = "info", .version = "1.36"};
    flags_of(options, flags, &deny, &history);
    for (int at = 1; at < argc; at++) {
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) {
            options->help = true;
            return true;
        }
        const struct flag *flag = find_flag(flags, argv[at]);
        const char *name = argv[at], *value = flag != NULL ? value_of(&at, argc, argv) : NULL;
        if (value == NULL) {
            buffer_print(why, "%s: %s", name,
                         flag == NULL ? "unknown flag; see --help" : "value missing");
            return false;
        }
        *flag->place = value;
        if (flag->place == &deny && options->deny_count < DENY_MAX)
            options->deny[options->deny_count++] = value;
    }
    return check(options, history, why);
}
