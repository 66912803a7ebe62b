/* hooks: the queue's plugins (QUEUE_PLUGIN rows of plugins.def) by name, and the calls of their
 * hooks, which are counted with upstream's metric. What must stay true: a plugin runs only where
 * the profile lists it, and the first that holds a pod back is the one that is said to. */
#include "queue/hooks/hooks.h"

#include "proto/base/log.h"
#include "proto/base/must.h"
#include "proto/metrics.h"

/* clang-format off */
#define QUEUE_PLUGIN(file) extern const struct queue_plugin queue_plugin_##file;
#include "proto/plugins.def"

static const struct queue_plugin *const registry[] = {
#define QUEUE_PLUGIN(file) &queue_plugin_##file,
#include "proto/plugins.def"
};
/* clang-format on */

const struct queue_plugin *queue_plugin_find(struct str name)
{
    for (size_t i = 0; i < sizeof(registry) / sizeof(registry[0]); i++) {
        must(registry[i] != NULL);
        if (str_is(name, registry[i]->name))
            return registry[i];
    }
    return NULL;
}

uint32_t hooks_before_queue(struct strs names, const struct queue_plugin ***out, struct arena *a)
{
    uint32_t count = 0;
    *out = arena_take(a, names.count * sizeof(struct queue_plugin *));
    for (uint32_t i = 0; i < names.count; i++) {
        const struct queue_plugin *p = queue_plugin_find(names.at[i]);
        if (p != NULL && p->pre_enqueue != NULL)
            (*out)[count++] = p;
    }
    return count;
}

static struct moment read(const struct surroundings *around)
{
    bool timed = around->timing != NULL && around->timing->clock != NULL;
    return timed ? around->timing->clock() : (struct moment){0};
}

static void count(const struct surroundings *around, const char *point, const char *plugin,
                  const char *status, struct moment began)
{
    const struct str *values = METRIC_VALUES(str_of(plugin), str_of(point), str_of(status));
    series_observe(metric_series(METRIC_scheduler_plugin_execution_duration_seconds, values),
                   moment_since(read(around), began).ns);
}

static bool lets_in(const struct queue_plugin *p, const struct pre_enqueue_question *q)
{
    struct str reason = {0};
    struct moment began = read(q->around);
    bool may = p->pre_enqueue(q, &reason);
    count(q->around, "PreEnqueue", p->name, may ? "Success" : "UnschedulableAndUnresolvable",
          began);
    if (!may)
        log_debug("held back| pod=%.*s/%.*s plugin=%s reason=\"%.*s\"",
                  STR_ARG(q->pod->namespace_name), STR_ARG(q->pod->name), p->name, STR_ARG(reason));
    return may;
}

const struct queue_plugin *hooks_hold(const struct surroundings *around, const struct pod *pod)
{
    struct arena memory = {0};
    const struct pre_enqueue_question q = {pod, around, &memory};
    const struct queue_plugin *by = NULL;
    for (uint32_t i = 0; by == NULL && i < around->hook_count; i++)
        if (!lets_in(around->hooks[i], &q))
            by = around->hooks[i];
    arena_free(&memory);
    return by;
}

int64_t hooks_sort_key(const struct surroundings *around, const struct pod *pod)
{
    const struct queue_plugin *p = around->sort;
    if (p == NULL)
        return pod->priority;
    must(p->sort_key != NULL);
    struct moment began = read(around);
    int64_t key = p->sort_key(pod);
    count(around, "QueueSort", p->name, "Success", began);
    return key;
}
