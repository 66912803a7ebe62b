/* gang_rules: the one idea: a group is one preemptor with one priority, so its pods must not differ
 * in what that depends on. What must stay true: the words are kube-scheduler's, and they depend on
 * nothing but what is counted. */
#include "scheduler/merge/gang_rules.h"

#include "scheduler/table/gang_names.h"

#include <inttypes.h>

#define RELEASE_OF_RULES 37
#define LOWER_PRIORITY   "PreemptLowerPriority"
#define UNSCHEDULABLE    "pod group is unschedulable"
#define ROOM             "pod group preemption: "
#define CLAIMS           "deallocation and deletion of ResourceClaims completed"
#define DEALLOCATED      "deallocation of PodGroup ResourceClaim completed"
#define UNRESERVED       "ResourceClaim unreserved for PodGroup"

static bool is_built_in(const struct pod *pod)
{
    return pod->gang.len > 0 && str_is(pod->gang_api, GANG_API_BUILT_IN);
}

bool gang_rules_hold(const struct framework *framework, const struct pod *pod)
{
    const struct profile *p = &framework->profile;
    return p->gang_built_in && p->features.release >= RELEASE_OF_RULES && is_built_in(pod);
}

bool gang_rules_spare(const struct framework *framework, const struct pod *pod)
{
    return framework->profile.features.group_preemption && is_built_in(pod);
}

bool gang_rules_as_one(const struct framework *framework, const struct pod *pod)
{
    bool spares = framework->profile.gang_built_in && gang_rules_spare(framework, pod);
    return spares || gang_rules_hold(framework, pod);
}

static struct str policy_of(struct str written)
{
    return written.len > 0 ? written : STR_LITERAL(LOWER_PRIORITY);
}

struct gang_rules gang_rules_begin(const struct framework *framework, const struct gang *group,
                                   struct arena *a)
{
    struct gang_rules rules = {.framework = framework, .group = group, .arena = a};
    if (framework->profile.features.group_preemption_policy)
        rules.policy = policy_of(group->preemption_policy);
    return rules;
}

static void look_at_priority(struct gang_rules *rules, int64_t priority)
{
    int64_t wanted = rules->group->has_priority ? rules->group->priority : 0;
    if (priority != wanted)
        rules->fault =
            arena_print(rules->arena,
                        "all pods in a single pod group should have the same priority as "
                        "the pod group's priority, got %" PRId64 " and %" PRId64,
                        priority, wanted);
}

static void look_at_policy(struct gang_rules *rules, struct str policy)
{
    bool said = rules->framework->profile.features.group_preemption_policy;
    if (rules->policy.len == 0)
        rules->policy = policy;
    if (!str_equal(policy, rules->policy))
        rules->fault =
            arena_print(rules->arena,
                        "all pods in a single pod group should have the same preemption policy%s, "
                        "got %.*s and %.*s",
                        said ? " as the pod group's preemption policy" : "", STR_ARG(policy),
                        STR_ARG(rules->policy));
}

void gang_rules_look(struct gang_rules *rules, const struct pod *pod)
{
    if (rules->fault.len == 0)
        look_at_priority(rules, pod->priority);
    if (rules->fault.len == 0)
        look_at_policy(rules, policy_of(pod->preemption_policy));
}

static void look_at_placed(void *context, const struct pod *pod)
{
    struct gang_rules *rules = context;
    if (rules->fault.len == 0)
        look_at_priority(rules, pod->priority);
}

void gang_rules_look_at_placed(struct gang_rules *rules, const struct cache *cache)
{
    gang_rules_look_at_leaf(rules, cache, rules->group);
}

void gang_rules_look_at_leaf(struct gang_rules *rules, const struct cache *cache,
                             const struct gang *leaf)
{
    cache_each_member(cache, leaf, rules->arena, look_at_placed, rules);
}

struct str gang_rules_unplaced(int64_t min_member, int64_t scheduled, struct arena *a)
{
    int64_t min = min_member > 0 ? min_member : 1; /* policy basic */
    if (scheduled >= min) /* enough are on nodes, and none of those that are left has one */
        return STR_LITERAL(UNSCHEDULABLE);
    int64_t remaining = min - 1 - scheduled;
    return arena_print(a,
                       "minCount (%" PRId64 ") cannot be satisfied: %" PRId64 " scheduled, %" PRId64
                       " remaining",
                       min, scheduled, remaining);
}

static struct str preemption(const struct gang_room_found *found, struct arena *a)
{
    switch (found->room) {
    case GANG_ROOM_nobody:
        return STR_LITERAL(ROOM "No preemption victims found for incoming preemptor");
    case GANG_ROOM_never: return STR_LITERAL(ROOM "not eligible due to preemptionPolicy=Never.");
    case GANG_ROOM_going: return STR_LITERAL(ROOM "ongoing preemption on nominated nodes");
    case GANG_ROOM_found:
        return arena_print(a, ROOM "found a placement for podgroup, preempting %u victims",
                           found->victims);
    default: return arena_print(a, ROOM "%.*s", STR_ARG(found->helpless));
    }
}

static struct str claims(const struct gang_room_found *found)
{
    switch (found->claims) {
    case GANG_CLAIMS_deallocated: return STR_LITERAL(DEALLOCATED);
    case GANG_CLAIMS_unreserved: return STR_LITERAL(UNRESERVED);
    default: return STR_LITERAL(CLAIMS);
    }
}

/* They run in turn; who has taken a reservation back, found room, or nobody to evict at all, ends
 * that, and speaks alone. */
struct str gang_rules_room(const struct framework *framework, const struct gang_room_found *found,
                           struct arena *a)
{
    struct strs order = framework->profile.post_filter;
    struct str all = {NULL, 0};
    for (uint32_t i = 0; i < order.count; i++) {
        bool preempts = str_is(order.at[i], "DefaultPreemption");
        struct str said = claims(found);
        if (preempts)
            said = preemption(found, a);
        else if (!str_is(order.at[i], "DynamicResources") || found->constrained)
            continue; /* claims of such a group are left alone */
        else if (found->claims == GANG_CLAIMS_unreserved)
            return said;
        if (preempts && (found->room == GANG_ROOM_found || found->room == GANG_ROOM_going ||
                         found->room == GANG_ROOM_nobody))
            return said;
        all = all.len == 0 ? said : arena_print(a, "%.*s, %.*s", STR_ARG(all), STR_ARG(said));
    }
    return all;
}
