/* config_old: KubeSchedulerConfiguration in the versions that were before v1beta2: v1alpha1 (of
 * componentconfig and of kubescheduler.config.k8s.io, 1.10 to 1.18), v1alpha2 (1.18, 1.19) and
 * v1beta1 (1.19 to 1.22). The one idea: what such a file says is written down as a file of v1,
 * which is then loaded like any other; what v1 has no field for is put into the profiles once they
 * are made.
 *
 * What must stay true: nothing that the file says is dropped silently: each field takes effect, has
 * a note that says why it has none, or is refused; v1alpha1 alone was decoded leniently. */
#include "proto/base/json_string.h"
#include "proto/base/memory.h"
#include "proto/kube/config/config_internal.h"
#include "proto/kube/config/config_policy.h"

#include <stdio.h>
#include <string.h>

enum { A1 = 1, A2 = 2, B1 = 4, ALL = A1 | A2 | B1 };

static const struct {
    const char *name;
    unsigned version;
} versions[] = {{"componentconfig/v1alpha1", A1},
                {CONFIG_GROUP "/v1alpha1", A1},
                {CONFIG_GROUP "/v1alpha2", A2},
                {CONFIG_GROUP "/v1beta1", B1}};

/* One translation. */
struct old {
    struct loading *l;
    unsigned version;
    struct old_config *rest;
    struct buffer *out;
    struct buffer plugins, args; /* of v1alpha1, which has no profiles but these at its root */
};

static unsigned version_of(struct str text)
{
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
        if (str_is(text, versions[i].name))
            return versions[i].version;
    return 0;
}

bool config_old_is(const struct kube_json *document)
{
    return str_is(kube_json_text(kube_json_get(document, "kind")), "KubeSchedulerConfiguration") &&
           version_of(kube_json_text(kube_json_get(document, "apiVersion"))) != 0;
}

/* ---- writing ---- */

static void put_name(struct buffer *out, const char *name)
{
    bool first = out->len == 0 || strchr("{[", out->at[out->len - 1]) != NULL;
    buffer_add_text(out, first ? "" : ",");
    json_string(out, str_of(name));
    buffer_add_text(out, ":");
}

static void put(struct buffer *out, const char *name, const struct kube_json *value)
{
    put_name(out, name);
    kube_json_write(value, out);
}

static void put_item(struct buffer *out)
{
    if (out->at[out->len - 1] != '[')
        buffer_add_text(out, ",");
}

/* A field of which there is nothing in that version; v1alpha1 was read leniently. */
static void unknown(struct old *o, const struct cursor *at)
{
    if (o->version == A1)
        config_note(o->l, at, "has no effect: there is no such field");
    else
        config_strict(o->l, "unknown", at);
}

/* ---- plugins ---- */

