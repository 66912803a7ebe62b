/* queues: a pending pod's way.
 *
 *   added ──► active ──► in flight ──► bound ──► gone, once the watch shows it assigned
 *               ▲  ▲         │ │
 *               │  └─ error ─┘ └─ rejected ──► unschedulable ── event that helps, or 5 min ─┐
 *               │     backoff                  (or, gated,                                  │
 *               └──── backoff ◄───────────────  from the start) ◄───────────────────────────┘
 *
 * What must stay true: every entry is in exactly one place when a function of this file returns,
 * and from each place something leads on that does not depend on anybody's goodwill: credit, a
 * second's end, the leftover flush, the scheduler's death, or the limit for confirmations. */
#include "queue/queues.h"

#include "proto/base/log.h"
#include "proto/base/must.h"
#include "proto/metrics.h"
#include "queue/bus_plugins/held.h"
#include "queue/equivalence.h"
#include "queue/gang.h"
#include "queue/hints.h"
#include "queue/hooks/hooks.h"
#include "queue/measure.h"
#include "queue/move.h"

#define ATTEMPT_ENDED "ScheduleAttemptFailure"

void queues_init(struct queues *q, const struct queues_options *options)
{
    *q =
        (struct queues){.options = *options, .store = store_new(&store_pods), .entries = map_new()};
    active_init(&q->active);
    backoff_init(&q->backoff, options->backoff_initial, options->backoff_max);
    unschedulable_init(&q->unschedulable);
    gangs_init(&q->gangs, options->wall_us_at_zero);
    early_init(&q->in_flight.early);
    q->in_flight.cycle = options->first_cycle;
    q->cause = ATTEMPT_ENDED;
}

void queues_free(struct queues *q)
{
    size_t at = 0;
    void *value;
    while (map_next(q->entries, &at, NULL, &value)) {
        struct entry *e = value;
        places_leave(q, e);
        gangs_leave(e);
        equals_leave(e);
        held_forget(e);
        nominated_leave(&q->nominations, e);
        entry_free(&e);
    }
    while (q->in_flight.first != NULL)
        in_flight_close(&q->in_flight, q->in_flight.first);
    nominated_free(&q->nominations);
    gangs_free(&q->gangs);
    equivalence_free(&q->equivalence);
    map_free(&q->entries);
    store_free(&q->store);
    active_free(&q->active);
    backoff_free(&q->backoff);
    unschedulable_free(&q->unschedulable);
}

struct entry *queues_get(const struct queues *q, struct str key)
{
    return map_get(q->entries, key);
}

/* The timestamp decides among equals, so it is set only when the pod comes or has failed. */
static void stamp(struct queues *q, struct moment now, struct entry *e)
{
    e->timestamp = now;
    e->order = ++q->order;
}

/* ---- the watcher's facts ---- */

struct entry *queues_add(struct queues *q, struct moment now, struct str key, const struct pod *pod,
                         const struct surroundings *around)
{
    struct entry *e = entry_new(q->store, pod);
    e->around = around;
    e->key = hooks_sort_key(around, pod);
    e->added = now;
    e->sent_us = q->told_us;
    stamp(q, now, e);
    nominated_follow(&q->nominations, e, NULL);
    gangs_join(q, e);
    must(map_set(q->entries, key, e) == NULL);
    q->cause = "UnschedulablePodAdd";
    places_enter(q, now, e);
    return e;
}

static bool hears_of_itself(const struct entry *e)
{
    return e->place == PLACE_in_flight || e->place == PLACE_unschedulable;
}

static void show_own_update(struct queues *q, struct moment now, struct entry *e,
                            const struct pod *before)
{
    if (!hears_of_itself(e))
        return;
    struct event_changes changes = event_pending_changes(before, entry_pod(e), q->options.release);
    /* Of one that is on a node upstream speaks as of any that is. */
    enum event_resource resource = e->on_node ? EVENT_OF_assigned_pod : EVENT_OF_unschedulable_pod;
    for (uint32_t i = 0; i < changes.count && hears_of_itself(e); i++) {
        struct event event = {.release = q->options.release,
                              .resource = resource,
                              .action = changes.at[i],
                              .old_pod = before,
                              .new_pod = entry_pod(e)};
        q->cause = event_label(&event);
        if (e->place == PLACE_in_flight)
            in_flight_note_own(&q->in_flight, e, &event);
        else
            places_requeue(q, now, e, move_worth(e, &event));
    }
}

