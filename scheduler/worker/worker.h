/* worker: a replica of some nodes that answers map requests; owns nothing and can be rebuilt from
 * the scheduler's stream at any time. */
#ifndef SCHEDULER_WORKER_WORKER_H
#define SCHEDULER_WORKER_WORKER_H

#include "proto/base/moment.h"
#include "proto/bus/delivery.h"

struct worker;

/* instance is borrowed. */
struct worker *worker_new(const char *instance, int64_t capacity);
/* For the limits that requests set; without a clock there are none. */
void worker_set_clock(struct worker *w, struct moment (*clock)(void));
/* For the metrics of plugins; without it there are none. */
void worker_time_plugins(struct worker *w, struct moment (*clock)(void));
void worker_free(struct worker **worker);
/* For the actor loop; state is a struct worker. */
void worker_handle(void *state, struct moment now, const struct delivery *in, struct outbox *out);
struct moment worker_tick(void *state, struct moment now, struct outbox *out);
void worker_status(void *state, struct buffer *lines);
/* True when a worker handles this message; for the test that holds the table to messages.def. */
bool worker_takes(enum message_type type);

#endif
