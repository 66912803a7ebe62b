/* lanes: bounded queues in front of one client. The one idea: a request is written down only
 * when it goes out, after the fence was asked with a clock read at that moment, so that nothing
 * decided under an old lease can leave under a newer one. What must stay true: a job is in exactly
 * one place, and a lane never has more on the wire than its budget. */
#include "binder/lanes.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/documents/protobuf.h"

#include <string.h>

struct queue {
    struct job *first, *last;
    uint32_t count;
};

struct way {
    struct queue waiting, sent;
    uint32_t delayed, fenced; /* fenced: of those sent */
    uint32_t waiting_max, in_flight_max;
    uint64_t done, failed, dropped;
};

struct lanes {
    struct lanes_options options;
    struct way ways[LANE_COUNT];
    struct heap *delayed;
    double tokens;
    struct moment refilled;
    struct draft draft;
    bool draining; /* it ends soon: events yield to nothing */
};

/* Bounds and budgets. The sum of the budgets stays below what the client takes at once
 * (LANES_IN_FLIGHT_MAX), so that what was handed over goes out at once and does not wait behind the
 * fence's back. */
static const struct {
    const char *name;
    enum kube_channel channel;
    uint32_t waiting_max, in_flight_max;
} lanes_table[LANE_COUNT] = {
    [LANE_lease] = {"lease", KUBE_CHANNEL_lease, 4, 1},
    [LANE_bind] = {"bind", KUBE_CHANNEL_write, 10000, 100},
    [LANE_delete] = {"delete", KUBE_CHANNEL_write, 10000, 16},
    [LANE_nomination] = {"nomination", KUBE_CHANNEL_write, 20000, 8},
    [LANE_extender] = {"extender", KUBE_CHANNEL_extender, 10000, 32},
    [LANE_volume] = {"volume", KUBE_CHANNEL_volume, 10000, 16},
    [LANE_status] = {"status", KUBE_CHANNEL_write, 20000, 16},
    [LANE_event] = {"event", KUBE_CHANNEL_event, 20000, 64},
};

/* Events tell what happened; for Bindings, evictions, nominations and volumes pods wait. A busy
 * server does one at the cost of the other. So as long as any of those is under way a few events at
 * a time are enough, until one has waited for so long, or so many wait, that they have to go
 * whatever comes. */
#define EVENTS_BESIDE     2
#define EVENTS_HELD_MAX   4096
#define EVENT_PATIENCE_MS 5000

const char *lane_name(enum lane lane)
{
    must(lane < LANE_COUNT);
    return lanes_table[lane].name;
}

/* ---- places ---- */

static void queue_add(struct queue *q, struct job *job)
{
    job->before = q->last;
    job->next = NULL;
    if (q->last != NULL)
        q->last->next = job;
    else
        q->first = job;
    q->last = job;
    q->count++;
}

static void queue_add_first(struct queue *q, struct job *job)
{
    job->before = NULL;
    job->next = q->first;
    if (q->first != NULL)
        q->first->before = job;
    else
        q->last = job;
    q->first = job;
    q->count++;
}

static void queue_remove(struct queue *q, struct job *job)
{
    must(q->count > 0);
    if (job->before != NULL)
        job->before->next = job->next;
    else
        q->first = job->next;
    if (job->next != NULL)
        job->next->before = job->before;
    else
        q->last = job->before;
    job->before = job->next = NULL;
    q->count--;
}

static bool due_before(const void *a, const void *b)
{
    return ((const struct job *)a)->due.ns < ((const struct job *)b)->due.ns;
}

static struct heap_link *link_of(void *entry)
{
    return &((struct job *)entry)->link;
}

struct lanes *lanes_new(const struct lanes_options *options)
{
    struct lanes *l = memory_take(sizeof(*l));
    l->options = *options;
    l->tokens = options->burst > 0 ? options->burst : 1;
    l->delayed = heap_new(due_before, link_of);
    for (int i = 0; i < LANE_COUNT; i++) {
        uint32_t waiting = options->waiting_max[i], sent = options->in_flight_max[i];
        l->ways[i].waiting_max = waiting ? waiting : lanes_table[i].waiting_max;
        l->ways[i].in_flight_max = sent ? sent : lanes_table[i].in_flight_max;
    }
    return l;
}

void lanes_free(struct lanes **lanes)
{
    struct lanes *l = *lanes;
    if (l == NULL)
        return;
    heap_free(&l->delayed);
    buffer_free(&l->draft.path);
    buffer_free(&l->draft.body);
    memory_free(l);
    *lanes = NULL;
}

void lanes_limit(struct lanes *l, double qps, uint32_t burst)
{
    l->options.qps = qps;
    l->options.burst = burst;
}

void lanes_drain(struct lanes *l)
{
    l->draining = true;
}

