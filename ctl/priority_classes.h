/* priority_classes: what the API server's Priority admission would have written into a pod. */
#ifndef CTL_PRIORITY_CLASSES_H
#define CTL_PRIORITY_CLASSES_H

#include "proto/kube/documents/json.h"
#include "proto/messages.h"

struct priority_classes;

struct priority_classes *priority_classes_new(void);
void priority_classes_free(struct priority_classes **classes);

/* A PriorityClass, new or another version of one. */
void priority_classes_set(struct priority_classes *classes, const struct kube_json *object);
/* Gives a pod without spec.priority that of its class, or of the global default, with the class's
 * preemption policy unless it has its own. False with an error from the arena: there is no such
 * class. */
bool priority_classes_fill_in(const struct priority_classes *classes,
                              const struct kube_json *object, struct pod *pod, struct str *error,
                              struct arena *a);

#endif
