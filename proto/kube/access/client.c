/* client: decides when a request goes out, and answers for each exactly once.
 *
 * Requests wait in one queue a channel (lease first, events last) until a slot, a token of the rate
 * limit and credentials are there; then they run in the channel's pool of connections. Sockets and
 * plugins share one epoll descriptor; time is the owner's business (kube_client_deadline), because
 * a timer in the kernel that is set for each request costs more than the request. What must stay
 * true: callbacks come from kube_client_work alone, and a request is in exactly one list until its
 * callback or its cancel. */
#include "proto/kube/access/client.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/access/exchange.h"
#include "proto/kube/access/http2.h"
#include "proto/kube/access/measure.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define IN_FLIGHT_MAX   256
#define CONNECTIONS_MAX 16
#define EVENTS_MAX      64
#define OWN_PLUGIN      ((uint64_t)1) /* epoll data of pool 0: our own descriptors */

/* Requests in order of arrival. */
struct exchanges {
    struct exchange *first, *last;
    uint32_t count;
};

struct kube_client {
    struct target target;
    struct pools pools;
    uint32_t in_flight_max, connections_max, burst;
    double qps, tokens;
    struct moment refilled;
    struct exchanges waiting[KUBE_CHANNEL_COUNT];
    struct pool *current[KUBE_CHANNEL_COUNT]; /* NULL until needed */
    struct exchanges active;
    struct exchanges failing; /* taken from waiting, to be told that there are no credentials */
    uint32_t counted;         /* active ones that in_flight_max is about */
    uint32_t may_idle;        /* active ones with an idle_timeout */
    bool curl_alone;
    struct moment overdue_at; /* no deadline of an active one is earlier */
    uint64_t number;          /* of the newest request */
    bool inside;              /* curl is on the stack: it must not be called now */
    bool cancels;             /* active requests were cancelled while inside */
    struct kube_client_stats stats;
};

/* ---- lists ---- */

static void list_add(struct exchanges *list, struct exchange *r)
{
    r->before = list->last;
    r->next = NULL;
    if (list->last != NULL)
        list->last->next = r;
    else
        list->first = r;
    list->last = r;
    list->count++;
}

static void list_remove(struct exchanges *list, struct exchange *r)
{
    must(list->count > 0);
    if (r->before != NULL)
        r->before->next = r->next;
    else
        list->first = r->next;
    if (r->next != NULL)
        r->next->before = r->before;
    else
        list->last = r->before;
    r->next = r->before = NULL;
    list->count--;
}

static struct exchange *list_find(const struct exchanges *list, uint64_t number)
{
    struct exchange *r = list->first;
    while (r != NULL && r->number != number)
        r = r->next;
    return r;
}

/* ---- life ---- */

struct kube_client *kube_client_new(const struct kube_config *config,
                                    const struct kube_client_options *options, char *error,
                                    size_t room)
{
    static bool initialised;
    if (!initialised && curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        snprintf(error, room, "libcurl cannot be initialised");
        return NULL;
    }
    initialised = true;
    struct kube_client *c = memory_take(sizeof(*c));
    c->pools.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    must(c->pools.epoll_fd >= 0);
    target_init(&c->target, config);
    c->target.user_agent = str_copy(str_of(options->user_agent ? options->user_agent : "berth"));
    c->target.credentials = credentials_new(config, c->pools.epoll_fd, OWN_PLUGIN);
    c->in_flight_max = options->in_flight_max ? options->in_flight_max : IN_FLIGHT_MAX;
    c->connections_max = options->connections_max ? options->connections_max : CONNECTIONS_MAX;
    c->qps = options->qps;
    c->burst = options->burst ? options->burst : 1;
    c->tokens = c->burst;
    c->curl_alone = options->curl_alone;
    c->overdue_at = MOMENT_NEVER;
    return c;
}

static void drop_all(struct exchanges *list)
{
    while (list->first != NULL) {
        struct exchange *r = list->first;
        list_remove(list, r);
        if (r->pool != NULL)
            exchange_stop(r);
        exchange_free(&r);
    }
}

void kube_client_free(struct kube_client **client)
{
    struct kube_client *c = *client;
    if (c == NULL)
        return;
    must(!c->inside);
    for (size_t i = 0; i < KUBE_CHANNEL_COUNT; i++)
        drop_all(&c->waiting[i]);
    drop_all(&c->failing);
    drop_all(&c->active);
    pools_sweep(&c->pools, true);
    credentials_free(&c->target.credentials);
    target_free(&c->target);
    close(c->pools.epoll_fd);
    memory_free(c);
    *client = NULL;
}

int kube_client_fd(const struct kube_client *client)
{
    return client->pools.epoll_fd;
}

