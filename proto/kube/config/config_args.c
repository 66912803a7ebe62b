/* config_args: the arguments of plugins. The one idea: one reader for each kind of arguments, which
 * begins with the defaults and then checks what the file says, in upstream's order. What must stay
 * true: strictness and texts are upstream's, also for plugins whose arguments have no effect here
 * yet; those get a note. */
#include "proto/kube/config/config_args.h"

#include "proto/kube/config/config_bus_events.h"
#include "proto/kube/objects/selector.h"
#include "proto/kube/objects/terms.h"

#include "proto/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- pieces ---- */

/* A number that may be absent. */
static int64_t number_or(const struct cursor *object, const char *name, int64_t otherwise)
{
    return config_has(object, name) ? cursor_i32(object, name) : otherwise;
}

static void fit_fault(const struct args_reader *r, const struct cursor *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fit_fault(const struct args_reader *r, const struct cursor *at, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if ((*r->fault_count)++ > 0)
        buffer_add_text(r->faults, ", ");
    cursor_path(at, r->faults);
    buffer_print(r->faults, ": %s", text);
}

/* Resources with weights; an empty list means cpu and memory, weight 0 means 1. */
static struct quantity *read_resources(const struct cursor *object, uint32_t *count)
{
    struct cursor list = cursor_list(object, "resources");
    size_t found = kube_json_count(list.value);
    struct quantity *out = cursor_take(&list, found ? found : 2, sizeof(*out));
    *count = 0;
    if (out == NULL)
        return NULL;
    if (found == 0) {
        out[(*count)++] = (struct quantity){STR_LITERAL("cpu"), 1};
        out[(*count)++] = (struct quantity){STR_LITERAL("memory"), 1};
    }
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i)) {
        if (!cursor_is_object(&i))
            continue;
        int64_t weight = cursor_i64(&i, "weight");
        out[(*count)++] = (struct quantity){cursor_text(&i, "name"), weight ? weight : 1};
    }
    return out;
}

static struct shape_point *read_shape(const struct cursor *object, uint32_t *count)
{
    struct cursor list = cursor_list(object, "shape");
    size_t found = kube_json_count(list.value);
    struct shape_point *out = found ? cursor_take(&list, found, sizeof(*out)) : NULL;
    *count = 0;
    for (struct cursor i = cursor_first(&list); out != NULL && i.value != NULL;
         i = cursor_next(&i)) {
        if (!cursor_is_object(&i))
            continue;
        out[(*count)++] = (struct shape_point){.utilization = cursor_i32(&i, "utilization"),
                                               .score = cursor_i32(&i, "score")};
    }
    return out;
}

/* The n-th item of the list `name`, and a member of it, for naming in errors. */
static struct cursor item_at(const struct cursor *list, size_t index)
{
    return (struct cursor){.reading = list->reading, .up = list, .index = index};
}

static bool in_range(int64_t value, int64_t least, int64_t most)
{
    return value >= least && value <= most;
}

/* A word out of some, ended by NULL; the first is the default. */
static uint32_t read_choice(const struct args_reader *r, const struct cursor *args,
                            const char *field, const struct words *set)
{
    struct cursor at = cursor_member(r->path, field);
    struct str word = cursor_text(args, field);
    struct buffer known = {0};
    uint32_t number;
    if (words_find(set, word, &number))
        return number > 0 ? number : 1;
    for (uint32_t i = 0; i < set->count; i++)
        buffer_print(&known, "%s\"%.*s\"", i > 0 ? ", " : "", STR_ARG(set->at[i].text));
    config_invalid(r->outer, &at, "Unsupported value: \"%.*s\": supported values: %s",
                   STR_ARG(word), known.at);
    buffer_free(&known);
    return 0;
}

/* ---- NodeResourcesFit ---- */

