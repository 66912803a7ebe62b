/* queue_check: the queue's own invariants (tests/unit/queue/check.h), on a whole queue. */
#ifndef TESTS_SIMULATION_QUEUE_CHECK_H
#define TESTS_SIMULATION_QUEUE_CHECK_H

#include "queue/queue.h"

/* Ends the process when one does not hold. */
void queue_check(const struct queue *queue);

#endif
