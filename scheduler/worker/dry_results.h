/* dry_looks: what dry runs have found out about rows, kept for the next pod that asks for the same
 * with the same priority. Only what follows from the row alone is kept: see dry_looks_for. */
#ifndef SCHEDULER_WORKER_DRY_LOOKS_H
#define SCHEDULER_WORKER_DRY_LOOKS_H

#include "scheduler/rules/candidate.h"
#include "scheduler/rules/ruling.h"

#include <stdbool.h>

struct dry_looks;
struct evaluation;
struct kept_looks;

enum look_kind {
    LOOK_unknown,   /* or it cannot be kept */
    LOOK_beside,    /* the pod fits, or removing pods cannot help */
    LOOK_rejected,  /* it would not fit even without them */
    LOOK_candidate, /* it would fit without some */
    LOOK_failed     /* an error, or it fits with everybody back; never kept */
};

struct dry_look {
    uint8_t kind;   /* enum look_kind */
    uint8_t ruling; /* rejected: see dry_looks_ruling */
    bool present;   /* candidate: rank.earliest stands for the present */
    struct candidate_rank rank;
};

/* The looks, by row, at the nodes of e->shard as they are now, for pods like the request's; those
 * that are not unknown are what looking would tell. NULL: none are kept for it, since its rules
 * count other pods, or more is asked for than the best candidate. Borrowed until the next call. */
struct dry_look *dry_looks_for(const struct evaluation *e, struct dry_looks **looks);
/* Keeps the reasons against a row. False: there is no room for others. */
bool dry_looks_reject(struct dry_looks *looks, const struct ruling *ruling, struct dry_look *look);
const struct ruling *dry_looks_ruling(const struct dry_looks *looks, const struct dry_look *look);

/* Forgets all; NULL: nothing is kept. */
void dry_looks_free(struct kept_looks **looks);

#endif
