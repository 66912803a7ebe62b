/* columns: a pod's filters and scores over a whole share, rule by rule instead of node by node. The
 * one idea: while some node passes, nobody asks why another did not, so a rule may answer for many
 * rows in one loop (filter_rows, score_rows); the others are called for each row still in question.
 * All rules have their say of one block of rows before the next block is fetched from memory, and
 * scores that mean the same whatever other nodes have are added up on the cursor.
 *
 * What must stay true: each rule is asked about exactly the rows that those before it in the
 * profile let pass, as far as anyone can tell, so that a rule that fails is noticed all the same.
 */
#include "proto/base/memory.h"
#include "scheduler/table/kernels.h"
#include "scheduler/worker/shard_inside.h"

#include <string.h>

bool columns_suffice(const struct evaluation *e)
{
    return !e->request->detail && e->request->only.count == 0 && e->nominated_count == 0 &&
           !e->cycle.framework->profile.check_all;
}

static void ask_alone(struct evaluation *e, uint32_t filter, uint32_t row)
{
    e->ruling.count = 0;
    e->ruling.code = CODE_success;
    e->ruling.plugin = filter;
    e->ruling.plugins = UINT64_C(1) << filter;
    e->cycle.framework->filter[filter]->filter(&e->cycle, e->filter_state[filter], e->cycle.nodes,
                                               row, &e->ruling);
}

/* A rule that has no filter_rows: on the rows that are still in question. */
static void ask_each(struct evaluation *e, uint32_t filter, struct row_range rows, uint8_t *said)
{
    const uint8_t *blame = e->shard->scratch.blame + rows.from;
    for (uint32_t i = 0; i < rows.count; i++) {
        if (blame[i] != 0)
            continue;
        ask_alone(e, filter, rows.from + i);
        timings_call(e->cycle.timing, TIMED_Filter, e->cycle.framework->filter[filter],
                     e->ruling.code, 1);
        said[i] = e->ruling.count > 0;
        if (e->ruling.code == CODE_error)
            reasons_failed(e);
    }
}

/* The rule has answered for these rows, in its own loop. */
static void time_loop(struct evaluation *e, uint32_t filter, struct row_range rows,
                      const uint8_t *said)
{
    timings_read_loop_end(e->cycle.timing);
    const uint8_t *first = memchr(said, 1, rows.count);
    if (first != NULL)
        ask_alone(e, filter, rows.from + (uint32_t)(first - said));
    timings_loop(e->cycle.timing, e->cycle.framework->filter[filter], rows.count,
                 rows.count - kernel_zeros(said, rows.count),
                 first != NULL ? e->ruling.code : CODE_success);
}

static void ask_filters(struct evaluation *e, struct row_range rows)
{
    uint8_t *blame = e->shard->scratch.blame + rows.from, said[BLOCK];
    const struct framework *fw = e->cycle.framework;
    memset(blame, 0, rows.count);
    for (uint32_t i = 0; i < fw->filter_count; i++) {
        const struct plugin *p = fw->filter[i];
        if (p->filter == NULL || (e->skip >> i & 1))
            continue;
        memset(said, 0, rows.count);
        timings_start(e->cycle.timing);
        if (p->filter_rows != NULL)
            p->filter_rows(&e->cycle, e->filter_state[i], e->cycle.nodes, rows, said);
        else
            ask_each(e, i, rows, said);
        if (e->cycle.timing != NULL && p->filter_rows != NULL)
            time_loop(e, i, rows, said);
        kernel_blame(blame, said, (uint8_t)(i + 1), rows.count);
    }
}

/* Nothing passed, or somebody may turn away what did: now the reasons matter. The first rule that
 * said no is asked again. */
static void tell_reasons(struct evaluation *e)
{
    const struct scratch *s = &e->shard->scratch;
    for (uint32_t row = 0; row < s->row_count; row++) {
        if (s->blame[row] == 0)
            continue;
        ask_alone(e, s->blame[row] - 1U, row);
        reasons_rejected(e);
    }
}

/* Those of a block that nobody blames pass; how many. While all have passed, places are rows. */
static uint32_t take_passing(struct scratch *s, struct row_range rows)
{
    const uint8_t *blame = s->blame + rows.from;
    uint32_t passing = kernel_zeros(blame, rows.count), at = s->feasible_count;
    s->feasible_count += passing;
    if (at == rows.from && passing == rows.count)
        return passing;
    if (at == rows.from) {
        memcpy(s->passed, s->all, at * sizeof(*s->passed));
        s->feasible = s->passed;
    }
    for (uint32_t i = 0; i < rows.count; i++) {
        s->passed[at] = rows.from + i; /* there is room for one that does not pass */
        at += blame[i] == 0;
    }
    return passing;
}