bool lanes_add(struct lanes *l, enum lane lane, struct job *job, struct moment now)
{
    struct way *way = &l->ways[lane];
    must(job->place == JOB_idle && job->type != NULL);
    if (way->waiting.count + way->delayed >= way->waiting_max) {
        way->dropped++;
        return false;
    }
    job->lanes = l;
    job->lane = lane;
    job->since = now;
    job->place = JOB_queued;
    queue_add(&way->waiting, job);
    return true;
}

void lanes_again(struct lanes *l, enum lane lane, struct job *job, struct moment due)
{
    must(job->place == JOB_idle && job->type != NULL);
    job->lanes = l;
    job->lane = lane;
    job->due = due;
    job->place = JOB_delayed;
    l->ways[lane].delayed++;
    heap_push(l->delayed, job);
}

static void leave_wire(struct lanes *l, struct job *job)
{
    struct way *way = &l->ways[job->lane];
    queue_remove(&way->sent, job);
    way->fenced -= job->type->fenced;
    job->place = JOB_idle;
    job->number = 0;
}

void lanes_remove(struct lanes *l, struct job *job)
{
    struct way *way = &l->ways[job->lane];
    if (job->place == JOB_queued) {
        queue_remove(&way->waiting, job);
    } else if (job->place == JOB_delayed) {
        heap_remove(l->delayed, job);
        way->delayed--;
    } else if (job->place == JOB_sent) {
        l->options.api.cancel(l->options.api.state, job->number);
        leave_wire(l, job);
        way->failed++;
    }
    job->place = JOB_idle;
}

/* ---- going out ---- */

/* A body in a form that the server does not take was not looked at: it goes again as JSON, as all
 * others from now on. */
static void send_as_json(struct lanes *l, struct job *job, int status)
{
    if (l->options.protobuf)
        log_warn("the API server does not take protobuf, writing JSON from now on|status=%d",
                 status);
    l->options.protobuf = false;
    lanes_again(l, job->lane, job, l->options.api.clock(l->options.api.state).now);
}

static void on_done(void *context, const struct kube_response *response)
{
    struct job *job = context;
    struct lanes *l = job->lanes;
    must(job->place == JOB_sent);
    leave_wire(l, job);
    if (job->as_protobuf && (response->status == 415 || response->status == 406)) {
        send_as_json(l, job, response->status);
        return;
    }
    if (response->status >= 200 && response->status < 300)
        l->ways[job->lane].done++;
    else
        l->ways[job->lane].failed++;
    job->type->answered(job, l->options.api.clock(l->options.api.state), response);
}

static struct span shorter(struct span a, struct span b)
{
    return a.ns > 0 && a.ns < b.ns ? a : b;
}

/* False when the fence is closed: the job then stays where it is. */
static bool send(struct lanes *l, struct job *job)
{
    struct way *way = &l->ways[job->lane];
    struct draft *draft = &l->draft;
    const struct api *api = &l->options.api;
    struct instant at = api->clock(api->state);
    struct span timeout = shorter(job->timeout_max, job->type->timeout);
    if (job->type->fenced) {
        struct span left = l->options.fence(l->options.fence_state, at);
        if (left.ns <= 0)
            return false;
        timeout = shorter(left, timeout);
        if (job->lane != LANE_extender)
            timeout = shorter(span_of_ms(LANES_WRITE_MS), timeout);
    }
    buffer_reset(&draft->path);
    buffer_reset(&draft->body);
    draft->content_type = NULL;
    draft->may_protobuf = l->options.protobuf;
    draft->unread = draft->exact = false;
    job->type->prepare(job, at, draft);
    job->as_protobuf = !draft->exact && draft->content_type != NULL &&
                       strcmp(draft->content_type, KUBE_TYPE_PROTOBUF) == 0;
    /* What nobody reads comes in the form that costs the server least. */
    bool answer_protobuf =
        job->as_protobuf || draft->exact || (draft->unread && l->options.protobuf);
    queue_remove(&way->waiting, job);
    queue_add(&way->sent, job);
    way->fenced += job->type->fenced;
    job->place = JOB_sent;
    job->sent = at;
    job->number = api->send(
        api->state, &(struct kube_request){.method = draft->method,
                                           .channel = lanes_table[job->lane].channel,
                                           .route = job->route,
                                           .path = buffer_str(&draft->path),
                                           .content_type = draft->content_type,
                                           .accept = answer_protobuf ? KUBE_ACCEPT_BOTH : NULL,
                                           .unread = draft->unread,
                                           .body = buffer_str(&draft->body),
                                           .timeout = timeout,
                                           .context = job,
                                           .done = on_done});
    return true;
}

static void wake_delayed(struct lanes *l, struct moment now)
{
    struct job *job;
    while ((job = heap_top(l->delayed)) != NULL && moment_reached(now, job->due)) {
        struct way *way = &l->ways[job->lane];
        heap_pop(l->delayed);
        way->delayed--;
        if (job->since.ns == 0)
            job->since = now;
        job->place = JOB_queued;
        if (job->patient)
            queue_add(&way->waiting, job);
        else
            queue_add_first(&way->waiting, job);
    }
}