uint32_t kube_client_pending(const struct kube_client *client)
{
    uint32_t pending = client->active.count + client->failing.count;
    for (size_t i = 0; i < KUBE_CHANNEL_COUNT; i++)
        pending += client->waiting[i].count;
    return pending;
}

struct kube_client_stats kube_client_stats(const struct kube_client *client)
{
    return client->stats;
}

/* ---- asking and cancelling ---- */

uint64_t kube_client_send(struct kube_client *client, const struct kube_request *request)
{
    must(request->channel < KUBE_CHANNEL_COUNT && request->done != NULL);
    must(request->path.len > 0 && request->path.at[0] == '/');
    struct exchange *r = exchange_new(request, &client->target);
    r->number = ++client->number;
    r->asked = moment_now();
    list_add(&client->waiting[r->channel], r);
    return r->number;
}

static bool is_counted(const struct exchange *r)
{
    bool watch = r->data != NULL && r->timeout.ns == 0;
    return !watch && r->channel != KUBE_CHANNEL_lease;
}

static void leave(struct kube_client *c, struct exchange *r)
{
    if (is_counted(r))
        c->counted--;
    c->may_idle -= r->idle_timeout.ns > 0;
    list_remove(&c->active, r);
    exchange_stop(r);
}

void kube_client_cancel(struct kube_client *client, uint64_t number)
{
    struct exchanges *lists[KUBE_CHANNEL_COUNT + 1] = {&client->failing};
    for (size_t i = 0; i < KUBE_CHANNEL_COUNT; i++)
        lists[i + 1] = &client->waiting[i];
    for (size_t i = 0; i <= KUBE_CHANNEL_COUNT; i++) {
        struct exchange *waiting = list_find(lists[i], number);
        if (waiting == NULL)
            continue;
        list_remove(lists[i], waiting);
        exchange_free(&waiting);
        return;
    }
    struct exchange *r = list_find(&client->active, number);
    if (r == NULL)
        return;
    r->cancelled = true;
    client->cancels = true;
    if (client->inside)
        return; /* swept as soon as curl has returned */
    leave(client, r);
    exchange_free(&r);
}

void kube_client_distrust(struct kube_client *client, enum kube_channel channel)
{
    if (client->current[channel] != NULL)
        client->current[channel]->retired = true;
    client->current[channel] = NULL;
}

/* ---- ending ---- */

/* True when connections are given up for this request: it timed out, and nothing came from them
 * since it was sent. They may be half-dead, and curl would go on using them. */
static bool judge_pool(struct kube_client *c, const struct exchange *r, CURLcode code)
{
    if (code != CURLE_OK && r->pool->protocol == PROTOCOL_unknown)
        r->pool->protocol = PROTOCOL_failed;
    bool timed_out = code == CURLE_OPERATION_TIMEDOUT || r->idle_expired;
    bool silent =
        timed_out && c->current[r->channel] == r->pool && r->pool->heard.ns <= r->heard.ns;
    if (silent)
        kube_client_distrust(c, r->channel);
    return silent;
}

static void count(struct kube_client *c, struct exchange *r, const struct kube_response *response)
{
    long opened = 0, version = CURL_HTTP_VERSION_2_0;
    if (!r->fast) {
        curl_easy_getinfo(r->easy, CURLINFO_NUM_CONNECTS, &opened);
        curl_easy_getinfo(r->easy, CURLINFO_HTTP_VERSION, &version);
    }
    c->stats.connections += (uint64_t)opened;
    c->stats.requests++;
    if (response->error[0] != 0)
        c->stats.failures++;
    if (version != 0)
        c->stats.http2 = version == CURL_HTTP_VERSION_2_0;
}

/* A 401 was not carried out, so it may be sent again, once, when newer credentials may be had. */
static bool try_again(struct kube_client *c, struct exchange *r, int status)
{
    if (status != 401 || r->renewed || !credentials_refused(c->target.credentials, r->credentials))
        return false;
    r->renewed = true;
    c->stats.retried++;
    leave(c, r);
    list_add(&c->waiting[r->channel], r);
    return true;
}

static void finish(struct kube_client *c, struct exchange *r, CURLcode code)
{
    if (r->cancelled) {
        leave(c, r);
        exchange_free(&r);
        return;
    }
    struct kube_response response = exchange_response(r, code, c->pools.now);
    count(c, r, &response);
    measure_exchange(r, &response);
    if (try_again(c, r, response.status))
        return;
    response.silent = judge_pool(c, r, code);
    leave(c, r);
    r->done(r->context, &response);
    exchange_free(&r);
}

/* One that only connects has no request; its pool is another one's link. */
static void connected(struct kube_client *c, CURL *easy, CURLcode code)
{
    for (struct pool *pool = c->pools.pools; pool != NULL; pool = pool->next)
        if (pool->fast != NULL && http2_connected(pool->fast, easy, code))
            return;
}

