/* terms: reads node selector terms, from pods and from plugin arguments. */
#ifndef KUBE_OBJECTS_TERMS_H
#define KUBE_OBJECTS_TERMS_H

#include "proto/kube/documents/cursor.h"
#include "proto/messages.h"

/* matchExpressions or matchFields; also of label selectors. */
struct requirement *kube_read_requirements(const struct cursor *up, const char *name,
                                           uint32_t *count);
/* nodeSelectorTerms, and preferredDuringSchedulingIgnoredDuringExecution. */
struct node_term *kube_read_node_terms(const struct cursor *list, uint32_t *count);
struct preferred_node_term *kube_read_preferred_terms(const struct cursor *list, uint32_t *count);

#endif
