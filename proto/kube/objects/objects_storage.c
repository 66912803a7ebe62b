/* objects_storage: claims, volumes and what limits them, as records. The one idea: whatever
 * upstream computes from an object alone, such as the CSI translation of an in-tree disk, is
 * computed here once. What must stay true: an absent class, limit or capacity stays apart from an
 * empty one. */
#include "proto/kube/objects/objects_internal.h"
#include "proto/kube/objects/terms.h"
#include "proto/kube/objects/translation.h"

#define CLASS_ANNOTATION "volume.beta.kubernetes.io/storage-class"

/* Filesystem is what upstream takes an unset mode for. */
static struct str read_mode(const struct cursor *spec)
{
    struct str mode = cursor_text(spec, "volumeMode");
    return mode.len ? mode : STR_LITERAL("Filesystem");
}

static void read_claim_spec(const struct cursor *spec, struct claim *claim)
{
    struct cursor resources = cursor_object(spec, "resources");
    struct cursor requests = cursor_object(&resources, "requests");
    claim->volume_name = cursor_text(spec, "volumeName");
    if (claim->class_annotated) {
        claim->spec_class = cursor_text(spec, "storageClassName");
    } else {
        struct cursor class_name = cursor_member(spec, "storageClassName");
        claim->has_class = class_name.value != NULL;
        claim->class_name = cursor_own_text(&class_name);
    }
    claim->access_modes = cursor_texts(spec, "accessModes");
    claim->requested = object_amount(&requests, "storage");
    claim->volume_mode = read_mode(spec);
    claim->attributes_class = cursor_text(spec, "volumeAttributesClassName");
    claim->selector = object_selector(spec, "selector");
}

bool kube_object_claim(const struct kube_json *object, struct claim *claim, struct arena *a,
                       struct str *error)
{
    char subject[SUBJECT_MAX];
    struct str ignored;
    object_subject(object, "PersistentVolumeClaim", subject);
    struct reading r = {.arena = a, .subject = subject};
    struct cursor root = cursor_root(&r, object);
    cursor_is_object(&root);
    struct cursor metadata = cursor_object(&root, "metadata");
    struct cursor spec = cursor_object(&root, "spec"), status = cursor_object(&root, "status");
    struct cursor deleting = cursor_member(&metadata, "deletionTimestamp");
    *claim = (struct claim){0};
    claim->namespace_name = cursor_text(&metadata, "namespace");
    claim->name = object_name(&metadata);
    claim->uid = cursor_text(&metadata, "uid");
    claim->resource_version = object_version(&metadata);
    claim->deleting = deleting.value != NULL;
    claim->owner_uid = object_controller(&metadata).uid;
    claim->class_annotated = object_annotation(&metadata, CLASS_ANNOTATION, &claim->class_name);
    claim->has_class = claim->class_annotated;
    read_claim_spec(&spec, claim);
    claim->phase = cursor_text(&status, "phase");
    claim->bind_completed =
        object_annotation(&metadata, "pv.kubernetes.io/bind-completed", &ignored);
    object_annotation(&metadata, "volume.kubernetes.io/selected-node", &claim->selected_node);
    return object_finish(&r, error);
}

static void read_affinity(const struct cursor *spec, struct volume *volume)
{
    struct cursor affinity = cursor_object(spec, "nodeAffinity");
    struct cursor required = cursor_object(&affinity, "required");
    struct cursor terms = cursor_list(&required, "nodeSelectorTerms");
    volume->has_terms = required.value != NULL;
    volume->terms.at = kube_read_node_terms(&terms, &volume->terms.count);
}

static void read_claim_ref(const struct cursor *spec, struct volume *volume)
{
    struct cursor claim = cursor_object(spec, "claimRef");
    volume->has_claim_ref = claim.value != NULL;
    volume->claim_namespace = cursor_text(&claim, "namespace");
    volume->claim_name = cursor_text(&claim, "name");
    volume->claim_uid = cursor_text(&claim, "uid");
}

