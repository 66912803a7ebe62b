/* flight: the coordinator's book of pods it owes something for. What must stay true: one flight a
 * UID; a flight is in the line exactly while it is waiting, and among the answered exactly while
 * it makes room and its victims are only still to be seen going. */
#include "scheduler/coordinator/flight.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/objects/requests.h"
#include "scheduler/coordinator/gang_try.h"
#include "scheduler/coordinator/release_list.h"
#include "scheduler/coordinator/releasing.h"
#include "scheduler/tracing/attempt_trace.h"

void flights_init(struct flights *all)
{
    *all = (struct flights){.by_uid = map_new(), .asked_due = MOMENT_NEVER};
}

static void flight_free(struct flight *f)
{
    packed_free(&f->newer);
    extension_free(&f->extension);
    memory_free(f->permit);
    release_list_free(&f->releasing);
    attempt_trace_free(&f->trace);
    arena_free(&f->arena);
    memory_free(f);
}

void flights_free(struct flights *all)
{
    struct flight *f;
    size_t at = 0;
    while ((f = flights_next(all, &at)) != NULL) {
        gang_try_leave(f);
        flight_free(f);
    }
    map_free(&all->by_uid);
}

struct flight *flights_get(const struct flights *all, struct str uid)
{
    return map_get(all->by_uid, uid);
}

static void line_remove(struct flights *all, struct flight *f)
{
    bool queued = f->state == FLIGHT_queued, aside = f->state == FLIGHT_aside;
    struct flight **first = queued ? &all->queued_first : aside ? &all->aside_first : &all->first;
    struct flight **last = queued ? &all->queued_last : aside ? &all->aside_last : &all->last;
    *(f->prev ? &f->prev->next : first) = f->next;
    *(f->next ? &f->next->prev : last) = f->prev;
}

/* Its extenders may be asked about others. */
static void let_go(struct flights *all, struct flight *f)
{
    all->held &= ~f->holds;
    all->admission |= f->holds != 0;
    f->holds = 0;
}

static uint64_t needs(const struct flight *f)
{
    return f->extension != NULL ? extension_needs(f->extension) : 0;
}

static void set_state(struct flights *all, struct flight *f, enum flight_state state)
{
    all->in[f->state]--;
    all->in[state]++;
    f->state = state;
}

static void append(struct flights *all, struct flight *f)
{
    set_state(all, f, FLIGHT_waiting);
    f->next = NULL;
    f->prev = all->last;
    *(all->last ? &all->last->next : &all->first) = f;
    all->last = f;
}

static void answered_remove(struct flights *all, struct flight *f)
{
    *(f->prev ? &f->prev->next : &all->answered) = f->next;
    if (f->next != NULL)
        f->next->prev = f->prev;
    f->answered = false;
}

static bool is_asked(const struct flight *f)
{
    return f->state == FLIGHT_asking || f->state == FLIGHT_permitting;
}

static void push(struct flight **list, struct flight *f)
{
    f->prev = NULL;
    f->next = *list;
    if (f->next != NULL)
        f->next->prev = f;
    *list = f;
}

static void asked_remove(struct flights *all, struct flight *f)
{
    *(f->prev ? &f->prev->next : &all->asked) = f->next;
    if (f->next != NULL)
        f->next->prev = f->prev;
    f->question = 0;
    f->asked_peer = 0;
    memory_free(f->permit);
    f->permit = NULL;
}

/* Out of whatever list it is in. */
static void unlink_flight(struct flights *all, struct flight *f)
{
    if (is_asked(f))
        asked_remove(all, f);
    else if (flight_is_untried(f))
        line_remove(all, f);
    else if (f->answered)
        answered_remove(all, f);
    f->next = f->prev = NULL;
}

struct flight *flights_add(struct flights *all, const struct pod *pod)
{
    struct flight *f = memory_take(sizeof(*f));
    codec_copy(&pod_record, &f->pod, pod, &f->arena);
    all->in[f->state]++;
    append(all, f);
    must(map_set(all->by_uid, f->pod.uid, f) == NULL);
    return f;
}

bool flight_is_untried(const struct flight *f)
{
    return f->state == FLIGHT_waiting || f->state == FLIGHT_queued || f->state == FLIGHT_aside;
}

bool flight_is_of_resize(const struct flight *f)
{
    return f->pod.resize_deferred && f->pod.node_name.len > 0;
}

bool flight_is_in_decision(const struct flight *f)
{
    return f->state == FLIGHT_deciding || f->state == FLIGHT_placed || f->state == FLIGHT_passed;
}

void flight_set_pod(struct flight *f, const struct pod *pod)
{
    struct arena fresh = {0};
    struct pod copy;
    must(str_equal(f->pod.uid, pod->uid));
    codec_copy(&pod_record, &copy, pod, &fresh);
    arena_free(&f->arena);
    f->arena = fresh;
    f->pod = requests_as_tried(&copy);
    f->remembered = false;
}

