/* evaluate_row: the filters on one row, or on a copy of one with other pods. What must stay true:
 * what rules are told of pods on a copy is taken back before they look at another node. */
#include "scheduler/worker/shard_inside.h"

static void filter_once(struct evaluation *e, const struct nodes *n, uint32_t row)
{
    const struct framework *fw = e->cycle.framework;
    e->ruling.count = 0;
    e->ruling.code = CODE_success;
    e->ruling.plugins = 0;
    timings_start(e->cycle.timing);
    for (uint32_t i = 0; i < fw->filter_count; i++) {
        const struct plugin *p = fw->filter[i];
        if (p->filter == NULL || (e->skip >> i & 1))
            continue;
        uint32_t before = e->ruling.count;
        p->filter(&e->cycle, e->filter_state[i], n, row, &e->ruling);
        timings_call(e->cycle.timing, TIMED_Filter, p,
                     e->ruling.count == before ? CODE_success : e->ruling.code, 1);
        if (e->ruling.count == before)
            continue;
        if (before == 0)
            e->ruling.plugin = i;
        e->ruling.plugins |= UINT64_C(1) << i;
        if (!fw->profile.check_all)
            return;
    }
}

static void tell_rules(struct evaluation *e, const struct row_copy *copy,
                       const struct node_pod *pod, int times)
{
    const struct framework *fw = e->cycle.framework;
    for (uint32_t i = 0; i < fw->filter_count; i++)
        if (fw->filter[i]->what_if != NULL && !(e->skip >> i & 1))
            fw->filter[i]->what_if(&e->cycle, e->filter_state[i], copy->entry, pod, times);
}

void evaluate_row_with(struct evaluation *e, struct row_copy *copy, struct node_pod *pod)
{
    tell_rules(e, copy, pod, 1);
    row_copy_add(copy, pod);
}

void evaluate_row_without(struct evaluation *e, struct row_copy *copy, const struct node_pod *pod)
{
    tell_rules(e, copy, pod, -1);
    row_copy_remove(copy, pod);
}

/* The first pass: with the pods nominated to the row, which are gone again afterwards. */
static void filter_with_nominated(struct evaluation *e, const struct nodes *n, uint32_t row,
                                  uint32_t first)
{
    struct row_copy *copy = &e->shard->scratch.nominated_copy;
    row_copy_make(copy, n, row);
    for (uint32_t i = first; i != 0; i = e->next[i - 1])
        evaluate_row_with(e, copy, e->nominated[i - 1]);
    filter_once(e, &copy->nodes, 0);
    for (uint32_t i = first; i != 0; i = e->next[i - 1])
        evaluate_row_without(e, copy, e->nominated[i - 1]);
}

void evaluate_row(struct evaluation *e, const struct nodes *n, uint32_t row)
{
    uint32_t first = e->shard->scratch.first[n->entry[row]->row];
    if (first != 0) {
        filter_with_nominated(e, n, row, first);
        if (e->ruling.code != CODE_success)
            return;
    }
    filter_once(e, n, row);
}
