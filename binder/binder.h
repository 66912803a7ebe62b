/* binder: the core that turns decisions into writes, and holds the lease that allows them; pure but
 * for what it is given in struct api. */
#ifndef BINDER_H
#define BINDER_H

#include "binder/lease.h"
#include "proto/bus/delivery.h"
#include "proto/kube/extenders/extenders.h"

struct binder_options {
    struct lease_options lease;
    struct api api;
    const char *hostname;    /* borrowed; for events */
    uint32_t bind_in_flight; /* 0: 100 */
    double qps;              /* of all writes but the lease's; <= 0: unlimited */
    uint32_t burst;
    bool protobuf;           /* write in protobuf where there is a body for it */
    uint32_t event_keys_max; /* 0: 10,000 */
    uint64_t seed;
};

struct binder;

struct binder *binder_new(const struct binder_options *options);
void binder_free(struct binder **b);

void binder_handle(struct binder *b, struct moment now, const struct delivery *in,
                   struct outbox *out);
/* True when binder_handle does something with messages of this type. */
bool binder_takes(enum message_type type);
/* Timers, hand-over of what may go out, and answers; returns when it wants to be called next. */
struct moment binder_tick(struct binder *b, struct moment now, struct outbox *out);
/* To be called before the client does any work: reads the clock, and when the fence is closed takes
 * every fenced request back from the client first. */
void binder_guard(struct binder *b);
/* True while a fenced request is with the client. */
bool binder_exposed(const struct binder *b);
/* Until when what was handed over may still go out; MOMENT_NEVER without a lease. */
struct moment binder_fence_end(const struct binder *b);

/* A clean end: no new binds, answers to those under way (at most 5 s), the lease released. */
void binder_stop(struct binder *b, struct moment now, struct outbox *out);
bool binder_done(const struct binder *b);

/* Sets gauges and health checks (proto/metrics.h). */
void binder_observe(const struct binder *b);
/* Another limit of requests a second; qps <= 0: none. */
void binder_limit(struct binder *b, double qps, uint32_t burst);
void binder_status(const struct binder *b, struct buffer *lines);
int64_t binder_term(const struct binder *b);
bool binder_leading(const struct binder *b);

#define BINDER_STOP_LIMIT_MS 12000

#endif
