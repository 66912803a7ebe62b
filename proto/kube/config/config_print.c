/* config_print: the configuration as YAML. The one idea: every plugin is written at the points
 * where it runs, with multiPoint switched off, so that the text shows what happens and reads back
 * as the same. What must stay true: texts are quoted unless they are surely plain. */
#include "proto/kube/config/config_bus_events.h"
#include "proto/kube/config/config_file.h"
#include "proto/kube/config/config_internal.h"
#include "proto/kube/documents/yaml_scalar.h"

#include "proto/base/memory.h"

#include <string.h>

static void print_member(struct buffer *out, const char *name, struct str text)
{
    buffer_add_text(out, name);
    config_print_text(text, out);
    buffer_add_text(out, "\n");
}

static void print_span(struct buffer *out, const char *name, struct span span)
{
    buffer_add_text(out, name);
    config_duration_print(span, out);
    buffer_add_text(out, "\n");
}

/* "[a, b]" */
static void print_list(struct buffer *out, const struct strs *texts)
{
    buffer_add_text(out, "[");
    for (uint32_t i = 0; i < texts->count; i++) {
        if (i > 0)
            buffer_add_text(out, ", ");
        config_print_text(texts->at[i], out);
    }
    buffer_add_text(out, "]");
}

static void print_resources(struct buffer *out, const struct quantity *resources, uint32_t count)
{
    buffer_add_text(out, "[");
    for (uint32_t i = 0; i < count; i++) {
        buffer_add_text(out, i ? ", {name: " : "{name: ");
        config_print_text(resources[i].name, out);
        buffer_print(out, ", weight: %lld}", (long long)resources[i].amount);
    }
    buffer_add_text(out, "]\n");
}

/* ---- arguments ---- */

static void print_requirements(struct buffer *out, const char *name,
                               const struct requirement *requirements, uint32_t count)
{
    buffer_print(out, "%s: [", name);
    for (uint32_t i = 0; i < count; i++) {
        buffer_add_text(out, i ? ", {key: " : "{key: ");
        config_print_text(requirements[i].key, out);
        buffer_add_text(out, ", operator: ");
        config_print_text(requirements[i].operator_name, out);
        buffer_add_text(out, ", values: ");
        print_list(out, &requirements[i].values);
        buffer_add_text(out, "}");
    }
    buffer_add_text(out, "]");
}

static void print_term(struct buffer *out, const struct node_term *term)
{
    buffer_add_text(out, "{");
    print_requirements(out, "matchExpressions", term->expressions.at, term->expressions.count);
    buffer_add_text(out, ", ");
    print_requirements(out, "matchFields", term->fields.at, term->fields.count);
    buffer_add_text(out, "}");
}

static void print_affinity(struct buffer *out, const struct profile *p)
{
    buffer_add_text(out, "  - name: NodeAffinity\n    args:\n");
    if (!p->has_added_required && p->added_preferred.count == 0) {
        buffer_add_text(out, "      addedAffinity: null\n");
        return;
    }
    buffer_add_text(out, "      addedAffinity:\n");
    if (p->has_added_required)
        buffer_add_text(out, "        requiredDuringSchedulingIgnoredDuringExecution:\n"
                             "          nodeSelectorTerms:\n");
    for (uint32_t i = 0; i < p->added_required.count; i++) {
        buffer_add_text(out, "          - ");
        print_term(out, &p->added_required.at[i]);
        buffer_add_text(out, "\n");
    }
    if (p->added_preferred.count > 0)
        buffer_add_text(out, "        preferredDuringSchedulingIgnoredDuringExecution:\n");
    for (uint32_t i = 0; i < p->added_preferred.count; i++) {
        buffer_print(out, "        - weight: %lld\n          preference: ",
                     (long long)p->added_preferred.at[i].weight);
        print_term(out, &p->added_preferred.at[i].term);
        buffer_add_text(out, "\n");
    }
}

static void print_fit(struct buffer *out, const struct profile *p)
{
    buffer_add_text(out, "  - name: NodeResourcesFit\n    args:\n      ignoredResources: ");
    print_list(out, &p->fit_ignored_resources);
    buffer_add_text(out, "\n      ignoredResourceGroups: ");
    print_list(out, &p->fit_ignored_groups);
    buffer_add_text(out, "\n      scoringStrategy:\n");
    print_member(out, "        type: ", p->fit_strategy);
    buffer_add_text(out, "        resources: ");
    print_resources(out, p->fit_resources.at, p->fit_resources.count);
    if (p->fit_shape.count > 0)
        buffer_add_text(out, "        requestedToCapacityRatio:\n          shape:\n");
    for (uint32_t i = 0; i < p->fit_shape.count; i++)
        buffer_print(out, "          - {utilization: %lld, score: %lld}\n",
                     (long long)p->fit_shape.at[i].utilization,
                     (long long)p->fit_shape.at[i].score);
}

