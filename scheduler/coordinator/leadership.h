/* leadership: the terms in which this coordinator decides. */
#ifndef SCHEDULER_COORDINATOR_LEADERSHIP_H
#define SCHEDULER_COORDINATOR_LEADERSHIP_H

#include "scheduler/coordinator/coordination.h"

/* The binder says who leads, and what it has under way. */
void leadership_take(struct coordinator *c, const struct leadership *l);
/* The binder is gone, and nobody here leads. */
void leadership_end(struct coordinator *c);
/* The queue has lost its book: nobody waits for an outcome of what is there. */
void leadership_forget_debts(struct coordinator *c);
/* Gives attempts back to the queue, unless we lead. */
void leadership_turn_back(struct coordinator *c);

/* Asks for this term's barrier, when nothing else is waited for before it. */
void leadership_ask(struct coordinator *c, struct moment now);
/* Asks for one behind which claims that were settled are in doubt no more. */
void leadership_say_doubt(struct coordinator *c, struct moment now);
void leadership_on_barrier(struct coordinator *c, struct moment now, int64_t id);
/* A snapshot has come: a barrier that was reached is told again behind it. */
void leadership_on_snapshot(struct coordinator *c, struct moment now);
void leadership_lose_watcher(struct coordinator *c);

#endif
