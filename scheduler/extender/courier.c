/* courier: one errand a request. What must stay true: an errand ends with its answer or its
 * cancellation, so that no answer reaches a caller that does not wait for it. */
#include "scheduler/extender/courier.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "proto/kube/watch/reflector.h"
#include "proto/kube/writes/writes.h"
#include "scheduler/extender/node_texts.h"

#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#define USER_AGENT     "berth-extender/0.1.0"
#define POD_TIMEOUT_MS 5000
#define CONNECTIONS    8 /* to one extender; more calls wait */

struct errand {
    struct courier *courier;
    struct errand *next;
    uint32_t extender;
    uint64_t call, number;
};

struct courier {
    const struct extender_config *extenders;
    uint32_t count;
    struct kube_config *ways[EXTENDERS_MAX];
    struct kube_client *clients[EXTENDERS_MAX];
    struct kube_client *api;
    struct caller *caller;
    struct errand *errands;
    struct reflector *nodes; /* NULL: no extender wants nodes whole */
    struct node_texts *texts;
    uint64_t watch, watch_sent; /* the reflector's number, the client's */
    struct moment now;
    int epoll;
};

/* ---- nodes ---- */

static void on_list_begin(void *context)
{
    node_texts_list_begin(((struct courier *)context)->texts);
}

static void on_node(void *context, const struct kube_json *node, bool listed)
{
    (void)listed;
    node_texts_set(((struct courier *)context)->texts, node);
}

static void on_node_gone(void *context, const struct kube_json *node)
{
    node_texts_remove(((struct courier *)context)->texts, node);
}

static void on_list_end(void *context)
{
    struct courier *c = context;
    node_texts_list_end(c->texts);
    log_info("listed| resource=nodes objects=%zu bytes=%zu", node_texts_count(c->texts),
             node_texts_bytes(c->texts));
}

static bool wants_nodes(const struct extender_config *e)
{
    return !e->node_cache_capable && e->filter_verb.len + e->prioritize_verb.len > 0;
}

static void watch_nodes(struct courier *c)
{
    c->nodes = reflector_new(&(struct reflector_options){.name = "nodes",
                                                         .kind = "Node",
                                                         .path = "/api/v1/nodes",
                                                         .field_selector = "",
                                                         .required = true,
                                                         .seed = random_seed(),
                                                         .context = c,
                                                         .list_begin = on_list_begin,
                                                         .object = on_node,
                                                         .deleted = on_node_gone,
                                                         .list_end = on_list_end});
}

static void on_nodes_data(void *context, struct str piece)
{
    struct courier *c = context;
    reflector_data(c->nodes, c->now, c->watch, piece);
}

static void on_nodes_done(void *context, const struct kube_response *response)
{
    struct courier *c = context;
    c->watch_sent = 0;
    reflector_response(c->nodes, c->now, c->watch, response);
}

static void follow_nodes(struct courier *c)
{
    struct reflector_request want;
    if (c->nodes == NULL || !reflector_next(c->nodes, c->now, &want))
        return;
    kube_client_cancel(c->api, c->watch_sent);
    if (want.distrust)
        kube_client_distrust(c->api, KUBE_CHANNEL_watch);
    c->watch = want.number;
    c->watch_sent = kube_client_send(c->api, &(struct kube_request){.method = KUBE_GET,
                                                                    .channel = KUBE_CHANNEL_watch,
                                                                    .path = want.path,
                                                                    .timeout = want.timeout,
                                                                    .context = c,
                                                                    .data = on_nodes_data,
                                                                    .done = on_nodes_done});
}

/* ---- errands ---- */

static void forget(struct courier *c, struct errand *e)
{
    struct errand **at = &c->errands;
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    memory_free(e);
}

static void on_done(void *context, const struct kube_response *response)
{
    struct errand *e = context;
    struct courier *c = e->courier;
    uint64_t call = e->call;
    forget(c, e);
    caller_answered(c->caller, c->now, call, response);
}

static uint64_t send(struct courier *c, struct kube_client *client, uint32_t extender,
                     struct kube_request *request, uint64_t call)
{
    struct errand *e = memory_take(sizeof(*e));
    *e = (struct errand){.courier = c, .next = c->errands, .extender = extender, .call = call};
    c->errands = e;
    request->channel = KUBE_CHANNEL_write;
    request->context = e;
    request->done = on_done;
    e->number = kube_client_send(client, request);
    return e->number;
}

