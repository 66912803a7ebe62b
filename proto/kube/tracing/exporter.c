/* exporter: a bounded buffer of spans for each service, and one request at a time. The one idea:
 * spans are encoded as they come, so that what waits is bytes to be sent and is bounded as such.
 * What must stay true: a collector that is slow, away or says no costs spans, never anything else;
 * each span is counted once, as exported or as dropped. */
#include "proto/kube/tracing/exporter.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/kube/access/access.h"
#include "proto/kube/tracing/otlp.h"

#include <stdio.h>

#define SERVICES_MAX 8
#define SPANS_MAX    8192 /* that wait; as many as two bursts of a full cluster */
#define BYTES_MAX    (4 << 20)
#define BATCH        512  /* so many are sent at once, before they are due */
#define GATHER_MS    1000 /* the first of them waits no longer */
#define ANSWER_MS    10000
#define PAUSE_MS     5000 /* after a failure */

struct service {
    char *name;
    struct buffer spans;
};

struct exporter {
    struct kube_config *config;
    struct kube_client *client;
    const char *version;
    struct service services[SERVICES_MAX];
    uint32_t service_count;
    uint32_t waiting;
    size_t bytes;
    struct moment due;    /* of what waits */
    struct moment resume; /* not before; 0: at once */
    uint32_t in_flight;   /* spans in the request that is under way; 0: none is */
    struct exporter_stats stats;
    struct log_limit failed_log;
    struct moment now;
};

struct exporter *exporter_new(const struct exporter_options *options, char *error, size_t room)
{
    const struct kube_client_options client = {.user_agent = "berth-binder", .connections_max = 1};
    struct exporter *e = memory_take(sizeof(*e));
    e->version = options->version;
    e->config = memory_take(sizeof(*e->config));
    e->config->source = str_copy(STR_LITERAL("tracing"));
    e->config->server = str_copy(str_of(options->url));
    e->client = kube_client_new(e->config, &client, error, room);
    if (e->client == NULL)
        exporter_free(&e);
    return e;
}

void exporter_free(struct exporter **exporter)
{
    struct exporter *e = *exporter;
    if (e == NULL)
        return;
    kube_client_free(&e->client);
    kube_config_free(&e->config);
    for (uint32_t i = 0; i < e->service_count; i++) {
        memory_free(e->services[i].name);
        buffer_free(&e->services[i].spans);
    }
    memory_free(e);
    *exporter = NULL;
}

/* NULL: there are too many. */
static struct service *service_of(struct exporter *e, struct str name)
{
    for (uint32_t i = 0; i < e->service_count; i++)
        if (str_is(name, e->services[i].name))
            return &e->services[i];
    if (e->service_count == SERVICES_MAX || name.len == 0)
        return NULL;
    e->services[e->service_count].name = str_copy(name);
    return &e->services[e->service_count++];
}

void exporter_add(struct exporter *e, struct moment now, const struct trace_span *span)
{
    struct service *s = otlp_takes(span) ? service_of(e, span->service) : NULL;
    if (s == NULL || e->waiting >= SPANS_MAX || e->bytes >= BYTES_MAX) {
        e->stats.dropped++;
        return;
    }
    size_t before = s->spans.len;
    otlp_add_span(&s->spans, span);
    e->bytes += s->spans.len - before;
    if (e->waiting++ == 0)
        e->due = moment_after(now, span_of_ms(GATHER_MS));
}

static void answered(void *context, const struct kube_response *r)
{
    struct exporter *e = context;
    bool good = r->status >= 200 && r->status < 300;
    *(good ? &e->stats.exported : &e->stats.dropped) += e->in_flight;
    *(good ? &e->stats.requests : &e->stats.failed) += 1;
    if (!good && log_limited(&e->failed_log, e->now))
        log_warn("spans are lost: the collector did not take them|spans=%u code=%d error=\"%s\" "
                 "suppressed=%u",
                 e->in_flight, r->status, r->error, e->failed_log.suppressed_before);
    e->in_flight = 0;
    e->resume = good ? (struct moment){0} : moment_after(e->now, span_of_ms(PAUSE_MS));
}

static void send(struct exporter *e)
{
    struct buffer body = {0};
    for (uint32_t i = 0; i < e->service_count; i++) {
        struct service *s = &e->services[i];
        if (s->spans.len > 0)
            otlp_add_service(&body, str_of(s->name), e->version, buffer_str(&s->spans));
        buffer_reset(&s->spans);
    }
    kube_client_send(e->client, &(struct kube_request){.method = KUBE_POST,
                                                       .channel = KUBE_CHANNEL_extender,
                                                       .path = STR_LITERAL("/v1/traces"),
                                                       .content_type = "application/x-protobuf",
                                                       .accept = "application/x-protobuf",
                                                       .body = buffer_str(&body),
                                                       .timeout = span_of_ms(ANSWER_MS),
                                                       .context = e,
                                                       .done = answered});
    e->in_flight = e->waiting;
    e->waiting = 0;
    e->bytes = 0;
    buffer_free(&body);
}

/* When the next request goes; never: nothing waits, or one is under way. */
static struct moment send_at(const struct exporter *e)
{
    if (e->waiting == 0 || e->in_flight > 0)
        return MOMENT_NEVER;
    struct moment due = e->waiting >= BATCH ? (struct moment){0} : e->due;
    return e->resume.ns > due.ns ? e->resume : due;
}

int exporter_fd(const struct exporter *e)
{
    return kube_client_fd(e->client);
}

void exporter_work(struct exporter *e, struct moment now)
{
    e->now = now;
    if (moment_reached(now, send_at(e)))
        send(e);
    kube_client_work(e->client, now);
}

struct moment exporter_deadline(const struct exporter *e, struct moment now)
{
    return moment_earlier(send_at(e), kube_client_deadline(e->client, now));
}

struct exporter_stats exporter_stats(const struct exporter *e)
{
    struct exporter_stats stats = e->stats;
    stats.waiting = e->waiting;
    return stats;
}
