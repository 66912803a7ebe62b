/* mirror: encoded records by key. The one idea: equal bytes mean that nothing has changed that the
 * queue could act on, which is the common case and costs one encoding and one comparison. What must
 * stay true: bytes decode, because only this file writes them. */
#include "queue/mirror.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <string.h>

struct kept {
    uint32_t seen; /* snapshot that last held it */
    uint32_t len;
    int64_t version;
    uint8_t bytes[];
};

struct table {
    struct map *by_key;
    const struct record *record;
    size_t sweep; /* where the walk for unseen ones is */
};

#define NOWHERE ((struct str){0})

struct mirror {
    struct table tables[EVENT_RESOURCES]; /* without a map: a resource that is not remembered */
    uint32_t snapshot;
    bool in_snapshot;
    struct buffer bytes;
};

/* Whose versions are remembered, as what. */
static const struct record *const records[EVENT_RESOURCES] = {
    [EVENT_OF_node] = &node_record,
    [EVENT_OF_assigned_pod] = &pod_record,
    [EVENT_OF_claim] = &claim_record,
    [EVENT_OF_volume] = &volume_record,
    [EVENT_OF_storage_class] = &storage_class_record,
    [EVENT_OF_csi_node] = &csi_node_record,
    [EVENT_OF_csi_driver] = &csi_driver_record,
    [EVENT_OF_csi_capacity] = &csi_capacity_record,
    [EVENT_OF_attachment] = &attachment_record,
    [EVENT_OF_resource_claim] = &resource_claim_record,
};

struct mirror *mirror_new(void)
{
    struct mirror *m = memory_take(sizeof(*m));
    for (int i = 0; i < EVENT_RESOURCES; i++)
        if (records[i] != NULL)
            m->tables[i] = (struct table){map_new(), records[i], 0};
    return m;
}

static void table_free(struct table *t)
{
    size_t at = 0;
    void *kept;
    if (t->by_key == NULL)
        return;
    while (map_next(t->by_key, &at, NULL, &kept))
        memory_free(kept);
    map_free(&t->by_key);
}

void mirror_free(struct mirror **m)
{
    if (*m == NULL)
        return;
    for (int i = 0; i < EVENT_RESOURCES; i++)
        table_free(&(*m)->tables[i]);
    buffer_free(&(*m)->bytes);
    memory_free(*m);
    *m = NULL;
}

static void decode(const struct table *t, const struct kept *kept, void *object, struct arena *a)
{
    /* Copied, because what is decoded borrows from the frame, which may be freed before it. */
    uint8_t *bytes = arena_take(a, kept->len);
    memcpy(bytes, kept->bytes, kept->len);
    struct cursor in = {bytes, bytes + kept->len};
    must(codec_decode(t->record, object, &in, a) && in.at == in.end);
}

/* A version of an object as it came in; object is trimmed, its version apart. */
struct incoming {
    struct str key;
    int64_t version;
    const void *object;
};

static void replace(struct mirror *m, struct table *t, const struct incoming *in)
{
    struct kept *kept = memory_take(sizeof(*kept) + m->bytes.len);
    kept->seen = m->snapshot;
    kept->len = (uint32_t)m->bytes.len;
    kept->version = in->version;
    memcpy(kept->bytes, m->bytes.at, m->bytes.len);
    memory_free(map_set(t->by_key, in->key, kept));
}

static enum mirror_change set(struct mirror *m, struct table *t, const struct incoming *in,
                              void *before, struct arena *a)
{
    struct kept *kept = map_get(t->by_key, in->key);
    if (kept != NULL && !m->in_snapshot && in->version != 0 && in->version < kept->version)
        return MIRROR_outdated;
    buffer_reset(&m->bytes);
    codec_encode(t->record, in->object, &m->bytes);
    if (kept == NULL) {
        replace(m, t, in);
        return MIRROR_new;
    }
    kept->seen = m->snapshot;
    kept->version = in->version;
    if (kept->len == m->bytes.len && memcmp(kept->bytes, m->bytes.at, kept->len) == 0)
        return MIRROR_same;
    decode(t, kept, before, a);
    replace(m, t, in);
    return MIRROR_changed;
}

