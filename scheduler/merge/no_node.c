/* no_node: the end of a cycle in which no node will do: who says so, in upstream's words, and what
 * PostFilter may do about it. */
#include "scheduler/catalog/group_claims.h"
#include "scheduler/merge/fit_error.h"
#include "scheduler/merge/gang_rules.h"
#include "scheduler/merge/gang_victims.h"
#include "scheduler/merge/post_filter.h"
#include "scheduler/merge/reduce_inside.h"

#include <stdlib.h>

static int compare_str(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* Plugins on the bus are known by name, extenders are not told apart. */
static void add_refusing(const struct reduce *r, struct strs *all)
{
    for (uint32_t i = 0; r->refused > 0 && i < r->question.nodes.count; i++) {
        const struct extender_refusal *refusal =
            extension_refusal(r->start.extension, r->question.nodes.at[i]);
        bool plugin = refusal != NULL && refusal->plugin.len > 0;
        all->at[all->count++] = plugin ? refusal->plugin : STR_LITERAL("Extender");
    }
}

/* Sorted and unique: who narrowed, and who rejected nodes. */
static struct strs rejecting_plugins(struct reduce *r)
{
    struct strs by = r->decision.pre_filter.by;
    uint32_t room = by.count + r->question.nodes.count;
    for (uint32_t i = 0; i < r->start.shards; i++)
        room += r->parts[i].result.plugins.count;
    struct strs all = {0, arena_take(&r->arena, room * sizeof(struct str))};
    for (uint32_t i = 0; i < by.count; i++)
        all.at[all.count++] = by.at[i];
    for (uint32_t i = 0; i < r->start.shards; i++)
        for (uint32_t k = 0; k < r->parts[i].result.plugins.count; k++)
            all.at[all.count++] = r->parts[i].result.plugins.at[k];
    add_refusing(r, &all);
    qsort(all.at, all.count, sizeof(*all.at), compare_str);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all.count; i++)
        if (kept == 0 || !str_equal(all.at[kept - 1], all.at[i]))
            all.at[kept++] = all.at[i];
    all.count = kept;
    return all;
}

/* What the PostFilter plugins say, to the end of the message. */
static struct str run_post_filter(struct reduce *r)
{
    struct decision *d = &r->decision;
    const struct tie_break by = {r->start.tie_break, r->start.seed, r->start.now_us};
    preemption_pick(&d->preemption, &r->candidates, &by);
    gang_victims_complete(&r->start, &d->preemption, &r->arena);
    const struct gang *group =
        group_claims_owner(r->start.catalog, &r->start.framework->profile.features, r->start.pod);
    const struct deallocation_question claims = {.catalog = r->start.catalog,
                                                 .pod = r->start.pod,
                                                 .group = group,
                                                 .unavailable = r->unavailable,
                                                 .tie_break = r->start.tie_break,
                                                 .seed = r->start.seed};
    bool runs = r->start.pod->resize_deferred; /* and keeps its claims */
    struct deallocation taken = {.version = 0}, reservation = {.version = 0};
    struct str fault = {NULL, 0};
    if (!runs)
        taken = deallocation_pick(&claims, &r->arena);
    if (!runs && group != NULL && !r->start.group_is_active) /* 1.36 looks for one for each pod */
        reservation = deallocation_unreserve(r->start.catalog, group, &fault, &r->arena);
    const struct post_filter_question q = {.framework = r->start.framework,
                                           .pod = r->start.pod,
                                           .devices =
                                               r->request.findings.device_resources.count > 0,
                                           .pre = &d->pre_filter,
                                           .nodes = r->start.nodes,
                                           .preemption = &d->preemption,
                                           .candidates = &r->candidates,
                                           .deallocates = taken.claim.len > 0,
                                           .deletes = taken.deletes,
                                           .unreserves = reservation.claim.len > 0,
                                           .fault = fault,
                                           .arena = &r->arena};
    struct post_filter_answer post;
    post_filter(&q, &post);
    if (gang_rules_hold(r->start.framework, r->start.pod)) { /* its group is told instead */
        post.text = (struct str){NULL, 0};
        post.failed = false;
    }
    if (post.deallocates || post.unreserves)
        d->deallocation = post.deallocates ? taken : reservation;
    if (post.unreserves) /* nobody else is asked */
        d->preemption = (struct preemption){.considered = d->preemption.considered};
    d->claims_known = post.claims_known;
    d->for_group = deallocation_pick_for_group(&claims, &taken, &r->arena);
    d->clear_nominated = post.clear_nominated;
    d->preemption.post_filter = post.text;
    d->preemption.failed = post.failed;
    return post.text;
}

