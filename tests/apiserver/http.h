/* HTTP/1.1, plain or TLS: the only file that knows libmicrohttpd and GnuTLS. */
#ifndef APISERVER_HTTP_H
#define APISERVER_HTTP_H

#include "server.h"

struct http;

struct http_options {
    int listener;                         /* a bound, listening socket, taken */
    char *tls_cert, *tls_key, *client_ca; /* PEM texts, or NULL; borrowed */
};

/* NULL with one line in why. */
struct http *http_new(struct server *server, const struct http_options *options,
                      struct buffer *why);
/* One turn: waits at most wait_ms for something to do, and does it. */
void http_turn(struct http *http, int32_t wait_ms);
/* Once a second: streams that end, peers that left. */
void http_sweep(struct http *http);
void http_free(struct http *http);

/* A listening socket on "ADDR:PORT"; -1 with one line in why, which names the address. */
int http_listen(const char *address, struct buffer *why);
/* "127.0.0.1:6443" of a listening socket, as a client on this host reaches it; room for 96 bytes.
 */
char *http_address(int listener, char out[static 96]);

#endif