static uint64_t post(void *state, uint32_t extender, struct str verb, struct str body,
                     uint64_t call)
{
    struct courier *c = state;
    struct buffer path = {0};
    buffer_print(&path, "/%.*s", STR_ARG(verb));
    struct span timeout = c->extenders[extender].http_timeout;
    struct kube_request request = {.method = KUBE_POST,
                                   .path = buffer_str(&path),
                                   .content_type = WRITES_JSON,
                                   .body = body,
                                   .timeout = timeout.ns > 0 ? timeout : (struct span){0}};
    uint64_t number = send(c, c->clients[extender], extender, &request, call);
    buffer_free(&path);
    return number;
}

static uint64_t get_pod(void *state, struct str namespace_name, struct str name, uint64_t call)
{
    struct courier *c = state;
    struct buffer path = {0};
    writes_path(&path, "/api/v1", namespace_name, "pods", name);
    struct kube_request request = {
        .method = KUBE_GET, .path = buffer_str(&path), .timeout = span_of_ms(POD_TIMEOUT_MS)};
    uint64_t number = send(c, c->api, CALLER_API, &request, call);
    buffer_free(&path);
    return number;
}

static void cancel(void *state, uint32_t extender, uint64_t number)
{
    struct courier *c = state;
    struct errand *e = c->errands;
    while (e != NULL && (e->extender != extender || e->number != number))
        e = e->next;
    if (e == NULL)
        return;
    kube_client_cancel(extender == CALLER_API ? c->api : c->clients[extender], number);
    forget(c, e);
}

static bool node(void *state, struct str name, struct str *object)
{
    const struct courier *c = state;
    return c->texts != NULL && node_texts_get(c->texts, name, object);
}

struct caller_ports courier_ports(struct courier *courier)
{
    return (struct caller_ports){
        .state = courier, .post = post, .get_pod = get_pod, .cancel = cancel, .node = node};
}

/* ---- the whole ---- */

static void wait_for(const struct courier *c, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    must(epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &event) == 0);
}

static bool reach(struct courier *c, uint32_t extender, char *error, size_t room)
{
    const struct kube_client_options options = {.user_agent = USER_AGENT,
                                                .connections_max = CONNECTIONS};
    c->ways[extender] = extender_way(&c->extenders[extender], error, room);
    if (c->ways[extender] == NULL)
        return false;
    c->clients[extender] = kube_client_new(c->ways[extender], &options, error, room);
    if (c->clients[extender] == NULL)
        return false;
    wait_for(c, kube_client_fd(c->clients[extender]));
    return true;
}

struct courier *courier_new(const struct extender_config *extenders, uint32_t count,
                            struct kube_client *api, char *error, size_t room)
{
    bool whole = false, good = true;
    struct courier *c = memory_take(sizeof(*c));
    c->extenders = extenders;
    c->api = api;
    c->epoll = epoll_create1(EPOLL_CLOEXEC);
    must(c->epoll >= 0 && count <= EXTENDERS_MAX);
    wait_for(c, kube_client_fd(api));
    for (; c->count < count && good; c->count++) {
        good = reach(c, c->count, error, room);
        whole |= wants_nodes(&extenders[c->count]);
    }
    c->texts = node_texts_new();
    if (whole && good)
        watch_nodes(c);
    if (!good)
        courier_free(&c);
    return c;
}

void courier_free(struct courier **courier)
{
    struct courier *c = *courier;
    if (c == NULL)
        return;
    kube_client_cancel(c->api, c->watch_sent);
    while (c->errands != NULL)
        cancel(c, c->errands->extender, c->errands->number);
    for (uint32_t i = 0; i < c->count; i++) {
        kube_client_free(&c->clients[i]);
        kube_config_free(&c->ways[i]);
    }
    reflector_free(&c->nodes);
    node_texts_free(&c->texts);
    close(c->epoll);
    memory_free(c);
    *courier = NULL;
}

void courier_serve(struct courier *courier, struct caller *caller)
{
    courier->caller = caller;
}

int courier_fd(const struct courier *courier)
{
    return courier->epoll;
}

void courier_work(struct courier *c, struct moment now)
{
    c->now = now;
    follow_nodes(c);
    kube_client_work(c->api, now);
    for (uint32_t i = 0; i < c->count; i++)
        kube_client_work(c->clients[i], now);
}

struct moment courier_deadline(const struct courier *c, struct moment now)
{
    struct moment next = kube_client_deadline(c->api, now);
    for (uint32_t i = 0; i < c->count; i++)
        next = moment_earlier(next, kube_client_deadline(c->clients[i], now));
    if (c->nodes != NULL)
        next = moment_earlier(next, reflector_deadline(c->nodes));
    return next;
}

void courier_status(const struct courier *c, struct buffer *lines)
{
    if (c->nodes == NULL)
        return;
    struct reflector_status s = reflector_status(c->nodes);
    buffer_print(lines, "nodes=%zu state=%s bytes=%zu\n", node_texts_count(c->texts),
                 reflector_state_name(s.state), node_texts_bytes(c->texts));
}
