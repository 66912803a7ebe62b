/* Curfew, at PreEnqueue: a pod with the label plugins.example/curfew is not tried before there is a
 * node whose label plugins.example/open has the same value. Its hint: of nodes that come, or whose
 * labels change, only those that are open for somebody. */
#include "queue/hint.h"
#include "queue/mirror.h"
#include "queue/plugin.h"

static struct str value_of(uint32_t count, const struct label *labels, const char *key)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_is(labels[i].key, key))
            return labels[i].value;
    return (struct str){0};
}

static struct str curfew_of(const struct pod *pod)
{
    return value_of(pod->labels.count, pod->labels.at, "plugins.example/curfew");
}

static bool is_open(const struct node *node, struct str curfew)
{
    return str_equal(value_of(node->labels.count, node->labels.at, "plugins.example/open"), curfew);
}

static bool pre_enqueue(const struct pre_enqueue_question *q, struct str *reason)
{
    struct str curfew = curfew_of(q->pod);
    struct node node;
    size_t at = 0;
    if (curfew.len == 0)
        return true;
    while (mirror_next(q->around->mirror, EVENT_OF_node, &at, &node, q->arena))
        if (is_open(&node, curfew))
            return true;
    *reason = arena_print(q->arena, "no node is open for %.*s", STR_ARG(curfew));
    return false;
}

/* Of the event alone, so that it is asked once, however many pods wait (filed_together). */
bool hint_curfew(const struct question *q)
{
    const struct node *node = q->event->new_node;
    return value_of(node->labels.count, node->labels.at, "plugins.example/open").len > 0;
}

const struct queue_plugin queue_plugin_curfew = {
    .name = "Curfew",
    .pre_enqueue = pre_enqueue,
};
