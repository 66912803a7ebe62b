/* extender_wire: what is said to an HTTP extender and what it answers, as
 * k8s.io/kube-scheduler/extender/v1 has it: JSON whose members are named as Go's fields are.
 *
 * Pure functions from values to bytes and back. Like Go, reading takes members in any case, the
 * last of several counts, and one that is unknown is left alone; null is like not there. Errors
 * name the member. */
#ifndef KUBE_EXTENDERS_EXTENDER_WIRE_H
#define KUBE_EXTENDERS_EXTENDER_WIRE_H

#include "proto/base/buffer.h"
#include "proto/messages.h"

/* The body of filter and prioritize. pod is the object's JSON. */
struct wire_nodes {
    struct str pod;
    struct strs names;
    /* NULL: the names themselves are sent (nodeCacheCapable); else the JSON of each node. */
    const struct str *objects;
};
void wire_nodes_body(struct buffer *out, const struct wire_nodes *ask);

/* The body of preempt. objects: by candidate and victim, in order, the pods' JSON; NULL: UIDs are
 * sent (nodeCacheCapable). */
struct wire_victims {
    struct str pod;
    const struct candidate *at;
    uint32_t count;
    const struct str *objects;
};
void wire_victims_body(struct buffer *out, const struct wire_victims *ask);

/* The body of bind. */
void wire_bind_body(struct buffer *out, const struct bind *bind);

/* An answer to filter. */
struct wire_filtered {
    struct str error; /* the extender's own words; empty: none */
    bool has_names;   /* NodeNames is there, also when empty */
    struct strs names;
    bool has_objects;    /* Nodes is there */
    struct strs objects; /* their names */
    struct {
        uint32_t count;
        struct extender_refusal *at; /* each map in its order, the unresolvable ones first */
    } refused;
};
/* False, with what is wrong in error, when the text is no such answer. Everything lives in the
 * arena. The same holds for the others. */
bool wire_filtered_read(struct str text, struct wire_filtered *out, struct arena *a,
                        struct str *error);

struct wire_scores {
    uint32_t count;
    struct extender_score *at; /* as the extender gave them: not weighted */
};
bool wire_scores_read(struct str text, struct wire_scores *out, struct arena *a, struct str *error);

struct wire_candidates {
    uint32_t count;
    struct candidate *at; /* of victims only the UID */
};
bool wire_candidates_read(struct str text, struct wire_candidates *out, struct arena *a,
                          struct str *error);

/* An answer to bind: the extender's own error, or empty. */
bool wire_bound_read(struct str text, struct str *failed, struct arena *a, struct str *error);

#endif
