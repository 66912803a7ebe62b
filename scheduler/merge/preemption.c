/* preemption: merges what the workers found and picks a candidate. The one idea: each share's best
 * by upstream's order is compared by the same order, so the best of the best is the cluster's.
 *
 * What must stay true: with detail, where every candidate is here, the pick is the same as without
 * (for a tie broken by name), and the order in which workers answer changes nothing. */
#include "scheduler/merge/preemption.h"

#include "proto/base/random.h"
#include "scheduler/catalog/catalog.h"
#include "scheduler/merge/gang_rules.h"
#include "scheduler/rules/candidate.h"

#include <stdlib.h>
#include <string.h>

void preemption_judge(struct preemption *p, const struct framework *fw, const struct pod *pod,
                      const struct nominated_outcome *nominated)
{
    p->considered = fw->preempts;
    bool spares = gang_rules_spare(fw, pod), never = str_is(pod->preemption_policy, "Never");
    p->waits = !spares && !never && nominated->waits && nominated->code != VERDICT_none &&
               nominated->code != VERDICT_unresolvable;
    p->eligible = !spares && !never && !p->waits;
    if (spares)
        p->reason = STR_LITERAL("not eligible due to workload aware preemption enabled");
    else if (never)
        p->reason = STR_LITERAL("not eligible due to preemptionPolicy=Never.");
    else if (p->waits)
        p->reason = STR_LITERAL("not eligible due to a terminating pod on the nominated node.");
}

static int compare_budgets(const void *a, const void *b)
{
    const struct budget *l = a, *r = b;
    int order = str_compare(l->namespace_name, r->namespace_name);
    return order != 0 ? order : str_compare(l->name, r->name);
}

void preemption_ask(struct map_request *request, const struct catalog *catalog, struct arena *a)
{
    size_t at = 0;
    const struct budget *b;
    request->dry_run.budgets.count = 0;
    request->dry_run.budgets.at =
        arena_take(a, catalog_count(catalog, CATALOG_budget) * sizeof(struct budget));
    while ((b = catalog_next(catalog, CATALOG_budget, &at)) != NULL)
        if (b->selector.labels.count + b->selector.expressions.count > 0)
            request->dry_run.budgets.at[request->dry_run.budgets.count++] = *b;
    if (request->dry_run.budgets.count > 1)
        qsort(request->dry_run.budgets.at, request->dry_run.budgets.count, sizeof(struct budget),
              compare_budgets);
}

void preemption_list_potential(struct preemption *p, const struct verdict *at, uint32_t count,
                               struct arena *a)
{
    p->potential.at = arena_take(a, count * sizeof(struct str));
    for (uint32_t i = 0; i < count && p->eligible; i++)
        if (at[i].code == VERDICT_unschedulable)
            p->potential.at[p->potential.count++] = at[i].node;
}

/* ---- merging ---- */

bool candidates_make_sense(const struct map_result *result)
{
    int64_t nodes = result->dry_run.nodes, fits = result->dry_run.fits;
    if (nodes < 0 || nodes > INT32_MAX || fits < 0 || fits > nodes ||
        result->dry_run.candidates.count > fits ||
        (fits > 0) != (result->dry_run.candidates.count > 0))
        return false;
    for (uint32_t i = 0; i < result->dry_run.candidates.count; i++) {
        const struct candidate *c = &result->dry_run.candidates.at[i];
        if (c->node.len == 0 || c->victims.count == 0 || c->ties < 0 || c->ties > fits ||
            c->violations < 0 || c->violations > c->victims.count)
            return false;
    }
    return true;
}

/* Makes room for more at the end of a list of items of this size. */
static void *reserve(struct arena *a, const void *at, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return (void *)at;
    *room = *room == 0 ? 8 : *room * 2;
    void *more = arena_take(a, *room * size);
    if (count > 0)
        memcpy(more, at, count * size);
    return more;
}

void candidates_none(struct candidates *c, int64_t nodes)
{
    c->reasons.arena = c->arena;
    c->nodes += nodes;
    histogram_add(&c->reasons, STR_LITERAL(NO_VICTIMS), nodes);
}

void candidates_add(struct candidates *c, const struct map_result *result)
{
    c->reasons.arena = c->arena;
    c->nodes += result->dry_run.nodes;
    for (uint32_t i = 0; i < result->dry_run.reasons.count; i++)
        histogram_add(&c->reasons, arena_copy(c->arena, result->dry_run.reasons.at[i].text),
                      result->dry_run.reasons.at[i].count);
    for (uint32_t i = 0; i < result->dry_run.candidates.count; i++) {
        c->all.at = reserve(c->arena, c->all.at, c->all.count, &c->all.room, sizeof(*c->all.at));
        codec_copy(&candidate_record, &c->all.at[c->all.count++], &result->dry_run.candidates.at[i],
                   c->arena);
    }
    for (uint32_t i = 0; i < result->dry_run.verdicts.count; i++) {
        c->rejected.at = reserve(c->arena, c->rejected.at, c->rejected.count, &c->rejected.room,
                                 sizeof(*c->rejected.at));
        codec_copy(&verdict_record, &c->rejected.at[c->rejected.count++],
                   &result->dry_run.verdicts.at[i], c->arena);
    }
}

static int compare_candidates(const void *a, const void *b)
{
    return str_compare(((const struct candidate *)a)->node, ((const struct candidate *)b)->node);
}

static int compare_verdicts(const void *a, const void *b)
{
    return str_compare(((const struct verdict *)a)->node, ((const struct verdict *)b)->node);
}

/* ---- picking ---- */

