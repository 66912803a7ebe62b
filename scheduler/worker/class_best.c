/* class_best: a class's totals and the best of them. The one idea: while the range that a rule
 * normalises with stays the same, a total changes only with its own row; and with the best of each
 * block of rows at hand, the best of all is found without looking at all.
 *
 * What must stay true: a block that is not dirty has the best and the count of its passing rows'
 * totals; what the rules that group add is added to a whole group, never to a row. */
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "scheduler/table/wrap.h"
#include "scheduler/worker/classes_inside.h"

#include <string.h>

bool class_scores(const struct pod_class *k, uint32_t scorer)
{
    return (k->score_skip >> scorer & 1) == 0;
}

struct kept_rule *class_grouping(const struct pod_class *k, uint32_t scorer)
{
    for (uint32_t i = 0; i < k->kept_count; i++)
        if (k->kept[i].groups && k->kept[i].scorer == scorer)
            return &k->kept[i];
    return NULL;
}

static bool normalises(const struct pod_class *k, uint32_t scorer)
{
    return k->framework->score[scorer].plugin->normalise != NORMALISE_none;
}

bool class_has_spans(const struct pod_class *k, uint32_t scorer)
{
    return class_scores(k, scorer) && normalises(k, scorer) && class_grouping(k, scorer) == NULL;
}

/* The scorer has a score for each row. */
static bool scores_rows(const struct pod_class *k, uint32_t scorer)
{
    return class_scores(k, scorer) && class_grouping(k, scorer) == NULL;
}

/* ---- totals ---- */

static int64_t weighted(const struct pod_class *k, uint32_t scorer, int64_t raw,
                        const struct score_range *range)
{
    const struct scorer *sc = &k->framework->score[scorer];
    return wrap_mul(plugin_normalise(sc->plugin, raw, range), sc->weight);
}

void class_retotal(struct pod_class *k, uint32_t row)
{
    int64_t total = k->framework->has_scores ? 0 : 1;
    for (uint32_t i = 0; i < k->framework->score_count; i++)
        if (scores_rows(k, i))
            total = wrap_add(total, weighted(k, i, k->raw[i][row], &k->used[i]));
    k->total[row] = total;
}

/* Rows mostly have one of few raw scores, so the last ones seen are remembered. */
struct shift {
    bool set;
    int64_t raw, by;
};

#define SHIFTS 64

/* Adds to each total what one rule makes of the range now, less what it made of the one before;
 * from NULL: it made nothing yet. */
static void shift_column(struct pod_class *k, uint32_t scorer, const struct score_range *from,
                         const struct score_range *to)
{
    const int64_t *raw = k->raw[scorer];
    struct shift shifts[SHIFTS];
    timings_start(k->cycle.timing);
    memset(shifts, 0, sizeof(shifts));
    for (uint32_t row = 0; row < k->rows; row++) {
        struct shift *s = &shifts[(uint64_t)raw[row] % SHIFTS];
        if (!s->set || s->raw != raw[row]) {
            int64_t old = from == NULL ? 0 : weighted(k, scorer, raw[row], from);
            *s = (struct shift){true, raw[row], wrap_sub(weighted(k, scorer, raw[row], to), old)};
        }
        k->total[row] = wrap_add(k->total[row], s->by);
    }
    timings_once(k->cycle.timing, TIMED_Normalize, k->framework->score[scorer].plugin, false);
}

static void total_all(struct pod_class *k)
{
    for (uint32_t row = 0; row < k->rows; row++)
        k->total[row] = k->framework->has_scores ? 0 : 1;
    for (uint32_t i = 0; i < k->framework->score_count; i++)
        if (scores_rows(k, i))
            shift_column(k, i, NULL, &k->used[i]);
}

/* ---- groups ---- */

void class_span_group(const struct pod_class *k, struct row_group *g, uint32_t scorer)
{
    kept_range_begin(&g->spans[scorer], k->framework->score[scorer].plugin);
    for (uint32_t i = 0; i < g->count; i++)
        if (k->outcome[g->rows[i]] == 0)
            kept_range_enter(&g->spans[scorer], k->raw[scorer][g->rows[i]]);
}

static bool counts_in(const struct row_group *g)
{
    return g->passing > 0 && g->passes;
}

