/* no_node: the end of a cycle in which no node will do: who says so, in upstream's words, and what
 * PostFilter may do about it. */
#include "scheduler/catalog/group_claims.h"
#include "scheduler/cluster/cache_view.h"
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
        room += r->parts[i].result->plugins.count;
    struct strs all = {0, arena_take(&r->arena, room * sizeof(struct str))};
    for (uint32_t i = 0; i < by.count; i++)
        all.at[all.count++] = by.at[i];
    for (uint32_t i = 0; i < r->start.shards; i++)
        for (uint32_t k = 0; k < r->parts[i].result->plugins.count; k++)
            all.at[all.count++] = r->parts[i].result->plugins.at[k];
    add_refusing(r, &all);
    qsort(all.at, all.count, sizeof(*all.at), compare_str);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all.count; i++)
        if (kept == 0 || !str_equal(all.at[kept - 1], all.at[i]))
            all.at[kept++] = all.at[i];
    all.count = kept;
    return all;
}

/* A node that the rules let pass was turned away by an extender or a plugin on the bus. */
static struct verdict why_not(struct reduce *r, const struct verdict *by_rules)
{
    struct verdict v = {.node = by_rules->node, .code = by_rules->code, .plugin = by_rules->plugin};
    v.reasons = by_rules->reasons;
    if (v.code != VERDICT_success)
        return v;
    const struct extender_refusal *refusal =
        r->start.extension->asked.nodes != 0 ? extension_refusal(r->start.extension, v.node) : NULL;
    v.code =
        refusal == NULL || refusal->unresolvable ? VERDICT_unresolvable : VERDICT_unschedulable;
    if (refusal != NULL) {
        v.plugin = refusal->plugin;
        v.reasons = (struct strs){1, arena_take(&r->arena, sizeof(struct str))};
        v.reasons.at[0] = refusal->reason;
    }
    return v;
}

/* Plugins on the bus are asked what can be done, and told why no node is any good. */
static void ask_bus(struct reduce *r)
{
    const struct pre_filter_outcome *pre = &r->decision.pre_filter;
    struct verdict *all = arena_take(&r->arena, r->verdict_count * sizeof(*all));
    struct str *reason = arena_take(&r->arena, sizeof(*reason));
    *reason = pre->code != CODE_success ? pre->reason : r->decision.absent;
    for (uint32_t i = 0; i < r->verdict_count; i++)
        all[i] = why_not(r, &r->verdicts[i]);
    r->question = (struct reduce_extend){.about = ABOUT_no_node,
                                         .verdict_count = r->verdict_count,
                                         .verdicts = all,
                                         .absent = {.code = VERDICT_unresolvable,
                                                    .plugin = pre->plugin,
                                                    .reasons = {reason->len > 0, reason}}};
}

/* Who failed is to be heard of again. */
static void add_failed(struct decision *d, struct str plugin, struct arena *a)
{
    struct strs all = {0, arena_take(a, (d->plugins.count + 1) * sizeof(struct str))};
    for (uint32_t i = 0; i < d->plugins.count; i++)
        all.at[all.count++] = d->plugins.at[i];
    all.at[all.count++] = plugin;
    qsort(all.at, all.count, sizeof(*all.at), compare_str);
    d->plugins = all;
}

/* What has come out of them, but for claims. */
static void take_answer(struct reduce *r, const struct post_filter_answer *post)
{
    struct decision *d = &r->decision;
    if (post->unreserves || post->hooked) /* nobody else is asked */
        d->preemption = (struct preemption){.considered = d->preemption.considered};
    if (post->hooked) {
        d->preemption.node = post->hook.node;
        d->preemption.victims.count = post->hook.victims.count;
        d->preemption.victims.at = post->hook.victims.at;
    }
    d->claims_known = post->claims_known;
    d->clear_nominated = post->clear_nominated;
    d->preemption.post_filter = post->text;
    d->preemption.failed = post->failed;
    d->nominated = post->node;
    if (post->node.len > 0 || post->failed_plugin.len > 0) /* nobody is evicted then */
        d->preemption.node = (struct str){NULL, 0};
    if (post->failed_plugin.len > 0)
        add_failed(d, post->failed_plugin, &r->arena);
}

/* What the PostFilter plugins say, to the end of the message. False: plugins on the bus are asked
 * first. */
