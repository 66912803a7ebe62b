/* preemption: on which node pods of lower priority may be driven out for a pod that fits nowhere,
 * and which pods; upstream's plugin DefaultPreemption and its Evaluator.
 *
 * The workers find the candidates (dry_run.c), one for each node where removing some pods would
 * let the pod pass its filters; here they are merged and one is picked. Unlike upstream, which
 * stops after minCandidateNodesPercentage and minCandidateNodesAbsolute candidates from a random
 * node on, all nodes are looked at: the choice is the best that upstream could have made.
 *
 * Acting on it (nominate, evict, clear the nominations that lost) is the coordinator's. */
#ifndef SCHEDULER_MERGE_PREEMPTION_H
#define SCHEDULER_MERGE_PREEMPTION_H

#include "scheduler/merge/fit_error.h"
#include "scheduler/rules/framework.h"

/* What was found out about an unschedulable pod. Lives as long as the decision. */
struct preemption {
    bool considered;   /* the profile has DefaultPreemption, and there are nodes */
    bool eligible;     /* the pod may drive out others */
    bool waits;        /* not now: those that it drove out are still going */
    struct str reason; /* if not: why */
    struct str node;   /* where room is to be made; empty: nowhere */
    struct {
        uint32_t count;
        struct victim *at; /* who is to go from there, in upstream's order */
    } victims;
    int64_t violations; /* how many of them a PodDisruptionBudget would protect */
    struct str
        post_filter; /* what the PostFilter plugins say; in 1.36 nothing if there is a node */
    bool failed;     /* and that is an error, which leaves a nomination as it is */

    /* with detail only, sorted by node */
    struct strs potential;  /* nodes where removing pods may help; all were looked at */
    struct strs best_nodes; /* all candidates that tie */
    struct {
        uint32_t count;
        struct candidate *at;
    } candidates;
    struct {
        uint32_t count;
        struct verdict *at; /* the potential nodes that are no candidates, and why */
    } rejected;
};

/* ---- for the merge of a cycle (reduce.c, no_node.c) ---- */

/* The candidates of all shards. Zero-initialise, then set arena. */
struct candidates {
    struct arena *arena;
    struct {
        uint32_t count, room;
        struct candidate *at;
    } all;
    struct {
        uint32_t count, room;
        struct verdict *at;
    } rejected;
    struct histogram reasons; /* of nodes that are no candidates */
    bool extended;            /* an extender has had its say: these are what it left */
    struct str failed;        /* it failed, and preemption with it */
    int64_t nodes;            /* looked at */
};

/* Keeps the best of them, as many as upstream would have stopped at: percentage of the nodes that
 * were looked at, or absolute if that is more; both 0: all. Sorted by node. */
void candidates_limit(struct candidates *c, int64_t percentage, int64_t absolute, int64_t now_us);

/* How the pod's nominated node did in this cycle. */
struct nominated_outcome {
    enum verdict_code code; /* its verdict's; none: it was not looked at, so it cannot be helped */
    bool waits;             /* a pod that was preempted there still terminates */
};

/* Sets considered, eligible, waits and reason. */
void preemption_judge(struct preemption *p, const struct framework *fw, const struct pod *pod,
                      const struct nominated_outcome *nominated);
/* All disruption budgets of the catalog that can protect a pod, into the request. */
void preemption_ask(struct map_request *request, const struct catalog *catalog, struct arena *a);
/* False when a worker's answer makes no sense. */
bool candidates_make_sense(const struct map_result *result);
/* What workers would say of so many nodes when no pod has a lower priority: no need to ask. */
void candidates_none(struct candidates *c, int64_t nodes);
/* Takes a copy of a worker's part. */
void candidates_add(struct candidates *c, const struct map_result *result);

/* How ties are broken: as in the request that found the candidates. */
struct tie_break {
    enum tie_break_rule rule; /* first and round_robin take the first by name */
    int64_t seed;
    int64_t now_us; /* the start of pods that have not started */
};

/* Of a pod that may drive out others: the nodes of these, sorted, where removing pods may help. */
void preemption_list_potential(struct preemption *p, const struct verdict *at, uint32_t count,
                               struct arena *a);
/* Puts candidates and rejected nodes in the order of their names. */
void candidates_sort(struct candidates *c);
/* Picks the best candidate, if there is any: node, victims, violations, and the lists. */
void preemption_pick(struct preemption *p, struct candidates *c, const struct tie_break *by);
/* Why there is no candidate: true, with the words, when a rule failed on some node. */
bool candidates_failed(const struct candidates *c, struct str *why);

#endif
