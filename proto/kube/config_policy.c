/* config_policy: the Policy that kube-scheduler knew until 1.22, translated. The one idea: what it
 * says is written down as a KubeSchedulerConfiguration, which is then loaded like any other, so
 * that there is one way from a file to profiles, and the translation can be printed.
 *
 * What must stay true: predicates run in the order in which they always ran, whatever the file's;
 * whatever is not known is refused by name. */
#include "proto/kube/config_internal.h"

#include <inttypes.h>
#include <stdio.h>

/* In the order in which they ran; those that today's plugins do are aliases of them. */
static const char *const predicates[] = {"CheckNodeCondition",
                                         "CheckNodeUnschedulable",
                                         "GeneralPredicates",
                                         "HostName",
                                         "PodFitsHostPorts",
                                         "PodFitsPorts",
                                         "MatchNodeSelector",
                                         "PodFitsResources",
                                         "NoDiskConflict",
                                         "PodToleratesNodeTaints",
                                         "PodToleratesNodeNoExecuteTaints",
                                         "CheckNodeLabelPresence",
                                         "CheckServiceAffinity",
                                         "MaxEBSVolumeCount",
                                         "MaxGCEPDVolumeCount",
                                         "MaxCSIVolumeCount",
                                         "MaxCSIVolumeCountPred",
                                         "MaxAzureDiskVolumeCount",
                                         "CheckVolumeBinding",
                                         "NoVolumeZoneConflict",
                                         "CheckNodeMemoryPressure",
                                         "CheckNodePIDPressure",
                                         "CheckNodeDiskPressure",
                                         "EvenPodsSpread",
                                         "MatchInterPodAffinity"};

static const char *const priorities[] = {"LeastRequestedPriority",
                                         "MostRequestedPriority",
                                         "RequestedToCapacityRatioPriority",
                                         "BalancedResourceAllocation",
                                         "SelectorSpreadPriority",
                                         "ServiceSpreadingPriority",
                                         "InterPodAffinityPriority",
                                         "NodeAffinityPriority",
                                         "TaintTolerationPriority",
                                         "ImageLocalityPriority",
                                         "NodePreferAvoidPodsPriority",
                                         "EvenPodsSpreadPriority",
                                         "EqualPriority"};

#define PREDICATES    (sizeof(predicates) / sizeof(predicates[0]))
#define PRIORITIES    (sizeof(priorities) / sizeof(priorities[0]))
#define WEIGHT_MAX    (INT64_C(1) << 40)
#define AFFINITY_MOST 100

