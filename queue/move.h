/* move: which waiting pods an event wakes, and where they go. */
#ifndef QUEUE_MOVE_H
#define QUEUE_MOVE_H

#include "queue/queues.h"

enum move_worth {
    MOVE_skip,          /* another attempt would end like the last */
    MOVE_after_backoff, /* worth another attempt, once its backoff is over */
    MOVE_immediately    /* a plugin has waited for just this */
};

/* What the event is worth to a pod that was rejected. */
enum move_worth move_worth(struct entry *e, const struct event *event);
/* What the events since its pop are worth to a pod in flight that has these rejectors now. */
enum move_worth move_worth_in_flight(const struct entry *e);
/* Puts the pod, which is nowhere or unschedulable, where that worth says; gates hold it anyway. */
void move_requeue(struct queues *q, struct moment now, struct entry *e, enum move_worth worth);

/* Shows the event to all unschedulable pods and to the attempts under way. at_most, when not NULL:
 * only pods of no higher priority than that one are woken. Returns how many moved. */
size_t move_all(struct queues *q, struct moment now, const struct event *event,
                const struct pod *at_most);

#endif
