/* kept_pod: what the coordinator keeps of a pod on a node, and tells its worker. */
#ifndef SCHEDULER_CLUSTER_KEPT_POD_H
#define SCHEDULER_CLUSTER_KEPT_POD_H

#include "proto/messages.h"

/* The part that is kept; borrowed from pod. */
struct pod kept_pod_of(const struct pod *pod);
/* A hash of it; never 0. */
uint64_t kept_pod_print(const struct pod *pod);
/* Whether it has any term of pod affinity or anti-affinity. */
bool kept_pod_has_terms(const struct pod *pod);

#endif
