/* client: HTTP requests to one Kubernetes API server, many in flight, driven by one descriptor.
 *
 * The only code that knows libcurl. HTTP/2 where the server speaks it (all requests of a channel
 * multiplexed over one connection), HTTP/1.1 keep-alive with a bounded number of connections
 * otherwise. TLS is verified. Credentials come from a kube_config and are refreshed by themselves
 * (token files, exec plugins). */
#ifndef KUBE_ACCESS_CLIENT_H
#define KUBE_ACCESS_CLIENT_H

#include "proto/base/buffer.h"
#include "proto/base/moment.h"
#include "proto/base/str.h"
#include "proto/kube/access/method.h"

struct kube_config;
struct kube_client;

/* Where and how to reach the API server: an explicit kubeconfig path, else $KUBECONFIG, else the
 * in-cluster service account, else ~/.kube/config. master (may be NULL) overrides the server URL.
 * NULL on failure, with one line in error that names file, line or field. */
struct kube_config *kube_config_load(const char *kubeconfig, const char *master, char *error,
                                     size_t room);
void kube_config_free(struct kube_config **config);
const char *kube_config_server(const struct kube_config *config);

struct kube_client_options {
    const char *user_agent;   /* such as "berth-binder/0.1.0" */
    uint32_t in_flight_max;   /* requests on the wire at once; more wait. 0: 256. Neither this
                               * nor qps holds up the lease; streams are not counted here */
    uint32_t connections_max; /* per channel when the server only speaks HTTP/1.1. 0: 16 */
    double qps;               /* token bucket; <= 0: unlimited */
    uint32_t burst;
    bool curl_alone; /* no connection of our own, HTTP/2 is libcurl's too: to measure beside it */
};

/* config is borrowed and must outlive the client. NULL with error on failure. */
struct kube_client *kube_client_new(const struct kube_config *config,
                                    const struct kube_client_options *options, char *error,
                                    size_t room);
void kube_client_free(struct kube_client **client); /* pending requests end without callbacks */
/* Readable when something came: give it to the actor loop, and mind the deadline too. */
int kube_client_fd(const struct kube_client *client);
/* Does all work that is due; runs callbacks. Never blocks. */
void kube_client_work(struct kube_client *client, struct moment now);
/* When work() must run even if fd is not readable: now, when requests were sent and may start. */
struct moment kube_client_deadline(const struct kube_client *client, struct moment now);

/* Requests of one channel share connections; other channels never wait behind them. */
enum kube_channel {
    KUBE_CHANNEL_watch,
    KUBE_CHANNEL_write,
    KUBE_CHANNEL_volume,
    KUBE_CHANNEL_event,
    KUBE_CHANNEL_lease,
    KUBE_CHANNEL_extender, /* of the binder: not to the API server at all */
    KUBE_CHANNEL_COUNT
};

struct kube_response {
    int status;        /* HTTP status; 0: no answer (see error) */
    struct str body;   /* whole body, or empty for streamed ones; valid during the callback */
    const char *error; /* "" or why there was no answer, naming host and cause */
    bool maybe_done;   /* status 0 or 504: the server may have carried the request out */
    int retry_after_s; /* from Retry-After; -1 = none */
    bool silent;       /* it timed out, and nothing came on its connections since it was sent: they
                          are distrusted, and what still runs on them should be asked for anew */
    struct span took;
};

struct kube_request {
    enum kube_method method;
    enum kube_channel channel;
    uint32_t route;           /* for who has several clients; the client does not look at it */
    struct str path;          /* with query, such as /api/v1/pods?limit=500; copied */
    const char *content_type; /* of body; NULL without a body */
    const char *accept;       /* types of the answer; static; NULL: JSON */
    bool unread;              /* the body of a 2xx answer is not wanted, and not kept */
    struct str body;          /* copied */
    struct span timeout;      /* whole request; 0: none (watches) */
    struct span idle_timeout; /* no byte for this long ends it; 0: none */
    void *context;
    /* For streams: called with each piece of a 2xx answer as it arrives, with an empty one first
     * when the answer begins; then done() with an empty body, the status and, when the stream broke
     * off, an error. Other answers come whole. */
    void (*data)(void *context, struct str piece);
    void (*done)(void *context, const struct kube_response *response);
};

/* Queues the request; returns its number (never 0). done() is called exactly once, from
 * kube_client_work, unless it is cancelled. */
uint64_t kube_client_send(struct kube_client *client, const struct kube_request *request);
/* Ends it without a callback; a number that is gone is ignored. */
void kube_client_cancel(struct kube_client *client, uint64_t number);
/* Requests waiting and on the wire. */
uint32_t kube_client_pending(const struct kube_client *client);
/* The connections of this channel are not trusted any more: new requests get new ones, and the old
 * ones are closed as soon as the requests on them have ended. Happens by itself when a request
 * times out on a connection that has been silent since it was sent. */
void kube_client_distrust(struct kube_client *client, enum kube_channel channel);

struct kube_client_stats {
    uint64_t requests, failures; /* answered or not; failures: no answer */
    uint64_t connections;        /* opened */
    uint64_t retried;            /* sent again with newer credentials after a 401 */
    bool http2;                  /* the last answer came over HTTP/2 */
};
struct kube_client_stats kube_client_stats(const struct kube_client *client);

#endif
