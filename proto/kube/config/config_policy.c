/* config_policy: the Policy that kube-scheduler knew until 1.22, translated. The one idea: what it
 * says is written down as a KubeSchedulerConfiguration, which is then loaded like any other, so
 * that there is one way from a file to profiles, and the translation can be printed.
 *
 * What must stay true: predicates run in the order in which they always ran, whatever the file's;
 * nothing that the file says is dropped: what is not known is refused by its place and name. */
#include "proto/kube/config/config_policy.h"
#include "proto/kube/config/config_internal.h"
#include "proto/kube/release/release.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* In the order in which they ran; those that today's plugins do are aliases of them. */
static const struct {
    const char *name;
    bool usual; /* runs where a Policy has no list of predicates */
} predicates[] = {
    {"CheckNodeCondition", false},
    {"CheckNodeUnschedulable", true},
    {"GeneralPredicates", true},
    {"HostName", false},
    {"PodFitsHostPorts", false},
    {"PodFitsPorts", false},
    {"MatchNodeSelector", false},
    {"PodFitsResources", false},
    {"NoDiskConflict", true},
    {"PodToleratesNodeTaints", true},
    {"PodToleratesNodeNoExecuteTaints", false},
    {"CheckNodeLabelPresence", false},
    {"CheckServiceAffinity", false},
    {"checkServiceAffinity", false},
    {"MaxEBSVolumeCount", true},
    {"MaxGCEPDVolumeCount", true},
    {"MaxCSIVolumeCount", true},
    {"MaxCSIVolumeCountPred", false},
    {"MaxAzureDiskVolumeCount", true},
    {"MaxCinderVolumeCount", false},
    {"CheckVolumeBinding", true},
    {"NoVolumeZoneConflict", true},
    {"CheckNodeMemoryPressure", false},
    {"CheckNodePIDPressure", false},
    {"CheckNodeDiskPressure", false},
    {"EvenPodsSpread", true},
    {"MatchInterPodAffinity", true},
};

static const struct {
    const char *name;
    int64_t usual; /* the weight that it has where a Policy has no list of priorities; 0: none */
} priorities[] = {
    {"LeastRequestedPriority", 1},
    {"MostRequestedPriority", 0},
    {"RequestedToCapacityRatioPriority", 0},
    {"BalancedResourceAllocation", 1},
    {"SelectorSpreadPriority", 1},
    {"ServiceSpreadingPriority", 0},
    {"InterPodAffinityPriority", 1},
    {"NodeAffinityPriority", 1},
    {"TaintTolerationPriority", 1},
    {"ImageLocalityPriority", 1},
    {"NodePreferAvoidPodsPriority", 10000},
    {"EvenPodsSpreadPriority", 2},
    {"EqualPriority", 0},
};

#define PREDICATES (sizeof(predicates) / sizeof(predicates[0]))
#define PRIORITIES (sizeof(priorities) / sizeof(priorities[0]))
#define SCORES_MAX (PRIORITIES + 4)
#define LEAST      "NodeResourcesLeastAllocated"
#define MOST       "NodeResourcesMostAllocated"
#define RATIO      "RequestedToCapacityRatio"
/* What 1.10 to 1.18 used unless the file gave another shape: the emptier the better. */
#define USUAL_SHAPE "{utilization: 0, score: 10}, {utilization: 100, score: 0}"

struct score {
    const char *plugin;
    int64_t weight;
};

struct policy {
    struct loading *l;
    bool wanted[PREDICATES];
    struct score scores[SCORES_MAX];
    uint32_t score_count;
    /* How often a label preference and a service anti-affinity were given, who gave the first, and
     * whether a ratio was. */
    uint32_t preference_count, anti_affinity_count;
    struct str first_preference, first_anti_affinity, ratio_of;
    /* plugins, and the arguments of some */
    struct buffer pre_filters, filters, pre_scores, score_list, reserves;
    struct buffer presence, affinity, preferences, anti_affinity, shape, resources;
};

