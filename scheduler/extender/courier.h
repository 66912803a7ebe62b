/* courier: carries the caller's requests: a client with kept connections to each extender, one to
 * the API server, and the watch that keeps the nodes' JSON up to date. */
#ifndef SCHEDULER_EXTENDER_COURIER_H
#define SCHEDULER_EXTENDER_COURIER_H

#include "scheduler/extender/caller.h"

struct courier;

/* extenders and api are borrowed. NULL, with a line in error, when an extender cannot be reached by
 * its configuration. */
struct courier *courier_new(const struct extender_config *extenders, uint32_t count,
                            struct kube_client *api, char *error, size_t room);
void courier_free(struct courier **courier);
struct caller_ports courier_ports(struct courier *courier);
/* Whom answers go to. */
void courier_serve(struct courier *courier, struct caller *caller);
/* Readable when something came on any connection. */
int courier_fd(const struct courier *courier);
/* Does all that is due; never blocks. */
void courier_work(struct courier *courier, struct moment now);
struct moment courier_deadline(const struct courier *courier, struct moment now);
void courier_status(const struct courier *courier, struct buffer *lines);

#endif
