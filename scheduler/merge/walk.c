/* walk: the part of the nodes that a pod is decided over. What must stay true: the same feasible
 * nodes from the same start are cut alike, whoever found them.
 *
 * Of the few nodes that PreFilter leaves upstream walks in no order at all (a map's): any part of
 * them of the right size will do. */
#include "scheduler/merge/walk.h"

#include "proto/base/must.h"

#include <stdlib.h>

#define FEWEST         100 /* nodes that are always looked for */
#define FEWEST_PERCENT 5   /* when their number decides */

int64_t walk_wanted(const struct walk *w, int64_t nodes)
{
    int64_t percentage = w->percentage;
    if (w->first)
        return 1;
    if (nodes < FEWEST)
        return nodes;
    if (percentage == 0)
        percentage = 50 - nodes / 125 > FEWEST_PERCENT ? 50 - nodes / 125 : FEWEST_PERCENT;
    int64_t wanted = nodes * percentage / 100;
    return wanted > FEWEST ? wanted : FEWEST;
}

struct step {
    int64_t from_start;
    struct str node;
};

static int by_step(const void *a, const void *b)
{
    int64_t one = ((const struct step *)a)->from_start,
            other = ((const struct step *)b)->from_start;
    return one < other ? -1 : one > other;
}

static int by_name(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static struct step step_to(const struct walk *w, struct str node)
{
    int64_t place = w->place(w->context, node);
    return (struct step){(place - w->start + w->nodes) % w->nodes, node};
}

struct str walk_turn(const struct walk *w, const struct listed_nodes *nodes, int64_t total,
                     uint64_t turn, struct arena *a)
{
    struct step *steps = arena_take(a, nodes->count * sizeof(*steps));
    uint32_t equal = 0;
    for (uint32_t i = 0; i < nodes->count; i++)
        if (nodes->at[i].total == total)
            steps[equal++] = step_to(w, nodes->at[i].node);
    must(equal > 0);
    qsort(steps, equal, sizeof(*steps), by_step);
    return steps[turn % equal].node;
}

int64_t walk_cut(const struct walk *w, int64_t filtered, struct strs *feasible, struct arena *a)
{
    int64_t wanted = walk_wanted(w, filtered);
    if (!w->ends || feasible->count <= wanted)
        return filtered;
    struct step *steps = arena_take(a, feasible->count * sizeof(*steps));
    for (uint32_t i = 0; i < feasible->count; i++)
        steps[i] = step_to(w, feasible->at[i]);
    qsort(steps, feasible->count, sizeof(*steps), by_step);
    feasible->count = (uint32_t)wanted;
    for (uint32_t i = 0; i < feasible->count; i++)
        feasible->at[i] = steps[i].node;
    qsort(feasible->at, feasible->count, sizeof(*feasible->at), by_name);
    return steps[wanted].from_start;
}
