/* event: something happened in the cluster that may let a waiting pod fit, and what exactly. */
#ifndef QUEUE_EVENT_H
#define QUEUE_EVENT_H

#include "proto/messages.h"

/* What happened, as upstream's action bits. A registered set of bits may be compared with these. */
enum event_action {
    EVENT_ADD = 1,
    EVENT_DELETE = 2,
    EVENT_NODE_ALLOCATABLE = 4,
    EVENT_NODE_LABEL = 8,
    EVENT_NODE_TAINT = 16,
    EVENT_NODE_CONDITION = 32,
    EVENT_NODE_ANNOTATION = 64,
    EVENT_NODE_FEATURE = 128,
    EVENT_POD_LABEL = 256,
    EVENT_POD_SCALE_DOWN = 512,
    EVENT_POD_TOLERATION = 1024,
    EVENT_POD_GATES = 2048,
    EVENT_POD_CLAIM = 4096,
    EVENT_POD_SCALE_UP = 8192,
    EVENT_NODE_PREEMPTION = 16384,
    EVENT_UPDATE = 32764 /* some update that has no bit of its own; in a row: any update */
};

enum event_resource {
    EVENT_OF_node,
    EVENT_OF_assigned_pod,
    EVENT_OF_unschedulable_pod,
    EVENT_OF_claim,
    EVENT_OF_volume,
    EVENT_OF_storage_class,
    EVENT_OF_csi_node,
    EVENT_OF_csi_driver,
    EVENT_OF_csi_capacity,
    EVENT_OF_attachment,
    EVENT_OF_resource_claim,
    EVENT_OF_resource_slice,
    EVENT_OF_device_class,
    EVENT_OF_device_taint_rule, /* remembered; it is told of as an update of slices */
    EVENT_RESOURCES
};

/* The objects are borrowed; old is NULL for ADD, new is NULL for DELETE. */
struct event {
    bool wildcard;   /* concerns every pod, whatever rejected it */
    bool unseen;     /* no object has changed: it concerns only plugins that are known to look */
    uint8_t release; /* the minor of the Kubernetes whose rules hold: 36, … (0 is as the oldest) */
    enum event_resource resource;
    uint32_t action; /* one bit, or EVENT_UPDATE */
    const struct pod *old_pod, *new_pod;
    const struct node *old_node, *new_node;
    /* Records of other resources: struct claim, struct volume, … as the resource says. Of an old
     * one only what mirror.h says is remembered. */
    const void *old_object, *new_object;
};

/* The updates between two versions of an object, each an event of its own, in upstream's order. */
#define EVENT_CHANGES_MAX 8
struct event_changes {
    uint32_t count;
    uint32_t at[EVENT_CHANGES_MAX];
};

/* For a pod that waits: no change at all when only what a scheduler itself writes differs
 * (resourceVersion, generation, status), else the kinds, else one EVENT_UPDATE. release as in
 * struct event: a pod that asks for more is a kind since 1.37. */
struct event_changes event_pending_changes(const struct pod *before, const struct pod *after,
                                           uint8_t release);
/* For an assigned pod: kinds only; nothing registered could use an update without a kind. */
struct event_changes event_assigned_changes(const struct pod *before, const struct pod *after,
                                            uint8_t release);
struct event_changes event_node_changes(const struct node *before, const struct node *after,
                                        uint8_t release);

/* Upstream's label of an event: AssignedPodDelete, NodeUpdateNodeTaint, …; lives for ever. Since
 * 1.37 a pod that changed while it waits is a TargetPod. */
const char *event_label(const struct event *event);

bool event_same_strs(const struct strs *a, const struct strs *b);
bool event_same_taints(const struct node *a, const struct node *b);

#endif
