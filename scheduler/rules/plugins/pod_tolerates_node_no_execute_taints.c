/* PodToleratesNodeNoExecuteTaints, of the old Policy: looks at the taints that evict, and at no
 * others. Today TaintToleration looks at NoSchedule as well. */
#include "scheduler/rules/tolerations.h"

static void *filter_begin(const struct cycle *c)
{
    return tolerations_make(c);
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    (void)c;
    const struct node_entry *node = n->entry[row];
    for (uint32_t i = 0; i < node->taint_count; i++) {
        const struct node_taint *taint = &node->taints[i];
        if (taint->effect != EFFECT_no_execute || tolerations_hold(state, taint))
            continue;
        ruling_reject(out, CODE_unresolvable, "node(s) had taints that the pod didn't tolerate",
                      (struct str){0});
        return;
    }
}

const struct plugin plugin_pod_tolerates_node_no_execute_taints = {
    .name = "PodToleratesNodeNoExecuteTaints",
    .filter_begin = filter_begin,
    .filter = filter,
    .by_row = true,
};
