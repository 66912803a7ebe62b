/* siblings: the pods that belong to the same services and the same controller as a pod, for the
 * rules of the old Policy that spread or gather them. */
#ifndef SCHEDULER_RULES_SIBLINGS_H
#define SCHEDULER_RULES_SIBLINGS_H

#include "scheduler/rules/plugin.h"

/* A prepare hook: fills findings.owners and findings.services. */
void siblings_prepare(const struct pre_filter_question *q);

enum sibling_scope {
    SIBLINGS_of_all,           /* all services and the controller select them */
    SIBLINGS_of_services,      /* all services do */
    SIBLINGS_of_first_service, /* the first service does, by name */
};

struct siblings;

/* Of the cycle's pod, from its arena. Nobody is a sibling when there is nothing that selects. */
struct siblings *siblings_make(const struct cycle *c, enum sibling_scope scope);
/* How many pods on the node are siblings; terminating ones are not counted. */
int64_t siblings_on(const struct siblings *s, const struct node_entry *node);

#endif
