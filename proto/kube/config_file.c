/* config_file: reads KubeSchedulerConfiguration. The one idea: one pass that decodes, defaults and
 * validates side by side into separate piles of errors, reported in upstream's order: wrong types,
 * unknown fields, senseless values, what plugins refuse, what is not supported yet. What must stay
 * true: nothing that the file says is dropped silently. */
#include "proto/kube/config_file.h"
#include "proto/kube/config_internal.h"

#include "proto/base/memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FILE_MAX     (4u << 20)
#define MEMBERS_MAX  1000 /* of one object: bounds the search for duplicates */
#define PROFILES_MAX 1000
#define KIND         "KubeSchedulerConfiguration"

/* ---- errors ---- */

static void add_strict(struct loading *l, const char *what, const struct spot *at)
{
    buffer_print(&l->strict, "%s%s field \"", l->strict.len ? ", " : "", what);
    spot_path(at, &l->strict);
    buffer_add_text(&l->strict, "\"");
}

void config_only(struct loading *l, const struct spot *object, const char *const *names)
{
    if (!kube_json_is_object(object->value))
        return;
    if (kube_json_count(object->value) > MEMBERS_MAX) {
        spot_fail(object, "has more than %d fields", MEMBERS_MAX);
        return;
    }
    for (struct spot c = spot_first(object); c.value != NULL; c = spot_next(&c)) {
        bool known = false, again = false;
        for (size_t i = 0; names[i] != NULL; i++)
            known = known || strcmp(names[i], c.name) == 0;
        for (struct spot d = spot_first(object); d.value != c.value; d = spot_next(&d))
            again = again || strcmp(d.name, c.name) == 0;
        if (!known)
            add_strict(l, "unknown", &c);
        else if (again)
            add_strict(l, "duplicate", &c);
    }
}

static void add_line(struct buffer *out, const char *separator, const struct spot *at,
                     const char *text)
{
    if (out->len > 0)
        buffer_add_text(out, separator);
    size_t start = out->len;
    spot_path(at, out);
    buffer_print(out, "%s%s", out->len > start ? ": " : "", text);
}

#define FORMAT_INTO(text)                                                                          \
    char text[1024];                                                                               \
    va_list args;                                                                                  \
    va_start(args, format);                                                                        \
    vsnprintf(text, sizeof(text), format, args);                                                   \
    va_end(args)

void config_invalid(struct loading *l, const struct spot *at, const char *format, ...)
{
    FORMAT_INTO(text);
    add_line(&l->invalid, ", ", at, text);
    l->invalid_count++;
}

void config_invalid_text(struct loading *l, const char *text)
{
    struct spot nowhere = {0};
    add_line(&l->invalid, ", ", &nowhere, text);
    l->invalid_count++;
}

void config_unsupported(struct loading *l, const struct spot *at, const char *format, ...)
{
    FORMAT_INTO(text);
    add_line(&l->unsupported, ", ", at, text);
}

void config_note(struct loading *l, const struct spot *at, const char *format, ...)
{
    FORMAT_INTO(text);
    add_line(&l->notes, "\n", at, text);
}

bool config_has(const struct spot *object, const char *member)
{
    return kube_json_get(object->value, member) != NULL;
}

/* ---- the parts ---- */

static struct str text_or(const struct spot *object, const char *name, const char *otherwise)
{
    struct str text = spot_text(object, name);
    return text.len ? text : str_of(otherwise);
}

static struct span positive_or(const struct spot *object, const char *name, int64_t seconds)
{
    struct span span = config_duration(object, name, (struct span){0});
    return span.ns ? span : span_of_ms(seconds * 1000);
}

static void invalid_span(struct loading *l, const struct spot *object, const char *name,
                         struct span value, const char *detail)
{
    struct spot at = spot_member(object, name);
    struct buffer text = {0};
    config_duration_print(value, &text);
    config_invalid(l, &at, "Invalid value: \"%s\": %s", text.at, detail);
    buffer_free(&text);
}

static void check_leader(struct loading *l, const struct scheduler_config *c,
                         const struct spot *object)
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
    struct spot lock = spot_member(object, "resourceLock");
    if (!str_is(c->resource_lock, "leases"))
        config_invalid(l, &lock, "Invalid value: \"%.*s\": resourceLock value must be \"leases\"",
                       STR_ARG(c->resource_lock));
}

