/* gang_victims: the one idea: to a preemptor a gang is a disruption budget of its own, so that the
 * search for victims, its order and its preference among nodes stay upstream's. What must stay
 * true: by default nothing is added anywhere, and nothing is looked up. */
#include "scheduler/merge/gang_victims.h"

#include "scheduler/catalog/catalog.h"
#include "scheduler/cluster/cache.h"
#include "scheduler/table/gang_names.h"

#include <stdlib.h>
#include <string.h>

static const enum catalog_kind kinds[] = {CATALOG_gang, CATALOG_gang_old, CATALOG_gang_built_in};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

static enum gang_victims wanted(const struct reduce_start *start)
{
    return start->cache != NULL ? start->framework->profile.gang_victims : GANG_VICTIMS_pods;
}

/* ---- budgets ---- */

static struct selector with_label(const char *key, struct str value, struct arena *a)
{
    struct selector s = {.present = true};
    s.labels.count = 1;
    s.labels.at = arena_take(a, sizeof(*s.labels.at));
    s.labels.at[0] = (struct label){.key = str_of(key), .value = value};
    return s;
}

/* A pod with both labels belongs to the group that the newer one names. */
static void exclude_newer(struct selector *s, struct arena *a)
{
    s->expressions.count = 1;
    s->expressions.at = arena_take(a, sizeof(*s->expressions.at));
    s->expressions.at[0] = (struct requirement){.key = STR_LITERAL(GANG_LABEL),
                                                .operator_name = STR_LITERAL("DoesNotExist")};
}

static struct budget budget_of(const struct gang *group, int64_t placed, struct arena *a)
{
    struct budget b = {
        .namespace_name = group->namespace_name, .name = group->name, .gang = group->name};
    b.allowed = placed > group->min_member ? placed - group->min_member : 0;
    if (str_is(group->api, GANG_API)) {
        b.selector = with_label(GANG_LABEL, group->name, a);
    } else if (str_is(group->api, GANG_API_OLD)) {
        b.selector = with_label(GANG_LABEL_OLD, group->name, a);
        exclude_newer(&b.selector, a);
    }
    return b;
}

static int compare_budgets(const void *one, const void *other)
{
    const struct budget *l = one, *r = other;
    int order = str_compare(l->namespace_name, r->namespace_name);
    return order != 0 ? order : str_compare(l->name, r->name);
}

static void add_budgets(const struct reduce_start *start, enum catalog_kind kind,
                        struct map_request *request, struct arena *a)
{
    uint32_t first = request->dry_run.budgets.count;
    size_t at = 0;
    const struct gang *group;
    while ((group = catalog_next(start->catalog, kind, &at)) != NULL) {
        int64_t placed = group->min_member > 0 ? cache_gang_placed(start->cache, group) : 0;
        if (placed > 0)
            request->dry_run.budgets.at[request->dry_run.budgets.count++] =
                budget_of(group, placed, a);
    }
    if (request->dry_run.budgets.count > first + 1)
        qsort(request->dry_run.budgets.at + first, request->dry_run.budgets.count - first,
              sizeof(struct budget), compare_budgets);
}

void gang_victims_protect(const struct reduce_start *start, struct map_request *request,
                          struct arena *a)
{
    size_t room = request->dry_run.budgets.count;
    if (wanted(start) <= GANG_VICTIMS_pods)
        return;
    for (size_t i = 0; i < KIND_COUNT; i++)
        room += catalog_count(start->catalog, kinds[i]);
    struct budget *all = arena_take(a, room * sizeof(*all));
    if (request->dry_run.budgets.count > 0)
        memcpy(all, request->dry_run.budgets.at, request->dry_run.budgets.count * sizeof(*all));
    request->dry_run.budgets.at = all;
    for (size_t i = 0; i < KIND_COUNT; i++)
        add_budgets(start, kinds[i], request, a);
}

/* ---- whole gangs ---- */

