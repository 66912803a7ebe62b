/* config_schema: the types of upstream's configuration, as tables. The one idea: one walk over the
 * document, in its order, finds what has a wrong type and what upstream's types do not know, in the
 * words of the JSON decoder that kube-scheduler has. What must stay true: behind a walk that found
 * nothing, every value has the type that its reader expects. */
#include "proto/kube/config/config_schema.h"

#include "proto/kube/documents/base64.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum field_kind {
    K_text,
    K_bool,
    K_i32,
    K_i64,
    K_f32,
    K_span,
    K_span_or_null,
    K_bytes,
    K_any,
    K_object,
    K_list,
    K_map
};

struct schema_type;

struct schema_field {
    const char *name;
    enum field_kind kind;
    const char *go;                 /* the type in Go, where the kind does not say it */
    const struct schema_type *type; /* of an object, or of a list's items */
    const char *inside;             /* the Go struct that is embedded to have it */
};

struct schema_type {
    const char *go; /* the struct's name */
    const struct schema_field *fields;
};

#define TEXT(name)                                                                                 \
    {                                                                                              \
        name, K_text, "string", NULL, NULL                                                         \
    }
#define WORD(name, type)                                                                           \
    {                                                                                              \
        name, K_text, "v1." type, NULL, NULL                                                       \
    }
#define BOOL(name)                                                                                 \
    {                                                                                              \
        name, K_bool, "bool", NULL, NULL                                                           \
    }
#define I32(name)                                                                                  \
    {                                                                                              \
        name, K_i32, "int32", NULL, NULL                                                           \
    }
#define I64(name)                                                                                  \
    {                                                                                              \
        name, K_i64, "int64", NULL, NULL                                                           \
    }
#define SPAN(name)                                                                                 \
    {                                                                                              \
        name, K_span, "string", NULL, NULL                                                         \
    }
#define SPAN_OR_NULL(name)                                                                         \
    {                                                                                              \
        name, K_span_or_null, "string", NULL, NULL                                                 \
    }
#define BYTES(name)                                                                                \
    {                                                                                              \
        name, K_bytes, "[]uint8", NULL, NULL                                                       \
    }
#define TEXTS(name)                                                                                \
    {                                                                                              \
        name, K_list, "[]string", NULL, NULL                                                       \
    }
#define OBJECT(name, go, of)                                                                       \
    {                                                                                              \
        name, K_object, go, &of, NULL                                                              \
    }
#define LIST(name, go, of)                                                                         \
    {                                                                                              \
        name, K_list, "[]v1." go, &of, NULL                                                        \
    }
#define END                                                                                        \
    {                                                                                              \
        NULL, K_any, NULL, NULL, NULL                                                              \
    }
#define TYPE_META                                                                                  \
    {"apiVersion", K_text, "string", NULL, "TypeMeta"},                                            \
    {                                                                                              \
        "kind", K_text, "string", NULL, "TypeMeta"                                                 \
    }
