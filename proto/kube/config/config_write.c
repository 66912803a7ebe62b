/* config_write: the configuration as kube-scheduler's --write-config-to has it. The one idea: a
 * tree of JSON with the members that upstream's types have, written as YAML by the same emitter, so
 * that the bytes are the same. What must stay true: what upstream omits when empty is omitted, what
 * it always writes is written. */
#include "proto/kube/config/config_file.h"
#include "proto/kube/config/config_internal.h"
#include "proto/kube/documents/base64.h"
#include "proto/kube/documents/json_build.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- members ---- */

static void put_true_if(cJSON *object, const char *name, bool truth)
{
    if (truth)
        json_add_bool(object, name, true);
}

static void put_span(cJSON *object, const char *name, struct span span)
{
    struct buffer text = {0};
    config_duration_print(span, &text);
    json_add_text(object, name, buffer_str(&text));
    buffer_free(&text);
}

static void put_bytes_if(cJSON *object, const char *name, struct str bytes)
{
    struct buffer text = {0};
    base64_encode(bytes, &text);
    if (bytes.len > 0)
        json_add_text(object, name, buffer_str(&text));
    buffer_free(&text);
}

/* Upstream keeps it in 32 bits, and writes no more digits than those hold. */
static void put_float(cJSON *object, const char *name, double number)
{
    char digits[64];
    for (int count = 1; count <= 9; count++) {
        snprintf(digits, sizeof(digits), "%.*g", count, number);
        if (strtof(digits, NULL) == (float)number)
            break;
    }
    json_add_raw(object, name, digits);
}

/* ---- arguments ---- */

static void put_resources(cJSON *object, const struct quantity *at, uint32_t count)
{
    cJSON *list = json_add_list(object, "resources");
    for (uint32_t i = 0; i < count; i++) {
        cJSON *item = json_add_item(list);
        json_add_text(item, "name", at[i].name);
        json_add_whole(item, "weight", at[i].amount);
    }
}

static void put_requirements(cJSON *term, const char *name, const struct requirement *at,
                             uint32_t count)
{
    cJSON *list = count > 0 ? json_add_list(term, name) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        cJSON *item = json_add_item(list);
        json_add_text(item, "key", at[i].key);
        json_add_text(item, "operator", at[i].operator_name);
        json_add_texts_if(item, "values", &at[i].values);
    }
}

static void put_term(cJSON *object, const struct node_term *term)
{
    put_requirements(object, "matchExpressions", term->expressions.at, term->expressions.count);
    put_requirements(object, "matchFields", term->fields.at, term->fields.count);
}

static void write_affinity(cJSON *args, const struct profile *p, const struct plugin_args *a)
{
    if (!a->has_added_affinity)
        return;
    cJSON *added = json_add_object(args, "addedAffinity");
    cJSON *list = p->added_preferred.count > 0
                      ? json_add_list(added, "preferredDuringSchedulingIgnoredDuringExecution")
                      : NULL;
    for (uint32_t i = 0; i < p->added_preferred.count; i++) {
        cJSON *item = json_add_item(list);
        put_term(json_add_object(item, "preference"), &p->added_preferred.at[i].term);
        json_add_whole(item, "weight", p->added_preferred.at[i].weight);
    }
    if (!p->has_added_required)
        return;
    cJSON *required = json_add_object(added, "requiredDuringSchedulingIgnoredDuringExecution");
    cJSON *terms = a->has_required_terms ? json_add_list(required, "nodeSelectorTerms")
                                         : json_add_null(required, "nodeSelectorTerms");
    for (uint32_t i = 0; i < p->added_required.count; i++)
        put_term(json_add_item(terms), &p->added_required.at[i]);
}

static void put_shape(cJSON *owner, const struct shape_point *at, uint32_t count)
{
    cJSON *shape = json_add_list(owner, "shape");
    for (uint32_t i = 0; i < count; i++) {
        cJSON *point = json_add_item(shape);
        json_add_whole(point, "utilization", at[i].utilization);
        json_add_whole(point, "score", at[i].score);
    }
}

