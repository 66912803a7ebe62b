/* attempt_trace: an attempt as spans. What must stay true: phases follow each other without a gap,
 * each once, and what is kept is bounded however often the pod is decided anew. */
#include "scheduler/tracing/attempt_trace.h"

#include "proto/base/memory.h"

#include <string.h>

#define FROM_QUEUE_MOST 8
#define SERVICE         "berth-scheduler"

struct attempt_trace {
    struct arena memory;
    struct trace_log log;
    struct trace_span from_queue[FROM_QUEUE_MOST];
    uint32_t from_queue_count;
    int64_t begin_us;         /* the root's */
    struct trace_span *phase; /* that runs; NULL: it was one too many */
    int64_t phase_us;
    struct str error;
};

static const struct str none = {NULL, 0};

void attempt_trace_free(struct attempt_trace **trace)
{
    if (*trace == NULL)
        return;
    arena_free(&(*trace)->memory);
    memory_free(*trace);
    *trace = NULL;
}

/* Only those of its own trace. Returns when the last of them ended. */
static int64_t copy_spans(struct attempt_trace *t, const struct trace_span *spans, uint32_t count,
                          int64_t now_us)
{
    int64_t end_us = now_us;
    for (uint32_t i = 0; i < count && t->from_queue_count < FROM_QUEUE_MOST; i++) {
        const struct trace_span *span = &spans[i];
        if (!str_is(span->trace_id, t->log.context.trace_id) || span->begin_us <= 0 ||
            span->begin_us > now_us || span->end_us < span->begin_us)
            continue;
        codec_copy(&trace_span_record, &t->from_queue[t->from_queue_count++], span, &t->memory);
        t->begin_us = span->begin_us < t->begin_us ? span->begin_us : t->begin_us;
        end_us = span->end_us < now_us ? span->end_us : now_us;
    }
    return end_us;
}

void attempt_trace_begin(struct attempt_trace **trace, struct str traceparent,
                         const struct trace_span *from_queue, uint32_t count, int64_t now_us)
{
    struct trace_context context;
    attempt_trace_free(trace);
    if (traceparent.len == 0 || !trace_read(&context, traceparent))
        return;
    struct attempt_trace *t = *trace = memory_take(sizeof(*t));
    t->begin_us = now_us;
    trace_log_init(&t->log, &t->memory, &context, SERVICE);
    attempt_trace_phase(t, "Schedule", copy_spans(t, from_queue, count, now_us));
    t->begin_us = t->phase_us < t->begin_us ? t->phase_us : t->begin_us;
}

static void end_phase(struct attempt_trace *t, int64_t now_us)
{
    if (t->phase != NULL && now_us > t->phase->begin_us)
        t->phase->end_us = now_us;
}

void attempt_trace_phase(struct attempt_trace *t, const char *name, int64_t now_us)
{
    if (t == NULL)
        return;
    end_phase(t, now_us);
    t->phase_us = now_us;
    t->phase = trace_add(&t->log, none, name, now_us, now_us);
}

int64_t attempt_trace_phase_us(const struct attempt_trace *t)
{
    return t != NULL ? t->phase_us : 0;
}

static struct str phase_id(const struct attempt_trace *t)
{
    return t->phase != NULL ? t->phase->span_id : none;
}

struct trace_span *attempt_trace_step(struct attempt_trace *t, const char *name, int64_t begin_us,
                                      int64_t end_us)
{
    return t != NULL ? trace_add(&t->log, phase_id(t), name, begin_us, end_us) : NULL;
}

void attempt_trace_worker(struct attempt_trace *t, const struct worker_part *part)
{
    struct trace_span *span =
        attempt_trace_step(t, "Filter and score", part->begin_us, part->end_us);
    if (span == NULL)
        return;
    span->service = STR_LITERAL("berth-worker");
    trace_count(&t->log, span, "berth.shard", part->shard);
    trace_count(&t->log, span, "berth.nodes.evaluated", part->evaluated);
    trace_count(&t->log, span, "berth.nodes.feasible", part->feasible);
}

void attempt_trace_context(const struct attempt_trace *t, char text[TRACE_CONTEXT + 1])
{
    struct trace_context context;
    text[0] = 0;
    if (t == NULL || t->phase == NULL)
        return;
    context = t->log.context;
    memcpy(context.span_id, t->phase->span_id.at, SPAN_ID_TEXT);
    trace_write(&context, text);
}

void attempt_trace_fail(struct attempt_trace *t, struct str why)
{
    if (t == NULL)
        return;
    if (why.len > TRACE_TEXT_MAX)
        why.len = TRACE_TEXT_MAX;
    t->error = arena_copy(&t->memory, why);
}

static struct trace_span root_of(struct attempt_trace *t, const struct attempt_end *end,
                                 int64_t now_us)
{
    const struct pod *pod = end->pod;
    struct trace_log *log = &t->log;
    struct trace_span root = {.trace_id = str_of(log->context.trace_id),
                              .span_id = str_of(log->context.span_id),
                              .name = STR_LITERAL("Scheduling attempt"),
                              .service = STR_LITERAL(SERVICE),
                              .begin_us = t->begin_us,
                              .end_us = now_us > t->begin_us ? now_us : t->begin_us};
    trace_say(log, &root, "k8s.namespace.name", pod->namespace_name);
    trace_say(log, &root, "k8s.pod.name", pod->name);
    trace_say(log, &root, "k8s.pod.uid", pod->uid);
    trace_say(log, &root, "k8s.node.name", pod->node_name);
    trace_say(log, &root, "berth.profile", pod->scheduler_name);
    trace_say(log, &root, "berth.result", end->result);
    trace_count(log, &root, "berth.attempt", end->attempt);
    if (log->left_out > 0)
        trace_count(log, &root, "berth.spans.left_out", log->left_out);
    if (end->failed)
        trace_fail(log, &root, t->error.len > 0 ? t->error : end->result);
    return root;
}

void attempt_trace_end(struct attempt_trace *t, const struct attempt_end *end, int64_t now_us,
                       struct spans *out)
{
    uint32_t count = 0;
    *out = (struct spans){0};
    if (t == NULL)
        return;
    end_phase(t, now_us);
    struct trace_span *all =
        arena_take(&t->memory, (1 + FROM_QUEUE_MOST + TRACE_SPANS_MAX) * sizeof(*all));
    all[count++] = root_of(t, end, now_us);
    for (uint32_t i = 0; i < t->from_queue_count; i++)
        all[count++] = t->from_queue[i];
    for (uint32_t i = 0; i < t->log.count; i++)
        all[count++] = t->log.spans[i];
    out->spans.at = all;
    out->spans.count = count;
}
