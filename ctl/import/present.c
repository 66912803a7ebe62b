/* present: what is there, by name. What must stay true: what is told of a node that says nothing
 * new is no event; and a pod goes by the UID that it came with, and only once. */
#include "ctl/import/present.h"

#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "proto/codec.h"

struct present present_of(struct trace *t)
{
    return (struct present){.trace = t, .nodes = map_new(), .pods = map_new()};
}

static void free_record(struct buffer *record)
{
    if (record != NULL)
        buffer_free(record);
    memory_free(record);
}

void present_free(struct present *p)
{
    void *value;
    for (size_t at = 0; map_next(p->nodes, &at, NULL, &value);)
        free_record(value);
    for (size_t at = 0; map_next(p->pods, &at, NULL, &value);)
        memory_free(value);
    map_free(&p->nodes);
    map_free(&p->pods);
}

/* Heartbeats change nothing that is scheduled by, and are most of what is written of nodes. */
static void drop_if_same(struct present *p)
{
    struct trace *t = p->trace;
    const struct node *node = &t->at[t->count - 1].message->node_set.node;
    struct buffer record = {0};
    codec_encode(&node_record, node, &record);
    const struct buffer *before = map_get(p->nodes, node->name);
    bool same = before != NULL && str_equal(buffer_str(before), buffer_str(&record));
    if (same) {
        t->count--;
        buffer_free(&record);
        return;
    }
    struct buffer *kept = map_remove(p->nodes, node->name);
    if (kept == NULL)
        kept = memory_take(sizeof(*kept));
    buffer_free(kept);
    *kept = record;
    map_set(p->nodes, node->name, kept);
}

bool present_node(struct present *p, int64_t at_us, const struct kube_json *object,
                  struct str *error)
{
    bool good = trace_node(p->trace, at_us, object, error);
    if (good)
        drop_if_same(p);
    return good;
}

static struct str pod_key(struct present *p, struct str space, struct str name)
{
    return arena_print(&p->trace->memory, "%.*s/%.*s", STR_ARG(space), STR_ARG(name));
}

bool present_pod(struct present *p, int64_t at_us, const struct kube_json *object,
                 struct str *error)
{
    if (!trace_pod(p->trace, at_us, object, error))
        return false;
    struct pod *pod = &p->trace->at[p->trace->count - 1].message->pod_set.pod;
    struct str key = pod_key(p, pod->namespace_name, pod->name);
    if (pod->uid.len == 0) /* as in a dump that was written by hand: two would be taken for one */
        pod->uid = key;
    memory_free(map_set(p->pods, key, str_copy(pod->uid)));
    return true;
}

void present_lose_node(struct present *p, int64_t at_us, struct str name)
{
    free_record(map_remove(p->nodes, name));
    trace_node_gone(p->trace, at_us, name);
}

void present_lose_pod(struct present *p, int64_t at_us, struct str space, struct str name)
{
    char *uid = map_remove(p->pods, pod_key(p, space, name));
    const struct pod_gone gone = {
        .uid = str_of(uid != NULL ? uid : ""), .namespace_name = space, .name = name};
    if (uid != NULL)
        trace_pod_gone(p->trace, at_us, &gone);
    memory_free(uid);
}
