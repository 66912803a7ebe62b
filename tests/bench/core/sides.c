/* sides: drives one core through its messages as its tests do, so that what is measured is the
 * same code on the same path as in the process. What must stay true: credit never runs out, or
 * nothing would be sent and nothing measured. */
#include "tests/bench/core/sides.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/bus/delivery.h"
#include "queue/queue.h"
#include "queue/queues.h"
#include "watcher/watcher.h"

#include <string.h>

#define SECOND INT64_C(1000000000)

static const struct moment now = {100 * SECOND};

/* ---- queue ---- */

struct queue_side {
    struct queue *queue;
    struct outbox out;
    struct arena arena;
    int64_t sequence, part;
};

static void queue_gets(struct queue_side *q, struct delivery *in)
{
    queue_handle(q->queue, now, in, &q->out);
    queue_tick(q->queue, now, &q->out);
}

static void queue_hears(struct queue_side *q, enum process from, const struct message *m)
{
    struct delivery in = {.from = {from, 7}, .message = m};
    queue_gets(q, &in);
}

void queue_side_stream(struct queue_side *q, const struct message *m)
{
    if (m->type == MSG_snapshot_begin)
        q->part = 1;
    q->sequence += q->part == 0 || m->type == MSG_snapshot_begin;
    struct delivery in = {
        .from = {WATCHER, 7}, .epoch = 1, .sequence = q->sequence, .part = q->part, .message = m};
    q->part = m->type == MSG_snapshot_end || q->part == 0 ? 0 : q->part + 1;
    queue_gets(q, &in);
}

struct queue_side *queue_side_new(void)
{
    struct queue_side *q = memory_take(sizeof(*q));
    q->queue = queue_new(&(struct queue_options){.backoff_initial = {SECOND},
                                                 .backoff_max = {10 * SECOND},
                                                 .unschedulable_max = {300 * SECOND},
                                                 .first_cycle = 70});
    queue_hears(q, WATCHER, &(struct message){.type = MSG_peer_up});
    queue_side_stream(q, &(struct message){.type = MSG_snapshot_begin});
    queue_side_stream(q, &(struct message){.type = MSG_snapshot_end});
    queue_hears(q, SCHEDULER, &(struct message){.type = MSG_peer_up});
    outbox_reset(&q->out);
    return q;
}

void queue_side_free(struct queue_side **side)
{
    struct queue_side *q = *side;
    if (q == NULL)
        return;
    queue_free(&q->queue);
    outbox_free(&q->out);
    arena_free(&q->arena);
    memory_free(q);
    *side = NULL;
}

void queue_side_park(struct queue_side *q, const struct pod *pod, const char *plugin)
{
    struct message m = {.type = MSG_pull, .pull = {.credit = 1}}, attempt;
    outbox_reset(&q->out);
    queue_hears(q, SCHEDULER, &m);
    m = (struct message){.type = MSG_pod_set, .pod_set = {.pod = *pod}};
    queue_side_stream(q, &m);
    size_t last = q->out.count;
    while (last > 0 && q->out.at[last - 1].type != MSG_attempt)
        last--;
    must(last > 0);
    arena_reset(&q->arena);
    must(outbox_get(&q->out, last - 1, &attempt, &q->arena));
    struct str name = str_of(plugin);
    m = (struct message){.type = MSG_outcome,
                         .outcome = {.uid = pod->uid,
                                     .namespace_name = pod->namespace_name,
                                     .name = pod->name,
                                     .cycle = attempt.attempt.cycle,
                                     .result = OUTCOME_unschedulable,
                                     .plugins = {1, &name}}};
    queue_hears(q, SCHEDULER, &m);
    m = (struct message){.type = MSG_pull, .pull = {.credit = 0}};
    queue_hears(q, SCHEDULER, &m);
    outbox_reset(&q->out);
}

uint64_t queue_side_woken(const struct queue_side *q)
{
    return queue_inside(q->queue)->counts.woken;
}

/* ---- watcher ---- */

struct watcher_side {
    struct watcher *watcher;
    struct outbox out;
    uint32_t subscribers;
    uint64_t *numbers; /* of each source's watch */
};

static void watcher_hears(struct watcher_side *w, uint32_t peer, const struct message *m)
{
    struct delivery in = {.from = {SCHEDULER, peer}, .message = m};
    watcher_handle(w->watcher, now, &in, &w->out);
}

/* Answers every list with an empty one, until each kind is watched. */
static void list_all(struct watcher_side *w)
{
    static const char empty[] = "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}";
    for (size_t i = 0; i < kube_resource_count; i++) {
        struct reflector_request request;
        const struct kube_response answer = {
            .status = 200, .body = str_of(empty), .error = "", .retry_after_s = -1};
        must(watcher_next(w->watcher, now, i, &request) && !request.watch);
        watcher_response(w->watcher, now, i, request.number, &answer);
        must(watcher_next(w->watcher, now, i, &request) && request.watch);
        w->numbers[i] = request.number;
    }
}

struct watcher_side *watcher_side_new(uint32_t subscribers)
{
    struct watcher_side *w = memory_take(sizeof(*w));
    w->watcher = watcher_new(&(struct watcher_options){
        .kinds = kube_resources, .kind_count = kube_resource_count, .epoch = 7, .seed = 3});
    w->numbers = memory_take_array(kube_resource_count, sizeof(*w->numbers));
    w->subscribers = subscribers;
    list_all(w);
    for (uint32_t i = 0; i < subscribers; i++)
        watcher_hears(w, i + 1,
                      &(struct message){.type = MSG_subscribe, .subscribe = {.credit = 100000}});
    watcher_tick(w->watcher, now, &w->out);
    outbox_reset(&w->out);
    return w;
}

void watcher_side_free(struct watcher_side **side)
{
    struct watcher_side *w = *side;
    if (w == NULL)
        return;
    watcher_free(&w->watcher);
    outbox_free(&w->out);
    memory_free(w->numbers);
    memory_free(w);
    *side = NULL;
}

size_t watcher_side_data(struct watcher_side *w, const char *kind, struct str lines)
{
    size_t source = (size_t)(kube_resource_of(str_of(kind)) - kube_resources);
    watcher_data(w->watcher, now, source, w->numbers[source], lines);
    watcher_tick(w->watcher, now, &w->out);
    size_t sent = w->out.count;
    outbox_reset(&w->out);
    for (uint32_t i = 0; sent > 0 && i < w->subscribers; i++)
        watcher_hears(w, i + 1,
                      &(struct message){.type = MSG_credit,
                                        .credit = {.count = (int64_t)(sent / w->subscribers)}});
    return sent;
}
