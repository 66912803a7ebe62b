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

struct mirror {
    struct table nodes, pods;
    uint32_t snapshot;
    bool in_snapshot;
    struct buffer bytes;
};

struct mirror *mirror_new(void)
{
    struct mirror *m = memory_take(sizeof(*m));
    m->nodes = (struct table){map_new(), &node_record, 0};
    m->pods = (struct table){map_new(), &pod_record, 0};
    return m;
}

static void table_free(struct table *t)
{
    size_t at = 0;
    void *kept;
    while (map_next(t->by_key, &at, NULL, &kept))
        memory_free(kept);
    map_free(&t->by_key);
}

void mirror_free(struct mirror **m)
{
    if (*m == NULL)
        return;
    table_free(&(*m)->nodes);
    table_free(&(*m)->pods);
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
    return set(m, &m->nodes, &in, before, a);
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
                          .claims = pod->claims};
    struct incoming in = {key, pod->resource_version, &trimmed};
    return set(m, &m->pods, &in, before, a);
}

static void drop(struct table *t, struct str key)
{
    memory_free(map_remove(t->by_key, key));
}

bool mirror_remove_node(struct mirror *m, struct str name, struct node *before, struct arena *a)
{
    const struct kept *kept = map_get(m->nodes.by_key, name);
    if (kept == NULL)
        return false;
    decode(&m->nodes, kept, before, a);
    drop(&m->nodes, name);
    return true;
}

bool mirror_pod(const struct mirror *m, struct str key, struct pod *pod, struct arena *a)
{
    const struct kept *kept = map_get(m->pods.by_key, key);
    if (kept == NULL)
        return false;
    decode(&m->pods, kept, pod, a);
    pod->resource_version = kept->version;
    return true;
}

bool mirror_remove_pod(struct mirror *m, struct str key, struct str uid, struct pod *before,
                       struct arena *a)
{
    if (!mirror_pod(m, key, before, a) || (uid.len > 0 && !str_equal(uid, before->uid)))
        return false;
    drop(&m->pods, key);
    return true;
}

void mirror_snapshot_begin(struct mirror *m)
{
    m->in_snapshot = true;
    m->snapshot++;
    m->nodes.sweep = m->pods.sweep = 0;
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
    return next_unseen(m, &m->nodes, before, a);
}

bool mirror_next_unseen_pod(struct mirror *m, struct pod *before, struct arena *a)
{
    return next_unseen(m, &m->pods, before, a);
}

void mirror_snapshot_end(struct mirror *m)
{
    m->in_snapshot = false;
}

size_t mirror_nodes(const struct mirror *m)
{
    return map_count(m->nodes.by_key);
}

size_t mirror_pods(const struct mirror *m)
{
    return map_count(m->pods.by_key);
}
