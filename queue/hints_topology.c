/* hints_topology: the questions about spreading and about affinity to other pods. The one idea: a
 * pod that comes, goes or changes its labels matters only if the waiting pod's terms tell it from
 * others. What must stay true: namespace selectors are not expanded here, as upstream does not:
 * they are held against no labels at all. */
#include "queue/hint.h"

#include "proto/base/must.h"
#include "proto/kube/objects/selector.h"
#include "queue/owners.h"

/* ---- spreading ---- */

/* The hard constraints of a pod: its own, or those of its profile for pods that have none. */
struct constraints {
    const struct spread_constraint *at;
    uint32_t count;
    bool by_default; /* pods are then selected by what owns the pod */
    bool broken;     /* a selector of the pod's own makes no sense */
};

static bool is_hard(const struct spread_constraint *c)
{
    return str_is(c->when_unsatisfiable, "DoNotSchedule");
}

static bool any_hard(const struct spread_constraint *at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_hard(&at[i]))
            return true;
    return false;
}

static struct constraints default_constraints(const struct question *q)
{
    const struct profile *profile = q->around->profile;
    struct constraints none = {0};
    if (profile == NULL || profile->spread_system_defaults ||
        !any_hard(profile->spread_defaults.at, profile->spread_defaults.count) ||
        q->around->owners == NULL || !owners_select(q->around->owners, q->pod))
        return none;
    return (struct constraints){.at = profile->spread_defaults.at,
                                .count = profile->spread_defaults.count,
                                .by_default = true};
}

static struct constraints constraints_of(const struct question *q)
{
    const struct pod *pod = q->pod;
    if (pod->spread.count == 0)
        return default_constraints(q);
    struct constraints own = {.at = pod->spread.at, .count = pod->spread.count};
    for (uint32_t i = 0; i < own.count; i++)
        if (is_hard(&own.at[i]) && !label_selector_check(&own.at[i].selector, NULL))
            own.broken = true;
    return own;
}

/* Labels of the pod that counted pods must share, where the pod has them. */
static bool share_labels(const struct strs *keys, const struct pod *pod, const struct pod *other)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        struct str wanted, value;
        if (kube_label_find(pod->labels.at, pod->labels.count, keys->at[i], &wanted) &&
            (!kube_label_find(other->labels.at, other->labels.count, keys->at[i], &value) ||
             !str_equal(wanted, value)))
            return false;
    }
    return true;
}

/* MatchLabelKeysInPodTopologySpread. */
static bool keys_count(const struct question *q)
{
    const struct profile *profile = q->around->profile;
    return profile == NULL || profile->features.spread_label_keys;
}

static bool counts(const struct question *q, const struct constraints *all,
                   const struct spread_constraint *c, const struct pod *other)
{
    if (all->by_default)
        return owners_match(q->around->owners, q->pod, other);
    return label_selector_matches(&c->selector, other->labels.at, other->labels.count) &&
           (!keys_count(q) || share_labels(&c->match_label_keys, q->pod, other));
}

static bool any_counts(const struct question *q, const struct constraints *all,
                       const struct pod *other)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (is_hard(&all->at[i]) && counts(q, all, &all->at[i], other))
            return true;
    return false;
}

static bool is_involved(const struct question *q, const struct pod *other)
{
    return str_equal(other->uid, q->pod->uid) ||
           (hint_has_node(other) && str_equal(other->namespace_name, q->pod->namespace_name));
}

static bool same_labels(const struct pod *a, const struct pod *b)
{
    if (a->labels.count != b->labels.count)
        return false;
    for (uint32_t i = 0; i < a->labels.count; i++)
        if (!codec_equal(&label_record, &a->labels.at[i], &b->labels.at[i]))
            return false;
    return true;
}

static bool same_tolerations(const struct pod *a, const struct pod *b)
{
    if (a->tolerations.count != b->tolerations.count)
        return false;
    for (uint32_t i = 0; i < a->tolerations.count; i++)
        if (!codec_equal(&toleration_record, &a->tolerations.at[i], &b->tolerations.at[i]))
            return false;
    return true;
}

static bool honours_taints(const struct constraints *all)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (is_hard(&all->at[i]) && str_is(all->at[i].node_taints_policy, "Honor"))
            return true;
    return false;
}

/* A pod that counts has changed: does some constraint tell it from what it was? */
static bool spread_pod_changed(const struct question *q, const struct constraints *all)
{
    const struct pod *old = q->event->old_pod, *new = q->event->new_pod;
    if (str_equal(new->uid, q->pod->uid) && !same_tolerations(old, new) && honours_taints(all))
        return true;
    if (same_labels(old, new))
        return false;
    for (uint32_t i = 0; i < all->count; i++)
        if (is_hard(&all->at[i]) &&
            counts(q, all, &all->at[i], old) != counts(q, all, &all->at[i], new))
            return true;
    return false;
}

/* Since 1.37 these are not asked for: whoever waits with nonsense is not woken by them any more. */
static bool is_toleration_of_another(const struct question *q)
{
    return q->event->release >= 37 && q->event->action == EVENT_POD_TOLERATION && !hint_same_pod(q);
}

bool hint_spread_pod(const struct question *q)
{
    const struct pod *old = q->event->old_pod, *new = q->event->new_pod;
    must(old != NULL || new != NULL);
    if ((new != NULL && !is_involved(q, new)) || (old != NULL && !is_involved(q, old)))
        return false;
    if (is_toleration_of_another(q))
        return false;
    struct constraints all = constraints_of(q);
    if (all.broken)
        return true;
    if (old != NULL && new != NULL)
        return spread_pod_changed(q, &all);
    return any_counts(q, &all, new != NULL ? new : old);
}

