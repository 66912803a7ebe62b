/* post_filter: the words of DynamicResources and DefaultPreemption, in the profile's order. The one
 * idea: an error ends the chain, a success says nothing, everything else is joined by commas.
 *
 * What must stay true: after a rejection by a PreFilter plugin that runs before DynamicResources,
 * that plugin's PostFilter finds no state and fails with "not found", as upstream's does. */
#include "scheduler/post_filter.h"

#include <inttypes.h>

static bool never_preempts(const struct pod *pod)
{
    return str_is(pod->preemption_policy, "Never");
}

bool post_filter_wants_dry_run(const struct framework *fw, const struct pod *pod, int64_t curable)
{
    return fw->preempts && !never_preempts(pod) && curable > 0;
}

/* PreFilter ended before DynamicResources had its turn. */
static bool without_claims_state(const struct post_filter_question *q)
{
    if (q->pre->code == CODE_success)
        return false;
    struct strs order = q->framework->profile.pre_filter;
    for (uint32_t i = 0; i < order.count; i++)
        if (str_is(order.at[i], "DynamicResources"))
            return q->pre->stopped_at < i;
    return true;
}

/* False: removing pods helps somewhere, which ends the chain with success. */
static bool preemption(const struct post_filter_question *q, struct post_filter_answer *out,
                       struct str *text)
{
    struct arena *a = q->dry_reasons->arena;
    if (never_preempts(q->pod)) {
        *text = STR_LITERAL("preemption: not eligible due to preemptionPolicy=Never.");
        return true;
    }
    if (q->dry_fits > 0)
        return false;
    struct histogram h = *q->dry_reasons;
    histogram_add(&h, STR_LITERAL("Preemption is not helpful for scheduling"),
                  q->nodes - q->dry_nodes);
    struct str why = fit_error(q->nodes, (struct str){0}, &h, (struct str){0});
    *text = arena_print(a, "preemption: %.*s", STR_ARG(why));
    out->clear_nominated = true;
    return true;
}

static void add(struct buffer *all, struct str text)
{
    buffer_add_text(all, all->len > 0 ? ", " : "");
    buffer_add_str(all, text);
}

static void run_chain(const struct post_filter_question *q, struct post_filter_answer *out,
                      struct buffer *all)
{
    struct strs order = q->framework->profile.post_filter;
    for (uint32_t i = 0; i < order.count; i++) {
        struct str text;
        if (str_is(order.at[i], "DynamicResources")) {
            if (without_claims_state(q)) {
                buffer_reset(all);
                add(all, STR_LITERAL("not found"));
                return;
            }
            add(all, STR_LITERAL("no new claims to deallocate"));
        } else if (str_is(order.at[i], "DefaultPreemption")) {
            if (!preemption(q, out, &text)) {
                out->helps = true;
                buffer_reset(all);
                return;
            }
            add(all, text);
        }
    }
}

void post_filter(const struct post_filter_question *q, struct post_filter_answer *out)
{
    *out = (struct post_filter_answer){0};
    out->clear_nominated = q->framework->profile.post_filter.count == 0;
    if (q->pre->missing_support)
        return;
    struct buffer all = {0};
    run_chain(q, out, &all);
    out->text = arena_copy(q->dry_reasons->arena, buffer_str(&all));
    buffer_free(&all);
}
