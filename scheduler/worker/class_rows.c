/* class_rows: a class's verdicts and raw scores by row, kept in step with the share.
 *
 * Rows that have changed are judged and scored anew. Of the others, only what counting rules say
 * that speak for each row can have become another: where an entry of their counts has changed, for
 * the rows it matters to; where their outlook has, for all rows. Rules that group are not asked
 * here. What must stay true: every row's outcome and raw scores are what the rules by row would say
 * now, and every row is in the group it belongs to. */
#include "proto/base/memory.h"
#include "scheduler/table/kernels.h"
#include "scheduler/worker/classes_inside.h"

#include <string.h>

#define OUTCOMES_MAX 4096

/* What a catching up has found of a row. */
#define MARK_TOUCHED 1
#define MARK_MOVED   2 /* it is taken out of its group for the time being */

/* What one catching up is about. */
struct step {
    struct shard *shard;
    struct pod_class *k;
    struct class_scratch *w;
    bool first;       /* nothing is known of any row yet */
    bool all;         /* every row is judged anew */
    bool rescore;     /* what counting rules score has changed for every row */
    bool other_rules; /* other rules score each row than did */
    bool regroup;     /* the groups are no longer what they were: all is to be begun anew */
    bool fit;
};

/* ---- states ---- */

static bool is_kept(const struct pod_class *k, const struct plugin *p)
{
    for (uint32_t i = 0; i < k->kept_count; i++)
        if (k->kept[i].plugin == p)
            return true;
    return false;
}

static bool begin_filters(struct pod_class *k)
{
    const struct framework *fw = k->framework;
    k->filter_skip = k->kept_filters = 0;
    k->filter_state = arena_take(&k->states, fw->filter_count * sizeof(void *));
    for (uint32_t i = 0; i < fw->filter_count; i++) {
        const struct plugin *p = fw->filter[i];
        bool skipped = (uint64_t)k->findings.skip >> fw->filter_place[i] & 1;
        if (skipped || p->filter == NULL) {
            k->filter_skip |= UINT64_C(1) << i;
        } else if (is_kept(k, p)) {
            k->kept_filters |= UINT64_C(1) << i;
        } else {
            timings_start(k->cycle.timing);
            if (p->filter_begin != NULL)
                k->filter_state[i] = p->filter_begin(&k->cycle);
            bool skips = p->filter_skips != NULL && p->filter_skips(&k->cycle, k->filter_state[i]);
            timings_once(k->cycle.timing, TIMED_PreFilter, p, false);
            if (skips)
                k->filter_skip |= UINT64_C(1) << i;
            else if (!p->by_row)
                return false;
        }
    }
    return true;
}

static void begin_kept(struct pod_class *k)
{
    const struct framework *fw = k->framework;
    for (uint32_t i = 0; i < k->kept_count; i++) {
        struct kept_rule *rule = &k->kept[i];
        timings_start(k->cycle.timing);
        rule->plugin->keep->begin(&k->cycle, ledger_sums(rule->counts), &rule->states);
        timings_once(k->cycle.timing, TIMED_PreFilter, rule->plugin, false);
        rule->filters = false;
        rule->scorer = SCORERS_MAX;
        for (uint32_t f = 0; f < fw->filter_count; f++)
            if ((k->kept_filters >> f & 1) != 0 && fw->filter[f] == rule->plugin) {
                rule->filters = true;
                rule->filter = f;
                k->filter_state[f] = rule->states.filter;
            }
        for (uint32_t f = 0; f < fw->score_count; f++)
            if (fw->score[f].plugin == rule->plugin)
                rule->scorer = f;
    }
}

static bool begin_scores(struct pod_class *k)
{
    const struct framework *fw = k->framework;
    k->score_state = arena_take(&k->states, fw->score_count * sizeof(void *));
    uint64_t skips = framework_score_skips(&k->cycle);
    for (uint32_t i = 0; i < fw->score_count; i++) {
        const struct plugin *p = fw->score[i].plugin;
        if (is_kept(k, p) || (skips >> i & 1) != 0)
            continue;
        if (!p->by_row)
            return false;
        timings_start(k->cycle.timing);
        if (p->score_begin != NULL)
            k->score_state[i] = p->score_begin(&k->cycle);
        timings_once(k->cycle.timing, TIMED_PreScore, p, false);
    }
    for (uint32_t i = 0; i < k->kept_count; i++)
        if (k->kept[i].scorer < SCORERS_MAX)
            k->score_state[k->kept[i].scorer] = k->kept[i].states.score;
    return true;
}