static const char *today(struct str name)
{
    static const char *const names[][2] = {{"AzureDiskLimits", "MaxAzureDiskVolumeCount"},
                                           {"CinderLimits", "NodeVolumeLimits"},
                                           {"DefaultPodTopologySpread", "SelectorSpread"},
                                           {"EBSLimits", "MaxEBSVolumeCount"},
                                           {"GCEPDLimits", "MaxGCEPDVolumeCount"},
                                           {"NodeResourcesLeastAllocated", "NodeResourcesFit"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_is(name, names[i][0]))
            return names[i][1];
    return NULL;
}

/* Entries of enabled or disabled, with the names of today. */
static void put_refs(struct old *o, const struct cursor *list, struct buffer *out)
{
    put_name(out, list->name);
    buffer_add_text(out, "[");
    for (struct cursor i = cursor_first(list); i.value != NULL; i = cursor_next(&i)) {
        struct cursor name = cursor_member(&i, "name");
        const char *now = today(kube_json_text(name.value));
        put_item(out);
        if (now == NULL) {
            kube_json_write(i.value, out);
            continue;
        }
        buffer_print(out, "{\"name\":\"%s\"", now);
        if (config_has(&i, "weight"))
            put(out, "weight", kube_json_get(i.value, "weight"));
        buffer_add_text(out, "}");
        config_note(o->l, &i, "%.*s is an old name, taken for %s",
                    STR_ARG(kube_json_text(name.value)), now);
    }
    buffer_add_text(out, "]");
}

static void put_set(struct old *o, const char *name, const struct cursor *set, struct buffer *out)
{
    put_name(out, name);
    if (!kube_json_is_object(set->value)) {
        kube_json_write(set->value, out);
        return;
    }
    buffer_add_text(out, "{");
    for (struct cursor i = cursor_first(set); i.value != NULL; i = cursor_next(&i))
        if (kube_json_is_array(i.value) &&
            (strcmp(i.name, "enabled") == 0 || strcmp(i.name, "disabled") == 0))
            put_refs(o, &i, out);
        else if (strcmp(i.name, "enabled") == 0 || strcmp(i.name, "disabled") == 0)
            put(out, i.name, i.value);
        else
            unknown(o, &i);
    buffer_add_text(out, "}");
}

static void put_point(struct old *o, const struct cursor *point, struct buffer *out)
{
    static const struct {
        const char *name;
        unsigned versions;
        const char *now; /* NULL: part of another one */
    } points[] = {{"queueSort", ALL, "queueSort"},
                  {"preFilter", ALL, "preFilter"},
                  {"filter", ALL, "filter"},
                  {"postFilter", A1, "preScore"},
                  {"postFilter", B1, "postFilter"},
                  {"preScore", A2 | B1, "preScore"},
                  {"score", ALL, "score"},
                  {"reserve", ALL, "reserve"},
                  {"permit", ALL, "permit"},
                  {"preBind", ALL, "preBind"},
                  {"bind", ALL, "bind"},
                  {"postBind", ALL, "postBind"},
                  {"unreserve", A1 | A2, NULL}};
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        if (strcmp(point->name, points[i].name) != 0 || !(points[i].versions & o->version))
            continue;
        if (points[i].now != NULL)
            put_set(o, points[i].now, point, out);
        else
            config_note(o->l, point, "has no effect: it is part of reserve");
        return;
    }
    unknown(o, point);
}

static void put_plugins(struct old *o, const struct cursor *plugins, struct buffer *out)
{
    put_name(out, "plugins");
    if (!kube_json_is_object(plugins->value)) {
        kube_json_write(plugins->value, out);
        return;
    }
    buffer_add_text(out, "{");
    for (struct cursor i = cursor_first(plugins); i.value != NULL; i = cursor_next(&i))
        put_point(o, &i, out);
    buffer_add_text(out, "}");
}

/* Their version is the file's, which v1 does not know; constraints were the list by themselves. */
static void put_args(struct old *o, const struct cursor *args, struct str plugin,
                     struct buffer *out)
{
    struct str version = kube_json_text(kube_json_get(args->value, "apiVersion"));
    bool mine = version.len == 0 || version_of(version) == o->version;
    buffer_add_text(out, "{");
    for (struct cursor i = cursor_first(args); i.value != NULL; i = cursor_next(&i))
        if (!mine || (strcmp(i.name, "apiVersion") != 0 && strcmp(i.name, "kind") != 0))
            put(out, i.name, i.value);
    if (str_is(plugin, "PodTopologySpread") && !config_has(args, "defaultingType") &&
        kube_json_count(kube_json_get(args->value, "defaultConstraints")) > 0)
        buffer_add_text(out, ",\"defaultingType\":\"List\"");
    buffer_add_text(out, "}");
}