static void begin_filtering(struct evaluation *e)
{
    struct scratch *s = &e->shard->scratch;
    s->feasible = s->all;
    s->feasible_count = 0;
}

/* Filters the block that begins at the row; how many of it pass. */
static uint32_t filter_block(struct evaluation *e, uint32_t from)
{
    struct scratch *s = &e->shard->scratch;
    uint32_t left = s->row_count - from;
    const struct row_range rows = {from, left < BLOCK ? left : BLOCK};
    ask_filters(e, rows);
    return take_passing(s, rows);
}

void columns_filter(struct evaluation *e)
{
    begin_filtering(e);
    for (uint32_t from = 0; from < e->shard->scratch.row_count; from += BLOCK)
        (void)filter_block(e, from);
    if (e->shard->scratch.feasible_count == 0 || e->request->list)
        tell_reasons(e);
}

/* ---- scores ---- */

static struct score_column begin_column(const struct evaluation *e, uint32_t scorer)
{
    const struct plugin *p = e->cycle.framework->score[scorer].plugin;
    struct score_column c = {.alike = true, .ends = {.any = true, .least = SCORE_IGNORED}};
    c.apart = e->request->detail || p->survey != NULL || p->normalise != NORMALISE_none;
    timings_start(e->cycle.timing);
    if (p->score_alike != NULL && !e->request->bare &&
        p->score_alike(&e->cycle, e->score_state[scorer], e->cycle.nodes, &c.ends.least)) {
        timings_call(e->cycle.timing, TIMED_Score, p, CODE_success, 1);
        c.apart = c.known = true;
    }
    c.ends.greatest = c.ends.least;
    return c;
}

void columns_begin(struct evaluation *e)
{
    struct scratch *s = &e->shard->scratch;
    const struct framework *fw = e->cycle.framework;
    size_t room = 0;
    s->by_window = 0;
    s->total = s->fixed;
    s->columns = arena_take(&s->arena, fw->score_count * sizeof(*s->columns));
    for (uint32_t i = 0; i < fw->score_count; i++) {
        if (!scratch_scores(s, i))
            continue;
        s->columns[i] = begin_column(e, i);
        s->by_window |= (uint64_t)!s->columns[i].known << i;
        room += s->columns[i].apart && !s->columns[i].known ? s->row_count : 0;
    }
    if (room > s->raw_room) {
        s->raw_room = 2 * room;
        s->raw = memory_resize(s->raw, s->raw_room * sizeof(*s->raw));
    }
    int64_t *raw = s->raw;
    for (uint32_t i = 0; i < fw->score_count; i++)
        if (s->columns[i].apart && !s->columns[i].known) {
            s->columns[i].raw = raw;
            raw += s->row_count;
        }
}

/* False when the request names rows, in any order. */
static bool are_ascending(const struct scratch *s)
{
    return s->rows == s->all;
}

