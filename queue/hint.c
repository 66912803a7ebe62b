/* hint: the questions about pods that changed or went, and what questions of other files share.
 * What must stay true: nothing here knows plugins.def, so that every file of questions may stand on
 * this one and the table on all of them. */
#include "queue/hint.h"

bool hint_has_node(const struct pod *pod)
{
    return pod->node_name.len > 0 || pod->nominated_node.len > 0;
}

bool hint_same_pod(const struct question *q)
{
    const struct pod *new = q->event->new_pod;
    return new != NULL &&str_equal(new->uid, q->pod->uid);
}

bool hint_may_use(const struct question *q, struct str node)
{
    return !q->pod->resize_deferred || str_equal(q->pod->node_name, node) || str_is(node, "?");
}

/* The pod that is gone had room that others may use. */
bool hint_room_freed(const struct question *q)
{
    const struct pod *gone = q->event->old_pod;
    return hint_has_node(gone) && hint_may_use(q, gone->node_name);
}

/* Somebody on its node takes more: where its resize had room, or nobody to evict would do, that may
 * be over. */
bool hint_resize_weighed_anew(const struct question *q)
{
    return q->pod->resize_deferred && str_equal(q->pod->node_name, q->event->new_pod->node_name);
}

static int64_t amount_of(uint32_t count, const struct quantity *list, struct str name)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_equal(list[i].name, name))
            return list[i].amount;
    return 0;
}

bool hint_usage_lowered(const struct question *q)
{
    const struct pod *pod = q->pod, *old = q->event->old_pod, *new = q->event->new_pod;
    if (q->event->resource != EVENT_OF_assigned_pod)
        return hint_same_pod(q);
    if (!hint_may_use(q, new->node_name))
        return false;
    for (uint32_t i = 0; i < pod->request.count; i++) {
        struct str name = pod->request.at[i].name;
        if (pod->request.at[i].amount > 0 && amount_of(new->usage.count, new->usage.at, name) <
                                                 amount_of(old->usage.count, old->usage.at, name))
            return true;
    }
    return false;
}

static bool ports_clash(const struct host_port *wanted, const struct host_port *used)
{
    if (wanted->port != used->port || !str_equal(wanted->protocol, used->protocol))
        return false;
    return str_is(wanted->ip, "0.0.0.0") || str_is(used->ip, "0.0.0.0") ||
           str_equal(wanted->ip, used->ip);
}

bool hint_ports_freed(const struct question *q)
{
    const struct pod *pod = q->pod, *gone = q->event->old_pod;
    if (!hint_has_node(gone))
        return false;
    for (uint32_t i = 0; i < pod->ports.count; i++)
        for (uint32_t k = 0; k < gone->ports.count; k++)
            if (ports_clash(&pod->ports.at[i], &gone->ports.at[k]))
                return true;
    return false;
}

/* Its own spec says now that it needs other features. */
bool hint_features_changed(const struct question *q)
{
    const struct pod *old = q->event->old_pod, *new = q->event->new_pod;
    return hint_same_pod(q) && !event_same_strs(&old->features, &new->features);
}
