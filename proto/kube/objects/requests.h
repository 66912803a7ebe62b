/* requests: what a pod asks for, in each of the ways that scheduling counts it. */
#ifndef KUBE_OBJECTS_REQUESTS_H
#define KUBE_OBJECTS_REQUESTS_H

#include "proto/kube/documents/cursor.h"
#include "proto/messages.h"

/* Fills request, score_request, usage, usage_score_cpu, usage_score_memory, usage_1_37,
 * other_counts and, when
 * the pod's node_name is empty, extended_asks of the pod from the Pod object at the cursor. Amounts
 * of zero are left out: nothing that reads the lists treats an explicit zero differently from an
 * absent one (defaults are applied before, where it matters). */
void requests_fill(const struct cursor *object, struct pod *pod);
/* The pod with what it asks for and takes from its node as that release counts it with these gates
 * (PodLevelResources, InPlacePodLevelResourcesVerticalScaling), and nothing of others; its resize
 * is deferred only where that matters (InPlacePodVerticalScalingSchedulerPreemption). It shares the
 * pod's memory. */
struct pod requests_as_of(const struct pod *pod, const struct features *features);
/* The pod as it is tried: whoever's resize is deferred is tried by itself, without its group, and
 * on its node it claims no other. It shares the pod's memory. */
struct pod requests_as_tried(const struct pod *pod);
/* Whether it comes to something else in another release or with other gates. */
bool requests_vary(const struct pod *pod);
/* Whether both count all pods alike. */
bool requests_same_count(const struct features *a, const struct features *b);
/* status.allocatable of the Node object at the cursor; zeroes left out as well, but for resources
 * that devices may stand for: a node that lists one and has none differs from one that does not. */
void requests_fill_allocatable(const struct cursor *object, struct node *node);
/* Whether scheduling looks at this resource besides cpu, memory, ephemeral-storage and pods:
 * extended resources, hugepages-*, attachable-volumes-* and anything of kubernetes.io. */
bool requests_is_scalar(struct str name);
/* Upstream's IsDRAExtendedResourceName: a DeviceClass may stand for it. */
bool requests_may_be_devices(struct str name);

#endif
