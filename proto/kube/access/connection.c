/* connection: glue between curl's multi interface (sockets and timers by callback) and epoll.
 *
 * The one idea: a pool can be retired. Connections that stopped answering are never used again;
 * new requests go to a new pool while the old one drains. What must stay true: curl is never
 * called from inside its own callbacks, and events of a pool that is gone are ignored. */
#include "proto/kube/access/connection.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/access/http2.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define STREAMS_MAX 100 /* per HTTP/2 connection; what Kubernetes' servers allow at least */

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *mine)
{
    (void)easy;
    struct pool *pool = context;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(pool->pools->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    struct epoll_event event = {.data.u64 = (uint64_t)pool->id << 32 | (uint32_t)fd};
    event.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    int how = mine != NULL ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(pool->pools->epoll_fd, how, fd, &event) != 0) {
        /* A descriptor that was closed and opened again in between is the other way round. */
        how = errno == EEXIST ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
        must(epoll_ctl(pool->pools->epoll_fd, how, fd, &event) == 0);
    }
    curl_multi_assign(pool->multi, fd, pool); /* not NULL: known from now on */
    return 0;
}

static int on_timer(CURLM *multi, long ms, void *context)
{
    (void)multi;
    struct pool *pool = context;
    pool->timer = ms < 0 ? MOMENT_NEVER : moment_after(pool->pools->now, span_of_ms(ms));
    return 0;
}

struct pool *pool_new(struct pools *pools, uint32_t connections_max)
{
    struct pool *pool = memory_take(sizeof(*pool));
    *pool = (struct pool){.pools = pools,
                          .next = pools->pools,
                          .id = ++pools->next_id,
                          .multi = curl_multi_init(),
                          .timer = MOMENT_NEVER,
                          .connections_max = connections_max,
                          .requests_max = 1};
    must(pool->multi != NULL);
    pools->pools = pool;
    curl_multi_setopt(pool->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(pool->multi, CURLMOPT_SOCKETDATA, pool);
    curl_multi_setopt(pool->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(pool->multi, CURLMOPT_TIMERDATA, pool);
    curl_multi_setopt(pool->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    curl_multi_setopt(pool->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)connections_max);
    curl_multi_setopt(pool->multi, CURLMOPT_MAXCONNECTS, (long)connections_max);
    curl_multi_setopt(pool->multi, CURLMOPT_MAX_CONCURRENT_STREAMS, (long)STREAMS_MAX);
    return pool;
}

void pool_learn(struct pool *pool, uint32_t in_flight_max)
{
    if (pool->protocol == pool->learned)
        return;
    pool->learned = pool->protocol;
    pool->requests_max = pool->connections_max;
    if (pool->protocol != PROTOCOL_http2)
        return;
    uint32_t connections = in_flight_max / STREAMS_MAX + 1;
    pool->requests_max = connections * STREAMS_MAX;
    curl_multi_setopt(pool->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)connections);
}

void pools_sweep(struct pools *pools, bool all)
{
    for (struct pool *pool = pools->pools; pool != NULL; pool = pool->next)
        if (all || (pool->retired && pool->active == 0))
            http2_free(&pool->fast); /* retires the pool of its link, whichever comes first here */
    struct pool **at = &pools->pools;
    while (*at != NULL) {
        struct pool *pool = *at;
        if (!all && (!pool->retired || pool->active > 0)) {
            at = &pool->next;
            continue;
        }
        must(pool->active == 0);
        *at = pool->next;
        curl_multi_cleanup(pool->multi); /* closes the connections; may still call on_socket */
        memory_free(pool);
    }
}

void pools_event(struct pools *pools, uint64_t data, uint32_t events)
{
    struct pool *pool = pools->pools;
    while (pool != NULL && pool->id != data >> 32)
        pool = pool->next;
    if (pool == NULL ||
        (pool->fast != NULL && http2_event(pool->fast, (int)(data & 0xffffffff), events)))
        return;
    int running, mask = 0;
    if (events & (EPOLLIN | EPOLLHUP))
        mask |= CURL_CSELECT_IN;
    if (events & EPOLLOUT)
        mask |= CURL_CSELECT_OUT;
    if (events & EPOLLERR)
        mask |= CURL_CSELECT_ERR;
    curl_multi_socket_action(pool->multi, (curl_socket_t)(data & 0xffffffff), mask, &running);
}

void pools_timers(struct pools *pools)
{
    for (struct pool *pool = pools->pools; pool != NULL; pool = pool->next) {
        int running;
        if (!moment_reached(pools->now, pool->timer))
            continue;
        pool->timer = MOMENT_NEVER;
        curl_multi_socket_action(pool->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
}

void pools_flush(struct pools *pools)
{
    for (struct pool *pool = pools->pools; pool != NULL; pool = pool->next)
        if (pool->fast != NULL)
            http2_flush(pool->fast);
}

struct moment pools_deadline(const struct pools *pools)
{
    struct moment first = MOMENT_NEVER;
    for (const struct pool *pool = pools->pools; pool != NULL; pool = pool->next)
        first = moment_earlier(first, pool->timer);
    return first;
}

int pools_socket_options(void *context, curl_socket_t fd, curlsocktype purpose)
{
    (void)context;
    if (purpose != CURLSOCKTYPE_IPCXN)
        return CURL_SOCKOPT_OK;
    /* Idle for 10 s: three probes, 5 s apart. Sent and not acknowledged: 25 s. */
    static const struct {
        int level, name, value;
    } options[] = {
        {SOL_SOCKET, SO_KEEPALIVE, 1},          {IPPROTO_TCP, TCP_KEEPIDLE, 10},
        {IPPROTO_TCP, TCP_KEEPINTVL, 5},        {IPPROTO_TCP, TCP_KEEPCNT, 3},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, 25000},
    };
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
    return CURL_SOCKOPT_OK;
}
