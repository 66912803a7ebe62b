/* Timers in a heap, for the toy kubelet, delayed answers, sweeps and the demo.
 *
 * The one idea: there is one clock reading a turn of the loop, and whatever is due then runs then;
 * an action may start further timers, which run in a later turn at the earliest. */
#include "timers.h"

struct timer {
    struct heap_link link;
    int64_t due_ms;
    timer_action *action;
    void *context, *subject;
};

static bool timer_before(const void *a, const void *b)
{
    return ((const struct timer *)a)->due_ms < ((const struct timer *)b)->due_ms;
}

static struct heap_link *timer_link(void *entry)
{
    return &((struct timer *)entry)->link;
}

void timers_init(struct timers *timers)
{
    timers->heap = heap_new(timer_before, timer_link);
}

void timers_free(struct timers *timers)
{
    struct timer *timer;
    while ((timer = heap_pop(timers->heap)) != NULL) {
        memory_free(timer->subject);
        memory_free(timer);
    }
    heap_free(&timers->heap);
}

struct timer *timer_start(struct timers *timers, int64_t due_ms, timer_action *action,
                          void *context, void *subject)
{
    struct timer *timer = memory_take(sizeof *timer);
    *timer =
        (struct timer){.due_ms = due_ms, .action = action, .context = context, .subject = subject};
    heap_push(timers->heap, timer);
    return timer;
}

void timer_stop(struct timers *timers, struct timer *timer)
{
    heap_remove(timers->heap, timer);
    memory_free(timer);
}

int64_t timers_run(struct timers *timers, int64_t now_ms, int64_t most)
{
    size_t budget = heap_count(timers->heap);
    struct timer *timer;
    while (budget-- > 0 && (timer = heap_top(timers->heap)) != NULL && timer->due_ms <= now_ms) {
        heap_pop(timers->heap);
        timer->action(timer->context, timer->subject);
        memory_free(timer);
    }
    timer = heap_top(timers->heap);
    if (timer == NULL || timer->due_ms - now_ms > most)
        return most;
    return timer->due_ms > now_ms ? timer->due_ms - now_ms : 0;
}
