/* mirror: what the queue remembers of nodes, of assigned pods and of storage objects, to tell what
 * a change changed.
 *
 * Of a node: all but its images. Of an assigned pod: who and where it is, labels, usage, host
 * ports, tolerations, priority, volumes and required anti-affinity; nothing that only a pending pod
 * needs. Of a claim its name, of a volume its labels, of other objects everything; of all their
 * version, so that every update is seen as one. All encoded, what many have in common once; the
 * versions handed out are decoded into the caller's arena. */
#ifndef QUEUE_MIRROR_H
#define QUEUE_MIRROR_H

#include "queue/event.h"

struct mirror;
struct stored;

enum mirror_change {
    MIRROR_outdated, /* older than what is known: refused */
    MIRROR_same,     /* nothing that is remembered has changed */
    MIRROR_new,
    MIRROR_changed /* before is what was known */
};

struct mirror *mirror_new(void);
void mirror_free(struct mirror **m);

enum mirror_change mirror_set_node(struct mirror *m, const struct node *node, struct node *before,
                                   struct arena *a);
/* False when it is not known. */
bool mirror_remove_node(struct mirror *m, struct str name, struct node *before, struct arena *a);

/* namespace/name, from the arena. */
struct str mirror_key(struct str space, struct str name, struct arena *a);

/* Key: namespace/name, so that a pod that was made again replaces its forerunner. */
enum mirror_change mirror_set_pod(struct mirror *m, struct str key, const struct pod *pod,
                                  struct pod *before, struct arena *a);
/* False when it is not known, or known with another UID (an empty uid takes any). */
bool mirror_remove_pod(struct mirror *m, struct str key, struct str uid, struct pod *before,
                       struct arena *a);

/* What is known of an assigned pod, without decoding it; valid until the mirror changes. */
struct mirrored_pod {
    const struct stored *kept;
    int64_t version;
};
/* False when it is not known. */
bool mirror_pod(const struct mirror *m, struct str key, struct mirrored_pod *pod);
bool mirror_pod_is(const struct mirrored_pod *pod, struct str uid);

/* Any of the objects that are neither nodes nor pods, as event.resource says. */
union mirror_record {
    struct claim claim;
    struct volume volume;
    struct storage_class storage_class;
    struct csi_node csi_node;
    struct csi_driver csi_driver;
    struct csi_capacity csi_capacity;
    struct attachment attachment;
    struct resource_claim resource_claim;
    struct resource_slice resource_slice;
    struct device_class device_class;
    struct device_taint_rule device_taint_rule;
};
struct mirror_update {
    enum mirror_change change;
    enum event_resource resource;
    const void *record; /* the message's own */
};
/* set_message sets one of them. */
struct mirror_update mirror_set_object(struct mirror *m, const struct message *set_message,
                                       union mirror_record *before, struct arena *a);
/* False when it is not known. */
bool mirror_remove_object(struct mirror *m, enum event_resource resource,
                          const struct object_gone *gone, union mirror_record *before,
                          struct arena *a);

/* Whether a DeviceClass gives devices for that extended resource. */
bool mirror_maps_resource(const struct mirror *m, struct str resource);
/* What is known of one ResourceClaim; false when it is not known. */
bool mirror_resource_claim(const struct mirror *m, struct str space, struct str name,
                           struct resource_claim *claim, struct arena *a);

/* A snapshot begins: until its end nothing is outdated, since the API server itself may have gone
 * back in time. */
void mirror_snapshot_begin(struct mirror *m);
/* It has ended: what was not in it is taken out, one a call; false when nothing is left to take. */
bool mirror_next_unseen_node(struct mirror *m, struct node *before, struct arena *a);
bool mirror_next_unseen_pod(struct mirror *m, struct pod *before, struct arena *a);
bool mirror_next_unseen_object(struct mirror *m, enum event_resource resource,
                               union mirror_record *before, struct arena *a);
void mirror_snapshot_end(struct mirror *m);

/* Walks all of one resource: size_t at = 0; while (mirror_next(…)). The mirror must not change. */
bool mirror_next(const struct mirror *m, enum event_resource resource, size_t *at, void *record,
                 struct arena *a);
/* The same with versions: struct mirror_walk walk = {resource}; while (mirror_walk(…)). */
struct mirror_walk {
    enum event_resource resource;
    size_t at;
    int64_t version; /* of the one that came last */
};
bool mirror_walk(const struct mirror *m, struct mirror_walk *walk, void *record, struct arena *a);
bool mirror_has_node(const struct mirror *m, struct str name);

size_t mirror_nodes(const struct mirror *m);
size_t mirror_pods(const struct mirror *m);

#endif
