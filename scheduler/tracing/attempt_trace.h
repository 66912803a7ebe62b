/* attempt_trace: what the scheduler writes down of an attempt that is traced, from the queue's
 * attempt to its outcome. An attempt that is not traced has none: all of these take NULL, and then
 * do nothing.
 *
 * An attempt is one phase after another, without gaps: all of them, with what the queue wrote, are
 * the time of the attempt. Steps are parts of a phase, and may overlap. Times are of the wall
 * clock, in microseconds. */
#ifndef SCHEDULER_TRACING_ATTEMPT_TRACE_H
#define SCHEDULER_TRACING_ATTEMPT_TRACE_H

#include "proto/kube/tracing/trace.h"

struct attempt_trace;

/* Takes the place of what there is. With an empty traceparent, or one that is none, there is no
 * trace. Its first phase is Schedule, from the end of the last of the queue's spans on. */
void attempt_trace_begin(struct attempt_trace **trace, struct str traceparent,
                         const struct trace_span *from_queue, uint32_t count, int64_t now_us);
void attempt_trace_free(struct attempt_trace **trace);
/* The phase that runs ends, and another begins; name is static. */
void attempt_trace_phase(struct attempt_trace *trace, const char *name, int64_t now_us);
/* When the phase that runs began. */
int64_t attempt_trace_phase_us(const struct attempt_trace *trace);
/* A part of the phase that runs. The result may be written on until the next call. */
struct trace_span *attempt_trace_step(struct attempt_trace *trace, const char *name,
                                      int64_t begin_us, int64_t end_us);
/* What a worker was busy with for the phase that runs. */
struct worker_part {
    int64_t shard, evaluated, feasible;
    int64_t begin_us, end_us;
};
void attempt_trace_worker(struct attempt_trace *trace, const struct worker_part *part);
/* For who goes on with the phase that runs, TRACE_CONTEXT characters; "": there is none. */
void attempt_trace_context(const struct attempt_trace *trace, char text[TRACE_CONTEXT + 1]);
/* Why it failed; the last word counts. */
void attempt_trace_fail(struct attempt_trace *trace, struct str why);

struct attempt_end {
    const struct pod *pod;
    int64_t attempt;
    struct str result; /* as in outcome */
    bool failed;
};
/* All spans, the root's included; they live as long as the trace. */
void attempt_trace_end(struct attempt_trace *trace, const struct attempt_end *end, int64_t now_us,
                       struct spans *out);

#endif
