/* queue_check: the queue's invariants as its unit tests have them; linked with the queue's objects,
 * because they look inside, and the only file of the simulation that does. */
#include "tests/simulation/queue_check.h"

#define CHECK_NAMES_EVERY 16
#include "tests/unit/queue/check.h"

/* So long behind its second somebody may still lie there: ends are looked at once a second. */
#define LATE 2

/* Each heap's first ends before its others. */
static bool is_overdue(struct heap *heap, struct moment now)
{
    const struct entry *e = heap_top(heap);
    return e != NULL && e->backoff_ends.ns != 0 &&
           moment_reached(now, moment_after(e->backoff_ends, span_of_seconds(LATE)));
}

bool queue_check_overdue(const struct queue *queue, struct moment now)
{
    const struct backoff *b = &queue_inside(queue)->backoff;
    return is_overdue(b->pods, now) || is_overdue(b->errors, now);
}

void queue_check(const struct queue *queue)
{
    check_queues(queue_inside(queue));
}
