/* config_file: reads KubeSchedulerConfiguration. The one idea: one pass that decodes, defaults and
 * validates side by side into separate piles of errors, reported in upstream's order: wrong types,
 * unknown fields, senseless values, what plugins refuse, what is not supported yet. What must stay
 * true: nothing that the file says is dropped silently. */
#include "proto/kube/config/config_file.h"
#include "proto/kube/config/config_internal.h"
#include "proto/kube/config/config_policy.h"
#include "proto/kube/config/config_schema.h"
#include "proto/kube/documents/protobuf.h"

#include "proto/base/memory.h"
#include "proto/journal/journal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FILE_MAX (4u << 20)
#define KIND     "KubeSchedulerConfiguration"

/* ---- the parts ---- */

static struct str text_or(const struct cursor *object, const char *name, const char *otherwise)
{
    struct str text = cursor_text(object, name);
    return text.len ? text : str_of(otherwise);
}

static struct span positive_or(const struct cursor *object, const char *name, int64_t seconds)
{
    struct span span = config_duration(object, name, (struct span){0});
    return span.ns ? span : span_of_ms(seconds * 1000);
}

static void invalid_span(struct loading *l, const struct cursor *object, const char *name,
                         struct span value, const char *detail)
{
    struct cursor at = cursor_member(object, name);
    struct buffer text = {0};
    config_duration_print(value, &text);
    config_invalid(l, &at, "Invalid value: \"%s\": %s", text.at, detail);
    buffer_free(&text);
}

static void check_leader(struct loading *l, const struct scheduler_config *c,
                         const struct cursor *object)
{
    if (!c->leader_elect)
        return;
    if (c->lease_duration.ns <= 0)
        invalid_span(l, object, "leaseDuration", c->lease_duration, "must be greater than zero");
    if (c->renew_deadline.ns <= 0)
        invalid_span(l, object, "renewDeadline", c->renew_deadline, "must be greater than zero");
    if (c->retry_period.ns <= 0)
        invalid_span(l, object, "retryPeriod", c->retry_period, "must be greater than zero");
    /* Upstream shows the deadline here, not the duration. */
    if (c->lease_duration.ns <= c->renew_deadline.ns)
        invalid_span(l, object, "leaseDuration", c->renew_deadline,
                     "must be greater than `RenewDeadline`");
    struct cursor lock = cursor_member(object, "resourceLock");
    if (!str_is(c->resource_lock, "leases"))
        config_invalid(l, &lock, "Invalid value: \"%.*s\": resourceLock value must be \"leases\"",
                       STR_ARG(c->resource_lock));
}

static void read_leader(struct loading *l, const struct cursor *root, struct scheduler_config *c)
{
    struct cursor object = cursor_object(root, "leaderElection");
    c->leader_elect = !config_has(&object, "leaderElect") || cursor_bool(&object, "leaderElect");
    c->lease_duration = positive_or(&object, "leaseDuration", 15);
    c->renew_deadline = positive_or(&object, "renewDeadline", 10);
    c->retry_period = positive_or(&object, "retryPeriod", 2);
    c->resource_lock = text_or(&object, "resourceLock", "leases");
    c->lease_name = text_or(&object, "resourceName", "kube-scheduler");
    c->lease_namespace = text_or(&object, "resourceNamespace", "kube-system");
    check_leader(l, c, &object);
}

static void read_connection(struct loading *l, const struct cursor *root,
                            struct scheduler_config *c)
{
    struct cursor object = cursor_object(root, "clientConnection");
    struct cursor qps = cursor_member(&object, "qps"), burst = cursor_member(&object, "burst");
    c->kubeconfig = cursor_text(&object, "kubeconfig");
    c->accept_content_types = cursor_text(&object, "acceptContentTypes");
    c->content_type = text_or(&object, "contentType", KUBE_TYPE_PROTOBUF);
    if (qps.value != NULL && !kube_json_number(qps.value, &c->qps))
        cursor_fail(&qps, "wants a number, has %s", kube_json_kind(qps.value));
    c->burst = cursor_i32(&object, "burst");
    if (c->burst < 0)
        config_invalid(l, &burst, "Invalid value: %lld: must be non-negative", (long long)c->burst);
    c->rate_given = qps.value != NULL || burst.value != NULL;
    if (c->qps == 0)
        c->qps = 50;
    if (c->burst == 0)
        c->burst = 100;
}

