/* trace: what happened to a cluster, read from elsewhere: nodes and pods that come and go, in order
 * of time. */
#ifndef CTL_IMPORT_TRACE_H
#define CTL_IMPORT_TRACE_H

#include "proto/base/arena.h"
#include "proto/messages.h"

struct kube_json;

struct trace_event {
    int64_t at_us;           /* wall clock */
    uint64_t line;           /* in the order in which they were read */
    struct message *message; /* node_set, node_gone, pod_set or pod_gone */
};

/* Zero-initialise. */
struct trace {
    struct trace_event *at;
    size_t count, room;
    uint64_t passed_over; /* of what was read, what is of no use here */
    struct arena memory;
};

void trace_free(struct trace *t);
/* From the object's JSON, which is copied. at_us: when it comes. False: what is wrong with it, from
 * the trace's memory. */
bool trace_node(struct trace *t, int64_t at_us, const struct kube_json *object, struct str *error);
bool trace_pod(struct trace *t, int64_t at_us, const struct kube_json *object, struct str *error);
void trace_node_gone(struct trace *t, int64_t at_us, struct str name);
void trace_pod_gone(struct trace *t, int64_t at_us, const struct pod_gone *gone);
/* By time; what happens at the same time stays in the order in which it was read. */
void trace_sort(struct trace *t);

#endif