static void print_constraint(struct buffer *out, const struct spread_constraint *c,
                             const struct empty_fields *empty)
{
    buffer_print(out, "      - maxSkew: %lld\n", (long long)c->max_skew);
    print_member(out, "        topologyKey: ", c->topology_key);
    print_member(out, "        whenUnsatisfiable: ", c->when_unsatisfiable);
    if (c->min_domains != 0 || empty->min_domains)
        buffer_print(out, "        minDomains: %lld\n", (long long)c->min_domains);
    if (c->node_affinity_policy.len > 0)
        print_member(out, "        nodeAffinityPolicy: ",
                     empty->node_affinity_policy ? (struct str){0} : c->node_affinity_policy);
    if (c->node_taints_policy.len > 0 || empty->node_taints_policy)
        print_member(out, "        nodeTaintsPolicy: ", c->node_taints_policy);
    if (c->match_label_keys.count == 0)
        return;
    buffer_add_text(out, "        matchLabelKeys: ");
    print_list(out, &c->match_label_keys);
    buffer_add_text(out, "\n");
}

static void print_spread(struct buffer *out, const struct plugin_args *args)
{
    buffer_add_text(out, "  - name: PodTopologySpread\n    args:\n");
    print_member(out, "      defaultingType: ", args->spread_defaulting);
    buffer_add_text(out, args->spread_constraints.count ? "      defaultConstraints:\n"
                                                        : "      defaultConstraints: []\n");
    for (uint32_t i = 0; i < args->spread_constraints.count; i++)
        print_constraint(out, &args->spread_constraints.at[i], &args->spread_constraints.empty[i]);
}

static void print_rules(struct buffer *out, const char *plugin, const struct label_rule *at,
                        uint32_t count)
{
    if (count > 0)
        buffer_print(out, "  - name: %s\n    args:\n      rules:\n", plugin);
    for (uint32_t i = 0; i < count; i++) {
        buffer_add_text(out, "      - labels: ");
        print_list(out, &at[i].labels);
        buffer_print(out, "\n        presence: %s\n", at[i].presence ? "true" : "false");
    }
}

static void print_labels(struct buffer *out, const char *plugin, const struct strs *labels)
{
    if (labels->count == 0)
        return;
    buffer_print(out, "  - name: %s\n    args:\n      labels: ", plugin);
    print_list(out, labels);
    buffer_add_text(out, "\n");
}

/* Arguments of rules of the old Policy, if they have any. */
static void print_legacy(struct buffer *out, const struct profile *p)
{
    print_rules(out, "CheckNodeLabelPresence", p->label_presence.at, p->label_presence.count);
    print_labels(out, "CheckServiceAffinity", &p->service_affinity);
    print_rules(out, "NodeLabelPriority", p->label_preferences.at, p->label_preferences.count);
    print_labels(out, "ServiceAntiAffinity", &p->service_anti_affinity);
}

/* Where it is named, or its arguments are not the defaults: a file that does not know gangs is
 * printed without them. */
static void print_gangs(struct buffer *out, const struct profile *p)
{
    bool named = p->gangs == GANGS_on;
    bool victims = p->gang_victims != GANG_VICTIMS_pods;
    if (!named && !victims && p->gang_wait_s == 60 && p->gang_backoff_s == 0 &&
        p->gang_reject_percentage == 10)
        return;
    buffer_print(out,
                 "  - name: " CONFIG_GANG_PLUGIN "\n    args:\n"
                 "      permitWaitingTimeSeconds: %lld\n      podGroupBackoffSeconds: %lld\n"
                 "      podGroupRejectPercentage: %lld\n",
                 (long long)p->gang_wait_s, (long long)p->gang_backoff_s,
                 (long long)p->gang_reject_percentage);
    if (victims)
        print_member(out, "      gangVictims: ", words_text(&gang_victims_words, p->gang_victims));
}

static void print_bus(struct buffer *out, const struct profile *p)
{
    for (uint32_t i = 0; i < p->bus_plugins.count; i++) {
        const struct bus_plugin *b = &p->bus_plugins.at[i];
        print_member(out, "  - name: ", b->name);
        buffer_add_text(out, "    args:\n      apiVersion: " CONFIG_VERSION
                             "\n      kind: " CONFIG_BUS_KIND "\n");
        print_span(out, "      deadline: ", span_of_ms(b->deadline_ms));
        config_bus_events_print(b, out);
        buffer_print(out, "      failurePolicy: %s\n      nodeFacts: %.*s\n",
                     b->ignore ? "Ignore" : "Fail",
                     STR_ARG(words_text(&node_facts_told_words, b->facts)));
        print_span(out, "      permitTimeout: ", span_of_ms(b->permit_timeout_ms));
        buffer_add_text(out, b->hints ? "      queueingHints: true\n" : "");
        if (b->annotations.count == 0)
            continue;
        buffer_add_text(out, "      annotations: ");
        print_list(out, &b->annotations);
        buffer_add_text(out, "\n");
    }
}

