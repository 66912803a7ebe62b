/* writes_internal: the pieces of writes.c that files about one kind of object use as well. */
#ifndef KUBE_WRITES_WRITES_INTERNAL_H
#define KUBE_WRITES_WRITES_INTERNAL_H

#include "proto/kube/writes/writes.h"

/* What a claim is given, allocated then; as JSON, and as the fields of an AllocationResult. */
void writes_allocation_json(struct buffer *out, const struct device_allocation *allocation,
                            int64_t wall_us);
void writes_allocation_protobuf(struct buffer *out, const struct device_allocation *allocation,
                                int64_t wall_us);

#endif