void flight_keep_pod(struct flight *f, const struct pod *pod)
{
    must(str_equal(f->pod.uid, pod->uid));
    (void)packed_set(&f->newer, &pod_record, pod);
}

static void take_newer(struct flight *f)
{
    struct arena memory = {0};
    struct pod newer;
    if (f->newer.bytes == NULL)
        return;
    packed_get(&f->newer, &pod_record, &newer, &memory);
    flight_set_pod(f, &newer);
    arena_free(&memory);
    packed_free(&f->newer);
}

void flights_start(struct flights *all, struct flight *f, enum flight_state state)
{
    must(state != FLIGHT_waiting);
    unlink_flight(all, f);
    if (state == FLIGHT_binding || state == FLIGHT_permitting || state == FLIGHT_preempting ||
        state == FLIGHT_releasing)
        let_go(all, f);
    set_state(all, f, state);
    if (is_asked(f))
        push(&all->asked, f);
}

void flights_put_aside(struct flights *all, struct flight *f)
{
    must(f->state == FLIGHT_waiting);
    unlink_flight(all, f);
    set_state(all, f, FLIGHT_aside);
    f->prev = all->aside_last;
    *(all->aside_last ? &all->aside_last->next : &all->aside_first) = f;
    all->aside_last = f;
}

void flights_answered(struct flights *all, struct flight *f)
{
    must(f->state == FLIGHT_preempting && !f->answered);
    f->answered = true;
    push(&all->answered, f);
}

int64_t flights_question(struct flights *all)
{
    return ++all->questions;
}

void flights_due(struct flights *all, struct flight *f, struct moment deadline)
{
    f->deadline = deadline;
    all->asked_due = moment_earlier(all->asked_due, deadline);
}

void flights_find_due(struct flights *all)
{
    all->asked_due = MOMENT_NEVER;
    for (const struct flight *f = all->asked; f != NULL; f = f->next)
        all->asked_due = moment_earlier(all->asked_due, f->deadline);
}

static bool comes_before(const struct flight *a, const struct flight *b, bool in_front)
{
    return in_front ? a->pod.priority > b->pod.priority : a->pod.priority >= b->pod.priority;
}

void flights_queue(struct flights *all, struct flight *f, bool in_front)
{
    unlink_flight(all, f);
    let_go(all, f);
    set_state(all, f, FLIGHT_queued);
    struct flight *before = all->queued_last;
    while (before != NULL && !comes_before(before, f, in_front))
        before = before->prev;
    f->prev = before;
    f->next = before != NULL ? before->next : all->queued_first;
    *(f->prev ? &f->prev->next : &all->queued_first) = f;
    *(f->next ? &f->next->prev : &all->queued_last) = f;
    all->admission = true;
}

void flights_unqueue_all(struct flights *all)
{
    struct flight *f;
    size_t at = 0;
    while ((f = all->queued_first) != NULL) {
        unlink_flight(all, f);
        append(all, f);
    }
    while ((f = flights_next(all, &at)) != NULL)
        let_go(all, f);
}

void flights_admit(struct flights *all, uint64_t away)
{
    uint64_t taken = all->held;
    if (!all->admission)
        return;
    all->admission = false;
    for (struct flight *f = all->queued_first, *next; f != NULL; f = next) {
        next = f->next;
        if ((needs(f) & away) != 0)
            continue;
        if ((needs(f) & taken) == 0) {
            unlink_flight(all, f);
            f->holds = needs(f);
            all->held |= f->holds;
            append(all, f);
        }
        taken |= needs(f);
    }
}

void flights_return(struct flights *all, struct flight *f)
{
    must(f->state != FLIGHT_waiting);
    unlink_flight(all, f);
    f->node = (struct str){NULL, 0}; /* of a preemption that is given up; lay in the pod's arena */
    f->plugins = f->victims = (struct strs){0};
    f->activate = f->overtaken = false;
    release_list_free(&f->releasing);
    f->gated_epoch = f->gated_sequence = 0;
    take_newer(f);
    if (f->gang == NULL && (needs(f) & ~f->holds) != 0) {
        flights_queue(all, f, true);
        return;
    }
    set_state(all, f, FLIGHT_waiting);
    f->prev = NULL;
    f->next = all->first;
    *(all->first ? &all->first->prev : &all->last) = f;
    all->first = f;
}

void flights_remove(struct flights *all, struct flight *f)
{
    unlink_flight(all, f);
    let_go(all, f);
    gang_try_leave(f);
    all->in[f->state]--;
    must(map_remove(all->by_uid, f->pod.uid) == f);
    flight_free(f);
}
