/* dry_results: what dry runs have found out about rows, kept for the next pod that asks for the
 * same with the same priority. Only what follows from the row alone is kept: see dry_results_for.
 */
#ifndef SCHEDULER_WORKER_DRY_RESULTS_H
#define SCHEDULER_WORKER_DRY_RESULTS_H

#include "scheduler/rules/candidate.h"
#include "scheduler/rules/ruling.h"

#include <stdbool.h>

struct dry_results;
struct evaluation;
struct kept_results;

enum dry_result_kind {
    DRY_unknown,   /* or it cannot be kept */
    DRY_beside,    /* the pod fits, or removing pods cannot help */
    DRY_rejected,  /* it would not fit even without them */
    DRY_candidate, /* it would fit without some */
    DRY_failed     /* an error, or it fits with everybody back; never kept */
};

struct dry_result {
    uint8_t kind;   /* enum dry_result_kind */
    uint8_t ruling; /* rejected: see dry_results_ruling */
    bool present;   /* candidate: rank.earliest stands for the present */
    struct candidate_rank rank;
};

/* The results, by row, at the nodes of e->shard as they are now, for pods like the request's; those
 * that are not unknown are what looking would tell. NULL: none are kept for it, since its rules
 * count other pods, or more is asked for than the best candidate. Borrowed until the next call. */
struct dry_result *dry_results_for(const struct evaluation *e, struct dry_results **results);
/* Keeps the reasons against a row. False: there is no room for others. */
bool dry_results_reject(struct dry_results *results, const struct ruling *ruling,
                        struct dry_result *found);
const struct ruling *dry_results_ruling(const struct dry_results *results,
                                        const struct dry_result *found);

/* Forgets all; NULL: nothing is kept. */
void dry_results_free(struct kept_results **results);

#endif