/* How many of these rows, which ascend, lie within a block from the first. */
static uint32_t near(const uint32_t *rows, uint32_t count)
{
    uint32_t low = 1, high = count < BLOCK ? count : BLOCK;
    if (rows[high - 1] - rows[0] < BLOCK)
        return high;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (rows[middle] - rows[0] < BLOCK)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* An extender gave the nodes back as objects: upstream then scores what these say alone. */
static void score_bare(struct evaluation *e, uint32_t scorer, const struct window *w, int64_t *raw)
{
    const struct plugin *p = e->cycle.framework->score[scorer].plugin;
    const uint32_t *rows = e->shard->scratch.feasible + w->from;
    struct row_copy *copy = &e->shard->scratch.copy;
    for (uint32_t i = 0; i < w->count; i++) {
        row_copy_make(copy, e->cycle.nodes, rows[i]);
        while (copy->shadow.pod_count > 0)
            row_copy_remove(copy, copy->shadow.pods[copy->shadow.pod_count - 1]);
        copy->shadow.image_count = 0;
        raw[i] = p->score(&e->cycle, e->score_state[scorer], &copy->nodes, 0);
    }
}

static void score_each(struct evaluation *e, uint32_t scorer, const struct window *w, int64_t *raw)
{
    const struct plugin *p = e->cycle.framework->score[scorer].plugin;
    const uint32_t *rows = e->shard->scratch.feasible + w->from;
    for (uint32_t i = 0; i < w->count; i++)
        raw[i] = p->score(&e->cycle, e->score_state[scorer], e->cycle.nodes, rows[i]);
}

/* One rule's scores of a window: all rows from its first to its last at once, if these are not many
 * more than are asked for. */
static void score_rows(struct evaluation *e, uint32_t scorer, const struct window *w, int64_t *raw)
{
    const struct plugin *p = e->cycle.framework->score[scorer].plugin;
    const void *state = e->score_state[scorer];
    const uint32_t *rows = e->shard->scratch.feasible + w->from;
    int64_t block[BLOCK];
    if (e->request->bare) {
        score_bare(e, scorer, w, raw);
        return;
    }
    if (p->score_rows == NULL || !are_ascending(&e->shard->scratch)) {
        score_each(e, scorer, w, raw);
        return;
    }
    const struct row_range range = {rows[0], rows[w->count - 1] - rows[0] + 1};
    if (range.count == w->count) {
        p->score_rows(&e->cycle, state, e->cycle.nodes, range, raw);
    } else if (w->count < range.count / 8) {
        score_each(e, scorer, w, raw);
    } else {
        p->score_rows(&e->cycle, state, e->cycle.nodes, range, block);
        for (uint32_t i = 0; i < w->count; i++)
            raw[i] = block[rows[i] - rows[0]];
    }
}

/* Takes a window's raw scores over. A column is written from the first that differs on. */
static void keep_apart(struct score_column *c, const struct window *w, const int64_t *raw)
{
    struct score_range ends = {.any = true};
    kernel_range(raw, w->count, &ends.least, &ends.greatest);
    if (w->from == 0) {
        c->ends = ends;
        c->alike = ends.least == ends.greatest;
    } else if (c->alike && !score_range_same(&ends, &c->ends)) {
        kernel_fill(c->raw, c->ends.least, w->from);
        c->alike = false;
    }
    score_range_join(&c->ends, &ends);
    if (!c->alike)
        memcpy(c->raw + w->from, raw, w->count * sizeof(*raw));
}

/* Sums that are fixed are begun anew if there are any of them; false: none of the scorers is. */
static bool score_window(struct evaluation *e, const struct window *w, uint64_t scorers)
{
    struct scratch *s = &e->shard->scratch;
    const struct framework *fw = e->cycle.framework;
    int64_t raw[BLOCK], *fixed = s->fixed + w->from;
    bool begun = false;
    for (; scorers != 0; scorers &= scorers - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(scorers);
        bool first = !s->columns[i].apart && !begun && fw->score[i].weight == 1;
        timings_start(e->cycle.timing);
        score_rows(e, i, w, first ? fixed : raw);
        timings_call(e->cycle.timing, TIMED_Score, fw->score[i].plugin, CODE_success, w->count);
        if (s->columns[i].apart) {
            keep_apart(&s->columns[i], w, raw);
            continue;
        }
        if (!begun && !first)
            memset(fixed, 0, w->count * sizeof(*fixed));
        if (!first)
            kernel_add(fixed, raw, fw->score[i].weight, w->count);
        begun = true;
    }
    return begun;
}

/* The next of the feasible rows, all scorers. */
static void score_next(struct evaluation *e, uint32_t from, uint32_t count)
{
    struct scratch *s = &e->shard->scratch;
    struct window *w = &s->windows[s->window_count++];
    *w = (struct window){.from = from, .count = count, .totals.any = true};
    if (!score_window(e, w, s->by_window))
        memset(s->fixed + from, 0, count * sizeof(*s->fixed));
    kernel_range(s->fixed + from, count, &w->totals.least, &w->totals.greatest);
}

void columns_score(struct evaluation *e)
{
    struct scratch *s = &e->shard->scratch;
    s->window_count = 0;
    for (uint32_t k = 0, found; k < s->feasible_count; k += found) {
        uint32_t left = s->feasible_count - k;
        found = are_ascending(s) ? near(s->feasible + k, left) : left < BLOCK ? left : BLOCK;
        score_next(e, k, found);
    }
}

void columns_score_again(struct evaluation *e, uint64_t scorers)
{
    struct scratch *s = &e->shard->scratch;
    for (uint32_t i = 0; i < s->window_count; i++)
        (void)score_window(e, &s->windows[i], scorers);
}

void columns_filter_and_score(struct evaluation *e)
{
    struct scratch *s = &e->shard->scratch;
    begin_filtering(e);
    s->window_count = 0;
    for (uint32_t from = 0; from < s->row_count; from += BLOCK) {
        timings_part(e->cycle.timing, PART_filter);
        uint32_t passing = filter_block(e, from);
        timings_part(e->cycle.timing, PART_score);
        if (passing > 0)
            score_next(e, s->feasible_count - passing, passing);
    }
    if (s->feasible_count == 0 || e->request->list)
        tell_reasons(e);
}