/* Upstream's extenders may take candidates away, and change who is to go from the others. */
static bool extend_victims(struct reduce *r)
{
    const struct extension *e = r->start.extension;
    struct candidates *c = &r->candidates;
    if (e == NULL || e->asked_victims == 0 || c->all.count == 0)
        return true;
    const struct profile *p = &r->start.framework->profile;
    candidates_limit(c, p->preempt_percentage, p->preempt_absolute, r->start.now_us);
    if (!extension_holds_victims(e, c->all.at, c->all.count)) {
        r->question = (struct reduce_extend){
            .about = ABOUT_victims, .count = c->all.count, .candidates = c->all.at};
        return false;
    }
    c->extended = true;
    c->failed = e->victims.error;
    c->all.count = c->failed.len > 0 ? 0 : e->victims.chosen.count;
    c->all.at = e->victims.chosen.at;
    return true;
}

static void add_refusal(const struct extender_refusal *refusal, struct histogram *h)
{
    if (refusal != NULL)
        histogram_add(h, refusal->reason, 1);
}

/* In 1.36 a pod evicts nobody where its group has to be within one domain. */
void no_node_spares_placed(struct reduce *r)
{
    struct preemption *p = &r->decision.preemption;
    if (!r->start.placed || r->start.framework->profile.features.release >= 37)
        return;
    p->eligible = p->waits = false;
    p->reason = STR_LITERAL("not eligible due to placement-based pod group scheduling limitation");
}

enum reduce_step no_node_fits(struct reduce *r, const struct sums *s)
{
    struct histogram h = {.arena = &r->arena};
    if (!extend_victims(r))
        return reduce_extends(r);
    for (uint32_t i = 0; r->refused > 0 && i < r->question.nodes.count; i++)
        add_refusal(extension_refusal(r->start.extension, r->question.nodes.at[i]), &h);
    r->decision.feasible = 0;
    for (uint32_t i = 0; i < r->start.shards; i++)
        for (uint32_t k = 0; k < r->parts[i].result.reasons.count; k++) {
            const struct tally *t = &r->parts[i].result.reasons.at[k];
            histogram_add(&h, t->text, t->count);
        }
    if (r->decision.pre_filter.narrowed && (r->start.placement == NULL || r->narrowed_by_rules))
        histogram_add(&h, r->decision.absent, r->start.nodes - s->evaluated);
    if (r->start.detail)
        preemption_list_potential(&r->decision.preemption, r->verdicts, r->verdict_count,
                                  &r->arena);
    r->decision.message = fit_error(r->start.nodes, (struct str){0}, &h, run_post_filter(r));
    r->decision.plugins = rejecting_plugins(r);
    return reduce_done(r, DECISION_unschedulable);
}

enum reduce_step no_node_is_left(struct reduce *r)
{
    const struct pre_filter_outcome *pre = &r->decision.pre_filter;
    struct histogram none = {.arena = &r->arena};
    const struct nominated_outcome not_looked_at = {0};
    preemption_judge(&r->decision.preemption, r->start.framework, r->start.pod, &not_looked_at);
    no_node_spares_placed(r);
    r->decision.message = fit_error(r->start.nodes, pre->reason, &none, run_post_filter(r));
    if (pre->plugin.len > 0) {
        r->decision.plugins = (struct strs){1, arena_take(&r->arena, sizeof(struct str))};
        r->decision.plugins.at[0] = pre->plugin;
    } else {
        r->decision.plugins = pre->by;
    }
    return reduce_done(r, DECISION_unschedulable);
}
