/* suggest_labels: which labels a node would need for NodeAffinity. The one idea: the node selector
 * and one term of each node affinity that holds for the pod are one list of requirements; of all
 * such lists the one that asks for the fewest other labels is told.
 *
 * What must stay true: a value that is named suits all requirements of its key. */
#include "ctl/explain/suggest_inside.h"

#include "proto/kube/objects/selector.h"
#include "scheduler/rules/framework.h"

#include <stdlib.h>

/* What has to hold of the node. */
struct demand {
    uint32_t count;
    struct requirement *at;        /* of labels */
    const struct node_term *of[2]; /* the terms, for their fields; NULL: none */
};

/* Costs of a demand: keys to change; no label changes the name of a node, and nothing helps against
 * a contradiction. */
#define COST_OTHER_NAME UINT32_C(1000)
#define COST_NEVER      UINT32_MAX

static void add_term(struct demand *d, const struct node_term *term)
{
    for (uint32_t i = 0; term != NULL && i < term->expressions.count; i++)
        d->at[d->count++] = term->expressions.at[i];
}

static struct demand demand_of(const struct suggest_question *q, const struct node_term *own,
                               const struct node_term *added)
{
    const struct pod *pod = q->pod;
    uint32_t room = pod->node_selector.count + (own != NULL ? own->expressions.count : 0) +
                    (added != NULL ? added->expressions.count : 0);
    struct demand d = {.at = arena_take(q->arena, room * sizeof(*d.at)), .of = {own, added}};
    for (uint32_t i = 0; i < pod->node_selector.count; i++) {
        const struct label *l = &pod->node_selector.at[i];
        struct str *value = arena_take(q->arena, sizeof(*value));
        *value = l->value;
        d.at[d.count++] = (struct requirement){l->key, STR_LITERAL("In"), {1, value}};
    }
    add_term(&d, own);
    add_term(&d, added);
    return d;
}

static bool key_holds(const struct demand *d, struct str key, bool there, struct str value)
{
    for (uint32_t i = 0; i < d->count; i++)
        if (str_equal(d->at[i].key, key) && !requirement_holds(&d->at[i], there, value))
            return false;
    return true;
}

static bool is_first_of_key(const struct demand *d, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (str_equal(d->at[k].key, d->at[i].key))
            return false;
    return true;
}

/* The first requirement of the key that has this operator, or NULL. */
static const struct requirement *with(const struct demand *d, struct str key,
                                      enum kube_operator operation)
{
    for (uint32_t i = 0; i < d->count; i++)
        if (str_equal(d->at[i].key, key) && kube_operator_of(d->at[i].operator_name) == operation)
            return &d->at[i];
    return NULL;
}

/* The listed values that suit all requirements of the key. */
static struct strs suitable(const struct demand *d, const struct requirement *in, struct arena *a)
{
    struct strs all = {0, arena_take(a, in->values.count * sizeof(struct str))};
    for (uint32_t i = 0; i < in->values.count; i++)
        if (key_holds(d, in->key, true, in->values.at[i]) && !strs_hold(all, in->values.at[i]))
            all.at[all.count++] = in->values.at[i];
    return all;
}

static bool can_hold(const struct demand *d, struct str key, struct arena *a)
{
    const struct requirement *in = with(d, key, OPERATOR_In);
    if (in != NULL)
        return suitable(d, in, a).count > 0;
    return with(d, key, OPERATOR_DoesNotExist) == NULL ||
           (with(d, key, OPERATOR_Exists) == NULL && with(d, key, OPERATOR_Gt) == NULL &&
            with(d, key, OPERATOR_Lt) == NULL);
}

static bool takes_name(const struct node_term *term, struct str name)
{
    for (uint32_t i = 0; term != NULL && i < term->fields.count; i++) {
        const struct requirement *r = &term->fields.at[i];
        struct str value = str_is(r->key, "metadata.name") ? name : (struct str){0};
        if (!requirement_holds(r, true, value))
            return false;
    }
    return true;
}

static bool label_of(const struct node *node, struct str key, struct str *value)
{
    *value = (struct str){0};
    return kube_label_find(node->labels.at, node->labels.count, key, value);
}

static uint32_t cost_of(const struct suggest_question *q, const struct demand *d)
{
    uint32_t cost = 0;
    struct str value;
    for (uint32_t i = 0; i < d->count; i++) {
        bool there = label_of(q->node, d->at[i].key, &value);
        if (!is_first_of_key(d, i) || key_holds(d, d->at[i].key, there, value))
            continue;
        if (!can_hold(d, d->at[i].key, q->arena))
            return COST_NEVER;
        cost++;
    }
    for (int i = 0; i < 2; i++)
        cost += takes_name(d->of[i], q->node->name) ? 0 : COST_OTHER_NAME;
    return cost;
}

