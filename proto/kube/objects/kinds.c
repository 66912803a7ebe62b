/* kinds: the table of what is mirrored, a row a kind: where it is listed, how its objects become
 * messages, and under which key the mirror has them. The one idea: whoever follows objects knows
 * rows and no kind, so that one row adds a kind. What must stay true: a key is of one object, as
 * long as that lives. */
#include "proto/kube/objects/objects.h"

#include "proto/base/must.h"

#include <string.h>

/* ---- the stream ---- */

/* "pod/<uid>": the key of an object in the mirror. */
static bool make_key(const char *kind, struct str id, struct str *key, struct arena *a,
                     struct str *error)
{
    *key = arena_print(a, "%s/%.*s", kind, STR_ARG(id));
    if (key->at == NULL && error != NULL)
        *error = STR_LITERAL("too large");
    return key->at != NULL;
}

static bool set_pod(const struct kube_json *object, struct message *m, struct str *key,
                    struct arena *a, struct str *error)
{
    m->type = MSG_pod_set;
    if (!kube_object_pod(object, &m->pod_set.pod, a, error))
        return false;
    const struct pod *pod = &m->pod_set.pod;
    if (pod->uid.len == 0) {
        if (error != NULL)
            *error = arena_print(a, "Pod %.*s/%.*s: metadata.uid: must not be empty",
                                 STR_ARG(pod->namespace_name), STR_ARG(pod->name));
        return false;
    }
    return make_key("pod", pod->uid, key, a, error);
}

static void gone_pod(const struct message *last, struct message *m)
{
    const struct pod *pod = &last->pod_set.pod;
    *m = (struct message){
        .type = MSG_pod_gone,
        .pod_gone = {.uid = pod->uid, .namespace_name = pod->namespace_name, .name = pod->name}};
}

static bool set_node(const struct kube_json *object, struct message *m, struct str *key,
                     struct arena *a, struct str *error)
{
    m->type = MSG_node_set;
    return kube_object_node(object, &m->node_set.node, a, error) &&
           make_key("node", m->node_set.node.name, key, a, error);
}

static void gone_node(const struct message *last, struct message *m)
{
    *m = (struct message){.type = MSG_node_gone, .node_gone = {.name = last->node_set.node.name}};
}

static bool set_namespace(const struct kube_json *object, struct message *m, struct str *key,
                          struct arena *a, struct str *error)
{
    m->type = MSG_namespace_set;
    return kube_object_namespace(object, &m->namespace_set, a, error) &&
           make_key("namespace", m->namespace_set.name, key, a, error);
}

static void gone_namespace(const struct message *last, struct message *m)
{
    *m = (struct message){.type = MSG_namespace_gone,
                          .namespace_gone = {.name = last->namespace_set.name}};
}

/* ---- what objects 23, 70 to 78, 80 and 83 to 85 share: their deletion has one message ---- */

/* Which object a message is about. */
struct identity {
    const char *prefix; /* of its key in the mirror */
    enum object_kind kind;
    struct str space, name;
};

static struct identity identify(const struct message *m)
{
    const struct claim *claim = &m->claim_set.claim;
    const struct csi_capacity *capacity = &m->csi_capacity_set.csi_capacity;
    const struct owner *owner = &m->owner_set.owner;
    const struct budget *budget = &m->budget_set.budget;
    const struct resource_claim *devices = &m->resource_claim_set.resource_claim;
    const struct gang *group = &m->pod_group_set.group;
    const struct device_taint_rule *rule = &m->device_taint_rule_set.rule;
    const struct str nowhere = {0};
    switch (m->type) {
    case MSG_claim_set:
        return (struct identity){"claim", OBJECT_claim, claim->namespace_name, claim->name};
    case MSG_resource_claim_set:
        return (struct identity){"resource-claim", OBJECT_resource_claim, devices->namespace_name,
                                 devices->name};
    case MSG_resource_slice_set:
        return (struct identity){"resource-slice", OBJECT_resource_slice, nowhere,
                                 m->resource_slice_set.slice.name};
    case MSG_device_class_set:
        return (struct identity){"device-class", OBJECT_device_class, nowhere,
                                 m->device_class_set.device_class.name};
    case MSG_device_taint_rule_set:
        return (struct identity){"device-taint-rule", OBJECT_device_taint_rule, nowhere,
                                 rule->name};
    case MSG_volume_set:
        return (struct identity){"volume", OBJECT_volume, nowhere, m->volume_set.volume.name};
    case MSG_storage_class_set:
        return (struct identity){"storage-class", OBJECT_storage_class, nowhere,
                                 m->storage_class_set.storage_class.name};
    case MSG_csi_node_set:
        return (struct identity){"csi-node", OBJECT_csi_node, nowhere,
                                 m->csi_node_set.csi_node.name};
    case MSG_csi_driver_set:
        return (struct identity){"csi-driver", OBJECT_csi_driver, nowhere,
                                 m->csi_driver_set.csi_driver.name};
    case MSG_csi_capacity_set:
        return (struct identity){"csi-capacity", OBJECT_csi_capacity, capacity->namespace_name,
                                 capacity->name};
    case MSG_attachment_set:
        return (struct identity){"attachment", OBJECT_attachment, nowhere,
                                 m->attachment_set.attachment.name};
    case MSG_owner_set:
        return (struct identity){"owner", owner->kind, owner->namespace_name, owner->name};
    case MSG_budget_set:
        return (struct identity){"budget", OBJECT_budget, budget->namespace_name, budget->name};
    case MSG_pod_group_set:
        return (struct identity){"pod-group", OBJECT_pod_group, group->namespace_name, group->name};
    default: must(!"a message of an object"); return (struct identity){0};
    }
}