/* tell: where its faults go. */
static void check_shape(const struct args_reader *r, const struct cursor *owner,
                        const struct shape_point *shape, uint32_t count,
                        void (*tell)(const struct args_reader *r, const struct cursor *at,
                                     const char *format, ...))
{
    struct cursor list = cursor_member(owner, "shape");
    if (count == 0)
        tell(r, &list, "Required value: at least one point must be specified");
    for (uint32_t i = 1; i < count; i++)
        if (shape[i - 1].utilization >= shape[i].utilization) {
            struct cursor item = item_at(&list, i), at = cursor_member(&item, "utilization");
            tell(r, &at, "Invalid value: %lld: values must be sorted in increasing order",
                 (long long)shape[i].utilization);
            break;
        }
    for (uint32_t i = 0; i < count; i++) {
        struct cursor item = item_at(&list, i), at = cursor_member(&item, "utilization");
        if (!in_range(shape[i].utilization, 0, 100))
            tell(r, &at, "Invalid value: %lld: not in valid range [0, 100]",
                 (long long)shape[i].utilization);
        at = cursor_member(&item, "score");
        if (!in_range(shape[i].score, 0, 10))
            tell(r, &at, "Invalid value: %lld: not in valid range [0, 10]",
                 (long long)shape[i].score);
    }
}

static void check_names(const struct args_reader *r, const char *field, const struct strs *names,
                        bool groups)
{
    struct cursor root = cursor_root(&r->l->reading, NULL), list = cursor_member(&root, field);
    struct buffer why = {0};
    for (uint32_t i = 0; i < names->count; i++) {
        struct cursor at = item_at(&list, i);
        buffer_reset(&why);
        if (groups && str_find(names->at[i], '/') >= 0)
            fit_fault(r, &at, "Invalid value: \"%.*s\": resource group name can't contain '/'",
                      STR_ARG(names->at[i]));
        struct str reasons = {0}, reason;
        if (!kube_label_key_explain(names->at[i], &why))
            reasons = buffer_str(&why);
        while (str_split(&reasons, "; ", &reason))
            fit_fault(r, &at, "Invalid value: \"%.*s\": %.*s", STR_ARG(names->at[i]),
                      STR_ARG(reason));
    }
    buffer_free(&why);
}

static void check_strategy(const struct args_reader *r, const struct cursor *strategy)
{
    const struct profile *p = r->profile;
    struct cursor type = cursor_member(strategy, "type");
    struct cursor ratio = cursor_member(strategy, "requestedToCapacityRatio");
    struct cursor resources = cursor_member(strategy, "resources");
    bool by_ratio = str_is(p->fit_strategy, "RequestedToCapacityRatio");
    if (!by_ratio && !str_is(p->fit_strategy, "LeastAllocated") &&
        !str_is(p->fit_strategy, "MostAllocated"))
        fit_fault(r, &type,
                  "Unsupported value: \"%.*s\": supported values: \"LeastAllocated\", "
                  "\"MostAllocated\", \"RequestedToCapacityRatio\"",
                  STR_ARG(p->fit_strategy));
    for (uint32_t i = 0; i < p->fit_resources.count; i++) {
        const struct quantity *q = &p->fit_resources.at[i];
        struct cursor item = item_at(&resources, i), at = cursor_member(&item, "weight");
        if (!in_range(q->amount, 1, 100))
            fit_fault(r, &at,
                      "Invalid value: %lld: resource weight of %.*s not in valid range (0, 100]",
                      (long long)q->amount, STR_ARG(q->name));
    }
    if (by_ratio && ratio.value == NULL)
        fit_fault(r, &ratio,
                  "Required value: must be specified when type is RequestedToCapacityRatio");
    else if (by_ratio)
        check_shape(r, &ratio, r->profile->fit_shape.at, r->profile->fit_shape.count, fit_fault);
    else if (ratio.value != NULL)
        fit_fault(r, &ratio, "Forbidden: must be nil when type is not RequestedToCapacityRatio");
}

static void read_fit(const struct args_reader *r, const struct cursor *args)
{
    struct profile *p = r->profile;
    struct cursor strategy = cursor_object(args, "scoringStrategy");
    struct cursor ratio = cursor_object(&strategy, "requestedToCapacityRatio");
    p->fit_ignored_resources = cursor_texts(args, "ignoredResources");
    p->fit_ignored_groups = cursor_texts(args, "ignoredResourceGroups");
    p->fit_strategy =
        strategy.value ? cursor_text(&strategy, "type") : STR_LITERAL("LeastAllocated");
    p->fit_resources.at = read_resources(&strategy, &p->fit_resources.count);
    p->fit_shape.at = read_shape(&ratio, &p->fit_shape.count);
    if (!r->outer->ignores_by_extenders)
        check_names(r, "ignoredResources", &p->fit_ignored_resources, false);
    check_names(r, "ignoredResourceGroups", &p->fit_ignored_groups, true);
    check_strategy(r, &strategy);
}

