/* writes: the bodies that the binder sends to the API server, and what it reads from the answers.
 *
 * Pure functions from values to bytes: no request is made here. Bodies are as upstream's client
 * sends them, key for key; times are microseconds since 1970. */
#ifndef KUBE_WRITES_WRITES_H
#define KUBE_WRITES_WRITES_H

#include "proto/base/buffer.h"
#include "proto/messages.h"

#define WRITES_JSON     "application/json"
#define WRITES_PROTOBUF "application/vnd.kubernetes.protobuf"
#define WRITES_PATCH    "application/strategic-merge-patch+json"
#define WRITES_MERGE    "application/merge-patch+json"

#define WRITES_NOTE_MAX 1024 /* bytes of an event's note; the API server refuses longer ones */

/* Appends one path segment, percent-encoded where it is not a plain Kubernetes name, so that no
 * name can reach outside of its segment. */
void writes_segment(struct buffer *path, struct str name);
/* Appends prefix, such as "/api/v1", then "/namespaces/NS" unless empty (for what has none),
 * "/RESOURCE" and, unless empty, "/NAME". */
void writes_path(struct buffer *path, const char *prefix, struct str namespace_name,
                 const char *resource, struct str name);

/* The body of POST pods/NAME/binding, with the UID as precondition. */
void writes_binding(struct buffer *out, const struct bind *bind);
/* The same in protobuf. */
void writes_binding_protobuf(struct buffer *out, const struct bind *bind);

/* The object that an event is about. */
struct writes_object {
    struct str kind, api_version, namespace_name, name, uid, resource_version;
};

/* An events.k8s.io/v1 Event. */
struct writes_event {
    struct str name; /* the event's own name; see writes_event_name */
    struct writes_object regarding;
    struct str controller; /* reportingController: the profile */
    struct str instance;   /* reportingInstance */
    struct str type, reason, action, note;
    int64_t time_us;        /* eventTime */
    int64_t series_count;   /* 0: no series */
    int64_t series_last_us; /* series.lastObservedTime */
};

/* "<object>.<hex nanoseconds>", the object's name cut so that the whole is a valid name. */
void writes_event_name(struct buffer *out, struct str object, int64_t wall_ns);
/* The note as upstream cuts it: over 1024 bytes, the first 1020 (never inside a character) and
 * " ..." behind them. Returns how many bytes of note to keep; *cut says whether " ..." follows. */
uint32_t writes_note_len(struct str note, bool *cut);
/* Where the event is written: an object of no namespace has its events in the default one. */
struct str writes_event_namespace(const struct writes_event *event);
/* The body of POST events. */
void writes_event(struct buffer *out, const struct writes_event *event);
/* The same in protobuf. */
void writes_event_protobuf(struct buffer *out, const struct writes_event *event);
/* The patch that turns an event into a series, or moves the series on. */
void writes_series(struct buffer *out, int64_t count, int64_t last_us);

/* The core/v1 Event that upstream writes on its Lease. */
void writes_lease_event(struct buffer *out, const struct writes_event *event);

/* The strategic merge patch of pods/NAME/status that upstream sends after a failed attempt: the
 * PodScheduled condition and the nomination. False, and nothing written, when neither differs from
 * what the pod has. */
bool writes_failure(struct buffer *out, const struct pod_failed *failed, int64_t wall_us);

/* Of a pod, from its JSON: where it is, and what a change of its status needs. */
struct writes_pod {
    struct str uid, node_name, resource_version;
    int64_t generation;
    bool deleting;
    struct strs condition_types; /* of all conditions, in order */
    struct condition disruption; /* the first DisruptionTarget; its since is not read */
};
/* Strings go to the arena. False when it is not a pod. */
bool writes_pod_read(struct str body, struct writes_pod *pod, struct arena *a);

/* The patch of a PodGroup's status: counts, condition, or both (NULL: not this one); with the UID
 * as precondition. False, and nothing written, when neither differs from what the group has. */
bool writes_group(struct buffer *out, const struct group_status *counts,
                  const struct group_failed *condition, int64_t wall_us);
/* Whether the patch has the group's resourceVersion as a precondition: that a group in the tree is
 * not scheduled may not be written over what the writer has not seen. */
bool writes_group_is_guarded(const struct group_failed *condition);
/* Appends where it is sent, to /status or to the object itself; returns its content type. */
const char *writes_group_path(struct buffer *path, const struct gang *group, bool subresource);

/* The patch of pods/NAME/status that nominates the pod to a node; with the UID as precondition. */
void writes_nomination(struct buffer *out, struct str uid, struct str node);
/* Who others are evicted for. */
struct writes_preemptor {
    struct str scheduler_name;
    const char *kind; /* "pod", "podgroup" or "compositepodgroup" */
};

/* The patch of pods/NAME/status that says why a victim of preemption is deleted: the condition
 * DisruptionTarget, as upstream merges it, but with the UID as precondition (422 for another pod of
 * that name). False, and nothing written, when the pod has it already. */
bool writes_disruption(struct buffer *out, const struct writes_pod *pod,
                       const struct writes_preemptor *by, int64_t wall_us);
/* The body of DELETE: the pod's own grace period, and the UID as precondition. */
void writes_deletion(struct buffer *out, struct str uid);

