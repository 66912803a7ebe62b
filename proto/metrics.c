/* metrics: one table of series, found by a hash over the metric and the values of its labels.
 *
 * What must stay true: a series never moves, because whoever counts often holds a pointer to it;
 * and counting allocates nothing once the series is there. */
#include "proto/metrics.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SLOTS         1024
#define OBSERVERS_MAX 8
#define REASON_MAX    200

struct buckets_spec {
    double start, factor;
    uint32_t count;
    const double *list;
};

static const double latencies[] = {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};
static const double decisions[] = {0.0001, 0.0002, 0.0003, 0.0004, 0.0005, 0.0006, 0.0008,
                                   0.001,  0.0012, 0.0015, 0.002,  0.003,  0.004,  0.006,
                                   0.01,   0.02,   0.05,   0.1,    0.5,    1};
static const double moments[] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
static const double reviews[] = {0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10};
static const double sizes[] = {64,    256,    512,     1024,    4096,    16384,
                               65536, 262144, 1048576, 4194304, 16777216};

#define EXPONENTIAL(start, factor, count) ((struct buckets_spec){start, factor, count, NULL})
#define LIST(table)                       ((struct buckets_spec){0, 0, sizeof(table) / sizeof((table)[0]), table})
#define NO_BUCKETS                        ((struct buckets_spec){0, 0, 0, NULL})
#define NAME_STABLE                       "STABLE"
#define NAME_BETA                         "BETA"
#define NAME_ALPHA                        "ALPHA"
#define NAME_NONE                         ""

static struct metric_info infos[METRIC_COUNT] = {
#define METRIC(name_, kind_, stability_, merge_, unit_, buckets_, help_, ...)                      \
    [METRIC_##name_] = {.name = #name_,                                                            \
                        .help = (help_),                                                           \
                        .stability = NAME_##stability_,                                            \
                        .kind = METRIC_##kind_,                                                    \
                        .merge = METRIC_##merge_,                                                  \
                        .unit = METRIC_##unit_,                                                    \
                        .labels = {__VA_ARGS__}},
#include "proto/metrics.def"
#undef METRIC
};

struct observer {
    void (*fn)(void *state);
    void *state;
};

struct check {
    const char *name;
    char reason[REASON_MAX], note[REASON_MAX];
};

static struct {
    bool ready; /* infos are filled in */
    struct series *slots[SLOTS];
    struct series *single[METRIC_COUNT]; /* of metrics without labels */
    struct series *hidden[METRIC_COUNT]; /* what is more than the bound */
    uint32_t count;
    struct observer observers[OBSERVERS_MAX];
    struct check checks[METRIC_CHECKS_MAX];
    uint32_t check_count;
    int64_t release; /* that is decided as */
} all;

/* ---- the declarations ---- */

static void fill_bounds(struct metric_info *info, struct buckets_spec spec)
{
    double bound = spec.start;
    must(spec.count <= METRIC_BUCKETS_MAX && (spec.count > 0) == (info->kind == METRIC_histogram));
    info->bucket_count = spec.count;
    for (uint32_t i = 0; i < spec.count; i++) {
        info->bounds[i] = spec.list ? spec.list[i] : bound;
        bound *= spec.factor; /* one after the other, as upstream: the last digits show */
        info->limits[i] = llround(info->bounds[i] * (info->unit == METRIC_SECONDS ? 1e9 : 1));
    }
}

