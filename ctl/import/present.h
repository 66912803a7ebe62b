/* present: which nodes and pods are there at a point of what is read, and what comes and goes,
 * as events of a trace. */
#ifndef CTL_IMPORT_PRESENT_H
#define CTL_IMPORT_PRESENT_H

#include "ctl/import/trace.h"
#include "proto/base/map.h"

struct present {
    struct trace *trace;
    struct map *nodes; /* name to its last record, as bytes */
    struct map *pods;  /* "namespace/name" to the UID of who has the name now, a text */
};

struct present present_of(struct trace *t);
void present_free(struct present *p);
/* From the object's JSON, as trace_node and trace_pod. */
bool present_node(struct present *p, int64_t at_us, const struct kube_json *object,
                  struct str *error);
bool present_pod(struct present *p, int64_t at_us, const struct kube_json *object,
                 struct str *error);
void present_lose_node(struct present *p, int64_t at_us, struct str name);
/* Nothing happens if there is none of that name. */
void present_lose_pod(struct present *p, int64_t at_us, struct str space, struct str name);

#endif
