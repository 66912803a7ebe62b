/* traced: a bind as spans, written once it has ended. What must stay true: a bind that is not
 * traced costs a look at its traceparent. */
#include "binder/traced.h"

#include "proto/kube/tracing/trace.h"

static int64_t wall_of(struct instant at, struct moment then)
{
    return at.wall_us - moment_since(at.now, then).ns / 1000;
}

static struct str path_of(const struct bind *bind, struct arena *a)
{
    return arena_print(a, "/api/v1/namespaces/%.*s/pods/%.*s/binding",
                       STR_ARG(bind->namespace_name), STR_ARG(bind->name));
}

/* The last POST of the Binding, which is the API server's part; until its answer, and that of the
 * reads that were needed to know it. */
static void add_call(struct trace_log *log, struct str parent, const struct flight *f,
                     struct instant at)
{
    if (f->posts == 0)
        return;
    struct trace_span *span =
        trace_add(log, parent, "POST", wall_of(at, f->sent), wall_of(at, f->over));
    trace_say(log, span, "http.request.method", STR_LITERAL("POST"));
    trace_say(log, span, "url.path", path_of(&f->bind, log->memory));
    if (f->code > 0)
        trace_count(log, span, "http.response.status_code", f->code);
    if (f->posts > 1)
        trace_count(log, span, "http.request.resend_count", f->posts - 1);
    if (f->code >= 400)
        trace_fail(log, span, buffer_str(&f->message));
}

void traced_bind(const struct flight *f, struct instant at, bool bound)
{
    const struct api *api = &f->binds->options.api;
    struct trace_context context;
    struct arena memory = {0};
    struct trace_log log;
    if (f->bind.traceparent.len == 0 || api->trace == NULL ||
        !trace_read(&context, f->bind.traceparent))
        return;
    trace_log_init(&log, &memory, &context, "berth-binder");
    struct moment ready = f->ready.ns != 0 ? f->ready : f->over;
    struct trace_span *whole =
        trace_add(&log, (struct str){0}, "Bind pod", wall_of(at, f->taken), wall_of(at, f->over));
    trace_say(&log, whole, "k8s.node.name", f->bind.node_name);
    if (!bound)
        trace_fail(&log, whole, buffer_str(&f->message));
    if (f->prebind != NULL)
        trace_add(&log, whole->span_id, "PreBind", wall_of(at, f->taken), wall_of(at, ready));
    add_call(&log, whole->span_id, f, at);
    api->trace(api->state, &(struct spans){.spans = {log.count, log.spans}});
    arena_free(&memory);
}
