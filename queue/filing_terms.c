/* filing_terms: tokens for selectors: a pod is filed under one requirement that whatever it waits
 * for must fulfil, and an object looks under every label that it has.
 *
 * What must stay true: of requirements that must all hold one is enough, of alternatives each is
 * filed; a requirement that an absent label can fulfil (NotIn, DoesNotExist) files nothing, so the
 * pod is then looked at always, as it is where a hint answers yes to nonsense. */
#include "queue/filing.h"

#include "proto/kube/objects/selector.h"
#include "queue/hint.h"

#define NO_TEXT ((struct str){NULL, 0})

/* How two texts that belong together look as one: labels of pods are filed by namespace. */
static uint64_t label_token(char kind, struct str space, struct str key, struct str value)
{
    uint64_t token = token_of(kind, key, value);
    return space.len > 0 ? token ^ token_of(kind, space, NO_TEXT) : token;
}

static void add_labels(struct tokens *out, char kind, struct str space, const struct label *labels,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        tokens_add(out, label_token(kind, space, labels[i].key, NO_TEXT));
        if (labels[i].value.len > 0)
            tokens_add(out, label_token(kind, space, labels[i].key, labels[i].value));
    }
}

/* Worth of filing under it: 0 an absent label fulfils it, 1 any value does, 2 only these do. */
static int selects(const struct requirement *r)
{
    switch (kube_operator_of(r->operator_name)) {
    case OPERATOR_In: return 2;
    case OPERATOR_Exists:
    case OPERATOR_Gt:
    case OPERATOR_Lt: return 1;
    default: return 0;
    }
}

static const struct requirement *most_selective(const struct requirement *at, uint32_t count)
{
    const struct requirement *best = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (selects(&at[i]) > (best == NULL ? 0 : selects(best)))
            best = &at[i];
    return best;
}

static void add_requirement(struct tokens *out, char kind, struct str space,
                            const struct requirement *r)
{
    if (r == NULL) {
        out->all = true;
    } else if (selects(r) == 1) {
        tokens_add(out, label_token(kind, space, r->key, NO_TEXT));
    } else {
        for (uint32_t i = 0; i < r->values.count; i++)
            tokens_add(out, label_token(kind, space, r->key, r->values.at[i]));
    }
}

/* A label selector that is in order. */
static void add_selector(struct tokens *out, char kind, struct str space, const struct selector *s)
{
    if (!s->present)
        return; /* matches nothing */
    if (s->labels.count > 0)
        tokens_add(out, label_token(kind, space, s->labels.at[0].key, s->labels.at[0].value));
    else
        add_requirement(out, kind, space, most_selective(s->expressions.at, s->expressions.count));
}

/* ---- node affinity ---- */

static const struct requirement *name_in(const struct node_term *term)
{
    for (uint32_t i = 0; i < term->fields.count; i++)
        if (selects(&term->fields.at[i]) == 2 && str_is(term->fields.at[i].key, "metadata.name"))
            return &term->fields.at[i];
    return NULL;
}

static void add_node_term(struct tokens *out, const struct node_term *term)
{
    const struct requirement *name = name_in(term);
    if (!node_term_check(term, "", NULL))
        out->all = true;
    else if (name != NULL)
        add_requirement(out, 'm', NO_TEXT, name);
    else if (term->expressions.count + term->fields.count > 0)
        add_requirement(out, 'n', NO_TEXT,
                        most_selective(term->expressions.at, term->expressions.count));
}

static void file_node_terms(const struct pod *pod, struct tokens *out)
{
    if (pod->node_selector.count > 0) {
        const struct label *first = &pod->node_selector.at[0];
        tokens_add(out, label_token('n', NO_TEXT, first->key, first->value));
        return;
    }
    out->all = !pod->has_required_terms;
    for (uint32_t i = 0; i < pod->required_terms.count; i++)
        add_node_term(out, &pod->required_terms.at[i]);
}

static void seek_node(const struct event *event, struct tokens *out)
{
    const struct node *node = event->new_node;
    out->all = node->name.len == 0;
    tokens_add(out, label_token('m', NO_TEXT, STR_LITERAL("metadata.name"), node->name));
    add_labels(out, 'n', NO_TEXT, node->labels.at, node->labels.count);
}

const struct filing filed_by_node_terms = {file_node_terms, seek_node};

/* ---- topology keys ---- */

static void add_keys(struct tokens *out, char kind, const struct node *node)
{
    for (uint32_t i = 0; i < node->labels.count; i++)
        tokens_add(out, token_of(kind, node->labels.at[i].key, NO_TEXT));
}

/* Keys that a has with another value than b, or b not at all. */
static void add_changed_keys(struct tokens *out, char kind, const struct node *a,
                             const struct node *b)
{
    for (uint32_t i = 0; i < a->labels.count; i++) {
        const struct label *label = &a->labels.at[i];
        struct str value;
        if (!kube_label_find(b->labels.at, b->labels.count, label->key, &value) ||
            !str_equal(value, label->value))
            tokens_add(out, token_of(kind, label->key, NO_TEXT));
    }
}

/* ---- spreading ---- */

static bool is_hard(const struct spread_constraint *c)
{
    return str_is(c->when_unsatisfiable, "DoNotSchedule");
}

/* Constraints by default depend on what owns the pod when the event comes. */
static bool has_odd_constraints(const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->spread.count; i++)
        if (is_hard(&pod->spread.at[i]) && !label_selector_check(&pod->spread.at[i].selector, NULL))
            return true;
    return pod->spread.count == 0;
}