bool class_begin(struct shard *s, struct pod_class *k)
{
    arena_reset(&k->states);
    k->atoms_made = atoms_made(s->share.atoms);
    k->cycle.cluster_nodes = s->share.cluster_nodes;
    if (!begin_filters(k))
        return false;
    begin_kept(k);
    timings_part(k->cycle.timing, PART_pre_score);
    framework_pre_score(&k->cycle);
    bool begun = k->cycle.error.len == 0 && begin_scores(k);
    timings_part(k->cycle.timing, PART_pre_filter);
    return begun;
}

/* ---- verdicts ---- */

static bool same_reasons(const struct row_outcome *o, const struct ruling *r)
{
    bool same = o->count == r->count;
    for (uint32_t i = 0; same && i < o->count; i++)
        same = o->reasons[i].text == r->reasons[i].text &&
               o->reasons[i].what.at == r->reasons[i].what.at;
    return same;
}

/* The number of this outcome; a new one if there was none like it. 0 on failure: there are too
 * many, or a filter failed. */
static uint32_t outcome_of(struct pod_class *k, const struct ruling *r)
{
    for (uint32_t i = 1; i < k->outcome_count; i++) {
        const struct row_outcome *o = &k->outcomes[i];
        if (o->code == r->code && o->plugin == r->plugin && o->plugins == r->plugins &&
            same_reasons(o, r))
            return i;
    }
    if (k->outcome_count == OUTCOMES_MAX || r->code == CODE_error)
        return 0;
    if (k->outcome_count == k->outcome_room) {
        k->outcome_room = k->outcome_room == 0 ? 8 : k->outcome_room * 2;
        k->outcomes = memory_resize(k->outcomes, k->outcome_room * sizeof(*k->outcomes));
    }
    struct reason *reasons = memory_take_array(r->count, sizeof(*reasons));
    memcpy(reasons, r->reasons, r->count * sizeof(*reasons));
    k->outcomes[k->outcome_count] =
        (struct row_outcome){r->code, r->plugin, r->plugins, r->count, reasons, 0};
    return k->outcome_count++;
}

/* A row of the share, or a copy of one. */
struct row {
    const struct nodes *nodes;
    uint32_t row;
};

/* Asks the filters in which, in their order, until one says no. */
static bool passes(const struct pod_class *k, struct ruling *r, const struct row *of,
                   uint64_t which)
{
    r->count = 0;
    r->code = CODE_success;
    r->plugins = 0;
    timings_start(k->cycle.timing);
    for (uint32_t i = 0; i < k->framework->filter_count; i++) {
        if ((which >> i & 1) == 0)
            continue;
        k->framework->filter[i]->filter(&k->cycle, k->filter_state[i], of->nodes, of->row, r);
        timings_call(k->cycle.timing, TIMED_Filter, k->framework->filter[i], r->code, 1);
        if (r->count == 0)
            continue;
        r->plugin = i;
        r->plugins = UINT64_C(1) << i;
        return false;
    }
    return true;
}

static void set_outcome(struct pod_class *k, uint32_t row, uint32_t outcome)
{
    k->outcomes[k->outcome[row]].rows--;
    k->outcomes[outcome].rows++;
    k->outcome[row] = (uint16_t)outcome;
}

/* The filters that are asked about each row. */
static uint64_t asked_filters(const struct pod_class *k)
{
    uint32_t unused = 64 - k->framework->filter_count;
    uint64_t skip = k->filter_skip;
    for (uint32_t i = 0; i < k->kept_count; i++)
        if (k->kept[i].filters && (k->kept[i].groups || k->kept[i].filter_skips))
            skip |= UINT64_C(1) << k->kept[i].filter;
    return unused == 64 ? 0 : ~skip << unused >> unused;
}

