/* plugin: the contract between the core and a scheduling rule.
 *
 * One pod's way through a profile's rules, in upstream's words:
 *
 * - prepare, in the coordinator, first of all and at whatever point the profile lists the rule:
 * writes what workers need and cannot know into the findings, or into the prepared pod, the copy
 * that they get (for rules that score without filtering; others do it in pre_filter).
 * - PreFilter, in the coordinator: pre_filter sees the pod, the profile and the catalog (claims,
 *   namespaces, services …), never a node. It may say that the rule has nothing to do for this pod
 *   (skip: filter and what_if are not called), turn the pod away altogether (code and reason), or
 *   name the only nodes worth looking at (narrow). What workers need and cannot know it writes into
 *   the findings, or into the prepared pod, the copy that workers get.
 * - count, in each worker, only if counts says so (and a rule that only surveys has none): what the
 * rule has to know of all nodes and pods, as numbers by domain. The core adds up what the workers
 * found; cycle_counts gives the sums.
 * - filter_begin, once a cycle in each worker: turn the pod's strings into atoms and precompute all
 *   that does not depend on a node. What it returns is handed to filter and what_if. filter_skips,
 *   right after it: PreFilter's skip, for rules that know only once they have counted.
 * - Filter: filter, for every node: say no with ruling_reject, once for each reason, or nothing.
 *   The first rule that says no ends the node; its code says whether removing pods could help. The
 *   row is one of the share's, or a copy with some pods added or removed; for those, what_if has
 *   been told of each such pod (upstream's AddPod and RemovePod), and will be told the opposite
 *   afterwards.
 * - PreScore, if the profile lists the rule there: score_skips, true meaning no score from this
 * rule for this pod; and pre_score, which may set cycle->error: scoring then fails with it, even if
 *   the rule does not score. survey: what the rule has to know of all feasible nodes; merged as
 *   counts are, given by cycle_survey.
 * - score_begin, like filter_begin; again when the merged survey turns out to be another.
 * - Score: score, for every node that passed: a raw number, or SCORE_IGNORED.
 * - Normalise: done by the core as `normalise` says, on the range of raw scores over all workers;
 *   the result times the profile's weight is added up.
 * - PostFilter, Reserve with Unreserve, and Permit, in the coordinator: attempt_hooks.h.
 *
 * PreEnqueue and QueueSort run in the queue: queue/plugin.h; PreBind, Bind and PostBind in the
 * binder: binder/plugin.h. A plugin that has some of each has a file for each process.
 *
 * Example, pod p with a toleration: NodeAffinity's pre_filter says skip; TaintToleration's
 * filter_begin turns the toleration into atoms; its filter rejects n1 for a taint; its score counts
 * n2's PreferNoSchedule taints as 1, n3's as 0; the core makes 0 and 100 of that, times 3.
 *
 * filter and score run for every node of every pod: no allocation, no string comparison there.
 * filter_rows and score_rows do the same for many rows of the share at once, as plain loops over
 * columns that the compiler vectorises (score_alike: for all rows); the core prefers them where
 * only the answers matter, and asks filter where it needs the reasons, or a copy is looked at.
 * filter and score stay the definition: tests/unit/scheduler/worker/test_columns.c compares both on
 * random clusters.
 *
 * To add a rule: FIRST_RULE.md, beside this file. */
#ifndef SCHEDULER_RULES_PLUGIN_H
#define SCHEDULER_RULES_PLUGIN_H

#include "proto/base/map.h"
#include "scheduler/rules/attempt_hooks.h"
#include "scheduler/rules/framework.h"
#include "scheduler/rules/ruling.h"
#include "scheduler/rules/score_range.h"
#include "scheduler/table/atoms.h"
#include "scheduler/table/counts.h"
#include "scheduler/table/ledger.h"
#include "scheduler/table/nodes.h"
#include "scheduler/table/pod_groups.h"

struct plugin;
struct timings;

/* What one counting rule knows of the cluster in a cycle. */
struct plugin_knowledge {
    const struct plugin *plugin;
    struct counts *counts, *survey; /* merged; survey is empty before the filters ran */
};

/* One pod in one worker. */
struct cycle {
    const struct framework *framework;
    const struct pod *pod;           /* as pre_filter prepared it */
    const struct findings *findings; /* what pre_filter found out */
    const struct atoms *atoms;
    const struct nodes *nodes;       /* the share */
    const struct pod_groups *groups; /* its pods by namespace and labels */
    const struct term_table *terms;  /* what its pods ask of other pods */
    const struct map *images;        /* name → struct image_state */
    int64_t cluster_nodes;           /* in the whole cluster */
    uint32_t any_ip;                 /* the atom of 0.0.0.0 */
    bool bare;                       /* score is asked about copies of nodes without their pods */
    struct arena *arena;             /* lives as long as the cycle */
    struct str error;                /* set by pre_score: why scoring fails */
    struct plugin_knowledge *knowledge;
    uint32_t knowledge_count;
    struct timings *timing; /* the core's; NULL: this decision is not timed */
};