static void file_spread_pods(const struct pod *pod, struct tokens *out)
{
    out->all = has_odd_constraints(pod);
    for (uint32_t i = 0; i < pod->spread.count && !out->all; i++)
        if (is_hard(&pod->spread.at[i]))
            add_selector(out, 's', pod->namespace_name, &pod->spread.at[i].selector);
}

static void seek_spread_pods(const struct event *event, struct tokens *out)
{
    const struct pod *old = event->old_pod, *new = event->new_pod;
    if (old != NULL)
        add_labels(out, 's', old->namespace_name, old->labels.at, old->labels.count);
    if (new != NULL)
        add_labels(out, 's', new->namespace_name, new->labels.at, new->labels.count);
}

const struct filing filed_by_spread_pods = {file_spread_pods, seek_spread_pods};

static void file_spread_keys(const struct pod *pod, struct tokens *out)
{
    bool any = false;
    for (uint32_t i = 0; i < pod->spread.count; i++)
        if (is_hard(&pod->spread.at[i])) {
            tokens_add(out, token_of('t', pod->spread.at[i].topology_key, NO_TEXT));
            any = true;
        }
    out->all = out->all || !any || has_odd_constraints(pod);
}

static void seek_spread_keys(const struct event *event, struct tokens *out)
{
    const struct node *old = event->old_node, *new = event->new_node;
    if (old == NULL || new == NULL) {
        add_keys(out, 't', new != NULL ? new : old);
    } else if (!event_same_taints(old, new)) {
        add_keys(out, 't', old);
        add_keys(out, 't', new);
    } else {
        add_changed_keys(out, 't', old, new);
        add_changed_keys(out, 't', new, old);
    }
}

const struct filing filed_by_spread_keys = {file_spread_keys, seek_spread_keys};

/* ---- affinity to other pods: w what it wants, a what it avoids, o its own labels ----
 *
 * Of what it wants one term is enough, as all must hold; what it avoids is filed for each term, as
 * since 1.37 one is enough to wake it. */

static bool is_in_order(const struct affinity_term *terms, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!label_selector_check(&terms[i].selector, NULL) ||
            !label_selector_check(&terms[i].namespace_selector, NULL))
            return false;
    return true;
}

static bool has_odd_terms(const struct pod *pod)
{
    return !is_in_order(pod->affinity_required.at, pod->affinity_required.count) ||
           !is_in_order(pod->anti_affinity_required.at, pod->anti_affinity_required.count);
}

/* A namespace selector that matches no labels at all stands for every namespace; another for none,
 * and the term's own list counts. */
static void file_term(struct tokens *out, char kind, const struct affinity_term *term)
{
    if (label_selector_matches(&term->namespace_selector, NULL, 0))
        add_selector(out, kind, NO_TEXT, &term->selector);
    else
        for (uint32_t i = 0; i < term->namespaces.count; i++)
            add_selector(out, kind, term->namespaces.at[i], &term->selector);
}

static void file_affinity_pods(const struct pod *pod, struct tokens *out)
{
    out->all = has_odd_terms(pod);
    if (pod->affinity_required.count > 0)
        file_term(out, 'w', &pod->affinity_required.at[0]);
    for (uint32_t i = 0; i < pod->anti_affinity_required.count; i++)
        file_term(out, 'a', &pod->anti_affinity_required.at[i]);
    add_labels(out, 'o', NO_TEXT, pod->labels.at, pod->labels.count);
}

static void seek_labels(struct tokens *out, char kind, const struct pod *pod)
{
    add_labels(out, kind, NO_TEXT, pod->labels.at, pod->labels.count);
    add_labels(out, kind, pod->namespace_name, pod->labels.at, pod->labels.count);
}

static void seek_affinity_pods(const struct event *event, struct tokens *out)
{
    const struct pod *old = event->old_pod, *new = event->new_pod;
    if (new != NULL)
        seek_labels(out, 'w', new);
    if (old != NULL)
        seek_labels(out, 'a', old);
    if (old == NULL || new != NULL || old->anti_affinity_required.count == 0)
        return;
    out->all = !is_in_order(old->anti_affinity_required.at, old->anti_affinity_required.count);
    for (uint32_t i = 0; i < old->anti_affinity_required.count && !out->all; i++)
        add_selector(out, 'o', NO_TEXT, &old->anti_affinity_required.at[i].selector);
}

const struct filing filed_by_affinity_pods = {file_affinity_pods, seek_affinity_pods};

/* j a key that brings a node into a domain it wants, l one that takes it out of one it avoids; a
 * new node is in none of the latter. */
static void file_affinity_keys(const struct pod *pod, struct tokens *out)
{
    out->all = has_odd_terms(pod);
    for (uint32_t i = 0; i < pod->affinity_required.count; i++)
        tokens_add(out, token_of('j', pod->affinity_required.at[i].topology_key, NO_TEXT));
    for (uint32_t i = 0; i < pod->anti_affinity_required.count; i++)
        tokens_add(out, token_of('l', pod->anti_affinity_required.at[i].topology_key, NO_TEXT));
    if (pod->anti_affinity_required.count > 0)
        tokens_add(out, token_of('l', NO_TEXT, NO_TEXT));
}

static void seek_affinity_keys(const struct event *event, struct tokens *out)
{
    const struct node *old = event->old_node, *new = event->new_node;
    if (old == NULL) {
        add_keys(out, 'j', new);
        tokens_add(out, token_of('l', NO_TEXT, NO_TEXT));
    } else {
        add_changed_keys(out, 'j', new, old);
        add_changed_keys(out, 'l', old, new);
    }
}

const struct filing filed_by_affinity_keys = {file_affinity_keys, seek_affinity_keys};
