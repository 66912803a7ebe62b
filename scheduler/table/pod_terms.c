/* pod_terms: terms compiled once for all pods that ask the same. The one idea: the encoded lists of
 * terms are the key under which the compiled ones are found.
 *
 * What must stay true: a set holds one user of each of its atoms as long as it exists; it exists as
 * long as it has users; the pods in its list are users. */
#include "scheduler/table/pod_terms.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/objects/selector.h"
#include "scheduler/table/pod_groups.h"

#include <stdlib.h>

/* What stands for a label value that nobody on this worker uses: there, and like no other. */
#define OTHER_VALUE UINT32_MAX

const struct affinity_term *pod_terms_of(const struct pod *pod, enum term_kind kind,
                                         uint32_t *count)
{
    switch (kind) {
    case TERMS_affinity_required:
        *count = pod->affinity_required.count;
        return pod->affinity_required.at;
    case TERMS_affinity_preferred:
        *count = pod->affinity_preferred.count;
        return pod->affinity_preferred.at;
    case TERMS_anti_required:
        *count = pod->anti_affinity_required.count;
        return pod->anti_affinity_required.at;
    case TERMS_anti_preferred:
        *count = pod->anti_affinity_preferred.count;
        return pod->anti_affinity_preferred.at;
    default: must(!"a kind of terms"); return NULL;
    }
}

/* ---- compiling ---- */

static int compare_atoms(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static bool malformed(const struct affinity_term *at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!label_selector_check(&at[i].selector, NULL) ||
            !label_selector_check(&at[i].namespace_selector, NULL))
            return true;
    return false;
}

static void take_term(struct atoms *atoms, const struct affinity_term *from, struct pod_term *term)
{
    *term = (struct pod_term){.topology_key = atom_take(atoms, from->topology_key),
                              .weight = from->weight,
                              .namespace_count = from->namespaces.count};
    term->namespaces = memory_take_array(from->namespaces.count, sizeof(*term->namespaces));
    for (uint32_t i = 0; i < from->namespaces.count; i++)
        term->namespaces[i] = atom_take(atoms, from->namespaces.at[i]);
    qsort(term->namespaces, term->namespace_count, sizeof(*term->namespaces), compare_atoms);
    term->namespace_matcher = label_matcher_take(atoms, &from->namespace_selector);
    term->matcher = label_matcher_take(atoms, &from->selector);
}

static void drop_term(struct atoms *atoms, struct pod_term *term)
{
    atom_drop(atoms, term->topology_key);
    for (uint32_t i = 0; i < term->namespace_count; i++)
        atom_drop(atoms, term->namespaces[i]);
    memory_free(term->namespaces);
    label_matcher_free(atoms, &term->namespace_matcher);
    label_matcher_free(atoms, &term->matcher);
}

static void find_term(const struct atoms *atoms, const struct affinity_term *from,
                      struct pod_term *term, struct arena *a)
{
    *term = (struct pod_term){.topology_key = atom_find(atoms, from->topology_key),
                              .weight = from->weight};
    term->namespaces = arena_take(a, from->namespaces.count * sizeof(*term->namespaces));
    for (uint32_t i = 0; i < from->namespaces.count; i++) {
        uint32_t atom = atom_find(atoms, from->namespaces.at[i]);
        if (atom != 0)
            term->namespaces[term->namespace_count++] = atom;
    }
    qsort(term->namespaces, term->namespace_count, sizeof(*term->namespaces), compare_atoms);
    term->namespace_matcher = label_matcher_find(atoms, &from->namespace_selector, a);
    term->matcher = label_matcher_find(atoms, &from->selector, a);
}

struct pod_term_list pod_terms_find(const struct atoms *atoms, const struct affinity_term *at,
                                    uint32_t count, struct arena *a)
{
    struct pod_term_list list = {count, arena_take(a, count * sizeof(*list.at))};
    for (uint32_t i = 0; i < count; i++)
        find_term(atoms, &at[i], &list.at[i], a);
    return list;
}

/* ---- sets ---- */

void term_table_start(struct term_table *t)
{
    *t = (struct term_table){.by_key = map_new()};
}

void term_table_free(struct term_table *t)
{
    must(t->count == 0);
    memory_free(t->at);
    map_free(&t->by_key);
    *t = (struct term_table){0};
}

static void add_set(struct term_table *t, struct pod_terms *terms)
{
    if (t->count == t->room) {
        t->room = t->room == 0 ? 16 : t->room * 2;
        t->at = memory_resize(t->at, t->room * sizeof(struct pod_terms *));
    }
    terms->place = t->count;
    t->at[t->count++] = terms;
    map_set(t->by_key, terms->key, terms);
}