/* ---- the other plugins of today ---- */

static void read_balanced(const struct args_reader *r, const struct cursor *args)
{
    struct profile *p = r->profile;
    struct cursor list = cursor_member(r->path, "resources");
    p->balanced_resources.at = read_resources(args, &p->balanced_resources.count);
    for (uint32_t i = 0; i < p->balanced_resources.count; i++) {
        const struct quantity *q = &p->balanced_resources.at[i];
        struct cursor item = item_at(&list, i);
        struct cursor name = cursor_member(&item, "name"), weight = cursor_member(&item, "weight");
        bool seen = false;
        for (uint32_t j = 0; j < i && j < PLUGIN_CONFIG_MAX; j++)
            seen = seen || str_equal(p->balanced_resources.at[j].name, q->name);
        if (seen)
            config_invalid(r->outer, &name, "Duplicate value: \"%.*s\"", STR_ARG(q->name));
        if (q->amount != 1)
            config_invalid(r->outer, &weight, "Invalid value: %lld: must be 1",
                           (long long)q->amount);
    }
}

/* Upstream collects all faults of the terms; terms without requirements are not looked at, nor are
 * preferred ones of weight 0. */
static void check_term(const struct args_reader *r, const struct cursor *list, uint32_t i,
                       const struct node_term *term)
{
    struct buffer path = {0}, faults = {0};
    struct cursor item = item_at(list, i);
    cursor_path(&item, &path);
    if (!node_term_check(term, path.at, &faults)) {
        uint32_t count = 0;
        for (const char *at = faults.at; (at = strstr(at, path.at)) != NULL; at += path.len)
            count++;
        config_invalid_text(r->outer, faults.at, count);
    }
    buffer_free(&path);
    buffer_free(&faults);
}

static void read_node_affinity(const struct args_reader *r, const struct cursor *args)
{
    static const char *const kinds[] = {"requiredDuringSchedulingIgnoredDuringExecution",
                                        "preferredDuringSchedulingIgnoredDuringExecution", NULL};
    struct profile *p = r->profile;
    struct cursor added = cursor_object(args, "addedAffinity");
    struct cursor required = cursor_object(&added, kinds[0]);
    struct cursor terms = cursor_list(&required, "nodeSelectorTerms");
    struct cursor preferred = cursor_list(&added, kinds[1]);
    r->args->has_added_affinity = added.value != NULL;
    r->args->has_required_terms = terms.value != NULL;
    p->has_added_required = required.value != NULL;
    p->added_required.at = kube_read_node_terms(&terms, &p->added_required.count);
    p->added_preferred.at = kube_read_preferred_terms(&preferred, &p->added_preferred.count);
    struct cursor path = cursor_member(r->path, "addedAffinity"),
                  a = cursor_member(&path, kinds[0]);
    struct cursor required_list = cursor_member(&a, "nodeSelectorTerms");
    struct cursor preferred_list = cursor_member(&path, kinds[1]);
    for (uint32_t i = 0; i < p->added_required.count; i++)
        check_term(r, &required_list, i, &p->added_required.at[i]);
    for (uint32_t i = 0; i < p->added_preferred.count; i++)
        if (p->added_preferred.at[i].weight != 0)
            check_term(r, &preferred_list, i, &p->added_preferred.at[i].term);
}

/* ---- plugins to come: read, checked, noted ---- */

static void read_preemption(const struct args_reader *r, const struct cursor *args)
{
    static const char *const names[] = {"minCandidateNodesPercentage", "minCandidateNodesAbsolute"};
    struct cursor percentage = cursor_member(r->path, names[0]);
    struct cursor absolute = cursor_member(r->path, names[1]);
    int64_t p = number_or(args, names[0], 10), n = number_or(args, names[1], 100);
    r->args->preemption_percentage = p;
    r->args->preemption_absolute = n;
    if (!in_range(p, 0, 100))
        config_invalid(r->outer, &percentage, "Invalid value: %lld: not in valid range [0, 100]",
                       (long long)p);
    if (n < 0)
        config_invalid(r->outer, &absolute, "Invalid value: %lld: not in valid range [0, inf)",
                       (long long)n);
    if (p == 0 && n == 0) {
        config_invalid(
            r->outer, &percentage,
            "Invalid value: 0: cannot be zero at the same time as minCandidateNodesAbsolute");
        config_invalid(
            r->outer, &absolute,
            "Invalid value: 0: cannot be zero at the same time as minCandidateNodesPercentage");
    }
    if (p != 10 || n != 100)
        config_note(r->outer, r->path,
                    "preemption looks at all nodes, whatever these say; extenders are shown so "
                    "many candidates");
}

