/* NodeDeclaredFeatures keeps a pod off nodes that have not declared every feature of the kubelet
 * that its spec makes use of. Which features a spec needs is found out where it is read. Without
 * the gate of its name it lets all pods go anywhere. */
#include "scheduler/rules/plugin.h"

struct needed {
    struct fact_memo *lists; /* of features: 1 suffices, 2 does not */
    uint32_t count;
    uint32_t *features; /* atoms; 0: no node here declares it */
};

static void pre_filter(const struct pre_filter_question *q, struct pre_filter *out)
{
    out->skip = q->pod->features.count == 0 || !q->framework->profile.features.declared_features;
}

static void *filter_begin(const struct cycle *c)
{
    struct needed *s = arena_take(c->arena, sizeof(*s));
    s->lists = arena_take(c->arena, sizeof(*s->lists));
    s->count = c->pod->features.count;
    s->features = arena_take(c->arena, s->count * sizeof(*s->features));
    for (uint32_t i = 0; i < s->count; i++)
        s->features[i] = atom_find(c->atoms, c->pod->features.at[i]);
    return s;
}

static bool declares(const struct node_entry *node, uint32_t feature)
{
    for (uint32_t i = 0; feature != 0 && i < node->feature_count; i++)
        if (node->features[i] == feature)
            return true;
    return false;
}

static bool suffices(const struct needed *s, const struct node_entry *node)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (!declares(node, s->features[i]))
            return false;
    return true;
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    (void)c;
    if (!suffices(state, n->entry[row]))
        ruling_reject(out, CODE_unresolvable, "node(s) didn't match Pod's required features",
                      (struct str){0});
}

static void filter_rows(const struct cycle *c, const void *state, const struct nodes *n,
                        struct row_range rows, uint8_t *no)
{
    const struct needed *s = state;
    const uint32_t *list = n->facts.at[FACT_features] + rows.from;
    uint32_t *known = fact_memo(s->lists, n, FACT_features, c->arena);
    for (uint32_t i = 0; i < rows.count; i++) {
        if (known[list[i]] == 0)
            known[list[i]] = suffices(s, n->entry[rows.from + i]) ? 1 : 2;
        no[i] |= known[list[i]] == 2;
    }
}

const struct plugin plugin_node_declared_features = {
    .name = "NodeDeclaredFeatures",
    .pre_filter = pre_filter,
    .filter_begin = filter_begin,
    .filter = filter,
    .filter_rows = filter_rows,
    .by_row = true,
};
