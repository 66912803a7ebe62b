/* objects_affinity: what a pod asks of the pods around it. The one idea: terms and constraints keep
 * upstream's difference between a selector that is absent, which matches nothing, and an empty one,
 * which matches everything. What must stay true: namespaces are the pod's own only when the term
 * has neither names nor a namespace selector. */
#include "proto/kube/objects/objects_internal.h"

#define REQUIRED  "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

static struct affinity_term read_term(const struct cursor *at, const struct pod *pod)
{
    struct affinity_term term = {0};
    if (!cursor_is_object(at))
        return term;
    term.selector = object_selector(at, "labelSelector");
    term.namespaces = cursor_texts(at, "namespaces");
    term.namespace_selector = object_selector(at, "namespaceSelector");
    term.topology_key = cursor_text(at, "topologyKey");
    if (term.namespaces.count > 0 || term.namespace_selector.present)
        return term;
    term.namespaces.at = cursor_take(at, 1, sizeof(*term.namespaces.at));
    if (term.namespaces.at != NULL)
        term.namespaces.at[term.namespaces.count++] = pod->namespace_name;
    return term;
}

static struct affinity_term *read_required(const struct cursor *up, const struct pod *pod,
                                           uint32_t *count)
{
    struct cursor list = cursor_list(up, REQUIRED);
    size_t found = kube_json_count(list.value);
    struct affinity_term *out = found ? cursor_take(&list, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        out[(*count)++] = read_term(&i, pod);
    return out;
}

static struct affinity_term *read_preferred(const struct cursor *up, const struct pod *pod,
                                            uint32_t *count)
{
    struct cursor list = cursor_list(up, PREFERRED);
    size_t found = kube_json_count(list.value);
    struct affinity_term *out = found ? cursor_take(&list, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i)) {
        struct affinity_term *term = &out[(*count)++];
        if (!cursor_is_object(&i))
            continue;
        struct cursor inner = cursor_member(&i, "podAffinityTerm");
        *term = read_term(&inner, pod);
        term->weight = cursor_i32(&i, "weight");
    }
    return out;
}

void object_pod_affinity(const struct cursor *affinity, struct pod *pod)
{
    struct cursor with = cursor_object(affinity, "podAffinity");
    struct cursor against = cursor_object(affinity, "podAntiAffinity");
    pod->affinity_required.at = read_required(&with, pod, &pod->affinity_required.count);
    pod->affinity_preferred.at = read_preferred(&with, pod, &pod->affinity_preferred.count);
    pod->anti_affinity_required.at =
        read_required(&against, pod, &pod->anti_affinity_required.count);
    pod->anti_affinity_preferred.at =
        read_preferred(&against, pod, &pod->anti_affinity_preferred.count);
}

void object_spread(const struct cursor *spec, struct pod *pod)
{
    struct cursor list = cursor_list(spec, "topologySpreadConstraints");
    size_t found = kube_json_count(list.value);
    struct spread_constraint *out = found ? cursor_take(&list, found, sizeof(*out)) : NULL;
    pod->has_spread = found > 0;
    if (out == NULL)
        return;
    pod->spread.at = out;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            out[pod->spread.count++] = (struct spread_constraint){
                .max_skew = cursor_i32(&i, "maxSkew"),
                .topology_key = cursor_text(&i, "topologyKey"),
                .when_unsatisfiable = cursor_text(&i, "whenUnsatisfiable"),
                .selector = object_selector(&i, "labelSelector"),
                .min_domains = cursor_i32(&i, "minDomains"),
                .match_label_keys = cursor_texts(&i, "matchLabelKeys"),
                .node_affinity_policy = cursor_text(&i, "nodeAffinityPolicy"),
                .node_taints_policy = cursor_text(&i, "nodeTaintsPolicy")};
}
