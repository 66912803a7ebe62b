/* config_flags: the flags that override the configuration file. The one idea: remember what was
 * given, apply it after the file was read, check again. What must stay true: a flag that was not
 * given changes nothing. */
#include "proto/kube/config/config_flags.h"
#include "proto/kube/config/config_internal.h"
#include "proto/kube/release/feature_gates.h"

#include <stdlib.h>
#include <string.h>

bool config_flag_truth(const char *value, bool *truth)
{
    static const char *const yes[] = {"", "1", "t", "T", "true", "TRUE", "True"};
    static const char *const no[] = {"0", "f", "F", "false", "FALSE", "False"};
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
        if (strcmp(value, yes[i]) == 0)
            return *truth = true;
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
        if (strcmp(value, no[i]) == 0) {
            *truth = false;
            return true;
        }
    return false;
}

bool config_take_leader_elect(void *state, const char *value)
{
    struct config_flags *f = state;
    return f->has_leader_elect = config_flag_truth(*value ? value : "true", &f->leader_elect);
}

bool config_take_lease_duration(void *state, const char *value)
{
    struct config_flags *f = state;
    return f->has_lease_duration = config_duration_parse(str_of(value), &f->lease_duration);
}

bool config_take_renew_deadline(void *state, const char *value)
{
    struct config_flags *f = state;
    return f->has_renew_deadline = config_duration_parse(str_of(value), &f->renew_deadline);
}

bool config_take_retry_period(void *state, const char *value)
{
    struct config_flags *f = state;
    return f->has_retry_period = config_duration_parse(str_of(value), &f->retry_period);
}

bool config_take_resource_lock(void *state, const char *value)
{
    struct config_flags *f = state;
    bool good = strcmp(value, "leases") == 0; /* there is no other kind any more */
    f->resource_lock = good ? value : NULL;
    return good;
}

bool config_take_resource_name(void *state, const char *value)
{
    ((struct config_flags *)state)->resource_name = value;
    return value[0] != 0;
}

bool config_take_resource_namespace(void *state, const char *value)
{
    ((struct config_flags *)state)->resource_namespace = value;
    return value[0] != 0;
}

bool config_take_kubeconfig(void *state, const char *value)
{
    ((struct config_flags *)state)->kubeconfig = value;
    return true;
}

bool config_take_master(void *state, const char *value)
{
    ((struct config_flags *)state)->master = value;
    return true;
}

bool config_take_qps(void *state, const char *value)
{
    struct config_flags *f = state;
    char *end;
    f->qps = strtod(value, &end);
    f->qps_text = value;
    return *value != 0 && *end == 0 && f->qps > -1e30 && f->qps < 1e30;
}

bool config_take_burst(void *state, const char *value)
{
    struct config_flags *f = state;
    f->burst_text = value;
    return str_to_i64(str_of(value), &f->burst) && f->burst >= INT32_MIN && f->burst <= INT32_MAX;
}

bool config_take_content_type(void *state, const char *value)
{
    ((struct config_flags *)state)->content_type = value;
    return true;
}

bool config_take_profiling(void *state, const char *value)
{
    struct config_flags *f = state;
    return f->has_profiling = config_flag_truth(*value ? value : "true", &f->profiling);
}

bool config_take_contention(void *state, const char *value)
{
    struct config_flags *f = state;
    return f->has_contention = config_flag_truth(*value ? value : "true", &f->contention);
}

bool config_take_disable_preemption(void *state, const char *value)
{
    struct config_flags *f = state;
    return config_flag_truth(*value ? value : "true", &f->disable_preemption);
}

bool config_take_release(void *state, const char *value)
{
    return release_read(value, &((struct config_flags *)state)->release);
}

bool config_take_feature_gates(void *state, const char *value)
{
    ((struct config_flags *)state)->feature_gates = value;
    return true;
}

static const char *gates_of(const struct config_flags *flags)
{
    return flags->feature_gates != NULL ? flags->feature_gates : "";
}

bool config_flags_check(const struct config_flags *flags, char *error, size_t room)
{
    if (flags->release == 0)
        return feature_gates_may_be(gates_of(flags), error, room);
    return feature_gates_read(gates_of(flags), release_of(flags->release), NULL, error, room);
}

struct features config_flags_features(const struct config_flags *flags, int64_t minor, char *left,
                                      size_t room)
{
    return feature_gates_follow(gates_of(flags), release_of(minor), left, room);
}

