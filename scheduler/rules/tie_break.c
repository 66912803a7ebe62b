/* tie_break: the share has thrown the dice, and named the first by name, already. What must stay
 * true: a round-robin goes on behind the node that was chosen last, if there is one as good. */
#include "scheduler/rules/tie_break.h"

struct str tie_break_choice(enum tie_break_rule tie_break, const struct map_result *result)
{
    bool round = tie_break == TIE_BREAK_round_robin;
    return round && result->best_after.len > 0 ? result->best_after : result->best_node;
}
