/* node_selector: the semantics of upstream's component-helpers nodeaffinity package on atoms. The
 * one idea: a string that no node of the share uses has no atom, and 0 never equals a node's atom.
 * What must stay true: a malformed requirement makes its whole term match nothing. */
#include "scheduler/rules/node_selector.h"

#include "proto/kube/objects/selector.h"
#include "scheduler/table/kernels.h"

#include <string.h>

struct condition_on_label {
    enum kube_operator operation;
    uint32_t key;
    uint32_t value_count;
    uint32_t *values;
    int64_t bound; /* for OPERATOR_Gt and OPERATOR_Lt */
};

/* A field other than metadata.name is empty on every node. */
struct condition_on_field {
    bool is_name, negated, wants_empty;
    uint32_t name;
};

struct node_matcher {
    bool malformed;
    uint32_t label_count, field_count;
    struct condition_on_label *labels;
    struct condition_on_field *fields;
};

/* Upstream's labels.NewRequirement. */
static bool well_formed(const struct requirement *r, enum kube_operator operation)
{
    if (operation == OPERATOR_unknown || !kube_label_key_valid(r->key))
        return false;
    int64_t number;
    bool counts_ok = true;
    if (operation == OPERATOR_In || operation == OPERATOR_NotIn)
        counts_ok = r->values.count > 0;
    else if (operation == OPERATOR_Exists || operation == OPERATOR_DoesNotExist)
        counts_ok = r->values.count == 0;
    else
        counts_ok = r->values.count == 1 && str_to_i64(r->values.at[0], &number);
    for (uint32_t i = 0; counts_ok && i < r->values.count; i++)
        counts_ok = kube_label_value_valid(r->values.at[i]);
    return counts_ok;
}

static bool compile_label(const struct cycle *c, const struct requirement *r,
                          struct condition_on_label *out)
{
    out->operation = kube_operator_of(r->operator_name);
    if (!well_formed(r, out->operation))
        return false;
    out->key = atom_find(c->atoms, r->key);
    if (out->operation == OPERATOR_Gt || out->operation == OPERATOR_Lt)
        return str_to_i64(r->values.at[0], &out->bound);
    out->value_count = r->values.count;
    out->values = arena_take(c->arena, r->values.count * sizeof(*out->values));
    for (uint32_t i = 0; i < r->values.count; i++)
        out->values[i] = atom_find(c->atoms, r->values.at[i]);
    return true;
}

static bool compile_field(const struct cycle *c, const struct requirement *r,
                          struct condition_on_field *out)
{
    enum kube_operator operation = kube_operator_of(r->operator_name);
    if ((operation != OPERATOR_In && operation != OPERATOR_NotIn) || r->values.count != 1)
        return false;
    *out = (struct condition_on_field){.is_name = str_is(r->key, "metadata.name"),
                                       .negated = operation == OPERATOR_NotIn,
                                       .wants_empty = r->values.at[0].len == 0,
                                       .name = atom_find(c->atoms, r->values.at[0])};
    return true;
}

struct required_affinity {
    uint32_t pair_count, term_count;
    struct pair {
        uint32_t key, value; /* atoms; 0 matches no node */
    } * pairs;               /* nodeSelector */
    bool has_terms;
    struct node_matcher **terms;
};

struct node_matcher *node_matcher_make(const struct cycle *c, const struct node_term *term)
{
    if (term->expressions.count == 0 && term->fields.count == 0)
        return NULL;
    struct node_matcher *m = arena_take(c->arena, sizeof(*m));
    m->labels = arena_take(c->arena, term->expressions.count * sizeof(*m->labels));
    m->fields = arena_take(c->arena, term->fields.count * sizeof(*m->fields));
    for (uint32_t i = 0; i < term->expressions.count && !m->malformed; i++)
        m->malformed = !compile_label(c, &term->expressions.at[i], &m->labels[m->label_count++]);
    for (uint32_t i = 0; i < term->fields.count && !m->malformed; i++)
        m->malformed = !compile_field(c, &term->fields.at[i], &m->fields[m->field_count++]);
    return m;
}

uint32_t node_label_value(const struct node_entry *node, uint32_t key)
{
    return label_value(node->labels, node->label_count, key);
}

static bool listed(const struct condition_on_label *w, uint32_t value)
{
    for (uint32_t i = 0; i < w->value_count; i++)
        if (w->values[i] == value)
            return true;
    return false;
}