/* A gang of which some are chosen; those that would have to go with them. */
struct broken_gang {
    const struct reduce_start *start;
    struct arena *arena;
    const struct preemption *chosen;
    struct gang name;
    int64_t leaving; /* chosen members */
    bool refused;    /* one of it may not be evicted */
    uint32_t count, room;
    struct victim *at;
};

static bool same_group(const struct gang *one, const struct gang *other)
{
    return str_equal(one->name, other->name) &&
           str_equal(one->namespace_name, other->namespace_name) && str_equal(one->api, other->api);
}

static bool is_chosen(const struct preemption *p, struct str uid)
{
    for (uint32_t i = 0; i < p->victims.count; i++)
        if (str_equal(p->victims.at[i].uid, uid))
            return true;
    return false;
}

static void take_member(void *context, const struct pod *pod)
{
    struct broken_gang *g = context;
    if (pod->priority >= g->start->pod->priority)
        g->refused = true;
    if (g->refused || is_chosen(g->chosen, pod->uid) || g->count == g->room)
        return;
    g->at[g->count++] = (struct victim){.uid = pod->uid,
                                        .namespace_name = pod->namespace_name,
                                        .name = pod->name,
                                        .priority = pod->priority,
                                        .started = pod->started};
}

static int compare_victims(const void *one, const void *other)
{
    return str_compare(((const struct victim *)one)->name, ((const struct victim *)other)->name);
}

/* The others of the gang, if it is one and is not one any more without those that are chosen. */
static void find_others(struct broken_gang *g)
{
    const struct cache *cache = g->start->cache;
    const struct gang *group = catalog_gang(g->start->catalog, &g->name);
    int64_t placed = cache_gang_placed(cache, &g->name);
    if (group == NULL || placed - g->leaving >= group->min_member)
        return;
    g->room = (uint32_t)placed;
    g->at = arena_take(g->arena, g->room * sizeof(*g->at));
    cache_each_member(cache, &g->name, g->arena, take_member, g);
    if (g->refused)
        g->count = 0;
    if (g->count > 1)
        qsort(g->at, g->count, sizeof(*g->at), compare_victims);
}

static void add_victims(struct preemption *p, const struct broken_gang *g)
{
    if (g->count == 0)
        return;
    uint32_t count = p->victims.count;
    struct victim *all = arena_take(g->arena, (count + g->count) * sizeof(*all));
    memcpy(all, p->victims.at, count * sizeof(*all));
    memcpy(all + count, g->at, g->count * sizeof(*all));
    p->victims.at = all;
    p->victims.count = count + g->count;
}

/* The gangs of those that are chosen, each once. */
static struct broken_gang *find_gangs(const struct reduce_start *start, const struct preemption *p,
                                      uint32_t *count, struct arena *a)
{
    struct broken_gang *gangs = arena_take(a, p->victims.count * sizeof(*gangs));
    struct gang own, name;
    bool has_own = gang_named_by(start->pod, &own);
    *count = 0;
    for (uint32_t i = 0; i < p->victims.count; i++) {
        uint32_t k = 0;
        if (!cache_gang_of(start->cache, p->victims.at[i].uid, &name, a) ||
            (has_own && same_group(&own, &name)))
            continue;
        while (k < *count && !same_group(&gangs[k].name, &name))
            k++;
        if (k == *count)
            gangs[(*count)++] =
                (struct broken_gang){.start = start, .arena = a, .chosen = p, .name = name};
        gangs[k].leaving++;
    }
    return gangs;
}

void gang_victims_complete(const struct reduce_start *start, struct preemption *p, struct arena *a)
{
    uint32_t count;
    if (wanted(start) != GANG_VICTIMS_whole || p->victims.count == 0)
        return;
    struct broken_gang *gangs = find_gangs(start, p, &count, a);
    for (uint32_t i = 0; i < count; i++)
        find_others(&gangs[i]);
    for (uint32_t i = 0; i < count; i++)
        add_victims(p, &gangs[i]);
}
