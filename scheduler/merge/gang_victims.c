/* gang_victims: the one idea: to a preemptor a gang is a disruption budget of its own, so that the
 * search for victims, its order and its preference among nodes stay upstream's. What must stay
 * true: by default nothing is added anywhere, and nothing is looked up. */
#include "scheduler/merge/gang_victims.h"

#include "proto/kube/objects/selector.h"
#include "scheduler/catalog/catalog.h"
#include "scheduler/catalog/group_trees.h"
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

/* ---- groups of scheduling.k8s.io that go as a whole ---- */

/* Since 1.37, whatever gangVictims says of others: the group that goes as a whole with this one, or
 * is it; NULL: none does. */
static const struct gang *whole_of(const struct reduce_start *start, const struct gang *group)
{
    const struct features *features = &start->framework->profile.features;
    bool any = features->gangs && features->release >= 37 && start->cache != NULL && group != NULL;
    return any ? group_trees_whole(start->catalog, features, group) : NULL;
}

struct earliest {
    int64_t started, now_us, pods;
    const struct dry_run_question *question;
    int64_t numbers; /* of pods that a budget protects */
    uint32_t guarded_count, guarded_room;
    struct guarded_pod *guarded;
    struct arena *arena;
};

/* As the worker has it of pods on the node that it looks at (dry_run.c). */
static bool protects(const struct budget *b, const struct pod *pod)
{
    const struct selector *s = &b->selector;
    return b->gang.len == 0 && s->present && s->labels.count + s->expressions.count > 0 &&
           pod->labels.count > 0 && str_equal(b->namespace_name, pod->namespace_name) &&
           label_selector_matches(s, pod->labels.at, pod->labels.count) &&
           !strs_hold(b->disrupted, pod->name);
}

static void add_guarded(struct earliest *e, const struct guarded_pod *one)
{
    if (e->guarded_count == e->guarded_room) {
        e->guarded_room = 2 * e->guarded_room + 8;
        struct guarded_pod *more = arena_take(e->arena, e->guarded_room * sizeof(*more));
        if (e->guarded_count > 0)
            memcpy(more, e->guarded, e->guarded_count * sizeof(*more));
        e->guarded = more;
    }
    e->guarded[e->guarded_count++] = *one;
}

static void look_at_budgets(struct earliest *e, const struct pod *pod)
{
    uint32_t before = e->guarded_count;
    for (uint32_t i = 0; i < e->question->budgets.count; i++)
        if (protects(&e->question->budgets.at[i], pod))
            add_guarded(e, &(struct guarded_pod){e->numbers + 1, pod->node_name, i});
    e->numbers += e->guarded_count > before;
}

static void look_at_start(void *context, const struct pod *pod)
{
    struct earliest *e = context;
    look_at_budgets(e, pod);
    int64_t started = pod->started != 0 ? pod->started : e->now_us;
    if (e->pods == 0 || started < e->started)
        e->started = started;
    e->pods++;
}

/* The priority of a whole is that of the topmost group. */
static void ask_of(const struct reduce_start *start, const struct gang *group,
                   const struct earliest *e, struct dry_run_question *q)
{
    const struct features *features = &start->framework->profile.features;
    const struct gang *root = group_trees_root(start->catalog, features, group);
    q->wholes.at[q->wholes.count++] =
        (struct whole_group){.namespace_name = group->namespace_name,
                             .name = group->name,
                             .priority = root != NULL && root->has_priority ? root->priority : 0,
                             .pods = e->pods,
                             .started = e->started,
                             .guarded = {e->guarded_count, e->guarded}};
}

static struct dry_run_question *room_for_wholes(const struct reduce_start *start,
                                                struct map_request *request, struct arena *a)
{
    struct dry_run_question *q = &request->dry_run;
    uint32_t room = catalog_count(start->catalog, CATALOG_gang_built_in);
    if (q->wholes.at == NULL)
        q->wholes.at = arena_take(a, room * sizeof(*q->wholes.at));
    return q;
}

static void add_guarded_of_leaf(struct whole_group *whole, const struct earliest *e,
                                struct arena *a)
{
    uint32_t count = whole->guarded.count;
    if (e->guarded_count == 0)
        return;
    struct guarded_pod *all = arena_take(a, (count + e->guarded_count) * sizeof(*all));
    if (count > 0)
        memcpy(all, whole->guarded.at, count * sizeof(*all));
    memcpy(all + count, e->guarded, e->guarded_count * sizeof(*all));
    for (uint32_t i = 0; i < e->guarded_count; i++) /* numbers go on */
        all[count + i].pod += count > 0 ? all[count - 1].pod : 0;
    whole->guarded.at = all;
    whole->guarded.count = count + e->guarded_count;
}

