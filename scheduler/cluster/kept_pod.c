/* kept_pod: what workers do with a pod on a node, which is all that node_pod_make and
 * volumes_resolve look at. What must stay true: a change of anything else is not told, so whatever
 * a rule comes to look at of pods on nodes belongs in here. */
#include "scheduler/cluster/kept_pod.h"

#include "scheduler/table/gang_names.h"
#include "scheduler/table/like_pod.h"

/* Other groups are named by labels, which are kept. */
struct pod kept_pod_of(const struct pod *pod)
{
    bool built_in = pod->gang.len > 0 && str_is(pod->gang_api, GANG_API_BUILT_IN);
    return (struct pod){
        .uid = pod->uid,
        .namespace_name = pod->namespace_name,
        .name = pod->name,
        .node_name = pod->node_name,
        .priority = pod->priority,
        .started = pod->started,
        .deleting = pod->deleting,
        .preempted = pod->preempted,
        .labels = {pod->labels.count, pod->labels.at},
        .usage = {pod->usage.count, pod->usage.at},
        .usage_score_cpu = pod->usage_score_cpu,
        .usage_score_memory = pod->usage_score_memory,
        .ports = {pod->ports.count, pod->ports.at},
        .affinity_required = {pod->affinity_required.count, pod->affinity_required.at},
        .affinity_preferred = {pod->affinity_preferred.count, pod->affinity_preferred.at},
        .anti_affinity_required = {pod->anti_affinity_required.count,
                                   pod->anti_affinity_required.at},
        .anti_affinity_preferred = {pod->anti_affinity_preferred.count,
                                    pod->anti_affinity_preferred.at},
        .volumes = {pod->volumes.count, pod->volumes.at},
        .attached = {pod->attached.count, pod->attached.at},
        .attach_problem = pod->attach_problem,
        .room_claims = pod->room_claims,
        .gang = built_in ? pod->gang : (struct str){NULL, 0},
        .gang_api = built_in ? pod->gang_api : (struct str){NULL, 0}};
}

uint64_t kept_pod_print(const struct pod *pod)
{
    return pod_print(pod) | 1;
}

bool kept_pod_has_terms(const struct pod *pod)
{
    return pod->affinity_required.count + pod->affinity_preferred.count +
               pod->anti_affinity_required.count + pod->anti_affinity_preferred.count >
           0;
}
