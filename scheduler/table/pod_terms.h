/* pod_terms: (anti-)affinity terms on atoms, and which pods on nodes have them.
 *
 * Pods on nodes keep their terms for as long as they are there. Pods that ask for exactly the same,
 * as those of one owner do, share one set: a pod that comes is matched once with each distinct set,
 * and pods whose terms do not want it cost nothing. A pod that comes has its terms found for one
 * cycle.
 *
 * A term matches a pod as upstream's AffinityTerm.Matches: the pod is in one of the term's
 * namespaces, or in one whose labels the namespace selector wants, and the selector wants its
 * labels. */
#ifndef SCHEDULER_TABLE_POD_TERMS_H
#define SCHEDULER_TABLE_POD_TERMS_H

#include "proto/messages.h"
#include "scheduler/table/atoms.h"
#include "scheduler/table/label_matcher.h"

enum term_kind {
    TERMS_affinity_required,
    TERMS_affinity_preferred,
    TERMS_anti_required,
    TERMS_anti_preferred,
    TERM_KINDS
};

struct pod_term {
    uint32_t topology_key; /* atom; 0: no node of this worker has such a label */
    int64_t weight;        /* of a preferred term */
    uint32_t namespace_count;
    uint32_t *namespaces; /* atoms, ascending */
    struct label_matcher *namespace_matcher, *matcher;
};

struct pod_term_list {
    uint32_t count;
    struct pod_term *at;
};

/* One distinct set of terms and the pods that have it. */
struct pod_terms {
    struct pod_term_list of[TERM_KINDS];
    uint32_t pod_count;
    struct node_pod **pods; /* on nodes, ghosts included; in no particular order */
    uint32_t pod_room, users, place;
    struct str key; /* what the set was made from */
};

/* All sets of a share. */
struct term_table {
    uint32_t count, room;
    struct pod_terms **at; /* in no particular order */
    struct map *by_key;
};

void term_table_start(struct term_table *t);
/* All sets must have been dropped. */
void term_table_free(struct term_table *t);

/* The set of a pod's terms, for one more user, or NULL if it asks for nothing. As upstream, a kind
 * in which one selector is malformed counts as absent. */
struct pod_terms *pod_terms_take(struct term_table *t, struct atoms *atoms, const struct pod *pod);
/* One user less; NULL is allowed. */
void pod_terms_drop(struct term_table *t, struct atoms *atoms, struct pod_terms *terms);
/* The pod is on a node now, or no longer; it has taken its set before and drops it afterwards. */
void pod_terms_join(struct node_pod *pod);
void pod_terms_leave(struct node_pod *pod);

/* The terms of a pod that comes, for one cycle, from the arena; takes no atoms. */
struct pod_term_list pod_terms_find(const struct atoms *atoms, const struct affinity_term *at,
                                    uint32_t count, struct arena *a);
/* The pod's list of that kind as the record has it. */
const struct affinity_term *pod_terms_of(const struct pod *pod, enum term_kind kind,
                                         uint32_t *count);

/* The pod that terms are matched with. */
struct term_subject {
    uint32_t namespace_name; /* atom; 0: nobody on this worker uses that namespace */
    uint32_t label_count, namespace_label_count;
    const struct node_label *labels, *namespace_labels; /* sorted by key atom */
};

/* A pod that comes, with its namespace's labels; for one cycle, from the arena. */
struct term_subject term_subject_find(const struct atoms *atoms, const struct pod *pod,
                                      const struct findings *findings, struct arena *a);
/* A pod on a node, for terms that need no labels of its namespace. */
struct term_subject term_subject_of(const struct node_pod *pod);

bool pod_term_matches(const struct pod_term *term, const struct term_subject *subject);

#endif
