/* run_options: one table of what `berth run` accepts: its own, and the flags of kube-scheduler that
 * the processes understand, which are checked here and handed on. */
#include "ctl/run_options.h"
#include "ctl/worker_count.h"
#include "proto/base/buffer.h"
#include "proto/base/log.h"
#include "proto/base/moment.h"
#include "proto/bus/options.h"
#include "proto/kube/config/tracing_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool take_workers(void *state, const char *value)
{
    int64_t count = 0;
    struct run_options *o = state;
    o->workers_by_nodes = strncmp(value, "auto", 4) == 0;
    if (strcmp(value, "auto") == 0) {
        o->workers = worker_count_most(worker_count_processors());
        return true;
    }
    const char *number = strncmp(value, "auto:", 5) == 0 ? value + 5 : value;
    bool taken = options_number(number, 0, RUN_WORKERS_MAX, &count);
    o->workers = (long)count;
    return taken;
}

static bool take_own_worker(void *state, const char *value)
{
    bool no = strcmp(value, "false") == 0;
    ((struct run_options *)state)->no_own_worker = no;
    return no || strcmp(value, "true") == 0;
}

static bool take_tie_break(void *state, const char *value)
{
    uint32_t rule;
    ((struct run_options *)state)->tie_break = value;
    return *value != 0 && words_find(&tie_break_rule_words, str_of(value), &rule);
}

static bool take_print_config(void *state, const char *value)
{
    (void)value;
    return ((struct run_options *)state)->print_config = true;
}

static bool take_level(void *state, const char *value)
{
    (void)state;
    enum log_level level;
    if (!log_level_parse(value, &level))
        return false;
    log_set_level(level);
    return true;
}

#define TAKE_TEXT(member)                                                                          \
    static bool take_##member(void *state, const char *value)                                      \
    {                                                                                              \
        ((struct run_options *)state)->member = value;                                             \
        return *value != 0;                                                                        \
    }
TAKE_TEXT(run_dir)
TAKE_TEXT(config)
TAKE_TEXT(record)
TAKE_TEXT(tracing_config)

static bool take_assumed_ttl(void *state, const char *value)
{
    double seconds;
    ((struct run_options *)state)->assumed_ttl = value;
    return options_decimal(value, 0, 999999, &seconds);
}

#define FLAG(member, name)                                                                         \
    static bool take_serve_##member(void *state, const char *value)                                \
    {                                                                                              \
        return serve_take_##member(&((struct run_options *)state)->serve, value);                  \
    }
SERVE_FLAGS
SERVE_LISTS
FLAG(tls_sni_cert_key, "tls-sni-cert-key")
#undef FLAG
#define SERVE_OPTION(member, name, value, doc) {name, value, doc, take_serve_##member},

static const struct own_option table[] = {
    {"config", "FILE", "a KubeSchedulerConfiguration", take_config},
    {"workers", "N|auto[:N]",
     "how many worker processes to start, 0 to 64, or by the nodes, N at most (default auto)",
     take_workers},
    {"own-worker", "true|false",
     "the scheduler looks at the nodes itself while no worker is there (default with 0 or auto)",
     take_own_worker},
    {"run-dir", "DIR", "private directory of pid files and sockets", take_run_dir},
    {"tie-break", "MODE", "among equal best nodes: random (default), round-robin or first",
     take_tie_break},
    {"assumed-pod-ttl", "SECONDS",
     "give back the room of a bound pod that no watch has shown for so long (default 0: never)",
     take_assumed_ttl},
    {"record", "DIR", "every life of a process that decides is recorded there, to be played back",
     take_record},
    {TRACING_FLAG, "FILE", "a TracingConfiguration: traces by OTLP over HTTP", take_tracing_config},
    CONFIG_FLAG_OPTIONS,
    CONFIG_PREEMPTION_OPTION,
    SERVE_FLAG_DOCS(SERVE_OPTION){"print-config", NULL,
                                  "print the configuration with its defaults and end",
                                  take_print_config},
    {"log-level", "error|warn|info|debug", "how much is logged (default info)", take_level},
    {"v", "N", "the same as a number, as klog's", take_level},
    {NULL, NULL, NULL, NULL},
};

/* What was given, once it is known to be right: a flag's value is behind "=" or the next argument.
 */
static void note_given(struct run_options *o, int argc, char **argv)
{
    for (int i = 1; i < argc && o->given_count < RUN_GIVEN_MAX; i++) {
        const char *name = argv[i] + strspn(argv[i], "-");
        bool next = strchr(name, '=') == NULL && i + 1 < argc && argv[i + 1][0] != '-';
        struct buffer text = {0};
        buffer_print(&text, "%s%s", name, strchr(name, '=') != NULL ? "" : "=");
        buffer_add_text(&text, next ? argv[++i] : strchr(name, '=') != NULL ? "" : "true");
        o->given[o->given_count++] = text.at;
    }
}

/* Only those can be asked for that were shown in the release before. Where the release is not
 * named, what the flag's own check took may do. */
static void check_hidden(const struct run_options *o, const char *command, int bad_status)
{
    const char *given = o->serve.show_hidden_metrics_for_version;
    char former[16];
    snprintf(former, sizeof(former), "1.%d", (int)(o->kube.release - 1));
    if (given == NULL || *given == 0 || o->kube.release == 0 || strcmp(given, former) == 0)
        return;
    fprintf(stderr,
            "berth %s: metrics.showHiddenMetricsForVersion: Invalid value: \"%s\": must be omitted "
            "or have the value '%s'; only the previous minor version is allowed\n",
            command, given, former);
    exit(bad_status);
}

void run_options_parse(struct run_options *o, int argc, char **argv)
{
    bool preflight = strcmp(argv[0], "preflight") == 0;
    int bad_status = preflight ? 2 : 1; /* 1 of preflight's is that something has failed */
    *o = (struct run_options){
        .tie_break = "random", .assumed_ttl = "0", .run_dir = options_run_dir()};
    take_workers(o, "auto");
    options_read(
        &(struct options_table){
            .program = preflight ? "berth preflight" : "berth run",
            .usage = preflight ? "look whether berth run with the same flags would work; "
                                 "--print-rules alone: print all RBAC rules that it uses"
                               : "start all processes and keep them running",
            .options = table,
            .state = o,
            .more = kube_flag_options,
            .more_state = &o->kube,
            .error = o->kube.error,
            .bad_status = bad_status},
        argc, argv);
    if (!kube_flags_versions(&o->kube)) {
        fprintf(stderr, "berth %s: --emulated-version, --min-compatibility-version: %s\n", argv[0],
                o->kube.error);
        exit(bad_status);
    }
    o->flags.release = o->kube.release;
    o->flags.feature_gates = o->kube.gates;
    if (!config_flags_check(&o->flags, o->kube.error, sizeof(o->kube.error))) {
        fprintf(stderr, "berth %s: --feature-gates: %s\n", argv[0], o->kube.error);
        exit(bad_status);
    }
    check_hidden(o, argv[0], bad_status);
    note_given(o, argc, argv);
}
