/* candidate: which of two nodes is the better one to drive pods out of; upstream's
 * pickOneNodeForPreemption as a lexicographic order. */
#ifndef SCHEDULER_RULES_CANDIDATE_H
#define SCHEDULER_RULES_CANDIDATE_H

#include <stdint.h>

/* Said of a node that is none, because nobody there may be driven out. */
#define NO_VICTIMS "No preemption victims found for incoming pod"

/* Zero-initialise, set violations, then add the victims in order, the most important first. */
struct candidate_rank {
    int64_t violations; /* victims that a PodDisruptionBudget would protect: fewer is better */
    int64_t highest;    /* priority of the first victim: lower is better */
    int64_t sum;        /* of all victims' priorities, each plus 2^31: lower is better */
    int64_t count;      /* fewer is better */
    int64_t earliest;   /* start of the oldest among those with the greatest priority: later is
                           better */
    int64_t greatest;   /* the priority that earliest is about */
};

/* started: when the victim started, or the present for one that has not; microseconds. */
void candidate_rank_add(struct candidate_rank *r, int64_t priority, int64_t started);
/* < 0: a is better; 0: they tie. */
int candidate_rank_compare(const struct candidate_rank *a, const struct candidate_rank *b);

#endif