/* What matters of a Lease. Times are the API server's text (RFC 3339 with microseconds). */
struct writes_lease {
    struct str holder, acquired, renewed, resource_version, uid;
    struct str handover; /* annotation WRITES_HANDOVER; empty: there is none */
    int64_t duration_s, transitions;
};
#define WRITES_HANDOVER "berth/handover"

/* Reads a Lease; strings go to the arena. False when it is not one. */
bool writes_lease_read(struct str body, struct writes_lease *lease, struct arena *a);
/* The whole Lease for PUT or POST: previous (a Lease's JSON, may be empty) with the spec members
 * and the annotation of lease replaced, and its resourceVersion as the precondition. */
void writes_lease_put(struct buffer *out, const struct writes_lease *lease, struct str previous,
                      struct str namespace_name, struct str name);

/* A metav1.Status, as every failed request is answered; empty strings when it is not one. */
struct writes_status {
    struct str reason, message;
};
void writes_status_read(struct str body, struct writes_status *status, struct arena *a);

/* Claims and volumes are read, changed in a few places and put back; all other bytes stay as they
 * are. ResourceClaims are read and written in protobuf or JSON, the same each; volumes and their
 * claims in JSON. WRITES_conflict: it is not what was decided on any more (another version, another
 * claim); the API server would refuse the object that upstream has in its cache. */
enum writes_change {
    WRITES_changed,
    WRITES_same,
    WRITES_conflict,
    WRITES_malformed,
    WRITES_deleted /* of resourceclaims alone: it is going, or is another one of that name */
};
/* The content type of such a body. */
const char *writes_type(struct str body);
/* The body of PUT persistentvolumes/NAME: the volume with its claimRef naming the claim and, unless
 * it did before, the annotation pv.kubernetes.io/bound-by-controller. */
enum writes_change writes_volume_put(struct buffer *out, struct str volume,
                                     const struct claim_binding *claim);
/* The body of PUT persistentvolumeclaims/NAME: the claim with the annotation
 * volume.kubernetes.io/selected-node. */
enum writes_change writes_claim_put(struct buffer *out, struct str json,
                                    const struct claim_binding *claim, struct str node);
/* Who is to be in a ResourceClaim's status.reservedFor, and since when it is allocated unless its
 * status says so already; 0: that is not told. */
struct writes_consumer {
    struct str pod, uid;
    int64_t wall_us;
    struct str group, group_uid; /* a PodGroup whose reservations are the pod's; empty: none */
    bool for_group;              /* that is it, not the pod */
};
/* The body of PUT resourceclaims/NAME/status: the claim with the pod, or its group, in
 * status.reservedFor. WRITES_same: one of them is there already; WRITES_conflict: the claim has no
 * devices. */
enum writes_change writes_reservation_put(struct buffer *out, struct str json,
                                          const struct writes_consumer *consumer);
/* The body of PUT resourceclaims/NAME: the claim with the finalizer that keeps it while it has
 * devices. WRITES_same: it has it already; WRITES_conflict: it has devices already. */
enum writes_change writes_claim_finalizer_put(struct buffer *out, struct str json, struct str uid);
/* The body of PUT resourceclaims/NAME/status: the claim with these devices, for the pod.
 * WRITES_conflict: it has devices already. */
enum writes_change writes_allocation_put(struct buffer *out, struct str json,
                                         const struct device_allocation *allocation,
                                         const struct writes_consumer *consumer);
/* The patch of resourceclaims/NAME/status that takes the pod, or its group, out of
 * status.reservedFor, whatever else is there; with the claim's UID as precondition. */
void writes_unreservation(struct buffer *out, const struct claim_release *release);
/* The body of PUT resourceclaims/NAME/status: the claim without that one in status.reservedFor.
 * WRITES_same: it is not there. */
enum writes_change writes_unreservation_put(struct buffer *out, struct str body,
                                            const struct claim_release *release);
/* The body of PUT resourceclaims/NAME/status: the claim without devices, reservations and what
 * drivers said. WRITES_same: it has none; WRITES_conflict: it has changed since the release's
 * resource_version, or others than the pod or its group may use it. */
enum writes_change writes_deallocation_put(struct buffer *out, struct str json,
                                           const struct claim_release *release);

/* The body of POST resourceclaims: the claim for the pod's extended resources (bind->extended has
 * one), under that name. */
void writes_special_claim(struct buffer *out, const struct bind *bind, struct str name);
/* Of a claim of that name: WRITES_changed: it is the pod's; WRITES_conflict: it is not. */
enum writes_change writes_special_claim_look(struct str json, struct str pod_uid);
/* The body of PUT resourceclaims/NAME: the claim without its finalizer, so that it can be deleted.
 * WRITES_same: it has none; WRITES_conflict: it is not the pod's. One that is going is changed. */
enum writes_change writes_special_claim_unprotect(struct buffer *out, struct str json,
                                                  const struct claim_release *release);
/* The patch of pods/NAME/status that says which claim stands for the extended resources of which
 * container; with the UID as precondition. */
void writes_special_status(struct buffer *out, const struct bind *bind, struct str claim);
/* The patch (WRITES_PATCH) of pods/NAME/status that says what the pod's claims take of its node. */
void writes_claim_rooms(struct buffer *out, const struct bind *bind);
/* The patch (WRITES_MERGE) of pods/NAME/status that says nothing of it any more. */
void writes_no_claim_rooms(struct buffer *out, struct str uid);

#endif