static void plugin(struct buffer *list, const char *name, int64_t weight)
{
    buffer_print(list, "%s{name: %s", list->len > 0 ? ", " : "", name);
    if (weight > 0)
        buffer_print(list, ", weight: %" PRId64, weight);
    buffer_add_text(list, "}");
}

static void text_list(struct buffer *out, const struct strs *texts)
{
    for (uint32_t i = 0; i < texts->count; i++) {
        buffer_add_text(out, out->len > 0 ? ", " : "");
        config_print_text(texts->at[i], out);
    }
}

static void label_rule(struct buffer *out, const struct strs *labels, bool presence)
{
    struct buffer names = {0};
    text_list(&names, labels);
    buffer_print(out, "%s{labels: [%.*s], presence: %s}", out->len > 0 ? ", " : "",
                 STR_ARG(buffer_str(&names)), presence ? "true" : "false");
    buffer_free(&names);
}

static size_t predicate_index(struct str name)
{
    size_t i = 0;
    while (i < PREDICATES && !str_is(name, predicates[i].name))
        i++;
    return i;
}

static size_t priority_index(struct str name)
{
    size_t i = 0;
    while (i < PRIORITIES && !str_is(name, priorities[i].name))
        i++;
    return i;
}

static void want(struct policy *p, const char *predicate)
{
    p->wanted[predicate_index(str_of(predicate))] = true;
}

/* Of two entries for one plugin the last counts. */
static struct score *score_of(struct policy *p, const char *name)
{
    for (uint32_t i = 0; i < p->score_count; i++)
        if (strcmp(p->scores[i].plugin, name) == 0)
            return &p->scores[i];
    p->scores[p->score_count] = (struct score){.plugin = name};
    return &p->scores[p->score_count++];
}

static bool scores(const struct policy *p, const char *name)
{
    for (uint32_t i = 0; i < p->score_count; i++)
        if (strcmp(p->scores[i].plugin, name) == 0)
            return true;
    return false;
}

/* ---- predicates ---- */

/* An argument is one of its members. False, with the error, when there are several or none. */
static bool one_argument(struct policy *p, const struct cursor *argument,
                         const char *const *members, const char *kind)
{
    size_t given = 0;
    for (size_t i = 0; members[i] != NULL; i++)
        given += config_has(argument, members[i]);
    if (argument->value != NULL && given != 1)
        config_invalid(p->l, argument, "Invalid value: exactly 1 %s argument is required, has %zu",
                       kind, given);
    return argument->value == NULL || given == 1;
}

static bool takes_argument(struct str predicate)
{
    return str_is(predicate, "CheckNodeLabelPresence") ||
           str_is(predicate, "CheckServiceAffinity") || str_is(predicate, "checkServiceAffinity");
}

static void read_predicate(struct policy *p, const struct cursor *entry)
{
    static const char *const fields[] = {"name", "argument", NULL};
    static const char *const arguments[] = {"serviceAffinity", "labelsPresence", NULL};
    static const char *const affinity_fields[] = {"labels", NULL};
    static const char *const presence_fields[] = {"labels", "presence", NULL};
    struct cursor at = cursor_member(entry, "name"), argument = cursor_object(entry, "argument");
    struct cursor affinity = cursor_object(&argument, "serviceAffinity");
    struct cursor presence = cursor_object(&argument, "labelsPresence");
    struct str name = cursor_text(entry, "name");
    size_t known = predicate_index(name);
    config_only(p->l, entry, fields);
    config_only(p->l, &argument, arguments);
    config_only(p->l, &affinity, affinity_fields);
    config_only(p->l, &presence, presence_fields);
    if (!one_argument(p, &argument, arguments, "predicate"))
        return;
    if (argument.value != NULL && known < PREDICATES && !takes_argument(name)) {
        config_invalid(p->l, &argument, "Forbidden: %.*s takes no argument", STR_ARG(name));
    } else if (affinity.value != NULL) {
        struct strs labels = cursor_texts(&affinity, "labels");
        text_list(&p->affinity, &labels);
        want(p, "CheckServiceAffinity");
    } else if (presence.value != NULL) {
        struct strs labels = cursor_texts(&presence, "labels");
        label_rule(&p->presence, &labels, cursor_bool(&presence, "presence"));
        want(p, "CheckNodeLabelPresence");
    } else if (known < PREDICATES) {
        p->wanted[known] = true;
    } else {
        config_invalid(p->l, &at, "Invalid value: \"%.*s\": no predicate has that name",
                       STR_ARG(name));
    }
}

