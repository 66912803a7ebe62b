/* writes: the JSON that the binder sends to the API server, and what it reads from the answers.
 *
 * Pure functions from values to bytes: no request is made here. Bodies are as upstream's client
 * sends them, key for key; times are microseconds since 1970. */
#ifndef KUBE_WRITES_H
#define KUBE_WRITES_H

#include "proto/base/buffer.h"
#include "proto/messages.h"

#define WRITES_JSON  "application/json"
#define WRITES_PATCH "application/strategic-merge-patch+json"

#define WRITES_NOTE_MAX 1024 /* bytes of an event's note; the API server refuses longer ones */

/* Appends one path segment, percent-encoded where it is not a plain Kubernetes name, so that no
 * name can reach outside of its segment. */
void writes_segment(struct buffer *path, struct str name);
/* Appends prefix, such as "/api/v1", then "/namespaces/NS/RESOURCE" and, unless empty, "/NAME". */
void writes_path(struct buffer *path, const char *prefix, struct str namespace_name,
                 const char *resource, struct str name);

/* The body of POST pods/NAME/binding, with the UID as precondition. */
void writes_binding(struct buffer *out, const struct bind *bind);

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
/* The body of POST events. */
void writes_event(struct buffer *out, const struct writes_event *event);
/* The patch that turns an event into a series, or moves the series on. */
void writes_series(struct buffer *out, int64_t count, int64_t last_us);

/* The core/v1 Event that upstream writes on its Lease. */
void writes_lease_event(struct buffer *out, const struct writes_event *event);

/* The strategic merge patch of pods/NAME/status that upstream sends after a failed attempt: the
 * PodScheduled condition and the nomination. False, and nothing written, when neither differs from
 * what the pod has. */
bool writes_failure(struct buffer *out, const struct pod_failed *failed, int64_t wall_us);

/* What matters of a Lease. Times are the API server's text (RFC 3339 with microseconds). */
struct writes_lease {
    struct str holder, acquired, renewed, resource_version, uid;
    int64_t duration_s, transitions;
};

/* Reads a Lease; strings go to the arena. False when it is not one. */
bool writes_lease_read(struct str body, struct writes_lease *lease, struct arena *a);
/* The whole Lease for PUT or POST: previous (a Lease's JSON, may be empty) with the spec members of
 * lease replaced, and its resourceVersion as the precondition. */
void writes_lease_put(struct buffer *out, const struct writes_lease *lease, struct str previous,
                      struct str namespace_name, struct str name);

/* A metav1.Status, as every failed request is answered; empty strings when it is not one. */
struct writes_status {
    struct str reason, message;
};
void writes_status_read(struct str body, struct writes_status *status, struct arena *a);

/* Where a pod is, from its JSON. False when it is not a pod. */
struct writes_pod {
    struct str uid, node_name, resource_version;
    bool deleting;
};
bool writes_pod_read(struct str body, struct writes_pod *pod, struct arena *a);

#endif