static bool label_holds(const struct atoms *atoms, const struct condition_on_label *w,
                        const struct node_entry *node)
{
    uint32_t value = w->key == 0 ? 0 : node_label_value(node, w->key);
    int64_t number;
    switch (w->operation) {
    case OPERATOR_In: return value != 0 && listed(w, value);
    case OPERATOR_NotIn: return value == 0 || !listed(w, value);
    case OPERATOR_Exists: return value != 0;
    case OPERATOR_DoesNotExist: return value == 0;
    case OPERATOR_Gt: return value != 0 && atom_integer(atoms, value, &number) && number > w->bound;
    case OPERATOR_Lt: return value != 0 && atom_integer(atoms, value, &number) && number < w->bound;
    case OPERATOR_unknown: break;
    }
    return false;
}

bool node_matcher_matches(const struct atoms *atoms, const struct node_matcher *m,
                          const struct node_entry *node)
{
    if (m->malformed)
        return false;
    for (uint32_t i = 0; i < m->label_count; i++)
        if (!label_holds(atoms, &m->labels[i], node))
            return false;
    for (uint32_t i = 0; i < m->field_count; i++) {
        const struct condition_on_field *f = &m->fields[i];
        bool equal = f->is_name ? f->name == node->name : f->wants_empty;
        if (equal == f->negated)
            return false;
    }
    return true;
}

/* A matcher is found by one of so many values at most, so that what a peer says takes no more
 * memory than a small multiple of its bytes. */
enum { FINDING_VALUES_MAX = 8 };

/* The condition by which the matcher is best found: one value of a label, or a few; of several the
 * last, as zones come behind regions. NULL: it asks for no label by its values. */
static const struct condition_on_label *finding(const struct node_matcher *m)
{
    const struct condition_on_label *best = NULL;
    for (uint32_t i = 0; i < m->label_count; i++) {
        const struct condition_on_label *w = &m->labels[i];
        if (w->operation == OPERATOR_In && w->value_count <= FINDING_VALUES_MAX &&
            (best == NULL || w->value_count <= best->value_count))
            best = w;
    }
    return best;
}

uint32_t node_matcher_index_room(const struct node_matcher *m)
{
    const struct condition_on_label *w = finding(m);
    return w == NULL ? 1 : w->value_count;
}

void node_matcher_index(const struct node_matcher *m, uint32_t number, struct label_index *x)
{
    const struct condition_on_label *w = finding(m);
    if (m->malformed)
        return;
    for (uint32_t i = 0; w != NULL && i < w->value_count; i++)
        label_index_add(x, number, (struct node_label){w->key, w->values[i]});
    if (w == NULL)
        label_index_add_any(x, number);
}

/* ---- what a pod requires ---- */

uint32_t node_matchers_make(const struct cycle *c, const struct node_term *at, uint32_t count,
                            struct node_matcher ***out)
{
    uint32_t kept = 0;
    *out = arena_take(c->arena, count * sizeof(struct node_matcher *));
    for (uint32_t i = 0; i < count; i++) {
        struct node_matcher *m = node_matcher_make(c, &at[i]);
        if (m != NULL)
            (*out)[kept++] = m;
    }
    return kept;
}

bool node_matchers_match_any(const struct atoms *atoms, struct node_matcher *const *terms,
                             uint32_t count, const struct node_entry *node)
{
    for (uint32_t i = 0; i < count; i++)
        if (node_matcher_matches(atoms, terms[i], node))
            return true;
    return false;
}

struct required_affinity *required_affinity_make(const struct cycle *c)
{
    struct required_affinity *r = arena_take(c->arena, sizeof(*r));
    const struct pod *pod = c->pod;
    r->pair_count = pod->node_selector.count;
    r->pairs = arena_take(c->arena, r->pair_count * sizeof(*r->pairs));
    for (uint32_t i = 0; i < r->pair_count; i++)
        r->pairs[i] = (struct pair){atom_find(c->atoms, pod->node_selector.at[i].key),
                                    atom_find(c->atoms, pod->node_selector.at[i].value)};
    r->has_terms = pod->has_required_terms;
    r->term_count =
        node_matchers_make(c, pod->required_terms.at, pod->required_terms.count, &r->terms);
    return r;
}

