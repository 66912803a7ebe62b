/* totals: a share's raw scores, normalised, weighted and added up, and the best of the sums. The
 * one idea: a rule's scores are a column, and mostly a whole column can be treated alike.
 *
 * What must stay true: a node's total is what plugin_normalise and the weights say, rule by rule; a
 * tie is broken evenly, with the seed's first throw, as reduce does with its second. */
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "scheduler/table/kernels.h"
#include "scheduler/table/wrap.h"
#include "scheduler/worker/shard_inside.h"

#include <string.h>

/* So many places are passed over at once on the way to one of the best. */
#define STRIDE 64

/* ---- one column ---- */

/* Some rows' raw scores, with their ends; as SCORE_IGNORED is the least of all numbers, the least
 * tells whether it is there. */
struct column {
    const int64_t *raw;
    uint32_t count;
    struct score_range ends;
};

static const struct score_range no_rows = {true, SCORE_IGNORED, SCORE_IGNORED};

static struct column column_of(const int64_t *raw, uint32_t count)
{
    struct column c = {raw, count, no_rows};
    if (count > 0)
        kernel_range(raw, count, &c.ends.least, &c.ends.greatest);
    return c;
}

/* Scores are often few different numbers: those normalised last are remembered. */
#define MEMO_ROOM 64

static void add_each(const struct scorer *sc, const int64_t *raw, uint32_t count,
                     const struct score_range *range, int64_t *total)
{
    struct {
        bool known;
        int64_t raw, weighted;
    } memo[MEMO_ROOM];
    memset(memo, 0, sizeof(memo));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t slot = (uint64_t)raw[i] % MEMO_ROOM;
        if (!memo[slot].known || memo[slot].raw != raw[i]) {
            int64_t score = plugin_normalise(sc->plugin, raw[i], range);
            memo[slot].known = true;
            memo[slot].raw = raw[i];
            memo[slot].weighted = wrap_mul(score, sc->weight);
        }
        total[i] = wrap_add(total[i], memo[slot].weighted);
    }
}

