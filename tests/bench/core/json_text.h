/* json_text: watch events as an API server sends them, managedFields and all. */
#ifndef TESTS_BENCH_CORE_JSON_TEXT_H
#define TESTS_BENCH_CORE_JSON_TEXT_H

#include "proto/base/buffer.h"

#include <stdint.h>

/* One line each, with its line feed, added to the buffer. type is ADDED or MODIFIED; node may be
 * NULL for a pod that is pending. */
void json_pod_event(struct buffer *out, const char *type, uint32_t i, uint32_t version,
                    const char *node);
void json_node_event(struct buffer *out, const char *type, uint32_t i, uint32_t version);

#endif