static void read_leader(struct loading *l, const struct spot *root, struct scheduler_config *c)
{
    static const char *const fields[] = {
        "leaderElect",  "leaseDuration", "renewDeadline",     "retryPeriod",
        "resourceLock", "resourceName",  "resourceNamespace", NULL};
    struct spot object = spot_object(root, "leaderElection");
    config_only(l, &object, fields);
    c->leader_elect = !config_has(&object, "leaderElect") || spot_bool(&object, "leaderElect");
    c->lease_duration = positive_or(&object, "leaseDuration", 15);
    c->renew_deadline = positive_or(&object, "renewDeadline", 10);
    c->retry_period = positive_or(&object, "retryPeriod", 2);
    c->resource_lock = text_or(&object, "resourceLock", "leases");
    c->lease_name = text_or(&object, "resourceName", "kube-scheduler");
    c->lease_namespace = text_or(&object, "resourceNamespace", "kube-system");
    check_leader(l, c, &object);
}

static void read_connection(struct loading *l, const struct spot *root, struct scheduler_config *c)
{
    static const char *const fields[] = {
        "kubeconfig", "acceptContentTypes", "contentType", "qps", "burst", NULL};
    struct spot object = spot_object(root, "clientConnection");
    struct spot qps = spot_member(&object, "qps"), burst = spot_member(&object, "burst");
    config_only(l, &object, fields);
    c->kubeconfig = spot_text(&object, "kubeconfig");
    c->accept_content_types = spot_text(&object, "acceptContentTypes");
    c->content_type = text_or(&object, "contentType", "application/vnd.kubernetes.protobuf");
    if (qps.value != NULL && !kube_json_number(qps.value, &c->qps))
        spot_fail(&qps, "wants a number, has %s", kube_json_kind(qps.value));
    c->burst = spot_i32(&object, "burst");
    if (c->burst < 0)
        config_invalid(l, &burst, "Invalid value: %lld: must be non-negative", (long long)c->burst);
    if (c->qps == 0)
        c->qps = 50;
    if (c->burst == 0)
        c->burst = 100;
}

/* All nodes are looked at: that is 0 and 100. */
static int64_t read_percentage(struct loading *l, const struct spot *object, int64_t otherwise)
{
    struct spot at = spot_member(object, "percentageOfNodesToScore");
    int64_t percent = at.value ? spot_i32(object, "percentageOfNodesToScore") : otherwise;
    if (at.value != NULL && (percent < 0 || percent > 100))
        config_invalid(l, &at, "Invalid value: %lld: not in valid range [0-100]",
                       (long long)percent);
    else if (at.value != NULL && percent != 0 && percent != 100)
        config_unsupported(l, &at, "%lld (0 and 100, which both look at all nodes, are)",
                           (long long)percent);
    return percent;
}

static void read_backoff(struct loading *l, const struct spot *root, struct scheduler_config *c)
{
    struct spot first = spot_member(root, "podInitialBackoffSeconds");
    struct spot most = spot_member(root, "podMaxBackoffSeconds");
    c->pod_initial_backoff_s = first.value ? spot_i64(root, first.name) : 1;
    c->pod_max_backoff_s = most.value ? spot_i64(root, most.name) : 10;
    if (c->pod_initial_backoff_s <= 0)
        config_invalid(l, &first, "Invalid value: %lld: must be greater than 0",
                       (long long)c->pod_initial_backoff_s);
    if (c->pod_max_backoff_s < c->pod_initial_backoff_s)
        config_invalid(l, &most,
                       "Invalid value: %lld: must be greater than or equal to "
                       "PodInitialBackoffSeconds",
                       (long long)c->pod_max_backoff_s);
}

static void read_rest(struct loading *l, const struct spot *root, struct scheduler_config *c)
{
    struct spot parallelism = spot_member(root, "parallelism");
    struct spot extenders = spot_list(root, "extenders");
    struct spot delay = spot_member(root, "delayCacheUntilActive");
    c->parallelism = parallelism.value ? spot_i32(root, "parallelism") : 16;
    if (c->parallelism <= 0)
        config_invalid(l, &parallelism,
                       "Invalid value: %lld: should be an integer value greater than zero",
                       (long long)c->parallelism);
    else if (parallelism.value != NULL && c->parallelism != 16)
        config_note(l, &parallelism, "has no effect: the number of workers decides");
    if (kube_json_count(extenders.value) > 0)
        config_unsupported(l, &extenders, "%zu given", kube_json_count(extenders.value));
    if (spot_bool(root, "delayCacheUntilActive"))
        config_unsupported(l, &delay, "true");
    c->profiling = !config_has(root, "enableProfiling") || spot_bool(root, "enableProfiling");
    c->contention_profiling = config_has(root, "enableContentionProfiling")
                                  ? spot_bool(root, "enableContentionProfiling")
                                  : c->profiling;
}

