/* plugin: the contract between the queue and a plugin: PreEnqueue and QueueSort. What wakes the
 * pods that it rejects or holds back, upstream's EnqueueExtensions, are its rows HINTS and WAKE in
 * proto/plugins.def, with questions as in hint.h; without them that is every event.
 *
 * Example, Quiet, which holds back pods of a namespace until a node with the label quiet=NAMESPACE
 * is there:
 *
 *     static bool pre_enqueue(const struct pre_enqueue_question *q, struct str *reason)
 *     {
 *         *reason = STR_LITERAL("its namespace is quiet");
 *         return any_node_has(q->around->mirror, "quiet", q->pod->namespace_name);
 *     }
 *     const struct queue_plugin queue_plugin_quiet = {
 *         .name = "Quiet", .pre_enqueue = pre_enqueue};
 *
 * in queue/plugins/quiet.c, and in proto/plugins.def
 *
 *     PLUGIN(Quiet, OPT_IN, P(pre_enqueue), NO_RULE)
 *     QUEUE_PLUGIN(quiet)
 *     HINTS(Quiet, "namespace_name")
 *     WAKE(Quiet, node, EVENT_ADD | EVENT_NODE_LABEL, NULL, filed_together)
 *
 * A pod of namespace dev comes: it is gated, not tried, and told nothing. Node n1 gets the label:
 * the WAKE row says that this may help, pre_enqueue is asked again, and the pod is in line.
 *
 * All hooks are pure, and answer at once. */
#ifndef QUEUE_PLUGIN_H
#define QUEUE_PLUGIN_H

#include "queue/hints.h"

struct pre_enqueue_question {
    const struct pod *pod;
    const struct surroundings *around; /* its profile, and what the queue remembers (mirror.h) */
    struct arena *arena;               /* for what is looked up, and the reason */
};

/* Hooks that a plugin does not need are NULL. */
struct queue_plugin {
    const char *name; /* as in the configuration */
    /* Whether the pod may be tried. False: it is gated, for this reason, which the log tells. Asked
     * when a pod comes, when an event may help it, and when it comes back from an attempt. */
    bool (*pre_enqueue)(const struct pre_enqueue_question *q, struct str *reason);
    /* Who goes first: the greater number, then upstream's order by time. Asked when a pod comes or
     * changes. A group has the greatest of its pods that wait. Only one plugin sorts. */
    int64_t (*sort_key)(const struct pod *pod);
};

#endif
