/* Things to do later, on the monotonic clock in milliseconds. */
#ifndef APISERVER_TIMERS_H
#define APISERVER_TIMERS_H

#include "proto/base/heap.h"
#include "support.h"

struct timers {
    struct heap *heap;
};

struct timer;
typedef void timer_action(void *context, void *subject);

void timers_init(struct timers *timers);
/* Frees what has not fired, and its subjects, each of which has to be one allocation or NULL. */
void timers_free(struct timers *timers);
/* Calls action(context, subject) once, at the given time; the timer is gone after that. */
struct timer *timer_start(struct timers *timers, int64_t due_ms, timer_action *action,
                          void *context, void *subject);
/* Frees a timer that has not fired, not its subject. */
void timer_stop(struct timers *timers, struct timer *timer);
/* Fires what is due; returns the milliseconds until the next one, at most `most`. */
int64_t timers_run(struct timers *timers, int64_t now_ms, int64_t most);

#endif
