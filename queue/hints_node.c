/* hints_node: the questions about nodes. The one idea: an update helps when what the plugin
 * objected to does not hold any more and did before. What must stay true: the old node may be
 * missing, for a new one; the new one never is. */
#include "queue/hint.h"
#include "queue/mirror.h"

#include "proto/kube/objects/selector.h"
#include "proto/kube/objects/tolerations.h"

static int64_t amount_of(uint32_t count, const struct quantity *list, struct str name)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_equal(list[i].name, name))
            return list[i].amount;
    return 0;
}

/* ---- taints ---- */

static bool compares(const struct question *q)
{
    const struct profile *profile = q->around->profile;
    return profile != NULL && profile->features.toleration_comparison;
}

static bool pod_tolerates(const struct pod *pod, const struct taint *taint, bool comparison)
{
    for (uint32_t i = 0; i < pod->tolerations.count; i++)
        if (kube_tolerates(&pod->tolerations.at[i], taint, comparison))
            return true;
    return false;
}

static bool tolerates_node(const struct question *q, const struct node *node)
{
    for (uint32_t i = 0; i < node->taints.count; i++) {
        const struct taint *taint = &node->taints.at[i];
        bool hard = str_is(taint->effect, "NoSchedule") || str_is(taint->effect, "NoExecute");
        if (hard && !pod_tolerates(q->pod, taint, compares(q)))
            return false;
    }
    return true;
}

bool hint_taints_tolerated(const struct question *q)
{
    const struct node *old = q->event->old_node, *new = q->event->new_node;
    return (old == NULL || !tolerates_node(q, old)) && tolerates_node(q, new);
}

bool hint_node_opened(const struct question *q)
{
    const struct node *old = q->event->old_node, *new = q->event->new_node;
    return !new->unschedulable && (old == NULL || old->unschedulable);
}

bool hint_tolerates_unschedulable(const struct question *q)
{
    static const struct taint taint = {.key = {"node.kubernetes.io/unschedulable", 32},
                                       .effect = {"NoSchedule", 10}};
    return hint_same_pod(q) && pod_tolerates(q->event->new_pod, &taint, compares(q));
}

/* ---- room ---- */

static int64_t room_for(const struct node *node, const char *name)
{
    return amount_of(node->allocatable.count, node->allocatable.at, str_of(name));
}

/* A resource that the node does not have, and that a DeviceClass gives devices for. */
static bool is_delegated(const struct question *q, struct str name, const struct node *node)
{
    const struct mirror *mirror = q->around->mirror;
    return hint_classes_stand(q) && str_find(name, '/') >= 0 && mirror != NULL &&
           amount_of(node->allocatable.count, node->allocatable.at, name) <= 0 &&
           mirror_maps_resource(mirror, name);
}

static bool fits_empty(const struct question *q, const struct node *node)
{
    const struct pod *pod = q->pod;
    if (room_for(node, "pods") < 1)
        return false;
    for (uint32_t i = 0; i < pod->request.count; i++) {
        const struct quantity *want = &pod->request.at[i];
        if (want->amount > amount_of(node->allocatable.count, node->allocatable.at, want->name) &&
            !is_delegated(q, want->name, node))
            return false;
    }
    return true;
}

static bool room_grew(const struct question *q, const struct node *old, const struct node *new)
{
    const struct pod *pod = q->pod;
    if (room_for(new, "pods") > room_for(old, "pods"))
        return true;
    for (uint32_t i = 0; i < pod->request.count; i++) {
        const struct quantity *want = &pod->request.at[i];
        if (want->amount > 0 &&
            (amount_of(new->allocatable.count, new->allocatable.at, want->name) >
                 amount_of(old->allocatable.count, old->allocatable.at, want->name) ||
             is_delegated(q, want->name, new)))
            return true;
    }
    return false;
}

bool hint_node_has_room(const struct question *q)
{
    const struct node *old = q->event->old_node, *new = q->event->new_node;
    return hint_may_use(q, new->name) && fits_empty(q, new) &&
           (old == NULL || room_grew(q, old, new));
}

/* Its node lets pods be evicted for a resize, and did not before. */
bool hint_resizes_allowed(const struct question *q)
{
    const struct node *old = q->event->old_node, *new = q->event->new_node;
    return q->pod->resize_deferred && str_equal(q->pod->node_name, new->name) &&
           new->spares_from_resizes.count == 0 &&
           (old == NULL || old->spares_from_resizes.count > 0);
}

/* ---- node affinity ---- */

enum verdict_of_terms { TERMS_no, TERMS_yes, TERMS_broken };

/* Terms are ORed; one in error counts only when no other holds. */
static enum verdict_of_terms terms_hold(const struct node_term *terms, uint32_t count,
                                        const struct node *node)
{
    bool broken = false;
    for (uint32_t i = 0; i < count; i++) {
        if (node_term_matches(&terms[i], node, NULL))
            return TERMS_yes;
        broken = broken || !node_term_check(&terms[i], "", NULL);
    }
    return broken ? TERMS_broken : TERMS_no;
}

static enum verdict_of_terms pod_wants(const struct pod *pod, const struct node *node)
{
    for (uint32_t i = 0; i < pod->node_selector.count; i++) {
        struct str value;
        if (!kube_label_find(node->labels.at, node->labels.count, pod->node_selector.at[i].key,
                             &value) ||
            !str_equal(value, pod->node_selector.at[i].value))
            return TERMS_no;
    }
    if (!pod->has_required_terms)
        return TERMS_yes;
    return terms_hold(pod->required_terms.at, pod->required_terms.count, node);
}

/* The node is one that the pod wants, and was not before. */
bool hint_affinity_matched(const struct question *q)
{
    const struct profile *profile = q->around->profile;
    const struct node *old = q->event->old_node, *new = q->event->new_node;
    if (profile != NULL && profile->has_added_required &&
        terms_hold(profile->added_required.at, profile->added_required.count, new) != TERMS_yes)
        return false;
    enum verdict_of_terms now = pod_wants(q->pod, new);
    if (now != TERMS_yes)
        return now == TERMS_broken;
    return old == NULL || pod_wants(q->pod, old) != TERMS_yes;
}