bool class_skips(const struct pod_class *k, uint32_t filter)
{
    const struct plugin *p = k->framework->filter[filter];
    uint64_t findings = (uint64_t)k->findings.skip >> k->framework->filter_place[filter] & 1;
    if (findings != 0 || p->filter_skips == NULL)
        return false;
    for (uint32_t i = 0; i < k->kept_count; i++)
        if (k->kept[i].plugin == p)
            return k->kept[i].filter_skips;
    return (k->filter_skip >> filter & 1) != 0;
}

static void judge(struct step *at, uint32_t row, uint64_t which)
{
    const struct row of = {at->k->cycle.nodes, row};
    bool pass = passes(at->k, &at->w->ruling, &of, which);
    uint32_t outcome = pass ? 0 : outcome_of(at->k, &at->w->ruling);
    at->fit &= pass || outcome != 0;
    set_outcome(at->k, row, outcome);
}

bool class_passes(const struct pod_class *k, struct class_scratch *w, const struct nodes *n,
                  uint32_t row)
{
    const struct row of = {n, row};
    return passes(k, &w->ruling, &of, asked_filters(k));
}

uint32_t class_outcome(struct pod_class *k, const struct class_scratch *w)
{
    return outcome_of(k, &w->ruling);
}

void class_judged(struct pod_class *k, uint32_t row, uint32_t outcome)
{
    set_outcome(k, row, outcome);
}

/* Those that anybody has rejected are asked about one by one, and are counted then. */
static void time_loop(const struct pod_class *k, const struct plugin *p, const uint8_t *no)
{
    timings_read_loop_end(k->cycle.timing);
    timings_loop(k->cycle.timing, p, kernel_zeros(no, k->rows), 0, CODE_success);
}

/* Judges all rows, most of them by the rules' own loops. */
static void judge_all(struct step *at, uint64_t which)
{
    const struct pod_class *k = at->k;
    const struct row_range all = {0, k->rows};
    uint8_t *no = memory_take(k->rows);
    uint64_t rest = which;
    for (uint32_t i = 0; i < k->framework->filter_count; i++) {
        const struct plugin *p = k->framework->filter[i];
        if ((which >> i & 1) == 0 || p->filter_rows == NULL)
            continue;
        timings_start(k->cycle.timing);
        p->filter_rows(&k->cycle, k->filter_state[i], k->cycle.nodes, all, no);
        if (k->cycle.timing != NULL)
            time_loop(k, p, no);
        rest &= ~(UINT64_C(1) << i);
    }
    for (uint32_t row = 0; row < k->rows; row++)
        judge(at, row, no[row] != 0 ? which : rest);
    memory_free(no);
}

/* ---- which rows ---- */

static void mark(struct class_scratch *w, uint32_t row)
{
    if ((w->marks[row] & MARK_MOVED) == 0)
        w->moved[w->moved_count++] = row;
    w->marks[row] |= MARK_MOVED;
}

static void mark_touched(struct class_scratch *w, uint32_t row)
{
    if ((w->marks[row] & MARK_TOUCHED) == 0)
        w->touched[w->touched_count++] = row;
    w->marks[row] |= MARK_TOUCHED;
    mark(w, row);
}

static void reserve(struct class_scratch *w, const struct pod_class *k)
{
    const struct framework *fw = k->framework;
    uint32_t reasons = RESOURCE_COUNT + 4 + k->pod.request.count + 4 * fw->filter_count;
    if (w->ruling.room < reasons) {
        w->ruling.room = reasons;
        w->ruling.reasons = memory_resize(w->ruling.reasons, reasons * sizeof(*w->ruling.reasons));
    }
    if (w->room <= k->rows) {
        memory_free(w->marks);
        w->room = k->rows * 2 + 1;
        w->marks = memory_take(w->room);
        w->touched = memory_resize(w->touched, w->room * sizeof(*w->touched));
        w->moved = memory_resize(w->moved, w->room * sizeof(*w->moved));
    }
    w->touched_count = w->moved_count = 0;
}

