/* decisions: keeps the times of the last decisions together, hop by hop, and sorts them when
 * somebody asks. The one idea: quantiles of hops do not add up, so beside them stands what the
 * slowest decisions as a whole consist of. What must stay true: numbers come from peers, so each is
 * brought into its range before it is kept. */
#include "binder/decisions.h"

#include "proto/metrics.h"

#include <stdlib.h>
#include <string.h>

static const char *const hop_names[HOP_COUNT] = {
#define HOP(name) #name,
    DECISION_HOPS
#undef HOP
};

static int32_t bounded(int64_t us)
{
    return us < 0 ? 0 : us > INT32_MAX ? INT32_MAX : (int32_t)us;
}

static void observe_hop(struct decisions *d, enum decision_hop hop, int64_t us)
{
    if (d->series[hop] == NULL)
        d->series[hop] =
            metric_series(METRIC_berth_decision_hop_seconds, METRIC_VALUES(str_of(hop_names[hop])));
    series_observe(d->series[hop], us * 1000);
}

/* What the scheduler does not say of a decision is what is left of it. */
static struct timed_decision timed(int64_t took, const struct decision_hops *said,
                                   int64_t to_binder)
{
    struct timed_decision t = {.took = bounded(took),
                               .hops = {[HOP_to_scheduler] = bounded(said->to_scheduler),
                                        [HOP_line] = bounded(said->line),
                                        [HOP_worker] = bounded(said->worker),
                                        [HOP_evaluating] = bounded(said->evaluating),
                                        [HOP_back] = bounded(said->back),
                                        [HOP_to_binder] = bounded(to_binder)}};
    t.hops[HOP_telling] = bounded((int64_t)t.took - t.hops[HOP_to_scheduler] - t.hops[HOP_line] -
                                  t.hops[HOP_worker] - t.hops[HOP_back]);
    return t;
}

void decisions_add(struct decisions *d, const struct delivery *in)
{
    const struct bind *bind = &in->message->bind;
    int64_t popped = bind->popped_us;
    if (popped <= 0 || in->sent_us < popped || in->sent_us - popped > INT64_MAX / 1000)
        return;
    int64_t took = in->sent_us - popped;
    struct timed_decision *kept = &d->at[d->count++ % DECISIONS_KEPT];
    *kept = timed(took, &bind->hops, delivery_us(in));
    metric_observe(METRIC_berth_decision_latency_seconds, took * 1000);
    for (int hop = 0; hop < HOP_COUNT; hop++)
        observe_hop(d, (enum decision_hop)hop, kept->hops[hop]);
}

/* ---- quantiles ---- */

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int by_length(const void *a, const void *b)
{
    return by_number(&((const struct timed_decision *)a)->took,
                     &((const struct timed_decision *)b)->took);
}

/* Which of so many in order is at a share of them, in thousandths. */
static size_t place_of(size_t count, unsigned thousandths)
{
    size_t place = count * thousandths / 1000;
    return place < count ? place : count - 1;
}

static void add_hop(const struct timed_decision *by_took, size_t count, enum decision_hop hop,
                    struct buffer *lines)
{
    static int32_t sorted[DECISIONS_KEPT];
    size_t slow = place_of(count, 990);
    int64_t tail = 0;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = by_took[i].hops[hop];
        tail += i >= slow ? sorted[i] : 0;
    }
    qsort(sorted, count, sizeof(*sorted), by_number);
    buffer_print(lines, "hop_%s=p50_us=%d p99_us=%d p999_us=%d tail_us=%lld\n", hop_names[hop],
                 sorted[place_of(count, 500)], sorted[slow], sorted[place_of(count, 999)],
                 (long long)(tail / (int64_t)(count - slow)));
}

void decisions_status(const struct decisions *d, struct buffer *lines)
{
    static struct timed_decision sorted[DECISIONS_KEPT];
    size_t count = d->count < DECISIONS_KEPT ? (size_t)d->count : DECISIONS_KEPT;
    buffer_print(lines, "decisions_timed=%llu\n", (unsigned long long)d->count);
    if (count == 0)
        return;
    memcpy(sorted, d->at, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_length);
    buffer_print(lines, "decision_p50_us=%d\ndecision_p99_us=%d\ndecision_p999_us=%d\n",
                 sorted[place_of(count, 500)].took, sorted[place_of(count, 990)].took,
                 sorted[place_of(count, 999)].took);
    for (int hop = 0; hop < HOP_COUNT; hop++)
        add_hop(sorted, count, (enum decision_hop)hop, lines);
}
