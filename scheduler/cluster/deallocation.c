/* deallocation: of the claims that are in the way, one that nobody else has. The one idea: any of
 * them may be the one that helps, so upstream takes one at random, and the next attempt shows.
 *
 * What must stay true: nothing is deallocated that another pod has reserved, and nothing that is
 * not in the way on any node. */
#include "scheduler/cluster/deallocation.h"

#include "proto/base/random.h"
#include "scheduler/catalog/device_extended.h"

/* Allocated, and reserved for nobody or for the pod alone. */
static bool is_free(const struct resource_claim *claim, const struct pod *pod)
{
    return claim != NULL && claim->allocated &&
           (claim->reserved_for.count == 0 ||
            (claim->reserved_for.count == 1 && str_equal(claim->reserved_for.at[0], pod->uid)));
}

bool deallocation_may_help(const struct catalog *catalog, const struct pod *pod,
                           const struct findings *findings)
{
    for (uint32_t i = 0; i < findings->device_places.count; i++)
        if (is_free(catalog_resource_claim(catalog, pod->namespace_name,
                                           findings->device_places.at[i].claim),
                    pod))
            return true;
    return false;
}

/* While it is there no node is looked at for claims, so nothing else can be in the way. */
static const struct resource_claim *left_behind(const struct deallocation_question *q,
                                                struct arena *a)
{
    const struct resource_claim *stale = extended_plan_of(q->catalog, q->pod, a).stale;
    bool here = stale != NULL && str_equal(stale->namespace_name, q->pod->namespace_name);
    return here ? stale : NULL;
}

struct deallocation deallocation_pick(const struct deallocation_question *q, struct arena *a)
{
    uint32_t count = 0;
    const struct resource_claim *stale = left_behind(q, a);
    if (stale != NULL)
        return (struct deallocation){
            .claim = arena_copy(a, stale->name), .uid = arena_copy(a, stale->uid), .deletes = true};
    const struct device_claim *named = q->pod->device_claims.at;
    const struct resource_claim **found =
        arena_take(a, q->pod->device_claims.count * sizeof(struct resource_claim *));
    for (uint32_t i = 0; i < q->pod->device_claims.count; i++) {
        if (named[i].unneeded || !strs_hold(q->unavailable, named[i].claim))
            continue;
        found[count] = catalog_resource_claim(q->catalog, q->pod->namespace_name, named[i].claim);
        count += is_free(found[count], q->pod);
    }
    if (count == 0)
        return (struct deallocation){.version = 0};
    struct random dice = {(uint64_t)q->seed};
    uint64_t at = q->tie_break == TIE_BREAK_first ? 0 : random_below(&dice, count);
    return (struct deallocation){.claim = arena_copy(a, found[at]->name),
                                 .uid = arena_copy(a, found[at]->uid),
                                 .version = found[at]->resource_version};
}