static void read_predicates(struct policy *p, const struct cursor *root)
{
    struct cursor list = cursor_list(root, "predicates");
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            read_predicate(p, &i);
    for (size_t i = 0; list.value == NULL && i < PREDICATES; i++)
        p->wanted[i] = predicates[i].usual;
    /* Mandatory, whatever the file says: cordoned and tainted nodes are respected. */
    want(p, "CheckNodeUnschedulable");
    want(p, "PodToleratesNodeTaints");
}

/* ---- priorities ---- */

static void read_ratio(struct policy *p, const struct cursor *ratio)
{
    static const char *const fields[] = {"shape", "resources", NULL};
    static const char *const point_fields[] = {"utilization", "score", NULL};
    static const char *const resource_fields[] = {"name", "weight", NULL};
    struct cursor shape = cursor_list(ratio, "shape"), resources = cursor_list(ratio, "resources");
    config_only(p->l, ratio, fields);
    buffer_reset(&p->shape);
    for (struct cursor i = cursor_first(&shape); i.value != NULL; i = cursor_next(&i)) {
        config_only(p->l, &i, point_fields);
        if (cursor_is_object(&i))
            buffer_print(&p->shape, "%s{utilization: %" PRId64 ", score: %" PRId64 "}",
                         i.index > 0 ? ", " : "", cursor_i32(&i, "utilization"),
                         cursor_i32(&i, "score"));
    }
    for (struct cursor i = cursor_first(&resources); i.value != NULL; i = cursor_next(&i)) {
        config_only(p->l, &i, resource_fields);
        if (!cursor_is_object(&i))
            continue;
        int64_t weight = cursor_i64(&i, "weight");
        buffer_add_text(&p->resources, i.index > 0 ? ", {name: " : "{name: ");
        config_print_text(cursor_text(&i, "name"), &p->resources);
        buffer_print(&p->resources, ", weight: %" PRId64 "}", weight == 0 ? 1 : weight);
    }
}

/* What several entries are for, they are for with one weight. */
static void count_custom(struct policy *p, const struct cursor *entry, const char *plugin_name,
                         struct str *first, uint32_t *count)
{
    struct cursor at = cursor_member(entry, "weight");
    int64_t weight = cursor_i64(entry, "weight");
    struct str name = cursor_text(entry, "name");
    struct score *s = score_of(p, plugin_name);
    if (*count == 0)
        *first = name;
    else if (s->weight != weight)
        config_invalid(p->l, &at,
                       "Invalid value: %" PRId64 ": priority \"%.*s\" has a different weight with "
                       "\"%.*s\"",
                       weight, STR_ARG(name), STR_ARG(*first));
    s->weight = weight;
    (*count)++;
}

