/* tolerations: which taints a pod puts up with. A toleration whose strings no node of the share
 * uses can only match through a wildcard, so everything that is asked per node compares atoms.
 * Every pod tolerates something, and few nodes are tainted: atoms are looked up at the first taint.
 */
#include "scheduler/rules/tolerations.h"

#include "proto/kube/objects/tolerations.h"

struct tolerance {
    bool any_key, any_effect;
    enum kube_comparison comparison;
    uint32_t key, value; /* atoms; 0 matches no taint */
    int64_t bound;       /* of COMPARISON_less and COMPARISON_greater */
    enum effect effect;
};

struct tolerances {
    bool known;
    uint32_t count;
    struct tolerance *at;
};

struct tolerations {
    const struct cycle *cycle;
    struct tolerances *memo;
};

/* False when it can match nothing: unknown operators, and bounds that are no numbers. */
static bool compile(const struct cycle *c, const struct toleration *t, struct tolerance *out)
{
    bool comparison = c->framework->profile.features.toleration_comparison;
    *out = (struct tolerance){.any_key = t->key.len == 0,
                              .any_effect = t->effect.len == 0,
                              .comparison = kube_comparison_of(t->operator_name, comparison),
                              .key = atom_find(c->atoms, t->key),
                              .value = atom_find(c->atoms, t->value),
                              .effect = effect_of(t->effect)};
    bool is_bound = out->comparison == COMPARISON_less || out->comparison == COMPARISON_greater;
    if (out->comparison == COMPARISON_unknown ||
        (is_bound && !kube_whole_number(t->value, &out->bound)))
        return false;
    return out->any_effect || out->effect != EFFECT_other;
}

static const struct tolerances *compiled(const struct tolerations *all)
{
    const struct cycle *c = all->cycle;
    struct tolerances *made = all->memo;
    if (made->known)
        return made;
    made->known = true;
    made->at = arena_take(c->arena, c->pod->tolerations.count * sizeof(*made->at));
    for (uint32_t i = 0; i < c->pod->tolerations.count; i++)
        made->count += compile(c, &c->pod->tolerations.at[i], &made->at[made->count]);
    return made;
}

struct tolerations *tolerations_make(const struct cycle *c)
{
    struct tolerations *all = arena_take(c->arena, sizeof(*all));
    all->cycle = c;
    all->memo = arena_take(c->arena, sizeof(*all->memo));
    return all;
}

static bool value_suits(const struct tolerations *all, const struct tolerance *t, uint32_t value)
{
    int64_t number;
    if (t->comparison == COMPARISON_none)
        return true;
    if (t->comparison == COMPARISON_equal)
        return t->value == value;
    if (!kube_whole_number(atom_text(all->cycle->atoms, value), &number))
        return false;
    return t->comparison == COMPARISON_less ? number < t->bound : number > t->bound;
}

bool tolerations_hold(const struct tolerations *all, const struct node_taint *taint)
{
    const struct tolerances *known = compiled(all);
    for (uint32_t i = 0; i < known->count; i++) {
        const struct tolerance *t = &known->at[i];
        if ((t->any_effect || t->effect == taint->effect) && (t->any_key || t->key == taint->key) &&
            value_suits(all, t, taint->value))
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
