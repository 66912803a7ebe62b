/* picking: the best of what workers have picked. The one idea: what a pod changes is its own node,
 * so for the next pod all other nodes are as they were told of, and that one is asked about again.
 *
 * What must stay true: the decisions are those of one pod at a time. Whoever goes to a node of a
 * worker goes to one that the worker has picked; of such nodes it has told what they come to for
 * the pods behind, where that is as much as its best. Which of several equals is a throw of dice,
 * each as likely as any, or the first by name.
 *
 * What each worker says of each pod is a few numbers and a name, by pod, so that the next worker's
 * are near. */
#include "scheduler/merge/picking.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/merge/score_ranges.h"

#include <limits.h>

/* The best of a worker's nodes for a pod, but for those that it has picked before. */
struct best {
    int64_t total;
    uint32_t ties; /* 0: there is none */
    bool passes;   /* some node does */
    uint64_t tied; /* bit by pick: its node has that total, too */
    struct str node;
};

/* A node that was picked before, and is better. */
struct rival {
    const struct rival *next; /* for the same pod */
    uint32_t from, pick;
    int64_t total;
};

struct ranged {
    const struct ranged *next; /* for the same pod */
    uint32_t from;
    struct extreme range;
};

/* A node with pods before this one on it. */
struct changed {
    const struct changed *next; /* for the same pod */
    uint32_t from;
    bool rejected, fails;
    struct str node;
    int64_t total;
};

struct one_pod {
    struct best *best; /* by worker */
    int64_t feasible;
    bool fails;
    uint64_t skipped, score_skipped;
    const struct rival *rivals;
    const struct ranged *ranges;
    const struct changed *changed;
};

struct picking {
    struct arena memory;
    uint32_t room, workers, pods, told;
    struct one_pod of[PICKS_MAX];
    uint64_t *taken; /* by worker, bit by pick: a pod goes to its node */
};

struct picking *picking_new(uint32_t workers)
{
    struct picking *p = memory_take(sizeof(*p));
    p->room = workers;
    p->taken = memory_take_array(workers, sizeof(*p->taken));
    for (uint32_t i = 0; i < PICKS_MAX; i++)
        p->of[i].best = memory_take_array(workers, sizeof(struct best));
    return p;
}

void picking_free(struct picking **picking)
{
    struct picking *p = *picking;
    if (p == NULL)
        return;
    for (uint32_t i = 0; i < PICKS_MAX; i++)
        memory_free(p->of[i].best);
    memory_free(p->taken);
    arena_free(&p->memory);
    memory_free(p);
    *picking = NULL;
}

void picking_begin(struct picking *p, uint32_t workers, uint32_t pods)
{
    must(workers <= p->room && pods <= PICKS_MAX);
    arena_reset(&p->memory);
    p->workers = workers;
    p->pods = p->told = pods;
    for (uint32_t i = 0; i < pods; i++)
        p->of[i] = (struct one_pod){.best = p->of[i].best};
    for (uint32_t i = 0; i < workers; i++)
        p->taken[i] = 0;
}

/* ---- what is said ---- */

/* A worker is a peer: it may say anything. */
static bool makes_sense(const struct map_picks_result *said)
{
    uint64_t picked = 0; /* bit by pick: it is a node */
    if (said->picks.count > PICKS_MAX || said->filter_ns < 0)
        return false;
    for (uint32_t i = 0; i < said->picks.count; i++) {
        const struct node_pick *pick = &said->picks.at[i];
        if (pick->feasible < 0 || pick->ties < 0 || pick->ties > INT32_MAX)
            return false;
        uint64_t others = (uint64_t)pick->tied;
        for (uint32_t k = 0; k < pick->rivals.count; k++) {
            int64_t other = pick->rivals.at[k].pick;
            if (other < 0 || other >= i)
                return false;
            others |= UINT64_C(1) << other;
        }
        if ((others & ~picked) != 0)
            return false;
        picked |= pick->ties > 0 ? UINT64_C(1) << i : 0;
    }
    return true;
}

static void add_rivals(struct picking *p, struct one_pod *pod, uint32_t worker,
                       const struct node_pick *said)
{
    for (uint32_t i = 0; i < said->rivals.count; i++) {
        struct rival *one = arena_take(&p->memory, sizeof(*one));
        *one = (struct rival){pod->rivals, worker, (uint32_t)said->rivals.at[i].pick,
                              said->rivals.at[i].total};
        pod->rivals = one;
    }
}