/* Marks the rows to which a changed entry matters. */
static void spread_entry(struct step *at, const struct kept_rule *rule,
                         const struct count_entry *entry)
{
    uint32_t key = rule->plugin->keep->key(&rule->states, entry);
    if (key == KEEP_ALL)
        at->all = true;
    if (key == KEEP_ALL || key == KEEP_ROW)
        return;
    const uint32_t *values = class_label(at->k, key), rows = at->k->rows;
    for (uint32_t from = 0; from < rows; from += BLOCK) {
        uint32_t end = rows - from < BLOCK ? rows : from + BLOCK;
        if (!kernel_holds(values + from, entry->value, end - from))
            continue;
        for (uint32_t row = from; row < end; row++)
            if (values[row] == entry->value)
                mark(at->w, row);
    }
}

static bool outlook_same(const struct outlook *a, const struct outlook *b)
{
    return !a->overflow && !b->overflow && a->count == b->count &&
           memcmp(a->at, b->at, a->count * sizeof(a->at[0])) == 0;
}

/* The counts of one rule have changed, or its state is new (whole). */
static void look_out(struct step *at, struct kept_rule *rule, bool whole)
{
    struct outlook now = {0};
    timings_start(at->k->cycle.timing);
    rule->plugin->keep->counts_outlook(&at->k->cycle, &rule->states, whole ? NULL : &rule->changed,
                                       &now);
    timings_once(at->k->cycle.timing, TIMED_PreFilter, rule->plugin, false);
    at->regroup |= class_kinds(at->k, rule) && !at->first;
    if (!rule->groups) {
        bool skips = rule->filters && rule->plugin->filter_skips != NULL &&
                     rule->plugin->filter_skips(&at->k->cycle, rule->states.filter);
        at->all |= !outlook_same(&now, &rule->count_says) || skips != rule->filter_skips;
        rule->count_says = now;
        rule->filter_skips = skips;
        for (uint32_t i = 0; i < rule->changed.count && !at->all; i++)
            spread_entry(at, rule, &rule->changed.at[i]);
    }
    rule->changed.count = 0;
}

static void recount_rule(struct step *at, struct kept_rule *rule)
{
    const struct pod_class *k = at->k;
    const struct plugin_keep *keep = rule->plugin->keep;
    timings_start(k->cycle.timing);
    if (at->first && keep->all_rows != NULL)
        keep->all_rows(&k->cycle, &rule->states);
    for (uint32_t t = 0; t < at->w->touched_count; t++) {
        uint32_t row = at->w->touched[t];
        at->w->entries.count = 0;
        keep->row(&k->cycle, &rule->states, row, &at->w->entries);
        class_own(k, rule, row, &at->w->entries);
        ledger_set(rule->counts, row, &at->w->entries, at->first ? NULL : &rule->changed);
    }
    if (at->first && keep->all_rows_end != NULL)
        keep->all_rows_end(&rule->states);
    timings_once(k->cycle.timing, TIMED_PreFilter, rule->plugin, false);
}

static void recount(struct step *at)
{
    for (uint32_t i = 0; i < at->k->kept_count; i++)
        recount_rule(at, &at->k->kept[i]);
}

/* ---- surveys and scores ---- */

static void survey_row(struct step *at, struct kept_rule *rule, uint32_t row)
{
    struct entries *list = &at->w->entries;
    list->count = 0;
    if (at->k->outcome[row] == 0)
        rule->plugin->keep->survey_row(&at->k->cycle, &rule->states, row, list);
    ledger_set(rule->survey, row, list, NULL);
}

static void survey(struct step *at)
{
    struct pod_class *k = at->k;
    for (uint32_t i = 0; i < k->kept_count; i++) {
        struct kept_rule *rule = &k->kept[i];
        if (rule->groups || rule->plugin->keep->survey_row == NULL || rule->scorer == SCORERS_MAX)
            continue;
        timings_start(k->cycle.timing);
        for (uint32_t m = 0; m < at->w->moved_count; m++)
            survey_row(at, rule, at->w->moved[m]);
        struct outlook now = {0};
        rule->plugin->keep->score_outlook(&k->cycle, &rule->states, ledger_sums(rule->survey),
                                          &now);
        timings_once(k->cycle.timing, TIMED_PreScore, rule->plugin, false);
        at->rescore |= !outlook_same(&now, &rule->survey_says);
        rule->survey_says = now;
    }
}

