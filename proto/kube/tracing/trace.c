/* trace: ids as hex digits, and a list of spans. What must stay true: an id is never all zero,
 * which OpenTelemetry takes for none, and whatever is said of a span is bounded. */
#include "proto/kube/tracing/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The highest of 63 bits: what TraceIDRatioBased compares with a share of it. */
#define RATE_ALL 1000000

static uint64_t other_than_zero(struct random *random)
{
    uint64_t number = random_next(random);
    return number != 0 ? number : 1;
}

/* The share of all ids below the bound is that of the rate: bound = rate / 10^6 of 2^63. */
static bool is_sampled(uint64_t low, int64_t per_million)
{
    const uint64_t all = UINT64_C(1) << 63;
    uint64_t bound = all / RATE_ALL * (uint64_t)per_million;
    return per_million >= RATE_ALL || low >> 1 < bound;
}

bool trace_begin(struct trace_context *context, struct random *random, int64_t per_million)
{
    if (per_million <= 0)
        return false;
    uint64_t high = other_than_zero(random), low = other_than_zero(random);
    if (!is_sampled(low, per_million))
        return false;
    snprintf(context->trace_id, sizeof(context->trace_id), "%016" PRIx64 "%016" PRIx64, high, low);
    trace_span_id(random, context->span_id);
    return true;
}

/* Lower case, as W3C Trace Context wants it, and not only zeros. */
static bool is_id(struct str text)
{
    bool any = false;
    for (uint32_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
        any = any || c != '0';
    }
    return any;
}

bool trace_read(struct trace_context *context, struct str traceparent)
{
    *context = (struct trace_context){0};
    if (traceparent.len != TRACE_CONTEXT || !str_starts_with(traceparent, "00-") ||
        traceparent.at[35] != '-' || memcmp(traceparent.at + 52, "-01", 3) != 0)
        return false;
    struct str trace = {traceparent.at + 3, TRACE_ID_TEXT};
    struct str span = {traceparent.at + 36, SPAN_ID_TEXT};
    if (!is_id(trace) || !is_id(span))
        return false;
    memcpy(context->trace_id, trace.at, trace.len);
    memcpy(context->span_id, span.at, span.len);
    return true;
}

void trace_write(const struct trace_context *context, char text[TRACE_CONTEXT + 1])
{
    snprintf(text, TRACE_CONTEXT + 1, "00-%s-%s-01", context->trace_id, context->span_id);
}

struct random trace_ids(const struct trace_context *context, const char *service)
{
    return (struct random){str_hash(str_of(context->trace_id)) ^
                           str_hash(str_of(context->span_id)) * 3 ^ str_hash(str_of(service)) * 5};
}

void trace_span_id(struct random *ids, char text[SPAN_ID_TEXT + 1])
{
    snprintf(text, SPAN_ID_TEXT + 1, "%016" PRIx64, other_than_zero(ids));
}

void trace_log_init(struct trace_log *log, struct arena *memory,
                    const struct trace_context *context, const char *service)
{
    *log = (struct trace_log){.memory = memory,
                              .context = *context,
                              .service = service,
                              .ids = trace_ids(context, service)};
    log->spans = arena_take(memory, TRACE_SPANS_MAX * sizeof(*log->spans));
}

/* Cut between characters, not inside one. */
static struct str bounded(struct arena *memory, struct str text)
{
    if (text.len > TRACE_TEXT_MAX) {
        text.len = TRACE_TEXT_MAX;
        while (text.len > 0 && ((unsigned char)text.at[text.len] & 0xc0) == 0x80)
            text.len--;
    }
    return arena_copy(memory, text);
}

struct trace_span *trace_add(struct trace_log *log, struct str parent, const char *name,
                             int64_t begin_us, int64_t end_us)
{
    char id[SPAN_ID_TEXT + 1];
    if (log->count == TRACE_SPANS_MAX) {
        log->left_out++;
        return NULL;
    }
    struct trace_span *span = &log->spans[log->count++];
    trace_span_id(&log->ids, id);
    *span = (struct trace_span){
        .trace_id = arena_copy(log->memory, str_of(log->context.trace_id)),
        .span_id = arena_copy(log->memory, str_of(id)),
        .parent = arena_copy(log->memory, parent.len > 0 ? parent : str_of(log->context.span_id)),
        .name = str_of(name),
        .service = str_of(log->service),
        .begin_us = begin_us,
        .end_us = end_us > begin_us ? end_us : begin_us};
    return span;
}

static struct span_attribute *next_attribute(struct trace_log *log, struct trace_span *span)
{
    if (span == NULL || span->attributes.count == TRACE_ATTRIBUTES_MAX)
        return NULL;
    if (span->attributes.at == NULL)
        span->attributes.at =
            arena_take(log->memory, TRACE_ATTRIBUTES_MAX * sizeof(struct span_attribute));
    return &span->attributes.at[span->attributes.count++];
}

void trace_say(struct trace_log *log, struct trace_span *span, const char *key, struct str text)
{
    struct span_attribute *a = text.len > 0 ? next_attribute(log, span) : NULL;
    if (a != NULL)
        *a = (struct span_attribute){.key = str_of(key), .text = bounded(log->memory, text)};
}

void trace_count(struct trace_log *log, struct trace_span *span, const char *key, int64_t number)
{
    struct span_attribute *a = next_attribute(log, span);
    if (a != NULL)
        *a = (struct span_attribute){.key = str_of(key), .number = number};
}

void trace_fail(struct trace_log *log, struct trace_span *span, struct str why)
{
    if (span != NULL)
        span->error = bounded(log->memory, why.len > 0 ? why : STR_LITERAL("failed"));
}
