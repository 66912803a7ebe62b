/* deallocation: of the claims that are in the way, one that nobody else has. The one idea: any of
 * them may be the one that helps, so upstream takes one at random, and the next attempt shows.
 *
 * What must stay true: nothing is deallocated that another pod has reserved, and nothing that is
 * not in the way on any node. */
#include "scheduler/cluster/deallocation.h"

#include "proto/base/random.h"
#include "scheduler/catalog/device_extended.h"
#include "scheduler/catalog/group_claims.h"

/* Without devices it is in the way of none, but for those that it is to get. */
static bool is_pending(const struct resource_claim *claim, const struct gang *group)
{
    return group != NULL && !claim->allocated;
}

bool deallocation_may_help(const struct catalog *catalog, const struct pod *pod,
                           const struct gang *group, const struct findings *findings)
{
    for (uint32_t i = 0; i < findings->device_places.count; i++) {
        const struct resource_claim *claim = catalog_resource_claim(
            catalog, pod->namespace_name, findings->device_places.at[i].claim);
        if (claim != NULL && (is_pending(claim, group) || group_claims_free(claim, pod, group)))
            return true;
    }
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

/* The pod's claims that are in the way and free for the pod, or for the group as well. */
static uint32_t find_free(const struct deallocation_question *q, const struct gang *group,
                          const struct resource_claim **found)
{
    uint32_t count = 0;
    const struct device_claim *named = q->pod->device_claims.at;
    for (uint32_t i = 0; i < q->pod->device_claims.count; i++) {
        if (named[i].unneeded || !strs_hold(q->unavailable, named[i].claim))
            continue;
        found[count] = catalog_resource_claim(q->catalog, q->pod->namespace_name, named[i].claim);
        count += found[count] != NULL && (is_pending(found[count], group) ||
                                          group_claims_free(found[count], q->pod, group));
    }
    return count;
}

static struct deallocation pick_of(const struct deallocation_question *q, uint32_t count,
                                   const struct resource_claim **found, struct arena *a)
{
    if (count == 0)
        return (struct deallocation){.version = 0};
    struct random dice = {(uint64_t)q->seed};
    uint64_t at = q->tie_break == TIE_BREAK_first ? 0 : random_below(&dice, count);
    return (struct deallocation){.claim = arena_copy(a, found[at]->name),
                                 .uid = arena_copy(a, found[at]->uid),
                                 .version = found[at]->resource_version,
                                 .pending = !found[at]->allocated};
}

static const struct resource_claim **room_for(const struct deallocation_question *q,
                                              struct arena *a)
{
    return arena_take(a, q->pod->device_claims.count * sizeof(struct resource_claim *));
}

struct deallocation deallocation_pick(const struct deallocation_question *q, struct arena *a)
{
    const struct resource_claim *stale = left_behind(q, a);
    if (stale != NULL)
        return (struct deallocation){
            .claim = arena_copy(a, stale->name), .uid = arena_copy(a, stale->uid), .deletes = true};
    const struct resource_claim **found = room_for(q, a);
    return pick_of(q, find_free(q, NULL, found), found, a);
}

struct deallocation deallocation_pick_for_group(const struct deallocation_question *q,
                                                const struct deallocation *picked, struct arena *a)
{
    const struct resource_claim **found = room_for(q, a);
    uint32_t all = q->group != NULL ? find_free(q, q->group, found) : 0, count = 0;
    for (uint32_t i = 0; i < all; i++) {
        bool by_pod = strs_hold(found[i]->reserved_for, q->pod->uid);
        if (!by_pod && !str_equal(found[i]->uid, picked->uid))
            found[count++] = found[i];
    }
    struct deallocation taken = pick_of(q, count, found, a);
    if (taken.claim.len > 0)
        taken.group_uid = arena_copy(a, q->group->uid);
    return taken;
}

struct deallocation deallocation_unreserve(const struct catalog *catalog, const struct gang *group,
                                           struct str *error, struct arena *a)
{
    const struct resource_claim *held = group_claims_held(catalog, group, error, a);
    if (held == NULL)
        return (struct deallocation){.version = 0};
    return (struct deallocation){.claim = arena_copy(a, held->name),
                                 .uid = arena_copy(a, held->uid),
                                 .group_uid = arena_copy(a, group->uid),
                                 .unreserves = true};
}