/* ---- profiles ---- */

/* What is known of one profile before its plugins are made. */
struct draft {
    struct plugin_sets sets;
    struct buffer fit_faults;
};

static void read_profile(struct loading *l, const struct spot *at, struct scheduler_config *c,
                         uint32_t index, struct draft *draft)
{
    static const char *const fields[] = {"schedulerName", "percentageOfNodesToScore", "plugins",
                                         "pluginConfig", NULL};
    struct profile *p = &c->profiles.at[index];
    struct spot name = spot_member(at, "schedulerName");
    config_only(l, at, fields);
    p->scheduler_name = spot_text(at, "schedulerName");
    if (name.value == NULL && c->profiles.count == 1)
        p->scheduler_name = STR_LITERAL("default-scheduler");
    if (p->scheduler_name.len == 0)
        config_invalid(l, &name, "Required value");
    p->percentage_of_nodes_to_score = read_percentage(l, at, c->percentage_of_nodes_to_score);
    config_plugins_read(l, at, &draft->sets);
    config_plugins_check_removed(l, at, &draft->sets);
    config_args_read(l, at, p, &c->details[index].args, &draft->fit_faults);
    for (uint32_t i = 0; i < index; i++)
        if (str_equal(c->profiles.at[i].scheduler_name, p->scheduler_name)) {
            config_invalid(l, &name, "Duplicate value: \"profiles[%u].schedulerName\"", i);
            break;
        }
}

static bool same_refs(const struct plugin_set *a, const struct plugin_set *b)
{
    bool same = a->enabled_count == b->enabled_count && a->disabled.count == b->disabled.count;
    for (uint32_t i = 0; same && i < a->enabled_count; i++)
        same = str_equal(a->enabled[i].name, b->enabled[i].name) &&
               a->enabled[i].weight == b->enabled[i].weight;
    for (uint32_t i = 0; same && i < a->disabled.count; i++)
        same = str_equal(a->disabled.at[i], b->disabled.at[i]);
    return same;
}

static void invalid_set(struct loading *l, const struct spot *at, const struct plugin_set *set,
                        const char *detail)
{
    struct buffer text = {0};
    buffer_add_text(&text, set->enabled_count ? "{\"Enabled\":[" : "{\"Enabled\":null");
    for (uint32_t i = 0; i < set->enabled_count; i++)
        buffer_print(&text, "%s{\"Name\":\"%.*s\",\"Weight\":%lld}", i ? "," : "",
                     STR_ARG(set->enabled[i].name), (long long)set->enabled[i].weight);
    buffer_add_text(&text, set->enabled_count ? "]" : "");
    buffer_add_text(&text, set->disabled.count ? ",\"Disabled\":[" : ",\"Disabled\":null");
    for (uint32_t i = 0; i < set->disabled.count; i++)
        buffer_print(&text, "%s{\"Name\":\"%.*s\",\"Weight\":0}", i ? "," : "",
                     STR_ARG(set->disabled.at[i]));
    buffer_add_text(&text, set->disabled.count ? "]}" : "}");
    config_invalid(l, at, "Invalid value: %s: %s", text.at, detail);
    buffer_free(&text);
}

static void check_queue_sort(struct loading *l, const struct spot *list, const struct draft *drafts,
                             uint32_t count)
{
    const struct plugin_set *first = &drafts[0].sets.points[POINT_queue_sort];
    for (uint32_t i = 0; i < count; i++) {
        struct spot item = {.reading = list->reading, .up = list, .index = i};
        struct spot plugins = spot_member(&item, "plugins");
        struct spot sort = spot_member(&plugins, "queueSort");
        struct spot enabled = spot_member(&sort, "Enabled");
        if (i == 0 && first->enabled_count > 1)
            config_invalid(l, &enabled,
                           "Invalid value: %u: only one queue sort plugin can be enabled",
                           first->enabled_count);
        if (!same_refs(first, &drafts[i].sets.points[POINT_queue_sort]))
            invalid_set(l, &sort, &drafts[i].sets.points[POINT_queue_sort],
                        "must be the same for all profiles");
    }
}

