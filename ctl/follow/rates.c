/* rates: differences of counters. What must stay true: a percentile is the upper bound of the
 * bucket that it lies in, so it never says less than was. */
#include "ctl/follow/rates.h"

#include "proto/base/must.h"

#include <string.h>

static const char *const results[] = {"scheduled", "unschedulable", "error"};
static const char *const queues[] = {"active", "backoff", "unschedulable", "gated"};

static int place_of(const char *const *names, int count, struct str name)
{
    for (int i = 0; i < count; i++)
        if (str_is(name, names[i]))
            return i;
    return -1;
}

static void add_sample(struct rates_count *c, const struct metric_sample *sample)
{
    if (sample->labels.count == 0)
        return;
    int place = place_of(results, RATES_RESULTS, sample->labels.at[0]);
    if (place >= 0 && str_is(sample->metric, "scheduler_schedule_attempts_total"))
        c->results[place] += sample->value;
    if (!str_is(sample->metric, "scheduler_scheduling_attempt_duration_seconds"))
        return;
    for (uint32_t i = 0; i < sample->buckets.count; i++) {
        const struct metric_bucket *b = &sample->buckets.at[i];
        if (b->place >= 0 && b->place <= METRIC_BUCKETS_MAX)
            c->buckets[b->place] += b->count;
    }
}

static void take_scheduler(struct rates *r, struct moment now, const struct metrics *said)
{
    struct rates_count count = {0};
    for (uint32_t i = 0; i < said->samples.count; i++)
        add_sample(&count, &said->samples.at[i]);
    bool same = r->incarnation == said->incarnation && r->at.ns != 0;
    r->over = same ? moment_since(now, r->at) : (struct span){0};
    for (int i = 0; i < RATES_RESULTS; i++)
        r->since.results[i] = same ? count.results[i] - r->last.results[i] : 0;
    for (int i = 0; i <= METRIC_BUCKETS_MAX; i++)
        r->since.buckets[i] = same ? count.buckets[i] - r->last.buckets[i] : 0;
    r->last = count;
    r->at = now;
    r->incarnation = said->incarnation;
    r->news = true;
}

static void take_queue(struct rates *r, const struct metrics *said)
{
    for (uint32_t i = 0; i < said->samples.count; i++) {
        const struct metric_sample *sample = &said->samples.at[i];
        if (!str_is(sample->metric, "scheduler_pending_pods") || sample->labels.count == 0)
            continue;
        int place = place_of(queues, RATES_QUEUES, sample->labels.at[0]);
        if (place >= 0)
            r->queues[place] = sample->value;
    }
}

void rates_take(struct rates *r, struct moment now, const struct metrics *said)
{
    if (str_is(said->process, "scheduler"))
        take_scheduler(r, now, said);
    else if (str_is(said->process, "queue"))
        take_queue(r, said);
}

/* In milliseconds; 0 when nothing was seen. */
static int64_t percentile(const struct rates_count *c, int64_t percent)
{
    return metric_percentile(METRIC_scheduler_scheduling_attempt_duration_seconds, c->buckets,
                             percent) /
           1000000;
}

void rates_tell(struct rates *r, struct buffer *out)
{
    struct json_out j = {.out = out};
    int64_t ms = span_ms(r->over);
    json_open(&j, NULL, '{');
    json_str(&j, "kind", STR_LITERAL("rates"));
    json_open(&j, "perSecond", '{');
    for (int i = 0; i < RATES_RESULTS; i++)
        json_i64(&j, results[i], ms > 0 ? (r->since.results[i] * 1000 + ms / 2) / ms : 0);
    json_close(&j, '}');
    json_open(&j, "attemptMs", '{');
    json_i64(&j, "p50", percentile(&r->since, 50));
    json_i64(&j, "p99", percentile(&r->since, 99));
    json_close(&j, '}');
    json_open(&j, "waiting", '{');
    for (int i = 0; i < RATES_QUEUES; i++)
        json_i64(&j, queues[i], r->queues[i]);
    json_close(&j, '}');
    json_close(&j, '}');
    buffer_add_text(out, "\n");
    r->news = false;
}
