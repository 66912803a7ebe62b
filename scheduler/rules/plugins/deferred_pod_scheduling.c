/* DeferredPodScheduling keeps a pod whose resize its node has put off to that node, and away from
 * it where the node wants nobody evicted for a resize. That the resize fits is no success either:
 * the coordinator ends such an attempt (placing.c). */
#include "scheduler/rules/plugin.h"

static void pre_filter(const struct pre_filter_question *q, struct pre_filter *out)
{
    out->skip = !q->pod->resize_deferred;
}

struct own_node {
    bool any;      /* the pod is on none */
    uint32_t name; /* 0: no node of this share is called so */
};

static void *filter_begin(const struct cycle *c)
{
    struct own_node *own = arena_take(c->arena, sizeof(*own));
    own->any = c->pod->node_name.len == 0;
    own->name = atom_find(c->atoms, c->pod->node_name);
    return own;
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    const struct own_node *own = state;
    if (!c->pod->resize_deferred)
        return;
    if (!own->any && n->entry[row]->name != own->name)
        ruling_reject(out, CODE_unresolvable, "pod assigned to different node", (struct str){0});
    else if (n->entry[row]->spares_from_resizes)
        ruling_reject(out, CODE_unresolvable, "node had resize preemption disabled",
                      (struct str){0});
}

const struct plugin plugin_deferred_pod_scheduling = {
    .name = "DeferredPodScheduling",
    .pre_filter = pre_filter,
    .filter_begin = filter_begin,
    .filter = filter,
    .of_resizes = true,
    .by_row = true,
};