static void read_backoff(struct loading *l, const struct cursor *root, struct scheduler_config *c)
{
    struct cursor first = cursor_member(root, "podInitialBackoffSeconds");
    struct cursor most = cursor_member(root, "podMaxBackoffSeconds");
    c->pod_initial_backoff_s = first.value ? cursor_i64(root, first.name) : 1;
    c->pod_max_backoff_s = most.value ? cursor_i64(root, most.name) : 10;
    if (c->pod_initial_backoff_s <= 0)
        config_invalid(l, &first, "Invalid value: %lld: must be greater than 0",
                       (long long)c->pod_initial_backoff_s);
    if (c->pod_max_backoff_s < c->pod_initial_backoff_s)
        config_invalid(l, &most,
                       "Invalid value: %lld: must be greater than or equal to "
                       "PodInitialBackoffSeconds",
                       (long long)c->pod_max_backoff_s);
}

static void read_rest(struct loading *l, const struct cursor *root, struct scheduler_config *c)
{
    struct cursor parallelism = cursor_member(root, "parallelism");
    struct cursor delay = cursor_member(root, "delayCacheUntilActive");
    c->parallelism = parallelism.value ? cursor_i32(root, "parallelism") : 16;
    if (c->parallelism <= 0)
        config_invalid(l, &parallelism,
                       "Invalid value: %lld: should be an integer value greater than zero",
                       (long long)c->parallelism);
    else if (parallelism.value != NULL && c->parallelism != 16)
        config_note(l, &parallelism, "has no effect: the number of workers decides");
    c->delay_cache = cursor_bool(root, "delayCacheUntilActive");
    if (c->delay_cache)
        config_note(l, &delay, "has no effect: a standby keeps its view of the cluster up to date");
    c->profiling = !config_has(root, "enableProfiling") || cursor_bool(root, "enableProfiling");
    c->contention_profiling = config_has(root, "enableContentionProfiling")
                                  ? cursor_bool(root, "enableContentionProfiling")
                                  : c->profiling;
}

static void check_extender_count(struct loading *l, const struct cursor *root,
                                 const struct scheduler_config *c)
{
    struct cursor extenders = cursor_member(root, "extenders");
    if (c->extenders.count > EXTENDERS_MAX)
        config_unsupported(l, &extenders, "%u given, %d are the most", c->extenders.count,
                           EXTENDERS_MAX);
}

/* ---- the whole ---- */

static void check_missing(struct loading *l, struct str value, const char *what)
{
    struct buffer text = {0};
    buffer_print(&text, "Object '%s' is missing in '%.*s'", what, STR_ARG(l->text));
    if (value.len == 0)
        config_fail(l, text.at);
    buffer_free(&text);
}

/* Older versions of the same have the same fields, and v1beta2 two that have no meaning any more.
 */
static bool is_older(struct loading *l, const struct cursor *root, struct str version)
{
    struct cursor at = cursor_member(root, "apiVersion");
    bool older = str_is(version, CONFIG_BETA2) || str_is(version, CONFIG_BETA3);
    if (older)
        config_note(l, &at, "%.*s is read as " CONFIG_VERSION ", whose defaults hold",
                    STR_ARG(version));
    return older;
}

