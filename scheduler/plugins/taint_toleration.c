/* TaintToleration rejects nodes with a NoSchedule or NoExecute taint that the pod does not
 * tolerate, and prefers nodes with few PreferNoSchedule taints that it does not tolerate.
 *
 * A toleration whose strings no node of the share uses can only match through a wildcard, so after
 * filter_begin everything is a comparison of atoms. */
#include "scheduler/plugin.h"

struct tolerance {
    bool any_key, any_value, any_effect;
    uint32_t key, value; /* atoms; 0 matches no taint */
    enum effect effect;
};

struct tolerances {
    uint32_t count;
    struct tolerance *at;
};

/* False when it can match nothing: Lt, Gt and unknown operators. */
static bool compile(const struct atoms *atoms, const struct toleration *t, struct tolerance *out)
{
    bool exists = str_is(t->operator_name, "Exists");
    if (!exists && t->operator_name.len > 0 && !str_is(t->operator_name, "Equal"))
        return false;
    *out = (struct tolerance){.any_key = t->key.len == 0,
                              .any_value = exists,
                              .any_effect = t->effect.len == 0,
                              .key = atom_find(atoms, t->key),
                              .value = atom_find(atoms, t->value),
                              .effect = effect_of(t->effect)};
    return out->any_effect || out->effect != EFFECT_other;
}

static struct tolerances *compile_all(const struct cycle *c, bool preferring_only)
{
    struct tolerances *all = arena_take(c->arena, sizeof(*all));
    all->at = arena_take(c->arena, c->pod->tolerations.count * sizeof(*all->at));
    for (uint32_t i = 0; i < c->pod->tolerations.count; i++) {
        struct tolerance *t = &all->at[all->count];
        if (compile(c->atoms, &c->pod->tolerations.at[i], t) &&
            (!preferring_only || t->any_effect || t->effect == EFFECT_prefer_no_schedule))
            all->count++;
    }
    return all;
}

static bool tolerated(const struct tolerances *all, const struct node_taint *taint)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const struct tolerance *t = &all->at[i];
        if ((t->any_effect || t->effect == taint->effect) && (t->any_key || t->key == taint->key) &&
            (t->any_value || t->value == taint->value))
            return true;
    }
    return false;
}

static void *filter_begin(const struct cycle *c)
{
    return compile_all(c, false);
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    (void)c;
    const struct node_entry *node = n->entry[row];
    for (uint32_t i = 0; i < node->taint_count; i++) {
        const struct node_taint *taint = &node->taints[i];
        bool hard = taint->effect == EFFECT_no_schedule || taint->effect == EFFECT_no_execute;
        if (!hard || tolerated(state, taint))
            continue;
        ruling_reject(out, CODE_unresolvable, "node(s) had untolerated taint(s)", (struct str){0});
        return;
    }
}

static void *score_begin(const struct cycle *c)
{
    return compile_all(c, true);
}

static int64_t score(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row)
{
    (void)c;
    const struct node_entry *node = n->entry[row];
    int64_t bothering = 0;
    for (uint32_t i = 0; i < node->taint_count; i++) {
        const struct node_taint *taint = &node->taints[i];
        bothering += taint->effect == EFFECT_prefer_no_schedule && !tolerated(state, taint);
    }
    return bothering;
}

const struct plugin plugin_taint_toleration = {
    .name = "TaintToleration",
    .filter_begin = filter_begin,
    .filter = filter,
    .score_begin = score_begin,
    .score = score,
    .normalise = NORMALISE_reversed,
};