/* Room that was kept free for pod on a node is so no more: pods that may not take it anyway stay
 * asleep. */
static void claim_given_up(struct queues *q, struct moment now, const struct pod *pod,
                           struct str node)
{
    struct pod nominated = *pod;
    nominated.nominated_node = node;
    struct event event = {.release = q->options.release,
                          .resource = EVENT_OF_assigned_pod,
                          .action = EVENT_DELETE,
                          .old_pod = &nominated};
    move_all(q, now, &event, &nominated);
}

/* A pod that the scheduler holds may have room on a node that we do not know the name of. */
static void room_given_up(struct queues *q, struct moment now, const struct pod *pod)
{
    struct pod placed = *pod;
    if (placed.node_name.len == 0)
        placed.node_name = STR_LITERAL("?");
    struct event event = {.release = q->options.release,
                          .resource = EVENT_OF_assigned_pod,
                          .action = EVENT_DELETE,
                          .old_pod = &placed};
    move_all(q, now, &event, NULL);
}

/* Also one that is offered again because a view that was behind showed it without a node. One that
 * is on a node gets no other room, and gives none up but with itself. */
static bool may_have_room(const struct entry *e, enum place place)
{
    return !e->on_node && (place == PLACE_in_flight || place == PLACE_bound || e->may_hold);
}

/* It is tried no more. The room that it may have got is free from now on, but a claim on a node it
 * keeps until it is gone, as in upstream's nominator. */
static void begin_leaving(struct queues *q, struct moment now, struct entry *e)
{
    q->cause = "UnschedulablePodUpdate";
    if (may_have_room(e, e->place))
        room_given_up(q, now, entry_pod(e));
    if (e->place != PLACE_in_flight && e->place != PLACE_bound)
        places_requeue(q, now, e, WORTH_immediately);
}

/* Plugins on the bus look at what it is by now. True: there is something else to be seen. */
static bool ask_anew(const struct queues *q, struct entry *e, const struct pod *before)
{
    if (e->held == NULL ||
        event_pending_changes(before, entry_pod(e), q->options.release).count == 0)
        return false;
    held_changed(e);
    return true;
}

void queues_update(struct queues *q, struct moment now, struct entry *e, const struct pod *pod)
{
    struct arena memory = {0};
    struct pod before;
    store_get(q->store, e->kept, &before, &memory);
    entry_replace(e, pod);
    if (!e->keyed)
        e->key = hooks_sort_key(e->around, pod);
    in_flight_follow(e);
    gangs_follow(q, now, e);
    equivalence_follow(q, now, e);
    if (e->place == PLACE_unschedulable)
        needs_follow(&q->unschedulable.needs, e);
    bool asked = ask_anew(q, e, &before);
    nominated_follow(&q->nominations, e, &before);
    if (pod->deleting && !before.deleting)
        begin_leaving(q, now, e);
    else if (e->place == PLACE_active)
        active_fix(&q->active, e);
    else if (e->place == PLACE_backoff || e->place == PLACE_error_backoff)
        backoff_fix(&q->backoff, e);
    else if (asked && e->gate == GATE_plugin && e->place == PLACE_unschedulable)
        places_requeue(q, now, e, WORTH_after_backoff);
    else
        show_own_update(q, now, e, &before);
    if (before.nominated_node.len > 0 && !str_equal(before.nominated_node, pod->nominated_node))
        claim_given_up(q, now, &before, before.nominated_node);
    if (e->place != PLACE_in_flight)
        entry_fold(e);
    arena_free(&memory);
}

static struct entry *take_out(struct queues *q, struct str key)
{
    struct entry *e = map_remove(q->entries, key);
    must(e != NULL);
    places_leave(q, e);
    gangs_leave(e);
    equals_leave(e);
    held_forget(e);
    return e;
}

void queues_assigned(struct queues *q, struct moment now, struct str key, struct str node)
{
    struct entry *e = take_out(q, key);
    if (nominated_node(e).len > 0 && !str_equal(nominated_node(e), node))
        claim_given_up(q, now, entry_pod(e), nominated_node(e));
    nominated_leave(&q->nominations, e);
    entry_free(&e);
}

