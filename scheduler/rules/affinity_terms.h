/* affinity_terms: a pod's terms of affinity to other pods, in words: whether they are well-formed,
 * which namespaces they mean, and whether the pod is one that it wants near. */
#ifndef SCHEDULER_RULES_AFFINITY_TERMS_H
#define SCHEDULER_RULES_AFFINITY_TERMS_H

#include "scheduler/rules/plugin.h"

/* What is wrong with them, in upstream's order and words; nothing when all is well. */
void affinity_terms_check(const struct pod *pod, struct buffer *errors);
/* Puts terms that name their namespaces into the prepared pod, and the labels of its own namespace
 * into the findings; a namespace that is not known has none. */
void affinity_terms_prepare(const struct pre_filter_question *q);
/* True when all required affinity terms want the pod itself. In words, since a worker need not have
 * atoms for the labels of the pod that comes. */
bool affinity_terms_want_itself(const struct pod *pod);

#endif
