/* like_pod: a pod without what tells it from its like. What must stay true: no rule that is kept by
 * row looks at what like_pod_to_rules leaves out. */
#include "scheduler/table/like_pod.h"

struct pod like_pod(const struct pod *from)
{
    struct pod pod = *from;
    pod.uid = pod.name = (struct str){0};
    pod.resource_version = pod.generation = pod.created = 0;
    return pod;
}

struct pod like_pod_to_rules(const struct pod *from, bool with_labels)
{
    struct pod pod = like_pod(from);
    pod.disruption_target = pod.preemption_policy = (struct str){0};
    pod.started = pod.priority = 0;
    pod.scheduled = (struct condition){0};
    pod.condition_types = (struct strs){0};
    if (!with_labels) {
        pod.labels.count = 0;
        pod.namespace_name = (struct str){0};
    }
    return pod;
}

uint64_t pod_print(const struct pod *pod)
{
    struct buffer bytes = {0};
    codec_encode(&pod_record, pod, &bytes);
    uint64_t hash = str_hash(buffer_str(&bytes));
    buffer_free(&bytes);
    return hash;
}