/* A PodGroup of the whole that is a tree's: one more leaf. */
static void add_leaf(const struct reduce_start *start, struct whole_group *whole,
                     const struct gang *leaf, const struct earliest *e, struct arena *a)
{
    if (whole->leaves.at == NULL)
        whole->leaves.at = arena_take(a, catalog_count(start->catalog, CATALOG_gang_built_in) *
                                             sizeof(struct str));
    whole->leaves.at[whole->leaves.count++] = leaf->name;
    whole->started = e->started < whole->started ? e->started : whole->started;
    if (whole->leaves.count == 1)
        return;
    whole->pods += e->pods;
    add_guarded_of_leaf(whole, e, a);
}

/* One of the whole groups so far that is this one; a CompositePodGroup may have a PodGroup's name.
 */
static struct whole_group *find_whole(struct dry_run_question *q, const struct gang *whole)
{
    bool tree = str_is(whole->api, GANG_API_TREE);
    for (uint32_t i = 0; i < q->wholes.count; i++)
        if (str_equal(q->wholes.at[i].name, whole->name) &&
            str_equal(q->wholes.at[i].namespace_name, whole->namespace_name) &&
            (q->wholes.at[i].leaves.count > 0) == tree)
            return &q->wholes.at[i];
    return NULL;
}

void gang_victims_ask_of_wholes(const struct reduce_start *start, struct map_request *request,
                                struct arena *a)
{
    size_t at = 0;
    const struct gang *group;
    while ((group = catalog_next(start->catalog, CATALOG_gang_built_in, &at)) != NULL) {
        struct earliest e = {.now_us = start->now_us, .question = &request->dry_run, .arena = a};
        const struct gang *whole = whole_of(start, group);
        if (whole == NULL)
            continue;
        cache_each_member(start->cache, group, a, look_at_start, &e);
        if (e.pods == 0)
            continue;
        struct dry_run_question *q = room_for_wholes(start, request, a);
        struct whole_group *known = whole != group ? find_whole(q, whole) : NULL;
        if (known == NULL) {
            ask_of(start, whole, &e, q);
            known = &q->wholes.at[q->wholes.count - 1];
        }
        if (whole != group)
            add_leaf(start, known, group, &e, a);
    }
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

/* The members of one PodGroup of it. */
static void take_members(struct broken_gang *g, const struct gang *group)
{
    uint32_t room = g->count + (uint32_t)cache_gang_placed(g->start->cache, group);
    struct victim *more = arena_take(g->arena, room * sizeof(*more));
    if (g->count > 0)
        memcpy(more, g->at, g->count * sizeof(*more));
    g->at = more;
    g->room = room;
    cache_each_member(g->start->cache, group, g->arena, take_member, g);
}

/* The same of all leaves of a tree. */
static void take_leaves(struct broken_gang *g, const struct gang *tree)
{
    const struct catalog *catalog = g->start->catalog;
    const struct gang *leaf;
    size_t at = 0;
    while ((leaf = catalog_next(catalog, CATALOG_gang_built_in, &at)) != NULL)
        if (group_trees_is_below(catalog, leaf, tree))
            take_members(g, leaf);
}

/* The others of the gang, if it is one and is not one any more without those that are chosen. */
static void find_others(struct broken_gang *g)
{
    const struct gang *group = catalog_gang(g->start->catalog, &g->name);
    bool tree = group != NULL && str_is(g->name.api, GANG_API_TREE);
    bool whole = tree || whole_of(g->start, group) != NULL;
    bool below = wanted(g->start) == GANG_VICTIMS_whole && group != NULL &&
                 cache_gang_placed(g->start->cache, &g->name) - g->leaving < group->min_member;
    if (tree)
        take_leaves(g, group);
    else if (whole || below)
        take_members(g, &g->name);
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

/* A tree that goes as a whole stands for its leaves. */
static struct gang name_of_whole(const struct reduce_start *start, const struct gang *name)
{
    const struct gang *whole = whole_of(start, catalog_gang(start->catalog, name));
    return whole != NULL && str_is(whole->api, GANG_API_TREE) ? *whole : *name;
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
        name = name_of_whole(start, &name);
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
    const struct features *features = &start->framework->profile.features;
    bool wholes = features->gangs && features->release >= 37 && start->cache != NULL;
    if ((wanted(start) != GANG_VICTIMS_whole && !wholes) || p->victims.count == 0)
        return;
    struct broken_gang *gangs = find_gangs(start, p, &count, a);
    for (uint32_t i = 0; i < count; i++)
        find_others(&gangs[i]);
    for (uint32_t i = 0; i < count; i++)
        add_victims(p, &gangs[i]);
}