static bool check_kind(struct loading *l, const struct cursor *root)
{
    struct str version, kind;
    if (!config_schema_meta(l, root, &version, &kind))
        return false;
    if (config_slashes(version) < 2) {
        check_missing(l, kind, "Kind");
        check_missing(l, version, "apiVersion");
    }
    if (l->reading.failed || (str_is(kind, KIND) && is_older(l, root, version))) {
        l->version = version;
        return !l->reading.failed;
    }
    l->version = version;
    struct buffer text = {0};
    if (!str_is(version, CONFIG_VERSION) || (!str_is(kind, KIND) && !config_args_kind(kind)))
        config_not_registered(kind, version, &text);
    else if (!str_is(kind, KIND))
        buffer_print(&text, "couldn't decode as " KIND ", got %.*s, Kind=%.*s", STR_ARG(version),
                     STR_ARG(kind));
    if (text.len > 0)
        config_fail(l, text.at);
    buffer_free(&text);
    return !l->reading.failed;
}

static void read_config(struct loading *l, const struct cursor *root, struct scheduler_config *c)
{
    read_connection(l, root, c);
    read_leader(l, root, c);
    read_rest(l, root, c);
    /* Needed by the profiles; upstream reports it behind them, hence once more below. */
    c->percentage_of_nodes_to_score = config_has(root, "percentageOfNodesToScore")
                                          ? cursor_i32(root, "percentageOfNodesToScore")
                                          : 0;
    config_extenders_read(root, c);
    l->ignores_by_extenders = config_extenders_ignores(c) > 0;
    struct profile_draft *drafts = config_profiles_read(l, root, c);
    config_percentage(l, root, 0);
    read_backoff(l, root, c);
    config_extenders_check(l, root, c);
    check_extender_count(l, root, c);
    if (!l->reading.failed && l->strict.len == 0 && l->invalid.len == 0)
        config_profiles_make(l, root, c, drafts);
    for (uint32_t i = 0; drafts != NULL && i < c->profiles.count; i++)
        buffer_free(&drafts[i].fit_faults);
}

static bool verdict(const struct loading *l, struct scheduler_config *c, struct arena *a,
                    struct str *error)
{
    bool several = l->invalid_count > 1;
    if (l->reading.failed)
        *error = l->reading.error;
    else if (l->strict.len > 0)
        *error = arena_print(a, "strict decoding error: %s", l->strict.at);
    else if (l->invalid.len > 0)
        *error = arena_print(a, "%s%s%s", several ? "[" : "", l->invalid.at, several ? "]" : "");
    else if (l->unsupported.len > 0)
        *error = c->unsupported = arena_print(a, "not supported yet: %s", l->unsupported.at);
    else
        return true;
    return false;
}

static struct strs split_notes(const struct loading *l, const struct cursor *root)
{
    struct strs notes = {0};
    struct str rest = arena_copy(l->reading.arena, buffer_str(&l->notes));
    size_t count = rest.len > 0;
    for (uint32_t i = 0; i < rest.len; i++)
        count += rest.at[i] == '\n';
    notes.at = count ? cursor_take(root, count, sizeof(*notes.at)) : NULL;
    while (notes.at != NULL && rest.len > 0) {
        int64_t end = str_find(rest, '\n');
        uint32_t len = end < 0 ? rest.len : (uint32_t)end;
        notes.at[notes.count++] = (struct str){rest.at, len};
        rest = (struct str){rest.at + len, rest.len - len};
        if (rest.len > 0)
            rest = (struct str){rest.at + 1, rest.len - 1};
    }
    return notes;
}

static void free_loading(struct loading *l)
{
    buffer_free(&l->strict);
    buffer_free(&l->invalid);
    buffer_free(&l->unsupported);
    buffer_free(&l->notes);
}

static struct strs join(const struct strs *a, const struct strs *b, struct arena *arena)
{
    struct strs all = {0, arena_take(arena, (a->count + b->count) * sizeof(struct str))};
    for (uint32_t i = 0; i < a->count; i++)
        all.at[all.count++] = a->at[i];
    for (uint32_t i = 0; i < b->count; i++)
        all.at[all.count++] = b->at[i];
    return all;
}

