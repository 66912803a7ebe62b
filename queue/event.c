/* event: compares two versions of an object and names the kinds of update between them.
 *
 * The one idea: most updates (heartbeats, our own status patches) help nobody, so an update counts
 * only by what it changed. What must stay true: the order of kinds is upstream's, since each is
 * moved by itself and the first that wakes a pod decides. Their labels are upstream's, too. */
#include "queue/event.h"

#include <stdio.h>

#define ACTIONS 16

/* Of Kubernetes, by their minor. */
#define SCALE_UP_SINCE   37
#define TARGETS_SINCE    37
#define PREEMPTION_SINCE 37

static void add(struct event_changes *changes, bool changed, uint32_t action)
{
    if (changed)
        changes->at[changes->count++] = action;
}

static bool labels_equal(uint32_t count_a, const struct label *a, uint32_t count_b,
                         const struct label *b)
{
    if (count_a != count_b)
        return false;
    for (uint32_t i = 0; i < count_a; i++)
        if (!str_equal(a[i].key, b[i].key) || !str_equal(a[i].value, b[i].value))
            return false;
    return true;
}

bool event_same_taints(const struct node *a, const struct node *b)
{
    if (a->taints.count != b->taints.count)
        return false;
    for (uint32_t i = 0; i < a->taints.count; i++)
        if (!codec_equal(&taint_record, &a->taints.at[i], &b->taints.at[i]))
            return false;
    return true;
}

static bool allocatable_equal(const struct node *a, const struct node *b)
{
    if (a->allocatable.count != b->allocatable.count)
        return false;
    for (uint32_t i = 0; i < a->allocatable.count; i++)
        if (!codec_equal(&quantity_record, &a->allocatable.at[i], &b->allocatable.at[i]))
            return false;
    return true;
}

bool event_same_strs(const struct strs *a, const struct strs *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!str_equal(a->at[i], b->at[i]))
            return false;
    return true;
}

/* Whatever their order. */
static bool same_conditions(const struct node *a, const struct node *b)
{
    if (a->conditions.count != b->conditions.count)
        return false;
    for (uint32_t i = 0; i < a->conditions.count; i++) {
        uint32_t k = 0;
        while (k < b->conditions.count &&
               !codec_equal(&label_record, &a->conditions.at[i], &b->conditions.at[k]))
            k++;
        if (k == b->conditions.count)
            return false;
    }
    return true;
}

/* Something that it took is taken less, or no more; the other way round it is scaled up. */
static bool scaled_down(const struct pod *before, const struct pod *after)
{
    for (uint32_t i = 0; i < before->usage.count; i++) {
        const struct quantity *old = &before->usage.at[i], *new = NULL;
        for (uint32_t k = 0; k < after->usage.count && new == NULL; k++)
            if (str_equal(old->name, after->usage.at[k].name))
                new = &after->usage.at[k];
        if (new == NULL || new->amount < old->amount)
            return true;
    }
    return false;
}

/* The claims that were made for it, as its status names them. */
static bool same_device_claims(const struct pod *a, const struct pod *b)
{
    if (a->device_claims.count != b->device_claims.count)
        return false;
    for (uint32_t i = 0; i < a->device_claims.count; i++)
        if (!codec_equal(&device_claim_record, &a->device_claims.at[i], &b->device_claims.at[i]))
            return false;
    return true;
}

struct event_changes event_assigned_changes(const struct pod *before, const struct pod *after,
                                            uint8_t release)
{
    struct event_changes changes = {0};
    add(&changes,
        !labels_equal(before->labels.count, before->labels.at, after->labels.count,
                      after->labels.at),
        EVENT_POD_LABEL);
    add(&changes, scaled_down(before, after), EVENT_POD_SCALE_DOWN);
    add(&changes, release >= SCALE_UP_SINCE && scaled_down(after, before), EVENT_POD_SCALE_UP);
    add(&changes, before->gates.count > 0 && after->gates.count == 0, EVENT_POD_GATES);
    /* Tolerations can only be added: upstream looks at their number alone. */
    add(&changes, before->tolerations.count != after->tolerations.count, EVENT_POD_TOLERATION);
    add(&changes, !same_device_claims(before, after), EVENT_POD_CLAIM);
    return changes;
}

/* The pod without what schedulers and kubelets write about it. */
static struct pod wishes(const struct pod *pod)
{
    struct pod w = *pod;
    w.resource_version = w.generation = w.started = 0;
    w.nominated_node = (struct str){NULL, 0};
    w.scheduled = (struct condition){0};
    w.condition_types = (struct strs){0, NULL};
    return w;
}