static void put_plugin_config(struct old *o, const struct cursor *list, struct buffer *out)
{
    put_name(out, "pluginConfig");
    if (!kube_json_is_array(list->value)) {
        kube_json_write(list->value, out);
        return;
    }
    buffer_add_text(out, "[");
    for (struct cursor i = cursor_first(list); i.value != NULL; i = cursor_next(&i)) {
        struct cursor args = cursor_member(&i, "args");
        struct str name = kube_json_text(kube_json_get(i.value, "name"));
        put_item(out);
        if (!kube_json_is_object(args.value)) {
            kube_json_write(i.value, out);
            continue;
        }
        if (str_is(name, "NodeResourcesLeastAllocated") ||
            str_is(name, "NodeResourcesMostAllocated"))
            config_note(o->l, &args,
                        "have no effect: cpu and memory count the same; see "
                        "NodeResourcesFit's scoringStrategy");
        buffer_add_text(out, "{");
        for (struct cursor k = cursor_first(&i); k.value != NULL; k = cursor_next(&k)) {
            if (strcmp(k.name, "args") != 0) {
                put(out, k.name, k.value);
                continue;
            }
            put_name(out, "args");
            put_args(o, &args, name, out);
        }
        buffer_add_text(out, "}");
    }
    buffer_add_text(out, "]");
}

static void put_profile(struct old *o, const struct cursor *profile)
{
    buffer_add_text(o->out, "{");
    for (struct cursor i = cursor_first(profile); i.value != NULL; i = cursor_next(&i))
        if (strcmp(i.name, "plugins") == 0)
            put_plugins(o, &i, o->out);
        else if (strcmp(i.name, "pluginConfig") == 0)
            put_plugin_config(o, &i, o->out);
        else if (strcmp(i.name, "schedulerName") == 0)
            put(o->out, i.name, i.value);
        else
            unknown(o, &i);
    buffer_add_text(o->out, "}");
}

static void profiles(struct old *o, const struct cursor *list)
{
    put_name(o->out, "profiles");
    if (!kube_json_is_array(list->value)) {
        kube_json_write(list->value, o->out);
        return;
    }
    buffer_add_text(o->out, "[");
    for (struct cursor i = cursor_first(list); i.value != NULL; i = cursor_next(&i)) {
        put_item(o->out);
        if (kube_json_is_object(i.value))
            put_profile(o, &i);
        else
            kube_json_write(i.value, o->out);
    }
    buffer_add_text(o->out, "]");
}

static void root_plugins(struct old *o, const struct cursor *at)
{
    put_plugins(o, at, &o->plugins);
}

static void root_plugin_config(struct old *o, const struct cursor *at)
{
    put_plugin_config(o, at, &o->args);
}

/* ---- other fields ---- */

static void same(struct old *o, const struct cursor *at)
{
    put(o->out, at->name, at->value);
}

static void nothing(struct old *o, const struct cursor *at)
{
    (void)o;
    (void)at;
}

static void address(struct old *o, const struct cursor *at)
{
    if (cursor_own_text(at).len > 0)
        config_note(o->l, at,
                    "has no effect: health and metrics are served by HTTPS alone, where "
                    "--bind-address and --secure-port say");
}

static void domains(struct old *o, const struct cursor *at)
{
    config_note(o->l, at, "has no effect: every affinity term names its topology key");
}

static void constraints(struct old *o, const struct cursor *at)
{
    if (kube_json_count(at->value) > 0)
        config_unsupported(o->l, at, "use pluginConfig of PodTopologySpread");
}

static void lease_lock(struct old *o, const struct cursor *at)
{
    if (!str_is(cursor_own_text(at), "leases"))
        config_note(o->l, at, "has no effect: the lock is a Lease");
}

/* What names the lock twice is the scheduler's own field, as it was. */
static void leader(struct old *o, const struct cursor *at)
{
    static const char *const own[][2] = {{"lockObjectName", "resourceName"},
                                         {"lockObjectNamespace", "resourceNamespace"}};
    put_name(o->out, "leaderElection");
    if (!kube_json_is_object(at->value)) {
        kube_json_write(at->value, o->out);
        return;
    }
    buffer_add_text(o->out, "{");
    for (struct cursor i = cursor_first(at); i.value != NULL; i = cursor_next(&i)) {
        const char *name = i.name;
        bool given_again = false;
        for (size_t k = 0; k < 2 && o->version == A1; k++) {
            given_again =
                given_again || (strcmp(i.name, own[k][1]) == 0 && config_has(at, own[k][0]));
            name = strcmp(i.name, own[k][0]) == 0 ? own[k][1] : name;
        }
        if (strcmp(i.name, "resourceLock") == 0)
            lease_lock(o, &i);
        else if (!given_again)
            put(o->out, name, i.value);
    }
    buffer_add_text(o->out, "}");
}

