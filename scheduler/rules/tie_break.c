/* tie_break: the share has thrown the dice, and named the first by name, already. What must stay
 * true: a round-robin goes on behind the node that was chosen last, if there is one as good. */
#include "scheduler/rules/tie_break.h"

struct str tie_break_choice(struct str tie_break, const struct map_result *result)
{
    bool round = str_is(tie_break, "round-robin");
    return round && result->best_after.len > 0 ? result->best_after : result->best_node;
}
