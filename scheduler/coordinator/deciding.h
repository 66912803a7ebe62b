/* deciding: pods that are being decided. */
#ifndef SCHEDULER_COORDINATOR_DECIDING_H
#define SCHEDULER_COORDINATOR_DECIDING_H

#include "scheduler/coordinator/coordination.h"

void deciding_free(struct coordinator *c);
/* What the cache tells a worker (cache_options). */
void deciding_tell(void *context, uint32_t worker, const struct message *m);
bool deciding_tell_encoded(void *context, uint32_t worker, enum message_type type, struct str body);
bool deciding_lets_wait(void *context);
/* The worker is gone: it need not be told to forget. */
void deciding_forget_worker(struct coordinator *c, uint32_t worker);

/* True when the pod is on a node, or on its way to one. */
bool deciding_is_known(const struct coordinator *c, const struct flight *f);
/* The same, or it is not ours to decide about, or it goes. */
bool deciding_has_no_cycle(const struct coordinator *c, const struct flight *f);
/* True when there is nothing to decide about this flight. */
bool deciding_is_idle(const struct coordinator *c, const struct flight *f);

/* Takes the first waiting flight into the next slot, and its first step. */
enum reduce_step deciding_take(struct coordinator *c, struct moment now);
/* The same for one that is like the slot before, with a single worker. */
enum reduce_step deciding_take_alike(struct coordinator *c, struct moment now);
/* It is being decided from now on, on the view as it is. */
void deciding_start(struct coordinator *c, struct flight *f);
/* Flights from this slot on go back to the head of the line, as if they had not been taken. */
void deciding_give_back(struct coordinator *c, uint32_t from);
/* Nothing is under way any more: workers hear what has happened meanwhile, in order. */
void deciding_end(struct coordinator *c);

/* True when nothing has come in between that makes it moot that the pod goes to this node. */
bool deciding_stands(const struct coordinator *c, const struct flight *f, struct str node);
/* The same for a slot, if its decision is a node. */
bool deciding_decision_stands(const struct coordinator *c, const struct slot *s);

#endif