void config_args_print(const struct profile *profile, const struct plugin_args *args,
                       struct buffer *out)
{
    print_gangs(out, profile);
    buffer_print(out,
                 "  - name: DefaultPreemption\n    args:\n"
                 "      minCandidateNodesPercentage: %lld\n      minCandidateNodesAbsolute: %lld\n",
                 (long long)args->preemption_percentage, (long long)args->preemption_absolute);
    buffer_add_text(out, "  - name: DynamicResources\n    args:\n");
    if (!args->no_claim_filter_timeout)
        print_span(out, "      filterTimeout: ", args->claim_filter_timeout);
    if (!args->no_claim_binding_timeout)
        print_span(out, "      bindingTimeout: ", args->claim_binding_timeout);
    buffer_print(out,
                 "  - name: InterPodAffinity\n    args:\n      hardPodAffinityWeight: %lld\n"
                 "      ignorePreferredTermsOfExistingPods: %s\n",
                 (long long)args->hard_pod_affinity_weight,
                 args->ignore_preferred_terms ? "true" : "false");
    print_affinity(out, profile);
    buffer_add_text(out, "  - name: NodeResourcesBalancedAllocation\n    args:\n      resources: ");
    print_resources(out, profile->balanced_resources.at, profile->balanced_resources.count);
    print_fit(out, profile);
    print_spread(out, args);
    buffer_print(out, "  - name: VolumeBinding\n    args:\n      bindTimeoutSeconds: %lld\n",
                 (long long)args->volume_bind_timeout_s);
    if (profile->volume_shape.count > 0)
        buffer_add_text(out, "      shape:\n");
    for (uint32_t i = 0; i < profile->volume_shape.count; i++)
        buffer_print(out, "      - {utilization: %lld, score: %lld}\n",
                     (long long)profile->volume_shape.at[i].utilization,
                     (long long)profile->volume_shape.at[i].score);
    print_legacy(out, profile);
    print_bus(out, profile);
}

/* ---- the file ---- */

static void print_points(struct buffer *out, const struct profile *profile,
                         const struct profile_details *details)
{
    buffer_add_text(out, "  plugins:\n    multiPoint:\n      disabled:\n      - name: \"*\"\n");
    if (profile->gangs == GANGS_off)
        buffer_add_text(out, "      - name: " CONFIG_GANG_PLUGIN "\n");
    for (int p = 0; p < POINT_COUNT; p++) {
        const struct strs *names = &details->points[p];
        if (names->count > 0)
            buffer_print(out, "    %s:\n      enabled:\n", config_point_field[p]);
        for (uint32_t i = 0; i < names->count; i++) {
            print_member(out, "      - name: ", names->at[i]);
            if (p == POINT_score)
                buffer_print(out, "        weight: %lld\n", (long long)profile->score.at[i].weight);
        }
    }
}

static void print_head(struct buffer *out, const struct scheduler_config *c)
{
    buffer_add_text(out, "apiVersion: " CONFIG_VERSION "\nkind: KubeSchedulerConfiguration\n"
                         "clientConnection:\n");
    print_member(out, "  acceptContentTypes: ", c->accept_content_types);
    buffer_print(out, "  burst: %lld\n", (long long)c->burst);
    print_member(out, "  contentType: ", c->content_type);
    print_member(out, "  kubeconfig: ", c->kubeconfig);
    buffer_print(out, "  qps: %.9g\n", c->qps);
    buffer_print(out, "delayCacheUntilActive: %s\nenableContentionProfiling: %s\n",
                 c->delay_cache ? "true" : "false", c->contention_profiling ? "true" : "false");
    buffer_print(out, "enableProfiling: %s\n", c->profiling ? "true" : "false");
    config_extenders_print(c, out);
    buffer_print(out, "leaderElection:\n  leaderElect: %s\n", c->leader_elect ? "true" : "false");
    print_span(out, "  leaseDuration: ", c->lease_duration);
    print_span(out, "  renewDeadline: ", c->renew_deadline);
    print_member(out, "  resourceLock: ", c->resource_lock);
    print_member(out, "  resourceName: ", c->lease_name);
    print_member(out, "  resourceNamespace: ", c->lease_namespace);
    print_span(out, "  retryPeriod: ", c->retry_period);
    buffer_print(out, "parallelism: %lld\npercentageOfNodesToScore: %lld\n",
                 (long long)c->parallelism, (long long)c->percentage_of_nodes_to_score);
    buffer_print(out, "podInitialBackoffSeconds: %lld\npodMaxBackoffSeconds: %lld\nprofiles:\n",
                 (long long)c->pod_initial_backoff_s, (long long)c->pod_max_backoff_s);
}

void scheduler_config_print(const struct scheduler_config *config, struct buffer *out)
{
    print_head(out, config);
    for (uint32_t i = 0; i < config->profiles.count; i++) {
        const struct profile *p = &config->profiles.at[i];
        print_member(out, "- schedulerName: ", p->scheduler_name);
        buffer_print(out, "  percentageOfNodesToScore: %lld\n  pluginConfig:\n",
                     (long long)p->percentage_of_nodes_to_score);
        config_args_print(p, &config->details[i].args, out);
        print_points(out, p, &config->details[i]);
    }
}
