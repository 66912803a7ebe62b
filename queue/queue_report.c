/* queue_report: what the queue says of itself: status, metrics, every pod with its place, and which
 * pods wait, for whoever asks. What must stay true: nothing here changes anything, and each
 * question gets one answer, of bounded size. */
#include "proto/base/log.h"
#include "proto/bus/holdings.h"
#include "proto/metrics.h"
#include "queue/bus_plugins/held.h"
#include "queue/measure.h"
#include "queue/mirror.h"
#include "queue/nominated.h"
#include "queue/queue_inside.h"

#include <inttypes.h>
#include <stdlib.h>

#define NAMED_MAX  50   /* groups */
#define ASKED_MOST 1000 /* pods in an answer */

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
    buffer_print(lines, "parked=%zu\n", s->equivalence.parked);
    buffer_print(lines, "in_flight=%zu\nleft_in_flight=%zu\n",
                 s->in_flight.count - s->in_flight.left, s->in_flight.left);
    buffer_print(lines, "awaiting_confirmation=%zu\nnominated=%zu\n", s->bound.count, nominated);
    buffer_print(lines, "oldest_pending_ms=%" PRId64 "\n", oldest);
    for (size_t i = 0; i < 64; i++) {
        const char *name = plugins_behind(&s->named, i);
        uint32_t count = s->unschedulable.by_plugin[i];
        if (count > 0 && name != NULL)
            buffer_print(lines, "rejected_by_%s=%u\n", name, count);
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
                 q->queues.equivalence.spared);
    buffer_print(lines, "events=%" PRIu64 "\nwoken=%" PRIu64 "\n", c->events, c->woken);
    buffer_print(lines, "taken_back=%" PRIu64 "\nunconfirmed=%" PRIu64 "\n", c->taken_back,
                 c->unconfirmed);
    buffer_print(lines, "late_outcomes=%" PRIu64 "\nrefused=%" PRIu64 "\n", q->count.late_outcomes,
                 q->count.refused);
    buffer_print(lines, "outdated=%" PRIu64 "\nrepeated=%" PRIu64 "\n", q->count.outdated,
                 q->count.repeated);
}

/* ---- groups ---- */

static const char *state_name(enum group_state state)
{
    static const char *const names[GROUP_STATES] = {
        [GROUP_idle] = "waits-for-events",    [GROUP_flying] = "in-flight",
        [GROUP_unread] = "pod-groups-unread", [GROUP_missing] = "no-pod-group",
        [GROUP_few] = "too-few-pods",         [GROUP_gated] = "gated-pods",
        [GROUP_mixed] = "several-schedulers", [GROUP_large] = "too-large",
        [GROUP_denied] = "failed-recently",   [GROUP_short] = "resource-gap",
        [GROUP_backoff] = "backoff",          [GROUP_ready] = "ready"};
    return state < GROUP_STATES ? names[state] : "";
}

static bool is_waiting(const struct group *g)
{
    return !g->satisfied && g->member_count > 0;
}

/* Keeps the oldest, in order. */
static size_t insert(const struct group **list, size_t count, const struct group *g)
{
    size_t i = count < NAMED_MAX ? count : NAMED_MAX - 1;
    if (count == NAMED_MAX && g->since.ns >= list[i]->since.ns)
        return count;
    for (; i > 0 && list[i - 1]->since.ns > g->since.ns; i--)
        list[i] = list[i - 1];
    list[i] = g;
    return count < NAMED_MAX ? count + 1 : count;
}

static void print_group(const struct group *g, struct moment now, struct buffer *lines)
{
    buffer_print(lines,
                 "group:%.*s/%.*s=%s,placed:%" PRId64 ",needed:%" PRId64 ",min:%" PRId64
                 ",pending:%zu,ready:%zu,in_flight:%zu,failures:%" PRId64 ",waiting_s:%" PRId64
                 "\n",
                 STR_ARG(g->space), STR_ARG(g->name), state_name(g->state), group_placed(g),
                 group_needed(g), group_least(g), g->member_count - g->bound, g->ready.count,
                 g->flights, g->failures, span_ms(moment_since(now, g->since)) / 1000);
}

/* Of thousands of groups only those that have waited longest are named, the others are counted by
 * what they wait for. */
