/* class_best: a class's totals and the best of them. The one idea: while the range that a rule
 * normalises with stays the same, a total changes only with its own row; and with the best of each
 * block of rows at hand, the best of all is found without looking at all.
 *
 * What must stay true: a block's best and count are those of its feasible rows' totals. */
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "scheduler/classes_inside.h"
#include "scheduler/wrap.h"

#include <string.h>

/* ---- spans ---- */

void span_start(struct span *span, const struct plugin *p)
{
    bool from_zero = p->normalise != NORMALISE_own;
    *span = (struct span){.any = from_zero, .at_least = from_zero, .at_greatest = from_zero};
}

void span_enter(struct span *span, int64_t raw)
{
    if (raw == SCORE_IGNORED)
        return;
    if (!span->any || raw < span->least) {
        span->least = raw;
        span->at_least = 0;
    }
    if (!span->any || raw > span->greatest) {
        span->greatest = raw;
        span->at_greatest = 0;
    }
    span->any = true;
    span->at_least += raw == span->least;
    span->at_greatest += raw == span->greatest;
}

void span_leave(struct span *span, int64_t raw)
{
    if (raw == SCORE_IGNORED)
        return;
    must(span->any);
    span->at_least -= raw == span->least && span->at_least > 0;
    span->at_greatest -= raw == span->greatest && span->at_greatest > 0;
}

bool span_is_worn(const struct span *span)
{
    return span->any && (span->at_least == 0 || span->at_greatest == 0);
}

bool class_scores(const struct pod_class *k, uint32_t scorer)
{
    return (k->score_skip >> scorer & 1) == 0;
}

void class_span(struct pod_class *k, uint32_t scorer)
{
    struct span *span = &k->spans[scorer];
    span_start(span, k->framework->score[scorer].plugin);
    for (uint32_t row = 0; row < k->rows; row++)
        if (k->outcome[row] == 0)
            span_enter(span, k->raw[scorer][row]);
}

/* ---- totals ---- */

bool class_normalises(const struct pod_class *k, uint32_t scorer)
{
    return k->framework->score[scorer].plugin->normalise != NORMALISE_none;
}

static int64_t weighted(const struct pod_class *k, uint32_t scorer, int64_t raw,
                        const struct span *range)
{
    const struct scorer *sc = &k->framework->score[scorer];
    return wrap_mul(plugin_normalise(sc->plugin, raw, range->least, range->greatest), sc->weight);
}

void class_retotal(struct pod_class *k, uint32_t row)
{
    int64_t total = k->framework->has_scores ? 0 : 1;
    for (uint32_t i = 0; i < k->framework->score_count; i++)
        if (class_scores(k, i))
            total = wrap_add(total, weighted(k, i, k->raw[i][row], &k->used[i]));
    k->total[row] = total;
}

void class_change(struct pod_class *k, uint32_t scorer, uint32_t row, int64_t before)
{
    int64_t old = weighted(k, scorer, before, &k->used[scorer]),
            now = weighted(k, scorer, k->raw[scorer][row], &k->used[scorer]);
    k->total[row] = wrap_add(k->total[row], wrap_sub(now, old));
}

void class_look_through(struct pod_class *k, uint32_t block)
{
    struct block b = {0};
    uint32_t from = block * BLOCK_ROWS, to = from + BLOCK_ROWS;
    for (uint32_t row = from; row < to && row < k->rows; row++) {
        if (k->outcome[row] != 0 || (b.count > 0 && k->total[row] < b.best))
            continue;
        if (b.count == 0 || k->total[row] > b.best)
            b = (struct block){k->total[row], 0};
        b.count++;
    }
    k->blocks[block] = b;
}

