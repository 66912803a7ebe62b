/* trace: a list of messages as the watcher would say them. What must stay true: a pod comes as it
 * was created, with a node only if it had one then; where else it went is decided anew. */
#include "ctl/import/trace.h"

#include "ctl/pod_defaults.h"
#include "proto/base/memory.h"
#include "proto/kube/documents/json.h"
#include "proto/kube/objects/objects.h"

#include <stdlib.h>

void trace_free(struct trace *t)
{
    memory_free(t->at);
    arena_free(&t->memory);
    *t = (struct trace){0};
}

static struct message *add(struct trace *t, int64_t at_us, enum message_type type)
{
    if (t->count == t->room) {
        t->room = 2 * t->room + 256;
        t->at = memory_resize(t->at, t->room * sizeof(*t->at));
    }
    struct message *m = arena_take(&t->memory, sizeof(*m));
    m->type = type;
    t->at[t->count] = (struct trace_event){at_us, t->count, m};
    t->count++;
    return m;
}

bool trace_node(struct trace *t, int64_t at_us, const struct kube_json *object, struct str *error)
{
    struct node node;
    if (!kube_object_node(object, &node, &t->memory, error))
        return false;
    add(t, at_us, MSG_node_set)->node_set.node = node;
    return true;
}

bool trace_pod(struct trace *t, int64_t at_us, const struct kube_json *object, struct str *error)
{
    struct kube_json *filled = pod_defaults(object);
    struct pod pod;
    bool good = kube_object_pod(filled != NULL ? filled : object, &pod, &t->memory, error);
    kube_json_free(&filled);
    if (!good)
        return false;
    pod.nominated_node = (struct str){NULL, 0};
    pod.scheduled = (struct condition){0};
    pod.deleting = false;
    add(t, at_us, MSG_pod_set)->pod_set.pod = pod;
    return true;
}

void trace_node_gone(struct trace *t, int64_t at_us, struct str name)
{
    add(t, at_us, MSG_node_gone)->node_gone.name = arena_copy(&t->memory, name);
}

void trace_pod_gone(struct trace *t, int64_t at_us, const struct pod_gone *gone)
{
    struct message *m = add(t, at_us, MSG_pod_gone);
    codec_copy(message_info[MSG_pod_gone].record, &m->pod_gone, gone, &t->memory);
}

static int by_time(const void *a, const void *b)
{
    const struct trace_event *one = a, *other = b;
    if (one->at_us != other->at_us)
        return one->at_us < other->at_us ? -1 : 1;
    return one->line < other->line ? -1 : one->line > other->line;
}

void trace_sort(struct trace *t)
{
    if (t->count > 0)
        qsort(t->at, t->count, sizeof(*t->at), by_time);
}
