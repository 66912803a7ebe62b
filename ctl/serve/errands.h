/* errands: questions that `berth` answers, each by a helper that runs once: few at a time, each
 * bounded in time and in what it may print. */
#ifndef SERVE_ERRANDS_H
#define SERVE_ERRANDS_H

#include "proto/base/buffer.h"
#include "proto/base/moment.h"

#define ERRANDS_AT_ONCE 4
#define ERRANDS_MAX     20         /* with those that wait for their turn, or to be fetched */
#define ERRANDS_TIME_MS 20000      /* from its start */
#define ERRANDS_KEEP_MS 10000      /* an answer that was not fetched */
#define ERRANDS_ANSWER  (16 << 20) /* bytes */

struct errands;

/* epoll_fd: where what it waits for is put; borrowed. */
struct errands *errands_new(int epoll_fd);
void errands_free(struct errands **errands);

/* argv: as for helper_start, copied; input: what it reads. Returns its number, 0: too many. */
int64_t errands_add(struct errands *e, struct moment now, const char *const *argv,
                    struct str input);

struct errand_answer {
    bool finished; /* false: it took too long, printed too much, or could not be started */
    int status;    /* exit status */
    struct buffer out, err;
};

/* True when it is there; it is the caller's then, and forgotten here. One that is not known has not
 * finished. */
bool errands_take(struct errands *e, int64_t number, struct errand_answer *answer);

/* Reads and starts what is due; true when something has ended. Returns in next when it wants to be
 * called again. */
bool errands_work(struct errands *e, struct moment now, struct moment *next);

#endif
