/* config: `berth config`, which checks a configuration and prints it in full, or says what is wrong
 * with it, as kube-scheduler would. The one idea: the same loading that every process does, so that
 * what passes here starts. What must stay true: nothing but the answer goes to standard output. */
#include "ctl/commands.h"
#include "ctl/json_out.h"
#include "ctl/policy_source.h"
#include "proto/base/memory.h"
#include "proto/bus/options.h"
#include "proto/kube/config/config_file.h"
#include "proto/kube/release/feature_gates.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct arguments {
    struct policy_flags policy; /* first: policy_source.h asks for it */
    const char *file, *kubeconfig, *master;
    const char *gates;
    int64_t release;
    struct features features; /* what both make of each other */
    bool batch, expanded;
};

static bool take_config(void *state, const char *value)
{
    ((struct arguments *)state)->file = value;
    return *value != 0;
}

static bool take_kubeconfig(void *state, const char *value)
{
    ((struct arguments *)state)->kubeconfig = value;
    return *value != 0;
}

static bool take_master(void *state, const char *value)
{
    ((struct arguments *)state)->master = value;
    return *value != 0;
}

static bool take_feature_gates(void *state, const char *value)
{
    ((struct arguments *)state)->gates = value;
    return true;
}

static bool take_release(void *state, const char *value)
{
    return release_read(value, &((struct arguments *)state)->release);
}

static bool take_batch(void *state, const char *value)
{
    (void)value;
    return ((struct arguments *)state)->batch = true;
}

static bool take_expanded(void *state, const char *value)
{
    (void)value;
    return ((struct arguments *)state)->expanded = true;
}

static const struct own_option own[] = {
    {"config", "FILE", "the file; without it, the defaults are printed", take_config},
    POLICY_FLAG_OPTIONS,
    {"kubeconfig", "FILE", "how to reach the API server with the ConfigMap", take_kubeconfig},
    {"master", "URL", "that API server, instead of the one in the kubeconfig", take_master},
    {"release", "VERSION", "check it as kube-scheduler of that release: 1.36 (default) or 1.37",
     take_release},
    {"feature-gates", "LIST", "what berth run is given; some add to the defaults",
     take_feature_gates},
    {"expanded", NULL, "print every plugin at each of the points where it runs", take_expanded},
    {"batch", NULL,
     "one JSON object {name, text} a line in, one {name, error or written, yaml, notes} a line out",
     take_batch},
    {NULL, NULL, NULL, NULL}};

static bool load(struct arguments *args, struct scheduler_config *config, struct arena *memory,
                 struct str *why)
{
    if (!scheduler_config_load(args->file, args->features, config, memory, why))
        return false;
    policy_name(&args->policy, config);
    bool good = policy_apply(&args->policy, (struct policy_server){args->kubeconfig, args->master},
                             config, memory, why);
    policy_unname(&args->policy);
    return good;
}

/* What is accepted without effect, and what is written there and not done. */
static void say_notes(const struct scheduler_config *config)
{
    for (uint32_t i = 0; i < config->notes.count; i++)
        fprintf(stderr, "berth config: warning: %.*s\n", STR_ARG(config->notes.at[i]));
    if (!config->rate_given)
        fputs("berth config: note: qps and burst are kube-scheduler's defaults; since neither is "
              "given, berth sends without a limit\n",
              stderr);
}

static int say_one(struct arguments *args)
{
    struct arena memory = {0};
    struct scheduler_config config;
    struct str why = {0};
    struct buffer out = {0};
    bool good = load(args, &config, &memory, &why);
    if (!good)
        fprintf(stderr, "berth config: %.*s\n", STR_ARG(why));
    else
        say_notes(&config);
    if (good && args->expanded)
        scheduler_config_print(&config, &out);
    else if (good)
        scheduler_config_write(&config, &out);
    if (good && fwrite(out.at, 1, out.len, stdout) != out.len)
        good = false; /* and main says so */
    buffer_free(&out);
    arena_free(&memory);
    return good ? 0 : 1;
}

/* The answer to one line of a batch. */
static void answer(const struct arguments *args, struct str line, struct buffer *out)
{
    struct arena memory = {0};
    struct scheduler_config config = {0};
    struct str why = {0};
    struct json_out j = {.out = out};
    struct buffer text = {0};
    struct kube_json *question = kube_json_parse(line, &why, &memory);
    bool good =
        question != NULL && scheduler_config_parse(kube_json_text(kube_json_get(question, "text")),
                                                   args->features, &config, &memory, &why);
    json_open(&j, NULL, '{');
    json_str(&j, "name", kube_json_text(kube_json_get(question, "name")));
    if (!good)
        json_str(&j, "error", why);
    if (good || config.unsupported.len > 0) {
        scheduler_config_write(&config, &text);
        json_str(&j, "yaml", buffer_str(&text));
        json_strs(&j, "notes", config.notes);
    }
    json_close(&j, '}');
    buffer_add_text(out, "\n");
    buffer_free(&text);
    kube_json_free(&question);
    arena_free(&memory);
}

static int say_batch(const struct arguments *args)
{
    struct buffer line = {0}, out = {0};
    char chunk[65536];
    bool written = true;
    while (written && fgets(chunk, sizeof(chunk), stdin) != NULL) {
        size_t len = strlen(chunk);
        buffer_add(&line, chunk, len);
        if (len == 0 || chunk[len - 1] != '\n')
            continue;
        answer(args, buffer_str(&line), &out);
        written = fwrite(out.at, 1, out.len, stdout) == out.len && fflush(stdout) == 0;
        buffer_reset(&line);
        buffer_reset(&out);
    }
    buffer_free(&line);
    buffer_free(&out);
    return written && !ferror(stdin) ? 0 : 1;
}

int command_config(int argc, char **argv)
{
    struct arguments args = {.gates = "", .release = RELEASE_OLDEST};
    char error[512];
    const struct options_table table = {
        .program = "berth config",
        .usage = "Checks a configuration and prints it as kube-scheduler's --write-config-to does, "
                 "with all defaults; a Policy is printed as what it was translated to.",
        .options = own,
        .state = &args};
    options_read(&table, argc, argv);
    if (!feature_gates_read(args.gates, release_of(args.release), &args.features, error,
                            sizeof(error))) {
        fprintf(stderr, "berth config: --feature-gates: %s\n", error);
        return 1;
    }
    return args.batch ? say_batch(&args) : say_one(&args);
}
