/* suggest_inside: what the files of suggest share; nobody else includes it. */
#ifndef CTL_SUGGEST_INSIDE_H
#define CTL_SUGGEST_INSIDE_H

#include "ctl/explain/suggest.h"
#include "proto/base/buffer.h"

/* One question; everything is borrowed. */
struct suggest_question {
    const struct world *world;
    const struct framework *framework; /* of the pod's profile */
    const struct pod *pod;
    const struct node *node;
    const struct rejection *why;
    struct arena *arena;
    struct buffer *out;
};

/* Separates the next part from what is there. */
void suggest_next(const struct suggest_question *q);

/* Names of pods: the first ones, and how many there are. Zero-initialise. */
#define SUGGEST_NAMES 3
struct suggest_names {
    uint32_t count;
    struct str at[SUGGEST_NAMES];
};
void suggest_name(struct suggest_names *names, const struct pod *pod, struct arena *a);
/* Such as "pods a/x, a/y, a/z and 2 more". */
void suggest_print_names(struct buffer *out, const struct suggest_names *names);

/* NodeAffinity: labels of the node. */
void suggest_labels(const struct suggest_question *q);
/* PodTopologySpread: labels of the node, pods that are too many in its domains. */
void suggest_spread(const struct suggest_question *q);
/* InterPodAffinity: pods that are missing or in the way. */
void suggest_pods(const struct suggest_question *q);

#endif
