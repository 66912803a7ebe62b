/* EqualPriority, of the old Policy: every node is worth the same. A profile without score plugins
 * says the same today. */
#include "scheduler/rules/plugin.h"

static int64_t score(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row)
{
    (void)c;
    (void)state;
    (void)n;
    (void)row;
    return 1;
}

const struct plugin plugin_equal_priority = {
    .name = "EqualPriority",
    .score = score,
    .by_row = true,
};