/* An entry whose argument says what it is, whatever its name. */
static void read_custom(struct policy *p, const struct cursor *entry, const struct cursor *argument)
{
    static const char *const label_fields[] = {"label", NULL};
    static const char *const preference_fields[] = {"label", "presence", NULL};
    struct cursor anti = cursor_object(argument, "serviceAntiAffinity");
    struct cursor preference = cursor_object(argument, "labelPreference");
    struct cursor ratio = cursor_object(argument, "requestedToCapacityRatioArguments");
    struct str name = cursor_text(entry, "name");
    config_only(p->l, &anti, label_fields);
    config_only(p->l, &preference, preference_fields);
    if (anti.value != NULL) {
        struct str label = cursor_text(&anti, "label");
        text_list(&p->anti_affinity, &(struct strs){1, &label});
        count_custom(p, entry, "ServiceAntiAffinity", &p->first_anti_affinity,
                     &p->anti_affinity_count);
    } else if (preference.value != NULL) {
        struct str label = cursor_text(&preference, "label");
        label_rule(&p->preferences, &(struct strs){1, &label},
                   cursor_bool(&preference, "presence"));
        count_custom(p, entry, "NodeLabelPriority", &p->first_preference, &p->preference_count);
    } else if (ratio.value != NULL && p->ratio_of.len > 0) {
        config_invalid(p->l, argument,
                       "Invalid value: priority \"%.*s\" redeclares custom priority \"" RATIO
                       "\", from: \"%.*s\"",
                       STR_ARG(name), STR_ARG(p->ratio_of));
    } else if (ratio.value != NULL) {
        p->ratio_of = name.len > 0 ? name : STR_LITERAL(RATIO);
        score_of(p, RATIO)->weight = cursor_i64(entry, "weight");
        read_ratio(p, &ratio);
    }
}

static void use_priority(struct policy *p, size_t known, int64_t weight)
{
    struct str name = str_of(priorities[known].name);
    const char *const *today = config_legacy_alias(name);
    if (str_is(name, "LeastRequestedPriority"))
        score_of(p, LEAST)->weight = weight;
    else if (str_is(name, "MostRequestedPriority"))
        score_of(p, MOST)->weight = weight;
    else if (str_is(name, "RequestedToCapacityRatioPriority"))
        score_of(p, RATIO)->weight = weight;
    else
        score_of(p, today != NULL ? today[0] : priorities[known].name)->weight = weight;
}

static void read_priority(struct policy *p, const struct cursor *entry)
{
    static const char *const fields[] = {"name", "weight", "argument", NULL};
    static const char *const arguments[] = {"serviceAntiAffinity", "labelPreference",
                                            "requestedToCapacityRatioArguments", NULL};
    struct cursor at = cursor_member(entry, "name"), weight_at = cursor_member(entry, "weight");
    struct cursor argument = cursor_object(entry, "argument");
    struct str name = cursor_text(entry, "name");
    int64_t weight = cursor_i64(entry, "weight");
    size_t known = priority_index(name);
    config_only(p->l, entry, fields);
    config_only(p->l, &argument, arguments);
    if (weight <= 0 || weight > INT32_MAX)
        config_invalid(p->l, &weight_at,
                       "Invalid value: %" PRId64 ": priority %.*s should have a positive weight "
                       "applied to it or it has overflown",
                       weight, STR_ARG(name));
    if (!one_argument(p, &argument, arguments, "priority"))
        return;
    if (argument.value != NULL && known < PRIORITIES &&
        !str_is(name, "RequestedToCapacityRatioPriority"))
        config_invalid(p->l, &argument, "Forbidden: %.*s takes no argument", STR_ARG(name));
    else if (argument.value != NULL)
        read_custom(p, entry, &argument);
    else if (known < PRIORITIES)
        use_priority(p, known, weight);
    else
        config_invalid(p->l, &at, "Invalid value: \"%.*s\": no priority has that name",
                       STR_ARG(name));
}

static void check_total(struct policy *p, const struct cursor *list, const char *name,
                        uint32_t count)
{
    if (count == 0)
        return;
    struct score *s = score_of(p, name);
    if (s->weight > INT32_MAX / (int64_t)count)
        config_invalid(p->l, list,
                       "Invalid value: %u priorities of weight %" PRId64
                       " for %s: the sum has overflown",
                       count, s->weight, name);
    s->weight *= count; /* the plugin divides its points among them */
}

static void read_priorities(struct policy *p, const struct cursor *root)
{
    struct cursor list = cursor_list(root, "priorities");
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            read_priority(p, &i);
    for (size_t i = 0; list.value == NULL && i < PRIORITIES; i++)
        if (priorities[i].usual > 0)
            use_priority(p, i, priorities[i].usual);
    check_total(p, &list, "NodeLabelPriority", p->preference_count);
    check_total(p, &list, "ServiceAntiAffinity", p->anti_affinity_count);
}

