/* amounts_check: what an API server refuses of a pod's or a node's amounts although every word of
 * it is known. */
#ifndef CTL_WHATIF_AMOUNTS_CHECK_H
#define CTL_WHATIF_AMOUNTS_CHECK_H

#include "proto/base/arena.h"
#include "proto/kube/documents/json.h"

/* Looks at requests and limits of a pod's containers, as upstream's ValidateResourceRequirements:
 * each has a name that a container may ask for, none is below zero, no request is above its limit,
 * and one of what is not shared out in parts (a device) is the limit. pod has a spec; path is where
 * the pod stands in its document ("spec.template"; empty: it is the document). What is no quantity
 * is left to who checks words. False with an error from the arena, which begins with the path. */
bool amounts_check(const struct kube_json *pod, struct str path, struct str *error,
                   struct arena *a);
/* The same of a node's capacity and allocatable: none is below zero. */
bool amounts_check_node(const struct kube_json *node, struct str *error, struct arena *a);

#endif
