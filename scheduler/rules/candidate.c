/* candidate: compares candidates of a preemption. The one idea: upstream narrows the nodes down by
 * one criterion after the other, each a number of the node alone, so that comparing the numbers in
 * that order gives the same node without knowing the others. */
#include "scheduler/rules/candidate.h"

#include "scheduler/table/wrap.h"

#include <stddef.h>

/* Makes every priority count, also a negative one. */
#define PRIORITY_SHIFT (INT64_C(1) << 31)

void candidate_rank_add(struct candidate_rank *r, int64_t priority, int64_t started)
{
    if (r->count == 0)
        r->highest = priority;
    if (r->count == 0 || priority > r->greatest) {
        r->greatest = priority;
        r->earliest = started;
    } else if (priority == r->greatest && started < r->earliest) {
        r->earliest = started;
    }
    r->sum = wrap_add(r->sum, wrap_add(priority, PRIORITY_SHIFT));
    r->count++;
}

int candidate_rank_compare(const struct candidate_rank *a, const struct candidate_rank *b)
{
    const int64_t pairs[][2] = {{a->violations, b->violations},
                                {a->highest, b->highest},
                                {a->sum, b->sum},
                                {a->count, b->count},
                                {b->earliest, a->earliest}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (pairs[i][0] != pairs[i][1])
            return pairs[i][0] < pairs[i][1] ? -1 : 1;
    return 0;
}
