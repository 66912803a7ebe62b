/* rates: what scheduler and queue count, as what happened between two answers. Pure. */
#ifndef CTL_FOLLOW_RATES_H
#define CTL_FOLLOW_RATES_H

#include "ctl/json_out.h"
#include "proto/base/moment.h"
#include "proto/messages.h"
#include "proto/metrics.h"

enum { RATES_scheduled, RATES_unschedulable, RATES_error, RATES_RESULTS };
enum { RATES_active, RATES_backoff, RATES_waiting, RATES_gated, RATES_QUEUES };

struct rates_count {
    int64_t results[RATES_RESULTS];
    int64_t buckets[METRIC_BUCKETS_MAX + 1]; /* how long attempts took */
};

/* Zero-initialise. */
struct rates {
    struct rates_count last; /* of the scheduler */
    struct rates_count since;
    int64_t incarnation;
    struct moment at;
    struct span over; /* what `since` counts; 0: nothing yet */
    int64_t queues[RATES_QUEUES];
    bool news;
};

/* An answer of a scheduler or a queue. What another life has counted before is not taken for what
 * happened now. */
void rates_take(struct rates *r, struct moment now, const struct metrics *said);
/* One line: results per second, how long attempts took (median and 99th percentile in ms, bounds of
 * buckets), how many wait in each queue. */
void rates_tell(struct rates *r, struct buffer *out);

#endif
