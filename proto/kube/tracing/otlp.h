/* otlp: spans as OpenTelemetry's protocol has them (opentelemetry/proto/trace/v1, in protobuf). */
#ifndef KUBE_TRACING_OTLP_H
#define KUBE_TRACING_OTLP_H

#include "proto/base/buffer.h"
#include "proto/messages.h"

/* Whether its ids are ids; all else may be anything. */
bool otlp_takes(const struct trace_span *span);
/* Adds the span as an item of ScopeSpans.spans; one that is taken (otlp_takes). */
void otlp_add_span(struct buffer *out, const struct trace_span *span);
/* Adds a ResourceSpans of an ExportTraceServiceRequest: one service's spans, as they were added
 * to a buffer by otlp_add_span. A request may have several, one behind the other. */
void otlp_add_service(struct buffer *out, struct str service, const char *version,
                      struct str spans);

#endif
