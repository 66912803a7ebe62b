/* hint: the small questions of plugins.def, each as its plugin's queueing hint upstream asks it.
 *
 * A wrong "yes" costs one attempt, a wrong "no" leaves the pod asleep until the leftover flush; so
 * where upstream's hint fails with an error, which counts as Queue, the answer is yes. */
#ifndef QUEUE_HINT_H
#define QUEUE_HINT_H

#include "queue/filing.h"
#include "queue/hints.h"

/* Can this event, with these objects, cure the rejection of this pod? */
struct question {
    const struct pod *pod;
    const struct event *event;
    const struct surroundings *around; /* never NULL */
};

typedef bool hint(const struct question *q);

/* A row of plugins.def; the table is in hints.c. */
struct wake {
    uint8_t plugin;       /* its bit in a set of plugins */
    uint8_t resource;     /* hints.c's */
    uint8_t since, until; /* releases of Kubernetes in which upstream has it, by their minor */
    uint32_t actions;
    hint *worth; /* NULL: always */
    const struct filing *filing;
};
/* The i-th; NULL behind the last. */
const struct wake *wake_row(size_t i);
bool wake_matches(const struct wake *wake, const struct event *event);
/* Asks the row's question; a row without one always says yes. */
bool wake_worth(const struct wake *wake, const struct question *question);
/* What of a pod the i-th plugin's hints look at: names of fields with a blank between them. */
const char *wake_fields(size_t i);

/* Pods: hint.c. */
hint hint_same_pod;
hint hint_room_freed;
hint hint_resize_weighed_anew;
hint hint_usage_lowered;
hint hint_ports_freed;
hint hint_features_changed;

/* Devices: hints_devices.c. Whether classes stand for extended resources (DRAExtendedResource). */
bool hint_classes_stand(const struct question *q);
hint hint_devices;
hint hint_devices_left;
hint hint_claims_named;
hint hint_class_maps;

/* Nodes: hints_node.c. */
hint hint_taints_tolerated;
hint hint_node_opened;
hint hint_tolerates_unschedulable;
hint hint_node_has_room;
hint hint_affinity_matched;
hint hint_resizes_allowed;

/* Volumes: hints_volume.c. */
hint hint_claim_used;
hint hint_claim_named;
hint hint_volume_freed;
hint hint_attachable_pod_gone;
hint hint_attachment_freed;
hint hint_limit_raised;
hint hint_migration_changed;
hint hint_topologies_changed;
hint hint_waits_for_consumer;
hint hint_zone_changed;
hint hint_capacity_tracking_ended;
hint hint_capacity_raised;

/* Other pods: hints_topology.c. */
hint hint_spread_pod;
hint hint_spread_node;
hint hint_affinity_pod;
hint hint_affinity_node;

/* What happens on that node matters to the pod: not if it is on another one, to stay there. */
bool hint_may_use(const struct question *q, struct str node);
/* The pod that an event took away or changed had, or was promised, room on a node. */
bool hint_has_node(const struct pod *pod);

#endif
