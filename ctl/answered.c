/* answered: what rules and those who were asked say of a node, put together. What must stay true: a
 * node that the rules turned away keeps their reason, since nobody was asked about it. */
#include "ctl/answered.h"

#include "scheduler/table/wrap.h"

#include <stdlib.h>

static int by_node(const void *a, const void *b)
{
    return str_compare(((const struct verdict *)a)->node, ((const struct verdict *)b)->node);
}

static void turn_away(struct verdict *v, const struct extender_refusal *refusal, struct arena *a)
{
    bool curable = refusal != NULL && !refusal->unresolvable;
    v->code = curable ? VERDICT_unschedulable : VERDICT_unresolvable;
    v->plugin = STR_LITERAL("Extender");
    if (refusal != NULL && refusal->plugin.len > 0)
        v->plugin = refusal->plugin;
    v->scores.count = 0;
    v->total = 0;
    v->reasons = (struct strs){1, arena_take(a, sizeof(struct str))};
    v->reasons.at[0] = refusal != NULL && refusal->reason.len > 0
                           ? refusal->reason
                           : STR_LITERAL("left out without a reason");
}

static int64_t score_of(const struct extended *said, struct str node)
{
    for (uint32_t i = 0; i < said->scores.count; i++)
        if (str_equal(said->scores.at[i].node, node))
            return said->scores.at[i].score;
    return 0;
}

static const struct verdict *scored(const struct report *r, const struct verdict *v)
{
    return r->verdict_count > 0 ? bsearch(v, r->verdicts, r->verdict_count, sizeof(*v), by_node)
                                : NULL;
}

/* What those who were asked make of a node that the rules let pass. False: nobody looked at it, as
 * somebody ruled it out before. */
static bool take_answer(const struct extension *answers, const struct report *r, struct verdict *v,
                        struct arena *a)
{
    const struct extension_answer *told = &answers->answers[ABOUT_nodes];
    const struct verdict *decided = scored(r, v);
    uint32_t place;
    bool asked = told->given && extension_find(&told->nodes, v->node, &place);
    if (asked && !told->said.all && !extension_find(&told->said.nodes, v->node, &place)) {
        turn_away(v, extension_refusal(answers, v->node), a);
        return true;
    }
    if (decided != NULL && decided->code == VERDICT_success)
        *v = *decided;
    if (told->given)
        v->total = wrap_add(v->total, score_of(&told->said, v->node));
    if (r->decision->feasible == 1) { /* it was not scored */
        v->total = 0;
        v->scores.count = 0;
    }
    return asked || decided != NULL;
}

struct verdict *answered_verdicts(const struct extension *answers, const struct verdict *rules,
                                  uint32_t *count, const struct report *r, struct arena *a)
{
    struct verdict *all = arena_take(a, (*count + 1) * sizeof(*all));
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++) {
        all[kept] = rules[i];
        kept += rules[i].code != VERDICT_success || take_answer(answers, r, &all[kept], a);
    }
    *count = kept;
    return all;
}
