/* gang_reach: while one victim after the other comes back, most of them are on nodes that no member
 * of the group is on, and cannot matter to it. The one idea: a filter that looks beyond its node
 * does so for a reason that the member, its profile or the other pod has written down.
 *
 * What must stay true: where it is said that nobody matters, all filters say of each member's node
 * what they said before. One pod more never takes from required affinity what it needs, except that
 * a pod which its own terms want may be the first of its kind, and is not when there is another. */
#include "scheduler/merge/gang_reach.h"

#include "proto/kube/objects/selector.h"
#include "scheduler/cluster/cache.h"
#include "scheduler/rules/spread_constraints.h"

static bool any_is_hard(const struct spread_constraint *at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (spread_constraint_is_hard(&at[i]))
            return true;
    return false;
}

static bool selects(const struct selector *selector, const struct pod *pod)
{
    return label_selector_matches(selector, pod->labels.at, pod->labels.count);
}

/* Its matchLabelKeys would only make it fewer. */
static bool any_hard_counts(const struct spread_constraint *at, uint32_t count,
                            const struct pod *pod)
{
    for (uint32_t i = 0; i < count; i++)
        if (spread_constraint_is_hard(&at[i]) && selects(&at[i].selector, pod))
            return true;
    return false;
}

static bool any_wants(const struct affinity_term *at, uint32_t count, const struct pod *pod)
{
    for (uint32_t i = 0; i < count; i++)
        if (selects(&at[i].selector, pod))
            return true;
    return false;
}

static bool all_want(const struct affinity_term *at, uint32_t count, const struct pod *pod)
{
    for (uint32_t i = 0; i < count; i++)
        if (!selects(&at[i].selector, pod))
            return false;
    return count > 0;
}

static bool may_be_first_of_its_kind(const struct pod *member)
{
    return all_want(member->affinity_required.at, member->affinity_required.count, member);
}

enum gang_reach gang_reach_of(const struct framework *framework, const struct pod *member)
{
    const struct profile *profile = &framework->profile;
    bool holds = member->volumes.count + member->claims.count + member->resource_claims.count +
                     member->device_claims.count >
                 0;
    if (holds || any_is_hard(profile->spread_defaults.at, profile->spread_defaults.count) ||
        profile->service_affinity.count > 0)
        return REACH_any;
    bool asks = member->anti_affinity_required.count > 0 || may_be_first_of_its_kind(member) ||
                any_is_hard(member->spread.at, member->spread.count);
    return asks ? REACH_some : REACH_none;
}

struct looking {
    const struct pod *const *members;
    uint32_t count;
    bool found;
};

static void look_at(void *context, const struct pod *pod)
{
    struct looking *l = context;
    l->found |= pod->anti_affinity_required.count > 0;
    for (uint32_t i = 0; i < l->count && !l->found; i++) {
        const struct pod *m = l->members[i];
        l->found = any_hard_counts(m->spread.at, m->spread.count, pod) ||
                   any_wants(m->anti_affinity_required.at, m->anti_affinity_required.count, pod) ||
                   (may_be_first_of_its_kind(m) &&
                    all_want(m->affinity_required.at, m->affinity_required.count, pod));
    }
}

bool gang_reach_by_unit(const struct gang_units *all, uint32_t unit,
                        const struct pod *const *members, uint32_t count)
{
    struct looking l = {members, count, false};
    const struct gang_unit *u = &all->at[unit];
    for (uint32_t i = 0; i < u->count && !l.found; i++)
        cache_visit_pod(all->cache, u->pods[i].uid, look_at, &l);
    return l.found;
}
