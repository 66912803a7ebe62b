/* NodeResourcesBalancedAllocation prefers nodes whose resources the pod brings into balance.
 *
 * Balance is 1 minus the standard deviation of the used fractions, cut to a percentage, with and
 * without the pod; no change scores 75, so that a pod does not go where balance is good anyway but
 * where it helps. Pods that ask for none of the resources are not scored. Double precision in
 * upstream's order of operations, without contraction, or results differ in the last digit. */
#include "scheduler/rules/scored_resources.h"
#include "scheduler/table/wrap.h"

#include <math.h>

static bool score_skips(const struct cycle *c)
{
    const struct profile *profile = &c->framework->profile;
    for (uint32_t i = 0; i < profile->balanced_resources.count; i++)
        if (resource_amount(c->pod->usage.at, c->pod->usage.count,
                            profile->balanced_resources.at[i].name) != 0)
            return false;
    return true;
}

struct balance {
    bool nothing_asked; /* PreScore, which would have skipped the pod, is disabled */
    struct scored_resources *resources;
    double *fractions; /* room for one per resource */
};

static void *score_begin(const struct cycle *c)
{
    const struct profile *profile = &c->framework->profile;
    struct balance *b = arena_take(c->arena, sizeof(*b));
    uint32_t count = profile->balanced_resources.count;
    b->resources = scored_resources_make(c, profile->balanced_resources.at, count, c->pod->usage.at,
                                         c->pod->usage.count);
    b->nothing_asked = score_skips(c);
    b->fractions = arena_take(c->arena, count * sizeof(*b->fractions));
    return b;
}

static double deviation(const double *fractions, uint32_t count, double total)
{
    if (count < 2)
        return 0;
    if (count == 2)
        return fabs((fractions[0] - fractions[1]) / 2);
    double mean = total / (double)count, sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum = sum + (fractions[i] - mean) * (fractions[i] - mean);
    return sqrt(sum / (double)count);
}

static int64_t balance_of(const struct balance *b, const struct nodes *n, uint32_t row,
                          bool with_pod)
{
    double total = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->resources->count; i++) {
        int64_t room_used[2];
        if (!scored_resource_on(b->resources, i, n, row, room_used))
            continue;
        int64_t used = wrap_add(room_used[1], with_pod ? b->resources->at[i].asked : 0);
        double fraction = (double)used / (double)room_used[0];
        if (fraction > 1)
            fraction = 1;
        total += fraction;
        b->fractions[count++] = fraction;
    }
    return cut_to_i64((1 - deviation(b->fractions, count, total)) * SCORE_MAX);
}

static int64_t score(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row)
{
    (void)c;
    const struct balance *b = state;
    if (b->nothing_asked)
        return 0;
    int64_t with = balance_of(b, n, row, true), without = balance_of(b, n, row, false);
    return SCORE_MAX / 2 + wrap_add(SCORE_MAX / 2, wrap_sub(with, without)) / 2;
}

/* The two resources that take part, when there are two and both are in columns. */
static bool pair(const struct balance *b, const struct nodes *n, struct row_range rows,
                 struct kernel_resource out[2])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->resources->count; i++) {
        if (b->resources->at[i].left_out)
            continue;
        if (count == 2 || !scored_resource_column(b->resources, i, n, rows, &out[count]))
            return false;
        count++;
    }
    return count == 2;
}

/* The two whose balance without the pod every node knows. */
static bool is_known(const struct balance *b)
{
    const struct scored_resource *at = b->resources->at;
    return b->resources->count == 2 && at[0].fixed == RESOURCE_cpu &&
           at[1].fixed == RESOURCE_memory && !b->resources->with_defaults;
}

static void score_rows(const struct cycle *c, const void *state, const struct nodes *n,
                       struct row_range rows, int64_t *raw)
{
    const struct balance *b = state;
    struct kernel_resource both[2];
    uint32_t end = rows.from + rows.count;
    while (rows.from < end) {
        rows.count = end - rows.from < KERNEL_ROWS ? end - rows.from : KERNEL_ROWS;
        bool paired = !b->nothing_asked && pair(b, n, rows, both);
        if (paired && is_known(b))
            kernel_balance_from(both, n->balance + rows.from, rows.count, raw);
        else if (paired)
            kernel_balance(both, rows.count, raw);
        for (uint32_t i = 0; i < rows.count && !paired; i++)
            raw[i] = score(c, state, n, rows.from + i);
        raw += rows.count;
        rows.from += rows.count;
    }
}

const struct plugin plugin_node_resources_balanced_allocation = {
    .name = "NodeResourcesBalancedAllocation",
    .score_skips = score_skips,
    .score_begin = score_begin,
    .score = score,
    .by_row = true,
    .score_rows = score_rows,
};
