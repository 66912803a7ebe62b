/* NodeLabelPriority, of the old Policy: prefers nodes that have, or do not have, certain labels;
 * 100 divided among the rules that hold. Today preferred node affinity says so for a pod, and
 * NodeAffinity's addedAffinity for a profile. */
#include "scheduler/rules/plugin.h"

struct wishes {
    uint32_t count;
    struct wish {
        uint32_t key; /* atom; 0: no node here has it */
        bool presence;
    } * at;
};

static void *score_begin(const struct cycle *c)
{
    const struct profile *profile = &c->framework->profile;
    struct wishes *w = arena_take(c->arena, sizeof(*w));
    uint32_t room = 0;
    for (uint32_t i = 0; i < profile->label_preferences.count; i++)
        room += profile->label_preferences.at[i].labels.count;
    w->at = arena_take(c->arena, room * sizeof(*w->at));
    for (uint32_t i = 0; i < profile->label_preferences.count; i++) {
        const struct label_rule *rule = &profile->label_preferences.at[i];
        for (uint32_t k = 0; k < rule->labels.count; k++)
            w->at[w->count++] =
                (struct wish){atom_find(c->atoms, rule->labels.at[k]), rule->presence};
    }
    return w;
}

static int64_t score(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row)
{
    (void)c;
    const struct wishes *w = state;
    const struct node_entry *node = n->entry[row];
    int64_t held = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t key = w->at[i].key;
        bool there = key != 0 && label_value(node->labels, node->label_count, key) != 0;
        held += there == w->at[i].presence;
    }
    return w->count == 0 ? 0 : held * SCORE_MAX / w->count;
}

const struct plugin plugin_node_label_priority = {
    .name = "NodeLabelPriority",
    .score_begin = score_begin,
    .score = score,
    .by_row = true,
};
