/* flight: the coordinator's book of pods it owes something for. What must stay true: one flight a
 * UID; a flight is in the line exactly while it is waiting. */
#include "scheduler/flight.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

void flights_init(struct flights *all)
{
    *all = (struct flights){.by_uid = map_new()};
}

static void flight_free(struct flight *f)
{
    packed_free(&f->newer);
    arena_free(&f->arena);
    memory_free(f);
}

void flights_free(struct flights *all)
{
    size_t at = 0;
    void *value;
    while (map_next(all->by_uid, &at, NULL, &value))
        flight_free(value);
    map_free(&all->by_uid);
}

struct flight *flights_get(const struct flights *all, struct str uid)
{
    return map_get(all->by_uid, uid);
}

static void line_remove(struct flights *all, struct flight *f)
{
    if (f->state != FLIGHT_waiting)
        return;
    *(f->prev ? &f->prev->next : &all->first) = f->next;
    *(f->next ? &f->next->prev : &all->last) = f->prev;
    f->next = f->prev = NULL;
    all->waiting--;
}

struct flight *flights_add(struct flights *all, const struct pod *pod)
{
    struct flight *f = memory_take(sizeof(*f));
    codec_copy(&pod_record, &f->pod, pod, &f->arena);
    f->state = FLIGHT_waiting;
    f->prev = all->last;
    *(all->last ? &all->last->next : &all->first) = f;
    all->last = f;
    all->waiting++;
    must(map_set(all->by_uid, f->pod.uid, f) == NULL);
    return f;
}

void flight_set_pod(struct flight *f, const struct pod *pod)
{
    struct arena fresh = {0};
    struct pod copy;
    must(str_equal(f->pod.uid, pod->uid));
    codec_copy(&pod_record, &copy, pod, &fresh);
    arena_free(&f->arena);
    f->arena = fresh;
    f->pod = copy;
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
    line_remove(all, f);
    f->state = state;
}

void flights_return(struct flights *all, struct flight *f)
{
    must(f->state != FLIGHT_waiting);
    f->node = (struct str){NULL, 0}; /* of a preemption that is given up; lay in the pod's arena */
    f->plugins = f->victims = (struct strs){0};
    f->answered = f->activate = f->overtaken = false;
    take_newer(f);
    f->state = FLIGHT_waiting;
    f->prev = NULL;
    f->next = all->first;
    *(all->first ? &all->first->prev : &all->last) = f;
    all->first = f;
    all->waiting++;
}

void flights_remove(struct flights *all, struct flight *f)
{
    line_remove(all, f);
    must(map_remove(all->by_uid, f->pod.uid) == f);
    flight_free(f);
}
