/* watcher: the core: mirrors the API server and publishes what changed; pure.
 *
 * It has sources: one for each mirrored kind, and one that probes the connection. The shell asks
 * each source which request it wants, sends it, and says what came of it. */
#ifndef WATCHER_H
#define WATCHER_H

#include "proto/bus/delivery.h"
#include "proto/kube/objects/objects.h"
#include "proto/kube/watch/reflector.h"

struct watcher;

struct watcher_options {
    const struct kube_resource *kinds; /* borrowed */
    size_t kind_count;
    uint32_t page_size;      /* 0: 500 */
    uint32_t catch_up_from;  /* as of a reflector */
    bool protobuf;           /* ask for protobuf where we can read it */
    bool group_trees;        /* the feature gate CompositePodGroup: kinds of KUBE_tree are read */
    struct strs annotations; /* how the keys begin of those that plugins are told of; borrowed */
    struct span stale_after; /* 0: 90 s */
    /* So long the first lists of required kinds wait for a barrier, so that they answer it; 0: not
     * at all. */
    struct span barrier_wait;
    size_t log_bytes_max; /* of changes that are kept for subscribers that come back; 0: 64 MiB */
    int64_t epoch;        /* of the stream; another one in every life; > 0 */
    uint64_t seed;        /* of the jitter */
};

struct watcher *watcher_new(const struct watcher_options *options);
void watcher_free(struct watcher **w);

/* From the bus. */
void watcher_handle(struct watcher *w, struct moment now, const struct delivery *in,
                    struct outbox *out);
/* Publishes; returns when it wants to be called next. */
struct moment watcher_tick(struct watcher *w, struct moment now, struct outbox *out);
void watcher_status(const struct watcher *w, struct moment now, struct buffer *lines);
/* Sets gauges and health checks (proto/metrics.h). */
void watcher_observe(const struct watcher *w, struct moment now);
/* True when watcher_handle does something with messages of this type. */
bool watcher_takes(enum message_type type);

/* Towards the API server. Sources are numbered from 0. */
size_t watcher_sources(const struct watcher *w);
/* True when the source wants a request now instead of the one it had. */
bool watcher_next(struct watcher *w, struct moment now, size_t source,
                  struct reflector_request *request);
void watcher_data(struct watcher *w, struct moment now, size_t source, uint64_t number,
                  struct str piece);
void watcher_response(struct watcher *w, struct moment now, size_t source, uint64_t number,
                      const struct kube_response *response);

#endif
