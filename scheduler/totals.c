/* totals: a share's raw scores, normalised, weighted and added up, and the best of the sums. The
 * one idea: a rule's scores are a column, and mostly a whole column can be treated alike.
 *
 * What must stay true: a node's total is what plugin_normalise and the weights say, rule by rule; a
 * tie is broken evenly, with the seed's first throw, as reduce does with its second. */
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "scheduler/kernels.h"
#include "scheduler/shard_inside.h"
#include "scheduler/wrap.h"

#include <string.h>

/* ---- one column ---- */

/* Some rows' raw scores, with their ends; as SCORE_IGNORED is the least of all numbers, the least
 * tells whether it is there. */
struct column {
    const int64_t *raw;
    uint32_t count;
    int64_t least, greatest;
};

static struct column column_of(const int64_t *raw, uint32_t count)
{
    struct column c = {raw, count, SCORE_IGNORED, SCORE_IGNORED};
    if (count > 0)
        kernel_range(raw, count, &c.least, &c.greatest);
    return c;
}

/* Scores are often few different numbers: those normalised last are remembered. */
#define MEMO_ROOM 64

static void add_each(const struct scorer *sc, const int64_t *raw, uint32_t count,
                     const struct extreme *range, int64_t *total)
{
    struct {
        bool known;
        int64_t raw, weighted;
    } memo[MEMO_ROOM];
    memset(memo, 0, sizeof(memo));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t slot = (uint64_t)raw[i] % MEMO_ROOM;
        if (!memo[slot].known || memo[slot].raw != raw[i]) {
            int64_t score = plugin_normalise(sc->plugin, raw[i], range->least, range->greatest);
            memo[slot].known = true;
            memo[slot].raw = raw[i];
            memo[slot].weighted = wrap_mul(score, sc->weight);
        }
        total[i] = wrap_add(total[i], memo[slot].weighted);
    }
}

/* range: what is normalised with. Returns what is left to be added to each total. */
static int64_t add_column(const struct scorer *sc, const struct column *c,
                          const struct extreme *range, int64_t *total)
{
    enum normalise how = sc->plugin->normalise;
    int64_t common = 0;
    if (c->least == c->greatest) {
        int64_t score = plugin_normalise(sc->plugin, c->least, range->least, range->greatest);
        common = wrap_mul(score, sc->weight);
    } else if (how == NORMALISE_none && c->least != SCORE_IGNORED) {
        kernel_add(total, c->raw, sc->weight, c->count);
    } else if (how != NORMALISE_none && how != NORMALISE_own && c->least >= 0 &&
               c->greatest <= range->greatest && range->greatest < KERNEL_EXACT) {
        bool reversed = how == NORMALISE_reversed;
        if (reversed)
            common = wrap_mul(SCORE_MAX, sc->weight);
        kernel_add_percent(total, c->raw, range->greatest,
                           reversed ? wrap_sub(0, sc->weight) : sc->weight, c->count);
    } else {
        add_each(sc, c->raw, c->count, range, total);
    }
    return common;
}

void totals_add(const struct scorer *sc, const int64_t *raw, uint32_t count,
                const struct extreme *range, int64_t *total)
{
    struct column c = column_of(raw, count);
    int64_t common = add_column(sc, &c, range, total);
    if (common != 0)
        kernel_raise(total, common, count);
}

/* ---- sums ---- */

/* The range of a column; for rules that only need the greatest it begins at 0. False when no score
 * is in it: a rule of its own normalising that ignores all of these nodes. */
static bool range_of(const struct plugin *p, const struct column *c, struct extreme *out)
{
    struct extreme r = {.plugin = str_of(p->name)};
    bool any = p->normalise != NORMALISE_own;
    if (c->least != SCORE_IGNORED) {
        r.least = any && c->least > 0 ? 0 : c->least;
        r.greatest = any && c->greatest < 0 ? 0 : c->greatest;
        *out = r;
        return true;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->raw[i] == SCORE_IGNORED)
            continue;
        if (!any || c->raw[i] < r.least)
            r.least = c->raw[i];
        if (!any || c->raw[i] > r.greatest)
            r.greatest = c->raw[i];
        any = true;
    }
    *out = r;
    return any;
}

/* Widened by what the request says of other workers; never narrower than ours, or scores would
 * leave 0–100 when nodes changed between the rounds. */
static struct extreme widened(struct evaluation *e, struct extreme own)
{
    for (uint32_t i = 0; i < e->request->extremes.count; i++) {
        const struct extreme *all = &e->request->extremes.at[i];
        if (!str_equal(all->plugin, own.plugin))
            continue;
        if (all->least < own.least)
            own.least = all->least;
        if (all->greatest > own.greatest)
            own.greatest = all->greatest;
    }
    return own;
}

/* Passing nodes stand in the verdicts in the order in which they stand in feasible. */
static struct verdict *next_passing(struct map_result *r, uint32_t *at)
{
    while (*at < r->verdicts.count && !str_is(r->verdicts.at[*at].code, "Success"))
        (*at)++;
    must(*at < r->verdicts.count);
    return &r->verdicts.at[(*at)++];
}