static void status_groups(const struct queue *q, struct buffer *lines)
{
    const struct gangs *gs = &q->queues.gangs;
    const struct group *oldest[NAMED_MAX];
    size_t by_state[GROUP_STATES] = {0}, named = 0, waiting = 0, members = 0, at = 0;
    void *value;
    if (map_count(gs->groups) == 0)
        return;
    while (map_next(gs->groups, &at, NULL, &value)) {
        const struct group *g = value;
        members += g->ready.count;
        if (!is_waiting(g))
            continue;
        waiting++;
        by_state[g->state]++;
        named = insert(oldest, named, g);
    }
    buffer_print(lines, "groups=%zu\ngroups_waiting=%zu\nmembers_waiting=%zu\n",
                 map_count(gs->groups), waiting, members);
    for (int i = 0; i < GROUP_STATES; i++)
        if (by_state[i] > 0)
            buffer_print(lines, "groups_%s=%zu\n", state_name(i), by_state[i]);
    buffer_print(lines, "groups_handed=%" PRIu64 "\ngroups_failed=%" PRIu64 "\n", gs->counts.handed,
                 gs->counts.failed);
    buffer_print(lines, "groups_denied=%" PRIu64 "\ngroups_told=%" PRIu64 "\n", gs->counts.denied,
                 gs->counts.told);
    for (size_t i = 0; i < named; i++)
        print_group(oldest[i], q->now, lines);
}

/* ---- all of it ---- */

void queue_status(void *state, struct buffer *lines)
{
    const struct queue *q = state;
    buffer_print(lines, "config_generation=%" PRId64 "\nconfig_hash=%016" PRIx64 "\n",
                 q->config_generation, (uint64_t)q->config_hash);
    status_places(q, lines);
    status_counts(q, lines);
    status_groups(q, lines);
    processes_status(&q->consulting->holding.asking.who, q->now, lines);
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
                 q->stream.synced ? "" : "handlers are not fully synchronized");
    measure_queues(&q->queues);
    measure_oldest(&q->queues, q->now);
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
                                                    [PLACE_parked] = "waitsWithEquals",
                                                    [PLACE_bound] = "bound"};
    struct str node = nominated_node(e);
    char uid[UUID_TEXT];
    log_info(
        "Dump of scheduling queue| queue=%s name=%.*s namespace=%.*s uid=%.*s attempts=%" PRId64
        " nominated_node=\"%.*s\"",
        places[e->place], STR_ARG(store_str(e->kept, TAG_pod_name)),
        STR_ARG(store_str(e->kept, TAG_pod_namespace_name)),
        STR_ARG(store_uuid(e->kept, TAG_pod_uid, uid)), e->attempts, STR_ARG(node));
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

/* ---- which pods wait, for whoever asks ---- */

static bool is_asked_for(const struct entry *e, const struct pending_request *asked)
{
    struct str space = store_str(e->kept, TAG_pod_namespace_name);
    struct str name = store_str(e->kept, TAG_pod_name);
    return (asked->node.len == 0 || str_equal(nominated_node(e), asked->node)) &&
           (asked->namespace_name.len == 0 || str_equal(space, asked->namespace_name)) &&
           (asked->name.len == 0 || str_equal(name, asked->name));
}

