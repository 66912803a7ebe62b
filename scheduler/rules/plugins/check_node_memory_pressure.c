/* CheckNodeMemoryPressure, of the old Policy: keeps pods that ask for neither cpu nor memory off
 * nodes whose condition MemoryPressure is True. Today the node controller makes a taint of that
 * condition, which TaintToleration honours. */
#include "scheduler/rules/plugin.h"
#include "scheduler/table/resource.h"

/* NULL: the pod may go anywhere, since it is not of the class BestEffort. */
static void *filter_begin(const struct cycle *c)
{
    const struct pod *pod = c->pod;
    if (resource_amount(pod->request.at, pod->request.count, STR_LITERAL("cpu")) > 0 ||
        resource_amount(pod->request.at, pod->request.count, STR_LITERAL("memory")) > 0)
        return NULL;
    return arena_take(c->arena, 1);
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    (void)c;
    if (state != NULL && n->entry[row]->troubles & TROUBLE_memory_pressure)
        ruling_reject(out, CODE_unresolvable, "node(s) had memory pressure", (struct str){0});
}

const struct plugin plugin_check_node_memory_pressure = {
    .name = "CheckNodeMemoryPressure",
    .filter_begin = filter_begin,
    .filter = filter,
    .by_row = true,
};
