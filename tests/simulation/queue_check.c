/* queue_check: the queue's invariants as its unit tests have them; linked with the queue's objects,
 * because they look inside, and the only file of the simulation that does. */
#include "tests/simulation/queue_check.h"

#define CHECK_NAMES_EVERY 16
#include "tests/unit/queue/check.h"

void queue_check(const struct queue *queue)
{
    check_queues(queue_inside(queue));
}
