/* trace: identities of traces and spans, and spans that are being written. Pure: numbers that must
 * be another each time come from the caller's generator.
 *
 * The context of a trace travels as W3C Trace Context writes it: 00-TRACE-SPAN-01. What is not
 * traced has none, so the flag is always 1. */
#ifndef KUBE_TRACING_TRACE_H
#define KUBE_TRACING_TRACE_H

#include "proto/base/random.h"
#include "proto/messages.h"

#define TRACE_ID_TEXT  32
#define SPAN_ID_TEXT   16
#define TRACE_CONTEXT  55   /* characters of a traceparent */
#define TRACE_TEXT_MAX 1024 /* bytes of an error or a text of an attribute; longer ones are cut */

struct trace_context {
    char trace_id[TRACE_ID_TEXT + 1];
    char span_id[SPAN_ID_TEXT + 1]; /* the parent of whatever is made next */
};

/* A new trace for so many attempts of a million (0 to 1000000), by its id, as OpenTelemetry's
 * TraceIDRatioBased has it. False: this one is not traced. Draws nothing when per_million is 0. */
bool trace_begin(struct trace_context *context, struct random *random, int64_t per_million);
/* False when the text is none, or not of version 00: then nothing is traced. */
bool trace_read(struct trace_context *context, struct str traceparent);
/* TRACE_CONTEXT characters and a zero byte. */
void trace_write(const struct trace_context *context, char text[TRACE_CONTEXT + 1]);
/* A generator of span ids that nobody else in the trace has: service tells apart who makes them.
 */
struct random trace_ids(const struct trace_context *context, const char *service);
/* SPAN_ID_TEXT characters and a zero byte, never all zero. */
void trace_span_id(struct random *ids, char text[SPAN_ID_TEXT + 1]);

/* Spans that one process writes for one trace; everything lies in the arena. At most
 * TRACE_SPANS_MAX are kept: what comes then is left out and counted. */
#define TRACE_SPANS_MAX 32

struct trace_log {
    struct arena *memory;
    struct trace_context context;
    const char *service; /* static */
    struct random ids;
    struct trace_span *spans;
    uint32_t count, left_out;
};

void trace_log_init(struct trace_log *log, struct arena *memory,
                    const struct trace_context *context, const char *service);
/* A child of the span that parent names (empty: the context's). NULL when there are too many. The
 * result may be written on until the next one is added. end_us before begin_us counts as it. */
struct trace_span *trace_add(struct trace_log *log, struct str parent, const char *name,
                             int64_t begin_us, int64_t end_us);
/* At most TRACE_ATTRIBUTES_MAX a span; more are left out. An empty text is left out. span may be
 * NULL. */
#define TRACE_ATTRIBUTES_MAX 16
void trace_say(struct trace_log *log, struct trace_span *span, const char *key, struct str text);
void trace_count(struct trace_log *log, struct trace_span *span, const char *key, int64_t number);
void trace_fail(struct trace_log *log, struct trace_span *span, struct str why);

#endif
