/* FIFOSort: first come, first served, whatever the priorities; of the old Policy. All have the same
 * key, so that upstream's order by time is all that counts. */
#include "queue/plugin.h"

static int64_t sort_key(const struct pod *pod)
{
    (void)pod;
    return 0;
}

const struct queue_plugin queue_plugin_fifo_sort = {
    .name = "FIFOSort",
    .sort_key = sort_key,
};
