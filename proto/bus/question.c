/* question: numbers of one barrier, from the first time that it is asked until it is forgotten.
 * What must stay true: all numbers from first to last were asked after what the question is about
 * had happened, and nobody else has them. */
#include "proto/bus/question.h"

bool question_is_open(const struct question *q)
{
    return q->first == 0 || q->unheard;
}

void question_ask(struct question *q, struct moment now, struct random *random,
                  struct address watcher, struct outbox *out)
{
    if (q->first == 0) {
        q->first = q->last = (int64_t)(random_next(random) >> 2) + 1;
        q->asked = now;
    } else if (q->unheard) {
        q->last++;
    }
    q->unheard = false;
    q->again = moment_after(now, span_of_ms(QUESTION_AGAIN_MS));
    struct message m = {.type = MSG_barrier, .barrier = {.id = q->last}};
    outbox_put(out, watcher, &m);
}

void question_lose_link(struct question *q)
{
    q->unheard = q->first != 0;
}

bool question_is(const struct question *q, int64_t id)
{
    return q->first != 0 && id >= q->first && id <= q->last;
}
