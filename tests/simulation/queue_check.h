/* queue_check: the queue's own invariants (tests/unit/queue/check.h), on a whole queue. */
#ifndef TESTS_SIMULATION_QUEUE_CHECK_H
#define TESTS_SIMULATION_QUEUE_CHECK_H

#include "queue/queue.h"

/* Ends the process when one does not hold. */
void queue_check(const struct queue *queue);
/* Behind a round of its: somebody waits for a backoff that is over. */
bool queue_check_overdue(const struct queue *queue, struct moment now);

#endif
