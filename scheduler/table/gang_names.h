/* gang_names: which PodGroup a pod on a node names. */
#ifndef SCHEDULER_TABLE_GANG_NAMES_H
#define SCHEDULER_TABLE_GANG_NAMES_H

#include "proto/messages.h"

#define GANG_API          "scheduling.x-k8s.io"
#define GANG_API_OLD      "scheduling.sigs.k8s.io"
#define GANG_API_BUILT_IN "scheduling.k8s.io"
#define GANG_API_TREE     "scheduling.k8s.io/CompositePodGroup"
#define GANG_LABEL        "scheduling.x-k8s.io/pod-group"
#define GANG_LABEL_OLD    "pod-group.scheduling.sigs.k8s.io"

/* Sets api, namespace_name and name, borrowed from the pod. Of pods on nodes only a group of
 * scheduling.k8s.io is kept as such; the others are in the labels. False: it names none. */
bool gang_named_by(const struct pod *pod, struct gang *group);

#endif