#define TYPE(symbol, go, ...)                                                                      \
    static const struct schema_field symbol##_fields[] = {__VA_ARGS__, END};                       \
    static const struct schema_type symbol = {go, symbol##_fields}

/* clang-format off */
TYPE(leader_election, "LeaderElectionConfiguration",
     BOOL("leaderElect"), SPAN("leaseDuration"), SPAN("renewDeadline"), SPAN("retryPeriod"),
     TEXT("resourceLock"), TEXT("resourceName"), TEXT("resourceNamespace"));
TYPE(client_connection, "ClientConnectionConfiguration",
     TEXT("kubeconfig"), TEXT("acceptContentTypes"), TEXT("contentType"),
     {"qps", K_f32, "float32", NULL, NULL}, I32("burst"));
TYPE(plugin, "Plugin", TEXT("name"), I32("weight"));
TYPE(plugin_set, "PluginSet", LIST("enabled", "Plugin", plugin), LIST("disabled", "Plugin", plugin));
#define SET(name) OBJECT(name, "v1.PluginSet", plugin_set)
TYPE(plugins, "Plugins",
     SET("preEnqueue"), SET("queueSort"), SET("preFilter"), SET("filter"), SET("postFilter"),
     SET("preScore"), SET("score"), SET("reserve"), SET("permit"), SET("preBind"), SET("bind"),
     SET("postBind"), SET("multiPoint"), SET("placementGenerate"), SET("placementScore"),
     SET("podGroupPostFilter"));
TYPE(plugin_config, "PluginConfig", TEXT("name"), {"args", K_any, NULL, NULL, NULL});
TYPE(profile_type, "KubeSchedulerProfile",
     TEXT("schedulerName"), I32("percentageOfNodesToScore"), OBJECT("plugins", "v1.Plugins", plugins),
     LIST("pluginConfig", "PluginConfig", plugin_config));
TYPE(managed_resource, "ExtenderManagedResource", TEXT("name"), BOOL("ignoredByScheduler"));
TYPE(extender_tls, "ExtenderTLSConfig",
     BOOL("insecure"), TEXT("serverName"), TEXT("certFile"), TEXT("keyFile"), TEXT("caFile"),
     BYTES("certData"), BYTES("keyData"), BYTES("caData"));
TYPE(extender, "Extender",
     TEXT("urlPrefix"), TEXT("filterVerb"), TEXT("preemptVerb"), TEXT("prioritizeVerb"),
     I64("weight"), TEXT("bindVerb"), BOOL("enableHTTPS"),
     OBJECT("tlsConfig", "v1.ExtenderTLSConfig", extender_tls), SPAN("httpTimeout"),
     BOOL("nodeCacheCapable"),
     LIST("managedResources", "ExtenderManagedResource", managed_resource), BOOL("ignorable"));
#define ROOT_FIELDS                                                                                \
     TYPE_META, I32("parallelism"),                                                                \
     OBJECT("leaderElection", "v1alpha1.LeaderElectionConfiguration", leader_election),            \
     OBJECT("clientConnection", "v1alpha1.ClientConnectionConfiguration", client_connection),      \
     {"enableProfiling", K_bool, "bool", NULL, "DebuggingConfiguration"},                          \
     {"enableContentionProfiling", K_bool, "bool", NULL, "DebuggingConfiguration"},                \
     I32("percentageOfNodesToScore"), I64("podInitialBackoffSeconds"),                             \
     I64("podMaxBackoffSeconds"), LIST("profiles", "KubeSchedulerProfile", profile_type),          \
     LIST("extenders", "Extender", extender), BOOL("delayCacheUntilActive")
TYPE(root_type, "KubeSchedulerConfiguration", ROOT_FIELDS);
TYPE(beta_type, "KubeSchedulerConfiguration", ROOT_FIELDS, TEXT("healthzBindAddress"),
     TEXT("metricsBindAddress"));

TYPE(resource_spec, "ResourceSpec", TEXT("name"), I64("weight"));
TYPE(shape_point_type, "UtilizationShapePoint", I32("utilization"), I32("score"));
TYPE(ratio_param, "RequestedToCapacityRatioParam",
     LIST("shape", "UtilizationShapePoint", shape_point_type));
TYPE(scoring_strategy, "ScoringStrategy",
     WORD("type", "ScoringStrategyType"), LIST("resources", "ResourceSpec", resource_spec),
     OBJECT("requestedToCapacityRatio", "v1.RequestedToCapacityRatioParam", ratio_param));
TYPE(selector_requirement, "NodeSelectorRequirement",
     TEXT("key"), WORD("operator", "NodeSelectorOperator"), TEXTS("values"));
TYPE(selector_term, "NodeSelectorTerm",
     LIST("matchExpressions", "NodeSelectorRequirement", selector_requirement),
     LIST("matchFields", "NodeSelectorRequirement", selector_requirement));
TYPE(node_selector_type, "NodeSelector",
     LIST("nodeSelectorTerms", "NodeSelectorTerm", selector_term));
TYPE(preferred_term, "PreferredSchedulingTerm",
     I32("weight"), OBJECT("preference", "v1.NodeSelectorTerm", selector_term));
TYPE(added_affinity, "NodeAffinity",
     OBJECT("requiredDuringSchedulingIgnoredDuringExecution", "v1.NodeSelector",
            node_selector_type),
     LIST("preferredDuringSchedulingIgnoredDuringExecution", "PreferredSchedulingTerm",
          preferred_term));
TYPE(label_requirement, "LabelSelectorRequirement",
     TEXT("key"), WORD("operator", "LabelSelectorOperator"), TEXTS("values"));
TYPE(label_selector, "LabelSelector",
     {"matchLabels", K_map, "map[string]string", NULL, NULL},
     LIST("matchExpressions", "LabelSelectorRequirement", label_requirement));
TYPE(spread_type, "TopologySpreadConstraint",
     I32("maxSkew"), TEXT("topologyKey"), WORD("whenUnsatisfiable", "UnsatisfiableConstraintAction"),
     OBJECT("labelSelector", "v1.LabelSelector", label_selector), I32("minDomains"),
     WORD("nodeAffinityPolicy", "NodeInclusionPolicy"),
     WORD("nodeTaintsPolicy", "NodeInclusionPolicy"), TEXTS("matchLabelKeys"));

TYPE(gang_args, "CoschedulingArgs",
     TYPE_META, I64("permitWaitingTimeSeconds"), I64("podGroupBackoffSeconds"),
     I32("podGroupRejectPercentage"), TEXT("gangVictims")); /* the last is ours */
TYPE(preemption_args, "DefaultPreemptionArgs",
     TYPE_META, I32("minCandidateNodesPercentage"), I32("minCandidateNodesAbsolute"));
TYPE(claims_args, "DynamicResourcesArgs",
     TYPE_META, SPAN_OR_NULL("filterTimeout"), SPAN_OR_NULL("bindingTimeout"));
TYPE(pod_affinity_args, "InterPodAffinityArgs",
     TYPE_META, I32("hardPodAffinityWeight"), BOOL("ignorePreferredTermsOfExistingPods"));
TYPE(node_affinity_args, "NodeAffinityArgs",
     TYPE_META, OBJECT("addedAffinity", "v1.NodeAffinity", added_affinity));
TYPE(balanced_args, "NodeResourcesBalancedAllocationArgs",
     TYPE_META, LIST("resources", "ResourceSpec", resource_spec));
TYPE(fit_args, "NodeResourcesFitArgs",
     TYPE_META, TEXTS("ignoredResources"), TEXTS("ignoredResourceGroups"),
     OBJECT("scoringStrategy", "v1.ScoringStrategy", scoring_strategy));
TYPE(spread_args, "PodTopologySpreadArgs",
     TYPE_META, LIST("defaultConstraints", "TopologySpreadConstraint", spread_type),
     WORD("defaultingType", "PodTopologySpreadConstraintsDefaulting"));
TYPE(volume_args, "VolumeBindingArgs",
     TYPE_META, I64("bindTimeoutSeconds"),
     LIST("shape", "UtilizationShapePoint", shape_point_type));
/* Ours. */
TYPE(bus_event, "BusPluginEvent", TEXT("resource"), TEXTS("actions"));
TYPE(bus_args, "BusPluginArgs",
     LIST("events", "BusPluginEvent", bus_event), BOOL("queueingHints"),
     TYPE_META, SPAN("deadline"), TEXT("failurePolicy"), SPAN("permitTimeout"), TEXT("nodeFacts"),
     TEXTS("annotations"));
/* clang-format on */

static const struct schema_type *const arguments[] = {
    &gang_args,     &preemption_args, &claims_args, &pod_affinity_args, &node_affinity_args,
    &balanced_args, &fit_args,        &spread_args, &volume_args,       &bus_args};

/* ---- the walk ---- */

struct walk {
    struct loading *l;
    const char *owner;    /* the Go struct whose field is being looked at */
    struct buffer fields; /* names on the way there, without indices, joined by dots */
    bool found, ended;    /* a fault; one behind which the decoder does not look any further */
    struct buffer fault;
};

/* The first fault counts, unless a later one ends the walk. */
static void fault(struct walk *w, const struct cursor *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fault(struct walk *w, const struct cursor *at, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    struct buffer path = {0};
    cursor_path(at, &path);
    buffer_reset(&w->fault);
    buffer_add_text(&w->fault, text);
    /* Upstream's texts have no indices. */
    if (str_find(buffer_str(&path), '[') >= 0)
        buffer_print(&w->fault, " (at %s)", path.at);
    w->found = true;
    buffer_free(&path);
}

/* What Go calls a value of JSON; a number that does not fit is shown. */
static void value_name(const struct kube_json *value, bool digits, char out[64])
{
    double number = 0;
    if (!kube_json_number(value, &number) || !digits)
        snprintf(out, 64, "%s", kube_json_go_kind(value));
    else
        snprintf(out, 64, number == floor(number) ? "number %.0f" : "number %.17g", number);
}

static void wrong_type(struct walk *w, const struct cursor *at, const char *go, bool digits)
{
    char value[64];
    value_name(at->value, digits, value);
    if (!w->found)
        fault(w, at, "json: cannot unmarshal %s into Go struct field %s.%s of type %s", value,
              w->owner, w->fields.at != NULL ? w->fields.at : "", go);
}

static void check_span(struct walk *w, const struct cursor *at)
{
    struct buffer why = {0};
    if (!kube_json_is_string(at->value) && !kube_json_is_null(at->value)) {
        w->found = false; /* overrides: the decoder of a duration ends the whole */
        wrong_type(w, at, "string", false);
        w->ended = true;
    } else if (!config_duration_explain(kube_json_text(at->value), &why)) {
        fault(w, at, "%s", why.at);
        w->ended = true;
    }
    buffer_free(&why);
}

static bool fits(const struct kube_json *value, enum field_kind kind)
{
    double number = 0;
    int64_t exact = 0;
    if (kind == K_f32)
        return kube_json_number(value, &number) && fabs(number) <= (double)FLT_MAX;
    return kube_json_i64(value, &exact) &&
           (kind == K_i64 || (exact >= INT32_MIN && exact <= INT32_MAX));
}

static void check_number(struct walk *w, const struct cursor *at, const struct schema_field *f)
{
    double number = 0;
    bool is_number = kube_json_number(at->value, &number);
    if (!fits(at->value, f->kind))
        wrong_type(w, at, f->go, is_number);
}

static void check_bytes(struct walk *w, const struct cursor *at, const struct schema_field *f)
{
    struct buffer bytes = {0};
    if (!kube_json_is_string(at->value))
        wrong_type(w, at, f->go, false);
    else if (!base64_decode(kube_json_text(at->value), &bytes) && !w->found)
        fault(w, at, "illegal base64 data");
    buffer_free(&bytes);
}

static void check_object(struct walk *w, const struct cursor *at, const struct schema_type *type);

static void check_value(struct walk *w, const struct cursor *at, const struct schema_field *f);

/* The recursion follows the tables, which end. NOLINTBEGIN(misc-no-recursion) */

/* Items, or the values of a map: all of one kind. */
static void check_items(struct walk *w, const struct cursor *at, const struct schema_field *f)
{
    struct schema_field item = {f->name, f->type ? K_object : K_text, "string", f->type, NULL};
    if (f->kind == K_list ? !kube_json_is_array(at->value) : !kube_json_is_object(at->value)) {
        wrong_type(w, at, f->go, false);
        return;
    }
    if (f->kind == K_list)
        item.go = f->go + strlen("[]");
    for (struct cursor i = cursor_first(at); i.value != NULL && !w->ended; i = cursor_next(&i))
        check_value(w, &i, &item);
}

static void check_value(struct walk *w, const struct cursor *at, const struct schema_field *f)
{
    /* A null changes nothing, except where the type decodes itself. */
    if (kube_json_is_null(at->value) && f->kind != K_span)
        return;
    switch (f->kind) {
    case K_text:
        if (!kube_json_is_string(at->value))
            wrong_type(w, at, f->go, false);
        break;
    case K_bool:
        if (!kube_json_is_bool(at->value))
            wrong_type(w, at, f->go, false);
        break;
    case K_i32:
    case K_i64:
    case K_f32: check_number(w, at, f); break;
    case K_span:
    case K_span_or_null: check_span(w, at); break;
    case K_bytes: check_bytes(w, at, f); break;
    case K_object:
        if (!kube_json_is_object(at->value))
            wrong_type(w, at, f->go, false);
        else
            check_object(w, at, f->type);
        break;
    case K_list:
    case K_map: check_items(w, at, f); break;
    case K_any: break;
    }
}

static const struct schema_field *field_of(const struct walk *w, const struct schema_type *type,
                                           const char *name)
{
    const struct schema_field *f = type->fields;
    while (f->name != NULL && strcmp(f->name, name) != 0)
        f++;
    return f->name != NULL && release_knows(w->l->features.release, name) ? f : NULL;
}

static bool stands_before(const struct cursor *object, const struct cursor *member)
{
    for (struct cursor i = cursor_first(object); i.value != member->value; i = cursor_next(&i))
        if (strcmp(i.name, member->name) == 0)
            return true;
    return false;
}

static void check_member(struct walk *w, const struct cursor *object, const struct cursor *member,
                         const struct schema_type *type)
{
    const struct schema_field *f = field_of(w, type, member->name);
    if (f == NULL) {
        config_strict(w->l, "unknown", member);
        return;
    }
    if (stands_before(object, member))
        config_strict(w->l, "duplicate", member);
    size_t length = w->fields.len;
    w->owner = type->go;
    if (f->inside != NULL)
        buffer_print(&w->fields, "%s%s", length > 0 ? "." : "", f->inside);
    buffer_print(&w->fields, "%s%s", w->fields.len > 0 ? "." : "", f->name);
    check_value(w, member, f);
    w->fields.len = length;
    if (w->fields.at != NULL)
        w->fields.at[length] = 0;
}

static void check_object(struct walk *w, const struct cursor *at, const struct schema_type *type)
{
    if (kube_json_count(at->value) > CONFIG_MEMBERS_MAX) {
        fault(w, at, "has more than %d fields", CONFIG_MEMBERS_MAX);
        w->ended = true;
        return;
    }
    const char *owner = w->owner;
    for (struct cursor i = cursor_first(at); i.value != NULL && !w->ended; i = cursor_next(&i))
        check_member(w, at, &i, type);
    w->owner = owner;
}

/* NOLINTEND(misc-no-recursion) */

static bool walk(struct loading *l, const struct cursor *root, const struct schema_type *type)
{
    struct walk w = {.l = l, .owner = type->go};
    if (kube_json_is_object(root->value))
        check_object(&w, root, type);
    if (w.found)
        config_fail(l, w.fault.at);
    buffer_free(&w.fields);
    buffer_free(&w.fault);
    return !w.found;
}

/* What a file says of apiVersion and kind. Upstream takes a member of any case, and reads those of
 * a YAML file in the order of their names, in which capitals come first. */
enum { META_version, META_kind, METAS };

static const char *const meta_names[METAS] = {"apiVersion", "kind"};

struct meta {
    bool by_name;
    struct cursor texts[METAS]; /* the last one that is a text */
    struct cursor wrong;        /* the first one that is none, */
    size_t wrong_is;            /* and which of them */
};

static size_t meta_of(const struct cursor *member)
{
    size_t i = 0;
    while (i < METAS && strcasecmp(member->name, meta_names[i]) != 0)
        i++;
    return kube_json_is_null(member->value) ? METAS : i;
}

static void read_meta(const struct cursor *root, struct meta *m)
{
    for (struct cursor i = cursor_first(root); i.value != NULL; i = cursor_next(&i)) {
        size_t which = meta_of(&i);
        if (which == METAS)
            continue;
        struct cursor *text = &m->texts[which];
        bool later = text->value == NULL || !m->by_name || strcmp(i.name, text->name) > 0;
        bool sooner = m->wrong.value == NULL || (m->by_name && strcmp(i.name, m->wrong.name) < 0);
        if (kube_json_is_string(i.value) && later) {
            *text = i;
        } else if (!kube_json_is_string(i.value) && sooner) {
            m->wrong = i;
            m->wrong_is = which;
        }
    }
}

static struct str meta_text(const struct cursor *root, const struct meta *m, size_t which)
{
    struct cursor at = cursor_member(root, meta_names[which]);
    at.value = m->texts[which].value;
    return cursor_own_text(&at);
}

bool config_schema_meta(struct loading *l, const struct cursor *root, struct str *version,
                        struct str *kind)
{
    static const char whole[] = "Go value of type struct { APIVersion string "
                                "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                                "\"json:\\\"kind,omitempty\\\"\" }";
    struct meta m = {.by_name = !str_starts_with(str_trim(l->text), "{")};
    struct buffer text = {0};
    bool object = kube_json_is_object(root->value);
    if (object)
        read_meta(root, &m);
    *version = meta_text(root, &m, META_version);
    *kind = meta_text(root, &m, META_kind);
    if (m.wrong.value != NULL)
        buffer_print(&text, "%s into Go struct field .%s of type string",
                     kube_json_go_kind(m.wrong.value), meta_names[m.wrong_is]);
    else if (!object && root->value != NULL && !kube_json_is_null(root->value))
        buffer_print(&text, "%s into %s", kube_json_go_kind(root->value), whole);
    bool good = text.len == 0;
    if (!good) {
        struct buffer all = {0};
        buffer_print(&all, "couldn't get version/kind; json parse error: json: cannot unmarshal %s",
                     text.at);
        config_fail(l, all.at);
        buffer_free(&all);
    }
    buffer_free(&text);
    return good;
}

bool config_schema_check(struct loading *l, const struct cursor *root)
{
    return walk(l, root, str_is(l->version, CONFIG_BETA2) ? &beta_type : &root_type);
}

bool config_schema_check_args(struct loading *l, const struct cursor *args, const char *kind)
{
    for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++)
        if (strcmp(arguments[i]->go, kind) == 0)
            return walk(l, args, arguments[i]);
    return true;
}