/* The profile is made anew once change has changed its plugins; what was noted of it stays noted.
 */
static bool change_profile(struct scheduler_config *config, uint32_t i,
                           void (*change)(const struct cursor *profile, struct plugin_sets *sets),
                           struct arena *a, struct str *error)
{
    struct loading l = {.reading = {.arena = a}};
    struct cursor root = cursor_root(&l.reading, NULL);
    struct scheduler_config unused = {0};
    change(&root, config->details[i].sets);
    config_plugins_expand(&l, config->details[i].sets, &config->profiles.at[i],
                          &config->details[i]);
    bool good = verdict(&l, &unused, a, error);
    free_loading(&l);
    return good;
}

static void note_gate(struct scheduler_config *config, struct arena *a)
{
    struct str text =
        STR_LITERAL("plugin " CONFIG_BUILT_IN_PLUGIN " has no effect: not both of the feature "
                    "gates GenericWorkload and GangScheduling are on");
    const struct strs note = {1, &text};
    config->notes = join(&config->notes, &note, a);
}

/* What the release and its gates make of the profiles. */
static bool take_features(struct scheduler_config *config, struct arena *a, struct str *error)
{
    bool gangs = config->features.gangs, counts = config->features.gang_counts;
    bool good = true, idle = false;
    for (uint32_t i = 0; good && i < config->profiles.count; i++) {
        struct profile *p = &config->profiles.at[i];
        good = !counts || change_profile(config, i, config_plugins_gate, a, error);
        bool named =
            config_plugins_need(config->details[i].sets, STR_LITERAL(CONFIG_BUILT_IN_PLUGIN));
        p->gang_built_in = gangs && (named || !counts); /* the plugin does nothing but count */
        idle = idle || (named && !counts);
    }
    if (idle)
        note_gate(config, a);
    return good;
}

/* document NULL: the defaults. config has the features that it is read with. */
static bool load_current(const struct kube_json *document, struct str text,
                         struct scheduler_config *config, struct arena *a, struct str *error)
{
    const struct features features = config->features;
    struct loading l = {.reading = {.arena = a}, .text = text, .features = features};
    struct cursor root = cursor_root(&l.reading, document);
    *config = (struct scheduler_config){.features = features};
    if (document == NULL || (check_kind(&l, &root) && config_schema_check(&l, &root)))
        read_config(&l, &root, config);
    config->notes = split_notes(&l, &root);
    bool good = verdict(&l, config, a, error);
    free_loading(&l);
    return good && take_features(config, a, error);
}

/* The old Policy: translated, and loaded as what it was translated to. */
static bool load_policy(const struct kube_json *document, struct scheduler_config *config,
                        struct arena *a, struct str *error)
{
    const struct features features = config->features;
    struct loading l = {.reading = {.arena = a}};
    struct cursor root = cursor_root(&l.reading, document);
    struct buffer text = {0};
    *config = (struct scheduler_config){.features = features};
    config_policy_translate(&l, &root, &text);
    bool good = verdict(&l, config, a, error);
    free_loading(&l);
    struct kube_json *translated = good ? kube_json_parse_yaml(buffer_str(&text), error, a) : NULL;
    good = translated != NULL && load_current(translated, buffer_str(&text), config, a, error);
    kube_json_free(&translated);
    buffer_free(&text);
    return good;
}

/* Says that a document is no Policy; without a kind and a version it is taken for one. */
static bool other_kind(const struct kube_json *document, struct arena *a, struct str *error)
{
    struct str kind = kube_json_text(kube_json_get(document, "kind"));
    struct str version = kube_json_text(kube_json_get(document, "apiVersion"));
    struct buffer text = {0};
    if (!kube_json_is_object(document))
        buffer_add_text(&text, "a Policy is an object");
    else if (kind.len + version.len > 0 && !config_policy_is(document))
        config_not_registered(kind, version, &text);
    if (text.len > 0)
        *error = arena_copy(a, buffer_str(&text));
    bool other = text.len > 0;
    buffer_free(&text);
    return other;
}