static void read_pod_affinity(const struct args_reader *r, const struct cursor *args)
{
    static const char name[] = "hardPodAffinityWeight";
    struct cursor weight = cursor_member(r->path, name);
    r->args->hard_pod_affinity_weight = number_or(args, name, 1);
    r->args->has_hard_weight = config_has(args, name);
    r->args->ignore_preferred_terms = cursor_bool(args, "ignorePreferredTermsOfExistingPods");
    if (!in_range(r->args->hard_pod_affinity_weight, 0, 100))
        config_invalid(r->outer, &weight, "Invalid value: %lld: not in valid range [0, 100]",
                       (long long)r->args->hard_pod_affinity_weight);
}

static void check_choice(const struct args_reader *r, const struct cursor *at, struct str value,
                         const char *const two[2])
{
    if (value.len == 0)
        config_invalid(r->outer, at, "Required value: can not be empty");
    else if (!str_is(value, two[0]) && !str_is(value, two[1]))
        config_invalid(r->outer, at,
                       "Unsupported value: \"%.*s\": supported values: \"%s\", \"%s\"",
                       STR_ARG(value), two[0], two[1]);
}

static void check_constraint(const struct args_reader *r, const struct cursor *at, uint32_t index,
                             bool has_selector)
{
    static const char *const actions[2] = {"DoNotSchedule", "ScheduleAnyway"};
    const struct spread_constraint *all = r->args->spread_constraints.at, *c = &all[index];
    struct cursor skew = cursor_member(at, "maxSkew"), key = cursor_member(at, "topologyKey");
    struct cursor action = cursor_member(at, "whenUnsatisfiable");
    struct cursor selector = cursor_member(at, "labelSelector");
    struct buffer why = {0};
    if (c->max_skew <= 0)
        config_invalid(r->outer, &skew, "Invalid value: %lld: not in valid range (0, inf)",
                       (long long)c->max_skew);
    if (c->topology_key.len == 0)
        config_invalid(r->outer, &key, "Required value: can not be empty");
    else if (!kube_label_key_explain(c->topology_key, &why))
        config_invalid_each(r->outer, &key, c->topology_key, buffer_str(&why));
    check_choice(r, &action, c->when_unsatisfiable, actions);
    if (has_selector)
        config_invalid(r->outer, &selector,
                       "Forbidden: constraint must not define a selector, as they deduced for each "
                       "pod");
    for (uint32_t i = 0; i < index && i < PLUGIN_CONFIG_MAX; i++)
        if (str_equal(all[i].topology_key, c->topology_key) &&
            str_equal(all[i].when_unsatisfiable, c->when_unsatisfiable)) {
            config_invalid(r->outer, at, "Duplicate value: \"{%.*s, %.*s}\"",
                           STR_ARG(c->topology_key), STR_ARG(c->when_unsatisfiable));
            break;
        }
    buffer_free(&why);
}

static void read_constraint(const struct cursor *from, struct spread_constraint *c,
                            struct empty_fields *empty)
{
    *c = (struct spread_constraint){.max_skew = cursor_i32(from, "maxSkew"),
                                    .min_domains = cursor_i32(from, "minDomains"),
                                    .topology_key = cursor_text(from, "topologyKey"),
                                    .when_unsatisfiable = cursor_text(from, "whenUnsatisfiable"),
                                    .node_affinity_policy = cursor_text(from, "nodeAffinityPolicy"),
                                    .node_taints_policy = cursor_text(from, "nodeTaintsPolicy"),
                                    .match_label_keys = cursor_texts(from, "matchLabelKeys")};
    empty->min_domains = c->min_domains == 0 && config_has(from, "minDomains");
    empty->node_affinity_policy =
        c->node_affinity_policy.len == 0 && config_has(from, "nodeAffinityPolicy");
    empty->node_taints_policy =
        c->node_taints_policy.len == 0 && config_has(from, "nodeTaintsPolicy");
    if (empty->node_affinity_policy)
        c->node_affinity_policy = STR_LITERAL("Ignore");
}

