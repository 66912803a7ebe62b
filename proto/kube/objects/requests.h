/* requests: what a pod asks for, in each of the ways that scheduling counts it. */
#ifndef KUBE_OBJECTS_REQUESTS_H
#define KUBE_OBJECTS_REQUESTS_H

#include "proto/kube/documents/cursor.h"
#include "proto/messages.h"

/* Fills request, score_request, usage, usage_score_cpu, usage_score_memory and, when the pod's
 * node_name is empty, extended_asks of the pod from the Pod object at the cursor. Amounts of zero
 * are left out: nothing that reads the lists treats an explicit zero differently from an absent one
 * (defaults are applied before, where it matters). */
void requests_fill(const struct cursor *object, struct pod *pod);
/* status.allocatable of the Node object at the cursor; zeroes left out as well, but for resources
 * that devices may stand for: a node that lists one and has none differs from one that does not. */
void requests_fill_allocatable(const struct cursor *object, struct node *node);
/* Whether scheduling looks at this resource besides cpu, memory, ephemeral-storage and pods:
 * extended resources, hugepages-*, attachable-volumes-* and anything of kubernetes.io. */
bool requests_is_scalar(struct str name);
/* Upstream's IsDRAExtendedResourceName: a DeviceClass may stand for it. */
bool requests_may_be_devices(struct str name);

#endif