static void write_fit(cJSON *args, const struct profile *p, const struct plugin_args *a)
{
    (void)a;
    json_add_texts_if(args, "ignoredResources", &p->fit_ignored_resources);
    json_add_texts_if(args, "ignoredResourceGroups", &p->fit_ignored_groups);
    cJSON *strategy = json_add_object(args, "scoringStrategy");
    json_add_text_if(strategy, "type", p->fit_strategy);
    put_resources(strategy, p->fit_resources.at, p->fit_resources.count);
    if (p->fit_shape.count > 0)
        put_shape(json_add_object(strategy, "requestedToCapacityRatio"), p->fit_shape.at,
                  p->fit_shape.count);
}

static void write_spread(cJSON *args, const struct profile *p, const struct plugin_args *a)
{
    (void)p;
    json_add_text(args, "defaultingType", a->spread_defaulting);
    cJSON *list =
        a->spread_constraints.count > 0 ? json_add_list(args, "defaultConstraints") : NULL;
    for (uint32_t i = 0; i < a->spread_constraints.count; i++) {
        const struct spread_constraint *c = &a->spread_constraints.at[i];
        const struct empty_fields *empty = &a->spread_constraints.empty[i];
        cJSON *item = json_add_item(list);
        json_add_whole(item, "maxSkew", c->max_skew);
        json_add_text(item, "topologyKey", c->topology_key);
        json_add_text(item, "whenUnsatisfiable", c->when_unsatisfiable);
        if (c->min_domains != 0 || empty->min_domains)
            json_add_whole(item, "minDomains", c->min_domains);
        if (empty->node_affinity_policy)
            json_add_text(item, "nodeAffinityPolicy", (struct str){0});
        else
            json_add_text_if(item, "nodeAffinityPolicy", c->node_affinity_policy);
        json_add_text_if(item, "nodeTaintsPolicy", c->node_taints_policy);
        if (empty->node_taints_policy)
            json_add_text(item, "nodeTaintsPolicy", (struct str){0});
        json_add_texts_if(item, "matchLabelKeys", &c->match_label_keys);
    }
}

static void write_preemption(cJSON *args, const struct profile *p, const struct plugin_args *a)
{
    (void)p;
    json_add_whole(args, "minCandidateNodesPercentage", a->preemption_percentage);
    json_add_whole(args, "minCandidateNodesAbsolute", a->preemption_absolute);
}

static void write_claims(cJSON *args, const struct profile *p, const struct plugin_args *a)
{
    (void)p;
    if (a->no_claim_filter_timeout)
        cJSON_AddNullToObject(args, "filterTimeout");
    else
        put_span(args, "filterTimeout", a->claim_filter_timeout);
    if (!a->no_claim_binding_timeout) /* upstream's field is left out, the other one is null */
        put_span(args, "bindingTimeout", a->claim_binding_timeout);
}

static void write_pod_affinity(cJSON *args, const struct profile *p, const struct plugin_args *a)
{
    (void)p;
    json_add_whole(args, "hardPodAffinityWeight", a->hard_pod_affinity_weight);
    json_add_bool(args, "ignorePreferredTermsOfExistingPods", a->ignore_preferred_terms);
}

static void write_balanced(cJSON *args, const struct profile *p, const struct plugin_args *a)
{
    (void)a;
    put_resources(args, p->balanced_resources.at, p->balanced_resources.count);
}

static void write_volume_binding(cJSON *args, const struct profile *p, const struct plugin_args *a)
{
    json_add_whole(args, "bindTimeoutSeconds", a->volume_bind_timeout_s);
    if (p->volume_shape.count > 0)
        put_shape(args, p->volume_shape.at, p->volume_shape.count);
}

/* Arguments of rules of the old Policy, which upstream does not know any more. */
static void put_rules(cJSON *args, const struct label_rule *at, uint32_t count)
{
    cJSON *list = json_add_list(args, "rules");
    for (uint32_t i = 0; i < count; i++) {
        cJSON *item = json_add_item(list);
        json_add_texts_if(item, "labels", &at[i].labels);
        json_add_bool(item, "presence", at[i].presence);
    }
}

static void write_presence(cJSON *args, const struct profile *p, const struct plugin_args *a)
{
    (void)a;
    put_rules(args, p->label_presence.at, p->label_presence.count);
}

