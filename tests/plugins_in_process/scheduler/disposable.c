/* Disposable, at PostFilter: a pod that fits nowhere gets the node of a pod with the label
 * plugins.example/disposable, which is evicted, whatever the priorities. Pods that are themselves
 * disposable get nothing; those with the label plugins.example/broken make it fail. */
#include "scheduler/rules/plugin.h"

#define DISPOSABLE "plugins.example/disposable"

static bool has_label(const struct pod *pod, const char *key)
{
    for (uint32_t i = 0; i < pod->labels.count; i++)
        if (str_is(pod->labels.at[i].key, key))
            return true;
    return false;
}

struct search {
    const struct no_node_question *question;
    struct str node;
    struct no_node_reply *out;
};

static void look_at_pod(void *context, const struct pod *pod, bool assumed)
{
    struct search *s = context;
    struct arena *a = s->question->arena;
    if (assumed || pod->deleting || s->out->victims.count > 0 || !has_label(pod, DISPOSABLE))
        return;
    struct victim *victim = arena_take(a, sizeof(*victim));
    *victim = (struct victim){.uid = arena_copy(a, pod->uid),
                              .namespace_name = arena_copy(a, pod->namespace_name),
                              .name = arena_copy(a, pod->name),
                              .priority = pod->priority};
    s->out->victims.at = victim;
    s->out->victims.count = 1;
    s->out->node = arena_copy(a, s->node);
    s->out->code = CODE_success;
}

static void look_at_node(void *context, struct str name)
{
    struct search *s = context;
    const struct cluster_view *cluster = s->question->cluster;
    s->node = name;
    cluster->pods(cluster->state, name, look_at_pod, s);
}

static void post_filter(const struct no_node_question *q, struct no_node_reply *out)
{
    struct search s = {.question = q, .out = out};
    if (has_label(q->pod, "plugins.example/broken")) {
        *out =
            (struct no_node_reply){CODE_error, STR_LITERAL("disposable: out of order"), {0}, {0}};
        return;
    }
    if (q->cluster != NULL && q->rejection.len == 0 && !has_label(q->pod, DISPOSABLE))
        q->cluster->nodes(q->cluster->state, look_at_node, &s);
    if (out->code != CODE_success)
        out->reason = STR_LITERAL("disposable: nobody is");
}

const struct plugin plugin_disposable = {
    .name = "Disposable",
    .post_filter = post_filter,
};
