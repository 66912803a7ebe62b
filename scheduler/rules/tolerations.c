/* tolerations: which taints a pod puts up with. A toleration whose strings no node of the share
 * uses can only match through a wildcard, so everything that is asked per node compares atoms. */
#include "scheduler/rules/tolerations.h"

struct tolerance {
    bool any_key, any_value, any_effect;
    uint32_t key, value; /* atoms; 0 matches no taint */
    enum effect effect;
};

struct tolerations {
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

static struct tolerations *compile_all(const struct cycle *c, bool preferring_only)
{
    struct tolerations *all = arena_take(c->arena, sizeof(*all));
    all->at = arena_take(c->arena, c->pod->tolerations.count * sizeof(*all->at));
    for (uint32_t i = 0; i < c->pod->tolerations.count; i++) {
        struct tolerance *t = &all->at[all->count];
        if (compile(c->atoms, &c->pod->tolerations.at[i], t) &&
            (!preferring_only || t->any_effect || t->effect == EFFECT_prefer_no_schedule))
            all->count++;
    }
    return all;
}

struct tolerations *tolerations_make(const struct cycle *c)
{
    return compile_all(c, false);
}

struct tolerations *tolerations_make_preferring(const struct cycle *c)
{
    return compile_all(c, true);
}

bool tolerations_hold(const struct tolerations *all, const struct node_taint *taint)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const struct tolerance *t = &all->at[i];
        if ((t->any_effect || t->effect == taint->effect) && (t->any_key || t->key == taint->key) &&
            (t->any_value || t->value == taint->value))
            return true;
    }
    return false;
}

bool tolerations_admit(const struct tolerations *all, const struct node_entry *node)
{
    for (uint32_t i = 0; i < node->taint_count; i++) {
        const struct node_taint *taint = &node->taints[i];
        bool hard = taint->effect == EFFECT_no_schedule || taint->effect == EFFECT_no_execute;
        if (hard && !tolerations_hold(all, taint))
            return false;
    }
    return true;
}