void config_flags_range(const struct config_flags *flags, int64_t *first, int64_t *last)
{
    *first = flags->release != 0 ? flags->release : RELEASE_OLDEST;
    *last = flags->release != 0 ? flags->release : RELEASE_NEWEST;
}

/* config has the features that it is read with. */
static bool load_as(const struct config_flags *flags, const char *path,
                    struct scheduler_config *config, struct arena *a, struct str *error)
{
    return scheduler_config_load(path, config->features, config, a, error) &&
           config_flags_apply(flags, config, a, error);
}

bool config_flags_load(const struct config_flags *flags, const char *path,
                       struct scheduler_config *config, struct arena *a, struct str *error)
{
    char left[CONFIG_GATES_ROOM];
    int64_t first, last;
    struct str later;
    config_flags_range(flags, &first, &last);
    config->features = config_flags_features(flags, first, left, sizeof(left));
    bool good = load_as(flags, path, config, a, error);
    while (!good && first++ < last) {
        config->features = config_flags_features(flags, first, left, sizeof(left));
        good = load_as(flags, path, config, a, &later);
    }
    return good;
}

int64_t config_flags_hash(const struct config_flags *flags, const char *path,
                          const struct scheduler_config *config)
{
    struct arena memory = {0};
    struct scheduler_config file = {.features = release_features(RELEASE_NEWEST)};
    struct str error;
    bool read = load_as(flags, path, &file, &memory, &error);
    int64_t hash = scheduler_config_hash(read ? &file : config);
    arena_free(&memory);
    return hash;
}

static void remove_name(struct strs *names, const char *name)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < names->count; i++)
        if (!str_is(names->at[i], name))
            names->at[kept++] = names->at[i];
    names->count = kept;
}

/* As if every profile listed DefaultPreemption among its disabled plugins. */
static void disable_preemption(struct scheduler_config *config)
{
    for (uint32_t i = 0; i < config->profiles.count; i++) {
        struct profile *p = &config->profiles.at[i];
        struct profile_details *d = &config->details[i];
        remove_name(&d->points[POINT_post_filter], "DefaultPreemption");
        remove_name(&d->points[POINT_pre_enqueue], "DefaultPreemption");
        remove_name(&p->post_filter, "DefaultPreemption");
        remove_name(&p->pre_enqueue, "DefaultPreemption");
    }
}

/* Only without a file, as upstream; the file has fields for them. */
static void apply_deprecated(const struct config_flags *flags, struct scheduler_config *config)
{
    if (flags->qps_text != NULL)
        config->qps = flags->qps;
    if (flags->burst_text != NULL)
        config->burst = flags->burst;
    if (flags->content_type != NULL)
        config->content_type = str_of(flags->content_type);
    if (flags->has_profiling)
        config->profiling = flags->profiling;
    if (flags->has_contention)
        config->contention_profiling = flags->contention;
    config->rate_given = flags->qps_text != NULL || flags->burst_text != NULL;
}

bool config_flags_apply(const struct config_flags *flags, struct scheduler_config *config,
                        struct arena *a, struct str *error)
{
    if (config->old.map_name.len > 0) {
        *error =
            arena_print(a, "algorithmSource.policy.configMap: berth run and berth config read it, "
                           "and no other process");
        return false;
    }
    if (flags->has_leader_elect)
        config->leader_elect = flags->leader_elect;
    if (flags->has_lease_duration)
        config->lease_duration = flags->lease_duration;
    if (flags->has_renew_deadline)
        config->renew_deadline = flags->renew_deadline;
    if (flags->has_retry_period)
        config->retry_period = flags->retry_period;
    if (flags->resource_lock != NULL)
        config->resource_lock = str_of(flags->resource_lock);
    if (flags->resource_name != NULL)
        config->lease_name = str_of(flags->resource_name);
    if (flags->resource_namespace != NULL)
        config->lease_namespace = str_of(flags->resource_namespace);
    if (flags->kubeconfig != NULL && config->kubeconfig.len == 0)
        config->kubeconfig = str_of(flags->kubeconfig);
    if (!config->from_file)
        apply_deprecated(flags, config);
    if (flags->disable_preemption)
        disable_preemption(config);
    return scheduler_config_check_leader(config, a, error);
}
