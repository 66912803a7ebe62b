/* plugin: the contract between the core and a scheduling rule.
 *
 * One pod's way through a profile's rules, in upstream's words:
 *
 * - PreFilter: pre_filter sees the pod and the profile, never a node, so the coordinator and every
 *   worker run it and agree. It may say that the rule has nothing to do for this pod (skip: filter
 *   is not called), turn the pod away altogether (code and reason), or name the only nodes worth
 *   looking at (narrow).
 * - filter_begin, once a cycle in each worker: turn the pod's strings into atoms and precompute all
 *   that does not depend on a node. What it returns is handed to filter.
 * - Filter: filter, for every node: say no with ruling_reject, once for each reason, or nothing.
 *   The first rule that says no ends the node; its code says whether removing pods could help. The
 *   row is one of the share's, or a copy with some pods added or removed.
 * - PreScore, if the profile lists the rule there: score_skips, on the pod alone, true meaning no
 *   score from this rule for this pod; and pre_score, which may set cycle->error: the cycle then
 *   fails with it, even if the rule does not score.
 * - score_begin, like filter_begin.
 * - Score: score, for every node that passed: a raw number, not negative.
 * - Normalise: done by the core as `normalise` says, on the greatest raw score over all workers;
 *   the result times the profile's weight is added up.
 *
 * Example, pod p with a toleration: NodeAffinity's pre_filter says skip; TaintToleration's
 * filter_begin turns the toleration into atoms; its filter rejects n1 for a taint; its score counts
 * n2's PreferNoSchedule taints as 1, n3's as 0; the core makes 0 and 100 of that, times 3.
 *
 * filter and score run for every node of every pod: no allocation, no string comparison there.
 *
 * To add a rule: copy plugins/node_ports.c (filters) or plugins/image_locality.c (scores), end it
 * with `const struct plugin plugin_NAME`, add PLUGIN(NAME) to plugins.def, and add
 * tests/unit/scheduler/plugins/test_NAME.c. Order and weights come from the profile. */
#ifndef SCHEDULER_PLUGIN_H
#define SCHEDULER_PLUGIN_H

#include "proto/base/map.h"
#include "scheduler/atoms.h"
#include "scheduler/framework.h"
#include "scheduler/nodes.h"
#include "scheduler/ruling.h"

/* One pod in one worker. */
struct cycle {
    const struct framework *framework;
    const struct pod *pod;
    const struct atoms *atoms;
    const struct map *images; /* name → struct image_state */
    int64_t cluster_nodes;    /* in the whole cluster */
    uint32_t any_ip;          /* the atom of 0.0.0.0 */
    struct arena *arena;      /* lives as long as the cycle */
    struct str error;         /* set by pre_score: why scoring fails */
};

struct pre_filter {
    bool skip;
    enum code code;     /* CODE_success, or turned away */
    const char *reason; /* why */
    bool narrow;
    struct strs names; /* for narrow: sorted, unique */
};

enum normalise {
    NORMALISE_none,
    NORMALISE_default, /* ⌊100 · raw / greatest⌋; all 0 when the greatest is 0 */
    NORMALISE_reversed /* 100 − that; all 100 when the greatest is 0 */
};

/* Hooks that a rule does not need are NULL. */
struct plugin {
    const char *name; /* as in upstream's configuration */
    void (*pre_filter)(const struct framework *fw, const struct pod *pod, struct arena *a,
                       struct pre_filter *out);
    void *(*filter_begin)(const struct cycle *c);
    void (*filter)(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out);
    bool (*score_skips)(const struct framework *fw, const struct pod *pod);
    void (*pre_score)(struct cycle *c);
    void *(*score_begin)(const struct cycle *c);
    int64_t (*score)(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row);
    enum normalise normalise;
};

/* NULL when this program has no such rule. */
const struct plugin *plugin_find(struct str name);

#define SCORE_MAX 100

/* raw, normalised as the rule wants, given the greatest raw score of all nodes. */
int64_t plugin_normalise(enum normalise how, int64_t raw, int64_t greatest);

#endif
