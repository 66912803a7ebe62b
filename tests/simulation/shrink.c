/* shrink: delta debugging over the list of actions: leaves out halves, then quarters, and so on, as
 * long as the same check is violated. */
#include "tests/simulation/shrink.h"

#include "proto/base/memory.h"
#include "tests/simulation/attempt.h"

#include <string.h>

#define RUN_LIMIT_S 60

static bool still_found(const struct plan *plan, const char *check)
{
    const struct run_result *o = attempt_run(plan, 0, RUN_LIMIT_S);
    return o->finding.found && strcmp(o->finding.check, check) == 0;
}

/* What happens behind the violation is of no use. */
static void cut_tail(struct plan *plan, const char *check)
{
    const struct run_result *o = attempt_run(plan, 0, RUN_LIMIT_S);
    uint32_t count = plan->count;
    if (!o->finding.found)
        return;
    while (plan->count > 0 && plan->at[plan->count - 1].at > o->finding.at)
        plan->count--;
    if (!still_found(plan, check))
        plan->count = count;
}

static struct plan without(const struct plan *plan, uint32_t first, uint32_t count)
{
    struct plan less = *plan;
    less.count = plan->count - count;
    less.at = memory_take_array(less.count + 1, sizeof(*less.at));
    memcpy(less.at, plan->at, first * sizeof(*less.at));
    memcpy(less.at + first, plan->at + first + count,
           (plan->count - first - count) * sizeof(*less.at));
    return less;
}

uint32_t shrink(struct plan *plan, const char *check, uint32_t runs_max)
{
    uint32_t runs = 2;
    cut_tail(plan, check);
    for (uint32_t size = (plan->count + 1) / 2; size > 0 && runs < runs_max;) {
        bool any = false;
        for (uint32_t first = 0; first < plan->count && runs < runs_max;) {
            uint32_t count = size < plan->count - first ? size : plan->count - first;
            struct plan less = without(plan, first, count);
            runs++;
            if (still_found(&less, check)) {
                plan_free(plan);
                *plan = less;
                any = true;
            } else {
                plan_free(&less);
                first += count;
            }
        }
        if (size == 1 && !any)
            break;
        size = size > 1 ? size / 2 : 1;
    }
    return runs;
}
