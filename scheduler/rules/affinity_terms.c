/* affinity_terms: the terms of pod affinity and anti-affinity as a pod has them, in words. What
 * must stay true: what is prepared wants the pods that upstream's term wants, wherever the
 * namespaces' labels are looked at. */
#include "scheduler/rules/affinity_terms.h"

#include "proto/kube/objects/selector.h"
#include "scheduler/catalog/catalog.h"
#include "scheduler/table/pod_terms.h"

void affinity_terms_check(const struct pod *pod, struct buffer *errors)
{
    static const struct {
        enum term_kind kind;
        const char *name;
    } kinds[] = {{TERMS_affinity_required, "requiredAffinityTerms"},
                 {TERMS_anti_required, "requiredAntiAffinityTerms"},
                 {TERMS_affinity_preferred, "preferredAffinityTerms"},
                 {TERMS_anti_preferred, "preferredAntiAffinityTerms"}};
    uint32_t faults = 0, count = 0;
    struct buffer text = {0};
    for (size_t k = 0; k < TERM_KINDS; k++) {
        const struct affinity_term *at = pod_terms_of(pod, kinds[k].kind, &count);
        struct buffer error = {0};
        bool good = true;
        for (uint32_t i = 0; i < count && good; i++)
            good = label_selector_check(&at[i].selector, &error) &&
                   label_selector_check(&at[i].namespace_selector, &error);
        if (!good)
            buffer_print(&text, "%s%s: %s", faults++ > 0 ? ", " : "", kinds[k].name, error.at);
        buffer_free(&error);
    }
    if (faults > 0)
        buffer_print(errors, faults > 1 ? "[%s]" : "%s", text.at);
    buffer_free(&text);
}

static bool is_empty(const struct selector *s)
{
    return s->labels.count + s->expressions.count == 0;
}

/* Adds the namespaces that the term's selector wants to those it names. The selector itself stays
 * where it wants all; in 1.36 also where it wants even a namespace without labels: upstream then
 * asks it again, for every pod, with no labels at hand, and so it wants the pods of every
 * namespace. */
static void spread_namespaces(const struct pre_filter_question *q, struct affinity_term *term)
{
    const struct selector wants = term->namespace_selector;
    if (!wants.present || !label_selector_check(&wants, NULL))
        return;
    bool stays = q->framework->profile.features.release < 37
                     ? label_selector_matches(&wants, NULL, 0)
                     : is_empty(&wants);
    term->namespace_selector = (struct selector){.present = stays};
    if (term->namespace_selector.present)
        return;
    struct strs all = {.at = arena_take(q->arena, (term->namespaces.count +
                                                   catalog_count(q->catalog, CATALOG_namespace)) *
                                                      sizeof(struct str))};
    for (uint32_t i = 0; i < term->namespaces.count; i++)
        all.at[all.count++] = term->namespaces.at[i];
    size_t at = 0;
    const struct namespace_set *n;
    while ((n = catalog_next(q->catalog, CATALOG_namespace, &at)) != NULL)
        if (label_selector_matches(&wants, n->labels.at, n->labels.count))
            all.at[all.count++] = n->name;
    term->namespaces = all;
}

static struct affinity_term *prepare_terms(const struct pre_filter_question *q,
                                           const struct affinity_term *at, uint32_t count)
{
    struct affinity_term *copy = arena_take(q->arena, count * sizeof(*copy));
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = at[i];
        spread_namespaces(q, &copy[i]);
    }
    return copy;
}

void affinity_terms_prepare(const struct pre_filter_question *q)
{
    const struct pod *pod = q->pod;
    const struct namespace_set *own = catalog_namespace(q->catalog, pod->namespace_name);
    if (own != NULL) {
        q->findings->namespace_labels.count = own->labels.count;
        q->findings->namespace_labels.at = own->labels.at;
    }
#define PREPARE(list)                                                                              \
    if (pod->list.count > 0)                                                                       \
    q->prepared->list.at = prepare_terms(q, pod->list.at, pod->list.count)
    PREPARE(affinity_required);
    PREPARE(affinity_preferred);
    PREPARE(anti_affinity_required);
    PREPARE(anti_affinity_preferred);
#undef PREPARE
}

bool affinity_terms_want_itself(const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->affinity_required.count; i++) {
        const struct affinity_term *term = &pod->affinity_required.at[i];
        bool here = term->namespace_selector.present && is_empty(&term->namespace_selector);
        for (uint32_t k = 0; k < term->namespaces.count && !here; k++)
            here = str_equal(term->namespaces.at[k], pod->namespace_name);
        if (!here || !label_selector_matches(&term->selector, pod->labels.at, pod->labels.count))
            return false;
    }
    return pod->affinity_required.count > 0;
}