/* "owner/Service/ns/name": owners of different kinds may have the same name, and so may PodGroups
 * of different API groups. */
static bool object_key(const struct message *m, struct str *key, struct arena *a, struct str *error)
{
    struct identity who = identify(m);
    struct str id = who.name;
    if (who.space.len > 0)
        id = arena_print(a, "%.*s/%.*s", STR_ARG(who.space), STR_ARG(who.name));
    if (m->type == MSG_owner_set && id.at != NULL)
        id = arena_print(a, "%.*s/%.*s", STR_ARG(words_text(&object_kind_words, who.kind)),
                         STR_ARG(id));
    if (m->type == MSG_pod_group_set && id.at != NULL)
        id = arena_print(a, "%.*s/%.*s", STR_ARG(m->pod_group_set.group.api), STR_ARG(id));
    return make_key(who.prefix, id, key, a, error);
}

static void gone_object(const struct message *last, struct message *m)
{
    struct identity who = identify(last);
    *m = (struct message){
        .type = MSG_object_gone,
        .object_gone = {.kind = who.kind, .namespace_name = who.space, .name = who.name}};
    if (last->type == MSG_pod_group_set)
        m->object_gone.api = last->pod_group_set.group.api;
}

static bool set_claim(const struct kube_json *object, struct message *m, struct str *key,
                      struct arena *a, struct str *error)
{
    m->type = MSG_claim_set;
    return kube_object_claim(object, &m->claim_set.claim, a, error) && object_key(m, key, a, error);
}

static bool set_resource_claim(const struct kube_json *object, struct message *m, struct str *key,
                               struct arena *a, struct str *error)
{
    m->type = MSG_resource_claim_set;
    return kube_object_resource_claim(object, &m->resource_claim_set.resource_claim, a, error) &&
           object_key(m, key, a, error);
}

static bool set_resource_slice(const struct kube_json *object, struct message *m, struct str *key,
                               struct arena *a, struct str *error)
{
    m->type = MSG_resource_slice_set;
    return kube_object_resource_slice(object, &m->resource_slice_set.slice, a, error) &&
           object_key(m, key, a, error);
}

static bool set_device_class(const struct kube_json *object, struct message *m, struct str *key,
                             struct arena *a, struct str *error)
{
    m->type = MSG_device_class_set;
    return kube_object_device_class(object, &m->device_class_set.device_class, a, error) &&
           object_key(m, key, a, error);
}

static bool set_device_taint_rule(const struct kube_json *object, struct message *m,
                                  struct str *key, struct arena *a, struct str *error)
{
    m->type = MSG_device_taint_rule_set;
    return kube_object_device_taint_rule(object, &m->device_taint_rule_set.rule, a, error) &&
           object_key(m, key, a, error);
}

static bool set_volume(const struct kube_json *object, struct message *m, struct str *key,
                       struct arena *a, struct str *error)
{
    m->type = MSG_volume_set;
    return kube_object_volume(object, &m->volume_set.volume, a, error) &&
           object_key(m, key, a, error);
}

static bool set_storage_class(const struct kube_json *object, struct message *m, struct str *key,
                              struct arena *a, struct str *error)
{
    m->type = MSG_storage_class_set;
    return kube_object_storage_class(object, &m->storage_class_set.storage_class, a, error) &&
           object_key(m, key, a, error);
}

static bool set_csi_node(const struct kube_json *object, struct message *m, struct str *key,
                         struct arena *a, struct str *error)
{
    m->type = MSG_csi_node_set;
    return kube_object_csi_node(object, &m->csi_node_set.csi_node, a, error) &&
           object_key(m, key, a, error);
}