static void judge_groups(struct pod_class *k, struct class_scratch *w)
{
    k->feasible = 0;
    for (uint32_t i = 0; i < k->kept_count; i++) {
        struct kept_rule *rule = &k->kept[i];
        if (rule->groups && rule->filters && rule->plugin->filter_skips != NULL)
            rule->filter_skips = rule->plugin->filter_skips(&k->cycle, rule->states.filter);
    }
    for (uint32_t i = 0; i < k->group_count; i++) {
        struct row_group *g = &k->groups[i];
        g->passes = true;
        for (uint32_t r = 0; r < k->kept_count && g->passing > 0 && g->passes; r++) {
            const struct kept_rule *rule = &k->kept[r];
            if (!rule->groups || !rule->filters || rule->filter_skips)
                continue;
            w->ruling.count = 0;
            w->ruling.code = CODE_success;
            timings_start(k->cycle.timing);
            rule->plugin->filter(&k->cycle, rule->states.filter, k->cycle.nodes, g->rows[0],
                                 &w->ruling);
            timings_call(k->cycle.timing, TIMED_Filter, rule->plugin, w->ruling.code, 1);
            g->passes = w->ruling.count == 0;
        }
        k->feasible += counts_in(g) ? g->passing : 0;
    }
}

/* The survey of a rule that groups has a part for each group. */
static void survey_groups(struct pod_class *k, struct class_scratch *w, struct kept_rule *rule)
{
    for (uint32_t i = 0; i < k->group_count; i++) {
        const struct row_group *g = &k->groups[i];
        w->entries.count = 0;
        if (counts_in(g))
            rule->plugin->keep->survey_row(&k->cycle, &rule->states, g->rows[0], &w->entries);
        for (uint32_t e = 0; e < w->entries.count; e++)
            w->entries.at[e].count = wrap_mul(w->entries.at[e].count, g->passing);
        ledger_set(rule->survey, i, &w->entries, NULL);
    }
}

static void look_at_survey(struct pod_class *k, struct class_scratch *w, struct kept_rule *rule,
                           const struct map_request *r, struct arena *a)
{
    struct outlook ignored = {0};
    if (rule->plugin->keep->survey_row == NULL)
        return;
    timings_start(k->cycle.timing);
    survey_groups(k, w, rule);
    rule->plugin->keep->score_outlook(&k->cycle, &rule->states, class_survey(k, rule, r, a),
                                      &ignored);
    timings_once(k->cycle.timing, TIMED_PreScore, rule->plugin, false);
}

static void score_groups(struct pod_class *k, struct class_scratch *w,
                         const struct map_request *request, struct arena *a)
{
    for (uint32_t r = 0; r < k->kept_count; r++) {
        struct kept_rule *rule = &k->kept[r];
        if (!rule->groups || rule->scorer == SCORERS_MAX || !class_scores(k, rule->scorer))
            continue;
        look_at_survey(k, w, rule, request, a);
        struct score_range *span = &k->spans[rule->scorer];
        *span = score_range_begin(rule->plugin);
        for (uint32_t i = 0; i < k->group_count; i++) {
            struct row_group *g = &k->groups[i];
            if (!counts_in(g))
                continue;
            timings_start(k->cycle.timing);
            g->raw[r] =
                rule->plugin->score(&k->cycle, rule->states.score, k->cycle.nodes, g->rows[0]);
            timings_call(k->cycle.timing, TIMED_Score, rule->plugin, CODE_success, 1);
            score_range_add(span, g->raw[r]);
        }
    }
}

/* Over all rows that rules by row let pass; counting: of groups that count alone. */
static struct score_range span_of(struct pod_class *k, uint32_t scorer, bool counting)
{
    struct score_range all = score_range_begin(k->framework->score[scorer].plugin);
    for (uint32_t i = 0; i < k->group_count; i++) {
        struct row_group *g = &k->groups[i];
        if (g->passing == 0 || (counting && !counts_in(g)))
            continue;
        if (kept_range_is_worn(&g->spans[scorer]))
            class_span_group(k, g, scorer);
        score_range_join(&all, &g->spans[scorer].range);
    }
    return all;
}

static void merge_spans(struct pod_class *k)
{
    for (uint32_t i = 0; i < k->framework->score_count; i++)
        if (class_has_spans(k, i))
            k->spans[i] = span_of(k, i, true);
}

static struct score_range told_of(const struct pod_class *k, uint32_t scorer,
                                  const struct map_request *r)
{
    return score_range_told(r->extremes.at, r->extremes.count, k->framework->score[scorer].plugin);
}

