/* http: HTTPS by libmicrohttpd and GnuTLS, in the loop of the server; with certificate.c the only
 * code that knows them. */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include "ctl/serve/origin.h"
#include "proto/base/arena.h"
#include "proto/base/buffer.h"
#include "proto/base/moment.h"
#include "proto/messages.h"

#include <sys/types.h>

struct http;
struct client_chain;

#define HTTP_ARGUMENTS_MAX 16

/* A whole request, and what is answered. */
struct http_request {
    const char *method, *path;
    struct origin from;
    struct str body, token;     /* token: of "Authorization: Bearer" */
    struct client_chain *chain; /* NULL: no client certificate */
    const char *keys[HTTP_ARGUMENTS_MAX], *values[HTTP_ARGUMENTS_MAX]; /* of the query */
    size_t argument_count;
    void *connection;    /* for http_header */
    struct arena memory; /* of the request */
    int64_t question;    /* the answerer's: what it waits for; 0 at first */
    void *kept;          /* the answerer's, from one asking to the next; NULL at first */
    bool permitted;      /* the answerer's */
    bool named;          /* set by it: the caller was let through, and is not anonymous */
    int status;
    const char *content_type, *warning, *retry_after; /* headers; NULL: none */
    const char *location, *set_cookie, *allow;
    bool page;    /* for a browser: with the headers that keep it from doing anything else */
    void *stream; /* the answerer's, not NULL: the answer goes on and on, see more; answer is unused
                   */
    struct buffer answer;
};

/* A certificate for some names, of which one may begin with "*.". Borrowed. */
struct http_named {
    struct str certificate, key; /* PEM */
    struct strs names;           /* empty: those that the certificate is for */
};

#define HTTP_NAMED_MAX 16

struct http_options {
    const char *address; /* bind address; "" = all */
    int port;
    bool share_port; /* SO_REUSEPORT */
    struct http_named named[HTTP_NAMED_MAX];
    size_t named_count;
    const char *certificate, *key; /* PEM */
    struct str authorities;        /* of client certificates, PEM; empty: none is asked for */
    const char *priorities;        /* GnuTLS's, such as "NORMAL:-VERS-TLS1.0" */
    /* Answers the request, or returns false when it has to wait; it is then asked again with
     * http_poke. */
    bool (*answer)(void *state, struct http_request *request);
    /* Of a request with a stream: the next bytes of its answer; 0: none yet; -1: that was all.
     * Who has none yet is asked again when has_more says so, which http_poke asks. ended is called
     * once for each, whatever ends it. */
    ssize_t (*more)(void *state, struct http_request *request, char *to, size_t room);
    bool (*has_more)(void *state, struct http_request *request);
    void (*ended)(void *state, struct http_request *request);
    void *state;
};

/* NULL with one line in why. */
struct http *http_new(const struct http_options *options, struct buffer *why);
void http_free(struct http **http);
/* Goes on with other authorities of client certificates; requests under way are dropped. */
bool http_trust(struct http *http, struct str authorities, struct buffer *why);
/* Readable when there is something to do. Changes with http_trust. */
int http_fd(const struct http *http);
/* Does what is due; returns when it wants to be called again. */
struct moment http_work(struct http *http, struct moment now);
/* Asks again about all requests that wait, the one that came first at first. */
void http_poke(struct http *http, struct moment now);
/* How many wait, streams that have nothing to say included. */
size_t http_waiting(const struct http *http);
/* Lines for a status: connections, and how many were ended before their time. */
void http_status(const struct http *http, struct buffer *lines);
/* A header of the request; "" when there is none. */
const char *http_header(const struct http_request *request, const char *name);
/* All values of a header. */
struct strs http_headers(struct http_request *request, const char *name);
/* Headers whose names begin so: by turns the rest of the name, in lower case and unescaped, and the
 * value; sorted by name. */
struct strs http_headers_behind(struct http_request *request, const char *prefix);

#endif