static void disable_preemption(const struct cursor *profile, struct plugin_sets *sets)
{
    config_plugins_disable(profile, sets, STR_LITERAL("DefaultPreemption"));
}

/* What a plugin's own arguments, or a Policy, say comes first. */
static bool apply_old(struct scheduler_config *config, struct arena *a, struct str *error)
{
    const struct old_config *old = &config->old;
    bool good = true;
    for (uint32_t i = 0; good && i < config->profiles.count; i++) {
        struct profile *p = &config->profiles.at[i];
        struct plugin_args *args = &config->details[i].args;
        if (old->scheduler_name.len > 0)
            p->scheduler_name = old->scheduler_name;
        if (old->has_bind_timeout && !args->has_bind_timeout)
            p->bind_timeout_s = args->volume_bind_timeout_s = old->bind_timeout_s;
        if (old->has_hard_weight && !args->has_hard_weight)
            p->hard_affinity_weight = args->hard_pod_affinity_weight = old->hard_weight;
        good = !old->disable_preemption || change_profile(config, i, disable_preemption, a, error);
    }
    return good;
}

bool scheduler_config_take_policy(struct str policy, struct scheduler_config *config,
                                  struct arena *a, struct str *error)
{
    struct str ignored;
    struct scheduler_config from = {.features = config->features};
    error = error != NULL ? error : &ignored;
    struct kube_json *document = kube_json_parse_config(policy, error, a);
    bool good = document != NULL && !other_kind(document, a, error) &&
                load_policy(document, &from, a, error);
    kube_json_free(&document);
    config->profiles.count = from.profiles.count;
    config->profiles.at = from.profiles.at;
    config->details = from.details;
    config->extenders.count = from.extenders.count;
    config->extenders.at = from.extenders.at;
    config->unsupported = from.unsupported;
    config->notes = join(&config->notes, &from.notes, a);
    config->old.map_name = (struct str){0};
    return good && apply_old(config, a, error);
}

/* algorithmSource, and all else that stands beside profiles. */
static bool finish_old(struct scheduler_config *config, struct arena *a, struct str *error)
{
    const struct old_config *old = &config->old;
    if (old->policy.len > 0)
        return scheduler_config_take_policy(old->policy, config, a, error);
    if (old->policy_file.len == 0)
        return apply_old(config, a, error);
    char *path = str_copy(old->policy_file);
    struct buffer text = {0};
    struct str why = {0};
    bool good = config_read_text(path, &text);
    if (!good)
        why = str_of(strerror(errno));
    else
        good = scheduler_config_take_policy(buffer_str(&text), config, a, &why);
    if (!good)
        *error = arena_print(a, "algorithmSource.policy.file: %s: %.*s", path, STR_ARG(why));
    buffer_free(&text);
    memory_free(path);
    return good;
}

/* An old version: translated, and loaded as what it was translated to. */
static bool load_old(const struct kube_json *document, struct scheduler_config *config,
                     struct arena *a, struct str *error)
{
    const struct features features = config->features;
    struct loading l = {.reading = {.arena = a}};
    struct cursor root = cursor_root(&l.reading, document);
    struct old_config rest = {0};
    struct buffer text = {0};
    *config = (struct scheduler_config){.features = features};
    config_old_translate(&l, &root, &rest, &text);
    struct strs notes = split_notes(&l, &root);
    bool good = verdict(&l, config, a, error);
    free_loading(&l);
    struct kube_json *translated = good ? kube_json_parse(buffer_str(&text), error, a) : NULL;
    good = translated != NULL && load_current(translated, buffer_str(&text), config, a, error);
    config->old = rest;
    config->notes = join(&notes, &config->notes, a);
    kube_json_free(&translated);
    buffer_free(&text);
    return good && finish_old(config, a, error);
}