static void read_constraints(const struct args_reader *r, const struct cursor *list)
{
    struct cursor path = cursor_member(r->path, "defaultConstraints");
    size_t found = kube_json_count(list->value);
    struct spread_constraint *out = found ? cursor_take(list, found, sizeof(*out)) : NULL;
    struct empty_fields *empty = found ? cursor_take(list, found, sizeof(*empty)) : NULL;
    r->args->spread_constraints.at = out;
    r->args->spread_constraints.empty = empty;
    r->args->spread_constraints.count = 0;
    for (struct cursor i = cursor_first(list); out != NULL && empty != NULL && i.value != NULL;
         i = cursor_next(&i)) {
        uint32_t n = r->args->spread_constraints.count++;
        if (!cursor_is_object(&i))
            continue;
        read_constraint(&i, &out[n], &empty[n]);
        struct cursor at = item_at(&path, n);
        check_constraint(r, &at, n, config_has(&i, "labelSelector"));
    }
}

static void read_spread(const struct args_reader *r, const struct cursor *args)
{
    struct cursor list = cursor_list(args, "defaultConstraints");
    struct cursor type = cursor_member(r->path, "defaultingType");
    struct str value = cursor_text(args, "defaultingType");
    if (value.len == 0)
        value = STR_LITERAL("System");
    r->args->spread_defaulting = value;
    if (!str_is(value, "System") && !str_is(value, "List"))
        config_invalid(r->outer, &type,
                       "Unsupported value: \"%.*s\": supported values: \"System\", \"List\"",
                       STR_ARG(value));
    else if (str_is(value, "System") && kube_json_count(list.value) > 0)
        config_invalid(r->outer, &type,
                       "Invalid value: \"System\": when .defaultConstraints are not empty");
    read_constraints(r, &list);
}

static void volume_fault(const struct args_reader *r, const struct cursor *at, const char *format,
                         ...) __attribute__((format(printf, 3, 4)));

static void volume_fault(const struct args_reader *r, const struct cursor *at, const char *format,
                         ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    config_invalid(r->outer, at, "%s", text);
}

static void refuse_shape(const struct args_reader *r, const struct shape_point *given,
                         uint32_t points)
{
    struct cursor shape = cursor_member(r->path, "shape");
    struct buffer text = {0};
    for (uint32_t i = 0; i < points; i++)
        buffer_print(&text, "%s{\"Utilization\":%lld,\"Score\":%lld}", i ? "," : "",
                     (long long)given[i].utilization, (long long)given[i].score);
    config_invalid(r->outer, &shape,
                   "Invalid value: [%s]: unexpected field `shape`, remove it or turn on the "
                   "feature gate StorageCapacityScoring",
                   text.len ? text.at : "");
    buffer_free(&text);
}

/* Without one the emptiest storage is the best. */
static void take_shape(const struct args_reader *r, const struct cursor *args,
                       struct shape_point *given, uint32_t points)
{
    struct profile *p = r->profile;
    struct shape_point *usual = points > 0 ? NULL : cursor_take(args, 2, sizeof(*usual));
    p->volume_shape.at = points > 0 ? given : usual;
    p->volume_shape.count = points;
    if (usual != NULL) {
        usual[0] = (struct shape_point){.utilization = 0, .score = 10};
        usual[1] = (struct shape_point){.utilization = 100, .score = 0};
        p->volume_shape.count = 2;
    }
    check_shape(r, r->path, p->volume_shape.at, p->volume_shape.count, volume_fault);
}

static void read_volume_binding(const struct args_reader *r, const struct cursor *args)
{
    static const char name[] = "bindTimeoutSeconds";
    struct cursor timeout = cursor_member(r->path, name);
    int64_t seconds = config_has(args, name) ? cursor_i64(args, name) : 600;
    uint32_t points = 0;
    r->args->volume_bind_timeout_s = seconds;
    r->args->has_bind_timeout = config_has(args, name);
    if (seconds < 0)
        config_invalid(r->outer, &timeout,
                       "Invalid value: %lld: invalid BindTimeoutSeconds, should not be a negative "
                       "value",
                       (long long)seconds);
    struct shape_point *given = read_shape(args, &points);
    if (r->outer->features.storage_capacity_scoring)
        take_shape(r, args, given, points);
    else if (config_has(args, "shape"))
        refuse_shape(r, given, points);
}

