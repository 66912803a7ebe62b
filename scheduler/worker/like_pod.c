/* like_pod: a pod without what tells it from its like. What must stay true: no rule that is kept by
 * row looks at what is left out. */
#include "scheduler/worker/like_pod.h"

struct pod like_pod(const struct pod *from, bool with_labels)
{
    struct pod pod = *from;
    const struct str none = {0};
    pod.uid = pod.name = pod.disruption_target = pod.preemption_policy = none;
    pod.resource_version = pod.generation = pod.created = pod.started = pod.priority = 0;
    pod.scheduled = (struct condition){0};
    pod.condition_types = (struct strs){0};
    if (!with_labels) {
        pod.labels.count = 0;
        pod.namespace_name = none;
    }
    return pod;
}
