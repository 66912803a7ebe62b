/* gang_placements: the one idea: a domain is a set of nodes; the group is tried on each set by
 * itself, as if there were no other nodes, and the set that gets the most points has it.
 *
 * What must stay true: points and words are kube-scheduler's; it tries the domains in no order, so
 * of which one the words speak is left to chance there, and here it is the first by its value. */
#include "scheduler/merge/gang_placements.h"

#include "scheduler/table/gang_names.h"
#include "scheduler/table/resource.h"

#include <inttypes.h>

#define GENERATOR   "TopologyPlacementGenerator"
#define POINTS_MOST 100

/* ---- which there are ---- */

struct places_taken {
    const struct cache *cache;
    struct arena *arena;
    struct str label, domain, fault;
    bool any;
};

static void look_at_pod(void *context, const struct pod *pod)
{
    struct places_taken *t = context;
    struct str domain;
    if (t->fault.len > 0)
        return;
    if (!cache_has_node(t->cache, pod->node_name))
        t->fault =
            arena_print(t->arena,
                        "getting node for pod %.*s/%.*s: nodeinfo not found for node name "
                        "\"%.*s\"",
                        STR_ARG(pod->namespace_name), STR_ARG(pod->name), STR_ARG(pod->node_name));
    else if (!cache_label_of_node(t->cache, pod->node_name, t->label, &domain, t->arena))
        t->fault = arena_print(t->arena, "no topology domain found for pod %.*s/%.*s",
                               STR_ARG(pod->namespace_name), STR_ARG(pod->name));
    else if (t->domain.len > 0 && !str_equal(t->domain, domain))
        t->fault = arena_print(t->arena, "more than 1 domain found for pod group: %.*s, %.*s",
                               STR_ARG(t->domain), STR_ARG(domain));
    else
        t->domain = domain;
    t->any = true;
}

static bool is_generated(const struct framework *fw, const struct gang *group)
{
    const struct strs *by = &fw->profile.placement_generate;
    return group->topology_key.len > 0 && by->count > 0 && str_is(by->at[0], GENERATOR);
}

/* Both are sorted; what is left is in the first one's place. */
static void keep_common(struct strs *nodes, const struct strs *within)
{
    uint32_t kept = 0;
    for (uint32_t i = 0, k = 0; i < nodes->count; i++) {
        while (k < within->count && str_compare(within->at[k], nodes->at[i]) < 0)
            k++;
        if (k < within->count && str_equal(within->at[k], nodes->at[i]))
            nodes->at[kept++] = nodes->at[i];
    }
    nodes->count = kept;
}

/* A domain of which no node is within is none. */
static void keep_within(struct gang_placements *p, const struct strs *within)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        keep_common(&p->at[i].nodes, within);
        if (p->at[i].nodes.count > 0)
            p->at[kept++] = p->at[i];
    }
    p->count = kept;
}

static void add_domains(struct gang_placements *p, struct cache *cache, struct str label,
                        const struct str *only, struct arena *a)
{
    struct node_domain *domains;
    uint32_t count = cache_domains(cache, label, &domains, a);
    p->at = arena_take(a, count * sizeof(*p->at));
    for (uint32_t i = 0; i < count; i++)
        if (only == NULL || str_equal(*only, domains[i].value))
            p->at[p->count++] =
                (struct gang_placement){.domain = domains[i].value, .nodes = domains[i].nodes};
}

static bool is_built_in(const struct gang *group)
{
    return str_is(group->api, GANG_API_BUILT_IN) || str_is(group->api, GANG_API_TREE);
}

struct gang_placements gang_placements_find(const struct framework *framework,
                                            const struct placement_question *question,
                                            struct cache *cache, struct arena *a)
{
    const struct gang *group = question->group;
    struct gang_placements p = {0};
    struct places_taken taken = {.cache = cache, .arena = a, .label = group->topology_key};
    p.counted = framework->profile.features.group_topology && is_built_in(group);
    p.constrained = p.counted && group->topology_key.len > 0;
    if (!p.counted || !is_generated(framework, group))
        return p;
    if (question->leaves == NULL)
        cache_each_on_nodes(cache, group, a, look_at_pod, &taken);
    for (uint32_t i = 0; question->leaves != NULL && i < question->leaf_count; i++)
        cache_each_on_nodes(cache, question->leaves[i], a, look_at_pod, &taken);
    if (taken.fault.len > 0) {
        p.fault = arena_print(a, "cannot determine domain for already scheduled pods: %.*s",
                              STR_ARG(taken.fault));
        return p;
    }
    add_domains(&p, cache, group->topology_key, taken.any ? &taken.domain : NULL, a);
    if (question->within != NULL)
        keep_within(&p, question->within);
    p.none = p.count == 0;
    return p;
}