static void add_ranges(struct picking *p, struct one_pod *pod, uint32_t worker,
                       const struct node_pick *said)
{
    for (uint32_t i = said->extremes.count; i > 0; i--) { /* in the order in which they came */
        struct ranged *one = arena_take(&p->memory, sizeof(*one));
        *one = (struct ranged){pod->ranges, worker, said->extremes.at[i - 1]};
        one->range.plugin = arena_copy(&p->memory, one->range.plugin);
        pod->ranges = one;
    }
}

bool picking_take(struct picking *p, uint32_t worker, const struct map_picks_result *said)
{
    uint64_t skipped = 0, score_skipped = 0;
    uint32_t count = makes_sense(said) ? said->picks.count : 0;
    count = count < p->pods ? count : p->pods;
    p->told = count < p->told ? count : p->told;
    for (uint32_t i = 0; i < count; i++) {
        const struct node_pick *pick = &said->picks.at[i];
        struct one_pod *pod = &p->of[i];
        struct best *best = &pod->best[worker];
        best->total = pick->total;
        best->ties = (uint32_t)pick->ties;
        best->tied = (uint64_t)pick->tied;
        best->passes = pick->feasible > 0;
        best->node = arena_copy(&p->memory, pick->node);
        pod->feasible += pick->feasible;
        pod->fails |= pick->fails;
        skipped ^= (uint64_t)pick->skipped;
        score_skipped ^= (uint64_t)pick->score_skipped;
        pod->skipped |= skipped;
        pod->score_skipped |= score_skipped;
        add_rivals(p, pod, worker, pick);
        add_ranges(p, pod, worker, pick);
    }
    return count > 0;
}

uint32_t picking_told(const struct picking *p)
{
    return p->told;
}

void picking_skipped(const struct picking *p, uint32_t pod, uint64_t *pre_filter, uint64_t *score)
{
    *pre_filter |= p->of[pod].skipped;
    *score |= p->of[pod].score_skipped;
}

/* ---- ranges ---- */

bool picking_has_ranges(const struct picking *p, uint32_t pod)
{
    return p->of[pod].ranges != NULL;
}

/* Into a list, in the order in which they were told. */
static uint32_t told_by(const struct one_pod *pod, uint32_t worker, struct extreme *out)
{
    uint32_t count = 0;
    for (const struct ranged *r = pod->ranges; r != NULL; r = r->next)
        if (r->from == worker && count < SCORE_RANGES_MAX)
            out[count++] = r->range;
    return count;
}

uint64_t picking_merge_ranges(struct picking *p, uint32_t pod, const struct picking_ranges *asked,
                              struct score_range *all)
{
    const struct framework *fw = asked->framework;
    struct extreme told[SCORE_RANGES_MAX];
    struct score_ranges own, same;
    uint64_t any = 0;
    score_ranges_new(&own, fw, &p->memory);
    score_ranges_new(&same, fw, &p->memory);
    score_ranges_note(&same, fw, asked->at, asked->count);
    const uint64_t all_asked = same.told;
    for (uint32_t i = 0; i < p->workers; i++) {
        if (!p->of[pod].best[i].passes)
            continue;
        score_ranges_note(&own, fw, told, told_by(&p->of[pod], i, told));
        same.told = all_asked & ~own.told;
        score_ranges_merge(&own, all, &any);
        score_ranges_merge(&same, all, &any);
    }
    return any;
}

/* ---- on nodes as they are ---- */

/* The best so far, and the one of its equals that is taken: the first by name, or the one at which
 * so many others have been passed by. */
struct choice {
    const struct picking_dice *dice;
    bool any;
    int64_t total, ties, left;
};

/* The throw behind so many others. */
static void throw_dice(struct choice *c, uint32_t behind)
{
    struct random r = {(uint64_t)c->dice->seed};
    for (uint32_t i = 0; i < behind; i++)
        (void)random_next(&r);
    if (c->dice->tie_break != TIE_BREAK_first)
        c->left = (int64_t)random_below(&r, (uint64_t)c->ties);
}

static void weigh(struct choice *c, int64_t total, uint32_t ties)
{
    if (c->any && total < c->total)
        return;
    if (!c->any || total > c->total)
        *c = (struct choice){.dice = c->dice, .any = true, .total = total};
    c->ties += ties;
}

static bool is_taken(const struct picking *p, const struct rival *r)
{
    return (p->taken[r->from] >> r->pick & 1) != 0;
}

/* One of the equals: true when it is the one, or the first by name until now. */
static bool is_it(struct choice *c, uint32_t ties, struct str node, const struct picked *out)
{
    if (c->dice->tie_break == TIE_BREAK_first)
        return out->ties == 0 || str_compare(node, out->node) < 0;
    bool before = c->left >= 0;
    c->left -= ties;
    return before && c->left < 0;
}