/* range: what is normalised with. Returns what is left to be added to each total. */
static int64_t add_column(const struct scorer *sc, const struct column *c,
                          const struct score_range *range, int64_t *total)
{
    enum normalise how = sc->plugin->normalise;
    int64_t common = 0;
    if (c->ends.least == c->ends.greatest) {
        int64_t score = plugin_normalise(sc->plugin, c->ends.least, range);
        common = wrap_mul(score, sc->weight);
    } else if (how == NORMALISE_none && c->ends.least != SCORE_IGNORED) {
        kernel_add(total, c->raw, sc->weight, c->count);
    } else if (how != NORMALISE_none && how != NORMALISE_own && c->ends.least >= 0 &&
               c->ends.greatest <= range->greatest && range->greatest < KERNEL_EXACT) {
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
                const struct score_range *range, int64_t *total)
{
    struct column c = column_of(raw, count);
    int64_t common = add_column(sc, &c, range, total);
    if (common != 0)
        kernel_raise(total, common, count);
}

/* ---- sums ---- */

static struct column apart_column(const struct scratch *s, const struct score_column *c)
{
    if (s->feasible_count == 0)
        return (struct column){c->raw, 0, no_rows};
    return (struct column){c->raw, s->feasible_count, c->ends};
}

/* The range of a column; of nobody where a rule of its own normalising ignores all of these nodes.
 */
static struct score_range range_of(const struct plugin *p, const struct column *c)
{
    struct score_range range = score_range_begin(p);
    if (c->ends.least != SCORE_IGNORED)
        score_range_join(&range, &c->ends);
    for (uint32_t i = 0; c->ends.least == SCORE_IGNORED && i < c->count; i++)
        score_range_add(&range, c->raw[i]);
    return range;
}

/* Passing nodes stand in the verdicts in the order in which they stand in feasible. */
static struct verdict *next_passing(struct map_result *r, uint32_t *at)
{
    while (*at < r->verdicts.count && r->verdicts.at[*at].code != VERDICT_success)
        (*at)++;
    must(*at < r->verdicts.count);
    return &r->verdicts.at[(*at)++];
}

static void detail_scores(struct evaluation *e, uint32_t scorer, const struct score_range *range)
{
    const struct scratch *scratch = &e->shard->scratch;
    const struct scorer *sc = &scratch->framework->score[scorer];
    const struct score_column *c = &scratch->columns[scorer];
    uint32_t at = 0;
    for (uint32_t k = 0; k < scratch->feasible_count; k++) {
        struct verdict *v = next_passing(e->result, &at);
        int64_t raw = c->alike ? c->ends.least : c->raw[k];
        int64_t score = plugin_normalise(sc->plugin, raw, range);
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

/* What a scorer that is apart normalises with: our range, widened by what the request says of other
 * workers; never narrower than ours, or scores would leave 0–100 when nodes changed between the
 * rounds. What it adds to all totals alike goes into base. */
static struct score_range weigh_alike(struct evaluation *e, uint32_t scorer)
{
    struct scratch *scratch = &e->shard->scratch;
    const struct scorer *sc = &scratch->framework->score[scorer];
    struct column c = apart_column(scratch, &scratch->columns[scorer]);
    struct score_range range = {0};
    timings_start(e->cycle.timing);
    if (scratch->columns[scorer].alike)
        c.count = 0; /* nothing more is to be read */
    if (sc->plugin->normalise != NORMALISE_none) {
        const struct score_range others =
            score_range_told(e->request->extremes.at, e->request->extremes.count, sc->plugin);
        range = range_of(sc->plugin, &c);
        if (range.any)
            e->result->extremes.at[e->result->extremes.count++] =
                score_range_tell(&range, sc->plugin);
        score_range_join(&range, &others);
    }
    if (scratch->columns[scorer].alike)
        scratch->base = wrap_add(scratch->base, add_column(sc, &c, &range, scratch->sums));
    timings_once(e->cycle.timing, TIMED_Normalize, sc->plugin, false);
    if (e->request->detail)
        detail_scores(e, scorer, &range);
    return range;
}

static void find_ends_of(const int64_t *totals, struct window *w)
{
    kernel_range(totals + w->from, w->count, &w->totals.least, &w->totals.greatest);
}

/* Adds what differs from node to node; what is left to be added to each goes into base. */
static void weigh_window(struct evaluation *e, struct window *w, const struct score_range *ranges)
{
    struct scratch *s = &e->shard->scratch;
    int64_t *sums = s->sums + w->from, common = 0;
    memcpy(sums, s->fixed + w->from, w->count * sizeof(*sums));
    for (uint32_t i = 0; i < s->framework->score_count; i++) {
        struct column c = apart_column(s, &s->columns[i]);
        if (!s->columns[i].apart || s->columns[i].alike)
            continue;
        c.raw += w->from;
        c.count = w->count;
        timings_start(e->cycle.timing);
        common = wrap_add(common, add_column(&s->framework->score[i], &c, &ranges[i], sums));
        timings_once(e->cycle.timing, TIMED_Normalize, s->framework->score[i].plugin, false);
    }
    if (w->from == 0)
        s->base = wrap_add(s->base, common);
    find_ends_of(s->sums, w);
}

/* A failed score: all are 0. */
static void forget_sums(struct scratch *s)
{
    memset(s->sums, 0, s->feasible_count * sizeof(*s->sums));
    s->total = s->sums;
    for (uint32_t i = 0; i < s->window_count; i++)
        s->windows[i].totals = (struct score_range){.any = true};
}

void totals_sum_up(struct evaluation *e)
{
    struct scratch *scratch = &e->shard->scratch;
    const struct framework *fw = scratch->framework;
    struct score_range *ranges = arena_take(&scratch->arena, fw->score_count * sizeof(*ranges));
    bool vary = false;
    e->result->extremes.at = arena_take(e->arena, fw->score_count * sizeof(struct extreme));
    if (scratch->feasible_count > 0)
        e->result->score_error = arena_copy(e->arena, scratch->error);
    scratch->base = fw->has_scores ? 0 : 1;
    for (uint32_t i = 0; i < fw->score_count && e->result->score_error.len == 0; i++)
        if (scratch->columns[i].apart) {
            ranges[i] = weigh_alike(e, i);
            vary |= !scratch->columns[i].alike;
        }
    if (e->result->score_error.len > 0) {
        forget_sums(scratch);
    } else if (vary) {
        scratch->total = scratch->sums;
        for (uint32_t i = 0; i < scratch->window_count; i++)
            weigh_window(e, &scratch->windows[i], ranges);
    } else if (scratch->total != scratch->fixed) { /* another round, and no longer the same sums */
        scratch->total = scratch->fixed;
        for (uint32_t i = 0; i < scratch->window_count; i++)
            find_ends_of(scratch->fixed, &scratch->windows[i]);
    }
    detail_totals(e);
}

static struct str node_name(const struct shard *s, uint32_t row)
{
    return atom_text(s->share.atoms, s->share.nodes.entry[row]->name);
}

/* ---- who is not chosen ---- */

/* Where a row stands in feasible, whose rows rise; UINT32_MAX: it does not pass. */
static uint32_t place_of(const struct scratch *s, uint32_t row)
{
    uint32_t from = 0, to = s->feasible_count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (s->feasible[middle] < row)
            from = middle + 1;
        else
            to = middle;
    }
    return from < s->feasible_count && s->feasible[from] == row ? from : UINT32_MAX;
}

static struct window *window_of(const struct scratch *s, uint32_t place)
{
    struct window *w = s->windows;
    while (place >= w->from + w->count)
        w++;
    return w;
}

/* True when the greatest of the window's totals is that of somebody who may be chosen as well. */
static bool keeps_greatest(const struct scratch *s, const struct window *w, const uint32_t *first)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < w->apart; i++)
        times += s->total[first[i]] == w->totals.greatest;
    return times == 0 || kernel_count(s->total + w->from, w->totals.greatest, w->count) > times;
}

