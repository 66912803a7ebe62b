/* NodeUnschedulable keeps pods off cordoned nodes, unless they tolerate the taint that such a node
 * is understood to carry, whether or not the node controller has written it yet. */
#include "proto/kube/objects/tolerations.h"
#include "scheduler/rules/plugin.h"
#include "scheduler/table/kernels.h"

/* Has no value, so Lt and Gt never hold for it. */
static const struct taint cordoned = {.key = {"node.kubernetes.io/unschedulable", 32},
                                      .effect = {"NoSchedule", 10}};

/* NULL when the pod may go anywhere. */
static void *filter_begin(const struct cycle *c)
{
    for (uint32_t i = 0; i < c->pod->tolerations.count; i++)
        if (kube_tolerates(&c->pod->tolerations.at[i], &cordoned, false))
            return NULL;
    return arena_take(c->arena, 1);
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    (void)c;
    if (state != NULL && n->entry[row]->unschedulable)
        ruling_reject(out, CODE_unresolvable, "node(s) were unschedulable", (struct str){0});
}

static void filter_rows(const struct cycle *c, const void *state, const struct nodes *n,
                        struct row_range rows, uint8_t *no)
{
    (void)c;
    if (state != NULL && n->facts.limit[FACT_unschedulable] > 1)
        kernel_mark(n->facts.at[FACT_unschedulable] + rows.from, rows.count, no);
}

const struct plugin plugin_node_unschedulable = {
    .name = "NodeUnschedulable",
    .filter_begin = filter_begin,
    .filter = filter,
    .filter_rows = filter_rows,
    .by_row = true,
};