void queues_deleted(struct queues *q, struct moment now, struct str key)
{
    enum place place = queues_get(q, key)->place;
    struct entry *e = take_out(q, key);
    if (may_have_room(e, place))
        room_given_up(q, now, entry_pod(e));
    else if (nominated_node(e).len > 0)
        claim_given_up(q, now, entry_pod(e), nominated_node(e));
    nominated_leave(&q->nominations, e);
    entry_free(&e);
}

/* ---- attempts ---- */

static struct entry *pop_early(struct queues *q, struct moment now)
{
    if (q->backoff.strict || !early_may(&q->in_flight.early, now))
        return NULL;
    equivalence_sift_early(q, now);
    struct entry *e = heap_top(q->backoff.pods);
    if (e == NULL || equivalence_full(e))
        return NULL;
    backoff_take_early(&q->backoff);
    q->counts.popped_early++;
    places_count(q, e, IN_active, "PopFromBackoffQ");
    return e;
}

struct entry *queues_pop(struct queues *q, struct moment now)
{
    equivalence_sift(q, now);
    struct entry *e = heap_top(q->active.heap);
    bool early = e == NULL;
    if (early)
        e = pop_early(q, now);
    else if (equivalence_full(e))
        return NULL; /* nobody overtakes: what it waits for is the outcome of one attempt */
    else
        active_remove(&q->active, e);
    if (e == NULL)
        return NULL;
    equals_unplaced(e);
    e->insists = false;
    e->attempts++;
    q->counts.attempts++;
    in_flight_add(&q->in_flight, e, early);
    return e;
}

void queues_bound(struct queues *q, struct moment now, struct entry *e)
{
    gangs_ended(q, e, GANG_bound, 0);
    if (e->flight->early)
        early_won(&q->in_flight.early);
    equals_won(e->flight->equals);
    in_flight_close(&q->in_flight, e->flight);
    e->place = PLACE_bound;
    e->bound = now;
    e->rejectors = e->pending_plugins = 0;
    entry_fold(e);
    entry_list_add(&q->bound, e);
    group_add_bound(e);
    q->counts.bound_after_flush += e->flushed;
    metric_add(METRIC_scheduler_pod_scheduled_after_flush_total, e->flushed);
    q->counts.bound++;
}

/* The sets speak of the attempt that has just ended and of no earlier one. */
static void judge(struct queues *q, struct moment now, struct entry *e, uint64_t rejectors,
                  uint64_t pending)
{
    e->rejectors = rejectors;
    e->pending_plugins = pending;
    e->flushed = e->may_hold = false;
    stamp(q, now, e);
    q->cause = ATTEMPT_ENDED;
    backoff_start(&q->backoff, e);
}

void queues_rejected(struct queues *q, struct moment now, struct entry *e, uint64_t rejectors,
                     uint64_t pending)
{
    must((rejectors | pending) != 0);
    q->counts.unschedulable++;
    e->unschedulable_count++;
    e->error_count = 0;
    judge(q, now, e, rejectors, pending);
    enum worth worth = move_worth_in_flight(e);
    gangs_ended(q, e, GANG_rejected, rejectors | pending);
    if (e->flight->early)
        early_lost(&q->in_flight.early, now);
    in_flight_close(&q->in_flight, e->flight);
    places_requeue(q, now, e, worth);
    equivalence_follow(q, now, e);
}

/* The end of a claim that the pod's status shows is told with that status. */
void queues_nominated(struct queues *q, struct moment now, struct entry *e, struct str node)
{
    struct arena memory = {0};
    struct str before = arena_copy(&memory, nominated_node(e));
    nominated_decided(&q->nominations, e, node, false);
    if (before.len > 0 && !str_equal(before, nominated_node(e)) &&
        !str_equal(before, entry_pod(e)->nominated_node))
        claim_given_up(q, now, entry_pod(e), before);
    arena_free(&memory);
}

/* Those whom plugins like the one that let it go have turned away would wake each other for ever.
 */
