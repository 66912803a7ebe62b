/* mirror: encoded records by key. The one idea: equal bytes mean that nothing has changed that the
 * queue could act on, which is the common case and costs one encoding and one comparison. A record
 * has its key in itself, so that nothing is kept twice. What must stay true: a table's hash of a
 * record is that of the key it was set under, which its names spell. */
#include "queue/mirror.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/packed_store.h"

#include <string.h>

/* The records of one resource; version and mark of each are its version and the snapshot that last
 * held it. */
struct table_of {
    struct packed_store *store;
    struct table by_key;
    uint8_t space_tag, name_tag; /* what the key consists of; 0: no namespace */
    bool plain;                  /* the key is the name alone, without a slash */
    size_t sweep;                /* where the walk for unseen ones is */
};

#define NOWHERE ((struct str){0})

struct mirror {
    struct table_of tables[EVENT_RESOURCES]; /* without a store: a resource not remembered */
    uint32_t snapshot;
    bool in_snapshot;
    struct buffer key;
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
    [EVENT_OF_resource_slice] = &resource_slice_record,
    [EVENT_OF_device_class] = &device_class_record,
    [EVENT_OF_device_taint_rule] = &device_taint_rule_record,
};

static uint8_t tag_of(const struct record *r, const char *name)
{
    for (size_t i = 0; i < r->field_count; i++)
        if (strcmp(r->fields[i].name, name) == 0)
            return r->fields[i].tag;
    return 0;
}

static struct packed_store *store_of(const struct record *r)
{
    const struct store_rule whole = {.record = r};
    if (r == &pod_record)
        return store_new(&store_pods);
    return store_new(r == &node_record ? &store_nodes : &whole);
}

struct mirror *mirror_new(void)
{
    struct mirror *m = memory_take(sizeof(*m));
    for (int i = 0; i < EVENT_RESOURCES; i++)
        if (records[i] != NULL)
            m->tables[i] = (struct table_of){.store = store_of(records[i]),
                                             .space_tag = tag_of(records[i], "namespace_name"),
                                             .name_tag = tag_of(records[i], "name"),
                                             .plain = i == EVENT_OF_node};
    return m;
}

static void table_of_free(struct table_of *t)
{
    size_t at = 0;
    struct stored *kept;
    while ((kept = table_next(&t->by_key, &at)) != NULL)
        store_drop(t->store, kept);
    table_free(&t->by_key);
    store_free(&t->store);
}

void mirror_free(struct mirror **m)
{
    if (*m == NULL)
        return;
    for (int i = 0; i < EVENT_RESOURCES; i++)
        table_of_free(&(*m)->tables[i]);
    buffer_free(&(*m)->key);
    memory_free(*m);
    *m = NULL;
}

/* ---- by key ---- */

/* Not printed: a name may hold any byte. */
struct str mirror_key(struct str space, struct str name, struct arena *a)
{
    char *at = arena_take(a, (size_t)space.len + 1 + name.len);
    if (space.len > 0)
        memcpy(at, space.at, space.len);
    at[space.len] = '/';
    if (name.len > 0)
        memcpy(at + space.len + 1, name.at, name.len);
    return (struct str){at, space.len + 1 + name.len};
}

struct wanted {
    const struct table_of *table;
    struct str key;
};

static struct str space_of(const struct table_of *t, const struct stored *kept)
{
    return t->space_tag != 0 ? store_str(kept, t->space_tag) : NOWHERE;
}

static bool is_wanted(const void *thing, const void *key)
{
    const struct wanted *w = key;
    struct str name = store_str(thing, w->table->name_tag);
    struct str space = space_of(w->table, thing);
    uint32_t front = w->table->plain ? 0 : space.len + 1;
    if (w->key.len != front + name.len)
        return false;
    struct str rest = {w->key.at + front, name.len};
    return str_equal(rest, name) &&
           (front == 0 ||
            (w->key.at[space.len] == '/' && str_equal((struct str){w->key.at, space.len}, space)));
}

static uint32_t hash_of(struct str key)
{
    return table_hash(str_hash(key));
}

static struct stored *find(const struct table_of *t, struct str key)
{
    const struct wanted wanted = {t, key};
    return table_get(&t->by_key, hash_of(key), is_wanted, &wanted);
}

static void drop(struct table_of *t, uint32_t hash, struct stored *kept)
{
    table_remove(&t->by_key, hash, kept);
    store_drop(t->store, kept);
}

