/* move: which waiting pods an event wakes. */
#ifndef QUEUE_MOVE_H
#define QUEUE_MOVE_H

#include "queue/places.h"

/* What the event is worth to a pod that was rejected. */
enum worth move_worth(struct entry *e, const struct event *event);
/* What the events since its pop are worth to a pod in flight that has these rejectors now. */
enum worth move_worth_in_flight(const struct entry *e);
/* Shows the event to all unschedulable pods and to the attempts under way. at_most, when not NULL:
 * only pods of no higher priority than that one are woken. Returns how many moved. */
size_t move_all(struct queues *q, struct moment now, const struct event *event,
                const struct pod *at_most);

#endif