struct event_changes event_pending_changes(const struct pod *before, const struct pod *after,
                                           uint8_t release)
{
    struct event_changes changes = {0};
    struct pod old = wishes(before), new = wishes(after);
    if (codec_equal(&pod_record, &old, &new))
        return changes;
    changes = event_assigned_changes(before, after, release);
    add(&changes, changes.count == 0, EVENT_UPDATE);
    return changes;
}

struct event_changes event_node_changes(const struct node *before, const struct node *after,
                                        uint8_t release)
{
    struct event_changes changes = {0};
    add(&changes, before->unschedulable && !after->unschedulable, EVENT_NODE_TAINT);
    add(&changes, !allocatable_equal(before, after), EVENT_NODE_ALLOCATABLE);
    add(&changes,
        !labels_equal(before->labels.count, before->labels.at, after->labels.count,
                      after->labels.at),
        EVENT_NODE_LABEL);
    add(&changes, !event_same_taints(before, after), EVENT_NODE_TAINT);
    add(&changes, !same_conditions(before, after), EVENT_NODE_CONDITION);
    add(&changes,
        release >= PREEMPTION_SINCE &&
            !event_same_strs(&before->spares_from_resizes, &after->spares_from_resizes),
        EVENT_NODE_PREEMPTION);
    add(&changes, !event_same_strs(&before->features, &after->features), EVENT_NODE_FEATURE);
    return changes;
}

/* ---- its name ---- */

static const char *const resources[EVENT_RESOURCES + 1] = {
    [EVENT_OF_node] = "Node",
    [EVENT_OF_assigned_pod] = "AssignedPod",
    [EVENT_OF_unschedulable_pod] = "UnschedulablePod",
    [EVENT_OF_claim] = "PersistentVolumeClaim",
    [EVENT_OF_volume] = "PersistentVolume",
    [EVENT_OF_storage_class] = "storage.k8s.io/StorageClass",
    [EVENT_OF_csi_node] = "storage.k8s.io/CSINode",
    [EVENT_OF_csi_driver] = "storage.k8s.io/CSIDriver",
    [EVENT_OF_csi_capacity] = "storage.k8s.io/CSIStorageCapacity",
    [EVENT_OF_attachment] = "storage.k8s.io/VolumeAttachment",
    [EVENT_OF_resource_claim] = "resource.k8s.io/ResourceClaim",
    [EVENT_OF_resource_slice] = "resource.k8s.io/ResourceSlice",
    [EVENT_OF_device_class] = "resource.k8s.io/DeviceClass",
    [EVENT_OF_device_taint_rule] = "resource.k8s.io/ResourceSlice",
    [EVENT_RESOURCES] = "TargetPod",
};

static const struct {
    uint32_t action;
    const char *name;
} actions[ACTIONS] = {
    {EVENT_ADD, "Add"},
    {EVENT_DELETE, "Delete"},
    {EVENT_NODE_ALLOCATABLE, "UpdateNodeAllocatable"},
    {EVENT_NODE_LABEL, "UpdateNodeLabel"},
    {EVENT_NODE_TAINT, "UpdateNodeTaint"},
    {EVENT_NODE_CONDITION, "UpdateNodeCondition"},
    {EVENT_NODE_ANNOTATION, "UpdateNodeAnnotation"},
    {EVENT_NODE_FEATURE, "UpdateNodeDeclaredFeature"},
    {EVENT_NODE_PREEMPTION, "UpdateNodePreemptionPolicy"},
    {EVENT_POD_LABEL, "UpdatePodLabel"},
    {EVENT_POD_SCALE_DOWN, "UpdatePodScaleDown"},
    {EVENT_POD_SCALE_UP, "UpdatePodScaleUp"},
    {EVENT_POD_TOLERATION, "UpdatePodToleration"},
    {EVENT_POD_GATES, "UpdatePodSchedulingGatesEliminated"},
    {EVENT_POD_CLAIM, "UpdatePodGeneratedResourceClaim"},
    {EVENT_UPDATE, "Update"},
};

/* Of a pod that waits we tell what it is about itself. */
static size_t named(const struct event *event)
{
    bool target = event->resource == EVENT_OF_unschedulable_pod && event->release >= TARGETS_SINCE;
    return target ? EVENT_RESOURCES : event->resource;
}

const char *event_label(const struct event *event)
{
    static char labels[EVENT_RESOURCES + 1][ACTIONS][64];
    size_t action = 0, resource = named(event);
    if (event->wildcard)
        return "UnschedulableTimeout";
    while (action < ACTIONS - 1 && actions[action].action != event->action)
        action++;
    char *label = labels[resource][action];
    if (label[0] == 0)
        snprintf(label, sizeof(labels[0][0]), "%s%s", resources[resource], actions[action].name);
    return label;
}
