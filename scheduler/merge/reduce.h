/* reduce: one scheduling cycle of one pod as the coordinator sees it: PreFilter, ask all shards,
 * merge what they answer, ask again where needed, decide.
 *
 * The steps asked for: count (only if a rule counts and there are several shards), map (first of
 * the pod's nominated node alone, if it has one), again (until all have normalised with the same
 * ranges), claims (if nothing fits and a claim might be deallocated), victims (if nothing fits and
 * preemption may help).
 *
 * - step = reduce_start(r, &start).
 * - While it is REDUCE_ask: send reduce_request(r) to each shard i with reduce_asks(r, i); then for
 *   each answer step = reduce_add(r, shard, &result), which is REDUCE_wait until all are in.
 * - When it is REDUCE_done: reduce_decision(r).
 *
 * REDUCE_extend ends a cycle without a decision: extenders have to be asked first.
 *
 * Shards are numbered 0 … count-1 by the caller, for this cycle only. When a shard is lost or the
 * shares change in mid-cycle, start the cycle again. Everything else is pure. */
#ifndef SCHEDULER_MERGE_REDUCE_H
#define SCHEDULER_MERGE_REDUCE_H

#include "proto/messages.h"
#include "scheduler/cluster/deallocation.h"
#include "scheduler/merge/extension.h"
#include "scheduler/merge/preemption.h"
#include "scheduler/merge/walk.h"
#include "scheduler/rules/framework.h"

struct cache;
struct reduce;

enum reduce_step {
    REDUCE_ask,    /* send the request to the shards that reduce_asks names */
    REDUCE_wait,   /* answers are missing */
    REDUCE_extend, /* extenders are to be asked reduce_extend; then the cycle begins anew, knowing
                    * what they said */
    REDUCE_done
};

struct reduce_start {
    int64_t cycle;
    const struct framework *framework;
    const struct catalog *catalog;
    const struct pod *pod; /* borrowed until the next reduce_start */
    struct strs siblings;  /* UIDs of nominated pods of its group, which do not count; copied */
    uint32_t shards;       /* how many will be asked */
    int64_t nodes;         /* nodes in the whole cluster, or in its group's domain */
    const struct strs *placement; /* the nodes of that domain, borrowed; NULL: all nodes count */
    bool placed;                  /* its group has to be within one, which may be all nodes */
    bool no_terms;      /* no pod on any node has affinity terms, so nobody need be asked */
    bool none_lower;    /* no pod on any node has a lower priority, so there are no victims */
    bool own_hostnames; /* every node's hostname is its name: cache_odd_hostnames is 0 */
    enum tie_break_rule tie_break;
    int64_t seed;
    uint64_t turn;    /* round-robin: how many choices were made before */
    int64_t now_us;   /* wall clock: the start, to preemption, of pods that have not started */
    struct walk walk; /* where not all nodes count, or equal ones take turns */
    const struct extension *extension; /* what extenders said; NULL: none cares about the pod */
    struct moment (*clock)(void);      /* times PreFilter's plugins; NULL: no */
    /* The shard that has a node, UINT32_MAX: none. NULL: that is not known, and all shards are
     * asked for few nodes, too. */
    uint32_t (*owner)(const void *context, struct str node);
    const void *owner_context;
    struct moment (*timer)(void); /* ends searches for devices; NULL: they take no time */
    struct cache *cache;          /* which nodes there are, for pods that are to be given devices */
    bool group_is_active;         /* pods of its PodGroup are on nodes, or on their way there, not
                                     counting those that the present attempt has placed */
    bool detail; /* every node's verdict and scores, and every candidate of a preemption */
};

enum decision_kind {
    DECISION_node,          /* node is chosen */
    DECISION_unschedulable, /* message and plugins say why */
    DECISION_error          /* the cycle failed: message */
};

struct decision {
    enum decision_kind kind;
    struct str node;
    int64_t total;      /* its score */
    int64_t best_count; /* how many nodes have it */
    int64_t nodes;      /* in the cluster */
    int64_t evaluated;  /* filtered */
    int64_t feasible;
    bool took_turn; /* it was a choice of a round-robin */
    int64_t walked; /* over how many nodes it was looked for feasible ones, as upstream counts */
    struct str message;  /* as in the PodScheduled condition, without truncation */
    struct strs plugins; /* that rejected it, sorted; empty for an error and for no nodes */
    struct str
        score_error;      /* why scoring failed, which does not matter to a single feasible node */
    bool used_nominated;  /* the nominated node passed and was taken without scoring */
    bool clear_nominated; /* upstream would clear status.nominatedNodeName */
    struct preemption preemption; /* of an unschedulable pod; with a node, it is to be nominated
                                     there and the victims evicted */
    struct str nominated; /* of such a pod: a plugin on the bus wants it to be nominated there */
    struct deallocation deallocation; /* of an unschedulable pod: PostFilter asks for it; the
                                         message says that it is done */
    struct deallocation for_group;    /* what its PodGroup could do without */
    bool claims_known;                /* DynamicResources has looked at the pod's claims */
    struct pre_filter_outcome pre_filter;
    struct str absent;      /* why the nodes that PreFilter ruled out were not looked at */
    uint64_t score_skipped; /* bit i: profile.score[i] had nothing to say */
    uint32_t open_claims;   /* of the pod's that are to be given devices with the node */
    struct strs best_nodes; /* with detail only: all that tie, sorted */
    bool group_refused;     /* an error that is its whole group's: the pod itself was not tried */
};

struct reduce *reduce_new(void);
void reduce_free(struct reduce **r);

/* Begins a cycle; what the last one gave is gone. */
enum reduce_step reduce_start(struct reduce *r, const struct reduce_start *start);
/* The same for a single shard and a pod that differs in nothing but its names from one whose step
 * map is to be asked, or was: what that one has is borrowed, so its answer may be added only if it
 * chooses a node, and while the other's pod and reduce last. */
enum reduce_step reduce_start_alike(struct reduce *r, const struct reduce_start *start,
                                    const struct reduce *like);
/* The request to send, after REDUCE_ask; the same for all. */
const struct map_request *reduce_request(const struct reduce *r);
/* True when this shard is to be sent the request. */
bool reduce_asks(const struct reduce *r, uint32_t shard);
/* Takes a copy of what it needs. Answers of another cycle or round, of a shard that was not asked,
 * or doubled, are ignored (REDUCE_wait). */
enum reduce_step reduce_add(struct reduce *r, uint32_t shard, const struct map_result *result);
/* After REDUCE_extend: what about, and the nodes, sorted, or the candidates, by node, or why no
 * node is any good; borrowed until the next reduce_start. */
struct reduce_extend {
    enum extension_about about;
    struct strs nodes;
    uint32_t count;
    const struct candidate *candidates;
    uint32_t verdict_count; /* about no node, of a cycle with detail: why each node is no good, */
    const struct verdict *verdicts; /* sorted; others were not looked at, */
    struct verdict absent;          /* for this reason */
};
const struct reduce_extend *reduce_extend(const struct reduce *r);
/* After REDUCE_done; borrowed until the next reduce_start. */
const struct decision *reduce_decision(const struct reduce *r);
/* With detail: every node's verdict, sorted by name; borrowed likewise. */
const struct verdict *reduce_verdicts(const struct reduce *r, uint32_t *count);

#endif
