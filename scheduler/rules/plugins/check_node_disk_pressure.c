/* CheckNodeDiskPressure, of the old Policy: keeps pods off nodes whose condition DiskPressure is
 * True. Today the node controller makes a taint of that condition, which TaintToleration honours.
 */
#include "scheduler/rules/plugin.h"

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    (void)c;
    (void)state;
    if (n->entry[row]->troubles & TROUBLE_disk_pressure)
        ruling_reject(out, CODE_unresolvable, "node(s) had disk pressure", (struct str){0});
}

const struct plugin plugin_check_node_disk_pressure = {
    .name = "CheckNodeDiskPressure",
    .filter = filter,
    .by_row = true,
};
