/* measure: counts what moves between the queues and says how much is in each. Gauges are summed up
 * when somebody asks, so that moving a pod costs one addition. */
#include "queue/measure.h"

#include "proto/metrics.h"
#include "queue/hints.h"
#include "queue/places.h"

#define PROFILES_MAX 16

static const char *const queue_names[] = {"active", "backoff", "unschedulable", "gated"};
static const char *const kind_names[] = {"pod", "podgroup"};

/* Texts are told apart by where they lie: it costs less than to compare them. */
static bool is_same(const struct counted *a, const struct counted *b)
{
    return a->cause == b->cause && a->where == b->where && a->kind == b->kind;
}

static void count(struct counted *all, enum metric metric, struct counted what)
{
    const struct str *values = METRIC_VALUES(str_of(what.cause), str_of(queue_names[what.where]),
                                             str_of(kind_names[what.kind]));
    size_t i = 0;
    while (i < MEASURED_MAX - 1 && all[i].series != NULL && !is_same(&all[i], &what))
        i++;
    if (all[i].series == NULL || !is_same(&all[i], &what)) {
        all[i] = what;
        all[i].series = metric_series(metric, values);
    }
    series_add(all[i].series, 1);
}

void measure_incoming(struct measured *m, enum queued_in where, const char *cause)
{
    count(m->pods, METRIC_scheduler_queue_incoming_pods_total,
          (struct counted){.cause = cause, .where = where});
}

void measure_entity(struct measured *m, enum queued kind, enum queued_in where, const char *cause)
{
    count(m->entities, METRIC_scheduler_queue_incoming_entities_total,
          (struct counted){.cause = cause, .kind = kind, .where = where});
}

void measure_seen(struct measured *m, enum queued kind, enum queued_in where)
{
    m->seen[kind][where] = true;
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
    for (; set != 0; set &= set - 1)
        all[at].by_plugin[__builtin_ctzll(set)]++;
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
        for (size_t k = 0; k < 64; k++) {
            const char *name = plugins_behind(&q->named, k);
            if (name != NULL && all[i].by_plugin[k] > 0)
                series_set(metric_series(METRIC_scheduler_unschedulable_pods,
                                         METRIC_VALUES(str_of(name), all[i].profile)),
                           all[i].by_plugin[k]);
        }
}

/* Members that wait with their groups, by what upstream would call it. */
struct grouped {
    size_t active, backoff, waiting;
    size_t incomplete, pending; /* there is no PodGroup; its attempt is under way */
};

/* As 1.37 has them; before, pods of an in-tree group were unschedulable whatever it was about. */
static bool is_told_apart(const struct group *g)
{
    return group_is_in_tree(g) && g->around != NULL && g->around->profile != NULL &&
           g->around->profile->features.release >= 37;
}

static void count_members(struct grouped *t, const struct group *g)
{
    size_t count = g->ready.count;
    if (g->state == GROUP_ready)
        t->active += count;
    else if (g->state == GROUP_backoff)
        t->backoff += count;
    else if (is_told_apart(g) && (g->state == GROUP_unread || g->state == GROUP_missing))
        t->incomplete += count;
    else if (is_told_apart(g) && g->state == GROUP_flying)
        t->pending += count;
    else
        t->waiting += count;
}

static struct grouped count_grouped(const struct gangs *gs)
{
    struct grouped t = {0};
    size_t at = 0;
    void *value;
    while (map_next(gs->groups, &at, NULL, &value))
        count_members(&t, value);
    return t;
}

static bool place_of(const struct entry *e, enum queued_in *where)
{
    switch (e->place) {
    case PLACE_active: *where = IN_active; return true;
    case PLACE_backoff:
    case PLACE_error_backoff: *where = IN_backoff; return true;
    case PLACE_parked: *where = IN_unschedulable; return true;
    case PLACE_unschedulable:
        *where = e->gate != GATE_none ? IN_gated : IN_unschedulable;
        return true;
    case PLACE_gang: /* of an API that upstream knows by a plugin: pods like others */
        *where = e->member->group->state == GROUP_ready     ? IN_active
                 : e->member->group->state == GROUP_backoff ? IN_backoff
                                                            : IN_unschedulable;
        return true;
    case PLACE_nowhere:
    case PLACE_in_flight:
    case PLACE_bound:
    case PLACE_COUNT: break;
    }
    return false;
}

bool measure_place_of_group(const struct group *g, enum queued_in *where)
{
    static const enum queued_in places[GROUP_STATES] = {
        [GROUP_idle] = IN_unschedulable,  [GROUP_few] = IN_gated,
        [GROUP_gated] = IN_gated,         [GROUP_mixed] = IN_unschedulable,
        [GROUP_large] = IN_unschedulable, [GROUP_denied] = IN_unschedulable,
        [GROUP_short] = IN_unschedulable, [GROUP_backoff] = IN_backoff,
        [GROUP_ready] = IN_active};
    *where = places[g->state];
    return group_is_in_tree(g) && g->exists && !g->satisfied && g->member_count > g->bound &&
           g->state != GROUP_flying && g->state != GROUP_unread && g->state != GROUP_missing;
}

static void measure_entities(const struct queues *q)
{
    int64_t count[QUEUED_KINDS][IN_QUEUES] = {{0}};
    size_t at = 0;
    void *value;
    enum queued_in where;
    while (map_next(q->entries, &at, NULL, &value))
        if (!group_stands_for(value) && place_of(value, &where))
            count[QUEUED_pod][where]++;
    at = 0;
    while (map_next(q->gangs.groups, &at, NULL, &value))
        if (measure_place_of_group(value, &where))
            count[QUEUED_podgroup][where]++;
    for (int kind = 0; kind < QUEUED_KINDS; kind++)
        for (int i = 0; i < IN_QUEUES; i++)
            if (count[kind][i] > 0 || q->measured.seen[kind][i])
                series_set(
                    metric_series(METRIC_scheduler_queued_entities,
                                  METRIC_VALUES(str_of(queue_names[i]), str_of(kind_names[kind]))),
                    count[kind][i]);
}

void measure_oldest(const struct queues *q, struct moment now)
{
    int64_t oldest[IN_QUEUES] = {0};
    size_t at = 0;
    void *value;
    enum queued_in where;
    while (map_next(q->entries, &at, NULL, &value)) {
        const struct entry *e = value;
        int64_t waited = moment_since(now, e->added).ns;
        if (place_of(e, &where) && waited > oldest[where])
            oldest[where] = waited;
    }
    for (int i = 0; i < IN_QUEUES; i++)
        metric_set_to(METRIC_berth_oldest_pending_seconds, queue_names[i], oldest[i]);
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
    metric_set_to(METRIC_scheduler_pending_pods, "incomplete", (int64_t)grouped.incomplete);
    metric_set_to(METRIC_scheduler_pending_pods, "pending", (int64_t)grouped.pending);
    metric_set_to(
        METRIC_scheduler_pending_pods, "unschedulable",
        (int64_t)(q->unschedulable.list.count - gated + q->equivalence.parked + grouped.waiting));
    metric_set_to(METRIC_scheduler_inflight_events, "PodPopped", (int64_t)q->in_flight.count);
    measure_entities(q);
    measure_rejections(q);
}