/* The ends of a window's totals but for those of the places that are not chosen, of which it has
 * the ones from first on. The least may be one of theirs: it is only asked whether totals could
 * wrap. */
static void find_ends_beside(const struct scratch *s, struct window *w, const uint32_t *first)
{
    if (keeps_greatest(s, w, first))
        return;
    uint32_t from = w->from, end = w->from + w->count;
    w->totals = (struct score_range){0};
    for (uint32_t i = 0; i <= w->apart; i++) {
        uint32_t to = i < w->apart ? first[i] : end;
        struct score_range part = {.any = true};
        if (to > from) {
            kernel_range(s->total + from, to - from, &part.least, &part.greatest);
            score_range_join(&w->totals, &part);
        }
        from = to + 1;
    }
}

/* Of all windows with such places. */
static void find_all_beside(const struct scratch *s)
{
    for (uint32_t i = 0; i < s->apart_count;) {
        struct window *w = window_of(s, s->apart[i]);
        find_ends_beside(s, w, s->apart + i);
        i += w->apart;
    }
}

static void insert(uint32_t *places, uint32_t count, uint32_t place)
{
    uint32_t at = count;
    for (; at > 0 && places[at - 1] > place; at--)
        places[at] = places[at - 1];
    places[at] = place;
}

/* Notes what the rows that are not chosen come to, and where they stand. */
static void set_apart(struct evaluation *e)
{
    struct scratch *s = &e->shard->scratch;
    struct apart *apart = e->shard->apart;
    s->apart = arena_take(&s->arena, apart->count * sizeof(*s->apart));
    for (uint32_t i = 0; i < apart->count; i++) {
        uint32_t place = place_of(s, apart->at[i].row);
        if (place == UINT32_MAX)
            continue;
        apart->at[i].passes = true;
        apart->at[i].total = wrap_add(s->total[place], s->base);
        insert(s->apart, s->apart_count++, place);
        window_of(s, place)->apart++;
    }
    find_all_beside(s);
}

static bool is_apart(const struct scratch *s, uint32_t place)
{
    for (uint32_t i = 0; i < s->apart_count; i++)
        if (s->apart[i] == place)
            return true;
    return false;
}

/* How many of these places, all of one window, have this total and may be chosen. */
static uint32_t count_best(const struct scratch *s, const struct window *w, uint32_t from,
                           uint32_t count, int64_t best)
{
    uint32_t times = kernel_count(s->total + from, best, count);
    for (uint32_t i = 0; w->apart > 0 && i < s->apart_count; i++)
        if (s->apart[i] >= from && s->apart[i] < from + count)
            times -= s->total[s->apart[i]] == best;
    return times;
}

/* Forgets who is not chosen: the next question is another, maybe of the same windows. */
static void begin_choice(struct scratch *s)
{
    for (uint32_t i = 0; i < s->window_count && s->apart_count > 0; i++) {
        if (s->windows[i].apart > 0)
            find_ends_of(s->total, &s->windows[i]);
        s->windows[i].apart = 0;
    }
    s->apart_count = 0;
}

/* ---- the best ---- */

