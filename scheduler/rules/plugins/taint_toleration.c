/* TaintToleration rejects nodes with a NoSchedule or NoExecute taint that the pod does not
 * tolerate, and prefers nodes with few PreferNoSchedule taints that it does not tolerate.
 *
 * Many nodes, few distinct lists of taints: of many rows each list is looked at once. */
#include "scheduler/rules/tolerations.h"

struct tolerating {
    struct tolerations *tolerations;
    struct fact_memo *lists; /* of taints: what filter or score says, plus one */
};

static void *begin(const struct cycle *c)
{
    struct tolerating *t = arena_take(c->arena, sizeof(*t));
    t->tolerations = tolerations_make(c);
    t->lists = arena_take(c->arena, sizeof(*t->lists));
    return t;
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    (void)c;
    const struct tolerating *t = state;
    if (!tolerations_admit(t->tolerations, n->entry[row]))
        ruling_reject(out, CODE_unresolvable, "node(s) had untolerated taint(s)", (struct str){0});
}

static void filter_rows(const struct cycle *c, const void *state, const struct nodes *n,
                        struct row_range rows, uint8_t *no)
{
    const struct tolerating *t = state;
    if (n->facts.limit[FACT_taints] <= 1)
        return;
    const uint32_t *list = n->facts.at[FACT_taints] + rows.from;
    uint32_t *known = fact_memo(t->lists, n, FACT_taints, c->arena);
    for (uint32_t i = 0; i < rows.count; i++) {
        if (known[list[i]] == 0)
            known[list[i]] = tolerations_admit(t->tolerations, n->entry[rows.from + i]) ? 1 : 2;
        no[i] |= known[list[i]] == 2;
    }
}

static uint32_t bothering(const struct tolerations *tolerations, const struct node_entry *node)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->taint_count; i++) {
        const struct node_taint *taint = &node->taints[i];
        count +=
            taint->effect == EFFECT_prefer_no_schedule && !tolerations_hold(tolerations, taint);
    }
    return count;
}

static int64_t score(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row)
{
    (void)c;
    return bothering(((const struct tolerating *)state)->tolerations, n->entry[row]);
}

static void score_rows(const struct cycle *c, const void *state, const struct nodes *n,
                       struct row_range rows, int64_t *raw)
{
    const struct tolerating *t = state;
    const uint32_t *list = n->facts.at[FACT_taints] + rows.from;
    uint32_t *known = fact_memo(t->lists, n, FACT_taints, c->arena);
    for (uint32_t i = 0; i < rows.count; i++) {
        if (known[list[i]] == 0)
            known[list[i]] = 1 + bothering(t->tolerations, n->entry[rows.from + i]);
        raw[i] = known[list[i]] - 1;
    }
}

static bool score_alike(const struct cycle *c, const void *state, const struct nodes *n,
                        int64_t *raw)
{
    (void)c;
    (void)state;
    *raw = 0;
    return n->facts.limit[FACT_taints] <= 1;
}

const struct plugin plugin_taint_toleration = {
    .name = "TaintToleration",
    .filter_begin = begin,
    .filter = filter,
    .score_begin = begin,
    .score = score,
    .filter_rows = filter_rows,
    .score_rows = score_rows,
    .score_alike = score_alike,
    .normalise = NORMALISE_reversed,
    .by_row = true,
    .score_ignores_pods = true,
};