static int by_age(const void *a, const void *b)
{
    const struct entry *x = *(const struct entry *const *)a, *y = *(const struct entry *const *)b;
    if (x->added.ns != y->added.ns)
        return x->added.ns < y->added.ns ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static enum pending_place place_of(const struct entry *e)
{
    static const enum pending_place places[PLACE_COUNT] = {
        [PLACE_active] = PENDING_active,
        [PLACE_backoff] = PENDING_backoff,
        [PLACE_error_backoff] = PENDING_error_backoff,
        [PLACE_unschedulable] = PENDING_unschedulable,
        [PLACE_in_flight] = PENDING_in_flight,
        [PLACE_gang] = PENDING_group,
        [PLACE_parked] = PENDING_equals,
        [PLACE_bound] = PENDING_bound};
    if (e->place != PLACE_unschedulable || e->gate == GATE_none)
        return places[e->place];
    return e->gate == GATE_deleting ? PENDING_deleting : PENDING_gated;
}

static struct strs names_of(const struct queue *q, uint64_t set, struct arena *a)
{
    struct strs names = {0};
    names.at = arena_take(a, (size_t)__builtin_popcountll(set) * sizeof(*names.at));
    for (; set != 0; set &= set - 1) {
        const char *name = plugins_behind(&q->queues.named, (size_t)__builtin_ctzll(set));
        if (name != NULL)
            names.at[names.count++] = str_of(name);
    }
    return names;
}

static int64_t ms_between(struct moment from, struct moment to)
{
    int64_t ms = span_ms(moment_since(to, from));
    return from.ns > 0 && ms > 0 ? ms : 0;
}

static struct pending_pod tell(const struct queue *q, const struct entry *e, struct arena *a)
{
    char uid[UUID_TEXT];
    return (struct pending_pod){
        .namespace_name = store_str(e->kept, TAG_pod_namespace_name),
        .name = store_str(e->kept, TAG_pod_name),
        .uid = arena_copy(a, store_uuid(e->kept, TAG_pod_uid, uid)),
        .place = place_of(e),
        .priority = e->priority,
        .attempts = e->attempts,
        .waiting_ms = ms_between(e->added, q->now),
        .backoff_ms = e->backoff_ends.ns > 0 ? ms_between(q->now, e->backoff_ends) : 0,
        .nominated_node = nominated_node(e),
        .rejected_by = names_of(q, e->rejectors, a),
        .reason = held_reason(e)};
}

void queue_tell_pending(struct queue *q, const struct delivery *in, struct outbox *out)
{
    const struct pending_request *asked = &in->message->pending_request;
    size_t most = asked->limit > 0 && asked->limit < ASKED_MOST ? (size_t)asked->limit : ASKED_MOST;
    const struct entry **found =
        arena_take(&q->scratch, (map_count(q->queues.entries) + 1) * sizeof(const struct entry *));
    size_t count = 0, at = 0;
    void *value;
    while (map_next(q->queues.entries, &at, NULL, &value))
        if (is_asked_for(value, asked))
            found[count++] = value;
    qsort(found, count, sizeof(const struct entry *), by_age);
    size_t named = count < most ? count : most;
    struct pending_pod *pods = arena_take(&q->scratch, (named + 1) * sizeof(*pods));
    for (size_t i = 0; i < named; i++)
        pods[i] = tell(q, found[i], &q->scratch);
    struct message answer = {
        .type = MSG_pending_pods,
        .pending_pods = {.pods = {(uint32_t)named, pods}, .total = (int64_t)count}};
    outbox_put(out, in->from, &answer);
}

/* ---- what it holds, for whoever compares ---- */

static struct strs whom_it_serves(const struct queue *q, struct arena *a)
{
    struct strs names = {0};
    for (const struct served *s = q->served; s != NULL; s = s->next)
        names.count += s->ours;
    names.at = arena_take(a, (names.count + 1) * sizeof(*names.at));
    names.count = 0;
    for (const struct served *s = q->served; s != NULL; s = s->next)
        if (s->ours)
            names.at[names.count++] = str_of(s->name);
    return names;
}

static void hold_mirrored(const struct queue *q, struct holder *h)
{
    struct arena a = {0};
    struct node node;
    struct pod pod;
    struct mirror_walk nodes = {.resource = EVENT_OF_node};
    struct mirror_walk pods = {.resource = EVENT_OF_assigned_pod};
    holder_set(h, STR_LITERAL("nodes"));
    for (; mirror_walk(q->mirror, &nodes, &node, &a); arena_reset(&a))
        holder_add(h, &(struct held_thing){.name = node.name, .version = nodes.version});
    holder_set(h, STR_LITERAL("assigned"));
    for (; mirror_walk(q->mirror, &pods, &pod, &a); arena_reset(&a))
        holder_add(h, &(struct held_thing){mirror_key(pod.namespace_name, pod.name, &a), pod.uid,
                                           pods.version, pod.node_name});
    arena_free(&a);
}

void queue_tell_holdings(struct queue *q, const struct delivery *in, struct outbox *out)
{
    struct holder h;
    size_t at = 0;
    void *value;
    char text[UUID_TEXT];
    holder_begin(&h, in, out);
    h.said.whole = q->stream.synced && !q->stream.in_snapshot;
    h.said.epoch = q->stream.epoch;
    h.said.sequence = q->stream.sequence;
    h.said.serves = whom_it_serves(q, &q->scratch);
    hold_mirrored(q, &h);
    holder_set(&h, STR_LITERAL("pending"));
    struct str key;
    while (map_next(q->queues.entries, &at, &key, &value)) {
        const struct entry *e = value;
        struct str uid = store_uuid(e->kept, TAG_pod_uid, text);
        if (!e->on_node && holder_wants(&h, store_str(e->kept, TAG_pod_scheduler_name)))
            holder_add(&h, &(struct held_thing){key, uid, e->kept->version, {NULL, 0}});
    }
    holder_end(&h);
}
