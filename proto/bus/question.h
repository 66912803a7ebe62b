/* question: a barrier that the watcher is asked for, until it is reached.
 *
 * It is repeated by the same number, which begins nothing new as long as the watcher knows it, and
 * is answered again when only the answer was lost. A link that was lost may have taken the question
 * along, so it is asked by a further number behind that; the answer to any of them will do, since
 * each was asked after the moment that it is about. */
#ifndef PROTO_BUS_QUESTION_H
#define PROTO_BUS_QUESTION_H

#include "proto/base/moment.h"
#include "proto/base/random.h"
#include "proto/bus/outbox.h"

#define QUESTION_AGAIN_MS 10000

struct question {
    int64_t first, last; /* numbers that it was asked by; 0: it is not asked */
    struct moment asked; /* for the first time */
    struct moment again; /* it may have been lost by then */
    bool unheard;        /* the link that it was asked over is gone */
};

/* True when it was never asked, or its link is gone: no answer is under way. */
bool question_is_open(const struct question *q);
/* Asks, or repeats. */
void question_ask(struct question *q, struct moment now, struct random *random,
                  struct address watcher, struct outbox *out);
/* The watcher is gone, and what was on the way to it. */
void question_lose_link(struct question *q);
/* Whether a barrier of that number answers it. */
bool question_is(const struct question *q, int64_t id);

#endif