enum mirror_change mirror_set_node(struct mirror *m, const struct node *node, struct node *before,
                                   struct arena *a)
{
    struct node trimmed = *node;
    trimmed.resource_version = 0;
    trimmed.images.count = 0;
    struct incoming in = {node->name, node->resource_version, &trimmed};
    return set(m, &m->tables[EVENT_OF_node], &in, before, a);
}

enum mirror_change mirror_set_pod(struct mirror *m, struct str key, const struct pod *pod,
                                  struct pod *before, struct arena *a)
{
    struct pod trimmed = {.uid = pod->uid,
                          .namespace_name = pod->namespace_name,
                          .name = pod->name,
                          .node_name = pod->node_name,
                          .priority = pod->priority,
                          .labels = {pod->labels.count, pod->labels.at},
                          .usage = {pod->usage.count, pod->usage.at},
                          .ports = {pod->ports.count, pod->ports.at},
                          .tolerations = {pod->tolerations.count, pod->tolerations.at},
                          .volumes = {pod->volumes.count, pod->volumes.at},
                          .anti_affinity_required = {pod->anti_affinity_required.count,
                                                     pod->anti_affinity_required.at}};
    struct incoming in = {key, pod->resource_version, &trimmed};
    return set(m, &m->tables[EVENT_OF_assigned_pod], &in, before, a);
}

static void drop(struct table *t, struct str key)
{
    memory_free(map_remove(t->by_key, key));
}

bool mirror_remove_node(struct mirror *m, struct str name, struct node *before, struct arena *a)
{
    struct table *t = &m->tables[EVENT_OF_node];
    const struct kept *kept = map_get(t->by_key, name);
    if (kept == NULL)
        return false;
    decode(t, kept, before, a);
    drop(t, name);
    return true;
}

bool mirror_pod(const struct mirror *m, struct str key, struct pod *pod, struct arena *a)
{
    const struct kept *kept = map_get(m->tables[EVENT_OF_assigned_pod].by_key, key);
    if (kept == NULL)
        return false;
    decode(&m->tables[EVENT_OF_assigned_pod], kept, pod, a);
    pod->resource_version = kept->version;
    return true;
}

bool mirror_remove_pod(struct mirror *m, struct str key, struct str uid, struct pod *before,
                       struct arena *a)
{
    if (!mirror_pod(m, key, before, a) || (uid.len > 0 && !str_equal(uid, before->uid)))
        return false;
    drop(&m->tables[EVENT_OF_assigned_pod], key);
    return true;
}

/* ---- other objects ---- */

/* Another object than a node or a pod. */
struct object {
    enum event_resource resource;
    struct str space, name;
    int64_t version;
    const void *whole;           /* as the message has it */
    union mirror_record trimmed; /* what is remembered of it, its version included */
};

static bool describe(struct object *o, enum event_resource resource, struct str space,
                     struct str name, int64_t version)
{
    o->resource = resource;
    o->space = space;
    o->name = name;
    o->version = version;
    return true;
}

static bool read_claim(const struct claim *claim, struct object *o)
{
    o->whole = claim;
    o->trimmed.claim = (struct claim){.namespace_name = claim->namespace_name,
                                      .name = claim->name,
                                      .resource_version = claim->resource_version};
    return describe(o, EVENT_OF_claim, claim->namespace_name, claim->name, claim->resource_version);
}

static bool read_volume(const struct volume *volume, struct object *o)
{
    o->whole = volume;
    o->trimmed.volume = (struct volume){.name = volume->name,
                                        .resource_version = volume->resource_version,
                                        .labels = {volume->labels.count, volume->labels.at}};
    return describe(o, EVENT_OF_volume, NOWHERE, volume->name, volume->resource_version);
}