static void detail_scores(struct evaluation *e, uint32_t scorer, const struct extreme *range)
{
    const struct scratch *scratch = &e->shard->scratch;
    const struct scorer *sc = &scratch->framework->score[scorer];
    uint32_t at = 0;
    for (uint32_t k = 0; k < scratch->feasible_count; k++) {
        struct verdict *v = next_passing(e->result, &at);
        int64_t raw = scratch_raw(scratch, scorer)[k];
        int64_t score = plugin_normalise(sc->plugin, raw, range->least, range->greatest);
        v->scores.at[v->scores.count++] = (struct plugin_score){
            str_of(sc->plugin->name), raw == SCORE_IGNORED ? 0 : raw, wrap_mul(score, sc->weight)};
    }
}

static void detail_totals(struct evaluation *e)
{
    uint32_t at = 0;
    for (uint32_t k = 0; e->request->detail && k < e->shard->scratch.feasible_count; k++)
        next_passing(e->result, &at)->total =
            wrap_add(e->shard->scratch.total[k], e->shard->scratch.base);
}

static void add_weighted(struct evaluation *e, uint32_t scorer)
{
    struct scratch *scratch = &e->shard->scratch;
    const struct scorer *sc = &scratch->framework->score[scorer];
    struct column c = column_of(scratch_raw(scratch, scorer), scratch->feasible_count);
    struct extreme range = {0};
    if (sc->plugin->normalise != NORMALISE_none) {
        if (range_of(sc->plugin, &c, &range))
            e->result->extremes.at[e->result->extremes.count++] = range;
        range = widened(e, range);
    }
    scratch->base = wrap_add(scratch->base, add_column(sc, &c, &range, scratch->total));
    if (e->request->detail)
        detail_scores(e, scorer, &range);
}

void totals_sum_up(struct evaluation *e)
{
    struct scratch *scratch = &e->shard->scratch;
    const struct framework *fw = scratch->framework;
    e->result->extremes.at = arena_take(e->arena, fw->score_count * sizeof(struct extreme));
    if (scratch->feasible_count > 0)
        e->result->score_error = arena_copy(e->arena, scratch->error);
    scratch->base = fw->has_scores ? 0 : 1;
    memset(scratch->total, 0, scratch->feasible_count * sizeof(*scratch->total));
    for (uint32_t i = 0; i < fw->score_count; i++)
        if (scratch_scores(scratch, i) && e->result->score_error.len == 0)
            add_weighted(e, i);
    detail_totals(e);
}

static struct str node_name(const struct shard *s, uint32_t row)
{
    return atom_text(s->atoms, s->nodes.entry[row]->name);
}

/* ---- the best ---- */

static bool before(struct str a, struct str b)
{
    return b.len == 0 || str_compare(a, b) < 0;
}

/* By name: the first of the best, and the first of them behind the node chosen last. */
static void choose_by_name(struct evaluation *e, int64_t best, bool round)
{
    const struct scratch *scratch = &e->shard->scratch;
    struct map_result *r = e->result;
    for (uint32_t k = 0; k < scratch->feasible_count; k++) {
        if (scratch->total[k] != best)
            continue;
        struct str name = node_name(e->shard, scratch->feasible[k]);
        if (before(name, r->best_node))
            r->best_node = name;
        if (round && str_compare(name, e->request->after) > 0 && before(name, r->best_after))
            r->best_after = name;
    }
}

/* Of the totals without their base; it is added after all if any would wrap with it, for then the
 * order may be another. */
static int64_t greatest_total(struct scratch *s)
{
    int64_t least, greatest, unused;
    kernel_range(s->total, s->feasible_count, &least, &greatest);
    if (__builtin_add_overflow(least, s->base, &unused) ||
        __builtin_add_overflow(greatest, s->base, &unused)) {
        kernel_raise(s->total, s->base, s->feasible_count);
        s->base = 0;
        kernel_range(s->total, s->feasible_count, &least, &greatest);
    }
    return greatest;
}

/* Among the nodes with the greatest total: one at random, the first by name, or for a round the
 * first by name and the first behind the node chosen last. */
void totals_choose(struct evaluation *e)
{
    struct scratch *scratch = &e->shard->scratch;
    struct map_result *r = e->result;
    bool round = str_is(e->request->tie_break, "round-robin");
    if (scratch->feasible_count == 0)
        return;
    int64_t best = greatest_total(scratch);
    r->best_total = wrap_add(best, scratch->base);
    r->best_count = kernel_count(scratch->total, best, scratch->feasible_count);
    if (round || str_is(e->request->tie_break, "first")) {
        choose_by_name(e, best, round);
        return;
    }
    struct random dice = {(uint64_t)e->request->seed};
    uint64_t skip = random_below(&dice, (uint64_t)r->best_count);
    uint32_t k = 0;
    while (scratch->total[k] != best || skip-- > 0)
        k++;
    r->best_node = node_name(e->shard, scratch->feasible[k]);
}
