/* pod_defaults: what the API server's defaulting would have written into a pod, as far as
 * scheduling looks at it. */
#ifndef CTL_POD_DEFAULTS_H
#define CTL_POD_DEFAULTS_H

#include "proto/kube/documents/json.h"

/* The pod with each container's missing requests copied from its limits, the ports of one in the
 * node's network, and what terms of affinity match of its own labels in their selectors; NULL when
 * nothing is missing. The caller frees it. Mirrored: SetDefaults_Pod, and the pod strategy's
 * applyMatchLabelKeysAndMismatchLabelKeys. */
struct kube_json *pod_defaults(const struct kube_json *pod);

#endif
