/* world: the binder's surroundings in virtual time: two clocks, and an API that keeps every request
 * until a test answers it. */
#ifndef TEST_BINDER_WORLD_H
#define TEST_BINDER_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "binder/binder.h"
#include "proto/base/memory.h"

#include <stdio.h>
#include <string.h>

#define WORLD_REQUESTS 8192

struct world_request {
    uint64_t number; /* 0: the slot is free */
    enum kube_method method;
    enum kube_channel channel;
    char *path, *body;
    struct str bytes; /* the body, which may be no text */
    const char *type; /* of the body; NULL: none */
    const char *accept;
    struct span timeout;
    void *context;
    void (*done)(void *context, const struct kube_response *response);
};

struct world {
    struct instant at;
    struct world_request requests[WORLD_REQUESTS];
    uint64_t numbers, cancelled;
    int routes; /* to extenders, given out and not released */
    struct lanes *lanes;
    struct binder *binder;
    struct outbox out;
    struct arena memory;
    struct spans traced; /* the last ones that were exported */
};

static inline uint64_t world_send(void *state, const struct kube_request *request)
{
    struct world *w = state;
    for (size_t i = 0; i < WORLD_REQUESTS; i++) {
        struct world_request *r = &w->requests[i];
        if (r->number != 0)
            continue;
        *r = (struct world_request){.number = ++w->numbers,
                                    .method = request->method,
                                    .channel = request->channel,
                                    .path = str_copy(request->path),
                                    .body = str_copy(request->body),
                                    .bytes = str_keep(request->body),
                                    .type = request->content_type,
                                    .accept = request->accept,
                                    .timeout = request->timeout,
                                    .context = request->context,
                                    .done = request->done};
        return r->number;
    }
    fail_msg("too many requests");
    return 0;
}

static inline void world_drop(struct world_request *r)
{
    str_drop(&r->bytes);
    memory_free(r->path);
    memory_free(r->body);
    *r = (struct world_request){0};
}

static inline void world_cancel(void *state, uint64_t number)
{
    struct world *w = state;
    for (size_t i = 0; i < WORLD_REQUESTS; i++)
        if (w->requests[i].number == number) {
            w->cancelled++;
            world_drop(&w->requests[i]);
            return;
        }
    fail_msg("cancelled a request that is not there");
}

static inline struct instant world_clock(void *state)
{
    return ((struct world *)state)->at;
}

/* The second ignores its failures; a bind that says a hash is about others. */
static inline const struct extender_config *world_extender(void *state, const struct bind *bind,
                                                           uint32_t *route)
{
    static const struct extender_config extenders[] = {
        {.url_prefix = {"http://e/", 9}, .bind_verb = {"bind", 4}, .http_timeout = {2000000000}},
        {.url_prefix = {"http://f", 8},
         .bind_verb = {"bind", 4},
         .http_timeout = {2000000000},
         .ignorable = true}};
    struct world *w = state;
    const struct extender_set set = {.at = extenders, .count = 2, .hash = 1};
    const struct extender_config *found =
        extender_set_find(&set, &bind->extenders.at[0], bind->extenders_hash);
    *route = 5;
    w->routes += found != NULL;
    return found;
}

static inline void world_release(void *state, uint32_t route)
{
    struct world *w = state;
    assert_int_equal(route, 5);
    w->routes--;
}

static inline void world_trace(void *state, const struct spans *spans)
{
    struct world *w = state;
    codec_copy(message_info[MSG_spans].record, &w->traced, spans, &w->memory);
}

static inline struct api world_api(struct world *w)
{
    return (struct api){.state = w,
                        .send = world_send,
                        .cancel = world_cancel,
                        .extender = world_extender,
                        .release = world_release,
                        .trace = world_trace,
                        .clock = world_clock};
}

/* The oldest open request whose "METHOD path" contains text; NULL when there is none. */
static inline struct world_request *world_find(struct world *w, const char *text)
{
    static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
    struct world_request *oldest = NULL;
    for (size_t i = 0; i < WORLD_REQUESTS; i++) {
        struct world_request *r = &w->requests[i];
        char line[512];
        if (r->number == 0)
            continue;
        snprintf(line, sizeof(line), "%s %s", methods[r->method], r->path);
        if (strstr(line, text) != NULL && (oldest == NULL || r->number < oldest->number))
            oldest = r;
    }
    return oldest;
}

static inline int world_count(struct world *w, const char *text)
{
    int count = 0;
    for (size_t i = 0; i < WORLD_REQUESTS; i++)
        count += w->requests[i].number != 0 && strstr(w->requests[i].path, text) != NULL;
    return count;
}

/* Answers the oldest open request that matches; fails the test when there is none. */
static inline void world_respond(struct world *w, const char *text,
                                 const struct kube_response *response)
{
    struct world_request *r = world_find(w, text);
    if (r == NULL) {
        fail_msg("no open request matches \"%s\"", text);
        return; /* not reached; the linter does not know */
    }
    struct world_request copy = *r;
    *r = (struct world_request){0};
    copy.done(copy.context, response);
    world_drop(&copy);
}

static inline void world_answer(struct world *w, const char *text, int status, const char *body)
{
    world_respond(w, text,
                  &(struct kube_response){.status = status,
                                          .body = str_of(body),
                                          .error = "",
                                          .maybe_done = status == 504,
                                          .retry_after_s = -1});
}

/* No answer; maybe_done as told. */
static inline void world_lose(struct world *w, const char *text, bool maybe_done)
{
    world_respond(w, text,
                  &(struct kube_response){.error = "connection to host failed",
                                          .maybe_done = maybe_done,
                                          .retry_after_s = -1});
}