/* Brings all totals in line with other ranges, by scorer. */
static void use_ranges(struct pod_class *k, const struct score_range *ranges)
{
    bool shifted = !k->totals_hold;
    for (uint32_t i = 0; i < k->framework->score_count; i++) {
        if (!class_scores(k, i) || !normalises(k, i))
            continue;
        const struct score_range was = k->used[i];
        k->used[i] = ranges[i];
        if (!k->totals_hold || class_grouping(k, i) != NULL ||
            (ranges[i].least == was.least && ranges[i].greatest == was.greatest))
            continue;
        shift_column(k, i, &was, &ranges[i]);
        shifted = true;
    }
    if (!k->totals_hold)
        total_all(k);
    if (shifted)
        groups_touch_all(k);
    k->totals_hold = true;
}

/* With our ranges, widened by what the request says of other workers. */
static void normalise(struct pod_class *k, const struct map_request *r)
{
    struct score_range ranges[SCORERS_MAX];
    for (uint32_t i = 0; i < k->framework->score_count; i++) {
        const struct score_range others = told_of(k, i, r);
        ranges[i] = k->spans[i];
        score_range_join(&ranges[i], &others);
    }
    use_ranges(k, ranges);
}

void class_take_ranges(struct pod_class *k, const struct score_range *ranges)
{
    struct score_range taken[SCORERS_MAX];
    memcpy(taken, k->used, sizeof(taken));
    for (uint32_t i = 0; i < k->framework->score_count; i++)
        if (class_has_spans(k, i))
            taken[i] = ranges[i];
    use_ranges(k, taken);
}

const struct score_range *class_use_ranges(struct pod_class *k, const struct map_request *r)
{
    struct score_range ranges[SCORERS_MAX];
    memcpy(ranges, k->used, sizeof(ranges));
    for (uint32_t i = 0; i < k->framework->score_count; i++) {
        if (!class_has_spans(k, i))
            continue;
        ranges[i] = told_of(k, i, r);
        if (!ranges[i].any)
            ranges[i] = span_of(k, i, false);
    }
    use_ranges(k, ranges);
    return k->used;
}

static struct block look_through(const struct pod_class *k, const struct row_group *g,
                                 uint32_t number)
{
    struct block b = {0};
    uint32_t from = number * BLOCK_ROWS, to = from + BLOCK_ROWS;
    for (uint32_t i = from; i < to && i < g->count; i++) {
        uint32_t row = g->rows[i];
        if (k->outcome[row] != 0 || (b.count > 0 && k->total[row] < b.best))
            continue;
        if (b.count == 0 || k->total[row] > b.best)
            b = (struct block){k->total[row], 0};
        b.count++;
    }
    return b;
}

static uint32_t block_count(const struct row_group *g)
{
    return (g->count + BLOCK_ROWS - 1) / BLOCK_ROWS;
}

/* The best of two. */
static void add_best(struct block *all, const struct block *b)
{
    if (b->count == 0 || (all->count > 0 && b->best < all->best))
        return;
    if (all->count == 0 || b->best > all->best)
        *all = (struct block){b->best, 0};
    all->count += b->count;
}

void class_find_best(const struct pod_class *k, struct row_group *g)
{
    if (!g->is_dirty)
        return;
    g->best = (struct block){0};
    for (uint32_t i = 0; i < block_count(g); i++) {
        if (g->dirty[i] != 0)
            g->blocks[i] = look_through(k, g, i);
        g->dirty[i] = 0;
        add_best(&g->best, &g->blocks[i]);
    }
    g->is_dirty = false;
}

static void add_up(struct pod_class *k)
{
    for (uint32_t i = 0; i < k->group_count; i++) {
        struct row_group *g = &k->groups[i];
        g->plus = 0;
        if (!counts_in(g))
            continue;
        for (uint32_t r = 0; r < k->kept_count; r++) {
            const struct kept_rule *rule = &k->kept[r];
            if (rule->groups && rule->scorer < SCORERS_MAX && class_scores(k, rule->scorer))
                g->plus =
                    wrap_add(g->plus, weighted(k, rule->scorer, g->raw[r], &k->used[rule->scorer]));
        }
        class_find_best(k, g);
    }
}

void class_weigh(struct pod_class *k, struct class_scratch *w, const struct map_request *r,
                 struct arena *a)
{
    timings_part(k->cycle.timing, PART_filter);
    judge_groups(k, w);
    timings_part(k->cycle.timing, PART_score);
    score_groups(k, w, r, a);
    merge_spans(k);
    normalise(k, r);
    add_up(k);
}

/* ---- the best ---- */