void queues_released(struct queues *q, struct moment now, struct entry *e)
{
    struct pod placed = *entry_pod(e);
    placed.node_name = STR_LITERAL("?");
    const struct event event = {.unseen = true,
                                .release = q->options.release,
                                .resource = EVENT_OF_assigned_pod,
                                .action = EVENT_DELETE,
                                .old_pod = &placed};
    move_all(q, now, &event, NULL);
}

void queues_activate(struct queues *q, struct moment now, struct entry *e)
{
    if (e->place == PLACE_in_flight)
        e->flight->woken = true;
    gangs_hurry(e);
    e->insists = true;
    if ((e->place != PLACE_unschedulable && e->place != PLACE_parked && e->place != PLACE_backoff &&
         e->place != PLACE_error_backoff) ||
        e->gate != GATE_none)
        return;
    bool waited = e->place == PLACE_backoff || e->place == PLACE_error_backoff;
    places_leave(q, e);
    q->cause = "ForceActivate";
    if (waited)
        places_from_backoff(q, now, e);
    else
        places_to_active(q, now, e);
}

void queues_failed(struct queues *q, struct moment now, struct entry *e)
{
    /* A failed bind gave back the room that the pod was assumed in. */
    if (!e->on_node)
        room_given_up(q, now, entry_pod(e));
    q->counts.errors++;
    e->error_count++;
    judge(q, now, e, 0, 0);
    gangs_ended(q, e, GANG_error, 0);
    in_flight_close(&q->in_flight, e->flight);
    places_requeue(q, now, e, WORTH_after_backoff);
}

/* Those who were tried since it left did not get the room that the scheduler kept for it. */
void queues_left(struct queues *q, struct moment now, struct flight *flight, bool had_room)
{
    struct arena memory = {0};
    struct pod pod;
    must(flight->entry == NULL);
    if (had_room) {
        store_get(q->store, flight->left, &pod, &memory);
        if (pod.node_name.len == 0)
            room_given_up(q, now, &pod);
    }
    arena_free(&memory);
    in_flight_close(&q->in_flight, flight);
}

void queues_skipped(struct queues *q, struct moment now, struct entry *e, bool had_room)
{
    if (had_room)
        room_given_up(q, now, entry_pod(e));
    e->may_hold = !had_room; /* the scheduler may know better where it is, and we not hear of it */
    q->counts.skipped++;
    q->cause = ATTEMPT_ENDED;
    gangs_ended(q, e, GANG_skipped, 0);
    in_flight_close(&q->in_flight, e->flight);
    e->rejectors = e->pending_plugins = 0;
    e->backoff_ends = (struct moment){0};
    if (q->options.backoff_max.ns > 0)
        e->backoff_ends =
            backoff_aligned(&q->backoff, moment_after(now, q->options.backoff_initial));
    places_requeue(q, now, e, WORTH_after_backoff);
}

void queues_take_back(struct queues *q, struct moment now)
{
    q->cause = ATTEMPT_ENDED;
    while (q->in_flight.first != NULL) {
        struct entry *e = q->in_flight.first->entry;
        in_flight_close(&q->in_flight, q->in_flight.first);
        if (e == NULL)
            continue;
        q->counts.taken_back++;
        places_requeue(q, now, e, WORTH_immediately);
    }
}

void queues_unbound(struct queues *q, struct moment now, struct entry *e)
{
    must(e->place == PLACE_bound);
    log_warn("pod was said to be bound but is not: offered again|pod=%.*s/%.*s",
             STR_ARG(store_str(e->kept, TAG_pod_namespace_name)),
             STR_ARG(store_str(e->kept, TAG_pod_name)));
    q->counts.unconfirmed++;
    e->may_hold = true;
    q->cause = ATTEMPT_ENDED;
    places_requeue(q, now, e, WORTH_immediately);
}

/* ---- time ---- */

static void flush_backoff(struct queues *q, struct moment now)
{
    struct entry *e;
    q->cause = "BackoffComplete";
    while ((e = backoff_take_ended(&q->backoff, now)) != NULL) {
        places_from_backoff(q, now, e);
        q->counts.backoff_flushed++;
    }
}

