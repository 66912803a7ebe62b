/* post_filter: the words of DynamicResources, DefaultPreemption and plugins with a hook or on the
 * bus, in the profile's order. The one idea: an error ends the chain, so does a success, which says
 * where only since 1.37, everything else is joined by commas.
 *
 * What must stay true: after a rejection by a PreFilter plugin that runs before DynamicResources,
 * that plugin's PostFilter finds no state and fails with "not found", as upstream's does; whoever
 * fails leaves the nomination as it is. */
#include "scheduler/merge/post_filter.h"

#include "scheduler/merge/fit_error.h"

#define DEALLOCATED "deallocation of ResourceClaim completed"
#define DELETED     "deletion of ResourceClaim completed"
#define UNRESERVED  "ResourceClaim unreserved for PodGroup"

enum verdict_of_plugin { SAYS_no, SAYS_yes, SAYS_error };

/* A success is silent, and claims say why they have nothing to offer. */
static bool in_words_of_1_36(const struct post_filter_question *q)
{
    return q->framework->profile.features.release < 37;
}

static struct str placement(const struct post_filter_question *q)
{
    const struct preemption *p = q->preemption;
    if (in_words_of_1_36(q))
        return (struct str){NULL, 0};
    return arena_print(q->arena,
                       "preemption: found a potential placement for pod on node %.*s, preempting "
                       "%u victims",
                       STR_ARG(p->node), p->victims.count);
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

static enum verdict_of_plugin preemption(const struct post_filter_question *q, struct str *text,
                                         bool *clears)
{
    const struct preemption *p = q->preemption;
    if (p->node.len > 0) {
        *text = placement(q);
        return SAYS_yes;
    }
    struct str why = p->reason;
    bool failed = p->eligible && candidates_failed(q->candidates, &why);
    if (p->eligible && q->candidates->extended && !failed) {
        why = STR_LITERAL("no candidate node for preemption");
    } else if (p->eligible && !failed) {
        struct histogram h = q->candidates->reasons;
        h.arena = q->arena;
        histogram_add(&h, STR_LITERAL("Preemption is not helpful for scheduling"),
                      q->nodes - q->candidates->nodes);
        why = fit_error(q->nodes, (struct str){0}, &h, (struct str){0});
        *clears = true;
    }
    *text = arena_print(q->arena, "preemption: %.*s", STR_ARG(why));
    return failed ? SAYS_error : SAYS_no;
}

/* PreFilter of DynamicResources has turned the pod away: then it has kept no claims. */
static bool turned_away_by_claims(const struct post_filter_question *q)
{
    return q->pre->code != CODE_success && str_is(q->pre->plugin, "DynamicResources");
}

static bool needs_claims(const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->device_claims.count; i++)
        if (!pod->device_claims.at[i].unneeded)
            return true;
    return false;
}

/* Where there is nothing else to offer, as 1.36: whoever unreserves has the last word. */
static enum verdict_of_plugin claims_of_group(const struct post_filter_question *q,
                                              struct str *text, struct post_filter_answer *out)
{
    out->unreserves = q->unreserves && q->fault.len == 0;
    *text = STR_LITERAL("still not schedulable");
    if (q->fault.len > 0)
        *text = q->fault;
    else if (out->unreserves)
        *text = STR_LITERAL(UNRESERVED);
    if (q->fault.len > 0)
        return SAYS_error;
    return out->unreserves ? SAYS_yes : SAYS_no;
}

static enum verdict_of_plugin claims(const struct post_filter_question *q, struct str *text,
                                     struct post_filter_answer *out)
{
    bool failed = without_claims_state(q);
    out->claims_known = !failed;
    out->deallocates = q->deallocates && !failed && !turned_away_by_claims(q);
    if (failed)
        *text = STR_LITERAL("not found");
    else if (out->deallocates)
        *text = q->deletes ? STR_LITERAL(DELETED) : STR_LITERAL(DEALLOCATED);
    else if (!in_words_of_1_36(q))
        *text = (struct str){NULL, 0};
    else if ((needs_claims(q->pod) || q->devices) && !turned_away_by_claims(q))
        return claims_of_group(q, text, out);
    else
        *text = STR_LITERAL("no new claims to deallocate");
    return failed ? SAYS_error : SAYS_no;
}

/* A plugin of ours that has a hook. */
static enum verdict_of_plugin hook(const struct post_filter_question *q, struct str name,
                                   struct str *text, struct post_filter_answer *out)
{
    const struct plugin *p = hooked_find(&q->framework->post_filter, name);
    struct no_node_reply said = {.code = CODE_unschedulable};
    if (p != NULL && q->hooks != NULL)
        hook_post_filter(p, q->hooks, &said, q->clock);
    *text = said.reason;
    out->hooked = said.code == CODE_success;
    out->hook = said;
    return said.code == CODE_success ? SAYS_yes : said.code == CODE_error ? SAYS_error : SAYS_no;
}

static bool is_on_bus(const struct post_filter_question *q, struct str name)
{
    const struct profile *p = &q->framework->profile;
    uint32_t i = 0;
    while (i < p->bus_plugins.count && !str_equal(p->bus_plugins.at[i].name, name))
        i++;
    return i < p->bus_plugins.count;
}

static enum verdict_of_plugin bus(const struct post_filter_question *q, uint32_t place,
                                  struct str *text, struct post_filter_answer *out)
{
    const struct post_filter_said *said = &q->said[place];
    *text = said->reason;
    out->node = said->node;
    if (said->failed)
        out->failed_plugin = q->framework->profile.post_filter.at[place];
    if (said->failed)
        return SAYS_error;
    return said->node.len > 0 || said->last ? SAYS_yes : SAYS_no;
}

static void run_chain(const struct post_filter_question *q, struct post_filter_answer *out,
                      struct buffer *all)
{
    struct strs order = q->framework->profile.post_filter;
    for (uint32_t i = 0; i < order.count; i++) {
        struct str text;
        enum verdict_of_plugin said;
        if (str_is(order.at[i], "DynamicResources"))
            said = claims(q, &text, out);
        else if (str_is(order.at[i], "DefaultPreemption"))
            said = preemption(q, &text, &out->clear_nominated);
        else if (q->asks_bus && is_on_bus(q, order.at[i])) {
            out->open = q->said == NULL;
            if (out->open)
                return;
            said = bus(q, i, &text, out);
        } else
            said = hook(q, order.at[i], &text, out);
        if (said != SAYS_no) {
            buffer_reset(all);
            out->clear_nominated = false;
        }
        if (text.len > 0) {
            buffer_add_text(all, all->len > 0 ? ", " : "");
            buffer_add_str(all, text);
        }
        out->failed = said == SAYS_error;
        if (said != SAYS_no)
            return;
    }
}

void post_filter(const struct post_filter_question *q, struct post_filter_answer *out)
{
    *out = (struct post_filter_answer){0};
    struct buffer all = {0};
    run_chain(q, out, &all);
    out->clear_nominated |= q->framework->profile.post_filter.count == 0;
    out->text = arena_copy(q->arena, buffer_str(&all));
    buffer_free(&all);
}