static void refill(struct lanes *l, struct moment now)
{
    double most = l->options.burst > 0 ? l->options.burst : 1;
    if (l->refilled.ns != 0)
        l->tokens += (double)moment_since(now, l->refilled).ns * 1e-9 * l->options.qps;
    if (l->tokens > most)
        l->tokens = most;
    l->refilled = now;
}

/* Reads and the lease never wait for a token; every other write takes one. */
static bool needs_token(const struct lanes *l, const struct job *job)
{
    return job->lane != LANE_lease && job->type->fenced && l->options.qps > 0;
}

static bool take_token(struct lanes *l, const struct job *job)
{
    if (!needs_token(l, job))
        return true;
    if (l->tokens < 1)
        return false;
    l->tokens -= 1;
    return true;
}

static bool pods_wait(const struct lanes *l)
{
    static const enum lane for_them[] = {LANE_bind, LANE_delete, LANE_nomination, LANE_volume};
    uint32_t under_way = 0;
    for (size_t i = 0; i < sizeof(for_them) / sizeof(for_them[0]); i++)
        under_way += l->ways[for_them[i]].waiting.count + l->ways[for_them[i]].sent.count;
    return under_way > 0;
}

/* Until when events yield to writes; now or earlier: they do not. */
static struct moment yield_until(const struct lanes *l, struct moment now)
{
    const struct way *events = &l->ways[LANE_event];
    if (l->draining || events->waiting.first == NULL || events->waiting.count >= EVENTS_HELD_MAX ||
        !pods_wait(l))
        return now;
    return moment_after(events->waiting.first->since, span_of_ms(EVENT_PATIENCE_MS));
}

static uint32_t budget(const struct lanes *l, enum lane lane, struct moment now)
{
    uint32_t most = l->ways[lane].in_flight_max;
    if (lane != LANE_event || most <= EVENTS_BESIDE || moment_reached(now, yield_until(l, now)))
        return most;
    return EVENTS_BESIDE;
}

/* False when the lane must wait for a token: then those below get none either, but may read. */
static bool pump_lane(struct lanes *l, enum lane lane, struct moment now)
{
    struct way *way = &l->ways[lane];
    while (way->waiting.first != NULL && way->sent.count < budget(l, lane, now)) {
        struct job *job = way->waiting.first;
        if (!take_token(l, job))
            return false;
        if (!send(l, job)) {
            l->tokens += needs_token(l, job);
            return true; /* closed for writes; reads of lanes below may still go */
        }
    }
    return true;
}

struct moment lanes_pump(struct lanes *l, struct moment now)
{
    bool tokens = true;
    wake_delayed(l, now);
    refill(l, now);
    for (int i = 0; i < LANE_COUNT; i++)
        tokens = pump_lane(l, (enum lane)i, now) && tokens;
    struct job *next = heap_top(l->delayed);
    struct moment wake = next ? next->due : MOMENT_NEVER;
    struct moment held = yield_until(l, now);
    if (!moment_reached(now, held))
        wake = moment_earlier(wake, held);
    if (!tokens)
        wake = moment_earlier(wake,
                              moment_after(now, span_of_seconds((1 - l->tokens) / l->options.qps)));
    return wake;
}

/* ---- the fence ---- */

static struct job *first_fenced(const struct lanes *l)
{
    for (int i = 0; i < LANE_COUNT; i++)
        for (struct job *job = l->ways[i].sent.first; job != NULL; job = job->next)
            if (job->type->fenced)
                return job;
    return NULL;
}

void lanes_cut(struct lanes *l, const char *why)
{
    const struct api *api = &l->options.api;
    struct kube_response response = {.error = why, .maybe_done = true, .retry_after_s = -1};
    struct job *job;
    while ((job = first_fenced(l)) != NULL) {
        lanes_remove(l, job);
        job->type->answered(job, api->clock(api->state), &response);
    }
}

bool lanes_protobuf(const struct lanes *l)
{
    return l->options.protobuf;
}

uint32_t lanes_fenced(const struct lanes *l)
{
    uint32_t count = 0;
    for (int i = 0; i < LANE_COUNT; i++)
        count += l->ways[i].fenced;
    return count;
}

struct lane_stats lanes_stats(const struct lanes *l, enum lane lane)
{
    const struct way *way = &l->ways[lane];
    return (struct lane_stats){.waiting = way->waiting.count,
                               .delayed = way->delayed,
                               .in_flight = way->sent.count,
                               .done = way->done,
                               .failed = way->failed,
                               .dropped = way->dropped,
                               .oldest = way->waiting.first ? way->waiting.first->since
                                                            : (struct moment){0}};
}

bool lanes_quiet(const struct lanes *l, enum lane lane)
{
    const struct way *way = &l->ways[lane];
    return way->waiting.count + way->delayed + way->sent.count == 0;
}
