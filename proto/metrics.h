/* metrics: what this process has counted. As with the log there is one set a process: it is written
 * where things happen and read by nobody but the report, so it decides nothing and no core takes it
 * as an argument.
 *
 * What to count is declared in metrics.def. A series is one combination of label values; finding it
 * costs a hash, adding to one that is held costs an addition and never allocates. There are at most
 * METRIC_SERIES_MAX series a process: what would be one more goes to a series that is not shown,
 * and cardinality_enforcement_unexpected_categorizations_total counts it. Series live until
 * metrics_reset(), which only tests call. Not for several threads. */
#ifndef METRICS_H
#define METRICS_H

#include "proto/base/arena.h"
#include "proto/base/moment.h"
#include "proto/messages.h"

#define METRIC_LABELS_MAX  9
#define METRIC_BUCKETS_MAX 20
#define METRIC_SERIES_MAX  4096
#define METRIC_CHECKS_MAX  16

enum metric {
#define METRIC(name, kind, stability, merge, unit, buckets, help, ...) METRIC_##name,
#include "proto/metrics.def"
#undef METRIC
    METRIC_COUNT
};

enum metric_kind { METRIC_counter, METRIC_gauge, METRIC_histogram };
enum metric_merge { METRIC_SUM, METRIC_FIRST, METRIC_MOST, METRIC_EACH };
enum metric_unit { METRIC_ONE, METRIC_SECONDS };

struct metric_info {
    const char *name, *help;
    const char *stability; /* "STABLE", …; "" when it is not graded */
    enum metric_kind kind;
    enum metric_merge merge;
    enum metric_unit unit;
    const char *labels[METRIC_LABELS_MAX];
    uint32_t label_count;
    uint32_t bucket_count;              /* upper bounds, without the infinite one */
    double bounds[METRIC_BUCKETS_MAX];  /* as they are shown */
    int64_t limits[METRIC_BUCKETS_MAX]; /* the same in the unit that is kept */
};

const struct metric_info *metric_info(enum metric metric);
/* METRIC_COUNT when no metric has that name. */
enum metric metric_of(struct str name);
/* Of a histogram's buckets, of which there is one more than it has bounds: the bound below which so
 * many percent of what it saw lie, in the unit that is kept; of what is above the last bound, that
 * one. 0 when nothing was seen. */
int64_t metric_percentile(enum metric metric, const int64_t *buckets, int64_t percent);

struct series {
    enum metric metric;
    bool read;        /* it was set since the report before; gauges that are not are left out */
    int64_t value;    /* a counter's, a gauge's, or the sum of what a histogram saw */
    int64_t *buckets; /* histograms: how often, bucket by bucket; one more than bucket_count */
    struct str labels[METRIC_LABELS_MAX];
    uint64_t hash;
    struct series *next;
};

/* The series with these values of the labels, in the order of the declaration; those behind the
 * last label are not looked at. Never NULL; created when it is new. */
struct series *metric_series(enum metric metric, const struct str *values);
#define METRIC_VALUES(...) ((const struct str[METRIC_LABELS_MAX]){__VA_ARGS__})

static inline void series_add(struct series *s, int64_t more)
{
    s->value += more;
}

/* In the unit that is kept: nanoseconds for SECONDS. */
void series_observe(struct series *s, int64_t value);
/* So many at once, which share the sum evenly; times > 0. */
void series_observe_each(struct series *s, int64_t sum, uint32_t times);
void series_set(struct series *s, int64_t value);

/* The same for a metric without labels. */
void metric_add(enum metric metric, int64_t more);
void metric_observe(enum metric metric, int64_t value);
void metric_set(enum metric metric, int64_t value);
/* The same for a metric with one label. */
void metric_add_to(enum metric metric, const char *value, int64_t more);
void metric_set_to(enum metric metric, const char *value, int64_t to);

/* Something that may be wrong with this process, such as "sched-handler-sync": why, or "" while it
 * is well. name is borrowed for good; the reason is copied. */
void metric_check(const char *name, const char *reason);
/* What is worth telling of the same although it is well; "" when nothing is. */
void metric_check_note(const char *name, const char *note);
/* The minor version of Kubernetes that this process decides as. */
void metric_release(int64_t minor);

/* Calls fn(state) before each report (or, when only is_checks, before each report of the checks):
 * the place to set gauges and checks from what is known. NULL fn: forgets all for that state. */
void metrics_on_report(void (*fn)(void *state), void *state);

/* Everything, for the message `metrics`; in the arena. Gauges that nobody set since the last report
 * are left out: what they spoke of is gone. checks_only: no samples. */
void metrics_fill(struct metrics *out, bool checks_only, struct arena *a);
/* Forgets all series, checks and callbacks. */
void metrics_reset(void);

#endif