struct policy {
    struct loading *l;
    bool has_predicates, has_priorities;
    bool wanted[PREDICATES];
    /* plugins of today and of old, and what goes with them */
    struct buffer pre_filters, filters, pre_scores, scores;
    struct buffer presence, affinity, preferences, anti_affinity, fit;
    const char *strategy;
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

static void score_plugin(struct policy *p, const char *name, int64_t weight)
{
    plugin(&p->scores, name, weight);
    if (config_plugin_implements(str_of(name), POINT_pre_score))
        plugin(&p->pre_scores, name, 0);
}

static void filter_plugin(struct policy *p, const char *name)
{
    plugin(&p->filters, name, 0);
    if (config_plugin_implements(str_of(name), POINT_pre_filter))
        plugin(&p->pre_filters, name, 0);
}

static size_t index_of(struct str name, const char *const *list, size_t count)
{
    size_t i = 0;
    while (i < count && !str_is(name, list[i]))
        i++;
    return i;
}

static void want(struct policy *p, const char *predicate)
{
    p->wanted[index_of(str_of(predicate), predicates, PREDICATES)] = true;
}

/* ---- reading ---- */

static void read_predicate(struct policy *p, const struct spot *entry)
{
    static const char *const fields[] = {"name", "argument", NULL};
    static const char *const arguments[] = {"serviceAffinity", "labelsPresence", NULL};
    static const char *const affinity_fields[] = {"labels", NULL};
    static const char *const presence_fields[] = {"labels", "presence", NULL};
    struct spot argument = spot_object(entry, "argument");
    struct spot affinity = spot_object(&argument, "serviceAffinity");
    struct spot presence = spot_object(&argument, "labelsPresence");
    struct str name = spot_text(entry, "name");
    config_only(p->l, entry, fields);
    config_only(p->l, &argument, arguments);
    config_only(p->l, &affinity, affinity_fields);
    config_only(p->l, &presence, presence_fields);
    if (affinity.value != NULL) {
        struct strs labels = spot_texts(&affinity, "labels");
        text_list(&p->affinity, &labels);
        want(p, "CheckServiceAffinity");
    } else if (presence.value != NULL) {
        struct strs labels = spot_texts(&presence, "labels");
        label_rule(&p->presence, &labels, spot_bool(&presence, "presence"));
        want(p, "CheckNodeLabelPresence");
    } else if (index_of(name, predicates, PREDICATES) < PREDICATES) {
        p->wanted[index_of(name, predicates, PREDICATES)] = true;
    } else {
        config_invalid(p->l, entry, "Invalid value: \"%.*s\": no predicate has that name",
                       STR_ARG(name));
    }
}

static void read_ratio(struct policy *p, const struct spot *ratio)
{
    struct spot shape = spot_list(ratio, "shape"), resources = spot_list(ratio, "resources");
    p->strategy = "RequestedToCapacityRatio";
    buffer_add_text(&p->fit, ", requestedToCapacityRatio: {shape: [");
    for (struct spot i = spot_first(&shape); i.value != NULL; i = spot_next(&i))
        buffer_print(&p->fit, "%s{utilization: %" PRId64 ", score: %" PRId64 "}",
                     i.index > 0 ? ", " : "", spot_i32(&i, "utilization"), spot_i32(&i, "score"));
    buffer_add_text(&p->fit, "]}, resources: [");
    for (struct spot i = spot_first(&resources); i.value != NULL; i = spot_next(&i)) {
        buffer_add_text(&p->fit, i.index > 0 ? ", {name: " : "{name: ");
        config_print_text(spot_text(&i, "name"), &p->fit);
        buffer_print(&p->fit, ", weight: %" PRId64 "}", spot_i64(&i, "weight"));
    }
    buffer_add_text(&p->fit, "]");
}

/* True when the entry's argument says what it is, whatever its name. */
static bool read_priority_argument(struct policy *p, const struct spot *entry, int64_t weight)
{
    static const char *const arguments[] = {"serviceAntiAffinity", "labelPreference",
                                            "requestedToCapacityRatioArguments", NULL};
    struct spot argument = spot_object(entry, "argument");
    struct spot anti = spot_object(&argument, "serviceAntiAffinity");
    struct spot preference = spot_object(&argument, "labelPreference");
    struct spot ratio = spot_object(&argument, "requestedToCapacityRatioArguments");
    config_only(p->l, &argument, arguments);
    if (anti.value != NULL) {
        struct str label = spot_text(&anti, "label");
        if (p->anti_affinity.len == 0)
            score_plugin(p, "ServiceAntiAffinity", weight);
        text_list(&p->anti_affinity, &(struct strs){1, &label});
    } else if (preference.value != NULL) {
        struct str label = spot_text(&preference, "label");
        if (p->preferences.len == 0)
            score_plugin(p, "NodeLabelPriority", weight);
        label_rule(&p->preferences, &(struct strs){1, &label}, spot_bool(&preference, "presence"));
    } else if (ratio.value != NULL) {
        score_plugin(p, "NodeResourcesFit", weight);
        read_ratio(p, &ratio);
    }
    return anti.value != NULL || preference.value != NULL || ratio.value != NULL;
}

static void read_priority(struct policy *p, const struct spot *entry)
{
    static const char *const fields[] = {"name", "weight", "argument", NULL};
    struct str name = spot_text(entry, "name");
    int64_t weight = spot_i64(entry, "weight");
    size_t known = index_of(name, priorities, PRIORITIES);
    config_only(p->l, entry, fields);
    if (weight <= 0 || weight > WEIGHT_MAX) {
        config_invalid(p->l, entry,
                       "Invalid value: %" PRId64 ": a priority should have a positive weight, "
                       "below 2^40",
                       weight);
        return;
    }
    if (read_priority_argument(p, entry, weight))
        return;
    if (known == PRIORITIES) {
        config_invalid(p->l, entry, "Invalid value: \"%.*s\": no priority has that name",
                       STR_ARG(name));
        return;
    }
    if (str_is(name, "MostRequestedPriority"))
        p->strategy = "MostAllocated";
    bool fit =
        str_is(name, "MostRequestedPriority") || str_is(name, "RequestedToCapacityRatioPriority");
    const char *const *today = config_legacy_alias(name);
    score_plugin(p,
                 fit             ? "NodeResourcesFit"
                 : today != NULL ? today[0]
                                 : priorities[known],
                 weight);
}

/* ---- writing ---- */

/* Mandatory, whatever the file says: cordoned and tainted nodes are respected. */
static void list_filters(struct policy *p)
{
    bool listed[64] = {false};
    want(p, "CheckNodeUnschedulable");
    want(p, "PodToleratesNodeTaints");
    for (size_t i = 0; i < PREDICATES; i++) {
        const char *self[] = {predicates[i], NULL};
        const char *const *today = config_legacy_alias(str_of(predicates[i]));
        for (today = today != NULL ? today : self; p->wanted[i] && *today != NULL; today++) {
            size_t known = config_plugin_index(str_of(*today));
            if (known < 64 && !listed[known])
                filter_plugin(p, *today);
            if (known < 64)
                listed[known] = true;
        }
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
static void write_point(enum config_point point, const struct buffer *list, struct buffer *out)
{
    buffer_print(out, "    %s: {disabled: [{name: \"*\"}], enabled: [%.*s]}\n",
                 config_point_field[point], STR_ARG(buffer_str(list)));
}

static void write_config(struct policy *p, const struct spot *root, struct buffer *out)
{
    buffer_add_text(out, "apiVersion: " CONFIG_VERSION "\nkind: KubeSchedulerConfiguration\n"
                         "profiles:\n- plugins:\n");
    if (p->has_predicates) {
        list_filters(p);
        if (kube_json_true(kube_json_get(root->value, "alwaysCheckAllPredicates")))
            filter_plugin(p, "AlwaysCheckAllPredicates");
        write_point(POINT_pre_filter, &p->pre_filters, out);
        write_point(POINT_filter, &p->filters, out);
    } else if (kube_json_true(kube_json_get(root->value, "alwaysCheckAllPredicates"))) {
        buffer_add_text(out, "    filter: {enabled: [{name: AlwaysCheckAllPredicates}]}\n");
    }
    if (p->has_priorities) {
        write_point(POINT_pre_score, &p->pre_scores, out);
        write_point(POINT_score, &p->scores, out);
    }
    buffer_add_text(out, "    multiPoint: {}\n  pluginConfig:\n");
    if (config_has(root, "hardPodAffinitySymmetricWeight"))
        buffer_print(out,
                     "  - {name: InterPodAffinity, args: {hardPodAffinityWeight: %" PRId64 "}}\n",
                     spot_i32(root, "hardPodAffinitySymmetricWeight"));
    buffer_print(out, "  - {name: NodeResourcesFit, args: {scoringStrategy: {type: %s%.*s}}}\n",
                 p->strategy, STR_ARG(buffer_str(&p->fit)));
    args(out, "CheckNodeLabelPresence", "rules", &p->presence);
    args(out, "CheckServiceAffinity", "labels", &p->affinity);
    args(out, "NodeLabelPriority", "rules", &p->preferences);
    args(out, "ServiceAntiAffinity", "labels", &p->anti_affinity);
}

static void free_policy(struct policy *p)
{
    struct buffer *all[] = {&p->pre_filters, &p->filters,  &p->pre_scores,
                            &p->scores,      &p->presence, &p->affinity,
                            &p->preferences, &p->fit,      &p->anti_affinity};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        buffer_free(all[i]);
}

void config_policy_translate(struct loading *l, const struct spot *root, struct buffer *out)
{
    static const char *const fields[] = {"apiVersion",
                                         "kind",
                                         "predicates",
                                         "priorities",
                                         "extenders",
                                         "hardPodAffinitySymmetricWeight",
                                         "alwaysCheckAllPredicates",
                                         NULL};
    struct policy p = {.l = l, .strategy = "LeastAllocated"};
    struct spot filters = spot_list(root, "predicates"), scores = spot_list(root, "priorities");
    struct spot extenders = spot_list(root, "extenders");
    config_only(l, root, fields);
    p.has_predicates = filters.value != NULL;
    p.has_priorities = scores.value != NULL;
    for (struct spot i = spot_first(&filters); i.value != NULL; i = spot_next(&i))
        if (spot_is_object(&i))
            read_predicate(&p, &i);
    for (struct spot i = spot_first(&scores); i.value != NULL; i = spot_next(&i))
        if (spot_is_object(&i))
            read_priority(&p, &i);
    if (kube_json_count(extenders.value) > 0)
        config_unsupported(l, &extenders, "%zu given", kube_json_count(extenders.value));
    write_config(&p, root, out);
    free_policy(&p);
}