static inline void world_pass(struct world *w, int64_t ms)
{
    w->at.now = moment_after(w->at.now, span_of_ms(ms));
    w->at.wall_us += ms * 1000;
}

static inline struct world *world_new(void)
{
    struct world *w = memory_take(sizeof(*w));
    w->at = (struct instant){{1000000000000}, 1767323045000006}; /* 2026-01-02T03:04:05.000006Z */
    return w;
}

static inline void world_free(struct world *w)
{
    binder_free(&w->binder);
    assert_int_equal(w->routes, 0);
    lanes_free(&w->lanes);
    for (size_t i = 0; i < WORLD_REQUESTS; i++)
        world_drop(&w->requests[i]);
    outbox_free(&w->out);
    arena_free(&w->memory);
    memory_free(w);
}

/* ---- a Lease as the API server would answer ---- */

struct world_lease {
    const char *holder;
    int transitions, duration_s, version;
    int renewed_s; /* seconds in renewTime: another one makes another record */
};

/* Valid until the next call. */
static inline const char *world_lease(const struct world_lease *l)
{
    static char text[1024];
    snprintf(text, sizeof(text),
             "{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"name\":"
             "\"kube-scheduler\",\"namespace\":\"kube-system\",\"uid\":\"u-1\",\"resourceVersion\":"
             "\"%d\"},\"spec\":{\"holderIdentity\":\"%s\",\"leaseDurationSeconds\":%d,"
             "\"acquireTime\":\"2026-01-02T00:00:00.000000Z\",\"renewTime\":\"2026-01-02T00:00:%02d"
             ".000000Z\",\"leaseTransitions\":%d}}",
             l->version, l->holder, l->duration_s ? l->duration_s : 15, l->renewed_s,
             l->transitions);
    return text;
}

/* Answers a PUT or POST of the lease with what it says, as the server does. */
static inline void world_accept_lease(struct world *w, const char *text)
{
    struct world_request *r = world_find(w, text);
    if (r == NULL) {
        fail_msg("no lease request matches \"%s\"", text);
        return;
    }
    char *body = str_copy(str_of(r->body));
    world_answer(w, text, 200, body);
    memory_free(body);
}

static const struct lease_options world_lease_options = {
    .elect = true,
    .namespace_name = "kube-system",
    .name = "kube-scheduler",
    .identity = "host_me",
    .duration = {15000000000},
    .renew_deadline = {10000000000},
    .retry_period = {2000000000},
    .seed = 1,
};

#define LEASE_PATH "/namespaces/kube-system/leases"

/* ---- the whole core ---- */

static inline void world_tick(struct world *w)
{
    binder_tick(w->binder, w->at.now, &w->out);
}

static inline void world_step(struct world *w, int64_t ms)
{
    world_pass(w, ms);
    world_tick(w);
}

static inline struct world *world_with(const struct binder_options *options)
{
    struct world *w = world_new();
    struct binder_options o = *options;
    o.api = world_api(w);
    o.hostname = "host";
    o.burst = 1;
    o.seed = 7;
    w->binder = binder_new(&o);
    return w;
}

static inline struct world *world_with_binder(const struct lease_options *lease, double qps)
{
    return world_with(&(struct binder_options){.lease = *lease, .qps = qps});
}

static inline void world_say(struct world *w, const struct message *m, enum process from)
{
    struct delivery in = {.from = {from, 1}, .message = m};
    binder_handle(w->binder, w->at.now, &in, &w->out);
}

/* The lease is taken, and nothing is under way. */
static inline struct world *world_led(struct world *w)
{
    world_tick(w);
    world_answer(w, "GET", 404, "");
    world_tick(w);
    world_accept_lease(w, "POST");
    world_tick(w);
    world_answer(w, "POST /api/v1/namespaces/kube-system/events", 201, "{}");
    assert_true(binder_leading(w->binder));
    outbox_reset(&w->out);
    return w;
}

/* A binder that holds the lease, with nothing under way. */
static inline struct world *world_leading(void)
{
    return world_led(world_with_binder(&world_lease_options, 0));
}

static inline struct message world_bind(const char *uid, const char *name, const char *node)
{
    struct message m = {.type = MSG_bind};
    m.bind = (struct bind){.uid = str_of(uid),
                           .namespace_name = STR_LITERAL("default"),
                           .name = str_of(name),
                           .node_name = str_of(node),
                           .scheduler_name = STR_LITERAL("default-scheduler"),
                           .resource_version = 42};
    return m;
}

static inline struct message world_failed(const char *uid, const char *name, const char *text)
{
    struct message m = {.type = MSG_pod_failed};
    m.pod_failed = (struct pod_failed){.pod = {.uid = str_of(uid),
                                               .namespace_name = STR_LITERAL("default"),
                                               .name = str_of(name),
                                               .resource_version = 42,
                                               .generation = 1,
                                               .scheduler_name = STR_LITERAL("default-scheduler")},
                                       .reason = REASON_unschedulable,
                                       .message = str_of(text)};
    return m;
}

/* The index-th message of that type in the outbox; NULL when there are fewer. */
static inline const struct message *world_heard(struct world *w, enum message_type type, int index)
{
    static struct message m;
    for (size_t i = 0; i < w->out.count; i++)
        if (w->out.at[i].type == type && index-- == 0) {
            assert_true(outbox_get(&w->out, i, &m, &w->memory));
            return &m;
        }
    return NULL;
}

static inline const struct bind_result *world_result(struct world *w)
{
    const struct message *m = world_heard(w, MSG_bind_result, 0);
    if (m == NULL)
        fail_msg("no bind_result was sent");
    assert_null(world_heard(w, MSG_bind_result, 1));
    return &world_heard(w, MSG_bind_result, 0)->bind_result;
}

#endif