static bool set_csi_driver(const struct kube_json *object, struct message *m, struct str *key,
                           struct arena *a, struct str *error)
{
    m->type = MSG_csi_driver_set;
    return kube_object_csi_driver(object, &m->csi_driver_set.csi_driver, a, error) &&
           object_key(m, key, a, error);
}

static bool set_csi_capacity(const struct kube_json *object, struct message *m, struct str *key,
                             struct arena *a, struct str *error)
{
    m->type = MSG_csi_capacity_set;
    return kube_object_csi_capacity(object, &m->csi_capacity_set.csi_capacity, a, error) &&
           object_key(m, key, a, error);
}

static bool set_attachment(const struct kube_json *object, struct message *m, struct str *key,
                           struct arena *a, struct str *error)
{
    m->type = MSG_attachment_set;
    return kube_object_attachment(object, &m->attachment_set.attachment, a, error) &&
           object_key(m, key, a, error);
}

/* The kind is the list's: the objects in it do not say it. */
static bool set_service(const struct kube_json *object, struct message *m, struct str *key,
                        struct arena *a, struct str *error)
{
    m->type = MSG_owner_set;
    return kube_object_owner(object, OBJECT_service, &m->owner_set.owner, a, error) &&
           object_key(m, key, a, error);
}

static bool set_replication_controller(const struct kube_json *object, struct message *m,
                                       struct str *key, struct arena *a, struct str *error)
{
    m->type = MSG_owner_set;
    return kube_object_owner(object, OBJECT_replication_controller, &m->owner_set.owner, a,
                             error) &&
           object_key(m, key, a, error);
}

static bool set_replica_set(const struct kube_json *object, struct message *m, struct str *key,
                            struct arena *a, struct str *error)
{
    m->type = MSG_owner_set;
    return kube_object_owner(object, OBJECT_replica_set, &m->owner_set.owner, a, error) &&
           object_key(m, key, a, error);
}

static bool set_stateful_set(const struct kube_json *object, struct message *m, struct str *key,
                             struct arena *a, struct str *error)
{
    m->type = MSG_owner_set;
    return kube_object_owner(object, OBJECT_stateful_set, &m->owner_set.owner, a, error) &&
           object_key(m, key, a, error);
}

static bool set_budget(const struct kube_json *object, struct message *m, struct str *key,
                       struct arena *a, struct str *error)
{
    m->type = MSG_budget_set;
    return kube_object_budget(object, &m->budget_set.budget, a, error) &&
           object_key(m, key, a, error);
}

static bool set_plugins_group(const struct kube_json *object, struct message *m, struct str *key,
                              struct arena *a, struct str *error)
{
    m->type = MSG_pod_group_set;
    return kube_object_pod_group(object, KUBE_GANG_PLUGINS, &m->pod_group_set.group, a, error) &&
           object_key(m, key, a, error);
}

static bool set_sigs_group(const struct kube_json *object, struct message *m, struct str *key,
                           struct arena *a, struct str *error)
{
    m->type = MSG_pod_group_set;
    return kube_object_pod_group(object, KUBE_GANG_SIGS, &m->pod_group_set.group, a, error) &&
           object_key(m, key, a, error);
}

static bool set_built_in_group(const struct kube_json *object, struct message *m, struct str *key,
                               struct arena *a, struct str *error)
{
    m->type = MSG_pod_group_set;
    return kube_object_pod_group(object, KUBE_GANG_BUILT_IN, &m->pod_group_set.group, a, error) &&
           object_key(m, key, a, error);
}

static bool set_composite_group(const struct kube_json *object, struct message *m, struct str *key,
                                struct arena *a, struct str *error)
{
    m->type = MSG_pod_group_set;
    return kube_object_composite_group(object, &m->pod_group_set.group, a, error) &&
           object_key(m, key, a, error);
}

/* Kubernetes 1.36 has the last one alone, and 1.37 the others. */
static const char *const older_groups[] = {"/apis/scheduling.k8s.io/v1alpha3/podgroups",
                                           "/apis/scheduling.k8s.io/v1alpha2/podgroups", NULL};

/* As Kubernetes 1.36 has them, if it is told to. */
static const char *const older_rules[] = {"/apis/resource.k8s.io/v1beta2/devicetaintrules", NULL};