/* True when some of the window's best have this total. */
static bool has(const struct window *w, int64_t best)
{
    return w->apart < w->count && w->totals.greatest == best;
}

static bool before(struct str a, struct str b)
{
    return b.len == 0 || str_compare(a, b) < 0;
}

/* The first of the best by name. */
static void choose_by_name(struct evaluation *e, const struct window *w, int64_t best)
{
    const struct scratch *scratch = &e->shard->scratch;
    struct map_result *r = e->result;
    for (uint32_t k = w->from; k < w->from + w->count; k++) {
        if (scratch->total[k] != best || (w->apart > 0 && is_apart(scratch, k)))
            continue;
        struct str name = node_name(e->shard, scratch->feasible[k]);
        if (before(name, r->best_node))
            r->best_node = name;
    }
}

/* Adds the base to all totals after all: some would wrap with it, and then the order is another. */
static void add_base(struct scratch *s)
{
    if (s->total != s->sums)
        memcpy(s->sums, s->total, s->feasible_count * sizeof(*s->sums));
    s->total = s->sums;
    kernel_raise(s->sums, s->base, s->feasible_count);
    s->base = 0;
    for (uint32_t i = 0; i < s->window_count; i++)
        find_ends_of(s->sums, &s->windows[i]);
    find_all_beside(s);
}

static struct score_range find_ends(const struct scratch *s)
{
    struct score_range all = {0};
    for (uint32_t i = 0; i < s->window_count; i++)
        score_range_join(&all, &s->windows[i].totals);
    return all;
}

/* Of the totals without their base. */
static int64_t greatest_total(struct scratch *s)
{
    struct score_range ends = find_ends(s);
    int64_t unused;
    if (__builtin_add_overflow(ends.least, s->base, &unused) ||
        __builtin_add_overflow(ends.greatest, s->base, &unused)) {
        add_base(s);
        ends = find_ends(s);
    }
    return ends.greatest;
}

/* The row of the best that is behind so many others of them. */
static uint32_t best_behind(const struct scratch *s, int64_t best, uint64_t skip)
{
    const struct window *w = s->windows;
    while (!has(w, best) || skip >= w->times) {
        skip -= has(w, best) ? w->times : 0;
        w++;
    }
    uint32_t k = w->from, end = w->from + w->count;
    for (uint32_t here; end - k > STRIDE; k += STRIDE, skip -= here) {
        here = count_best(s, w, k, STRIDE, best);
        if (here > skip)
            break;
    }
    while (s->total[k] != best || (w->apart > 0 && is_apart(s, k)) || skip-- > 0)
        k++;
    return s->feasible[k];
}

/* Among the nodes with the greatest total: one at random, or the first by name. For a round-robin
 * all are listed, and the coordinator chooses. */
void totals_choose(struct evaluation *e)
{
    struct scratch *scratch = &e->shard->scratch;
    struct map_result *r = e->result;
    enum tie_break_rule tie_break = e->request->tie_break;
    bool by_name = tie_break == TIE_BREAK_first || tie_break == TIE_BREAK_round_robin;
    begin_choice(scratch);
    if (scratch->feasible_count == 0)
        return;
    if (e->shard->apart != NULL && e->shard->apart->count > 0)
        set_apart(e);
    if (scratch->apart_count == scratch->feasible_count)
        return;
    int64_t best = greatest_total(scratch);
    r->best_total = wrap_add(best, scratch->base);
    for (uint32_t i = 0; i < scratch->window_count; i++) {
        struct window *w = &scratch->windows[i];
        if (!has(w, best))
            continue;
        w->times = count_best(scratch, w, w->from, w->count, best);
        r->best_count += w->times;
        if (by_name)
            choose_by_name(e, w, best);
    }
    struct random dice = {(uint64_t)e->request->seed};
    if (!by_name)
        r->best_node = node_name(
            e->shard, best_behind(scratch, best, random_below(&dice, (uint64_t)r->best_count)));
}

void totals_list(struct evaluation *e)
{
    const struct scratch *scratch = &e->shard->scratch;
    struct map_result *r = e->result;
    if (!e->request->list)
        return;
    r->listed.at = arena_take(e->arena, scratch->feasible_count * sizeof(*r->listed.at));
    for (uint32_t k = 0; k < scratch->feasible_count; k++)
        r->listed.at[r->listed.count++] = (struct listed_node){
            node_name(e->shard, scratch->feasible[k]), wrap_add(scratch->total[k], scratch->base)};
}