static bool run_post_filter(struct reduce *r, struct str rejection, const struct histogram *reasons,
                            struct str *text)
{
    const struct extension *e = r->start.extension;
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
    bool by_group = gang_rules_hold(r->start.framework, r->start.pod);
    struct deallocation taken = {.version = 0}, reservation = {.version = 0};
    struct str fault = {NULL, 0};
    if (!runs)
        taken = deallocation_pick(&claims, &r->arena);
    if (!runs && group != NULL && !r->start.group_is_active) /* 1.36 looks for one for each pod */
        reservation = deallocation_unreserve(r->start.catalog, group, &fault, &r->arena);
    const struct cluster_view view = cache_view(r->start.cache);
    const struct no_node_question hooks = {.framework = r->start.framework,
                                           .catalog = r->start.catalog,
                                           .cluster = r->start.cache != NULL ? &view : NULL,
                                           .pod = r->start.pod,
                                           .nodes = r->start.nodes,
                                           .rejection = rejection,
                                           .reasons = {reasons->count, reasons->at},
                                           .arena = &r->arena};
    const struct post_filter_question q = {
        .framework = r->start.framework,
        .pod = r->start.pod,
        .hooks = runs || by_group ? NULL : &hooks,
        .clock = r->start.timer,
        .devices = r->request.findings.device_resources.count > 0,
        .pre = &d->pre_filter,
        .nodes = r->start.nodes,
        .preemption = &d->preemption,
        .candidates = &r->candidates,
        .deallocates = taken.claim.len > 0,
        .deletes = taken.deletes,
        .unreserves = reservation.claim.len > 0,
        .fault = fault,
        .asks_bus = e != NULL && !by_group,
        .said = e != NULL && e->no_node.given ? e->no_node.at : NULL,
        .arena = &r->arena};
    struct post_filter_answer post;
    post_filter(&q, &post);
    if (post.open) {
        ask_bus(r);
        return false;
    }
    if (by_group) { /* its group is told instead */
        post.text = (struct str){NULL, 0};
        post.failed = false;
    }
    if (post.deallocates || post.unreserves)
        d->deallocation = post.deallocates ? taken : reservation;
    d->for_group = deallocation_pick_for_group(&claims, &taken, &r->arena);
    take_answer(r, &post);
    *text = post.text;
    return true;
}

/* Upstream's extenders may take candidates away, and change who is to go from the others. */
static bool extend_victims(struct reduce *r)
{
    const struct extension *e = r->start.extension;
    struct candidates *c = &r->candidates;
    if (e == NULL || e->asked.victims == 0 || c->all.count == 0)
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
    struct str post;
    if (!extend_victims(r))
        return reduce_extends(r);
    for (uint32_t i = 0; r->refused > 0 && i < r->question.nodes.count; i++)
        add_refusal(extension_refusal(r->start.extension, r->question.nodes.at[i]), &h);
    r->decision.feasible = 0;
    for (uint32_t i = 0; i < r->start.shards; i++)
        for (uint32_t k = 0; k < r->parts[i].result->reasons.count; k++) {
            const struct tally *t = &r->parts[i].result->reasons.at[k];
            histogram_add(&h, t->text, t->count);
        }
    if (r->decision.pre_filter.narrowed && (r->start.placement == NULL || r->narrowed_by_rules))
        histogram_add(&h, r->decision.absent, r->start.nodes - s->evaluated);
    if (r->start.detail)
        preemption_list_potential(&r->decision.preemption, r->verdicts, r->verdict_count,
                                  &r->arena);
    r->decision.plugins = rejecting_plugins(r);
    if (!run_post_filter(r, (struct str){0}, &h, &post))
        return reduce_extends(r);
    r->decision.message = fit_error(r->start.nodes, (struct str){0}, &h, post);
    return reduce_done(r, DECISION_unschedulable);
}

enum reduce_step no_node_is_left(struct reduce *r)
{
    const struct pre_filter_outcome *pre = &r->decision.pre_filter;
    struct histogram none = {.arena = &r->arena};
    struct str post;
    const struct nominated_outcome not_looked_at = {0};
    preemption_judge(&r->decision.preemption, r->start.framework, r->start.pod, &not_looked_at);
    no_node_spares_placed(r);
    if (pre->plugin.len > 0) {
        r->decision.plugins = (struct strs){1, arena_take(&r->arena, sizeof(struct str))};
        r->decision.plugins.at[0] = pre->plugin;
    } else {
        r->decision.plugins = pre->by;
    }
    if (!run_post_filter(r, pre->reason, &none, &post))
        return reduce_extends(r);
    r->decision.message = fit_error(r->start.nodes, pre->reason, &none, post);
    return reduce_done(r, DECISION_unschedulable);
}