static void tell_ranges(const struct pod_class *k, struct map_result *out)
{
    const struct framework *fw = k->framework;
    for (uint32_t i = 0; i < fw->score_count; i++)
        if (class_scores(k, i) && normalises(k, i) && k->spans[i].any)
            out->extremes.at[out->extremes.count++] =
                score_range_tell(&k->spans[i], fw->score[i].plugin);
}

struct str class_row_name(const struct pod_class *k, uint32_t row)
{
    return atom_text(k->cycle.atoms, k->cycle.nodes->entry[row]->name);
}

static bool is_best(const struct row_group *g, int64_t best)
{
    return counts_in(g) && g->best.count > 0 && wrap_add(g->best.best, g->plus) == best;
}

uint32_t class_best_in(const struct pod_class *k, const struct row_group *g, uint64_t skip)
{
    for (uint32_t i = 0; i < block_count(g); i++) {
        const struct block *b = &g->blocks[i];
        if (b->count == 0 || b->best != g->best.best)
            continue;
        if (skip >= b->count) {
            skip -= b->count;
            continue;
        }
        for (uint32_t at = i * BLOCK_ROWS; at < g->count; at++)
            if (k->outcome[g->rows[at]] == 0 && k->total[g->rows[at]] == b->best && skip-- == 0)
                return g->rows[at];
    }
    must(!"as many rows are best as the blocks say");
    return 0;
}

static uint32_t best_row(const struct pod_class *k, int64_t best, uint64_t skip)
{
    for (uint32_t i = 0; i < k->group_count; i++) {
        const struct row_group *g = &k->groups[i];
        if (!is_best(g, best))
            continue;
        if (skip < g->best.count)
            return class_best_in(k, g, skip);
        skip -= g->best.count;
    }
    must(!"as many rows are best as the groups say");
    return 0;
}

static bool before(struct str a, struct str b)
{
    return b.len == 0 || str_compare(a, b) < 0;
}

static void choose_by_name(const struct pod_class *k, struct map_result *out)
{
    for (uint32_t row = 0; row < k->rows; row++) {
        const struct row_group *g = &k->groups[k->group[row]];
        if (k->outcome[row] != 0 || !is_best(g, out->best_total) || k->total[row] != g->best.best)
            continue;
        struct str name = class_row_name(k, row);
        if (before(name, out->best_node))
            out->best_node = name;
    }
}

static void tell_best(const struct pod_class *k, const struct map_request *r,
                      struct map_result *out)
{
    struct block all = {0};
    for (uint32_t i = 0; i < k->group_count; i++) {
        const struct row_group *g = &k->groups[i];
        const struct block b = {wrap_add(g->best.best, g->plus), g->best.count};
        if (counts_in(g))
            add_best(&all, &b);
    }
    out->best_total = all.best;
    out->best_count = all.count;
    if (all.count == 0)
        return;
    if (r->tie_break == TIE_BREAK_first || r->tie_break == TIE_BREAK_round_robin) {
        choose_by_name(k, out);
        return;
    }
    struct random dice = {(uint64_t)r->seed};
    out->best_node = class_row_name(k, best_row(k, all.best, random_below(&dice, all.count)));
}

/* Rows that are not chosen are not let pass meanwhile. */
#define LEFT_OUT UINT16_MAX

static void leave_out(struct pod_class *k, struct apart *apart)
{
    for (uint32_t i = 0; i < apart->count; i++) {
        uint32_t row = apart->at[i].row;
        struct row_group *g = row < k->rows ? &k->groups[k->group[row]] : NULL;
        if (g == NULL || !counts_in(g) || k->outcome[row] != 0)
            continue;
        apart->at[i].passes = true;
        apart->at[i].total = wrap_add(k->total[row], g->plus);
        k->outcome[row] = LEFT_OUT;
        group_touch(k, row);
    }
}

static void take_back(struct pod_class *k, const struct apart *apart)
{
    for (uint32_t i = 0; i < apart->count; i++)
        if (apart->at[i].passes) {
            k->outcome[apart->at[i].row] = 0;
            group_touch(k, apart->at[i].row);
        }
}

static void find_all_best(struct pod_class *k)
{
    for (uint32_t i = 0; i < k->group_count; i++)
        if (counts_in(&k->groups[i]))
            class_find_best(k, &k->groups[i]);
}

void class_tell_best(struct pod_class *k, const struct map_request *r, struct apart *apart,
                     struct map_result *out)
{
    tell_ranges(k, out);
    if (apart == NULL || apart->count == 0) {
        tell_best(k, r, out);
        return;
    }
    leave_out(k, apart);
    find_all_best(k);
    tell_best(k, r, out);
    take_back(k, apart);
}