static struct draft *read_profiles(struct loading *l, const struct spot *root,
                                   struct scheduler_config *c)
{
    struct spot list = spot_list(root, "profiles");
    size_t found = kube_json_count(list.value), count = found ? found : 1;
    if (count > PROFILES_MAX) {
        spot_fail(&list, "has more than %d entries", PROFILES_MAX);
        return NULL;
    }
    c->profiles.at = spot_take(&list, count, sizeof(*c->profiles.at));
    c->details = spot_take(&list, count, sizeof(*c->details));
    struct draft *drafts = spot_take(&list, count, sizeof(*drafts));
    if (c->profiles.at == NULL || c->details == NULL || drafts == NULL)
        return NULL;
    c->profiles.count = (uint32_t)count;
    struct spot one =
        found ? spot_first(&list) : (struct spot){.reading = list.reading, .up = &list};
    for (uint32_t i = 0; i < count; i++, one = spot_next(&one))
        if (found == 0 || spot_is_object(&one))
            read_profile(l, &one, c, i, &drafts[i]);
    check_queue_sort(l, &list, drafts, c->profiles.count);
    return drafts;
}

static void make_profiles(struct loading *l, const struct spot *root, struct scheduler_config *c,
                          struct draft *drafts)
{
    for (uint32_t i = 0; i < c->profiles.count && !l->reading.failed; i++) {
        struct profile *p = &c->profiles.at[i];
        config_plugins_merge(l, root, &drafts[i].sets);
        if (drafts[i].fit_faults.len > 0 &&
            config_plugins_need(&drafts[i].sets, STR_LITERAL("NodeResourcesFit")))
            config_construct_fail(l, p->scheduler_name,
                                  "initializing plugin \"NodeResourcesFit\": %s",
                                  drafts[i].fit_faults.at);
        if (!l->reading.failed)
            config_plugins_expand(l, &drafts[i].sets, p, &c->details[i]);
    }
}

/* ---- the whole ---- */

static bool check_kind(const struct spot *root)
{
    if (kube_json_is_array(root->value))
        spot_fail(root, "wants one document with a " KIND ", has several or a list");
    else if (!kube_json_is_null(root->value))
        spot_is_object(root);
    struct str version = spot_text(root, "apiVersion"), kind = spot_text(root, "kind");
    if (root->reading->failed)
        return false;
    if (kind.len == 0)
        spot_fail(root, "Object 'Kind' is missing (it must be " KIND ")");
    else if (version.len == 0)
        spot_fail(root, "Object 'apiVersion' is missing (it must be " CONFIG_VERSION ")");
    else if (str_is(kind, KIND) && str_starts_with(version, "kubescheduler.config.k8s.io/") &&
             !str_is(version, CONFIG_VERSION))
        spot_fail(root,
                  "no kind \"" KIND "\" is registered for version \"%.*s\"; only " CONFIG_VERSION
                  " is read",
                  STR_ARG(version));
    else if (!str_is(version, CONFIG_VERSION) || (!str_is(kind, KIND) && !config_args_kind(kind)))
        spot_fail(root, "no kind \"%.*s\" is registered for version \"%.*s\"", STR_ARG(kind),
                  STR_ARG(version));
    else if (!str_is(kind, KIND))
        spot_fail(root, "couldn't decode as " KIND ", got %.*s, Kind=%.*s", STR_ARG(version),
                  STR_ARG(kind));
    return !root->reading->failed;
}

static void read_config(struct loading *l, const struct spot *root, struct scheduler_config *c)
{
    static const char *const fields[] = {"apiVersion",
                                         "kind",
                                         "parallelism",
                                         "leaderElection",
                                         "clientConnection",
                                         "enableProfiling",
                                         "enableContentionProfiling",
                                         "percentageOfNodesToScore",
                                         "podInitialBackoffSeconds",
                                         "podMaxBackoffSeconds",
                                         "profiles",
                                         "extenders",
                                         "delayCacheUntilActive",
                                         NULL};
    config_only(l, root, fields);
    read_connection(l, root, c);
    read_leader(l, root, c);
    read_rest(l, root, c);
    /* Needed by the profiles; upstream reports it behind them, hence once more below. */
    c->percentage_of_nodes_to_score = config_has(root, "percentageOfNodesToScore")
                                          ? spot_i32(root, "percentageOfNodesToScore")
                                          : 0;
    struct draft *drafts = read_profiles(l, root, c);
    read_percentage(l, root, 0);
    read_backoff(l, root, c);
    if (!l->reading.failed && l->strict.len == 0 && l->invalid.len == 0)
        make_profiles(l, root, c, drafts);
    for (uint32_t i = 0; drafts != NULL && i < c->profiles.count; i++)
        buffer_free(&drafts[i].fit_faults);
}

