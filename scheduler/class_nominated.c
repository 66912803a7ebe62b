/* class_nominated: a class while pods are nominated to some of its nodes. Such a node must take the
 * pod with them there as well, so those that would not are withheld for one answer.
 *
 * What must stay true: afterwards every row is as it was; only classes without counting rules are
 * answered this way, whose rules need no telling of pods that are tried on a node. */
#include "proto/base/must.h"
#include "scheduler/classes_inside.h"

#include <string.h>

/* The row with its nominated pods on a copy. */
static bool passes_with(struct shard *s, struct pod_class *k, const struct evaluation *e,
                        uint32_t row)
{
    struct row_copy *copy = &s->scratch.nominated_copy;
    row_copy_make(copy, &s->nodes, row);
    for (uint32_t i = s->scratch.first[row]; i != 0; i = e->next[i - 1])
        row_copy_add(copy, e->nominated[i - 1]);
    return class_passes(k, &s->classes->scratch, &copy->nodes, 0);
}

bool class_withhold(struct shard *s, struct pod_class *k, const struct evaluation *e,
                    struct withheld *out)
{
    bool fit = true;
    out->at = arena_take(e->cycle.arena, e->nominated_count * sizeof(*out->at));
    for (uint32_t i = 0; i < e->nominated_count && fit; i++) {
        uint32_t row = e->nominated[i]->node->row;
        if (s->scratch.first[row] != i + 1 || passes_with(s, k, e, row))
            continue; /* another of its pods stands for the row; or nothing is against it */
        out->at[out->count++] = (struct withheld_row){row, k->outcome[row]};
        group_leave(k, row);
        fit = class_reject(k, &s->classes->scratch, row);
        fit = group_join(k, row) && fit;
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