static uint64_t grouping_scorers(const struct pod_class *k)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < k->kept_count; i++)
        if (k->kept[i].groups && k->kept[i].scorer < SCORERS_MAX)
            all |= UINT64_C(1) << k->kept[i].scorer;
    return all;
}

/* Which rules score; a counting rule may begin or cease to. */
static void decide_scorers(struct step *at)
{
    struct pod_class *k = at->k;
    uint64_t skips = framework_score_skips(&k->cycle);
    at->other_rules = ((skips ^ k->score_skip) & ~grouping_scorers(k)) != 0;
    at->rescore |= at->other_rules;
    k->score_skip = skips;
}

static void need_column(struct pod_class *k, uint32_t scorer)
{
    if (k->raw[scorer] == NULL)
        k->raw[scorer] = memory_take_array(k->rows, sizeof(int64_t));
}

static int64_t ask_score(const struct pod_class *k, uint32_t scorer, uint32_t row)
{
    const struct plugin *p = k->framework->score[scorer].plugin;
    return p->score(&k->cycle, k->score_state[scorer], k->cycle.nodes, row);
}

/* The raw score of a row that need not be out of its group has changed. */
static void set_raw(struct step *at, uint32_t scorer, uint32_t row, int64_t raw)
{
    struct pod_class *k = at->k;
    int64_t before = k->raw[scorer][row];
    k->raw[scorer][row] = raw;
    if (raw == before || at->first || at->other_rules || (at->w->marks[row] & MARK_MOVED) != 0)
        return; /* its spans and its total are seen to in the end */
    struct kept_range *span = &k->groups[k->group[row]].spans[scorer];
    if (k->outcome[row] == 0 && class_has_spans(k, scorer)) {
        kept_range_leave(span, before);
        kept_range_enter(span, raw);
    }
    if (k->totals_hold)
        class_retotal(k, row);
    group_touch(k, row);
}

static void score_by_kept(struct step *at, const struct kept_rule *rule)
{
    struct pod_class *k = at->k;
    if (rule->groups || rule->scorer == SCORERS_MAX || !class_scores(k, rule->scorer))
        return;
    need_column(k, rule->scorer);
    timings_start(k->cycle.timing);
    for (uint32_t row = 0; at->rescore && row < k->rows; row++)
        set_raw(at, rule->scorer, row, ask_score(k, rule->scorer, row));
    for (uint32_t m = 0; !at->rescore && m < at->w->moved_count; m++)
        set_raw(at, rule->scorer, at->w->moved[m], ask_score(k, rule->scorer, at->w->moved[m]));
    timings_call(k->cycle.timing, TIMED_Score, rule->plugin, CODE_success,
                 at->rescore ? k->rows : at->w->moved_count);
}

/* A whole column, by the rule's own loop where it has one. */
static void score_column(struct pod_class *k, uint32_t scorer)
{
    const struct plugin *p = k->framework->score[scorer].plugin;
    const struct row_range all = {0, k->rows};
    if (p->score_rows != NULL)
        p->score_rows(&k->cycle, k->score_state[scorer], k->cycle.nodes, all, k->raw[scorer]);
    for (uint32_t row = 0; p->score_rows == NULL && row < k->rows; row++)
        k->raw[scorer][row] = ask_score(k, scorer, row);
}

static void score(struct step *at)
{
    struct pod_class *k = at->k;
    for (uint32_t i = 0; i < k->framework->score_count; i++) {
        if (!class_scores(k, i) || is_kept(k, k->framework->score[i].plugin))
            continue;
        need_column(k, i);
        timings_start(k->cycle.timing);
        if (at->first)
            score_column(k, i);
        for (uint32_t t = 0; !at->first && t < at->w->touched_count; t++)
            k->raw[i][at->w->touched[t]] = ask_score(k, i, at->w->touched[t]);
        timings_call(k->cycle.timing, TIMED_Score, k->framework->score[i].plugin, CODE_success,
                     at->first ? k->rows : at->w->touched_count);
    }
    for (uint32_t i = 0; i < k->kept_count; i++)
        score_by_kept(at, &k->kept[i]);
}

