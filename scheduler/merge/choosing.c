/* choosing: the node of a cycle in which some node passes. What must stay true: which one of
 * several that tie does not depend on which shard has them, but for the dice. */
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "scheduler/merge/reduce_inside.h"

#include <stdlib.h>

static bool is_best(const struct reduce *r, uint32_t shard)
{
    const struct map_result *p = r->parts[shard].result;
    return p->feasible > 0 && p->best_count > 0 && p->best_total == r->decision.total;
}

static struct str by_dice(const struct reduce *r)
{
    struct random dice = {(uint64_t)r->start.seed};
    (void)random_next(&dice); /* the shards' first throw */
    int64_t left = (int64_t)random_below(&dice, (uint64_t)r->decision.best_count);
    for (uint32_t i = 0; i < r->start.shards; i++) {
        if (!is_best(r, i))
            continue;
        left -= r->parts[i].result->best_count;
        if (left < 0)
            return r->parts[i].result->best_node;
    }
    must(!"some shard has a best node");
    return (struct str){0};
}

static void take_smaller(struct str *smallest, struct str name)
{
    if (name.len > 0 && (smallest->len == 0 || str_compare(name, *smallest) < 0))
        *smallest = name;
}

static struct str by_name(const struct reduce *r)
{
    struct str first = {0};
    for (uint32_t i = 0; i < r->start.shards; i++)
        if (is_best(r, i))
            take_smaller(&first, r->parts[i].result->best_node);
    return first;
}

static void list_best(struct reduce *r)
{
    struct decision *d = &r->decision;
    d->best_nodes.at = arena_take(&r->arena, (r->verdict_count + 1) * sizeof(struct str));
    if (d->used_nominated) {
        d->best_nodes.at[d->best_nodes.count++] = d->node;
        return;
    }
    for (uint32_t i = 0; i < r->verdict_count; i++)
        if (r->verdicts[i].code == VERDICT_success && r->verdicts[i].total == d->total)
            d->best_nodes.at[d->best_nodes.count++] = r->verdicts[i].node;
}

static int compare_listed(const void *a, const void *b)
{
    return str_compare(((const struct listed_node *)a)->node,
                       ((const struct listed_node *)b)->node);
}

struct listed_nodes choosing_listed(struct reduce *r)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < r->start.shards; i++)
        room += r->parts[i].result->listed.count;
    struct listed_nodes all = {0, arena_take(&r->arena, room * sizeof(*all.at))};
    for (uint32_t i = 0; i < r->start.shards; i++)
        for (uint32_t k = 0; k < r->parts[i].result->listed.count; k++)
            all.at[all.count++] = r->parts[i].result->listed.at[k];
    if (all.count > 1)
        qsort(all.at, all.count, sizeof(*all.at), compare_listed);
    return all;
}

enum reduce_step choosing_nominated(struct reduce *r)
{
    r->decision.used_nominated = true;
    r->decision.walked = 0;
    r->decision.node = r->start.pod->nominated_node;
    if (r->start.detail)
        list_best(r);
    return reduce_done(r, DECISION_node);
}

static bool is_listed(const struct listed_nodes *nodes, int64_t total)
{
    uint32_t i = 0;
    while (i < nodes->count && nodes->at[i].total != total)
        i++;
    return i < nodes->count;
}

/* As selectHost did it until Kubernetes 1.12. False: a worker, which is a peer, has not told of the
 * nodes that it says there are, or there are none that are known. */
static bool take_turn(struct reduce *r, const struct listed_nodes *nodes)
{
    struct decision *d = &r->decision;
    if (r->start.walk.nodes == 0 || !is_listed(nodes, d->total))
        return false;
    d->took_turn = true;
    d->node = walk_turn(&r->start.walk, nodes, d->total, r->start.turn, &r->arena);
    return true;
}

/* Verdicts have the totals without what extenders add. */
static void list_best_extended(struct reduce *r, const struct listed_nodes *nodes)
{
    struct strs *best = &r->decision.best_nodes;
    best->at = arena_take(&r->arena, nodes->count * sizeof(struct str));
    for (uint32_t i = 0; i < nodes->count; i++)
        if (nodes->at[i].total == r->decision.total)
            best->at[best->count++] = nodes->at[i].node;
}

/* With what extenders add to the totals; they are not asked about a single node. */
static enum reduce_step choose_extended(struct reduce *r)
{
    struct decision *d = &r->decision;
    struct listed_nodes nodes = choosing_listed(r);
    struct listed_choice c = {.tie_break = r->start.tie_break, .seed = r->start.seed};
    if (nodes.count == 0)
        return reduce_fail(r, STR_LITERAL("a worker's answer makes no sense"));
    extension_score(r->start.extension, &nodes);
    listed_choose(&nodes, &c);
    d->total = c.total;
    d->best_count = c.best_count;
    d->node = c.node;
    if (r->start.tie_break == TIE_BREAK_round_robin && !take_turn(r, &nodes))
        return reduce_fail(r, STR_LITERAL("a worker's answer makes no sense"));
    d->evaluated = r->nodes_filtered;
    if (r->start.detail)
        list_best_extended(r, &nodes);
    return reduce_done(r, DECISION_node);
}

/* False: a worker's answer makes no sense. */
static bool break_tie(struct reduce *r, const struct sums *s)
{
    struct decision *d = &r->decision;
    if (r->start.tie_break == TIE_BREAK_round_robin && s->feasible > 1) {
        struct listed_nodes nodes = choosing_listed(r);
        return take_turn(r, &nodes);
    }
    if (r->start.shards == 1) {
        d->node = r->parts[0].result->best_node;
    } else {
        bool dice = r->start.tie_break == TIE_BREAK_random || r->start.tie_break == TIE_BREAK_none;
        d->node = dice ? by_dice(r) : by_name(r);
    }
    return true;
}

enum reduce_step choosing_node(struct reduce *r, const struct sums *s)
{
    struct decision *d = &r->decision;
    if (r->start.extension != NULL && r->start.extension->asked.nodes != 0)
        return choose_extended(r);
    for (uint32_t i = 0; i < r->start.shards; i++) {
        const struct map_result *p = r->parts[i].result;
        if (p->feasible == 0)
            continue;
        if (d->best_count == 0 || p->best_total > d->total) {
            d->total = p->best_total;
            d->best_count = 0;
        }
        d->best_count += p->best_total == d->total ? p->best_count : 0;
    }
    must(d->best_count > 0);
    if (r->walked)
        d->evaluated = r->nodes_filtered;
    d->used_nominated = s->nominated_fits;
    if (s->nominated_fits) {
        d->node = r->start.pod->nominated_node;
        d->walked = 0;
    } else if (!break_tie(r, s)) {
        return reduce_fail(r, STR_LITERAL("a worker's answer makes no sense"));
    }
    if (r->start.detail)
        list_best(r);
    return reduce_done(r, DECISION_node);
}
