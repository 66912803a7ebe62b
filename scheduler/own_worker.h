/* own_worker: a coordinator and a worker of its own as one core, so that no message between the two
 * has to travel. */
#ifndef SCHEDULER_OWN_WORKER_H
#define SCHEDULER_OWN_WORKER_H

#include "proto/bus/actor.h"
#include "scheduler/worker/worker.h"

struct own_worker {
    struct actor coordinator;
    struct worker *worker;
    struct outbox told; /* by the coordinator, to anybody, until it has been sorted */
    struct outbox owed; /* to the worker */
    struct outbox said; /* by the worker, until the coordinator is told */
    struct outbox *out; /* while one of the two is called: whatever else there is to send */
    struct arena memory;
    bool up;         /* the two know of each other */
    uint32_t others; /* worker processes that are there */
};

/* Borrows both. */
void own_worker_init(struct own_worker *o, const struct actor *coordinator, struct worker *worker);
void own_worker_free(struct own_worker *o);
/* It is the one that is asked. */
bool own_worker_up(const struct own_worker *o);
/* The coordinator's, with the worker behind it. */
struct actor own_worker_actor(struct own_worker *o);

#endif