/* ---- groups ---- */

static void take_out(struct step *at)
{
    for (uint32_t m = 0; !at->first && m < at->w->moved_count; m++)
        group_leave(at->k, at->w->moved[m]);
}

static void put_back(struct step *at)
{
    struct pod_class *k = at->k;
    for (uint32_t m = 0; m < at->w->moved_count; m++) {
        if (k->totals_hold)
            class_retotal(k, at->w->moved[m]);
        if (!group_join(k, at->w->moved[m])) {
            k->by_row_only = true;
            at->regroup = true;
            return;
        }
    }
    for (uint32_t i = 0; at->other_rules && i < k->framework->score_count; i++)
        if (class_has_spans(k, i))
            groups_span(k, i);
    if (at->other_rules)
        k->totals_hold = false;
}

/* ---- the whole ---- */

static void mark_all(struct step *at)
{
    for (uint32_t row = 0; row < at->k->rows; row++)
        mark(at->w, row);
}

/* Brings everything in step, once the rows that changed themselves are marked as touched. whole:
 * nothing is known yet, or the states are new. */
static void catch_up(struct step *at, bool whole)
{
    struct pod_class *k = at->k;
    timings_part(k->cycle.timing, PART_pre_filter);
    recount(at);
    for (uint32_t i = 0; i < k->kept_count; i++)
        if (whole || k->kept[i].changed.count > 0)
            look_out(at, &k->kept[i], whole);
    if (at->regroup)
        return;
    timings_part(k->cycle.timing, PART_filter);
    if (at->all)
        mark_all(at);
    take_out(at);
    uint64_t which = asked_filters(k);
    if (at->first)
        judge_all(at, which);
    for (uint32_t m = 0; !at->first && m < at->w->moved_count; m++)
        judge(at, at->w->moved[m], which);
    timings_part(k->cycle.timing, PART_pre_score);
    survey(at);
    decide_scorers(at);
    timings_part(k->cycle.timing, PART_score);
    score(at);
    put_back(at);
}

static void clear_marks(struct class_scratch *w)
{
    for (uint32_t m = 0; m < w->moved_count; m++)
        w->marks[w->moved[m]] = 0;
}

static void allocate(struct pod_class *k)
{
    k->outcome = memory_take_array(k->rows, sizeof(*k->outcome));
    k->total = memory_take_array(k->rows, sizeof(*k->total));
    k->group = memory_take_array(k->rows, sizeof(*k->group));
    k->place = memory_take_array(k->rows, sizeof(*k->place));
    k->outcomes = memory_take_array(1, sizeof(*k->outcomes));
    k->outcome_count = k->outcome_room = 1;
    k->outcomes[0].rows = k->rows;
}

bool class_fill(struct shard *s, struct pod_class *k)
{
    struct step at = {
        .shard = s, .k = k, .w = &s->classes->scratch, .first = true, .all = true, .fit = true};
    allocate(k);
    reserve(at.w, k);
    for (uint32_t row = 0; row < k->rows; row++)
        mark_touched(at.w, row);
    s->classes->status.rows_looked_at += k->rows;
    k->seen = s->share.touched.count;
    catch_up(&at, true);
    clear_marks(at.w);
    k->stale = at.regroup;
    return at.fit;
}

bool class_catch_up(struct shard *s, struct pod_class *k)
{
    struct step at = {.shard = s, .k = k, .w = &s->classes->scratch, .fit = true};
    bool whole = k->atoms_made != atoms_made(s->share.atoms);
    if (whole && !class_begin(s, k))
        return false;
    reserve(at.w, k);
    for (; k->seen < s->share.touched.count; k->seen++)
        mark_touched(at.w, s->share.touched.rows[k->seen & (TOUCHED_ROOM - 1)]);
    s->classes->status.rows_looked_at += at.w->touched_count;
    bool told = false; /* something new by others */
    for (uint32_t i = 0; i < k->kept_count; i++)
        told |= k->kept[i].changed.count > 0;
    if (at.w->touched_count > 0 || whole || told)
        catch_up(&at, whole);
    clear_marks(at.w);
    k->stale = at.regroup;
    return at.fit;
}