static bool node_label(const struct node *node, struct str key, struct str *value)
{
    *value = (struct str){0};
    return kube_label_find(node->labels.at, node->labels.count, key, value);
}

static bool has_all_keys(const struct constraints *all, const struct node *node)
{
    struct str value;
    for (uint32_t i = 0; node != NULL && i < all->count; i++)
        if (is_hard(&all->at[i]) && !node_label(node, all->at[i].topology_key, &value))
            return false;
    return node != NULL;
}

static bool moved_domain(const struct constraints *all, const struct node *old,
                         const struct node *new)
{
    for (uint32_t i = 0; i < all->count; i++) {
        struct str before, now;
        if (!is_hard(&all->at[i]))
            continue;
        node_label(old, all->at[i].topology_key, &before);
        node_label(new, all->at[i].topology_key, &now);
        if (!str_equal(before, now))
            return true;
    }
    return false;
}

bool hint_spread_node(const struct question *q)
{
    const struct node *old = q->event->old_node, *new = q->event->new_node;
    struct constraints all = constraints_of(q);
    if (all.broken)
        return true;
    bool had = has_all_keys(&all, old), has = has_all_keys(&all, new);
    if (old == NULL || new == NULL)
        return had || has;
    if (had != has)
        return true;
    return has && (moved_domain(&all, old, new) || !event_same_taints(old, new));
}

/* ---- affinity ---- */

static bool terms_are_broken(const struct affinity_term *terms, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!label_selector_check(&terms[i].selector, NULL) ||
            !label_selector_check(&terms[i].namespace_selector, NULL))
            return true;
    return false;
}

static bool term_matches(const struct affinity_term *term, const struct pod *other)
{
    bool in = label_selector_matches(&term->namespace_selector, NULL, 0);
    for (uint32_t i = 0; !in && i < term->namespaces.count; i++)
        in = str_equal(term->namespaces.at[i], other->namespace_name);
    return in && label_selector_matches(&term->selector, other->labels.at, other->labels.count);
}

/* Whether all terms mean this pod; none mean nobody. */
static bool all_match(const struct affinity_term *terms, uint32_t count, const struct pod *other)
{
    for (uint32_t i = 0; i < count; i++)
        if (!term_matches(&terms[i], other))
            return false;
    return count > 0;
}

static bool any_matches(const struct affinity_term *terms, uint32_t count, const struct pod *other)
{
    for (uint32_t i = 0; i < count; i++)
        if (term_matches(&terms[i], other))
            return true;
    return false;
}

static bool wants(const struct pod *pod, const struct pod *other)
{
    return all_match(pod->affinity_required.at, pod->affinity_required.count, other);
}

/* Until 1.36 all terms had to mean it, though one is enough to keep the pod away. */
static bool avoids(const struct question *q, const struct pod *pod, const struct pod *other)
{
    const struct affinity_term *terms = pod->anti_affinity_required.at;
    uint32_t count = pod->anti_affinity_required.count;
    return q->event->release >= 37 ? any_matches(terms, count, other)
                                   : all_match(terms, count, other);
}

static bool has_broken_terms(const struct pod *pod)
{
    return terms_are_broken(pod->affinity_required.at, pod->affinity_required.count) ||
           terms_are_broken(pod->anti_affinity_required.at, pod->anti_affinity_required.count);
}

bool hint_affinity_pod(const struct question *q)
{
    const struct pod *pod = q->pod, *old = q->event->old_pod, *new = q->event->new_pod;
    must(old != NULL || new != NULL);
    if (old != NULL && hint_same_pod(q))
        return true;
    if ((new != NULL && !hint_has_node(new)) || (old != NULL && !hint_has_node(old)))
        return false;
    if (has_broken_terms(pod))
        return true;
    if (old != NULL && new != NULL)
        return (!wants(pod, old) && wants(pod, new)) ||
               (avoids(q, pod, old) && !avoids(q, pod, new));
    if (new != NULL)
        return wants(pod, new);
    return avoids(q, pod, old) || avoids(q, old, pod) ||
           terms_are_broken(old->anti_affinity_required.at, old->anti_affinity_required.count);
}

/* The node got the key, or another value for it. */
static bool joins_a_domain(const struct affinity_term *term, const struct question *q)
{
    struct str before, now;
    bool has = node_label(q->event->new_node, term->topology_key, &now);
    bool had =
        q->event->old_node != NULL && node_label(q->event->old_node, term->topology_key, &before);
    return has && (!had || !str_equal(before, now));
}

/* The node is new, or left the domain that it was in. */
static bool leaves_a_domain(const struct affinity_term *term, const struct question *q)
{
    struct str before, now;
    if (q->event->old_node == NULL)
        return true;
    bool had = node_label(q->event->old_node, term->topology_key, &before);
    bool has = node_label(q->event->new_node, term->topology_key, &now);
    return had && (!has || !str_equal(before, now));
}

bool hint_affinity_node(const struct question *q)
{
    const struct pod *pod = q->pod;
    if (has_broken_terms(pod))
        return true;
    for (uint32_t i = 0; i < pod->affinity_required.count; i++)
        if (joins_a_domain(&pod->affinity_required.at[i], q))
            return true;
    for (uint32_t i = 0; i < pod->anti_affinity_required.count; i++)
        if (leaves_a_domain(&pod->anti_affinity_required.at[i], q))
            return true;
    return false;
}
