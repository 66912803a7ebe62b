/* gate: SchedulingGates and DynamicResources before the queue, then plugins with a hook there
 * (plugin.h), then plugins on the bus; DefaultPreemption's part is the scheduler's, which keeps a
 * pod's attempt open while its victims are told to go. What must stay true: whatever can open a
 * gate is a row of plugins.def for its plugin, an event of a plugin on the bus, or an update of the
 * pod.
 */
#include "queue/gate.h"

#include "proto/base/must.h"
#include "queue/bus_plugins/held.h"
#include "queue/hints.h"
#include "queue/hooks/hooks.h"
#include "queue/mirror.h"

/* Made for the pod or, with DRAWorkloadResourceClaims, for its PodGroup of scheduling.k8s.io. */
static bool is_made_for(const struct surroundings *around, const struct pod *pod,
                        const struct resource_claim *claim)
{
    bool by_group = around->profile != NULL && around->profile->features.workload_claims &&
                    claim->owner_group.len > 0 && str_is(pod->gang_api, "scheduling.k8s.io") &&
                    str_equal(claim->owner_group, pod->gang);
    return by_group || str_equal(claim->owner_uid, pod->uid);
}

/* Whether the claim can be looked at by a plugin: upstream's lookup finds no fault with it. */
static bool is_there(const struct surroundings *around, const struct pod *pod,
                     const struct device_claim *named, struct arena *a)
{
    struct resource_claim claim;
    if (named->unneeded)
        return true;
    return around->mirror != NULL && !named->malformed && named->claim.len > 0 &&
           mirror_resource_claim(around->mirror, pod->namespace_name, named->claim, &claim, a) &&
           !claim.deleting && (!named->generated || is_made_for(around, pod, &claim));
}

bool gate_claims_usable(const struct surroundings *around, const struct pod *pod)
{
    struct arena memory = {0};
    bool all = true;
    for (uint32_t i = 0; all && i < pod->device_claims.count; i++)
        all = is_there(around, pod, &pod->device_claims.at[i], &memory);
    arena_free(&memory);
    return all;
}

static const char *plugin_of(const struct entry *e)
{
    must(e->gate != GATE_hook || e->held_by_hook != NULL);
    if (e->gate == GATE_hook)
        return e->held_by_hook->name;
    return e->gate == GATE_claims ? "DynamicResources" : "SchedulingGates";
}

bool gate_passes(struct entry *e)
{
    must(e->place == PLACE_nowhere);
    e->gate = GATE_none;
    e->rejectors &= ~e->held_by;
    e->held_by = 0;
    if (e->deleting)
        e->gate = GATE_deleting;
    else if (e->around->obeys_gates && e->has_gates)
        e->gate = GATE_scheduling;
    else if (e->around->obeys_claims && e->has_device_claims &&
             !gate_claims_usable(e->around, entry_pod(e)))
        e->gate = GATE_claims;
    else if (e->around->hook_count > 0 &&
             (e->held_by_hook = hooks_hold(e->around, entry_pod(e))) != NULL)
        e->gate = GATE_hook;
    else if (!held_passes(e))
        e->gate = GATE_plugin;
    if (e->gate == GATE_plugin)
        e->rejectors |= e->held_by;
    else if (e->gate != GATE_none && e->gate != GATE_deleting)
        e->rejectors |= plugins_bit(plugin_of(e));
    return e->gate == GATE_none;
}

uint64_t gate_listens(const struct entry *e)
{
    switch (e->gate) {
    case GATE_none: return e->rejectors | e->pending_plugins;
    case GATE_claims:
    case GATE_hook: return plugins_bit(plugin_of(e));
    case GATE_plugin: return held_listens(e);
    case GATE_deleting:
    case GATE_scheduling: return 0; /* an update of its own opens it, or nothing */
    }
    return 0;
}