static bool verdict(const struct loading *l, struct arena *a, struct str *error)
{
    bool several = l->invalid_count > 1;
    if (l->reading.failed)
        *error = l->reading.error;
    else if (l->strict.len > 0)
        *error = arena_print(a, "strict decoding error: %s", l->strict.at);
    else if (l->invalid.len > 0)
        *error = arena_print(a, "%s%s%s", several ? "[" : "", l->invalid.at, several ? "]" : "");
    else if (l->unsupported.len > 0)
        *error = arena_print(a, "not supported yet: %s", l->unsupported.at);
    else
        return true;
    return false;
}

static struct strs split_notes(const struct loading *l, const struct spot *root)
{
    struct strs notes = {0};
    struct str rest = arena_copy(l->reading.arena, buffer_str(&l->notes));
    size_t count = rest.len > 0;
    for (uint32_t i = 0; i < rest.len; i++)
        count += rest.at[i] == '\n';
    notes.at = count ? spot_take(root, count, sizeof(*notes.at)) : NULL;
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

static bool is_policy(const struct kube_json *document)
{
    return str_is(kube_json_text(kube_json_get(document, "kind")), "Policy") &&
           str_is(kube_json_text(kube_json_get(document, "apiVersion")), "v1");
}

static void free_loading(struct loading *l)
{
    buffer_free(&l->strict);
    buffer_free(&l->invalid);
    buffer_free(&l->unsupported);
    buffer_free(&l->notes);
}

/* document NULL: the defaults. */
static bool load_current(const struct kube_json *document, struct scheduler_config *config,
                         struct arena *a, struct str *error)
{
    struct loading l = {.reading = {.arena = a}};
    struct spot root = spot_root(&l.reading, document);
    *config = (struct scheduler_config){0};
    if (document == NULL || check_kind(&root))
        read_config(&l, &root, config);
    config->notes = split_notes(&l, &root);
    bool good = verdict(&l, a, error);
    free_loading(&l);
    return good;
}

/* The old Policy: translated, and loaded as what it was translated to. */
static bool load_policy(const struct kube_json *document, struct scheduler_config *config,
                        struct arena *a, struct str *error)
{
    struct loading l = {.reading = {.arena = a}};
    struct spot root = spot_root(&l.reading, document);
    struct buffer text = {0};
    *config = (struct scheduler_config){0};
    config_policy_translate(&l, &root, &text);
    bool good = verdict(&l, a, error);
    free_loading(&l);
    struct kube_json *translated = good ? kube_json_parse_yaml(buffer_str(&text), error, a) : NULL;
    good = translated != NULL && load_current(translated, config, a, error);
    kube_json_free(&translated);
    buffer_free(&text);
    return good;
}

static bool load(const struct kube_json *document, struct scheduler_config *config, struct arena *a,
                 struct str *error)
{
    struct str ignored;
    error = error != NULL ? error : &ignored;
    return is_policy(document) ? load_policy(document, config, a, error)
                               : load_current(document, config, a, error);
}

bool scheduler_config_parse_json(const struct kube_json *document, struct scheduler_config *config,
                                 struct arena *a, struct str *error)
{
    return load(document, config, a, error);
}

bool scheduler_config_parse(struct str text, struct scheduler_config *config, struct arena *a,
                            struct str *error)
{
    struct kube_json *document = kube_json_parse_yaml(text, error, a);
    bool good = document != NULL && load(document, config, a, error);
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

bool scheduler_config_load(const char *path, struct scheduler_config *config, struct arena *a,
                           struct str *error)
{
    struct buffer text = {0};
    struct str why = {0};
    if (path == NULL)
        return load(NULL, config, a, error);
    bool good = read_file(path, &text);
    if (!good)
        why = str_of(strerror(errno));
    else
        good = scheduler_config_parse(buffer_str(&text), config, a, &why);
    if (!good && error != NULL)
        *error = arena_print(a, "%s: %.*s", path, STR_ARG(why));
    buffer_free(&text);
    return good;
}

bool scheduler_config_check_leader(const struct scheduler_config *config, struct arena *a,
                                   struct str *error)
{
    struct loading l = {.reading = {.arena = a}};
    struct spot root = spot_root(&l.reading, NULL), object = spot_member(&root, "leaderElection");
    struct str ignored;
    check_leader(&l, config, &object);
    bool good = verdict(&l, a, error ? error : &ignored);
    buffer_free(&l.invalid);
    return good;
}