/* Sources that are no in-tree disk with a translation. */
static void read_other_source(const struct cursor *spec, struct volume *volume)
{
    static const struct {
        const char *member;
        enum volume_source source;
    } others[] = {{"local", SOURCE_local}, {"hostPath", SOURCE_host_path},
                  {"nfs", SOURCE_nfs},     {"iscsi", SOURCE_iscsi},
                  {"rbd", SOURCE_rbd},     {"cephfs", SOURCE_cephfs},
                  {"fc", SOURCE_fc}};
    struct cursor csi = cursor_object(spec, "csi");
    if (csi.value != NULL) {
        volume->source = SOURCE_csi;
        volume->driver = cursor_text(&csi, "driver");
        volume->handle = cursor_text(&csi, "volumeHandle");
        return;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (kube_json_get(spec->value, others[i].member) != NULL)
            volume->source = others[i].source;
}

static void read_volume_spec(const struct cursor *spec, const struct cursor *metadata,
                             struct volume *volume)
{
    struct cursor capacity = cursor_object(spec, "capacity");
    struct str *class = &volume->class_name;
    volume->class_annotated = object_annotation(metadata, CLASS_ANNOTATION, class);
    if (volume->class_annotated)
        class = &volume->spec_class;
    *class = cursor_text(spec, "storageClassName");
    volume->capacity = object_amount(&capacity, "storage");
    volume->access_modes = cursor_texts(spec, "accessModes");
    volume->volume_mode = read_mode(spec);
    volume->attributes_class = cursor_text(spec, "volumeAttributesClassName");
    read_affinity(spec, volume);
    read_claim_ref(spec, volume);
    read_other_source(spec, volume);
    if (volume->source == SOURCE_none)
        kube_translate_volume(spec, metadata, volume);
}

bool kube_object_volume(const struct kube_json *object, struct volume *volume, struct arena *a,
                        struct str *error)
{
    char subject[SUBJECT_MAX];
    struct str ignored;
    object_subject(object, "PersistentVolume", subject);
    struct reading r = {.arena = a, .subject = subject};
    struct cursor root = cursor_root(&r, object);
    cursor_is_object(&root);
    struct cursor metadata = cursor_object(&root, "metadata");
    struct cursor spec = cursor_object(&root, "spec"), status = cursor_object(&root, "status");
    struct cursor deleting = cursor_member(&metadata, "deletionTimestamp");
    *volume = (struct volume){0};
    volume->name = object_name(&metadata);
    volume->uid = cursor_text(&metadata, "uid");
    volume->resource_version = object_version(&metadata);
    volume->deleting = deleting.value != NULL;
    volume->labels.at = object_labels(&metadata, "labels", &volume->labels.count);
    read_volume_spec(&spec, &metadata, volume);
    volume->phase = cursor_text(&status, "phase");
    volume->bound_by_controller =
        object_annotation(&metadata, "pv.kubernetes.io/bound-by-controller", &ignored);
    return object_finish(&r, error);
}

/* A topology selector term: its keys are In requirements that must all hold. */
static struct node_term read_topology(const struct cursor *at)
{
    struct node_term term = {0};
    struct cursor list = cursor_list(at, "matchLabelExpressions");
    size_t found = kube_json_count(list.value);
    term.expressions.at = found ? cursor_take(&list, found, sizeof(*term.expressions.at)) : NULL;
    if (term.expressions.at == NULL)
        return term;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            term.expressions.at[term.expressions.count++] =
                (struct requirement){.key = cursor_text(&i, "key"),
                                     .operator_name = STR_LITERAL("In"),
                                     .values = cursor_texts(&i, "values")};
    return term;
}

bool kube_object_storage_class(const struct kube_json *object, struct storage_class *storage_class,
                               struct arena *a, struct str *error)
{
    char subject[SUBJECT_MAX];
    object_subject(object, "StorageClass", subject);
    struct reading r = {.arena = a, .subject = subject};
    struct cursor root = cursor_root(&r, object);
    cursor_is_object(&root);
    struct cursor metadata = cursor_object(&root, "metadata");
    struct cursor list = cursor_list(&root, "allowedTopologies");
    size_t found = kube_json_count(list.value);
    struct node_term *terms = found ? cursor_take(&list, found, sizeof(*terms)) : NULL;
    *storage_class = (struct storage_class){0};
    storage_class->name = object_name(&metadata);
    storage_class->resource_version = object_version(&metadata);
    storage_class->provisioner = cursor_text(&root, "provisioner");
    storage_class->binding_mode = cursor_text(&root, "volumeBindingMode");
    storage_class->topologies.at = terms;
    for (struct cursor i = cursor_first(&list); terms != NULL && i.value != NULL;
         i = cursor_next(&i))
        if (cursor_is_object(&i))
            terms[storage_class->topologies.count++] = read_topology(&i);
    return object_finish(&r, error);
}

static void read_drivers(const struct cursor *spec, struct csi_node *csi_node)
{
    struct cursor list = cursor_list(spec, "drivers");
    size_t found = kube_json_count(list.value);
    struct driver_limit *out = found ? cursor_take(&list, found, sizeof(*out)) : NULL;
    csi_node->drivers.at = out;
    for (struct cursor i = cursor_first(&list); out != NULL && i.value != NULL;
         i = cursor_next(&i)) {
        if (!cursor_is_object(&i))
            continue;
        struct cursor allocatable = cursor_object(&i, "allocatable");
        struct cursor count = cursor_member(&allocatable, "count");
        out[csi_node->drivers.count++] =
            (struct driver_limit){.driver = cursor_text(&i, "name"),
                                  .limited = count.value != NULL,
                                  .count = cursor_i32(&allocatable, "count")};
    }
}

/* "a,b" as a and b. */
static struct strs split(const struct cursor *at, struct str text)
{
    struct strs parts = {0};
    size_t most = 1;
    if (text.len == 0)
        return parts;
    for (uint32_t i = 0; i < text.len; i++)
        most += text.at[i] == ',';
    parts.at = cursor_take(at, most, sizeof(*parts.at));
    for (uint32_t i = 0, start = 0; parts.at != NULL && i <= text.len; i++)
        if (i == text.len || text.at[i] == ',') {
            parts.at[parts.count++] = (struct str){text.at + start, i - start};
            start = i + 1;
        }
    return parts;
}

bool kube_object_csi_node(const struct kube_json *object, struct csi_node *csi_node,
                          struct arena *a, struct str *error)
{
    char subject[SUBJECT_MAX];
    struct str migrated;
    object_subject(object, "CSINode", subject);
    struct reading r = {.arena = a, .subject = subject};
    struct cursor root = cursor_root(&r, object);
    cursor_is_object(&root);
    struct cursor metadata = cursor_object(&root, "metadata"), spec = cursor_object(&root, "spec");
    *csi_node = (struct csi_node){0};
    csi_node->name = object_name(&metadata);
    csi_node->resource_version = object_version(&metadata);
    read_drivers(&spec, csi_node);
    object_annotation(&metadata, "storage.alpha.kubernetes.io/migrated-plugins", &migrated);
    csi_node->migrated = split(&metadata, migrated);
    return object_finish(&r, error);
}

bool kube_object_csi_driver(const struct kube_json *object, struct csi_driver *driver,
                            struct arena *a, struct str *error)
{
    char subject[SUBJECT_MAX];
    object_subject(object, "CSIDriver", subject);
    struct reading r = {.arena = a, .subject = subject};
    struct cursor root = cursor_root(&r, object);
    cursor_is_object(&root);
    struct cursor metadata = cursor_object(&root, "metadata"), spec = cursor_object(&root, "spec");
    *driver = (struct csi_driver){0};
    driver->name = object_name(&metadata);
    driver->resource_version = object_version(&metadata);
    driver->storage_capacity = cursor_bool(&spec, "storageCapacity");
    driver->must_be_there = cursor_bool(&spec, "preventPodSchedulingIfMissing");
    return object_finish(&r, error);
}

bool kube_object_csi_capacity(const struct kube_json *object, struct csi_capacity *capacity,
                              struct arena *a, struct str *error)
{
    char subject[SUBJECT_MAX];
    object_subject(object, "CSIStorageCapacity", subject);
    struct reading r = {.arena = a, .subject = subject};
    struct cursor root = cursor_root(&r, object);
    cursor_is_object(&root);
    struct cursor metadata = cursor_object(&root, "metadata");
    struct cursor amount = cursor_member(&root, "capacity");
    struct cursor maximum = cursor_member(&root, "maximumVolumeSize");
    *capacity = (struct csi_capacity){0};
    capacity->namespace_name = cursor_text(&metadata, "namespace");
    capacity->name = object_name(&metadata);
    capacity->resource_version = object_version(&metadata);
    capacity->class_name = cursor_text(&root, "storageClassName");
    capacity->has_capacity = amount.value != NULL;
    capacity->capacity = object_amount(&root, "capacity");
    capacity->has_maximum = maximum.value != NULL;
    capacity->maximum = object_amount(&root, "maximumVolumeSize");
    capacity->topology = object_selector(&root, "nodeTopology");
    return object_finish(&r, error);
}

bool kube_object_attachment(const struct kube_json *object, struct attachment *attachment,
                            struct arena *a, struct str *error)
{
    char subject[SUBJECT_MAX];
    object_subject(object, "VolumeAttachment", subject);
    struct reading r = {.arena = a, .subject = subject};
    struct cursor root = cursor_root(&r, object);
    cursor_is_object(&root);
    struct cursor metadata = cursor_object(&root, "metadata"), spec = cursor_object(&root, "spec");
    struct cursor source = cursor_object(&spec, "source");
    *attachment = (struct attachment){0};
    attachment->name = object_name(&metadata);
    attachment->resource_version = object_version(&metadata);
    attachment->attacher = cursor_text(&spec, "attacher");
    attachment->node_name = cursor_text(&spec, "nodeName");
    attachment->volume_name = cursor_text(&source, "persistentVolumeName");
    return object_finish(&r, error);
}
