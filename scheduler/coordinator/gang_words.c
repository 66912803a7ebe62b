/* gang_words: the one idea: kube-scheduler looks at a group's pods in order until those that are
 * left are too few, and counts; so what it says follows from who found no place and who is on
 * nodes.
 *
 * What must stay true: the numbers are those of its walk, also where more pods were looked at here
 * to see whom an eviction would help. */
#include "scheduler/coordinator/gang_words.h"

#include "scheduler/coordinator/flight.h"
#include "scheduler/merge/gang_rules.h"

#include <inttypes.h>

#define UNSCHEDULABLE "pod group is unschedulable"

/* That it has no place, as is said of it in one domain or in all. */
static struct str of_placements(const struct coordinator *c, const struct gang_try *g,
                                struct str unplaced, struct arena *a)
{
    const struct framework *fw = frameworks_find(&c->frameworks, g->scheduler_name);
    bool enough = g->whole && !g->former && str_is(unplaced, UNSCHEDULABLE);
    if (fw == NULL || (enough && !g->placements.none))
        return unplaced;
    return gang_placements_words(&g->placements, fw->profile.features.release, unplaced, a);
}

static int64_t minimum(const struct gang *group)
{
    return group->min_member > 0 ? group->min_member : 1; /* policy basic */
}

static bool never_evicts(const struct pod *pod)
{
    return str_is(pod->preemption_policy, "Never");
}

enum gang_room gang_words_room(const struct coordinator *c, const struct pod *pod, uint32_t victims)
{
    if (victims > 0)
        return GANG_ROOM_found;
    if (never_evicts(pod))
        return GANG_ROOM_never;
    bool nobody = cache_least_priority(c->cache) >= pod->priority;
    return nobody ? GANG_ROOM_nobody : GANG_ROOM_no_help;
}

/* Where no plugin says anything the comma stays. */
static struct str with_room(struct str unplaced, struct str said, struct arena *a)
{
    return arena_print(a, "%.*s, %.*s", STR_ARG(unplaced), STR_ARG(said));
}

/* Upstream's walk: it ends where the rest cannot make up for those that found no place. */
static int64_t walk(const struct gang_try *g, int64_t before, uint32_t *seen)
{
    int64_t scheduled = before, remaining = 0;
    for (uint32_t i = 0; i < g->count; i++)
        remaining += g->at[i].flight != NULL;
    *seen = 0;
    for (uint32_t i = 0; i < g->count && scheduled + remaining >= minimum(&g->group); i++) {
        *seen = i + 1;
        if (g->at[i].flight == NULL)
            continue;
        remaining--;
        scheduled += !g->at[i].failed;
    }
    return scheduled;
}

uint32_t gang_words_seen(const struct coordinator *c, const struct gang_try *g)
{
    uint32_t seen;
    (void)walk(g, cache_gang_on_nodes(c->cache, &g->group), &seen);
    return g->placements.none ? 0 : seen;
}

struct gang_words gang_words_of_try(const struct coordinator *c, struct gang_try *g,
                                    uint32_t victims)
{
    const struct framework *fw = frameworks_find(&c->frameworks, g->scheduler_name);
    const struct flight *first = NULL;
    struct gang_words words = {0};
    for (uint32_t i = 0; i < g->count && first == NULL; i++)
        first = g->at[i].flight;
    if (fw == NULL || first == NULL || !gang_rules_hold(fw, &first->pod))
        return words;
    if (g->tree != NULL) /* it has words of its own */
        return (struct gang_words){.hold = true, .room = g->room};
    int64_t before = cache_gang_on_nodes(c->cache, &g->group);
    int64_t scheduled = walk(g, before, &words.seen);
    words.hold = true;
    words.unseen = gang_rules_unplaced(g->group.min_member, scheduled, &g->arena);
    words.unseen = of_placements(c, g, words.unseen, &g->arena);
    struct str helpless = gang_rules_unplaced(g->group.min_member, g->cleared_most, &g->arena);
    helpless = of_placements(c, g, helpless, &g->arena);
    words.seen = g->placements.none ? 0 : words.seen;
    words.room = g->room;
    const struct gang_room_found found = {g->claims, g->room, victims, helpless,
                                          g->placements.constrained};
    struct str said = gang_rules_room(fw, &found, &g->arena);
    words.group = with_room(words.unseen, said, &g->arena);
    words.placed = g->room == GANG_ROOM_found || g->room == GANG_ROOM_going
                       ? words.group
                       : arena_print(&g->arena, UNSCHEDULABLE ", %.*s", STR_ARG(words.group));
    return words;
}

struct gang_words gang_words_of_pod(const struct coordinator *c, const struct flight *f,
                                    const struct gang *group, const struct decision *d,
                                    struct arena *a)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    struct gang_words words = {0};
    if (fw == NULL || !gang_rules_hold(fw, &f->pod))
        return words;
    int64_t before = cache_gang_on_nodes(c->cache, group);
    struct str unplaced = before < minimum(group)
                              ? gang_rules_unplaced(group->min_member, before, a)
                              : STR_LITERAL(UNSCHEDULABLE); /* it has enough, but not this one */
    uint32_t victims = d->preemption.node.len > 0 ? d->preemption.victims.count : 0;
    words.hold = true;
    words.room = gang_words_room(c, &f->pod, victims);
    const struct gang_room_found found = {GANG_CLAIMS_kept, words.room, victims, unplaced, false};
    words.group = with_room(unplaced, gang_rules_room(fw, &found, a), a);
    return words;
}

struct str gang_words_unplaced(const struct coordinator *c, const struct gang_try *g,
                               struct arena *a)
{
    return of_placements(c, g, STR_LITERAL(UNSCHEDULABLE), a);
}

struct str gang_words_of_former(const struct coordinator *c, const struct gang_try *g,
                                struct arena *a)
{
    const struct framework *fw = frameworks_find(&c->frameworks, g->scheduler_name);
    struct str said = gang_words_unplaced(c, g, a); /* without anybody, too */
    if (fw == NULL || !fw->preempts)
        said = STR_LITERAL("default preemption plugin is not registered, workload aware "
                           "preemption is disabled");
    else if (g->room == GANG_ROOM_constrained)
        said = STR_LITERAL("workload aware preemption is not supported for pod groups with "
                           "scheduling constraints");
    else if (g->room == GANG_ROOM_nobody)
        said = STR_LITERAL("No preemption victims found for incoming preemptor");
    else if (g->room == GANG_ROOM_never)
        said = STR_LITERAL("not eligible due to preemptionPolicy=Never.");
    return with_room(gang_words_unplaced(c, g, a), said, a);
}

struct str gang_words_error(struct str error, struct arena *a)
{
    return arena_print(a, "failed to schedule other pod from a pod group: %.*s", STR_ARG(error));
}
