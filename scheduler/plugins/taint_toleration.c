/* TaintToleration rejects nodes with a NoSchedule or NoExecute taint that the pod does not
 * tolerate, and prefers nodes with few PreferNoSchedule taints that it does not tolerate. */
#include "scheduler/tolerations.h"

static void *filter_begin(const struct cycle *c)
{
    return tolerations_make(c);
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    (void)c;
    if (!tolerations_admit(state, n->entry[row]))
        ruling_reject(out, CODE_unresolvable, "node(s) had untolerated taint(s)", (struct str){0});
}

static void *score_begin(const struct cycle *c)
{
    return tolerations_make_preferring(c);
}

static int64_t score(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row)
{
    (void)c;
    const struct node_entry *node = n->entry[row];
    int64_t bothering = 0;
    for (uint32_t i = 0; i < node->taint_count; i++) {
        const struct node_taint *taint = &node->taints[i];
        bothering += taint->effect == EFFECT_prefer_no_schedule && !tolerations_hold(state, taint);
    }
    return bothering;
}

const struct plugin plugin_taint_toleration = {
    .name = "TaintToleration",
    .filter_begin = filter_begin,
    .filter = filter,
    .score_begin = score_begin,
    .score = score,
    .normalise = NORMALISE_reversed,
    .by_row = true,
};
