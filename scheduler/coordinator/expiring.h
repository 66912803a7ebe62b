/* expiring: a pod whose binding has ended and that no watch shows gives its room back in the end,
 * where that is wanted; kube-scheduler has it the same, and set to never. */
#ifndef SCHEDULER_COORDINATOR_EXPIRING_H
#define SCHEDULER_COORDINATOR_EXPIRING_H

#include "proto/base/moment.h"
#include "proto/messages.h"

struct coordinator;

/* Its Binding is written: from now on it may be assumed for as long as the options say. */
void expiring_begin(struct coordinator *c, const struct bind_result *bound);
/* Forgets those whose time is over and that are still assumed. When to look again. */
struct moment expiring_look(struct coordinator *c, struct moment now);
void expiring_free(struct coordinator *c);

#endif
