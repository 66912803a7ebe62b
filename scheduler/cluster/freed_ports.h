/* freed_ports: host ports of a node that are free although pods on it have them. The used ports of
 * a node are a set without counts, as upstream's: of two pods with the same port the first that
 * goes frees it, and it stays free until a pod that has it comes or is updated. What the pods on a
 * node are does not say so; whoever is told of them all must be told this, too. */
#ifndef SCHEDULER_CLUSTER_FREED_PORTS_H
#define SCHEDULER_CLUSTER_FREED_PORTS_H

#include "proto/messages.h"

/* Zero-initialise. On nearly all nodes there are none. */
struct freed_ports {
    uint32_t count, room;
    struct host_port *at; /* with texts of their own */
};

/* These are in use again, or nobody has them any more. */
void freed_ports_remove(struct freed_ports *f, const struct pod *pod);
/* One pod went, the other stays: what both have is free. */
void freed_ports_add(struct freed_ports *f, const struct pod *gone, const struct pod *stays);
/* Those of the pod's ports that are free: *at, from the arena, with the pod's texts. */
uint32_t freed_ports_of(const struct freed_ports *f, const struct pod *pod, struct host_port **at,
                        struct arena *a);
void freed_ports_free(struct freed_ports *f);

#endif