static void bind_timeout(struct old *o, const struct cursor *at)
{
    int64_t seconds = 0;
    if (!kube_json_i64(at->value, &seconds))
        cursor_fail(at, "wants an integer, has %s", kube_json_kind(at->value));
    else if (seconds < 0)
        config_invalid(o->l, at, "Invalid value: %lld: must be non-negative", (long long)seconds);
    o->rest->bind_timeout_s = seconds;
    o->rest->has_bind_timeout = true;
}

static void hard_weight(struct old *o, const struct cursor *at)
{
    int64_t weight = 0;
    if (!kube_json_i64(at->value, &weight))
        cursor_fail(at, "wants an integer, has %s", kube_json_kind(at->value));
    else if (weight < 0 || weight > 100)
        config_invalid(o->l, at, "Invalid value: %lld: not in valid range [0-100]",
                       (long long)weight);
    o->rest->hard_weight = weight;
    o->rest->has_hard_weight = true;
}

static void no_preemption(struct old *o, const struct cursor *at)
{
    if (!kube_json_is_bool(at->value))
        cursor_fail(at, "wants a boolean, has %s", kube_json_kind(at->value));
    o->rest->disable_preemption = kube_json_true(at->value);
}

static void scheduler_name(struct old *o, const struct cursor *at)
{
    if (!kube_json_is_string(at->value))
        cursor_fail(at, "wants a string, has %s", kube_json_kind(at->value));
    o->rest->scheduler_name = cursor_own_text(at);
}

static void policy_source(struct old *o, const struct cursor *policy)
{
    struct cursor file = cursor_object(policy, "file"), map = cursor_object(policy, "configMap");
    struct cursor path = cursor_member(&file, "path"), name = cursor_member(&map, "name");
    if ((file.value == NULL) == (map.value == NULL))
        config_invalid(o->l, policy, "Invalid value: want either file or configMap");
    o->rest->policy_file = cursor_text(&file, "path");
    o->rest->map_name = cursor_text(&map, "name");
    o->rest->map_namespace = cursor_text(&map, "namespace");
    if (file.value != NULL && o->rest->policy_file.len == 0)
        config_invalid(o->l, &path, "Required value");
    if (map.value != NULL && o->rest->map_name.len == 0)
        config_invalid(o->l, &name, "Required value");
}

static void algorithm(struct old *o, const struct cursor *at)
{
    struct cursor object = cursor_object(at->up, at->name);
    struct cursor policy = cursor_object(&object, "policy"),
                  provider = cursor_member(&object, "provider");
    struct str name = cursor_text(&object, "provider");
    char *text = str_copy(name);
    if (object.value != NULL && (policy.value == NULL) == (provider.value == NULL))
        config_invalid(o->l, at, "Invalid value: want either provider or policy");
    else if (policy.value != NULL)
        policy_source(o, &policy);
    else if (provider.value != NULL && config_policy_of_provider(text) == NULL)
        config_invalid(
            o->l, &provider,
            "Unsupported value: \"%s\": supported values: \"ClusterAutoscalerProvider\", "
            "\"DefaultProvider\"",
            text);
    else if (provider.value != NULL)
        o->rest->policy = str_of(config_policy_of_provider(text));
    memory_free(text);
}

/* v1alpha2 had the Policy's: a timeout in nanoseconds, and HTTPS spelled otherwise. */
static void put_extender(const struct cursor *extender, struct buffer *out)
{
    int64_t timeout;
    buffer_add_text(out, "{");
    for (struct cursor i = cursor_first(extender); i.value != NULL; i = cursor_next(&i)) {
        bool https = strcmp(i.name, "enableHttps") == 0;
        if (strcmp(i.name, "httpTimeout") == 0 && kube_json_i64(i.value, &timeout)) {
            put_name(out, i.name);
            buffer_print(out, "\"%lldns\"", (long long)timeout);
        } else {
            put(out, https ? "enableHTTPS" : i.name, i.value);
        }
    }
    buffer_add_text(out, "}");
}

