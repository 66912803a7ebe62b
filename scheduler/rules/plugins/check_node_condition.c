/* CheckNodeCondition, of the old Policy: keeps pods off nodes that are not ready, have no network,
 * are out of disk space or are cordoned. Today the node controller turns the first two into taints,
 * which TaintToleration honours, and NodeUnschedulable sees to the last. */
#include "scheduler/rules/plugin.h"

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    (void)c;
    (void)state;
    const struct str nothing = {0};
    const struct node_entry *node = n->entry[row];
    if (node->troubles & TROUBLE_not_ready)
        ruling_reject(out, CODE_unresolvable, "node(s) were not ready", nothing);
    if (node->troubles & TROUBLE_out_of_disk)
        ruling_reject(out, CODE_unresolvable, "node(s) were out of disk space", nothing);
    if (node->troubles & TROUBLE_no_network)
        ruling_reject(out, CODE_unresolvable, "node(s) had unavailable network", nothing);
    if (node->unschedulable)
        ruling_reject(out, CODE_unresolvable, "node(s) were unschedulable", nothing);
}

const struct plugin plugin_check_node_condition = {
    .name = "CheckNodeCondition",
    .filter = filter,
    .by_row = true,
};