/* False when the message sets none that is remembered. */
static bool read_object(const struct message *m, struct object *o)
{
    const struct storage_class *class = &m->storage_class_set.storage_class;
    const struct csi_node *csi_node = &m->csi_node_set.csi_node;
    const struct csi_driver *driver = &m->csi_driver_set.csi_driver;
    const struct csi_capacity *capacity = &m->csi_capacity_set.csi_capacity;
    const struct attachment *attachment = &m->attachment_set.attachment;
    const struct resource_claim *devices = &m->resource_claim_set.resource_claim;
    switch (m->type) {
    case MSG_claim_set: return read_claim(&m->claim_set.claim, o);
    case MSG_volume_set: return read_volume(&m->volume_set.volume, o);
    case MSG_storage_class_set:
        o->whole = class;
        o->trimmed.storage_class = *class;
        return describe(o, EVENT_OF_storage_class, NOWHERE, class->name, class->resource_version);
    case MSG_csi_node_set:
        o->whole = csi_node;
        o->trimmed.csi_node = *csi_node;
        return describe(o, EVENT_OF_csi_node, NOWHERE, csi_node->name, csi_node->resource_version);
    case MSG_csi_driver_set:
        o->whole = driver;
        o->trimmed.csi_driver = *driver;
        return describe(o, EVENT_OF_csi_driver, NOWHERE, driver->name, driver->resource_version);
    case MSG_csi_capacity_set:
        o->whole = capacity;
        o->trimmed.csi_capacity = *capacity;
        return describe(o, EVENT_OF_csi_capacity, capacity->namespace_name, capacity->name,
                        capacity->resource_version);
    case MSG_attachment_set:
        o->whole = attachment;
        o->trimmed.attachment = *attachment;
        return describe(o, EVENT_OF_attachment, NOWHERE, attachment->name,
                        attachment->resource_version);
    case MSG_resource_claim_set:
        o->whole = devices;
        o->trimmed.resource_claim = *devices;
        return describe(o, EVENT_OF_resource_claim, devices->namespace_name, devices->name,
                        devices->resource_version);
    default: return false;
    }
}

static struct str object_key(struct str space, struct str name, struct arena *a)
{
    return arena_print(a, "%.*s/%.*s", STR_ARG(space), STR_ARG(name));
}

struct mirror_update mirror_set_object(struct mirror *m, const struct message *set_message,
                                       union mirror_record *before, struct arena *a)
{
    struct object object = {0};
    must(read_object(set_message, &object));
    struct incoming in = {object_key(object.space, object.name, a), object.version,
                          &object.trimmed};
    return (struct mirror_update){.change = set(m, &m->tables[object.resource], &in, before, a),
                                  .resource = object.resource,
                                  .record = object.whole};
}

bool mirror_remove_object(struct mirror *m, enum event_resource resource,
                          const struct object_gone *gone, union mirror_record *before,
                          struct arena *a)
{
    struct table *t = &m->tables[resource];
    struct str key = object_key(gone->namespace_name, gone->name, a);
    const struct kept *kept = map_get(t->by_key, key);
    if (kept == NULL)
        return false;
    decode(t, kept, before, a);
    drop(t, key);
    return true;
}

/* ---- snapshots ---- */

void mirror_snapshot_begin(struct mirror *m)
{
    m->in_snapshot = true;
    m->snapshot++;
    for (int i = 0; i < EVENT_RESOURCES; i++)
        m->tables[i].sweep = 0;
}

static bool next_unseen(const struct mirror *m, struct table *t, void *before, struct arena *a)
{
    struct str key;
    void *value;
    must(m->in_snapshot);
    while (map_next(t->by_key, &t->sweep, &key, &value)) {
        struct kept *kept = value;
        if (kept->seen == m->snapshot)
            continue;
        decode(t, kept, before, a);
        drop(t, key);
        return true;
    }
    return false;
}

bool mirror_next_unseen_node(struct mirror *m, struct node *before, struct arena *a)
{
    return next_unseen(m, &m->tables[EVENT_OF_node], before, a);
}

bool mirror_next_unseen_pod(struct mirror *m, struct pod *before, struct arena *a)
{
    return next_unseen(m, &m->tables[EVENT_OF_assigned_pod], before, a);
}

bool mirror_next_unseen_object(struct mirror *m, enum event_resource resource,
                               union mirror_record *before, struct arena *a)
{
    must(resource > EVENT_OF_unschedulable_pod && resource < EVENT_RESOURCES);
    return next_unseen(m, &m->tables[resource], before, a);
}

void mirror_snapshot_end(struct mirror *m)
{
    m->in_snapshot = false;
}

size_t mirror_nodes(const struct mirror *m)
{
    return map_count(m->tables[EVENT_OF_node].by_key);
}

size_t mirror_pods(const struct mirror *m)
{
    return map_count(m->tables[EVENT_OF_assigned_pod].by_key);
}