static void extenders(struct old *o, const struct cursor *list)
{
    if (o->version == B1 || !kube_json_is_array(list->value)) {
        same(o, list);
        return;
    }
    put_name(o->out, list->name);
    buffer_add_text(o->out, "[");
    for (struct cursor i = cursor_first(list); i.value != NULL; i = cursor_next(&i)) {
        put_item(o->out);
        if (kube_json_is_object(i.value))
            put_extender(&i, o->out);
        else
            kube_json_write(i.value, o->out);
    }
    buffer_add_text(o->out, "]");
}

static const struct {
    const char *name;
    unsigned versions;
    void (*take)(struct old *o, const struct cursor *at);
} fields[] = {
    {"apiVersion", ALL, nothing},
    {"kind", ALL, nothing},
    {"schedulerName", A1, scheduler_name},
    {"algorithmSource", A1, algorithm},
    {"hardPodAffinitySymmetricWeight", A1, hard_weight},
    {"failureDomains", A1, domains},
    {"topologySpreadConstraints", A1, constraints},
    {"leaderElection", ALL, leader},
    {"clientConnection", ALL, same},
    {"healthzBindAddress", ALL, address},
    {"metricsBindAddress", ALL, address},
    {"enableProfiling", ALL, same},
    {"enableContentionProfiling", ALL, same},
    {"disablePreemption", A1 | A2, no_preemption},
    {"percentageOfNodesToScore", ALL, same},
    {"bindTimeoutSeconds", A1 | A2, bind_timeout},
    {"podInitialBackoffSeconds", ALL, same},
    {"podMaxBackoffSeconds", ALL, same},
    {"parallelism", B1, same},
    {"plugins", A1, root_plugins},
    {"pluginConfig", A1, root_plugin_config},
    {"profiles", A2 | B1, profiles},
    {"extenders", A2 | B1, extenders},
};

static void take_field(struct old *o, const struct cursor *at)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (strcmp(at->name, fields[i].name) == 0 && (fields[i].versions & o->version)) {
            if (!kube_json_is_null(at->value))
                fields[i].take(o, at);
            return;
        }
    unknown(o, at);
}

/* v1alpha1's one profile. */
static void put_root_profile(struct old *o)
{
    struct cursor nowhere = {.reading = &o->l->reading};
    if (o->plugins.len + o->args.len == 0)
        return;
    if (o->rest->policy.len + o->rest->policy_file.len + o->rest->map_name.len > 0)
        config_unsupported(o->l, &nowhere, "plugins and pluginConfig beside algorithmSource");
    put_name(o->out, "profiles");
    buffer_print(o->out, "[{%.*s%s%.*s}]", STR_ARG(buffer_str(&o->plugins)),
                 o->plugins.len > 0 && o->args.len > 0 ? "," : "", STR_ARG(buffer_str(&o->args)));
}

void config_old_translate(struct loading *l, const struct cursor *root, struct old_config *rest,
                          struct buffer *out)
{
    struct cursor at = cursor_member(root, "apiVersion");
    struct old o = {.l = l, .version = version_of(cursor_own_text(&at)), .rest = rest, .out = out};
    config_note(l, &at, "%.*s is read as " CONFIG_VERSION ", whose defaults hold",
                STR_ARG(cursor_own_text(&at)));
    buffer_add_text(out, "{\"apiVersion\":\"" CONFIG_VERSION
                         "\",\"kind\":\"KubeSchedulerConfiguration\"");
    for (struct cursor i = cursor_first(root); i.value != NULL; i = cursor_next(&i))
        take_field(&o, &i);
    put_root_profile(&o);
    buffer_add_text(out, "}");
    buffer_free(&o.plugins);
    buffer_free(&o.args);
}
