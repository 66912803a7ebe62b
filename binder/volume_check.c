/* volume_check: upstream's rules for a volume and its claim, in upstream's order, and one of our
 * own. What must stay true: it asks nothing and keeps nothing; without a refusal, why is left as it
 * was. */
#include "binder/volume_check.h"
#include "proto/kube/objects/selector.h"

static bool is_chosen(const struct volume_check *q)
{
    return q->binding->volume_name.len > 0;
}

/* The in-tree disks that this check, unlike others, takes for what they are migrated to. */
static bool is_translated(struct str plugin)
{
    static const char *const plugins[] = {"kubernetes.io/aws-ebs", "kubernetes.io/gce-pd",
                                          "kubernetes.io/azure-disk", "kubernetes.io/cinder",
                                          "kubernetes.io/portworx-volume"};
    for (size_t i = 0; i < sizeof(plugins) / sizeof(plugins[0]); i++)
        if (str_is(plugin, plugins[i]))
            return true;
    return false;
}

static bool is_migrated(const struct volume_check *q)
{
    for (uint32_t i = 0; i < q->csi->migrated.count; i++)
        if (str_equal(q->csi->migrated.at[i], q->volume->migrated_plugin))
            return is_translated(q->volume->migrated_plugin);
    return false;
}

/* Whether the node can use the volume. */
static bool fits(const struct volume_check *q, struct buffer *why)
{
    const struct volume *v = q->volume;
    bool migrated = is_migrated(q);
    if (migrated && v->migration_problem.len > 0) {
        buffer_print(why, "%scould not translate pv: %.*s",
                     is_chosen(q) ? "failed to translate pv to csi: " : "",
                     STR_ARG(v->migration_problem));
        return false;
    }
    bool limited = migrated ? v->has_migrated_terms : v->has_terms;
    if (!limited ||
        (migrated ? node_labels_match(q->node, v->migrated_terms.at, v->migrated_terms.count)
                  : node_labels_match(q->node, v->terms.at, v->terms.count)))
        return true;
    buffer_print(why,
                 "pv \"%.*s\" node affinity doesn't match node \"%.*s\": no matching "
                 "NodeSelectorTerms",
                 STR_ARG(v->name), STR_ARG(q->node_name));
    return false;
}

/* Whether the volume is the claim's, as it was written. */
static bool is_reset(const struct volume_check *q, struct buffer *why)
{
    if (!is_chosen(q) || (q->volume->has_claim_ref && q->volume->claim_uid.len > 0))
        return false;
    buffer_print(why, "ClaimRef got reset for pv \"%.*s\"", STR_ARG(q->volume->name));
    return true;
}

/* Whether the claim got another volume, when it was decided on with an older view: then nobody has
 * looked whether the node can use that one. Upstream does not ask, and the pod would be bound
 * without a volume that its node can mount. */
static bool is_elsewhere(const struct volume_check *q, struct buffer *why)
{
    struct str bound = q->claim->volume_name;
    if (!is_chosen(q) || bound.len == 0 || str_equal(bound, q->volume->name))
        return false;
    buffer_print(why, "claim \"%.*s/%.*s\" is bound to pv \"%.*s\" by now, not to \"%.*s\"",
                 STR_ARG(q->binding->namespace_name), STR_ARG(q->binding->name), STR_ARG(bound),
                 STR_ARG(q->volume->name));
    return true;
}

enum volume_verdict volume_check(const struct volume_check *q, struct buffer *why)
{
    if (!fits(q, why) || is_reset(q, why) || is_elsewhere(q, why))
        return VOLUME_refused;
    return q->claim->volume_name.len > 0 && q->claim->bind_completed ? VOLUME_bound
                                                                     : VOLUME_not_yet;
}

bool volume_check_selected(const struct claim *claim, bool annotated,
                           const struct claim_binding *binding, struct str node_name,
                           struct buffer *why)
{
    bool selected = annotated && str_equal(claim->selected_node, node_name);
    if (!annotated)
        buffer_print(why, "selectedNode annotation reset for PVC \"%.*s\"", STR_ARG(binding->name));
    else if (!selected)
        buffer_print(why, "provisioning failed for PVC \"%.*s\"", STR_ARG(binding->name));
    return selected;
}