/* The merged counts of a rule whose counts hook said yes; else NULL. */
const struct counts *cycle_counts(const struct cycle *c, const struct plugin *p);
/* The same of its survey, from score_begin on. */
const struct counts *cycle_survey(const struct cycle *c, const struct plugin *p);

struct pre_filter {
    bool skip;
    enum code code;    /* CODE_success, turned away, or CODE_error: the cycle fails */
    struct str reason; /* why; from the question's arena or static */
    bool narrow;
    struct strs names; /* for narrow: sorted, unique */
};

enum normalise {
    NORMALISE_none,
    NORMALISE_default,  /* ⌊100 · raw / greatest⌋; all 0 when the greatest is 0 */
    NORMALISE_reversed, /* 100 − that; all 100 when the greatest is 0 */
    NORMALISE_own       /* the plugin's normalise_own */
};

/* A node that the rule leaves out: no part of the range, normalised to 0. */
#define SCORE_IGNORED INT64_MIN

/* The rows from, from + 1 … of a share; how many. */
struct row_range {
    uint32_t from, count;
};

/* What a rule says of all nodes alike, as numbers: while they and a node's own counts stay the
 * same, so do its verdict and its score. */
struct outlook {
    uint32_t count;
    int64_t at[32];
    bool overflow; /* more than there is room for: the rule is asked about every node */
};

void outlook_add(struct outlook *o, int64_t number);

/* A counting rule's states for one class of pods, to be handed to filter and score. */
struct kept_states {
    void *filter, *score;
};

/* How a rule that counts stays in step with single nodes, so that a worker can keep its verdicts
 * from one pod to the next of the same class (classes.h) instead of counting anew. counts and
 * survey are then kept by the core, as sums over what row and survey_row say of each row; what_if
 * is never called. Everything must come out as the rule's other hooks would have it. */
struct plugin_keep {
    /* The states, from the cycle's arena; what depends on counts is left to the outlooks. counts
     * and survey live as long. */
    void (*begin)(const struct cycle *c, struct counts *counts, struct kept_states *out);
    /* All rows are to be asked about: a chance to go through pods instead of rows; and its end.
     * Both may be NULL. */
    void (*all_rows)(const struct cycle *c, struct kept_states *s);
    void (*all_rows_end)(struct kept_states *s);
    /* What the row counts for. */
    void (*row)(const struct cycle *c, const struct kept_states *s, uint32_t row,
                struct entries *out);
    /* Brings the states up to date with the counts, after begin and whenever some have changed:
     * those in changed, or all of them when that is NULL. */
    void (*counts_outlook)(const struct cycle *c, struct kept_states *s,
                           const struct entries *changed, struct outlook *out);
    /* What a feasible row adds to the survey; NULL: nothing. */
    void (*survey_row)(const struct cycle *c, const struct kept_states *s, uint32_t row,
                       struct entries *out);
    /* Brings the score's state up to date with the survey; NULL: there is none. */
    void (*score_outlook)(const struct cycle *c, struct kept_states *s, const struct counts *survey,
                          struct outlook *out);
    /* The nodes that an entry of the counts matters to are those whose label of this key has the
     * entry's value; KEEP_ROW: only the rows that count for it; KEEP_ALL: perhaps all. */
    uint32_t (*key)(const struct kept_states *s, const struct count_entry *entry);
    /* The labels that filter and score read of a node: rows that have the same values, and the same
     * counts for themselves alone (KEEP_ROW), are judged and scored alike. KEEP_PRESENCE: it only
     * matters whether there is such a label. Into at, which has room for KEEP_KEYS; how many, or
     * more than that: too many to be told. */
    uint32_t (*keys)(const struct kept_states *s, uint32_t *at);
};

#define KEEP_ROW      UINT32_MAX
#define KEEP_ALL      (UINT32_MAX - 1)
#define KEEP_KEYS     8
#define KEEP_PRESENCE (UINT32_C(1) << 31) /* or-ed to the key; atoms are smaller */

