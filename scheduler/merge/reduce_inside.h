/* reduce_inside: a cycle on its way, for the files that merge it: rounds.c (what shards told, as
 * one), choosing.c (a node), no_node.c (none), reduce.c (the steps). */
#ifndef SCHEDULER_MERGE_REDUCE_INSIDE_H
#define SCHEDULER_MERGE_REDUCE_INSIDE_H

#include "scheduler/merge/reduce.h"
#include "scheduler/merge/score_ranges.h"

enum phase {
    PHASE_count,
    PHASE_nominated,
    PHASE_map,
    PHASE_again,
    PHASE_claims,
    PHASE_victims,
    PHASE_done
};

struct part {
    bool asked, answered;
    const struct map_result *result; /* the newest of the map rounds, from the reduce's arena */
    struct {
        uint32_t count;
        struct plugin_counts *at;
    } surveys; /* those of the step map */
    struct score_ranges ranges;
    bool surveyed; /* it scored with the merged surveys */
};

struct reduce {
    struct arena arena;
    struct reduce_start start;
    struct map_request request;
    enum phase phase;
    struct part *parts;
    uint32_t missing;
    uint32_t rounds;
    struct score_range ranges[SCORE_RANGES_MAX]; /* by scorer, merged */
    struct pod prepared;
    struct candidates candidates;
    struct strs unavailable; /* claims that are in the way on some node */
    struct reduce_extend question;
    struct strs turned_away; /* by extenders, and removing pods may help; sorted */
    int64_t refused;         /* nodes that extenders and plugins on the bus have removed */
    int64_t nodes_filtered;  /* before extenders were heard */
    bool walked;             /* the walk's part of the feasible nodes was taken */
    bool extended;           /* the extenders' answer about nodes was taken in */
    bool narrowed_by_rules;  /* PreFilter left few nodes, of those in its group's domain */
    struct decision decision;
    struct verdict *verdicts;
    uint32_t verdict_count;
};

/* What the parts' answers are together. */
struct sums {
    int64_t feasible, evaluated, curable;
    struct str error, score_error;
    bool nominated_fits;
    struct nominated_outcome nominated;
    struct str nominated_plugin;
};

/* ---- the ends of a cycle ---- */

static inline enum reduce_step reduce_extends(struct reduce *r)
{
    r->phase = PHASE_done;
    return REDUCE_extend;
}

static inline enum reduce_step reduce_done(struct reduce *r, enum decision_kind kind)
{
    r->decision.kind = kind;
    r->phase = PHASE_done;
    return REDUCE_done;
}

static inline enum reduce_step reduce_fail(struct reduce *r, struct str message)
{
    r->decision.message = arena_copy(&r->arena, message);
    r->decision.clear_nominated = true;
    return reduce_done(r, DECISION_error);
}

/* ---- rounds.c ---- */

/* The shard is sent the next request. */
void rounds_ask(struct reduce *r, uint32_t shard);
/* Into the request: what the parts have counted, and what they have surveyed. */
void rounds_merge_counts(struct reduce *r);
void rounds_merge_surveys(struct reduce *r);
/* What each part normalised with, and the widest of all. */
void rounds_merge_ranges(struct reduce *r);
/* True when some shard has to be asked again, with what is merged. */
bool rounds_ask_again(struct reduce *r);

/* ---- choosing.c ---- */

/* Every feasible node and its total, sorted. */
struct listed_nodes choosing_listed(struct reduce *r);
enum reduce_step choosing_nominated(struct reduce *r);
enum reduce_step choosing_node(struct reduce *r, const struct sums *s);

/* ---- no_node.c ---- */

/* No node passes: who rejected them, and what PostFilter may do about it; or extenders are asked
 * about its candidates first. */
enum reduce_step no_node_fits(struct reduce *r, const struct sums *s);
/* Behind preemption_judge: whether that counts for a pod of a group that has to be in one domain.
 */
void no_node_spares_placed(struct reduce *r);
/* PreFilter turned the pod away. */
enum reduce_step no_node_is_left(struct reduce *r);

#endif
