/* settings: one function an option, named as kube-scheduler's flags and configuration fields. What
 * must stay true: a value outside its bounds is refused here, so that the core need not look. */
#include "queue/settings.h"
#include "queue/hooks/hooks.h"

#include "proto/kube/config/config_internal.h"
#include "proto/kube/config/tracing_config.h"

#define BACKOFF_MOST_S      86400
#define UNSCHEDULABLE_MAX_S 300

static bool take_seconds(const char *value, int64_t *seconds)
{
    return str_to_i64(str_of(value), seconds) && *seconds > 0 && *seconds <= BACKOFF_MOST_S;
}

static bool take_initial(void *state, const char *value)
{
    return take_seconds(value, &((struct settings *)state)->backoff_initial_s);
}

static bool take_max(void *state, const char *value)
{
    return take_seconds(value, &((struct settings *)state)->backoff_max_s);
}

static bool take_unschedulable_max(void *state, const char *value)
{
    struct span *most = &((struct settings *)state)->unschedulable_max;
    return config_duration_parse(str_of(value), most) && most->ns > 0;
}

static bool take_tracing_config(void *state, const char *value)
{
    ((struct settings *)state)->tracing_config = value;
    return *value != 0;
}

const struct own_option settings_options[] = {
    {"pod-initial-backoff", "SECONDS", "wait after a pod's first failure (configuration, else 1)",
     take_initial},
    {"pod-max-backoff", "SECONDS", "longest wait after a failure (configuration, else 10)",
     take_max},
    {"pod-max-in-unschedulable-pods-duration", "TIME",
     "longest wait for an event that can help, such as 5m or 30s (default 5m)",
     take_unschedulable_max},
    {TRACING_FLAG, "FILE", "a TracingConfiguration: how many attempts are traced",
     take_tracing_config},
    {NULL, NULL, NULL, NULL},
};

static int64_t first_of(int64_t given, int64_t otherwise)
{
    return given > 0 ? given : otherwise;
}

/* The configuration's reader sees to it that all profiles say the same. */
static const struct queue_plugin *sorting(const struct scheduler_config *config)
{
    if (config->profiles.count == 0)
        return NULL;
    const struct strs *sort = &config->details[0].points[POINT_queue_sort];
    return sort->count > 0 ? queue_plugin_find(sort->at[0]) : NULL;
}

/* The plugin on the bus that sorts; empty: none does. */
static struct str plugin_that_sorts(const struct scheduler_config *config)
{
    if (config->profiles.count == 0 || config->details[0].points[POINT_queue_sort].count == 0)
        return (struct str){NULL, 0};
    struct str name = config->details[0].points[POINT_queue_sort].at[0];
    const struct profile *first = &config->profiles.at[0];
    for (uint32_t i = 0; i < first->bus_plugins.count; i++)
        if (str_equal(first->bus_plugins.at[i].name, name))
            return name;
    return (struct str){NULL, 0};
}

bool settings_apply(const struct settings *settings, const struct scheduler_config *config,
                    struct queue_options *options, struct str *error)
{
    int64_t initial = first_of(settings->backoff_initial_s, config->pod_initial_backoff_s);
    int64_t max = first_of(settings->backoff_max_s, config->pod_max_backoff_s);
    if (initial > max) {
        *error = STR_LITERAL("--pod-max-backoff (podMaxBackoffSeconds): must be greater than or "
                             "equal to --pod-initial-backoff (podInitialBackoffSeconds)");
        return false;
    }
    *options = (struct queue_options){
        .profiles = config->profiles.at,
        .profile_count = config->profiles.count,
        .config_hash = scheduler_config_hash(config),
        .backoff_given = settings->backoff_initial_s > 0 || settings->backoff_max_s > 0,
        .gang_sort = config->profiles.count > 0 && config->profiles.at[0].gang_sort,
        .sort = sorting(config),
        .sort_plugin = plugin_that_sorts(config),
        .backoff_initial = span_of_seconds((double)initial),
        .backoff_max = span_of_seconds((double)max),
        .unschedulable_max = settings->unschedulable_max};
    if (options->unschedulable_max.ns == 0)
        options->unschedulable_max = span_of_seconds(UNSCHEDULABLE_MAX_S);
    return true;
}