static void collect_curls(struct kube_client *c, struct pool *pool)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(pool->multi, &left)) != NULL) {
        struct exchange *r = NULL;
        CURLcode code = message->data.result;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &r);
        if (r != NULL)
            finish(c, r, code);
        else
            connected(c, message->easy_handle, code);
    }
}

static void collect(struct kube_client *c)
{
    struct exchange *r;
    CURLcode code;
    for (struct pool *pool = c->pools.pools; pool != NULL; pool = pool->next) {
        if (pool->with_curl > 0)
            collect_curls(c, pool);
        while (pool->fast != NULL && (r = http2_ended(pool->fast, &code)) != NULL)
            finish(c, r, code);
    }
}

static struct moment idle_limit(const struct exchange *r)
{
    return r->idle_timeout.ns > 0 ? moment_after(r->heard, r->idle_timeout) : MOMENT_NEVER;
}

/* Ends what was cancelled inside curl, what was silent for too long and what took too long. */
static void sweep(struct kube_client *c)
{
    bool overdue = moment_reached(c->pools.now, c->overdue_at);
    if (!c->cancels && c->may_idle == 0 && !overdue)
        return;
    c->cancels = false;
    c->overdue_at = overdue ? MOMENT_NEVER : c->overdue_at;
    struct exchange *next;
    for (struct exchange *r = c->active.first; r != NULL; r = next) {
        next = r->next;
        r->idle_expired = !r->cancelled && moment_reached(c->pools.now, idle_limit(r));
        bool late = moment_reached(c->pools.now, r->deadline);
        if (!r->cancelled && !r->idle_expired && !late) {
            c->overdue_at = moment_earlier(c->overdue_at, r->deadline);
            continue;
        }
        if (late)
            snprintf(r->curl_error, sizeof(r->curl_error), "no answer within %.3g s",
                     (double)span_ms(r->timeout) / 1000);
        uint64_t number = next != NULL ? next->number : 0;
        finish(c, r, CURLE_OPERATION_TIMEDOUT);
        if (next != NULL && list_find(&c->active, number) == NULL)
            next = c->active.first; /* the callback cancelled it */
    }
}

/* ---- starting ---- */

static const enum kube_channel channel_order[] = {KUBE_CHANNEL_lease, KUBE_CHANNEL_watch,
                                                  KUBE_CHANNEL_write, KUBE_CHANNEL_volume,
                                                  KUBE_CHANNEL_event, KUBE_CHANNEL_extender};

static void refill(struct kube_client *c)
{
    double seconds = (double)moment_since(c->pools.now, c->refilled).ns / 1e9;
    c->refilled = c->pools.now;
    c->tokens += seconds * c->qps;
    if (c->tokens > c->burst)
        c->tokens = c->burst;
}

/* The channel whose oldest request may go out now, or COUNT. */
/* Watches and what proves that they live go over one and the same connection: so they wait until it
 * is known which one that is. */
static bool undecided(const struct kube_client *c, enum kube_channel channel)
{
    const struct pool *pool = c->current[channel];
    uint64_t credentials = credentials_generation(c->target.credentials);
    return channel == KUBE_CHANNEL_watch && pool->fast != NULL &&
           http2_state(pool->fast, credentials, c->pools.now) == HTTP2_opening;
}

static enum kube_channel startable(const struct kube_client *c)
{
    bool open = c->counted < c->in_flight_max && (c->qps <= 0 || c->tokens >= 1);
    for (size_t i = 0; i < KUBE_CHANNEL_COUNT; i++) {
        enum kube_channel channel = channel_order[i];
        const struct exchange *r = c->waiting[channel].first;
        const struct pool *pool = c->current[channel];
        bool full = pool != NULL && (pool->active >= pool->requests_max || undecided(c, channel));
        if (r != NULL && !full && (channel == KUBE_CHANNEL_lease || open))
            return channel;
    }
    return KUBE_CHANNEL_COUNT;
}

/* A connection of our own, where curl's first one told that the server speaks HTTP/2. The lease's
 * few requests are not worth it. */
static void speed_up(struct kube_client *c, enum kube_channel channel)
{
    const struct target *t = &c->target;
    struct pool *pool = c->current[channel];
    bool basic = t->config->username != NULL && credentials_token(t->credentials) == NULL;
    if (c->curl_alone || channel == KUBE_CHANNEL_lease || pool == NULL || pool->fast != NULL ||
        pool->protocol != PROTOCOL_http2 || basic || t->host_header != NULL ||
        !str_starts_with(str_of(t->base), "https://"))
        return;
    pool->fast = http2_open(pool, t);
    c->stats.connections++;
}

