/* cases: questions to the allocator as lines of JSON, with Kubernetes' objects, and its answers as
 * upstream's allocator would be written by Go. tests/fidelity/oracle/devices reads and writes the
 * same lines. */
#ifndef FIDELITY_DEVICES_CASES_H
#define FIDELITY_DEVICES_CASES_H

#include "proto/kube/documents/json.h"
#include "scheduler/devices/allocate.h"

struct dra_case {
    struct arena arena; /* holds all of it */
    struct kube_json *json;
    struct features features; /* of "release" (37; else 1.36) and "featureGates" */
    struct devices *devices;
    uint32_t claim_count, node_count;
    struct dra_claim *claims;
    struct case_node {
        struct dra_node node;
        const struct kube_json *labels;
    } * nodes;
};

/* False, with *error in the case's arena, for what is no question. Must be freed either way. */
bool case_read(struct dra_case *c, struct str line, struct str *error);
void case_free(struct dra_case *c);
/* Asks for all nodes, in order; appends one line without its end. */
void case_answer(const struct dra_case *c, struct buffer *out);

/* A ResourceSlice; borrows from both. */
struct dra_slice case_slice(const struct kube_json *slice, struct arena *arena);
/* The allocations of a claim's status, as the store wants them. */
const struct dra_use *case_uses(const struct kube_json *claim, struct arena *arena,
                                uint32_t *count);

#endif