/* Pods whose event was lost, or that nobody thought of, get another attempt after all. */
static void flush_leftovers(struct queues *q, struct moment now)
{
    static const struct event timeout = {.wildcard = true};
    q->cause = event_label(&timeout);
    struct entry *last = q->unschedulable.list.last, *next;
    for (struct entry *e = q->unschedulable.list.first; e != NULL; e = next) {
        next = e == last ? NULL : e->next;
        bool failed = e->gate == GATE_plugin && e->held != NULL && e->held->failed;
        if ((e->gate != GATE_none && !failed) ||
            moment_since(now, e->timestamp).ns <= q->options.unschedulable_max.ns)
            continue;
        places_requeue(q, now, e, move_worth(e, &timeout));
        e->flushed = !failed;
        q->counts.leftovers_flushed++;
    }
}

/* There is no object that hints could look at; and of plugins that nobody knows by name here it is
 * not remembered which one it was. */
void queues_wake_rejected_by(struct queues *q, struct moment now, uint64_t plugins)
{
    static const struct event anything = {.wildcard = true};
    q->cause = event_label(&anything);
    struct entry *last = q->unschedulable.list.last, *next = q->unschedulable.list.first;
    if ((q->unschedulable.plugins & plugins) == 0)
        next = NULL;
    for (struct entry *e = next; e != NULL; e = next) {
        next = e == last ? NULL : e->next;
        if (e->gate == GATE_none && (e->rejectors & plugins) != 0)
            places_requeue(q, now, e, WORTH_after_backoff);
    }
    in_flight_note_plugins(&q->in_flight, plugins);
}

void queues_wake_all(struct queues *q, struct moment now)
{
    static const struct event anything = {.wildcard = true};
    q->cause = event_label(&anything);
    struct entry *last = q->unschedulable.list.last, *next;
    for (struct entry *e = q->unschedulable.list.first; e != NULL; e = next) {
        next = e == last ? NULL : e->next;
        if (e->gate == GATE_none)
            places_requeue(q, now, e, move_worth(e, &anything));
    }
}

/* The scheduler may have seen what came and went in between, such as a claim that was made again
 * under its name, and turned pods away for it; the snapshot shows the outcome alone. */
void queues_missed(struct queues *q, struct moment now)
{
    static const struct event anything = {.wildcard = true};
    queues_wake_all(q, now);
    in_flight_note(&q->in_flight, &anything);
}

/* Gates of the pod itself can come and go with a configuration; all others are opened by events. */
static bool may_be_gated_otherwise(const struct entry *e)
{
    bool queued =
        e->place == PLACE_active || e->place == PLACE_backoff || e->place == PLACE_error_backoff;
    return e->gate == GATE_scheduling || e->gate == GATE_claims || e->gate == GATE_hook ||
           e->gate == GATE_plugin ||
           (queued && (e->has_gates || e->has_device_claims || e->around->hook_count > 0 ||
                       e->around->consults != NULL));
}

void queues_look_at_gates(struct queues *q, struct moment now)
{
    static const struct event anything = {.wildcard = true};
    size_t at = 0;
    void *value;
    q->cause = event_label(&anything);
    while (map_next(q->entries, &at, NULL, &value))
        if (may_be_gated_otherwise(value))
            places_requeue(q, now, value, WORTH_after_backoff);
}

static void flush_unconfirmed(struct queues *q, struct moment now)
{
    struct entry *next;
    for (struct entry *e = q->bound.first; e != NULL; e = next) {
        next = e->next;
        if (moment_since(now, e->bound).ns > span_of_seconds(QUEUES_CONFIRM_SECONDS).ns)
            queues_unbound(q, now, e);
    }
}

struct moment queues_tick(struct queues *q, struct moment now)
{
    struct moment second = backoff_second(now);
    if (second.ns > q->flushed.ns) {
        flush_backoff(q, now);
        q->flushed = second;
    }
    if (moment_reached(now, q->leftover)) {
        flush_leftovers(q, now);
        equivalence_flush(q, now);
        flush_unconfirmed(q, now);
        q->leftover = moment_after(now, span_of_seconds(QUEUES_LEFTOVER_SECONDS));
    }
    struct moment next = moment_earlier(q->leftover, gangs_tick(q, now));
    equivalence_tick(q, now);
    if (backoff_count(&q->backoff) == 0)
        return next;
    next = moment_earlier(next, moment_after(second, span_of_ms(1000)));
    struct moment paused = q->in_flight.early.paused;
    return moment_reached(now, paused) ? next : moment_earlier(next, paused);
}
