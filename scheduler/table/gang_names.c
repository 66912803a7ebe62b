/* gang_names: the one place that knows how a pod names its PodGroup. What must stay true: the order
 * of preference is the watcher's. */
#include "scheduler/table/gang_names.h"

static struct str label_of(const struct pod *pod, const char *key)
{
    for (uint32_t i = 0; i < pod->labels.count; i++)
        if (str_is(pod->labels.at[i].key, key))
            return pod->labels.at[i].value;
    return (struct str){NULL, 0};
}

bool gang_named_by(const struct pod *pod, struct gang *group)
{
    *group = (struct gang){.namespace_name = pod->namespace_name};
    if (pod->gang.len > 0) {
        group->api = pod->gang_api;
        group->name = pod->gang;
        return true;
    }
    group->api = STR_LITERAL(GANG_API);
    group->name = label_of(pod, GANG_LABEL);
    if (group->name.len == 0) {
        group->api = STR_LITERAL(GANG_API_OLD);
        group->name = label_of(pod, GANG_LABEL_OLD);
    }
    return group->name.len > 0;
}