static void check_timeout(const struct args_reader *r, const char *name, struct span span,
                          struct span least)
{
    struct cursor at = cursor_member(r->path, name);
    struct buffer text = {0};
    config_duration_print(span, &text);
    if (span.ns < least.ns)
        config_invalid(r->outer, &at, "Invalid value: \"%s\": %s", text.at,
                       least.ns ? "must be at least 1 second" : "must be zero or positive");
    buffer_free(&text);
}

static void refuse_timeout(const struct args_reader *r, const struct cursor *args, const char *name,
                           const char *gate)
{
    struct cursor at = cursor_member(r->path, name);
    if (config_has(args, name))
        config_invalid(r->outer, &at, "Forbidden: %s feature gate is disabled", gate);
}

static void read_resource_claims(const struct args_reader *r, const struct cursor *args)
{
    const struct features *f = &r->outer->features;
    bool timed = f->device_filter_timeout, waits = f->device_binding && f->device_status;
    struct span filter = span_of_ms(timed ? 10000 : 0), binding = span_of_ms(waits ? 600000 : 0);
    r->args->claim_filter_timeout = config_duration(args, "filterTimeout", filter);
    r->args->claim_binding_timeout = config_duration(args, "bindingTimeout", binding);
    r->args->no_claim_filter_timeout = !timed;
    r->args->no_claim_binding_timeout = !waits;
    if (timed)
        check_timeout(r, "filterTimeout", r->args->claim_filter_timeout, span_of_ms(0));
    else
        refuse_timeout(r, args, "filterTimeout", "DRASchedulingFilterTimeout");
    if (waits)
        check_timeout(r, "bindingTimeout", r->args->claim_binding_timeout, span_of_ms(1000));
    else
        refuse_timeout(r, args, "bindingTimeout",
                       "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus");
}

static void read_gangs(const struct args_reader *r, const struct cursor *args)
{
    static const char *const names[] = {"permitWaitingTimeSeconds", "podGroupBackoffSeconds",
                                        "podGroupRejectPercentage"};
    struct profile *p = r->profile;
    p->gang_victims = (enum gang_victims)read_choice(r, args, "gangVictims", &gang_victims_words);
    p->gang_wait_s = config_has(args, names[0]) ? cursor_i64(args, names[0]) : 60;
    p->gang_backoff_s = config_has(args, names[1]) ? cursor_i64(args, names[1]) : 0;
    p->gang_reject_percentage = number_or(args, names[2], 10);
    const int64_t values[] = {p->gang_wait_s, p->gang_backoff_s, p->gang_reject_percentage};
    for (size_t i = 0; i < 3; i++) {
        struct cursor at = cursor_member(r->path, names[i]);
        if (!in_range(values[i], 0, i < 2 ? INT64_MAX : 100))
            config_invalid(r->outer, &at, "Invalid value: %lld: %s", (long long)values[i],
                           i < 2 ? "must be greater than 0" : "must be between 0 and 100");
    }
}

/* ---- rules of the old Policy ---- */

/* Lists of {labels, presence}. */
static struct label_rule *read_label_rules(const struct args_reader *r, const struct cursor *args,
                                           uint32_t *count)
{
    static const char *const fields[] = {"apiVersion", "kind", "rules", NULL};
    static const char *const rule_fields[] = {"labels", "presence", NULL};
    struct cursor list = cursor_list(args, "rules"), path = cursor_member(r->path, "rules");
    size_t found = kube_json_count(list.value);
    struct label_rule *out = found ? cursor_take(&list, found, sizeof(*out)) : NULL;
    config_only(r->l, args, fields);
    *count = 0;
    for (struct cursor i = cursor_first(&list); out != NULL && i.value != NULL;
         i = cursor_next(&i)) {
        if (!cursor_is_object(&i))
            continue;
        config_only(r->l, &i, rule_fields);
        struct cursor at = item_at(&path, *count), labels = cursor_member(&at, "labels");
        struct label_rule *rule = &out[(*count)++];
        *rule = (struct label_rule){cursor_texts(&i, "labels"), cursor_bool(&i, "presence")};
        if (rule->labels.count == 0)
            config_invalid(r->outer, &labels, "Required value: at least one label must be given");
    }
    return out;
}