static void take(struct choice *c, uint32_t ties, const struct picked *one, struct picked *out)
{
    if (one->total != c->total || ties == 0 || !is_it(c, ties, one->node, out))
        return;
    int64_t feasible = out->feasible;
    *out = *one;
    out->ties = c->ties;
    out->feasible = feasible;
}

/* Of a worker's best, those that it has picked for pods before this one. */
static void find_tied(const struct picking *p, uint32_t pod, uint32_t worker, struct choice *c,
                      struct picked *out)
{
    const struct best *b = &p->of[pod].best[worker];
    for (uint64_t left = b->tied & ~p->taken[worker]; left != 0; left &= left - 1) {
        uint32_t pick = (uint32_t)__builtin_ctzll(left);
        take(c, 1,
             &(struct picked){.node = p->of[pick].best[worker].node,
                              .total = b->total,
                              .from = worker,
                              .pick = pick},
             out);
    }
}

static void find(const struct picking *p, uint32_t pod, struct choice *c, struct picked *out)
{
    const struct one_pod *of = &p->of[pod];
    for (uint32_t i = 0; i < p->workers; i++) {
        const struct best *b = &of->best[i];
        if (b->ties == 0 || b->total != c->total)
            continue;
        take(c, b->ties,
             &(struct picked){.node = b->node, .total = b->total, .from = i, .pick = pod}, out);
        find_tied(p, pod, i, c, out);
    }
    for (const struct rival *r = of->rivals; r != NULL; r = r->next)
        if (!is_taken(p, r))
            take(c, 1,
                 &(struct picked){.node = p->of[r->pick].best[r->from].node,
                                  .total = r->total,
                                  .from = r->from,
                                  .pick = r->pick},
                 out);
}

bool picking_choose(struct picking *p, uint32_t pod, const struct picking_dice *dice,
                    struct picked *out)
{
    const struct one_pod *of = &p->of[pod];
    struct choice c = {.dice = dice};
    if (of->fails)
        return false;
    for (uint32_t i = 0; i < p->workers; i++)
        if (of->best[i].ties > 0)
            weigh(&c, of->best[i].total,
                  of->best[i].ties +
                      (uint32_t)__builtin_popcountll(of->best[i].tied & ~p->taken[i]));
    for (const struct rival *r = of->rivals; r != NULL; r = r->next)
        if (!is_taken(p, r))
            weigh(&c, r->total, 1);
    if (!c.any)
        return false;
    *out = (struct picked){.feasible = of->feasible};
    throw_dice(&c, 1);
    find(p, pod, &c, out);
    must(out->ties > 0);
    p->taken[out->from] |= UINT64_C(1) << out->pick;
    return true;
}

/* ---- with pods before it on their nodes ---- */

bool picking_take_checked(struct picking *p, uint32_t worker, uint32_t pods,
                          const struct map_checked *said)
{
    for (uint32_t i = 0; i < said->changed.count; i++) {
        const struct checked_node *c = &said->changed.at[i];
        if (c->pod < 1 || c->pod >= pods || c->pod >= PICKS_MAX)
            return false;
        struct changed *one = arena_take(&p->memory, sizeof(*one));
        *one = (struct changed){.next = p->of[c->pod].changed,
                                .from = worker,
                                .rejected = c->rejected,
                                .fails = c->fails,
                                .node = arena_copy(&p->memory, c->node),
                                .total = c->total};
        p->of[c->pod].changed = one;
    }
    return true;
}

enum picking_verdict picking_check(const struct picking *p, uint32_t pod, bool narrows,
                                   const struct picking_dice *dice, struct picked *at)
{
    struct choice c = {.dice = dice, .any = true, .total = at->total, .ties = at->ties};
    const struct changed *changed = p->of[pod].changed;
    for (const struct changed *x = changed; x != NULL; x = x->next) {
        if (x->fails || (x->rejected && narrows))
            return PICKING_unknown;
        if (!x->rejected)
            weigh(&c, x->total, 1);
    }
    bool better = c.total > at->total;
    if (!better && c.ties == at->ties)
        return PICKING_stands;
    struct picked best = {.feasible = at->feasible};
    throw_dice(&c, 2);
    if (!better)
        take(&c, (uint32_t)at->ties, at, &best);
    for (const struct changed *x = changed; x != NULL; x = x->next)
        if (!x->rejected)
            take(&c, 1, &(struct picked){.node = x->node, .total = x->total, .from = x->from},
                 &best);
    bool stands = !better && str_equal(best.node, at->node);
    *at = best;
    return stands ? PICKING_stands : PICKING_other;
}
