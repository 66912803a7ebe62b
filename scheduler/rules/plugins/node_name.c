/* NodeName lets a pod that names its node go there only. Pending pods name none, so this rule
 * rarely has anything to say; it counts for pods that are on a node and are tried for the sake of
 * their resize, and when somebody asks what would become of an assigned pod. */
#include "scheduler/rules/plugin.h"

/* Since 1.37: no other node is looked at. */
static void pre_filter(const struct pre_filter_question *q, struct pre_filter *out)
{
    if (q->pod->node_name.len == 0)
        return;
    out->narrow = true;
    out->names = (struct strs){1, arena_take(q->arena, sizeof(struct str))};
    out->names.at[0] = q->pod->node_name;
}

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
    .pre_filter = pre_filter,
    .filter_begin = filter_begin,
    .filter = filter,
    .filter_rows = filter_rows,
    .of_resizes = true,
    .by_row = true,
};
