/* exporter: sends spans to a collector by OTLP over HTTP (POST /v1/traces), many in one request.
 * Never blocks and never grows: what it cannot hold or deliver is lost and counted. */
#ifndef KUBE_TRACING_EXPORTER_H
#define KUBE_TRACING_EXPORTER_H

#include "proto/base/moment.h"
#include "proto/messages.h"

struct exporter;

struct exporter_options {
    const char *url;     /* as struct tracing_config has it; borrowed until exporter_new returns */
    const char *version; /* static: service.version */
};

/* NULL, with one line in error, when there can be no client for that URL. */
struct exporter *exporter_new(const struct exporter_options *options, char *error, size_t room);
/* What was not sent is lost. */
void exporter_free(struct exporter **exporter);
/* The span is copied. */
void exporter_add(struct exporter *e, struct moment now, const struct trace_span *span);
/* Readable when an answer came. */
int exporter_fd(const struct exporter *e);
/* Sends what is due, and reads answers. */
void exporter_work(struct exporter *e, struct moment now);
struct moment exporter_deadline(const struct exporter *e, struct moment now);

struct exporter_stats {
    uint64_t exported, dropped; /* spans: taken by the collector; lost here or on the way */
    uint64_t requests, failed;  /* of those that were answered with 2xx, and all others */
    uint32_t waiting;           /* spans */
};
struct exporter_stats exporter_stats(const struct exporter *e);

#endif
