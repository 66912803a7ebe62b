/* connection: pools of connections (curl multi handles) that share one epoll descriptor. */
#ifndef KUBE_ACCESS_CONNECTION_H
#define KUBE_ACCESS_CONNECTION_H

#include "proto/base/moment.h"

#include <curl/curl.h>
#include <stdint.h>

/* Connections in one pool are shared by its requests and by nobody else. */
struct pool {
    struct pools *pools;
    struct pool *next;
    uint32_t id; /* in epoll events; never used again, so that late events find nobody */
    CURLM *multi;
    struct moment timer; /* when curl wants to be called, or MOMENT_NEVER */
    uint32_t active;     /* requests on it */
    uint32_t with_curl;  /* those of them that curl has */
    bool retired;        /* no new requests; goes away with its last one */
    struct moment heard; /* last byte on any of its connections */
    enum pool_protocol {
        PROTOCOL_unknown,
        PROTOCOL_failed,
        PROTOCOL_http1,
        PROTOCOL_http2
    } protocol;
    enum pool_protocol learned; /* what the limits are set for */
    uint32_t connections_max, requests_max;
    struct http2 *fast; /* a connection beside curl's; NULL: none */
};

/* Zero-initialise and set epoll_fd. */
struct pools {
    int epoll_fd;
    struct pool *pools;
    uint32_t next_id;
    struct moment now; /* set before each call into curl */
};

/* Event data: pool id in the upper half, descriptor in the lower one; id 0 is the owner's own. */
struct pool *pool_new(struct pools *pools, uint32_t connections_max);
/* How many requests it may have at once: one until the first answer says what the server speaks,
 * then many on few connections (HTTP/2) or one a connection. Not from inside curl. */
void pool_learn(struct pool *pool, uint32_t in_flight_max);
/* Frees the retired pools without requests, or all of them. */
void pools_sweep(struct pools *pools, bool all);
/* Hands one epoll event to curl. */
void pools_event(struct pools *pools, uint64_t data, uint32_t events);
/* Runs the timers of curl that are due. */
void pools_timers(struct pools *pools);
/* Writes what was started on connections of our own. */
void pools_flush(struct pools *pools);
struct moment pools_deadline(const struct pools *pools);

/* For CURLOPT_SOCKOPTFUNCTION: a peer that is gone is noticed within half a minute. */
int pools_socket_options(void *context, curl_socket_t fd, curlsocktype purpose);

#endif
