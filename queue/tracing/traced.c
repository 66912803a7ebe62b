/* traced: a trace begins with the attempt that the queue hands out. The one idea: what led to the
 * attempt is known only here and only now, so it travels with it. What must stay true: without
 * tracing nothing is drawn and nothing is added; spans follow each other without a gap, so that
 * those of all attempts of a pod cover its time. */
#include "queue/tracing/traced.h"

#include "proto/kube/tracing/trace.h"

static int64_t wall_of(const struct queue *q, struct moment at)
{
    return q->options.wall_us_at_zero + at.ns / 1000;
}

/* From the watcher's sending until the queue had it, before the first attempt; whatever held it
 * back before it was first active (gates, its group); then the wait of this attempt, which begins
 * where its last one failed. */
static void add_spans(struct trace_log *log, const struct queue *q, const struct entry *e,
                      int64_t now_us)
{
    int64_t added_us = wall_of(q, e->added), since_us = wall_of(q, e->timestamp);
    if (e->attempts <= 1) {
        bool known = e->sent_us > 0 && e->sent_us < added_us;
        struct trace_span *watch =
            known ? trace_add(log, (struct str){0}, "Watch event", e->sent_us, added_us) : NULL;
        if (watch != NULL)
            watch->service = STR_LITERAL("berth-watcher");
        if (e->first_us > added_us)
            trace_add(log, (struct str){0}, "Held back", added_us, e->first_us);
        since_us = e->first_us;
    }
    trace_add(log, (struct str){0}, "Queue", since_us < now_us ? since_us : now_us, now_us);
}

static bool begin(struct queue *q, struct moment now, const struct entry *e,
                  struct str *traceparent, struct trace_log *log)
{
    struct trace_context context;
    char text[TRACE_CONTEXT + 1];
    if (!trace_begin(&context, &q->trace_ids, q->options.trace_per_million))
        return false;
    q->traced++;
    trace_write(&context, text);
    *traceparent = arena_copy(&q->scratch, str_of(text));
    trace_log_init(log, &q->scratch, &context, "berth-queue");
    add_spans(log, q, e, wall_of(q, now));
    return true;
}

void traced_attempt(struct queue *q, struct moment now, const struct entry *e,
                    struct attempt *attempt)
{
    struct trace_log log;
    if (!begin(q, now, e, &attempt->traceparent, &log))
        return;
    attempt->spans.count = log.count;
    attempt->spans.at = log.spans;
}

void traced_member(struct queue *q, struct moment now, const struct entry *e,
                   struct gang_member *member)
{
    struct trace_log log;
    if (!begin(q, now, e, &member->traceparent, &log))
        return;
    member->spans.count = log.count;
    member->spans.at = log.spans;
}
