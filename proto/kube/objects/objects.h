/* objects: Kubernetes objects (JSON) to the records of messages.def, and back where needed.
 *
 * Amounts are computed here, once, exactly as upstream's resource helpers do. One row of the table
 * in objects.c adds a kind that the watcher mirrors. */
#ifndef KUBE_OBJECTS_OBJECTS_H
#define KUBE_OBJECTS_OBJECTS_H

#include "proto/kube/documents/json.h"
#include "proto/messages.h"

/* Fills the record; strings and lists come from the arena (the JSON may go). false with one line in
 * error that names the object and the field, such as
 * `Pod default/a: spec.containers[0].resources.requests.cpu: quantity "1x" is malformed`. */
bool kube_object_pod(const struct kube_json *object, struct pod *pod, struct arena *a,
                     struct str *error);
bool kube_object_node(const struct kube_json *object, struct node *node, struct arena *a,
                      struct str *error);
bool kube_object_namespace(const struct kube_json *object, struct namespace_set *ns,
                           struct arena *a, struct str *error);
/* Of an object's metadata.annotations those whose keys begin with one of these, sorted by key, in
 * the arena; what is no text counts as empty. */
struct label *kube_object_annotations(const struct kube_json *object, const struct strs *prefixes,
                                      uint32_t *count, struct arena *a);

bool kube_object_claim(const struct kube_json *object, struct claim *claim, struct arena *a,
                       struct str *error);
/* With the CSI translation of an in-tree disk, as k8s.io/csi-translation-lib has it. */
bool kube_object_volume(const struct kube_json *object, struct volume *volume, struct arena *a,
                        struct str *error);
bool kube_object_storage_class(const struct kube_json *object, struct storage_class *storage_class,
                               struct arena *a, struct str *error);
bool kube_object_csi_node(const struct kube_json *object, struct csi_node *csi_node,
                          struct arena *a, struct str *error);
bool kube_object_csi_driver(const struct kube_json *object, struct csi_driver *driver,
                            struct arena *a, struct str *error);
bool kube_object_csi_capacity(const struct kube_json *object, struct csi_capacity *capacity,
                              struct arena *a, struct str *error);
bool kube_object_attachment(const struct kube_json *object, struct attachment *attachment,
                            struct arena *a, struct str *error);
/* kind is Service, ReplicationController, ReplicaSet or StatefulSet: an object in a list does not
 * say its own. */
bool kube_object_owner(const struct kube_json *object, enum object_kind kind, struct owner *owner,
                       struct arena *a, struct str *error);
bool kube_object_resource_claim(const struct kube_json *object, struct resource_claim *claim,
                                struct arena *a, struct str *error);
bool kube_object_device_taint_rule(const struct kube_json *object, struct device_taint_rule *rule,
                                   struct arena *a, struct str *error);
bool kube_object_device_class(const struct kube_json *object, struct device_class *device_class,
                              struct arena *a, struct str *error);
bool kube_object_resource_slice(const struct kube_json *object, struct resource_slice *slice,
                                struct arena *a, struct str *error);
bool kube_object_budget(const struct kube_json *object, struct budget *budget, struct arena *a,
                        struct str *error);

/* api is the PodGroup's group, KUBE_GANG_…: a list of the built-in kind does not say it. */
bool kube_object_pod_group(const struct kube_json *object, const char *api, struct gang *gang,
                           struct arena *a, struct str *error);
/* The same of a CompositePodGroup: min_member is its minGroupCount. */
bool kube_object_composite_group(const struct kube_json *object, struct gang *gang, struct arena *a,
                                 struct str *error);

/* The type of its condition that says whether it was scheduled. */
const char *kube_gang_condition(const struct gang *gang);
/* The version of its API that its status is written in. */
struct str kube_gang_version(const struct gang *gang);

/* API groups that have PodGroups, and the labels by which pods name those of the custom ones. */
#define KUBE_GANG_PLUGINS       "scheduling.x-k8s.io"
#define KUBE_GANG_SIGS          "scheduling.sigs.k8s.io"
#define KUBE_GANG_BUILT_IN      "scheduling.k8s.io"
#define KUBE_GANG_COMPOSITE     "scheduling.k8s.io/CompositePodGroup" /* in the API group's place */
#define KUBE_GANG_PLUGINS_LABEL "scheduling.x-k8s.io/pod-group"
#define KUBE_GANG_SIGS_LABEL    "pod-group.scheduling.sigs.k8s.io"
/* Who we are in metadata.managedFields of what we write. */
#define KUBE_FIELD_MANAGER "berth"

/* Whether a server has a kind. */
enum kube_offer {
    KUBE_always, /* every server that we work with */
    KUBE_maybe,  /* some: where it is not served (404) there are no objects, and that is no fault */
    KUBE_maybe_decisive, /* the same, and where it can be listed a barrier waits for it */
    KUBE_custom, /* the same, and in JSON alone: a custom resource, or one that has other protobuf
                    numbers in each version */
    KUBE_tree    /* as KUBE_custom; read only with the feature gate CompositePodGroup */
};

/* A kind that the watcher mirrors. */
struct kube_resource {
    const char *name;           /* pods */
    const char *kind;           /* Pod */
    const char *path;           /* /api/v1/pods */
    const char *field_selector; /* "" or as sent to the server, not yet escaped */
    bool required;              /* false: degraded, with one warning, when it cannot be listed */
    /* The stream message for an object that exists, and its key in the mirror ("pod/<uid>"). */
    bool (*set)(const struct kube_json *object, struct message *m, struct str *key, struct arena *a,
                struct str *error);
    /* The stream message that says it is gone. */
    void (*gone)(const struct message *last, struct message *m);
    enum kube_offer offer;
    /* NULL, or where it is listed in other versions of its API, NULL last: looked at in this order
     * where path is not served. */
    const char *const *others;
};

extern const struct kube_resource kube_resources[];
extern const size_t kube_resource_count;
/* The row of a kind such as Pod, the first of several; NULL when it is not mirrored. */
const struct kube_resource *kube_resource_of(struct str kind);
/* The same for the kind of an object, told apart by its apiVersion where several groups have it. */
const struct kube_resource *kube_resource_for(const struct kube_json *object);

#endif
