/* columns: a pod's filters and scores over a whole share, rule by rule instead of node by node. The
 * one idea: while some node passes, nobody asks why another did not, so a rule may answer for many
 * rows in one loop (filter_rows, score_rows); the others are called for each row still in question.
 *
 * What must stay true: each rule is asked about exactly the rows that those before it in the
 * profile let pass, as far as anyone can tell, so that a rule that fails is noticed all the same.
 */
#include "scheduler/kernels.h"
#include "scheduler/shard_inside.h"

#include <string.h>

/* Rows that are scored together: few enough that what was just written is still near. */
#define BLOCK 512

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
static void ask_each(struct evaluation *e, uint32_t filter)
{
    struct scratch *s = &e->shard->scratch;
    for (uint32_t row = 0; row < s->row_count; row++) {
        if (s->blame[row] != 0)
            continue;
        ask_alone(e, filter, row);
        s->said[row] = e->ruling.count > 0;
        if (e->ruling.code == CODE_error)
            fail_filter(e);
    }
}

static void ask_filters(struct evaluation *e)
{
    struct scratch *s = &e->shard->scratch;
    const struct framework *fw = e->cycle.framework;
    const struct row_range all = {0, s->row_count};
    memset(s->blame, 0, s->row_count);
    for (uint32_t i = 0; i < fw->filter_count; i++) {
        const struct plugin *p = fw->filter[i];
        if (p->filter == NULL || (e->skip >> i & 1))
            continue;
        memset(s->said, 0, s->row_count);
        if (p->filter_rows != NULL)
            p->filter_rows(&e->cycle, e->filter_state[i], e->cycle.nodes, all, s->said);
        else
            ask_each(e, i);
        kernel_blame(s->blame, s->said, (uint8_t)(i + 1), s->row_count);
    }
}

/* Nothing passed: now the reasons matter. The first rule that said no is asked again. */
static void tell_reasons(struct evaluation *e)
{
    const struct scratch *s = &e->shard->scratch;
    for (uint32_t row = 0; row < s->row_count; row++) {
        ask_alone(e, s->blame[row] - 1U, row);
        count_rejection(e);
    }
}

void columns_filter(struct evaluation *e)
{
    struct scratch *s = &e->shard->scratch;
    ask_filters(e);
    bool all = kernel_zeros(s->blame, s->row_count) == s->row_count;
    s->feasible_count = all ? s->row_count : 0;
    if (all)
        memcpy(s->feasible, s->rows, s->row_count * sizeof(*s->feasible));
    for (uint32_t row = 0; row < s->row_count && !all; row++) {
        s->feasible[s->feasible_count] = row;
        s->feasible_count += s->blame[row] == 0;
    }
    if (s->feasible_count == 0)
        tell_reasons(e);
}

/* ---- scores ---- */

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

/* One rule's scores of the rows in feasible: those that lie near each other are scored together,
 * with the rows between them if these are not too many. */
static void score_near(struct evaluation *e, const struct plugin *p, const void *state,
                       int64_t *raw)
{
    const struct scratch *s = &e->shard->scratch;
    int64_t block[BLOCK];
    for (uint32_t k = 0, found; k < s->feasible_count; k += found) {
        const uint32_t *rows = s->feasible + k;
        found = near(rows, s->feasible_count - k);
        struct row_range range = {rows[0], rows[found - 1] - rows[0] + 1};
        if (found == range.count) {
            p->score_rows(&e->cycle, state, e->cycle.nodes, range, raw + k);
        } else if (found < range.count / 8) {
            for (uint32_t i = 0; i < found; i++)
                raw[k + i] = p->score(&e->cycle, state, e->cycle.nodes, rows[i]);
        } else {
            p->score_rows(&e->cycle, state, e->cycle.nodes, range, block);
            for (uint32_t i = 0; i < found; i++)
                raw[k + i] = block[rows[i] - rows[0]];
        }
    }
}

void columns_score(struct evaluation *e, const struct plugin *p, const void *state, int64_t *raw)
{
    const struct scratch *s = &e->shard->scratch;
    if (p->score_rows != NULL && e->request->only.count == 0) {
        score_near(e, p, state, raw);
        return;
    }
    for (uint32_t k = 0; k < s->feasible_count; k++)
        raw[k] = p->score(&e->cycle, state, e->cycle.nodes, s->feasible[k]);
}