static uint32_t block_count(const struct pod_class *k)
{
    return (k->rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
}

/* Rows mostly have one of few raw scores, so the last ones seen are remembered. */
struct shift {
    bool set;
    int64_t raw, by;
};

#define SHIFTS 64

/* Adds to each total what one rule makes of the range now, less what it made of the one before;
 * from NULL: it made nothing yet. */
static void shift_column(struct pod_class *k, uint32_t scorer, const struct span *from,
                         const struct span *to)
{
    const int64_t *raw = k->raw[scorer];
    struct shift shifts[SHIFTS];
    memset(shifts, 0, sizeof(shifts));
    for (uint32_t row = 0; row < k->rows; row++) {
        struct shift *s = &shifts[(uint64_t)raw[row] % SHIFTS];
        if (!s->set || s->raw != raw[row]) {
            int64_t old = from == NULL ? 0 : weighted(k, scorer, raw[row], from);
            *s = (struct shift){true, raw[row], wrap_sub(weighted(k, scorer, raw[row], to), old)};
        }
        k->total[row] = wrap_add(k->total[row], s->by);
    }
}

/* What stands for the rule in the totals: its range, widened by what the request says of other
 * workers. */
static struct span range_for(const struct pod_class *k, uint32_t scorer,
                             const struct map_request *r)
{
    struct span range = k->spans[scorer];
    struct str name = str_of(k->framework->score[scorer].plugin->name);
    if (!range.any)
        range.least = range.greatest = 0;
    for (uint32_t i = 0; i < r->extremes.count; i++) {
        const struct extreme *all = &r->extremes.at[i];
        if (!str_equal(all->plugin, name))
            continue;
        if (all->least < range.least)
            range.least = all->least;
        if (all->greatest > range.greatest)
            range.greatest = all->greatest;
    }
    return range;
}

static void total_all(struct pod_class *k)
{
    for (uint32_t row = 0; row < k->rows; row++)
        k->total[row] = k->framework->has_scores ? 0 : 1;
    for (uint32_t i = 0; i < k->framework->score_count; i++)
        if (class_scores(k, i))
            shift_column(k, i, NULL, &k->used[i]);
}

void class_normalise(struct pod_class *k, const struct map_request *r)
{
    bool shifted = !k->totals_hold;
    for (uint32_t i = 0; i < k->framework->score_count; i++) {
        if (!class_scores(k, i) || !class_normalises(k, i))
            continue;
        const struct span range = range_for(k, i, r), was = k->used[i];
        k->used[i] = range;
        if (!k->totals_hold || (range.least == was.least && range.greatest == was.greatest))
            continue;
        shift_column(k, i, &was, &range);
        shifted = true;
    }
    if (!k->totals_hold)
        total_all(k);
    for (uint32_t i = 0; shifted && i < block_count(k); i++)
        class_look_through(k, i);
    k->totals_hold = true;
}

/* ---- the best ---- */

static void tell_ranges(const struct pod_class *k, struct map_result *out)
{
    const struct framework *fw = k->framework;
    for (uint32_t i = 0; i < fw->score_count; i++) {
        const struct plugin *p = fw->score[i].plugin;
        if (class_scores(k, i) && class_normalises(k, i) && k->spans[i].any)
            out->extremes.at[out->extremes.count++] =
                (struct extreme){str_of(p->name), k->spans[i].least, k->spans[i].greatest};
    }
}

static struct str name_of(const struct shard *s, uint32_t row)
{
    return atom_text(s->atoms, s->nodes.entry[row]->name);
}

/* The row that is that many best ones behind the first. */
static uint32_t best_row(const struct pod_class *k, int64_t best, uint64_t skip)
{
    for (uint32_t i = 0; i < block_count(k); i++) {
        if (k->blocks[i].count == 0 || k->blocks[i].best != best)
            continue;
        if (skip >= k->blocks[i].count) {
            skip -= k->blocks[i].count;
            continue;
        }
        for (uint32_t row = i * BLOCK_ROWS; row < k->rows; row++)
            if (k->outcome[row] == 0 && k->total[row] == best && skip-- == 0)
                return row;
    }
    must(!"as many rows are best as the blocks say");
    return 0;
}

static bool before(struct str a, struct str b)
{
    return b.len == 0 || str_compare(a, b) < 0;
}

static void choose_by_name(const struct shard *s, const struct pod_class *k,
                           const struct map_request *r, struct map_result *out)
{
    for (uint32_t row = 0; row < k->rows; row++) {
        if (k->outcome[row] != 0 || k->total[row] != out->best_total)
            continue;
        struct str name = name_of(s, row);
        if (before(name, out->best_node))
            out->best_node = name;
        if (str_is(r->tie_break, "round-robin") && str_compare(name, r->after) > 0 &&
            before(name, out->best_after))
            out->best_after = name;
    }
}

void class_tell_best(const struct shard *s, const struct pod_class *k, const struct map_request *r,
                     struct map_result *out)
{
    tell_ranges(k, out);
    for (uint32_t i = 0; i < block_count(k); i++) {
        const struct block *b = &k->blocks[i];
        if (b->count == 0 || (out->best_count > 0 && b->best < out->best_total))
            continue;
        if (out->best_count == 0 || b->best > out->best_total) {
            out->best_total = b->best;
            out->best_count = 0;
        }
        out->best_count += b->count;
    }
    if (out->best_count == 0)
        return;
    if (str_is(r->tie_break, "first") || str_is(r->tie_break, "round-robin")) {
        choose_by_name(s, k, r, out);
        return;
    }
    struct random dice = {(uint64_t)r->seed};
    uint64_t skip = random_below(&dice, (uint64_t)out->best_count);
    out->best_node = name_of(s, best_row(k, out->best_total, skip));
}