static void print_values(struct buffer *out, struct strs values)
{
    for (uint32_t i = 0; i < values.count; i++)
        buffer_print(out, "%s%.*s", i > 0 ? " or " : "", STR_ARG(values.at[i]));
}

static void print_in(const struct suggest_question *q, const struct demand *d,
                     const struct requirement *in)
{
    struct str value;
    suggest_next(q);
    buffer_print(q->out, "label %.*s=", STR_ARG(in->key));
    print_values(q->out, suitable(d, in, q->arena));
    buffer_add_text(q->out, " on the node");
    if (label_of(q->node, in->key, &value))
        buffer_print(q->out, " in place of %s%.*s", value.len == 0 ? "an empty one" : "",
                     STR_ARG(value));
}

/* A requirement of another kind than In. */
static void print_other(const struct suggest_question *q, const struct requirement *r)
{
    enum kube_operator operation = kube_operator_of(r->operator_name);
    suggest_next(q);
    buffer_print(q->out, "%slabel %.*s", operation == OPERATOR_DoesNotExist ? "no " : "",
                 STR_ARG(r->key));
    if (operation == OPERATOR_NotIn)
        buffer_add_text(q->out, " other than ");
    if (operation == OPERATOR_Gt || operation == OPERATOR_Lt)
        buffer_add_text(q->out, operation == OPERATOR_Gt ? " above " : " below ");
    print_values(q->out, r->values);
    buffer_add_text(q->out, " on the node");
}

static void print_key(const struct suggest_question *q, const struct demand *d, struct str key)
{
    const struct requirement *in = with(d, key, OPERATOR_In);
    const struct requirement *none = with(d, key, OPERATOR_DoesNotExist);
    if (in != NULL) {
        print_in(q, d, in);
    } else if (none != NULL) {
        print_other(q, none);
    } else {
        for (uint32_t i = 0; i < d->count; i++)
            if (str_equal(d->at[i].key, key))
                print_other(q, &d->at[i]);
    }
}

static void print_demand(const struct suggest_question *q, const struct demand *d)
{
    struct str value;
    for (uint32_t i = 0; i < d->count; i++) {
        bool there = label_of(q->node, d->at[i].key, &value);
        if (is_first_of_key(d, i) && !key_holds(d, d->at[i].key, there, value))
            print_key(q, d, d->at[i].key);
    }
    if (takes_name(d->of[0], q->node->name) && takes_name(d->of[1], q->node->name))
        return;
    suggest_next(q);
    buffer_print(q->out, "node affinity (metadata.name) that takes in %.*s",
                 STR_ARG(q->node->name));
}

/* Terms that are ORed. */
struct choices {
    uint32_t count;
    const struct node_term **at; /* a single NULL: nothing is asked for */
};

/* Those that may hold for some node. */
static struct choices choices_of(const struct node_term *at, uint32_t count, bool asked,
                                 struct arena *a)
{
    struct choices c = {.at = arena_take(a, (count + 1) * sizeof(struct node_term *))};
    if (!asked)
        c.at[c.count++] = NULL;
    for (uint32_t i = 0; asked && i < count; i++)
        if (at[i].expressions.count + at[i].fields.count > 0 && node_term_check(&at[i], "", NULL))
            c.at[c.count++] = &at[i];
    return c;
}

void suggest_labels(const struct suggest_question *q)
{
    const struct pod *pod = q->pod;
    const struct profile *profile = &q->framework->profile;
    struct choices own = choices_of(pod->required_terms.at, pod->required_terms.count,
                                    pod->has_required_terms, q->arena);
    struct choices added = choices_of(profile->added_required.at, profile->added_required.count,
                                      profile->has_added_required, q->arena);
    struct demand best;
    uint32_t least = COST_NEVER;
    for (uint32_t i = 0; i < own.count; i++)
        for (uint32_t k = 0; k < added.count; k++) {
            struct demand d = demand_of(q, own.at[i], added.at[k]);
            uint32_t cost = cost_of(q, &d);
            if (cost < least) {
                least = cost;
                best = d;
            }
        }
    if (least < COST_NEVER)
        print_demand(q, &best);
    else
        buffer_add_text(q->out, "a node selector and a node affinity that some node can meet");
}