/* ---- writing ---- */

static void filter_plugin(struct policy *p, const char *name)
{
    plugin(&p->filters, name, 0);
    if (config_plugin_implements(RELEASE_OLDEST, str_of(name), POINT_pre_filter))
        plugin(&p->pre_filters, name, 0);
    if (config_plugin_implements(RELEASE_OLDEST, str_of(name), POINT_reserve))
        plugin(&p->reserves, name, 0);
}

/* Behind the file's predicates come rules for what pods could not ask for when there were Policies:
 * a pod with a resource claim is not put where it could not start. */
static void list_filters(struct policy *p, bool check_all)
{
    bool listed[64] = {false};
    for (size_t i = 0; i < PREDICATES; i++) {
        const char *self[] = {predicates[i].name, NULL};
        const char *const *today = config_legacy_alias(str_of(predicates[i].name));
        for (today = today != NULL ? today : self; p->wanted[i] && *today != NULL; today++) {
            size_t known = config_plugin_index(str_of(*today));
            if (known < 64 && !listed[known])
                filter_plugin(p, *today);
            if (known < 64)
                listed[known] = true;
        }
    }
    filter_plugin(p, "DynamicResources");
    filter_plugin(p, "NodeDeclaredFeatures");
    if (check_all)
        filter_plugin(p, "AlwaysCheckAllPredicates");
}

/* One of the three that score by what is requested is NodeResourcesFit with that strategy; where
 * there are several, the others are plugins of their own. */
static const char *strategy_of(const struct policy *p)
{
    return scores(p, RATIO) ? RATIO : scores(p, LEAST) || !scores(p, MOST) ? LEAST : MOST;
}

static void list_scores(struct policy *p)
{
    const char *strategy = strategy_of(p);
    for (uint32_t i = 0; i < p->score_count; i++) {
        const char *name = p->scores[i].plugin;
        name = strcmp(name, strategy) == 0 ? "NodeResourcesFit" : name;
        plugin(&p->score_list, name, p->scores[i].weight);
        if (config_plugin_implements(RELEASE_OLDEST, str_of(name), POINT_pre_score))
            plugin(&p->pre_scores, name, 0);
    }
}

static void args(struct buffer *out, const char *name, const char *member,
                 const struct buffer *list)
{
    if (list->len > 0)
        buffer_print(out, "  - {name: %s, args: {%s: [%.*s]}}\n", name, member,
                     STR_ARG(buffer_str(list)));
}

/* Only the plugins in the list run at the point. */
static void write_point(const char *point, const struct buffer *list, struct buffer *out)
{
    buffer_print(out, "    %s: {disabled: [{name: \"*\"}], enabled: [%.*s]}\n", point,
                 STR_ARG(buffer_str(list)));
}

static void write_fit(const struct policy *p, struct buffer *out)
{
    const char *strategy = strategy_of(p);
    bool ratio = strcmp(strategy, RATIO) == 0;
    buffer_print(out, "  - {name: NodeResourcesFit, args: {scoringStrategy: {type: %s",
                 ratio                         ? RATIO
                 : strcmp(strategy, MOST) == 0 ? "MostAllocated"
                                               : "LeastAllocated");
    if (ratio)
        buffer_print(out, ", requestedToCapacityRatio: {shape: [%.*s]}, resources: [%.*s]",
                     STR_ARG(buffer_str(&p->shape)), STR_ARG(buffer_str(&p->resources)));
    buffer_add_text(out, "}}}\n");
}

static void write_weight(struct policy *p, const struct cursor *root, struct buffer *out)
{
    static const char name[] = "hardPodAffinitySymmetricWeight";
    struct cursor at = cursor_member(root, name);
    int64_t weight = cursor_i32(root, name);
    if (weight < 0 || weight > 100)
        config_invalid(p->l, &at, "Invalid value: %" PRId64 ": not in valid range [0-100]", weight);
    else if (weight > 0) /* 0 is as if it were not there */
        buffer_print(out,
                     "  - {name: InterPodAffinity, args: {hardPodAffinityWeight: %" PRId64 "}}\n",
                     weight);
}

