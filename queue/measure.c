/* measure: counts what moves between the queues and says how much is in each. Gauges are summed up
 * when somebody asks, so that moving a pod costs one addition. */
#include "queue/measure.h"

#include "proto/metrics.h"
#include "queue/hints.h"
#include "queue/places.h"

#define PROFILES_MAX 16

/* Texts are told apart by where they lie: it costs less than to compare them. */
void measure_incoming(struct measured *m, const char *queue, const char *cause)
{
    size_t i = 0;
    while (i < MEASURED_MAX - 1 && m->incoming[i].series != NULL &&
           (m->incoming[i].cause != cause || m->incoming[i].queue != queue))
        i++;
    if (m->incoming[i].series == NULL || m->incoming[i].cause != cause ||
        m->incoming[i].queue != queue) {
        m->incoming[i].cause = cause;
        m->incoming[i].queue = queue;
        m->incoming[i].series = metric_series(METRIC_scheduler_queue_incoming_pods_total,
                                              METRIC_VALUES(str_of(cause), str_of(queue)));
    }
    series_add(m->incoming[i].series, 1);
}

void measure_message(struct measured *m)
{
    if (m->clock != NULL)
        m->began = m->clock();
}

void measure_handled(struct measured *m, const char *label)
{
    size_t i = 0;
    if (m->clock == NULL)
        return;
    struct moment now = m->clock();
    while (i < MEASURED_MAX - 1 && m->handled[i].series != NULL && m->handled[i].label != label)
        i++;
    if (m->handled[i].series == NULL || m->handled[i].label != label) {
        m->handled[i].label = label;
        m->handled[i].series = metric_series(METRIC_scheduler_event_handling_duration_seconds,
                                             METRIC_VALUES(str_of(label)));
    }
    series_observe(m->handled[i].series, moment_since(now, m->began).ns);
    m->began = now;
}

static struct str profile_of(const struct entry *e)
{
    return e->around->profile != NULL ? e->around->profile->scheduler_name
                                      : STR_LITERAL("default-scheduler");
}

static bool is_of(const struct series *s, const struct entry *e)
{
    return str_equal(s->labels[1], profile_of(e));
}

/* Whatever the gates say: upstream's status is always Success. */
void measure_pre_enqueue(struct measured *m, const struct entry *e)
{
    struct series **s = m->gates;
    size_t i = 0;
    while (i < MEASURED_MAX - 1 && s[i] != NULL && !is_of(s[i], e))
        i++;
    if (s[i] == NULL || !is_of(s[i], e))
        s[i] = metric_series(
            METRIC_scheduler_framework_extension_point_duration_seconds,
            METRIC_VALUES(STR_LITERAL("PreEnqueue"), profile_of(e), STR_LITERAL("Success")));
    series_observe(s[i], 0);
}

/* ---- gauges ---- */

struct tally_of {
    struct str profile;
    int64_t by_plugin[64];
};

/* What rejected it stays said until it is tried again. */
static bool was_rejected(const struct entry *e)
{
    return (e->place == PLACE_active || e->place == PLACE_backoff ||
            e->place == PLACE_unschedulable || e->place == PLACE_parked) &&
           (e->rejectors | e->pending_plugins) != 0;
}

static void count_entry(struct tally_of *all, const struct entry *e)
{
    struct str profile = profile_of(e);
    uint64_t set = e->rejectors | e->pending_plugins;
    int at = 0;
    while (at < PROFILES_MAX && all[at].profile.len > 0 && !str_equal(all[at].profile, profile))
        at++;
    if (at == PROFILES_MAX)
        return;
    all[at].profile = profile;
    for (size_t i = 0; i < plugins_count(); i++)
        all[at].by_plugin[i] += plugins_has(set, i);
}

static void measure_rejections(const struct queues *q)
{
    static struct tally_of all[PROFILES_MAX];
    size_t at = 0;
    void *value;
    for (int i = 0; i < PROFILES_MAX; i++)
        all[i] = (struct tally_of){.profile = {NULL, 0}};
    while (map_next(q->entries, &at, NULL, &value))
        if (was_rejected(value))
            count_entry(all, value);
    for (int i = 0; i < PROFILES_MAX && all[i].profile.len > 0; i++)
        for (size_t k = 0; k < plugins_count(); k++)
            if (all[i].by_plugin[k] > 0)
                series_set(metric_series(METRIC_scheduler_unschedulable_pods,
                                         METRIC_VALUES(str_of(plugins_name(k)), all[i].profile)),
                           all[i].by_plugin[k]);
}

/* Members that wait with their groups, by what upstream would call it. */
struct grouped {
    size_t active, backoff, waiting;
};

static struct grouped count_grouped(const struct gangs *gs)
{
    struct grouped t = {0};
    size_t at = 0;
    void *value;
    while (map_next(gs->groups, &at, NULL, &value)) {
        const struct group *g = value;
        if (g->state == GROUP_ready)
            t.active += g->ready.count;
        else if (g->state == GROUP_backoff)
            t.backoff += g->ready.count;
        else
            t.waiting += g->ready.count;
    }
    return t;
}

void measure_queues(const struct queues *q)
{
    size_t gated = q->unschedulable.gated;
    struct grouped grouped = count_grouped(&q->gangs);
    metric_set_to(METRIC_scheduler_pending_pods, "active",
                  (int64_t)(active_count(&q->active) + grouped.active));
    metric_set_to(METRIC_scheduler_pending_pods, "backoff",
                  (int64_t)(backoff_count(&q->backoff) + grouped.backoff));
    metric_set_to(METRIC_scheduler_pending_pods, "gated", (int64_t)gated);
    metric_set_to(
        METRIC_scheduler_pending_pods, "unschedulable",
        (int64_t)(q->unschedulable.list.count - gated + q->equivalence.parked + grouped.waiting));
    metric_set_to(METRIC_scheduler_inflight_events, "PodPopped", (int64_t)q->in_flight.count);
    measure_rejections(q);
}