static void write_preferences(cJSON *args, const struct profile *p, const struct plugin_args *a)
{
    (void)a;
    put_rules(args, p->label_preferences.at, p->label_preferences.count);
}

static void write_service(cJSON *args, const struct profile *p, const struct plugin_args *a)
{
    (void)a;
    json_add_texts_if(args, "labels", &p->service_affinity);
}

static void write_anti_service(cJSON *args, const struct profile *p, const struct plugin_args *a)
{
    (void)a;
    json_add_texts_if(args, "labels", &p->service_anti_affinity);
}

static void write_gangs(cJSON *args, const struct profile *p, const struct plugin_args *a)
{
    (void)a;
    if (p->gang_victims != GANG_VICTIMS_pods) /* ours: no other scheduler could read it */
        json_add_text(args, "gangVictims", words_text(&gang_victims_words, p->gang_victims));
    json_add_whole(args, "permitWaitingTimeSeconds", p->gang_wait_s);
    json_add_whole(args, "podGroupBackoffSeconds", p->gang_backoff_s);
    json_add_whole(args, "podGroupRejectPercentage", p->gang_reject_percentage);
}

/* Sorted by name, as upstream writes them. */
static const struct {
    const char *plugin;
    bool ours; /* not of upstream: no kind */
    void (*write)(cJSON *args, const struct profile *p, const struct plugin_args *a);
} writers[] = {
    {"CheckNodeLabelPresence", true, write_presence},
    {"CheckServiceAffinity", true, write_service},
    {CONFIG_GANG_PLUGIN, false, write_gangs},
    {"DefaultPreemption", false, write_preemption},
    {"DynamicResources", false, write_claims},
    {"InterPodAffinity", false, write_pod_affinity},
    {"NodeAffinity", false, write_affinity},
    {"NodeLabelPriority", true, write_preferences},
    {"NodeResourcesBalancedAllocation", false, write_balanced},
    {"NodeResourcesFit", false, write_fit},
    {"PodTopologySpread", false, write_spread},
    {"ServiceAntiAffinity", true, write_anti_service},
    {"VolumeBinding", false, write_volume_binding},
};

#define WRITER_COUNT (sizeof(writers) / sizeof(writers[0]))

static void write_known(cJSON *list, size_t writer, const struct profile *p,
                        const struct plugin_args *a)
{
    char kind[64];
    cJSON *item = json_add_item(list);
    cJSON *args = json_add_object(item, "args");
    snprintf(kind, sizeof(kind), "%sArgs", writers[writer].plugin);
    json_add_text(item, "name", str_of(writers[writer].plugin));
    writers[writer].write(args, p, a);
    if (writers[writer].ours)
        return;
    json_add_text(args, "apiVersion", str_of(CONFIG_VERSION));
    json_add_text(args, "kind", str_of(kind));
}

static void write_other(cJSON *list, const struct other_args *other)
{
    cJSON *item = json_add_item(list);
    json_add_text(item, "name", other->name);
    cJSON_AddItemToObject(item, "args", cJSON_ParseWithLength(other->json.at, other->json.len));
}

struct written {
    const struct profile *profile;
    const struct profile_details *details;
};

static bool is_known(const struct profile *p, struct str name)
{
    bool known = config_plugin_implements_any(name);
    for (uint32_t i = 0; i < p->bus_plugins.count; i++)
        known = known || str_equal(p->bus_plugins.at[i].name, name);
    return known;
}

/* Those whose names come before the next writer's; last: that of the former. */
static void write_others(cJSON *list, const struct written *of, struct str last, struct str next)
{
    const struct profile_details *d = of->details;
    for (;;) {
        const struct other_args *first = NULL;
        for (uint32_t i = 0; i < d->args.others.count; i++) {
            const struct other_args *o = &d->args.others.at[i];
            if (o->json.len > 0 && str_compare(o->name, last) > 0 &&
                is_known(of->profile, o->name) &&
                (next.len == 0 || str_compare(o->name, next) < 0) &&
                config_plugins_need(d->sets, o->name) &&
                (first == NULL || str_compare(o->name, first->name) < 0))
                first = o;
        }
        if (first == NULL)
            return;
        write_other(list, first);
        last = first->name;
    }
}