/* One row a mirrored kind. */
const struct kube_resource kube_resources[] = {
    {"nodes", "Node", "/api/v1/nodes", "", true, set_node, gone_node, KUBE_always, NULL},
    {"pods", "Pod", "/api/v1/pods", "status.phase!=Succeeded,status.phase!=Failed", true, set_pod,
     gone_pod, KUBE_always, NULL},
    {"namespaces", "Namespace", "/api/v1/namespaces", "", false, set_namespace, gone_namespace,
     KUBE_always, NULL},
    {"persistentvolumeclaims", "PersistentVolumeClaim", "/api/v1/persistentvolumeclaims", "", false,
     set_claim, gone_object, KUBE_always, NULL},
    {"persistentvolumes", "PersistentVolume", "/api/v1/persistentvolumes", "", false, set_volume,
     gone_object, KUBE_always, NULL},
    {"storageclasses", "StorageClass", "/apis/storage.k8s.io/v1/storageclasses", "", false,
     set_storage_class, gone_object, KUBE_always, NULL},
    {"csinodes", "CSINode", "/apis/storage.k8s.io/v1/csinodes", "", false, set_csi_node,
     gone_object, KUBE_always, NULL},
    {"csidrivers", "CSIDriver", "/apis/storage.k8s.io/v1/csidrivers", "", false, set_csi_driver,
     gone_object, KUBE_always, NULL},
    {"csistoragecapacities", "CSIStorageCapacity", "/apis/storage.k8s.io/v1/csistoragecapacities",
     "", false, set_csi_capacity, gone_object, KUBE_always, NULL},
    {"volumeattachments", "VolumeAttachment", "/apis/storage.k8s.io/v1/volumeattachments", "",
     false, set_attachment, gone_object, KUBE_always, NULL},
    {"services", "Service", "/api/v1/services", "", false, set_service, gone_object, KUBE_always,
     NULL},
    {"replicationcontrollers", "ReplicationController", "/api/v1/replicationcontrollers", "", false,
     set_replication_controller, gone_object, KUBE_always, NULL},
    {"replicasets", "ReplicaSet", "/apis/apps/v1/replicasets", "", false, set_replica_set,
     gone_object, KUBE_always, NULL},
    {"statefulsets", "StatefulSet", "/apis/apps/v1/statefulsets", "", false, set_stateful_set,
     gone_object, KUBE_always, NULL},
    {"poddisruptionbudgets", "PodDisruptionBudget", "/apis/policy/v1/poddisruptionbudgets", "",
     false, set_budget, gone_object, KUBE_always, NULL},
    {"resourceclaims", "ResourceClaim", "/apis/resource.k8s.io/v1/resourceclaims", "", false,
     set_resource_claim, gone_object, KUBE_maybe_decisive, NULL},
    {"deviceclasses", "DeviceClass", "/apis/resource.k8s.io/v1/deviceclasses", "", false,
     set_device_class, gone_object, KUBE_maybe, NULL},
    {"resourceslices", "ResourceSlice", "/apis/resource.k8s.io/v1/resourceslices", "", false,
     set_resource_slice, gone_object, KUBE_maybe, NULL},
    {"devicetaintrules", "DeviceTaintRule", "/apis/resource.k8s.io/v1/devicetaintrules", "", false,
     set_device_taint_rule, gone_object, KUBE_maybe, older_rules},
    {"podgroups.scheduling.x-k8s.io", "PodGroup", "/apis/scheduling.x-k8s.io/v1alpha1/podgroups",
     "", false, set_plugins_group, gone_object, KUBE_custom, NULL},
    {"podgroups.scheduling.sigs.k8s.io", "PodGroup",
     "/apis/scheduling.sigs.k8s.io/v1alpha1/podgroups", "", false, set_sigs_group, gone_object,
     KUBE_custom, NULL},
    {"podgroups", "PodGroup", "/apis/scheduling.k8s.io/v1beta1/podgroups", "", false,
     set_built_in_group, gone_object, KUBE_custom, older_groups},
    {"compositepodgroups", "CompositePodGroup",
     "/apis/scheduling.k8s.io/v1alpha3/compositepodgroups", "", false, set_composite_group,
     gone_object, KUBE_tree, NULL},
};

const size_t kube_resource_count = sizeof(kube_resources) / sizeof(kube_resources[0]);

const struct kube_resource *kube_resource_of(struct str kind)
{
    for (size_t i = 0; i < kube_resource_count; i++)
        if (str_is(kind, kube_resources[i].kind))
            return &kube_resources[i];
    return NULL;
}

const struct kube_resource *kube_resource_for(const struct kube_json *object)
{
    struct str kind = kube_json_text(kube_json_get(object, "kind"));
    struct str version = kube_json_text(kube_json_get(object, "apiVersion"));
    struct str group = {version.at, version.len};
    int64_t slash = str_find(version, '/');
    group.len = slash > 0 ? (uint32_t)slash : 0;
    for (size_t i = 0; i < kube_resource_count && group.len > 0; i++) {
        struct str path = str_of(kube_resources[i].path);
        struct str there = {path.at + sizeof("/apis/") - 1, group.len};
        if (str_is(kind, kube_resources[i].kind) && path.len > sizeof("/apis/") + group.len &&
            str_equal(there, group) && there.at[there.len] == '/')
            return &kube_resources[i];
    }
    return kube_resource_of(kind);
}
