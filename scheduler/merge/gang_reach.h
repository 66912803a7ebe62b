/* gang_reach: whether a pod that comes back on some node may keep a placed member of a group from
 * staying on another node. */
#ifndef SCHEDULER_MERGE_GANG_REACH_H
#define SCHEDULER_MERGE_GANG_REACH_H

#include "scheduler/merge/gang_units.h"
#include "scheduler/rules/framework.h"

/* Who on other nodes may matter to a member that has a place. */
enum gang_reach {
    REACH_none, /* nobody, but for pods that want to be away from it */
    REACH_some, /* also those that its own terms want or hard spreading counts */
    REACH_any   /* possibly anybody */
};

/* By the member's own terms and claims, and by the filters of its profile, which is the
 * framework's; extenders and plugins on the bus are not looked at. */
enum gang_reach gang_reach_of(const struct framework *framework, const struct pod *member);

/* Some pod of the unit, which may be hidden, wants to be away from others, or is wanted by a term
 * of one of these members, or counted by its spreading, so that it could cost it its place. Rather
 * true than false: only label selectors are compared, whatever the namespaces and the topology. */
bool gang_reach_by_unit(const struct gang_units *all, uint32_t unit,
                        const struct pod *const *members, uint32_t count);

#endif