/* Sorted by name: those of plugins that the profile names, and among these of plugins that are
 * known. */
static void write_plugin_config(cJSON *profile, const struct profile *p,
                                const struct profile_details *d)
{
    cJSON *list = cJSON_CreateArray();
    const struct written of = {p, d};
    struct str last = {0};
    for (size_t i = 0; i < WRITER_COUNT; i++) {
        struct str name = str_of(writers[i].plugin);
        write_others(list, &of, last, name);
        bool victims = str_is(name, CONFIG_GANG_PLUGIN) &&
                       p->gang_victims != GANG_VICTIMS_pods; /* has effect unnamed, too */
        if (victims || config_plugins_need(d->sets, name))
            write_known(list, i, p, &d->args);
        last = name;
    }
    write_others(list, &of, last, (struct str){0});
    if (cJSON_GetArraySize(list) > 0)
        cJSON_AddItemToObject(profile, "pluginConfig", list);
    else
        cJSON_Delete(list);
}

/* ---- plugins ---- */

static void write_set(cJSON *plugins, const char *name, const struct plugin_set *set)
{
    cJSON *object = json_add_object(plugins, name);
    cJSON *enabled = set->enabled_count > 0 ? json_add_list(object, "enabled") : NULL;
    for (uint32_t i = 0; i < set->enabled_count; i++) {
        cJSON *item = json_add_item(enabled);
        json_add_text(item, "name", set->enabled[i].name);
        json_add_whole(item, "weight", set->enabled[i].weight);
    }
    cJSON *disabled = set->disabled.count > 0 ? json_add_list(object, "disabled") : NULL;
    for (uint32_t i = 0; i < set->disabled.count; i++) {
        cJSON *item = json_add_item(disabled);
        json_add_text(item, "name", set->disabled.at[i]);
        json_add_whole(item, "weight", 0);
    }
}

static void write_profiles(cJSON *root, const struct scheduler_config *c)
{
    cJSON *list = json_add_list(root, "profiles");
    for (uint32_t i = 0; i < c->profiles.count; i++) {
        const struct profile *p = &c->profiles.at[i];
        const struct profile_details *d = &c->details[i];
        cJSON *profile = json_add_item(list);
        json_add_text(profile, "schedulerName", p->scheduler_name);
        if (d->has_percentage)
            json_add_whole(profile, "percentageOfNodesToScore", p->percentage_of_nodes_to_score);
        write_plugin_config(profile, p, d);
        cJSON *plugins = json_add_object(profile, "plugins");
        for (int point = 0; point < POINT_COUNT; point++)
            if (config_point_exists(&c->features, (enum config_point)point))
                write_set(plugins, config_point_field[point], &d->sets->points[point]);
        write_set(plugins, "multiPoint", &d->sets->multi_point);
    }
}

/* ---- extenders ---- */

static void write_tls(cJSON *item, const struct extender_config *e)
{
    cJSON *tls = json_add_object(item, "tlsConfig");
    put_true_if(tls, "insecure", e->insecure);
    json_add_text_if(tls, "serverName", e->server_name);
    json_add_text_if(tls, "certFile", e->cert_file);
    json_add_text_if(tls, "keyFile", e->key_file);
    json_add_text_if(tls, "caFile", e->ca_file);
    put_bytes_if(tls, "certData", e->cert);
    put_bytes_if(tls, "keyData", e->key);
    put_bytes_if(tls, "caData", e->ca);
}

