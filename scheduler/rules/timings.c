/* timings: the clock between a worker's calls of plugins. The one idea: the reading that ends one
 * call begins the next, and its series is looked up once.
 *
 * What must stay true: nothing here changes what plugins are asked, or in which order; and every
 * observation is a call that was made, for as many nodes as it was about. */
#include "scheduler/rules/timings.h"

#include "proto/base/memory.h"
#include "proto/base/moment.h"
#include "proto/base/random.h"
#include "proto/metrics.h"
#include "scheduler/rules/framework.h"
#include "scheduler/rules/plugin.h"

#include <string.h>

#define SERIES   512 /* found by their hash; others are looked up each time */
#define ONCE_MAX 64  /* plugins and points of one decision; more are not seen */

#define STATUS_Skip 4 /* behind enum code */

struct timed_series {
    const struct plugin *plugin;
    uint32_t point, status;
    struct series *series;
};

/* What a plugin does once a decision, in several calls. */
struct timed_once {
    const struct plugin *plugin;
    enum timed_point point;
    bool skips;
    int64_t ns;
};

struct timings {
    struct moment (*clock)(void);
    struct random dice;
    uint64_t left; /* decisions until the next that is timed */
    const struct framework *framework;
    struct moment read, part_began;
    enum timed_part part;
    int64_t parts_ns[TIMED_PARTS];
    int64_t loop_ns; /* of the last loop */
    uint32_t once_count;
    struct timed_once once[ONCE_MAX];
    struct timed_series series[SERIES];
};

struct timings *timings_new(struct moment (*clock)(void))
{
    struct timings *t = memory_take(sizeof(*t));
    t->clock = clock;
    t->left = 1;
    return t;
}

void timings_free(struct timings **t)
{
    memory_free(*t);
    *t = NULL;
}

/* ---- a decision ---- */

bool timings_begin(struct timings *t)
{
    if (--t->left > 0)
        return false;
    /* at random, as pods come in patterns; one in TIMED_ONE_IN on average */
    t->left = 1 + random_below(&t->dice, 2 * TIMED_ONE_IN - 1);
    t->framework = NULL;
    t->once_count = 0;
    memset(t->parts_ns, 0, sizeof(t->parts_ns));
    t->part = PART_pre_filter;
    t->part_began = t->read = t->clock();
    return true;
}

void timings_profile(struct timings *t, const struct framework *fw)
{
    t->framework = fw;
}

void timings_read_part(struct timings *t, enum timed_part part)
{
    t->read = t->clock();
    t->parts_ns[t->part] += moment_since(t->read, t->part_began).ns;
    t->part_began = t->read;
    t->part = part;
}

void timings_read_start(struct timings *t)
{
    t->read = t->clock();
}

static int64_t took(struct timings *t)
{
    struct moment began = t->read;
    t->read = t->clock();
    return moment_since(t->read, began).ns;
}

/* ---- series ---- */

static struct series *look_up(const struct plugin *p, enum timed_point point, uint32_t status)
{
    static const char *const points[] = {"PreFilter", "Filter", "PreScore", "Score",
                                         "ScoreExtensionNormalize"};
    const char *name = status == STATUS_Skip ? "Skip" : code_name((enum code)status);
    return metric_series(METRIC_scheduler_plugin_execution_duration_seconds,
                         METRIC_VALUES(str_of(p->name), str_of(points[point]), str_of(name)));
}

static struct series *series_of(struct timings *t, const struct plugin *p, enum timed_point point,
                                uint32_t status)
{
    uint64_t hash = ((uint64_t)(uintptr_t)p >> 4) * 25 + (uint64_t)point * 5 + status;
    struct timed_series *s = &t->series[hash * 0x9e3779b97f4a7c15u >> 55];
    _Static_assert(SERIES == 1 << (64 - 55), "the hash's upper bits are a place");
    if (s->plugin != p || s->point != point || s->status != status)
        *s = (struct timed_series){p, point, status, look_up(p, point, status)};
    return s->series;
}

/* ---- calls ---- */

void timings_read_call(struct timings *t, enum timed_point point, const struct plugin *p,
                       enum code code, uint32_t nodes)
{
    if (nodes > 0)
        series_observe_each(series_of(t, p, point, code), took(t), nodes);
}

void timings_read_loop_end(struct timings *t)
{
    t->loop_ns = took(t);
}

void timings_loop(struct timings *t, const struct plugin *p, uint32_t nodes, uint32_t rejected,
                  enum code code)
{
    int64_t ns = t->loop_ns, theirs = nodes > 0 ? ns / nodes * rejected : 0;
    if (nodes > rejected)
        series_observe_each(series_of(t, p, TIMED_Filter, CODE_success), ns - theirs,
                            nodes - rejected);
    if (rejected > 0)
        series_observe_each(series_of(t, p, TIMED_Filter, code), theirs, rejected);
}

static bool lists(const struct plugin *const *at, uint32_t count, const struct plugin *p)
{
    uint32_t i = 0;
    while (i < count && at[i] != p)
        i++;
    return i < count;
}

static bool is_listed(const struct timings *t, enum timed_point point, const struct plugin *p)
{
    const struct framework *fw = t->framework;
    if (fw == NULL)
        return false;
    return point == TIMED_PreFilter  ? lists(fw->pre_filter, fw->pre_filter_count, p)
           : point == TIMED_PreScore ? lists(fw->pre_score, fw->pre_score_count, p)
                                     : p->normalise != NORMALISE_none;
}

void timings_read_once(struct timings *t, enum timed_point point, const struct plugin *p,
                       bool skips)
{
    int64_t ns = took(t);
    uint32_t i = 0;
    while (i < t->once_count && (t->once[i].plugin != p || t->once[i].point != point))
        i++;
    if (i == ONCE_MAX || !is_listed(t, point, p))
        return;
    if (i == t->once_count)
        t->once[t->once_count++] = (struct timed_once){.plugin = p, .point = point};
    t->once[i].ns += ns;
    t->once[i].skips |= skips;
}

void timings_end(struct timings *t, struct timed_parts *out)
{
    timings_read_part(t, PART_score);
    for (uint32_t i = 0; i < t->once_count; i++) {
        const struct timed_once *o = &t->once[i];
        series_observe(series_of(t, o->plugin, o->point, o->skips ? STATUS_Skip : CODE_success),
                       o->ns);
    }
    *out = (struct timed_parts){.pre_filter_ns = t->parts_ns[PART_pre_filter],
                                .filter_ns = t->parts_ns[PART_filter],
                                .pre_score_ns = t->parts_ns[PART_pre_score],
                                .score_ns = t->parts_ns[PART_score]};
}