static void write_extenders(struct loading *l, const struct cursor *root, struct buffer *out)
{
    struct scheduler_config c = {0};
    config_extenders_read_old(l, root, &c);
    config_extenders_print(&c, out);
}

static void write_config(struct policy *p, const struct cursor *root, struct buffer *out)
{
    list_filters(p, cursor_bool(root, "alwaysCheckAllPredicates"));
    list_scores(p);
    buffer_add_text(out, "apiVersion: " CONFIG_VERSION "\nkind: KubeSchedulerConfiguration\n");
    write_extenders(p->l, root, out);
    buffer_add_text(out, "profiles:\n- plugins:\n");
    write_point("preFilter", &p->pre_filters, out);
    write_point("filter", &p->filters, out);
    write_point("preScore", &p->pre_scores, out);
    write_point("score", &p->score_list, out);
    write_point("reserve", &p->reserves, out);
    write_point("preBind", &p->reserves, out);
    buffer_add_text(out, "    multiPoint: {}\n  pluginConfig:\n");
    write_weight(p, root, out);
    write_fit(p, out);
    /* No constraints by default: SelectorSpreadPriority does what they do today. */
    buffer_add_text(out, "  - {name: PodTopologySpread, args: {defaultingType: List}}\n");
    args(out, "CheckNodeLabelPresence", "rules", &p->presence);
    args(out, "CheckServiceAffinity", "labels", &p->affinity);
    args(out, "NodeLabelPriority", "rules", &p->preferences);
    args(out, "ServiceAntiAffinity", "labels", &p->anti_affinity);
}

static void free_policy(struct policy *p)
{
    struct buffer *all[] = {&p->pre_filters, &p->filters,       &p->pre_scores, &p->score_list,
                            &p->reserves,    &p->presence,      &p->affinity,   &p->preferences,
                            &p->shape,       &p->anti_affinity, &p->resources};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        buffer_free(all[i]);
}

void config_policy_translate(struct loading *l, const struct cursor *root, struct buffer *out)
{
    static const char *const fields[] = {"apiVersion",
                                         "kind",
                                         "predicates",
                                         "priorities",
                                         "extenders",
                                         "hardPodAffinitySymmetricWeight",
                                         "alwaysCheckAllPredicates",
                                         NULL};
    struct policy p = {.l = l};
    buffer_add_text(&p.shape, USUAL_SHAPE);
    config_only(l, root, fields);
    read_predicates(&p, root);
    read_priorities(&p, root);
    write_config(&p, root, out);
    free_policy(&p);
}

/* ---- what is a Policy ---- */

bool config_policy_is(const struct kube_json *document)
{
    struct str version = kube_json_text(kube_json_get(document, "apiVersion"));
    return str_is(kube_json_text(kube_json_get(document, "kind")), "Policy") &&
           (str_is(version, "v1") || str_is(version, CONFIG_VERSION));
}

const char *config_policy_of_provider(const char *provider)
{
    if (strcmp(provider, "DefaultProvider") == 0)
        return "{}";
    if (strcmp(provider, "ClusterAutoscalerProvider") != 0)
        return NULL;
    return "priorities:\n"
           "- {name: MostRequestedPriority, weight: 1}\n"
           "- {name: BalancedResourceAllocation, weight: 1}\n"
           "- {name: SelectorSpreadPriority, weight: 1}\n"
           "- {name: InterPodAffinityPriority, weight: 1}\n"
           "- {name: NodeAffinityPriority, weight: 1}\n"
           "- {name: TaintTolerationPriority, weight: 1}\n"
           "- {name: ImageLocalityPriority, weight: 1}\n"
           "- {name: NodePreferAvoidPodsPriority, weight: 10000}\n"
           "- {name: EvenPodsSpreadPriority, weight: 2}\n";
}
