/* pacing: how much each worker has been sent that it has not taken in yet. */
#ifndef SCHEDULER_CLUSTER_PACING_H
#define SCHEDULER_CLUSTER_PACING_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
    uint32_t worker;
    uint32_t on_the_way; /* messages */
    uint32_t owed;       /* nodes that it is to be told of later */
    uint32_t cursor;     /* where the search for those goes on */
    bool counts;         /* it says what it has taken; else there is no limit */
};

/* Zero-initialise. */
struct paces {
    struct pace *at;
    uint32_t count, room;
    uint32_t owed; /* of all */
};

/* The pace of a worker, NULL when there is none; valid until one is opened or closed. */
struct pace *pace_of(const struct paces *l, uint32_t worker);
/* Begins anew, also when there was one. */
void pace_open(struct paces *l, uint32_t worker, bool counts);
void pace_close(struct paces *l, uint32_t worker);
void pace_sent(struct paces *l, uint32_t worker);
void pace_taken(struct paces *l, uint32_t worker, int64_t count);
void pace_owes(struct paces *l, uint32_t worker, int change);
void paces_free(struct paces *l);

#endif
