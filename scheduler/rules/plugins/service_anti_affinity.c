/* ServiceAntiAffinity, of the old Policy: spreads the pods of a service over the values of a label
 * of nodes: a node gets the share of the service's pods that is not in its domain; nodes without
 * the label get 0. Today a topology spread constraint with that key does so. With several labels
 * their mean counts. */
#include "scheduler/rules/siblings.h"

extern const struct plugin plugin_service_anti_affinity;

struct domains {
    uint32_t count;
    uint32_t *keys; /* atoms; 0: no node here has it */
    const struct counts *found;
};

static bool counts(const struct framework *fw, const struct pod *pod,
                   const struct findings *findings)
{
    (void)pod;
    (void)findings;
    return fw->profile.service_anti_affinity.count > 0;
}

/* Slot i: pods by value of label i; slot i + labels: all of the service's, on any node. */
static void count(const struct cycle *c, struct counts *out)
{
    const struct strs *labels = &c->framework->profile.service_anti_affinity;
    const struct siblings *s = siblings_make(c, SIBLINGS_of_first_service);
    for (uint32_t i = 0; i < labels->count; i++) {
        uint32_t key = atom_find(c->atoms, labels->at[i]);
        for (uint32_t row = 0; row < c->nodes->count; row++) {
            const struct node_entry *node = c->nodes->entry[row];
            int64_t pods = siblings_on(s, node);
            uint32_t value = key == 0 ? 0 : label_value(node->labels, node->label_count, key);
            if (value != 0)
                counts_add(out, i, 0, value, pods);
            counts_add(out, i + labels->count, 0, 0, pods);
        }
    }
}

static void *score_begin(const struct cycle *c)
{
    const struct strs *labels = &c->framework->profile.service_anti_affinity;
    struct domains *d = arena_take(c->arena, sizeof(*d));
    d->found = cycle_counts(c, &plugin_service_anti_affinity);
    d->count = labels->count;
    d->keys = arena_take(c->arena, d->count * sizeof(*d->keys));
    for (uint32_t i = 0; i < d->count; i++)
        d->keys[i] = atom_find(c->atoms, labels->at[i]);
    return d;
}

static int64_t score(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row)
{
    (void)c;
    const struct domains *d = state;
    const struct node_entry *node = n->entry[row];
    int64_t sum = 0, all, here;
    for (uint32_t i = 0; i < d->count; i++) {
        uint32_t key = d->keys[i];
        uint32_t value = key == 0 ? 0 : label_value(node->labels, node->label_count, key);
        counts_get(d->found, i + d->count, 0, 0, &all);
        if (value == 0 || !counts_get(d->found, i, 0, value, &here))
            continue;
        sum += all == 0 ? SCORE_MAX : SCORE_MAX * (all - here) / all;
    }
    return d->count == 0 ? 0 : sum / d->count;
}

const struct plugin plugin_service_anti_affinity = {
    .name = "ServiceAntiAffinity",
    .prepare = siblings_prepare,
    .counts = counts,
    .count = count,
    .score_begin = score_begin,
    .score = score,
};
