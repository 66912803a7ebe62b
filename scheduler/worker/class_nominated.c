/* class_nominated: a class while pods are nominated to some of its nodes. Such a node must take the
 * pod with them there as well, so those that would not are withheld for one answer. What a row says
 * with them is kept until the row, or who is nominated to it, is another.
 *
 * What must stay true: afterwards every row is as it was; only classes without counting rules are
 * answered this way, whose rules need no telling of pods that are tried on a node; what is kept is
 * for pods of one priority, as those of lower priority do not count. */
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/worker/classes_inside.h"

#include <string.h>

enum { WITH_unknown, WITH_passes, WITH_outcome }; /* the last plus the outcome's number */

/* The row with its nominated pods on a copy: one of these; WITH_unknown: the class is unfit. */
static uint32_t judge_with(struct shard *s, struct pod_class *k, const struct evaluation *e,
                           uint32_t row)
{
    struct row_copy *copy = &s->scratch.nominated_copy;
    row_copy_make(copy, &s->share.nodes, row);
    for (uint32_t i = s->scratch.first[row]; i != 0; i = e->next[i - 1])
        row_copy_add(copy, e->nominated[i - 1]);
    if (class_passes(k, &s->classes->scratch, &copy->nodes, 0))
        return WITH_passes;
    uint32_t outcome = class_outcome(k, &s->classes->scratch);
    return outcome == 0 ? WITH_unknown : WITH_outcome + outcome;
}

/* What is kept by row, in step with the share; NULL: nothing is. */
static uint32_t *known_rows(const struct shard *s, struct pod_class *k, const struct map_request *r)
{
    if (r->siblings.count > 0)
        return NULL;
    const struct touched *t = &s->share.touched;
    bool holds = k->with != NULL && k->with_priority == r->pod.priority &&
                 touched_reaches(t, k->with_seen) &&
                 touched_reaches_nominations(t, k->with_nominations);
    if (k->with == NULL)
        k->with = memory_take_array(k->rows, sizeof(*k->with));
    else if (!holds)
        memset(k->with, 0, k->rows * sizeof(*k->with));
    for (; holds && k->with_seen < t->count; k->with_seen++)
        k->with[t->rows[k->with_seen & (TOUCHED_ROOM - 1)]] = WITH_unknown;
    for (; holds && k->with_nominations < t->nominations; k->with_nominations++)
        k->with[t->nominated[k->with_nominations & (TOUCHED_ROOM - 1)]] = WITH_unknown;
    k->with_seen = t->count;
    k->with_nominations = t->nominations;
    k->with_priority = r->pod.priority;
    return k->with;
}

bool class_withhold(struct shard *s, struct pod_class *k, const struct evaluation *e,
                    struct withheld *out)
{
    bool fit = true;
    uint32_t *known = known_rows(s, k, e->request);
    /* its own nomination does not count */
    const struct node_pod *own = share_nominated_find(&s->share, e->request->pod.uid);
    out->at = arena_take(e->cycle.arena, e->nominated_count * sizeof(*out->at));
    for (uint32_t i = 0; i < e->nominated_count && fit; i++) {
        uint32_t row = e->nominated[i]->node->row, said = WITH_unknown;
        if (s->scratch.first[row] != i + 1)
            continue; /* another of its pods stands for the row */
        bool keeps = known != NULL && (own == NULL || own->node->row != row);
        if (keeps)
            said = known[row];
        if (said == WITH_unknown)
            said = judge_with(s, k, e, row);
        if (keeps)
            known[row] = said;
        fit = said != WITH_unknown;
        if (said <= WITH_passes)
            continue;
        out->at[out->count++] = (struct withheld_row){row, k->outcome[row]};
        group_leave(k, row);
        class_judged(k, row, said - WITH_outcome);
        fit = group_join(k, row);
    }
    return fit;
}

void class_give_back(struct pod_class *k, const struct withheld *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        group_leave(k, w->at[i].row);
        class_judged(k, w->at[i].row, w->at[i].outcome);
        bool joined = group_join(k, w->at[i].row);
        must(joined); /* it was there */
    }
}
