/* measure: requests by code, host and method; how long they took and how large they were. A watch
 * counts when it begins, since it may last for hours. */
#include "proto/kube/access/measure.h"

#include "proto/metrics.h"

#include <stdio.h>
#include <string.h>

static struct str host_of(const struct target *t)
{
    const char *begin = strstr(t->base, "://");
    begin = begin != NULL ? begin + 3 : t->base;
    return (struct str){begin, (uint32_t)strcspn(begin, "/")};
}

static void count(const struct exchange *r, int status)
{
    char code[16] = "<error>";
    if (status > 0)
        snprintf(code, sizeof(code), "%d", status);
    series_add(metric_series(METRIC_rest_client_requests_total,
                             METRIC_VALUES(str_of(code), host_of(r->target),
                                           str_of(kube_method_name(r->method)))),
               1);
}

static void observe(enum metric metric, const struct exchange *r, int64_t value)
{
    series_observe(metric_series(metric, METRIC_VALUES(host_of(r->target),
                                                       str_of(kube_method_name(r->method)))),
                   value);
}

/* A stream without an end that is known. */
static bool is_watch(const struct exchange *r)
{
    return r->data != NULL && r->timeout.ns == 0;
}

void measure_exchange(const struct exchange *r, const struct kube_response *response)
{
    if (is_watch(r) && response->status >= 200 && response->status < 300)
        return; /* counted when it began */
    count(r, response->status);
    observe(METRIC_rest_client_request_duration_seconds, r, response->took.ns);
    observe(METRIC_rest_client_request_size_bytes, r, (int64_t)r->body.len);
    if (response->status > 0)
        observe(METRIC_rest_client_response_size_bytes, r, (int64_t)r->received);
}

void measure_held(const struct exchange *r, struct moment now)
{
    int64_t ns = moment_since(now, r->asked).ns;
    observe(METRIC_rest_client_rate_limiter_duration_seconds, r, ns > 0 ? ns : 0);
}

void measure_opened(const struct exchange *r)
{
    if (is_watch(r))
        count(r, (int)r->status);
}