bool required_affinity_matches(const struct atoms *atoms, const struct required_affinity *r,
                               const struct node_entry *node)
{
    for (uint32_t i = 0; i < r->pair_count; i++) {
        const struct pair *p = &r->pairs[i];
        if (p->key == 0 || p->value == 0 || node_label_value(node, p->key) != p->value)
            return false;
    }
    return !r->has_terms || node_matchers_match_any(atoms, r->terms, r->term_count, node);
}

/* ---- many rows ---- */

static void beyond_rows(const struct atoms *atoms, const struct condition_on_label *w,
                        const uint32_t *value, uint32_t count, uint8_t *hit)
{
    for (uint32_t i = 0; i < count; i++) {
        int64_t number;
        hit[i] = value[i] != 0 && atom_integer(atoms, value[i], &number) &&
                 (w->operation == OPERATOR_Gt ? number > w->bound : number < w->bound);
    }
}

/* yes[i] &= the condition, for at most KERNEL_ROWS rows. */
static void label_rows(const struct cycle *c, const struct condition_on_label *w,
                       struct row_range rows, uint8_t *yes)
{
    uint8_t hit[KERNEL_ROWS] = {0};
    bool negated = w->operation == OPERATOR_NotIn || w->operation == OPERATOR_DoesNotExist;
    const uint32_t *value = w->key == 0 ? NULL : facts_of_label(c->nodes, w->key) + rows.from;
    if (value == NULL)
        ; /* no node has the label */
    else if (w->operation == OPERATOR_Exists || w->operation == OPERATOR_DoesNotExist)
        kernel_mark(value, rows.count, hit);
    else if (w->operation == OPERATOR_Gt || w->operation == OPERATOR_Lt)
        beyond_rows(c->atoms, w, value, rows.count, hit);
    else
        for (uint32_t i = 0; i < w->value_count; i++)
            if (w->values[i] != 0)
                kernel_mark_equal(value, w->values[i], rows.count, hit);
    kernel_keep(hit, negated, rows.count, yes);
}

static void field_rows(const struct cycle *c, const struct condition_on_field *f,
                       struct row_range rows, uint8_t *yes)
{
    uint8_t hit[KERNEL_ROWS];
    memset(hit, !f->is_name && f->wants_empty, rows.count);
    if (f->is_name)
        kernel_mark_equal(facts_of_name(c->nodes) + rows.from, f->name, rows.count, hit);
    kernel_keep(hit, f->negated, rows.count, yes);
}

void node_matcher_rows(const struct cycle *c, const struct node_matcher *m, struct row_range rows,
                       uint8_t *yes)
{
    memset(yes, !m->malformed, rows.count);
    for (uint32_t from = 0; from < rows.count && !m->malformed; from += KERNEL_ROWS) {
        uint32_t left = rows.count - from;
        struct row_range block = {rows.from + from, left < KERNEL_ROWS ? left : KERNEL_ROWS};
        for (uint32_t i = 0; i < m->label_count; i++)
            label_rows(c, &m->labels[i], block, yes + from);
        for (uint32_t i = 0; i < m->field_count; i++)
            field_rows(c, &m->fields[i], block, yes + from);
    }
}

void node_matchers_rows(const struct cycle *c, struct node_matcher *const *terms, uint32_t count,
                        struct row_range rows, uint8_t *no)
{
    for (uint32_t from = 0; from < rows.count; from += KERNEL_ROWS) {
        uint32_t left = rows.count - from;
        struct row_range block = {rows.from + from, left < KERNEL_ROWS ? left : KERNEL_ROWS};
        uint8_t yes[KERNEL_ROWS], any[KERNEL_ROWS] = {0};
        for (uint32_t i = 0; i < count; i++) {
            node_matcher_rows(c, terms[i], block, yes);
            for (uint32_t k = 0; k < block.count; k++)
                any[k] |= yes[k];
        }
        for (uint32_t k = 0; k < block.count; k++)
            no[from + k] |= !any[k];
    }
}

void required_affinity_rows(const struct cycle *c, const struct required_affinity *r,
                            struct row_range rows, uint8_t *no)
{
    for (uint32_t i = 0; i < r->pair_count; i++) {
        const struct pair *p = &r->pairs[i];
        if (p->key == 0 || p->value == 0)
            memset(no, 1, rows.count);
        else
            kernel_mark_other(facts_of_label(c->nodes, p->key) + rows.from, p->value, rows.count,
                              no);
    }
    if (r->has_terms)
        node_matchers_rows(c, r->terms, r->term_count, rows, no);
}