static struct pool *pool_for(struct kube_client *c, enum kube_channel channel)
{
    const struct pool *pool = c->current[channel];
    uint64_t credentials = credentials_generation(c->target.credentials);
    if (pool != NULL && pool->fast != NULL &&
        http2_state(pool->fast, credentials, c->pools.now) == HTTP2_over)
        kube_client_distrust(c, channel);
    if (c->current[channel] == NULL)
        c->current[channel] = pool_new(&c->pools, c->connections_max);
    return c->current[channel];
}

static void start(struct kube_client *c, enum kube_channel channel)
{
    struct exchange *r = c->waiting[channel].first;
    list_remove(&c->waiting[channel], r);
    struct pool *pool = pool_for(c, channel);
    if (c->qps > 0 && channel != KUBE_CHANNEL_lease)
        c->tokens -= 1;
    measure_held(r, c->pools.now);
    if (is_counted(r))
        c->counted++;
    c->may_idle += r->idle_timeout.ns > 0;
    list_add(&c->active, r);
    exchange_start(r, pool);
    c->overdue_at = moment_earlier(c->overdue_at, r->deadline);
}

/* Without credentials nothing can be asked: whoever waits is told why. */
static void fail_waiting(struct kube_client *c)
{
    for (size_t i = 0; i < KUBE_CHANNEL_COUNT; i++)
        while (c->waiting[i].first != NULL) {
            struct exchange *r = c->waiting[i].first;
            list_remove(&c->waiting[i], r);
            list_add(&c->failing, r);
        }
    while (c->failing.first != NULL) { /* what callbacks send meanwhile waits for the next try */
        struct exchange *r = c->failing.first;
        list_remove(&c->failing, r);
        struct buffer text = {0};
        buffer_print(&text, "%s: no credentials: %s", c->target.config->server,
                     credentials_error(c->target.credentials));
        struct kube_response response = {.error = text.at, .retry_after_s = -1};
        c->stats.requests++;
        c->stats.failures++;
        r->done(r->context, &response);
        exchange_free(&r);
        buffer_free(&text);
    }
}

static void start_waiting(struct kube_client *c)
{
    refill(c);
    for (struct pool *pool = c->pools.pools; pool != NULL; pool = pool->next)
        pool_learn(pool, c->in_flight_max);
    for (size_t i = 0; i < KUBE_CHANNEL_COUNT; i++)
        if (c->waiting[i].first != NULL)
            speed_up(c, (enum kube_channel)i);
    enum kube_channel channel;
    while ((channel = startable(c)) != KUBE_CHANNEL_COUNT) {
        enum credentials_state state =
            credentials_poll(c->target.credentials, c->pools.now, moment_wall_us());
        if (state == CREDENTIALS_failed)
            fail_waiting(c);
        if (state != CREDENTIALS_ready)
            return;
        start(c, channel);
    }
}

/* ---- working ---- */

static bool take_events(struct kube_client *c)
{
    struct epoll_event events[EVENTS_MAX];
    int count_of = epoll_wait(c->pools.epoll_fd, events, EVENTS_MAX, 0);
    for (int i = 0; i < count_of; i++)
        if (events[i].data.u64 != OWN_PLUGIN)
            pools_event(&c->pools, events[i].data.u64, events[i].events);
    return count_of == EVENTS_MAX;
}

static struct moment deadline(const struct kube_client *c)
{
    struct moment first =
        moment_earlier(pools_deadline(&c->pools), credentials_deadline(c->target.credentials));
    first = moment_earlier(first, c->overdue_at);
    for (const struct exchange *r = c->active.first; c->may_idle > 0 && r != NULL; r = r->next)
        first = moment_earlier(first, idle_limit(r));
    bool limited = c->qps > 0 && c->tokens < 1 && c->counted < c->in_flight_max;
    if (limited && kube_client_pending(c) > c->active.count)
        first = moment_earlier(
            first, moment_after(c->refilled, span_of_seconds((1 - c->tokens) / c->qps + 0.0001)));
    return first;
}

void kube_client_work(struct kube_client *client, struct moment now)
{
    must(!client->inside);
    client->pools.now = now;
    bool more = true;
    for (int round = 0; more && round < 8; round++) {
        client->inside = true;
        more = take_events(client);
        pools_timers(&client->pools);
        client->inside = false;
        collect(client);
        sweep(client);
    }
    credentials_work(client->target.credentials, now);
    start_waiting(client);
    client->inside = true;
    pools_timers(&client->pools); /* what was just started goes out at once */
    pools_flush(&client->pools);
    client->inside = false;
    collect(client);
    if (client->cancels)
        sweep(client);
    pools_sweep(&client->pools, false);
}

struct moment kube_client_deadline(const struct kube_client *client, struct moment now)
{
    bool plugin = credentials_deadline(client->target.credentials).ns != MOMENT_NEVER.ns;
    if (!plugin && startable(client) != KUBE_CHANNEL_COUNT)
        return now;
    return deadline(client);
}