/* ---- what they are worth ---- */

/* NodeResourcesFit's points, by MostAllocated over all nodes together. A scalar resource counts if
 * the group asks for it. */
static int64_t filling_of(const struct gang_placements *p, const struct framework *fw,
                          const struct cache *cache)
{
    const struct gang_placement *at = &p->at[p->current];
    struct arena a = {0};
    uint32_t count = fw->profile.fit_resources.count;
    size_t size = count * sizeof(int64_t);
    int64_t *has = arena_take(&a, size), *takes = arena_take(&a, size), points = 0, weights = 0;
    struct node_usage usage = {.count = count, .resources = fw->profile.fit_resources.at};
    usage.allocatable = arena_take(&a, size);
    usage.requested = arena_take(&a, size);
    for (uint32_t i = 0; i < count; i++)
        has[i] = takes[i] = 0;
    for (uint32_t n = 0; n < at->nodes.count; n++) {
        for (uint32_t i = 0; i < count; i++)
            usage.allocatable[i] = usage.requested[i] = 0;
        cache_node_usage(cache, at->nodes.at[n], &usage);
        for (uint32_t i = 0; i < count; i++) {
            has[i] += usage.allocatable[i];
            takes[i] += usage.allocatable[i] > 0 ? usage.requested[i] : 0;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t weight = usage.resources[i].amount;
        struct str name = usage.resources[i].name;
        if (has[i] == 0 || (resource_is_scalar(name) && !strs_hold(p->asked, name)))
            continue;
        points += (takes[i] < has[i] ? takes[i] * POINTS_MOST / has[i] : POINTS_MOST) * weight;
        weights += weight;
    }
    arena_free(&a);
    return weights > 0 ? points / weights : 0;
}

void gang_placements_note(struct gang_placements *p, const struct framework *framework,
                          const struct cache *cache, int64_t pods, bool fits)
{
    struct gang_placement *at = &p->at[p->current];
    at->pods = pods;
    at->fits = fits;
    at->filling = fits && p->count > 1 ? filling_of(p, framework, cache) : 0;
}

static int64_t points_of(const struct gang_placement *at, const struct framework *fw,
                         int64_t pods_most)
{
    int64_t points = 0;
    for (uint32_t i = 0; i < fw->profile.placement_score.count; i++) {
        const struct score_plugin *by = &fw->profile.placement_score.at[i];
        if (str_is(by->name, "NodeResourcesFit"))
            points += by->weight * at->filling;
        else if (str_is(by->name, "PodGroupPodsCount") && pods_most > 0)
            points += by->weight * (at->pods * POINTS_MOST / pods_most);
    }
    return points;
}

uint32_t gang_placements_best(const struct gang_placements *p, const struct framework *framework,
                              struct random dice)
{
    uint32_t best = p->count, ties = 0;
    int64_t most = 0, pods_most = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->at[i].fits && p->at[i].pods > pods_most)
            pods_most = p->at[i].pods;
    for (uint32_t i = 0; i < p->count; i++) {
        int64_t points = points_of(&p->at[i], framework, pods_most);
        if (!p->at[i].fits || (best < p->count && points < most))
            continue;
        ties = best == p->count || points > most ? 1 : ties + 1;
        most = points;
        if (ties == 1 || random_below(&dice, ties) == 0)
            best = i;
    }
    return best;
}

struct str gang_placements_words(const struct gang_placements *p, int64_t release, struct str first,
                                 struct arena *a)
{
    if (!p->counted)
        return first;
    if (p->none)
        return STR_LITERAL("no feasible placements found");
    return arena_print(a, "%s0/%" PRIu32 " placements are available, first placement status: %.*s",
                       release >= 37 ? "pod group is unschedulable, " : "",
                       p->count > 0 ? p->count : 1, STR_ARG(first));
}