static struct candidate_rank rank_of(const struct candidate *c, int64_t now_us)
{
    struct candidate_rank rank = {.violations = c->violations};
    for (uint32_t i = 0; i < c->victims.count; i++) {
        const struct victim *v = &c->victims.at[i];
        candidate_rank_add(&rank, v->priority, v->started != 0 ? v->started : now_us);
    }
    return rank;
}

/* Moves the candidates that tie for the best to the front, in their order; how many. */
static uint32_t keep_best(struct candidate *at, uint32_t count, int64_t now_us)
{
    struct candidate_rank best = {0};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct candidate_rank rank = rank_of(&at[i], now_us);
        int order = kept == 0 ? -1 : candidate_rank_compare(&rank, &best);
        if (order > 0)
            continue;
        if (order < 0) {
            best = rank;
            kept = 0;
        }
        at[kept++] = at[i];
    }
    return kept;
}

static int64_t nodes_behind(const struct candidate *c)
{
    return c->ties > 0 ? c->ties : 1;
}

/* Each node behind the best has the same chance. */
static const struct candidate *by_dice(const struct candidate *at, uint32_t count, int64_t seed)
{
    struct random dice = {(uint64_t)seed};
    int64_t all = 0;
    uint32_t i = 0;
    for (uint32_t k = 0; k < count; k++)
        all += nodes_behind(&at[k]);
    (void)random_next(&dice); /* the shards' first throw */
    int64_t left = (int64_t)random_below(&dice, (uint64_t)all);
    while ((left -= nodes_behind(&at[i])) >= 0)
        i++;
    return &at[i];
}

static void list_best(struct preemption *p, const struct candidate *at, uint32_t count,
                      struct arena *a)
{
    p->best_nodes = (struct strs){0, arena_take(a, count * sizeof(struct str))};
    for (uint32_t i = 0; i < count; i++)
        p->best_nodes.at[p->best_nodes.count++] = at[i].node;
}

void candidates_sort(struct candidates *c)
{
    if (c->all.count > 1)
        qsort(c->all.at, c->all.count, sizeof(*c->all.at), compare_candidates);
    if (c->rejected.count > 1)
        qsort(c->rejected.at, c->rejected.count, sizeof(*c->rejected.at), compare_verdicts);
}

struct ranked {
    struct candidate_rank rank;
    struct candidate candidate;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    int order = candidate_rank_compare(&x->rank, &y->rank);
    return order != 0 ? order : compare_candidates(&x->candidate, &y->candidate);
}

void candidates_limit(struct candidates *c, int64_t percentage, int64_t absolute, int64_t now_us)
{
    int64_t most = c->nodes * percentage / 100;
    most = most < absolute ? absolute : most;
    if (percentage + absolute > 0 && most < c->all.count) {
        struct ranked *all = arena_take(c->arena, c->all.count * sizeof(*all));
        for (uint32_t i = 0; i < c->all.count; i++)
            all[i] = (struct ranked){rank_of(&c->all.at[i], now_us), c->all.at[i]};
        qsort(all, c->all.count, sizeof(*all), compare_ranked);
        c->all.count = (uint32_t)most;
        for (uint32_t i = 0; i < c->all.count; i++)
            c->all.at[i] = all[i].candidate;
    }
    candidates_sort(c);
}

void preemption_pick(struct preemption *p, struct candidates *c, const struct tie_break *by)
{
    uint32_t count = c->all.count;
    candidates_sort(c);
    p->candidates.count = count;
    p->candidates.at = c->all.at;
    p->rejected.count = c->rejected.count;
    p->rejected.at = c->rejected.at;
    if (count == 0)
        return;
    struct candidate *best = arena_take(c->arena, count * sizeof(*best));
    memcpy(best, c->all.at, count * sizeof(*best));
    uint32_t ties = keep_best(best, count, by->now_us);
    list_best(p, best, ties, c->arena);
    const struct candidate *picked = best;
    if (by->rule != TIE_BREAK_first && by->rule != TIE_BREAK_round_robin)
        picked = by_dice(best, ties, by->seed);
    p->node = picked->node;
    p->victims.count = picked->victims.count;
    p->victims.at = picked->victims.at;
    p->violations = picked->violations;
}

/* A node that passes with all its pods back is, to upstream, a candidate without victims. */
static struct str failure_on(const struct verdict *v, struct arena *a)
{
    if (v->code == VERDICT_success)
        return arena_print(a, "expected at least one victim pod on node \"%.*s\"",
                           STR_ARG(v->node));
    return v->reasons.count > 0 ? v->reasons.at[0] : (struct str){0};
}

static bool failed_on(const struct verdict *v)
{
    return v->code == VERDICT_success || v->code == VERDICT_error;
}

bool candidates_failed(const struct candidates *c, struct str *why)
{
    if (c->extended) {
        *why = c->failed;
        return c->failed.len > 0;
    }
    struct histogram seen = {.arena = c->arena}; /* each text once, in the order of the nodes */
    for (uint32_t i = 0; i < c->rejected.count; i++)
        if (failed_on(&c->rejected.at[i]))
            histogram_add(&seen, failure_on(&c->rejected.at[i], c->arena), 1);
    struct buffer text = {0};
    buffer_add_text(&text, seen.count > 1 ? "[" : "");
    for (uint32_t i = 0; i < seen.count; i++) {
        buffer_add_text(&text, i > 0 ? ", " : "");
        buffer_add_str(&text, seen.at[i].text);
    }
    buffer_add_text(&text, seen.count > 1 ? "]" : "");
    *why = arena_copy(c->arena, buffer_str(&text));
    buffer_free(&text);
    return seen.count > 0;
}
