/* LeastRequestedPriority, of the old Policy, where a profile has it beside another strategy of
 * NodeResourcesFit: prefers nodes of which little is asked for, cpu and memory counting alike. */
#include "scheduler/rules/requested_score.h"

static void *score_begin(const struct cycle *c)
{
    static const struct quantity both[] = {{{"cpu", 3}, 1}, {{"memory", 6}, 1}};
    return requested_begin(c, &(struct requested_strategy){
                                  .kind = STRATEGY_least_allocated, .resources = both, .count = 2});
}

const struct plugin plugin_node_resources_least_allocated = {
    .name = "NodeResourcesLeastAllocated",
    .score_begin = score_begin,
    .score = requested_score,
    .score_rows = requested_score_rows,
    .by_row = true,
};