static struct pod_terms *make_set(struct atoms *atoms, const struct pod *pod, struct str key)
{
    struct pod_terms *terms = memory_take(sizeof(*terms));
    terms->key = str_keep(key);
    for (enum term_kind kind = 0; kind < TERM_KINDS; kind++) {
        struct pod_term_list *list = &terms->of[kind];
        const struct affinity_term *from = pod_terms_of(pod, kind, &list->count);
        if (malformed(from, list->count))
            list->count = 0;
        list->at = memory_take_array(list->count, sizeof(*list->at));
        for (uint32_t i = 0; i < list->count; i++)
            take_term(atoms, &from[i], &list->at[i]);
    }
    return terms;
}

struct pod_terms *pod_terms_take(struct term_table *t, struct atoms *atoms, const struct pod *pod)
{
    const struct pod asks = {.affinity_required = pod->affinity_required,
                             .affinity_preferred = pod->affinity_preferred,
                             .anti_affinity_required = pod->anti_affinity_required,
                             .anti_affinity_preferred = pod->anti_affinity_preferred};
    if (asks.affinity_required.count + asks.affinity_preferred.count +
            asks.anti_affinity_required.count + asks.anti_affinity_preferred.count ==
        0)
        return NULL;
    struct buffer key = {0};
    codec_encode(&pod_record, &asks, &key);
    struct pod_terms *terms = map_get(t->by_key, buffer_str(&key));
    if (terms == NULL) {
        terms = make_set(atoms, &asks, buffer_str(&key));
        add_set(t, terms);
    }
    buffer_free(&key);
    terms->users++;
    return terms;
}

void pod_terms_drop(struct term_table *t, struct atoms *atoms, struct pod_terms *terms)
{
    if (terms == NULL || --terms->users > 0)
        return;
    must(terms->pod_count == 0 && t->at[terms->place] == terms);
    t->at[terms->place] = t->at[--t->count];
    t->at[terms->place]->place = terms->place;
    map_remove(t->by_key, terms->key);
    for (int kind = 0; kind < TERM_KINDS; kind++) {
        for (uint32_t i = 0; i < terms->of[kind].count; i++)
            drop_term(atoms, &terms->of[kind].at[i]);
        memory_free(terms->of[kind].at);
    }
    memory_free(terms->pods);
    str_drop(&terms->key);
    memory_free(terms);
}

void pod_terms_join(struct node_pod *pod)
{
    struct pod_terms *terms = pod->terms;
    if (terms == NULL)
        return;
    if (terms->pod_count == terms->pod_room) {
        terms->pod_room = terms->pod_room == 0 ? 4 : terms->pod_room * 2;
        terms->pods = memory_resize(terms->pods, terms->pod_room * sizeof(struct node_pod *));
    }
    pod->terms_place = terms->pod_count;
    terms->pods[terms->pod_count++] = pod;
}

void pod_terms_leave(struct node_pod *pod)
{
    struct pod_terms *terms = pod->terms;
    if (terms == NULL)
        return;
    must(pod->terms_place < terms->pod_count && terms->pods[pod->terms_place] == pod);
    terms->pods[pod->terms_place] = terms->pods[--terms->pod_count];
    terms->pods[pod->terms_place]->terms_place = pod->terms_place;
}

/* ---- matching ---- */

static int compare_labels(const void *a, const void *b)
{
    return compare_atoms(&((const struct node_label *)a)->key,
                         &((const struct node_label *)b)->key);
}

/* Labels whose key nobody knows are wanted by nobody. */
static uint32_t find_labels(const struct atoms *atoms, const struct label *at, uint32_t count,
                            struct arena *a, const struct node_label **out)
{
    struct node_label *found = arena_take(a, count * sizeof(*found));
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t key = atom_find(atoms, at[i].key), value = atom_find(atoms, at[i].value);
        if (key != 0)
            found[kept++] = (struct node_label){key, value == 0 ? OTHER_VALUE : value};
    }
    qsort(found, kept, sizeof(*found), compare_labels);
    *out = found;
    return kept;
}

struct term_subject term_subject_find(const struct atoms *atoms, const struct pod *pod,
                                      const struct findings *findings, struct arena *a)
{
    struct term_subject s = {.namespace_name = atom_find(atoms, pod->namespace_name)};
    s.label_count = find_labels(atoms, pod->labels.at, pod->labels.count, a, &s.labels);
    s.namespace_label_count = find_labels(atoms, findings->namespace_labels.at,
                                          findings->namespace_labels.count, a, &s.namespace_labels);
    return s;
}

struct term_subject term_subject_of(const struct node_pod *pod)
{
    return (struct term_subject){.namespace_name = pod->group->namespace_name,
                                 .label_count = pod->group->label_count,
                                 .labels = pod->group->labels};
}

static bool names_namespace(const struct pod_term *term, uint32_t name)
{
    uint32_t low = 0, high = term->namespace_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (term->namespaces[middle] == name)
            return name != 0;
        if (term->namespaces[middle] < name)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

bool pod_term_matches(const struct pod_term *term, const struct term_subject *subject)
{
    return (names_namespace(term, subject->namespace_name) ||
            label_matcher_matches(term->namespace_matcher, subject->namespace_labels,
                                  subject->namespace_label_count)) &&
           label_matcher_matches(term->matcher, subject->labels, subject->label_count);
}