static void prepare(void)
{
    if (all.ready)
        return;
    all.ready = true;
#define METRIC(name, kind, stability, merge, unit, buckets, help, ...)                             \
    fill_bounds(&infos[METRIC_##name], buckets);
#include "proto/metrics.def"
#undef METRIC
    for (int i = 0; i < METRIC_COUNT; i++)
        while (infos[i].label_count < METRIC_LABELS_MAX && infos[i].labels[infos[i].label_count])
            infos[i].label_count++;
}

const struct metric_info *metric_info(enum metric metric)
{
    prepare();
    return &infos[metric];
}

int64_t metric_percentile(enum metric metric, const int64_t *buckets, int64_t percent)
{
    const struct metric_info *info = metric_info(metric);
    int64_t seen = 0, below = 0;
    for (uint32_t i = 0; i <= info->bucket_count; i++)
        seen += buckets[i];
    for (uint32_t i = 0; i <= info->bucket_count && seen > 0; i++) {
        below += buckets[i];
        if (below * 100 >= seen * percent)
            return info->limits[i < info->bucket_count ? i : info->bucket_count - 1];
    }
    return 0;
}

enum metric metric_of(struct str name)
{
    int i = 0;
    while (i < METRIC_COUNT && !str_is(name, infos[i].name))
        i++;
    return (enum metric)i;
}

/* ---- series ---- */

static struct series *make(enum metric metric, const struct str *values)
{
    const struct metric_info *info = metric_info(metric);
    struct series *s = memory_take(sizeof(*s));
    s->metric = metric;
    if (info->kind == METRIC_histogram)
        s->buckets = memory_take_array(info->bucket_count + 1, sizeof(*s->buckets));
    for (uint32_t i = 0; values != NULL && i < info->label_count; i++)
        s->labels[i] = str_keep(values[i]);
    return s;
}

static void unmake(struct series *s)
{
    if (s == NULL)
        return;
    for (uint32_t i = 0; i < METRIC_LABELS_MAX; i++)
        if (s->labels[i].at != NULL)
            str_drop(&s->labels[i]);
    memory_free(s->buckets);
    memory_free(s);
}

static struct series *single(enum metric metric)
{
    must(metric_info(metric)->label_count == 0);
    if (all.single[metric] == NULL)
        all.single[metric] = make(metric, NULL);
    return all.single[metric];
}

static struct series *hidden(enum metric metric)
{
    if (all.hidden[metric] == NULL)
        all.hidden[metric] = make(metric, NULL);
    metric_add(METRIC_cardinality_enforcement_unexpected_categorizations_total, 1);
    return all.hidden[metric];
}

static bool same(const struct series *s, const struct str *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!str_equal(s->labels[i], values[i]))
            return false;
    return true;
}

struct series *metric_series(enum metric metric, const struct str *values)
{
    uint32_t count = metric_info(metric)->label_count;
    uint64_t hash = (uint64_t)metric * 0x9e3779b97f4a7c15u;
    if (count == 0)
        return single(metric);
    for (uint32_t i = 0; i < count; i++)
        hash = (hash ^ str_hash(values[i])) * 0x100000001b3u;
    struct series **slot = &all.slots[(hash ^ hash >> 32) % SLOTS];
    for (struct series *s = *slot; s != NULL; s = s->next)
        if (s->hash == hash && s->metric == metric && same(s, values, count))
            return s;
    if (all.count == METRIC_SERIES_MAX)
        return hidden(metric);
    struct series *s = make(metric, values);
    s->hash = hash;
    s->next = *slot;
    *slot = s;
    all.count++;
    return s;
}

void series_observe(struct series *s, int64_t value)
{
    const struct metric_info *info = &infos[s->metric];
    uint32_t i = 0;
    while (i < info->bucket_count && value > info->limits[i])
        i++;
    s->buckets[i]++;
    s->value += value;
}

void series_observe_each(struct series *s, int64_t sum, uint32_t times)
{
    const struct metric_info *info = &infos[s->metric];
    int64_t value = sum / times;
    uint32_t i = 0;
    while (i < info->bucket_count && value > info->limits[i])
        i++;
    s->buckets[i] += times;
    s->value += sum;
}

void series_set(struct series *s, int64_t value)
{
    s->value = value;
    s->read = true;
}

void metric_add(enum metric metric, int64_t more)
{
    series_add(single(metric), more);
}

void metric_observe(enum metric metric, int64_t value)
{
    series_observe(single(metric), value);
}

void metric_set(enum metric metric, int64_t value)
{
    series_set(single(metric), value);
}

void metric_add_to(enum metric metric, const char *value, int64_t more)
{
    series_add(metric_series(metric, METRIC_VALUES(str_of(value))), more);
}

void metric_set_to(enum metric metric, const char *value, int64_t to)
{
    series_set(metric_series(metric, METRIC_VALUES(str_of(value))), to);
}

static struct check *check_of(const char *name)
{
    uint32_t i = 0;
    while (i < all.check_count && strcmp(all.checks[i].name, name) != 0)
        i++;
    must(i < METRIC_CHECKS_MAX);
    if (i == all.check_count)
        all.checks[all.check_count++].name = name;
    return &all.checks[i];
}

void metric_check(const char *name, const char *reason)
{
    snprintf(check_of(name)->reason, REASON_MAX, "%s", reason);
}

void metric_check_note(const char *name, const char *note)
{
    snprintf(check_of(name)->note, REASON_MAX, "%s", note);
}

void metric_release(int64_t minor)
{
    all.release = minor;
}

/* ---- the report ---- */

void metrics_on_report(void (*fn)(void *state), void *state)
{
    int place = -1;
    for (int i = 0; i < OBSERVERS_MAX; i++) {
        if (fn == NULL && all.observers[i].state == state)
            all.observers[i] = (struct observer){NULL, NULL};
        if (fn != NULL && place < 0 && all.observers[i].fn == NULL)
            place = i;
    }
    if (fn == NULL)
        return;
    must(place >= 0);
    all.observers[place] = (struct observer){fn, state};
}

static void fill_checks(struct metrics *out, struct arena *a)
{
    out->checks.at = arena_take(a, all.check_count * sizeof(*out->checks.at));
    for (uint32_t i = 0; i < all.check_count; i++)
        out->checks.at[out->checks.count++] =
            (struct health_check){.name = str_of(all.checks[i].name),
                                  .reason = arena_copy(a, str_of(all.checks[i].reason)),
                                  .note = arena_copy(a, str_of(all.checks[i].note))};
}

static void fill_buckets(const struct series *s, struct metric_sample *sample, struct arena *a)
{
    uint32_t count = infos[s->metric].bucket_count + 1;
    sample->buckets.at = arena_take(a, count * sizeof(*sample->buckets.at));
    for (uint32_t i = 0; i < count; i++)
        if (s->buckets[i] != 0)
            sample->buckets.at[sample->buckets.count++] =
                (struct metric_bucket){.place = i, .count = s->buckets[i]};
}

static void fill_one(struct series *s, struct metrics *out, struct arena *a)
{
    const struct metric_info *info = &infos[s->metric];
    if (info->kind == METRIC_gauge && !s->read)
        return;
    s->read = false;
    struct metric_sample *sample = &out->samples.at[out->samples.count++];
    *sample = (struct metric_sample){.metric = str_of(info->name), .value = s->value};
    sample->labels = (struct strs){info->label_count, s->labels};
    if (info->kind == METRIC_histogram)
        fill_buckets(s, sample, a);
}

void metrics_fill(struct metrics *out, bool checks_only, struct arena *a)
{
    prepare();
    for (int i = 0; i < OBSERVERS_MAX; i++)
        if (all.observers[i].fn != NULL)
            all.observers[i].fn(all.observers[i].state);
    fill_checks(out, a);
    out->release = all.release;
    if (checks_only)
        return;
    out->samples.at = arena_take(a, (all.count + METRIC_COUNT) * sizeof(*out->samples.at));
    for (int i = 0; i < METRIC_COUNT; i++)
        if (all.single[i] != NULL)
            fill_one(all.single[i], out, a);
    for (int i = 0; i < SLOTS; i++)
        for (struct series *s = all.slots[i]; s != NULL; s = s->next)
            fill_one(s, out, a);
}

void metrics_reset(void)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        unmake(all.single[i]);
        unmake(all.hidden[i]);
    }
    for (int i = 0; i < SLOTS; i++)
        while (all.slots[i] != NULL) {
            struct series *s = all.slots[i];
            all.slots[i] = s->next;
            unmake(s);
        }
    bool ready = all.ready;
    memset(&all, 0, sizeof(all));
    all.ready = ready;
}