/* A version of an object as it came in; object is trimmed, its version apart. */
struct incoming {
    struct str key;
    int64_t version;
    const void *object;
};

static enum mirror_change set(struct mirror *m, struct table_of *t, const struct incoming *in,
                              void *before, struct arena *a)
{
    struct stored *kept = find(t, in->key);
    if (kept != NULL && !m->in_snapshot && in->version != 0 && in->version < kept->version)
        return MIRROR_outdated;
    struct stored *now = store_put(t->store, in->object);
    now->version = in->version;
    now->mark = m->snapshot;
    if (kept == NULL) {
        table_add(&t->by_key, hash_of(in->key), now);
        return MIRROR_new;
    }
    bool same = store_same(kept, now);
    if (!same)
        store_get(t->store, kept, before, a);
    table_replace(&t->by_key, hash_of(in->key), kept, now);
    store_drop(t->store, kept);
    return same ? MIRROR_same : MIRROR_changed;
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
                          .gang = pod->gang,
                          .gang_api = pod->gang_api,
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

bool mirror_remove_node(struct mirror *m, struct str name, struct node *before, struct arena *a)
{
    struct table_of *t = &m->tables[EVENT_OF_node];
    struct stored *kept = find(t, name);
    if (kept == NULL)
        return false;
    store_get(t->store, kept, before, a);
    drop(t, hash_of(name), kept);
    return true;
}

bool mirror_pod(const struct mirror *m, struct str key, struct mirrored_pod *pod)
{
    const struct stored *kept = find(&m->tables[EVENT_OF_assigned_pod], key);
    if (kept != NULL)
        *pod = (struct mirrored_pod){kept, kept->version};
    return kept != NULL;
}

bool mirror_pod_is(const struct mirrored_pod *pod, struct str uid)
{
    return store_uuid_is(pod->kept, TAG_pod_uid, uid);
}

bool mirror_remove_pod(struct mirror *m, struct str key, struct str uid, struct pod *before,
                       struct arena *a)
{
    struct table_of *t = &m->tables[EVENT_OF_assigned_pod];
    struct stored *kept = find(t, key);
    if (kept == NULL || (uid.len > 0 && !store_uuid_is(kept, TAG_pod_uid, uid)))
        return false;
    store_get(t->store, kept, before, a);
    before->resource_version = kept->version;
    drop(t, hash_of(key), kept);
    return true;
}

bool mirror_has_node(const struct mirror *m, struct str name)
{
    return find(&m->tables[EVENT_OF_node], name) != NULL;
}

bool mirror_walk(const struct mirror *m, struct mirror_walk *walk, void *record, struct arena *a)
{
    const struct table_of *t = &m->tables[walk->resource];
    const struct stored *kept = table_next(&t->by_key, &walk->at);
    if (kept == NULL)
        return false;
    store_get(t->store, kept, record, a);
    walk->version = kept->version;
    return true;
}

bool mirror_next(const struct mirror *m, enum event_resource resource, size_t *at, void *record,
                 struct arena *a)
{
    const struct table_of *t = &m->tables[resource];
    const struct stored *kept = table_next(&t->by_key, at);
    if (kept != NULL)
        store_get(t->store, kept, record, a);
    return kept != NULL;
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

/* What is asked for is not remembered, only what became of it. */
static bool read_resource_claim(const struct resource_claim *claim, struct object *o)
{
    o->whole = claim;
    o->trimmed.resource_claim = *claim;
    o->trimmed.resource_claim.requests.count = 0;
    o->trimmed.resource_claim.constraints.count = 0;
    o->trimmed.resource_claim.config.count = 0;
    o->trimmed.resource_claim.document = (struct str){NULL, 0};
    return describe(o, EVENT_OF_resource_claim, claim->namespace_name, claim->name,
                    claim->resource_version);
}

static bool read_resource_slice(const struct resource_slice *slice, struct object *o)
{
    o->whole = slice;
    o->trimmed.resource_slice =
        (struct resource_slice){.name = slice->name, .resource_version = slice->resource_version};
    return describe(o, EVENT_OF_resource_slice, NOWHERE, slice->name, slice->resource_version);
}

static bool read_device_class(const struct device_class *class, struct object *o)
{
    o->whole = class;
    o->trimmed.device_class = (struct device_class){.name = class->name,
                                                    .resource_version = class->resource_version,
                                                    .extended_resource = class->extended_resource};
    return describe(o, EVENT_OF_device_class, NOWHERE, class->name, class->resource_version);
}

static bool read_taint_rule(const struct device_taint_rule *rule, struct object *o)
{
    o->whole = rule;
    o->trimmed.device_taint_rule =
        (struct device_taint_rule){.name = rule->name, .resource_version = rule->resource_version};
    return describe(o, EVENT_OF_device_taint_rule, NOWHERE, rule->name, rule->resource_version);
}

/* False when the message sets none that is remembered. */
static bool read_object(const struct message *m, struct object *o)
{
    const struct storage_class *class = &m->storage_class_set.storage_class;
    const struct csi_node *csi_node = &m->csi_node_set.csi_node;
    const struct csi_driver *driver = &m->csi_driver_set.csi_driver;
    const struct csi_capacity *capacity = &m->csi_capacity_set.csi_capacity;
    const struct attachment *attachment = &m->attachment_set.attachment;
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
        return read_resource_claim(&m->resource_claim_set.resource_claim, o);
    case MSG_resource_slice_set: return read_resource_slice(&m->resource_slice_set.slice, o);
    case MSG_device_class_set: return read_device_class(&m->device_class_set.device_class, o);
    case MSG_device_taint_rule_set: return read_taint_rule(&m->device_taint_rule_set.rule, o);
    default: return false;
    }
}

struct mirror_update mirror_set_object(struct mirror *m, const struct message *set_message,
                                       union mirror_record *before, struct arena *a)
{
    struct object object = {0};
    must(read_object(set_message, &object));
    struct incoming in = {mirror_key(object.space, object.name, a), object.version,
                          &object.trimmed};
    return (struct mirror_update){.change = set(m, &m->tables[object.resource], &in, before, a),
                                  .resource = object.resource,
                                  .record = object.whole};
}

bool mirror_resource_claim(const struct mirror *m, struct str space, struct str name,
                           struct resource_claim *claim, struct arena *a)
{
    const struct table_of *t = &m->tables[EVENT_OF_resource_claim];
    const struct stored *kept = find(t, mirror_key(space, name, a));
    if (kept != NULL)
        store_get(t->store, kept, claim, a);
    return kept != NULL;
}

/* ResourceDeviceClassPrefix: each class is an extended resource of this name as well. */
#define CLASS_PREFIX "deviceclass.resource.kubernetes.io/"

bool mirror_maps_resource(const struct mirror *m, struct str resource)
{
    static const uint32_t front = sizeof(CLASS_PREFIX) - 1;
    struct arena memory = {0};
    struct device_class class;
    bool maps = false;
    size_t at = 0;
    while (!maps && mirror_next(m, EVENT_OF_device_class, &at, &class, &memory))
        maps = str_equal(class.extended_resource, resource) ||
               (resource.len == front + class.name.len &&
                memcmp(resource.at, CLASS_PREFIX, front) == 0 &&
                memcmp(resource.at + front, class.name.at, class.name.len) == 0);
    arena_free(&memory);
    return maps;
}

bool mirror_remove_object(struct mirror *m, enum event_resource resource,
                          const struct object_gone *gone, union mirror_record *before,
                          struct arena *a)
{
    struct table_of *t = &m->tables[resource];
    struct str key = mirror_key(gone->namespace_name, gone->name, a);
    struct stored *kept = find(t, key);
    if (kept == NULL)
        return false;
    store_get(t->store, kept, before, a);
    drop(t, hash_of(key), kept);
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

/* The hash that it was set under. */
static uint32_t hash_again(struct mirror *m, const struct table_of *t, const struct stored *kept)
{
    buffer_reset(&m->key);
    if (!t->plain) {
        buffer_add_str(&m->key, space_of(t, kept));
        buffer_add_text(&m->key, "/");
    }
    buffer_add_str(&m->key, store_str(kept, t->name_tag));
    return hash_of(buffer_str(&m->key));
}

static bool next_unseen(struct mirror *m, struct table_of *t, void *before, struct arena *a)
{
    struct stored *kept;
    must(m->in_snapshot);
    while ((kept = table_next(&t->by_key, &t->sweep)) != NULL) {
        if (kept->mark == m->snapshot)
            continue;
        store_get(t->store, kept, before, a);
        drop(t, hash_again(m, t, kept), kept);
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
    return m->tables[EVENT_OF_node].by_key.count;
}

size_t mirror_pods(const struct mirror *m)
{
    return m->tables[EVENT_OF_assigned_pod].by_key.count;
}