static void read_label_presence(const struct args_reader *r, const struct cursor *args)
{
    r->profile->label_presence.at = read_label_rules(r, args, &r->profile->label_presence.count);
}

static void read_label_priority(const struct args_reader *r, const struct cursor *args)
{
    r->profile->label_preferences.at =
        read_label_rules(r, args, &r->profile->label_preferences.count);
}

static struct strs read_label_list(const struct args_reader *r, const struct cursor *args)
{
    static const char *const fields[] = {"apiVersion", "kind", "labels", NULL};
    config_only(r->l, args, fields);
    return cursor_texts(args, "labels");
}

static void read_service_affinity(const struct args_reader *r, const struct cursor *args)
{
    r->profile->service_affinity = read_label_list(r, args);
}

static void read_service_anti_affinity(const struct args_reader *r, const struct cursor *args)
{
    r->profile->service_anti_affinity = read_label_list(r, args);
}

/* ---- plugins that are processes on the bus ---- */

static int64_t read_wait(const struct args_reader *r, const struct cursor *args, const char *field,
                         int64_t otherwise_ms)
{
    struct cursor at = cursor_member(r->path, field);
    struct span span = config_duration(args, field, span_of_ms(otherwise_ms));
    struct buffer text = {0};
    config_duration_print(span, &text);
    if (span.ns < span_of_ms(1).ns || span.ns > span_of_ms(CONFIG_BUS_WAIT_MAX_MS).ns)
        config_invalid(r->outer, &at, "Invalid value: \"%s\": must be between 1ms and 15m0s",
                       text.at);
    buffer_free(&text);
    return span_ms(span);
}

/* It is a name on the bus, too. */
static void check_bus_name(const struct args_reader *r, struct str name)
{
    struct cursor at = cursor_member(r->path->up, "name");
    bool good = name.len > 0 && name.len <= CONFIG_BUS_NAME_MAX;
    for (uint32_t i = 0; good && i < name.len; i++)
        good = name.at[i] > ' ' && name.at[i] <= '~' && strchr("\"\\/", name.at[i]) == NULL;
    if (!good)
        config_invalid(r->outer, &at,
                       "Invalid value: \"%.*s\": a plugin on the bus has a name of 1 to %d "
                       "printable letters without blanks, quotes and slashes",
                       STR_ARG(name), CONFIG_BUS_NAME_MAX);
}

void config_args_read_bus(const struct args_reader *r, const struct cursor *args)
{
    static const struct words_entry policies[] = {{{"Fail", 4}, NULL}, {{"Ignore", 6}, NULL}};
    static const struct words policy_words = {"failurePolicy", policies, 2};
    struct profile *p = r->profile;
    struct bus_plugin *b = &p->bus_plugins.at[p->bus_plugins.count++];
    b->name = cursor_text(r->path->up, "name");
    check_bus_name(r, b->name);
    b->deadline_ms = read_wait(r, args, "deadline", 1000);
    b->ignore = read_choice(r, args, "failurePolicy", &policy_words) == 2;
    b->permit_timeout_ms = read_wait(r, args, "permitTimeout", 60000);
    b->facts = (enum node_facts_told)read_choice(r, args, "nodeFacts", &node_facts_told_words);
    b->annotations = cursor_texts(args, "annotations");
    config_bus_events_read(r, args, b);
}

/* ---- the table ---- */

const struct args_kind config_args_kinds[] = {
    {CONFIG_GANG_PLUGIN, read_gangs},
    {"DefaultPreemption", read_preemption},
    {"DynamicResources", read_resource_claims},
    {"InterPodAffinity", read_pod_affinity},
    {"NodeAffinity", read_node_affinity},
    {"NodeResourcesBalancedAllocation", read_balanced},
    {"NodeResourcesFit", read_fit},
    {"PodTopologySpread", read_spread},
    {"VolumeBinding", read_volume_binding},
    {"CheckNodeLabelPresence", read_label_presence},
    {"CheckServiceAffinity", read_service_affinity},
    {"NodeLabelPriority", read_label_priority},
    {"ServiceAntiAffinity", read_service_anti_affinity},
};

const size_t config_args_kind_count = sizeof(config_args_kinds) / sizeof(config_args_kinds[0]);
