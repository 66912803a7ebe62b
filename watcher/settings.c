/* settings: one function an option. What must stay true: a value outside its bounds is refused
 * here, so that nothing behind the command line has to check it again. */
#include "watcher/settings.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/kube/config/config_file.h"
#include "proto/kube/release/feature_gates.h"

#include <stdio.h>

static bool take_kubeconfig(void *state, const char *value)
{
    ((struct settings *)state)->kubeconfig = value;
    return *value != 0;
}

static bool take_master(void *state, const char *value)
{
    ((struct settings *)state)->master = value;
    return *value != 0;
}

static bool take_user_agent(void *state, const char *value)
{
    ((struct settings *)state)->user_agent = value;
    return *value != 0;
}

static bool take_content_type(void *state, const char *value)
{
    ((struct settings *)state)->content_type = value;
    return true;
}

static bool take_number(const char *value, int64_t least, int64_t most, int64_t *number)
{
    return str_to_i64(str_of(value), number) && *number >= least && *number <= most;
}

static bool take_stale_after(void *state, const char *value)
{
    int64_t seconds = 0;
    bool ok = take_number(value, 5, 86400, &seconds);
    ((struct settings *)state)->stale_after = span_of_ms(seconds * 1000);
    return ok;
}

static bool take_page_size(void *state, const char *value)
{
    int64_t size = 0;
    bool ok = take_number(value, 1, 100000, &size);
    ((struct settings *)state)->page_size = (uint32_t)size;
    return ok;
}

/* Who decides checks them against the release of the API server; here they say what is read. */
static bool take_feature_gates(void *state, const char *value)
{
    char left[256];
    const struct kube_release *newest = release_of(RELEASE_NEWEST);
    ((struct settings *)state)->group_trees =
        feature_gates_follow(value, newest, left, sizeof(left)).group_trees;
    return true;
}

const struct own_option settings_options[] = {
    {"kubeconfig", "FILE", "how to reach the API server", take_kubeconfig},
    {"master", "URL", "the API server, instead of the kubeconfig's", take_master},
    {"stale-after", "SECONDS", "a watch silent for this long is made anew (5 to 86400, default 90)",
     take_stale_after},
    {"page-size", "N", "objects in one page of a list (default 500)", take_page_size},
    {"user-agent", "TEXT", "what we call ourselves", take_user_agent},
    {"kube-api-content-type", "TYPE",
     "of lists and watches, unless --config is given (application/vnd.kubernetes.protobuf)",
     take_content_type},
    {"feature-gates", "LIST", "as the scheduler's: with CompositePodGroup those are read, too",
     take_feature_gates},
    {0},
};

/* How the keys begin of the annotations that plugins of any profile want to be told of. */
static struct strs wanted_annotations(const struct scheduler_config *config, struct arena *a)
{
    struct strs all = {0};
    uint32_t most = 0;
    for (uint32_t i = 0; i < config->profiles.count; i++)
        for (uint32_t k = 0; k < config->profiles.at[i].bus_plugins.count; k++)
            most += config->profiles.at[i].bus_plugins.at[k].annotations.count;
    all.at = arena_take(a, most * sizeof(struct str));
    for (uint32_t i = 0; i < config->profiles.count; i++)
        for (uint32_t k = 0; k < config->profiles.at[i].bus_plugins.count; k++) {
            const struct strs *of = &config->profiles.at[i].bus_plugins.at[k].annotations;
            for (uint32_t n = 0; n < of->count; n++)
                if (!strs_hold(all, of->at[n]))
                    all.at[all.count++] = arena_copy(a, of->at[n]);
        }
    return all;
}

bool settings_read_config(struct settings *settings, const char *path, char *error, size_t room)
{
    struct arena arena = {0};
    struct scheduler_config config;
    struct str cause = {0};
    bool ok =
        scheduler_config_load(path, release_features(RELEASE_NEWEST), &config, &arena, &cause);
    if (!ok)
        snprintf(error, room, "%.*s", STR_ARG(cause));
    if (ok && path == NULL && settings->content_type != NULL)
        config.content_type = str_of(settings->content_type);
    settings->protobuf = ok && scheduler_config_protobuf_read(&config);
    if (ok && config.kubeconfig.len > 0)
        settings->kubeconfig = settings->from_config = str_copy(config.kubeconfig);
    if (ok)
        settings->annotations = wanted_annotations(&config, &settings->memory);
    arena_free(&arena);
    config_follow_init(&settings->config, path);
    return ok;
}

/* There is nothing in a file that the watcher could change while it runs: what it has read of
 * objects stays as it is. */
struct moment settings_follow(struct settings *settings, struct moment now, bool asked)
{
    struct arena memory = {0};
    struct scheduler_config config;
    bool changed = config_follow_look(&settings->config, now, asked, &config, &memory);
    if (changed && scheduler_config_protobuf_read(&config) != settings->protobuf)
        log_warn("configuration| note=\"clientConnection takes effect with a restart\"");
    if (changed && !strs_equal(wanted_annotations(&config, &memory), settings->annotations))
        log_warn(
            "configuration| note=\"annotations that plugins on the bus are told of take effect "
            "with a restart\"");
    arena_free(&memory);
    return settings->config.watch.path != NULL ? settings->config.watch.next : MOMENT_NEVER;
}

void settings_free(struct settings *settings)
{
    memory_free(settings->from_config);
    settings->from_config = NULL;
    arena_free(&settings->memory);
    settings->annotations = (struct strs){0};
}
