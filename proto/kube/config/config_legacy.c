/* config_legacy: the names of the old Policy's predicates and priorities, which a profile may list
 * beside today's plugins. The one idea: most of them are today's plugins under another name, and
 * are taken for these; the rest have plugins of their own, which no profile runs unless it lists
 * them.
 *
 * What must stay true: no name here is one of upstream's plugins of today. */
#include "proto/kube/config/config_internal.h"

static const struct {
    const char *name;
    const char *plugins[5]; /* ends with NULL */
} aliases[] = {
    {"CheckNodeUnschedulable", {"NodeUnschedulable"}},
    {"GeneralPredicates", {"NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"}},
    {"HostName", {"NodeName"}},
    {"PodFitsHostPorts", {"NodePorts"}},
    {"PodFitsPorts", {"NodePorts"}},
    {"MatchNodeSelector", {"NodeAffinity"}},
    {"PodFitsResources", {"NodeResourcesFit"}},
    {"NoDiskConflict", {"VolumeRestrictions"}},
    {"PodToleratesNodeTaints", {"TaintToleration"}},
    {"MaxCSIVolumeCount", {"NodeVolumeLimits"}},
    {"MaxCSIVolumeCountPred", {"NodeVolumeLimits"}},
    {"MaxCinderVolumeCount", {"NodeVolumeLimits"}},
    {"checkServiceAffinity", {"CheckServiceAffinity"}},
    {"CheckVolumeBinding", {"VolumeBinding"}},
    {"NoVolumeZoneConflict", {"VolumeZone"}},
    {"MatchInterPodAffinity", {"InterPodAffinity"}},
    {"EvenPodsSpread", {"PodTopologySpread"}},
    {"LeastRequestedPriority", {"NodeResourcesFit"}},
    {"BalancedResourceAllocation", {"NodeResourcesBalancedAllocation"}},
    {"InterPodAffinityPriority", {"InterPodAffinity"}},
    {"NodeAffinityPriority", {"NodeAffinity"}},
    {"TaintTolerationPriority", {"TaintToleration"}},
    {"ImageLocalityPriority", {"ImageLocality"}},
    {"EvenPodsSpreadPriority", {"PodTopologySpread"}},
    {"SelectorSpreadPriority", {"SelectorSpread"}},
    {"ServiceSpreadingPriority", {"ServiceSpreading"}},
    {"NodePreferAvoidPodsPriority", {"NodePreferAvoidPods"}},
};

const char *const *config_legacy_alias(struct str name)
{
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (str_is(name, aliases[i].name))
            return aliases[i].plugins;
    return NULL;
}
