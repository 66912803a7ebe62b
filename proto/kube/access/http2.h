/* http2: one HTTP/2 connection that we drive ourselves, for the requests of a pool. curl opens it
 * (proxy, resolving, TLS and all that can be wrong with them are its business), nghttp2 speaks on
 * it. What a pool cannot send over it goes through curl as ever. */
#ifndef KUBE_ACCESS_HTTP2_H
#define KUBE_ACCESS_HTTP2_H

#include "proto/kube/access/exchange.h"

struct http2;

/* Begins to connect, for requests of that pool. */
struct http2 *http2_open(struct pool *pool, const struct target *target);
/* Its requests must have ended. NULL is allowed. */
void http2_free(struct http2 **h);
/* curl has connected, or given up: true when easy was this connection's. */
bool http2_connected(struct http2 *h, CURL *easy, CURLcode code);
/* What epoll said about its descriptor: true when fd was this connection's. */
bool http2_event(struct http2 *h, int fd, uint32_t events);

enum http2_state {
    HTTP2_opening, /* not yet: use curl */
    HTTP2_ready,
    HTTP2_useless, /* never came up: use curl for good */
    HTTP2_over     /* broken, told to go, too old, or for credentials that have changed */
};
enum http2_state http2_state(const struct http2 *h, uint64_t credentials, struct moment now);

/* Queues the request; the bytes of all that were queued leave together with http2_flush. */
void http2_start(struct http2 *h, struct exchange *r);
/* Forgets it, answered or not. What has not left is not sent any more. */
void http2_stop(struct http2 *h, struct exchange *r);
void http2_flush(struct http2 *h);
/* The next request that ended, with *code; NULL: none. When the connection breaks, all end. */
struct exchange *http2_ended(struct http2 *h, CURLcode *code);

#endif
