/* CheckNodeLabelPresence, of the old Policy: nodes must have, or must not have, certain labels,
 * whatever their values. Today a profile says so with NodeAffinity's addedAffinity and the
 * operators Exists and DoesNotExist. */
#include "scheduler/rules/plugin.h"

struct presence {
    bool wanted;
    uint32_t count;
    uint32_t *keys; /* atoms; 0: no node here has it */
};

struct presences {
    uint32_t count;
    struct presence *at;
};

static void *filter_begin(const struct cycle *c)
{
    const struct profile *profile = &c->framework->profile;
    struct presences *all = arena_take(c->arena, sizeof(*all));
    all->count = profile->label_presence.count;
    all->at = arena_take(c->arena, all->count * sizeof(*all->at));
    for (uint32_t i = 0; i < all->count; i++) {
        const struct label_rule *rule = &profile->label_presence.at[i];
        struct presence *p = &all->at[i];
        *p = (struct presence){rule->presence, rule->labels.count,
                               arena_take(c->arena, rule->labels.count * sizeof(uint32_t))};
        for (uint32_t k = 0; k < p->count; k++)
            p->keys[k] = atom_find(c->atoms, rule->labels.at[k]);
    }
    return all;
}

static bool holds(const struct presence *p, const struct node_entry *node)
{
    for (uint32_t i = 0; i < p->count; i++) {
        bool there = p->keys[i] != 0 && label_value(node->labels, node->label_count, p->keys[i]);
        if (there != p->wanted)
            return false;
    }
    return true;
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    (void)c;
    const struct presences *all = state;
    for (uint32_t i = 0; i < all->count; i++)
        if (!holds(&all->at[i], n->entry[row])) {
            ruling_reject(out, CODE_unresolvable, "node(s) didn't have the requested labels",
                          (struct str){0});
            return;
        }
}

const struct plugin plugin_check_node_label_presence = {
    .name = "CheckNodeLabelPresence",
    .filter_begin = filter_begin,
    .filter = filter,
    .by_row = true,
};
