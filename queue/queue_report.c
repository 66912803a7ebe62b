/* queue_report: what the queue says of itself: status, metrics, and every pod with its place. What
 * must stay true: nothing here changes anything. */
#include "proto/base/log.h"
#include "proto/metrics.h"
#include "queue/gang.h"
#include "queue/measure.h"
#include "queue/mirror.h"
#include "queue/nominated.h"
#include "queue/queue_inside.h"

#include <inttypes.h>

static int64_t oldest_pending_ms(const struct queue *q, size_t *nominated)
{
    struct moment oldest = q->now;
    size_t at = 0;
    void *value;
    *nominated = 0;
    while (map_next(q->queues.entries, &at, NULL, &value)) {
        const struct entry *e = value;
        oldest = moment_earlier(oldest, e->added);
        *nominated += e->nominated != NULL;
    }
    return span_ms(moment_since(q->now, oldest));
}

static void status_places(const struct queue *q, struct buffer *lines)
{
    const struct queues *s = &q->queues;
    size_t nominated;
    int64_t oldest = oldest_pending_ms(q, &nominated);
    buffer_print(lines, "pending=%zu\nactive=%zu\n", map_count(s->entries),
                 active_count(&s->active));
    buffer_print(lines, "backoff=%zu\nerror_backoff=%zu\n", heap_count(s->backoff.pods),
                 heap_count(s->backoff.errors));
    buffer_print(lines, "unschedulable=%zu\ngated=%zu\n",
                 s->unschedulable.list.count - s->unschedulable.gated, s->unschedulable.gated);
    buffer_print(lines, "parked=%zu\n", s->kins.parked);
    buffer_print(lines, "in_flight=%zu\nleft_in_flight=%zu\n",
                 s->in_flight.count - s->in_flight.left, s->in_flight.left);
    buffer_print(lines, "awaiting_confirmation=%zu\nnominated=%zu\n", s->bound.count, nominated);
    buffer_print(lines, "oldest_pending_ms=%" PRId64 "\n", oldest);
    for (size_t i = 0; i < plugins_count(); i++) {
        uint32_t count = s->unschedulable.by_plugin[i + 1 == plugins_count() ? 63 : i];
        if (count > 0)
            buffer_print(lines, "rejected_by_%s=%u\n", plugins_name(i), count);
    }
}

static void status_counts(const struct queue *q, struct buffer *lines)
{
    const struct queues_counts *c = &q->queues.counts;
    buffer_print(lines, "attempts=%" PRIu64 "\nbound=%" PRIu64 "\n", c->attempts, c->bound);
    buffer_print(lines, "rejected=%" PRIu64 "\nerrors=%" PRIu64 "\nskipped=%" PRIu64 "\n",
                 c->unschedulable, c->errors, c->skipped);
    buffer_print(lines, "backoff_flushed=%" PRIu64 "\nleftovers_flushed=%" PRIu64 "\n",
                 c->backoff_flushed, c->leftovers_flushed);
    buffer_print(lines, "bound_after_flush=%" PRIu64 "\n", c->bound_after_flush);
    buffer_print(lines, "popped_from_backoff=%" PRIu64 "\nspared=%" PRIu64 "\n", c->popped_early,
                 q->queues.kins.spared);
    buffer_print(lines, "events=%" PRIu64 "\nwoken=%" PRIu64 "\n", c->events, c->woken);
    buffer_print(lines, "taken_back=%" PRIu64 "\nunconfirmed=%" PRIu64 "\n", c->taken_back,
                 c->unconfirmed);
    buffer_print(lines, "late_outcomes=%" PRIu64 "\nrefused=%" PRIu64 "\n", q->count.late_outcomes,
                 q->count.refused);
    buffer_print(lines, "outdated=%" PRIu64 "\nrepeated=%" PRIu64 "\n", q->count.outdated,
                 q->count.repeated);
}

void queue_status(void *state, struct buffer *lines)
{
    const struct queue *q = state;
    buffer_print(lines, "config_generation=%" PRId64 "\nconfig_hash=%016" PRIx64 "\n",
                 q->config_generation, (uint64_t)q->config_hash);
    status_places(q, lines);
    status_counts(q, lines);
    gangs_status(&q->queues, q->now, lines);
    buffer_print(lines, "credit=%" PRId64 "\nscheduler=%s\n", q->credit,
                 q->scheduler.peer ? "up" : "down");
    buffer_print(lines, "synced=%s\nsnapshots=%" PRIu64 "\ngaps=%" PRIu64 "\n",
                 q->stream.synced ? "yes" : "no", q->stream.snapshots, q->stream.gaps);
    buffer_print(lines, "assigned=%zu\nnodes=%zu\n", mirror_pods(q->mirror),
                 mirror_nodes(q->mirror));
}

void queue_observe(void *state)
{
    const struct queue *q = state;
    metric_check("sched-handler-sync",
                 q->stream.synced ? "" : "the queue is not fully synchronized");
    measure_queues(&q->queues);
}

static void dump_entry(struct entry *e)
{
    static const char *const places[PLACE_COUNT] = {[PLACE_nowhere] = "none",
                                                    [PLACE_active] = "activeQ",
                                                    [PLACE_backoff] = "backoffQ",
                                                    [PLACE_error_backoff] = "errorBackoffQ",
                                                    [PLACE_unschedulable] = "unschedulablePods",
                                                    [PLACE_in_flight] = "inFlight",
                                                    [PLACE_gang] = "waitsWithGroup",
                                                    [PLACE_parked] = "waitsWithKin",
                                                    [PLACE_bound] = "bound"};
    struct str node = nominated_node(e);
    char uid[UUID_TEXT];
    log_info(
        "Dump of scheduling queue| queue=%s name=%.*s namespace=%.*s uid=%.*s attempts=%" PRId64
        " nominated_node=\"%.*s\"",
        places[e->place], STR_ARG(shelf_str(e->kept, TAG_pod_name)),
        STR_ARG(shelf_str(e->kept, TAG_pod_namespace_name)),
        STR_ARG(shelf_uuid(e->kept, TAG_pod_uid, uid)), e->attempts, STR_ARG(node));
}

void queue_dump(void *state)
{
    const struct queue *q = state;
    const struct queues *s = &q->queues;
    size_t at = 0;
    void *value;
    log_info(
        "Dump of scheduling queue| activeQ=%zu backoffQ=%zu unschedulablePods=%zu inFlight=%zu",
        active_count(&s->active), backoff_count(&s->backoff), s->unschedulable.list.count,
        s->in_flight.count);
    while (map_next(s->entries, &at, NULL, &value))
        dump_entry(value);
}