static void write_extenders(cJSON *root, const struct scheduler_config *c)
{
    cJSON *list = c->extenders.count > 0 ? json_add_list(root, "extenders") : NULL;
    for (uint32_t i = 0; i < c->extenders.count; i++) {
        const struct extender_config *e = &c->extenders.at[i];
        cJSON *item = json_add_item(list);
        json_add_text(item, "urlPrefix", e->url_prefix);
        json_add_text_if(item, "filterVerb", e->filter_verb);
        json_add_text_if(item, "preemptVerb", e->preempt_verb);
        json_add_text_if(item, "prioritizeVerb", e->prioritize_verb);
        json_add_text_if(item, "bindVerb", e->bind_verb);
        if (e->weight != 0)
            json_add_whole(item, "weight", e->weight);
        put_true_if(item, "enableHTTPS", e->https);
        if (e->has_tls)
            write_tls(item, e);
        put_span(item, "httpTimeout", e->http_timeout);
        put_true_if(item, "nodeCacheCapable", e->node_cache_capable);
        put_true_if(item, "ignorable", e->ignorable);
        cJSON *managed = e->managed.count > 0 ? json_add_list(item, "managedResources") : NULL;
        for (uint32_t m = 0; m < e->managed.count; m++) {
            cJSON *resource = json_add_item(managed);
            json_add_text(resource, "name", e->managed.at[m].name);
            put_true_if(resource, "ignoredByScheduler", e->managed.at[m].ignored);
        }
    }
}

/* ---- the whole ---- */

static void write_head(cJSON *root, const struct scheduler_config *c)
{
    json_add_text(root, "apiVersion", str_of(CONFIG_VERSION));
    json_add_text(root, "kind", str_of("KubeSchedulerConfiguration"));
    cJSON *connection = json_add_object(root, "clientConnection");
    json_add_text(connection, "acceptContentTypes", c->accept_content_types);
    json_add_whole(connection, "burst", c->burst);
    json_add_text(connection, "contentType", c->content_type);
    json_add_text(connection, "kubeconfig", c->kubeconfig);
    put_float(connection, "qps", c->qps);
    put_true_if(root, "delayCacheUntilActive", c->delay_cache);
    json_add_bool(root, "enableContentionProfiling", c->contention_profiling);
    json_add_bool(root, "enableProfiling", c->profiling);
    cJSON *leader = json_add_object(root, "leaderElection");
    json_add_bool(leader, "leaderElect", c->leader_elect);
    put_span(leader, "leaseDuration", c->lease_duration);
    put_span(leader, "renewDeadline", c->renew_deadline);
    put_span(leader, "retryPeriod", c->retry_period);
    json_add_text(leader, "resourceLock", c->resource_lock);
    json_add_text(leader, "resourceName", c->lease_name);
    json_add_text(leader, "resourceNamespace", c->lease_namespace);
    json_add_whole(root, "parallelism", c->parallelism);
    json_add_whole(root, "percentageOfNodesToScore", c->percentage_of_nodes_to_score);
    json_add_whole(root, "podInitialBackoffSeconds", c->pod_initial_backoff_s);
    json_add_whole(root, "podMaxBackoffSeconds", c->pod_max_backoff_s);
}

void scheduler_config_write_json(const struct scheduler_config *config, struct buffer *out)
{
    cJSON *root = json_build();
    write_head(root, config);
    write_profiles(root, config);
    write_extenders(root, config);
    json_build_print(out, root);
}

int64_t scheduler_config_hash(const struct scheduler_config *config)
{
    struct buffer text = {0};
    scheduler_config_print(config, &text);
    for (uint32_t i = 0; i < config->profiles.count; i++)
        if (config->profiles.at[i].gang_built_in) /* a flag, no field of the file */
            buffer_print(&text, "built-in gangs: %u\n", i);
    codec_encode(&features_record, &config->features, &text);
    int64_t hash = (int64_t)(str_hash(buffer_str(&text)) >> 1);
    buffer_free(&text);
    return hash != 0 ? hash : 1;
}

int64_t scheduler_config_extenders_hash(const struct scheduler_config *config)
{
    struct buffer text = {0};
    config_extenders_print(config, &text);
    int64_t hash = (int64_t)(str_hash(buffer_str(&text)) >> 1);
    buffer_free(&text);
    return hash;
}

void scheduler_config_write(const struct scheduler_config *config, struct buffer *out)
{
    struct buffer text = {0};
    scheduler_config_write_json(config, &text);
    struct kube_json *document = kube_json_parse(buffer_str(&text), NULL, NULL);
    must(document != NULL); /* what cJSON prints is JSON */
    kube_json_write_yaml(document, out);
    kube_json_free(&document);
    buffer_free(&text);
}