/* config has the features that it is read with. */
static bool load(const struct kube_json *document, struct str text, struct scheduler_config *config,
                 struct arena *a, struct str *error)
{
    struct str ignored;
    error = error != NULL ? error : &ignored;
    if (config_policy_is(document))
        return load_policy(document, config, a, error);
    return config_old_is(document) ? load_old(document, config, a, error)
                                   : load_current(document, text, config, a, error);
}

bool scheduler_config_parse_json(const struct kube_json *document, struct features features,
                                 struct scheduler_config *config, struct arena *a,
                                 struct str *error)
{
    config->features = features;
    return load(document, (struct str){0}, config, a, error);
}

bool scheduler_config_parse(struct str text, struct features features,
                            struct scheduler_config *config, struct arena *a, struct str *error)
{
    struct kube_json *document = kube_json_parse_config(text, error, a);
    config->features = features;
    bool good = document != NULL && load(document, text, config, a, error);
    kube_json_free(&document);
    return good;
}

/* The whole file; false with errno, EFBIG when it is longer than any configuration. */
static bool read_file(const char *path, struct buffer *text)
{
    char block[16384];
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return false;
    for (size_t got = 1; got > 0 && text->len <= FILE_MAX;) {
        got = fread(block, 1, sizeof(block), file);
        buffer_add(text, block, got);
    }
    int failed = ferror(file) ? errno : text->len > FILE_MAX ? EFBIG : 0;
    fclose(file);
    errno = failed;
    return failed == 0;
}

bool config_read_text(const char *path, struct buffer *text)
{
    bool good = !journal_plays() && read_file(path, text);
    return journal_text(path, good, text);
}

bool scheduler_config_load(const char *path, struct features features,
                           struct scheduler_config *config, struct arena *a, struct str *error)
{
    struct buffer text = {0};
    struct str why = {0};
    config->features = features;
    if (path == NULL)
        return load(NULL, (struct str){0}, config, a, error);
    bool good = config_read_text(path, &text);
    if (!good)
        why = str_of(strerror(errno));
    else
        good = scheduler_config_parse(buffer_str(&text), features, config, a, &why);
    config->from_file = good;
    if (!good && error != NULL)
        *error = arena_print(a, "%s: %.*s", path, STR_ARG(why));
    buffer_free(&text);
    return good;
}

bool scheduler_config_check_leader(const struct scheduler_config *config, struct arena *a,
                                   struct str *error)
{
    struct loading l = {.reading = {.arena = a}};
    struct cursor root = cursor_root(&l.reading, NULL),
                  object = cursor_member(&root, "leaderElection");
    struct str ignored;
    check_leader(&l, config, &object);
    struct scheduler_config unused = {0};
    bool good = verdict(&l, &unused, a, error ? error : &ignored);
    buffer_free(&l.invalid);
    return good;
}

/* ---- protobuf ---- */

bool scheduler_config_protobuf_written(const struct scheduler_config *config)
{
    return str_is(config->content_type, KUBE_TYPE_PROTOBUF);
}

bool scheduler_config_protobuf_read(const struct scheduler_config *config)
{
    struct str rest = config->accept_content_types, type;
    if (rest.len == 0)
        return scheduler_config_protobuf_written(config);
    while (str_split(&rest, ",", &type)) {
        while (type.len > 0 && type.at[0] == ' ')
            type = (struct str){type.at + 1, type.len - 1};
        size_t len = sizeof(KUBE_TYPE_PROTOBUF) - 1;
        bool ends = type.len == len || (type.len > len && strchr("; ", type.at[len]) != NULL);
        if (ends && str_starts_with(type, KUBE_TYPE_PROTOBUF))
            return true;
    }
    return false;
}
