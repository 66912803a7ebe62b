/* worker_count: how many worker processes `berth run` keeps while nobody says how many: by the
 * cluster's nodes, as far as there are processors for them. */
#ifndef CTL_WORKER_COUNT_H
#define CTL_WORKER_COUNT_H

#include "proto/base/moment.h"

#include <stdint.h>

/* A pod unlike any before takes a worker 5 to 8 ns a node: some 0.1 ms with so many. */
#define WORKER_COUNT_NODES 20000
#define WORKER_COUNT_LIMIT 64
/* A number of nodes that asks for more workers has to stay for so long, and one that asks for
 * fewer: each change hands nodes from one to another. */
#define WORKER_COUNT_MORE_MS  10000
#define WORKER_COUNT_FEWER_MS 600000

struct worker_count {
    unsigned most; /* never more */
    unsigned now;  /* so many are kept; 0: the scheduler looks at the nodes itself */
    unsigned wish; /* so many are asked for by the nodes, since then */
    struct moment since;
};

/* Processors that this process may use: those that it may run on, or what its container is given of
 * their time, rounded up, if that is less. At least 1. */
unsigned worker_count_processors(void);
/* How many workers there are processors for: half of them, as the others are for watcher, queue,
 * scheduler, binder and what else is there; WORKER_COUNT_LIMIT at most. */
unsigned worker_count_most(unsigned processors);
/* How many that number of nodes asks for: one for each WORKER_COUNT_NODES, but none where that
 * would be one alone, which is no faster than the scheduler itself; and two where there are workers
 * already. */
unsigned worker_count_by_nodes(const struct worker_count *w, uint64_t nodes);
/* The number of nodes as seen now; 0: nobody knows them, which changes nothing. Returns `now`,
 * which has changed if what is asked for has been asked for long enough. */
unsigned worker_count_look(struct worker_count *w, struct moment now, uint64_t nodes);

#endif
