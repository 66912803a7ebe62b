/* SmallestFirst, at QueueSort: the less CPU a pod asks for, the sooner it is tried, whatever its
 * priority. */
#include "queue/plugin.h"

static int64_t sort_key(const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->request.count; i++)
        if (str_is(pod->request.at[i].name, "cpu"))
            return -pod->request.at[i].amount;
    return 0;
}

const struct queue_plugin queue_plugin_smallest_first = {
    .name = "SmallestFirst",
    .sort_key = sort_key,
};
