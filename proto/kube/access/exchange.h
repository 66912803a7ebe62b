/* request: one HTTP request on its way; between client.c (when) and curl (how). */
#ifndef KUBE_ACCESS_EXCHANGE_H
#define KUBE_ACCESS_EXCHANGE_H

#include "proto/kube/access/client.h"
#include "proto/kube/access/connection.h"
#include "proto/kube/access/credentials.h"

#define EXCHANGE_BODY_MAX ((size_t)256 << 20) /* bytes of an answer; longer ones are refused */

/* What requests of one client share. */
struct target {
    const struct kube_config *config;
    struct credentials *credentials;
    char *user_agent;
    char *base;                    /* URL in front of every path */
    char *host_header;             /* with tls-server-name; else NULL */
    struct curl_slist *connect_to; /* likewise */
    bool loopback;                 /* no proxy then */
};

void target_init(struct target *e, const struct kube_config *config);
void target_free(struct target *e);

struct exchange {
    struct exchange *next, *before; /* in one list of the client at a time */
    const struct target *target;
    struct pool *pool; /* NULL while waiting */
    CURL *easy;
    struct curl_slist *headers;
    uint64_t number;
    uint64_t credentials; /* generation that it carried */
    enum kube_method method;
    enum kube_channel channel;
    char *path, *content_type;
    const char *accept;
    bool unread;     /* the body of a 2xx answer */
    size_t received; /* bytes of the answer's body */
    struct buffer body, answer, error;
    struct span timeout, idle_timeout;
    struct moment asked, sent, heard; /* asked: the client was asked to send it */
    void *context;
    void (*data)(void *context, struct str piece);
    void (*done)(void *context, const struct kube_response *response);
    long status;       /* of the answer whose body is coming; 0 before */
    uint32_t attempts; /* times that curl began to send it */
    bool cancelled, idle_expired, too_long, renewed;
    char curl_error[CURL_ERROR_SIZE];
    /* Over a connection of our own (http2.c) instead of curl. */
    bool fast;
    struct moment deadline; /* curl minds its own */
    struct buffer whole_path;
    size_t body_at;    /* so much of the body was sent */
    int32_t stream;    /* 0: none, or closed */
    bool left;         /* the server may have heard of it */
    int retry_after_s; /* -1: none */
    bool ended, fetched;
    CURLcode code; /* how it ended */
    struct exchange *open_next, *open_before, *ended_next;
};

struct exchange *exchange_new(const struct kube_request *from, const struct target *target);
void exchange_free(struct exchange **request);
/* Prepares its easy handle and hands it to the pool. */
void exchange_start(struct exchange *r, struct pool *pool);
/* An easy handle that only connects; r is not a request and only carries it. */
void exchange_connect(struct exchange *r, struct pool *pool);
/* All headers of an answer are there. */
void exchange_opened(struct exchange *r);
/* A piece of its body. False when no more is wanted: it was cancelled, or is longer than is taken.
 */
bool exchange_take(struct exchange *r, struct str piece);
/* Takes it out of its pool; the easy handle is gone then. */
void exchange_stop(struct exchange *r);
/* What became of it; to be called before exchange_stop. Strings borrow from the request. */
struct kube_response exchange_response(struct exchange *r, CURLcode code, struct moment now);

#endif
