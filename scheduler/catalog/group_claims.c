/* group_claims: the one idea: pods do not know the UID of their PodGroup, so the API knows the
 * group by its name where a pod is asked about, and by its UID where the group is.
 *
 * What must stay true: without the gate, and for a pod of no such group, nothing here holds. */
#include "scheduler/catalog/group_claims.h"

#include "scheduler/table/gang_names.h"

bool group_claims_count(const struct features *features, const struct pod *pod)
{
    return features->workload_claims && pod->gang.len > 0 &&
           str_is(pod->gang_api, GANG_API_BUILT_IN);
}

const struct gang *group_claims_owner(const struct catalog *catalog,
                                      const struct features *features, const struct pod *pod)
{
    const struct gang named = {
        .api = pod->gang_api, .namespace_name = pod->namespace_name, .name = pod->gang};
    return group_claims_count(features, pod) ? catalog_gang(catalog, &named) : NULL;
}

/* A generated one is known by its template, and by what the pod calls it. */
static bool are_alike(const struct device_claim *a, const struct device_claim *b)
{
    return str_equal(a->name, b->name) && a->generated == b->generated &&
           str_equal(a->template, b->template) && (a->generated || str_equal(a->claim, b->claim));
}

bool group_claims_bind(const struct gang *group, const struct device_claim *named,
                       const struct device_claim **malformed)
{
    for (uint32_t i = 0; group != NULL && i < group->device_claims.count; i++) {
        const struct device_claim *claim = &group->device_claims.at[i];
        if (claim->malformed) {
            if (malformed != NULL)
                *malformed = claim;
            return false;
        }
        if (are_alike(claim, named))
            return true;
    }
    return false;
}

bool group_claims_made_for(const struct pod *pod, const struct resource_claim *claim)
{
    return claim->owner_group.len > 0 && str_equal(claim->owner_group, pod->gang);
}

bool group_claims_reserved(const struct pod *pod, const struct resource_claim *claim)
{
    return strs_hold(claim->reserved_for, pod->uid) || strs_hold(claim->reserved_groups, pod->gang);
}

bool group_claims_free(const struct resource_claim *claim, const struct pod *pod,
                       const struct gang *group)
{
    const struct strs *users = &claim->reserved_for;
    if (!claim->allocated || users->count > 1)
        return false;
    return users->count == 0 || str_equal(users->at[0], pod->uid) ||
           (group != NULL && str_equal(users->at[0], group->uid));
}

/* False: it cannot be told whether there is one. */
static bool find(const struct catalog *catalog, const struct gang *group,
                 const struct device_claim *named, const struct resource_claim **claim)
{
    *claim = NULL;
    if (named->unneeded)
        return true;
    *claim = named->claim.len == 0
                 ? NULL
                 : catalog_resource_claim(catalog, group->namespace_name, named->claim);
    return *claim != NULL;
}

static struct str problem(const struct gang *group, const struct device_claim *named,
                          struct arena *a)
{
    if (named->malformed)
        return arena_print(a,
                           "PodGroup %.*s/%.*s, spec.resourceClaim %.*s: none of the supported "
                           "fields are set",
                           STR_ARG(group->namespace_name), STR_ARG(group->name),
                           STR_ARG(named->name));
    if (named->claim.len == 0)
        return arena_print(a, "PodGroup %.*s/%.*s: ResourceClaim not created yet",
                           STR_ARG(group->namespace_name), STR_ARG(group->name));
    return arena_print(a, "could not find ResourceClaim \"%.*s/%.*s\"",
                       STR_ARG(group->namespace_name), STR_ARG(named->claim));
}

const struct resource_claim *group_claims_held(const struct catalog *catalog,
                                               const struct gang *group, struct str *error,
                                               struct arena *a)
{
    const struct resource_claim *claim;
    *error = (struct str){NULL, 0};
    for (uint32_t i = 0; i < group->device_claims.count; i++) {
        const struct device_claim *named = &group->device_claims.at[i];
        if (!find(catalog, group, named, &claim)) {
            *error = problem(group, named, a);
            return NULL;
        }
        bool ours = claim != NULL && (!named->generated || str_equal(claim->owner_uid, group->uid));
        if (ours && claim->allocated && strs_hold(claim->reserved_groups, group->name))
            return claim;
    }
    return NULL;
}