/* Hooks that a rule does not need are NULL. */
struct plugin {
    const char *name; /* as in upstream's configuration */
    /* Why the pod is not even tried: for simulate, as in the processes the queue knows that. The
     * question has catalog, pod and arena alone. SchedulingGates' is not here. */
    void (*pre_enqueue)(const struct pre_filter_question *q, struct pre_filter *out);
    void (*prepare)(const struct pre_filter_question *q);
    void (*pre_filter)(const struct pre_filter_question *q, struct pre_filter *out);
    bool (*counts)(const struct framework *fw, const struct pod *pod,
                   const struct findings *findings);
    void (*count)(const struct cycle *c, struct counts *out);
    void *(*filter_begin)(const struct cycle *c);
    bool (*filter_skips)(const struct cycle *c, const void *state);
    void (*filter)(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out);
    /* Adds to the answer what filter has noted in its state about rows that it was asked about. */
    void (*tell)(const struct cycle *c, const void *state, struct map_result *out);
    /* times is 1: the pod is added to the node, a row of the share or its copy; -1: it is removed.
     * Called before the node itself changes. */
    void (*what_if)(const struct cycle *c, void *state, const struct node_entry *node,
                    const struct node_pod *pod, int times);
    bool (*score_skips)(const struct cycle *c);
    void (*pre_score)(struct cycle *c);
    void (*survey)(const struct cycle *c, const uint32_t *rows, uint32_t count, struct counts *out);
    void *(*score_begin)(const struct cycle *c);
    int64_t (*score)(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row);
    /* no[i] becomes 1 where filter rejects row from + i, and stays as it is where it does not.
     * Only for rules whose filter never fails (CODE_error); n is the share, never a copy. */
    void (*filter_rows)(const struct cycle *c, const void *state, const struct nodes *n,
                        struct row_range rows, uint8_t *no);
    /* raw[i] becomes what score gives for row from + i; anything where a filter rejects the row. */
    void (*score_rows)(const struct cycle *c, const void *state, const struct nodes *n,
                       struct row_range rows, int64_t *raw);
    /* True when score gives the same for every row of the share, and this is it. NULL: never. */
    bool (*score_alike)(const struct cycle *c, const void *state, const struct nodes *n,
                        int64_t *raw);
    /* It judges pods whose resize is deferred, too: all other filters are skipped for them. */
    bool of_resizes;
    enum normalise normalise;
    /* 0 to 100; raw is never SCORE_IGNORED. */
    int64_t (*normalise_own)(int64_t raw, const struct score_range *range);
    /* Promises that the same raw score is never normalised to more when only greatest grows, for as
     * long as all are within RAW_EXACT of 0. */
    bool falls_with_greatest;
    /* Promises that filter and score depend on nothing but the pod, the profile, the row itself and
     * the images of the cluster: then they are asked again only about rows that have changed. A
     * rule that promises nothing is always asked about every row. */
    bool by_row;
    /* Promises that score reads nothing of a row that the pods on it change. A rule that normalises
     * and does not count, nor promise this, is asked about one pod at a time by several workers,
     * unless they are alike. */
    bool score_ignores_pods;
    /* What is counted under the key kubernetes.io/hostname matters to that node alone, but for
     * whether a slot has any such entries. */
    bool folds_hostnames;
    const struct plugin_keep *keep; /* NULL: a counting rule that counts anew for every pod */
    /* No node would do: may nominate one, and name who is to be evicted from there. */
    void (*post_filter)(const struct no_node_question *q, struct no_node_reply *out);
    /* A node is chosen. When it comes to nothing, be it here already, unreserve is called. */
    struct hook_reply (*reserve)(const struct attempt_question *q);
    void (*unreserve)(const struct attempt_question *q);
    /* The pod is assumed on its node. *out allows it at first. While it says wait it is called
     * again after changes in the cluster: pure, as all hooks, it must not count its calls. */
    void (*permit)(const struct attempt_question *q, struct permit_reply *out);
};

/* NULL when this program has no such rule. */
const struct plugin *plugin_find(struct str name);

#define SCORE_MAX 100
#define RAW_EXACT ((int64_t)1 << 52) /* differences of such are exact in a double */

/* What the rule counts, of those of several rules; NULL when it is not among them. */
const struct plugin_counts *plugin_counts_of(const struct plugin_counts *at, uint32_t count,
                                             const struct plugin *p);
/* raw, normalised as the rule wants, given the range of the raw scores of all nodes. */
int64_t plugin_normalise(const struct plugin *p, int64_t raw, const struct score_range *range);
/* The atom of the key whose entries, of all that the rule counts, other workers have no use for; 0:
 * none. */
uint32_t plugin_folded_key(const struct plugin *p, const struct atoms *atoms,
                           const struct map_request *r);

#endif
