/* label_matcher: label selectors on atoms. The one idea: matchLabels are In requirements with one
 * value, so there is one kind of condition, and it compares numbers only.
 *
 * What must stay true: 0, an unknown text, never equals a label's atom; a matcher that was taken
 * drops exactly the atoms it took. */
#include "scheduler/table/label_matcher.h"

#include "proto/base/memory.h"
#include "proto/kube/objects/selector.h"

struct condition_on_label {
    bool wanted;  /* the label has to be there; false: it must not be, or not with such a value */
    bool valued;  /* with one of the values; false: with any */
    uint32_t key; /* atom */
    uint32_t value_count;
    uint32_t *values; /* atoms, in the matcher's list */
};

struct label_matcher {
    bool nothing;
    uint32_t count, value_count;
    struct condition_on_label *at;
    uint32_t *values; /* of all conditions, one after the other */
};

static uint32_t values_of(const struct selector *selector)
{
    uint32_t values = selector->labels.count;
    for (uint32_t i = 0; i < selector->expressions.count; i++)
        values += selector->expressions.at[i].values.count;
    return values;
}

static uint32_t atom_of(const struct atoms *known, struct atoms *taking, struct str text)
{
    return taking != NULL ? atom_take(taking, text) : atom_find(known, text);
}

static void fill(struct label_matcher *m, const struct selector *selector,
                 const struct atoms *known, struct atoms *taking)
{
    for (uint32_t i = 0; i < selector->labels.count; i++) {
        const struct label *l = &selector->labels.at[i];
        struct condition_on_label *c = &m->at[m->count++];
        *c = (struct condition_on_label){.wanted = true,
                                         .valued = true,
                                         .key = atom_of(known, taking, l->key),
                                         .value_count = 1,
                                         .values = m->values + m->value_count};
        m->values[m->value_count++] = atom_of(known, taking, l->value);
    }
    for (uint32_t i = 0; i < selector->expressions.count; i++) {
        const struct requirement *r = &selector->expressions.at[i];
        enum kube_operator operation = kube_operator_of(r->operator_name);
        struct condition_on_label *c = &m->at[m->count++];
        *c = (struct condition_on_label){
            .wanted = operation == OPERATOR_In || operation == OPERATOR_Exists,
            .valued = operation == OPERATOR_In || operation == OPERATOR_NotIn,
            .key = atom_of(known, taking, r->key),
            .value_count = r->values.count,
            .values = m->values + m->value_count};
        for (uint32_t k = 0; k < r->values.count; k++)
            m->values[m->value_count++] = atom_of(known, taking, r->values.at[k]);
    }
}

static bool selects(const struct selector *selector)
{
    return selector->present && label_selector_check(selector, NULL);
}

struct label_matcher *label_matcher_find(const struct atoms *atoms, const struct selector *selector,
                                         struct arena *a)
{
    struct label_matcher *m = arena_take(a, sizeof(*m));
    m->nothing = !selects(selector);
    if (m->nothing)
        return m;
    m->at = arena_take(a, (selector->labels.count + selector->expressions.count) * sizeof(*m->at));
    m->values = arena_take(a, values_of(selector) * sizeof(*m->values));
    fill(m, selector, atoms, NULL);
    return m;
}

struct label_matcher *label_matcher_take(struct atoms *atoms, const struct selector *selector)
{
    struct label_matcher *m = memory_take(sizeof(*m));
    m->nothing = !selects(selector);
    if (m->nothing)
        return m;
    m->at = memory_take_array(selector->labels.count + selector->expressions.count, sizeof(*m->at));
    m->values = memory_take_array(values_of(selector), sizeof(*m->values));
    fill(m, selector, NULL, atoms);
    return m;
}

void label_matcher_free(struct atoms *atoms, struct label_matcher **m)
{
    if (*m == NULL)
        return;
    for (uint32_t i = 0; i < (*m)->count; i++)
        atom_drop(atoms, (*m)->at[i].key);
    for (uint32_t i = 0; i < (*m)->value_count; i++)
        atom_drop(atoms, (*m)->values[i]);
    memory_free((*m)->at);
    memory_free((*m)->values);
    memory_free(*m);
    *m = NULL;
}

static bool listed(const struct condition_on_label *c, uint32_t value)
{
    for (uint32_t i = 0; i < c->value_count; i++)
        if (c->values[i] == value)
            return true;
    return false;
}

bool label_matcher_matches(const struct label_matcher *m, const struct node_label *labels,
                           uint32_t count)
{
    if (m->nothing)
        return false;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct condition_on_label *c = &m->at[i];
        uint32_t value = label_value(labels, count, c->key);
        bool there = value != 0 && (!c->valued || listed(c, value));
        if (there != c->wanted)
            return false;
    }
    return true;
}

bool label_matcher_asks(const struct label_matcher *m, uint32_t place, struct node_label *label)
{
    for (uint32_t i = 0; i < m->count; i++) {
        const struct condition_on_label *c = &m->at[i];
        if (!c->wanted || !c->valued || c->value_count != 1 || place-- > 0)
            continue;
        *label = (struct node_label){c->key, c->values[0]};
        return true;
    }
    return false;
}

bool label_matcher_is_nothing(const struct label_matcher *m)
{
    return m->nothing;
}

bool label_matcher_is_empty(const struct label_matcher *m)
{
    return !m->nothing && m->count == 0;
}
