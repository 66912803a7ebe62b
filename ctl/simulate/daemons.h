/* daemons: the pods of a DaemonSet, as its controller makes them: one for each node that it may run
 * on by its node's name, labels and taints. */
#ifndef CTL_SIMULATE_DAEMONS_H
#define CTL_SIMULATE_DAEMONS_H

#include "ctl/attempt.h"

/* The Pod with the tolerations that the controller adds; with a node it is for that one, which is
 * in its name and in its affinity. NULL: it cannot be written. The caller frees it. */
struct kube_json *daemon_pod(const struct kube_json *pod, struct str node);
/* Nodes on which the controller would start this pod, which daemon_pod has made without a node;
 * from a's arena. */
struct strs daemon_nodes(const struct attempts *a, const struct pod *pod);

#endif
