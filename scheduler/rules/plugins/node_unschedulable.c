/* NodeUnschedulable keeps pods off cordoned nodes, unless they tolerate the taint that such a node
 * is understood to carry, whether or not the node controller has written it yet. */
#include "scheduler/rules/plugin.h"
#include "scheduler/table/kernels.h"

static bool tolerates(const struct toleration *t)
{
    if (t->effect.len > 0 && !str_is(t->effect, "NoSchedule"))
        return false;
    if (t->key.len > 0 && !str_is(t->key, "node.kubernetes.io/unschedulable"))
        return false;
    if (t->operator_name.len == 0 || str_is(t->operator_name, "Equal"))
        return t->value.len == 0;
    return str_is(t->operator_name, "Exists");
}

/* NULL when the pod may go anywhere. */
static void *filter_begin(const struct cycle *c)
{
    for (uint32_t i = 0; i < c->pod->tolerations.count; i++)
        if (tolerates(&c->pod->tolerations.at[i]))
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
