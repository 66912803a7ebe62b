/* objects_volumes: a pod's volumes, those that scheduling looks at. The one idea: a volume is
 * either a claim, or a disk that the pod names itself. What must stay true: an ephemeral volume's
 * claim is named after the pod and the volume, as its controller names it. */
#include "proto/kube/objects/objects_internal.h"
#include "proto/kube/objects/translation.h"

static struct str ephemeral_claim(const struct cursor *at, const struct pod *pod, struct str volume)
{
    struct str name =
        arena_print(at->reading->arena, "%.*s-%.*s", STR_ARG(pod->name), STR_ARG(volume));
    if (name.at == NULL)
        cursor_fail(at, "too large");
    return name;
}

/* What the spec calls an in-tree disk, for the rules that compare that. */
static void name_disk(const struct cursor *at, struct pod_volume *volume)
{
    static const struct {
        const char *member, *field;
    } names[] = {{"gcePersistentDisk", "pdName"}, {"awsElasticBlockStore", "volumeID"},
                 {"cinder", "volumeID"},          {"azureDisk", "diskName"},
                 {"azureFile", "shareName"},      {"vsphereVolume", "volumePath"},
                 {"portworxVolume", "volumeID"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct cursor source = cursor_object(at, names[i].member);
        if (source.value != NULL)
            volume->name = cursor_text(&source, names[i].field);
    }
}

static void read_rbd(const struct cursor *rbd, struct pod_volume *volume)
{
    volume->kind = SOURCE_rbd;
    volume->read_only = cursor_bool(rbd, "readOnly");
    volume->monitors = cursor_texts(rbd, "monitors");
    volume->pool = cursor_text(rbd, "pool");
    volume->image = cursor_text(rbd, "image");
}

/* False for a volume that scheduling does not look at. */
static bool read_volume(const struct cursor *at, const struct pod *pod, struct pod_volume *volume)
{
    struct cursor claim = cursor_object(at, "persistentVolumeClaim");
    struct cursor ephemeral = cursor_object(at, "ephemeral"), csi = cursor_object(at, "csi");
    struct cursor rbd = cursor_object(at, "rbd"), iscsi = cursor_object(at, "iscsi");
    volume->volume = cursor_text(at, "name");
    if (claim.value != NULL) {
        volume->kind = SOURCE_claim;
        volume->name = cursor_text(&claim, "claimName");
        volume->read_only = cursor_bool(&claim, "readOnly");
    } else if (ephemeral.value != NULL) {
        volume->kind = SOURCE_ephemeral;
        volume->name = ephemeral_claim(at, pod, volume->volume);
    } else if (csi.value != NULL) {
        volume->kind = SOURCE_csi;
        volume->name = cursor_text(&csi, "driver");
        volume->read_only = cursor_bool(&csi, "readOnly");
    } else if (rbd.value != NULL) {
        read_rbd(&rbd, volume);
    } else if (iscsi.value != NULL) {
        volume->kind = SOURCE_iscsi;
        volume->name = cursor_text(&iscsi, "iqn");
        volume->read_only = cursor_bool(&iscsi, "readOnly");
    } else {
        name_disk(at, volume);
        return kube_translate_inline(at, pod->namespace_name, volume);
    }
    return true;
}

void object_pod_volumes(const struct cursor *volumes, struct pod *pod)
{
    size_t most = kube_json_count(volumes->value);
    struct pod_volume *out = most ? cursor_take(volumes, most, sizeof(*out)) : NULL;
    pod->claims.at = most ? cursor_take(volumes, most, sizeof(*pod->claims.at)) : NULL;
    if (out == NULL || pod->claims.at == NULL)
        return;
    pod->volumes.at = out;
    for (struct cursor i = cursor_first(volumes); i.value != NULL; i = cursor_next(&i)) {
        struct pod_volume *volume = &out[pod->volumes.count];
        if (!cursor_is_object(&i))
            continue;
        if (!read_volume(&i, pod, volume)) {
            *volume = (struct pod_volume){0};
            continue;
        }
        pod->volumes.count++;
        if (volume->kind == SOURCE_claim || volume->kind == SOURCE_ephemeral)
            pod->claims.at[pod->claims.count++] = volume->name;
    }
}
