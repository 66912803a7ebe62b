/* NodeName lets a pod that names its node go there only. Pending pods name none, so this rule
 * rarely has anything to say; it counts when somebody asks what would become of an assigned pod. */
#include "scheduler/rules/plugin.h"

struct wanted {
    bool any;
    uint32_t name; /* 0: no node of this share is called so */
};

static void *filter_begin(const struct cycle *c)
{
    struct wanted *w = arena_take(c->arena, sizeof(*w));
    w->any = c->pod->node_name.len == 0;
    w->name = atom_find(c->atoms, c->pod->node_name);
    return w;
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    (void)c;
    const struct wanted *w = state;
    if (!w->any && n->entry[row]->name != w->name)
        ruling_reject(out, CODE_unresolvable, "node(s) didn't match the requested node name",
                      (struct str){0});
}

static void filter_rows(const struct cycle *c, const void *state, const struct nodes *n,
                        struct row_range rows, uint8_t *no)
{
    (void)c;
    const struct wanted *w = state;
    if (w->any)
        return;
    const uint32_t *name = facts_of_name(n) + rows.from;
    for (uint32_t i = 0; i < rows.count; i++)
        no[i] |= name[i] != w->name;
}

const struct plugin plugin_node_name = {
    .name = "NodeName",
    .filter_begin = filter_begin,
    .filter = filter,
    .filter_rows = filter_rows,
    .by_row = true,
};
