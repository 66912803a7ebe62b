/* gang_units: whom a group might evict. The one idea: a pod by itself and a group that is only
 * disrupted as a whole are the same thing: pods that go together, with one priority.
 *
 * What must stay true: a pod is in one unit; who is hidden is shown again before anybody else is
 * decided. */
#include "scheduler/merge/gang_units.h"

#include "proto/kube/objects/selector.h"
#include "scheduler/catalog/catalog.h"
#include "scheduler/catalog/group_trees.h"
#include "scheduler/cluster/cache.h"
#include "scheduler/table/gang_names.h"

#include <stdlib.h>
#include <string.h>

#define UNIT_RESOURCES 4 /* that are looked at where a unit may be in the way */

/* ---- who there is ---- */

static bool has_group(const struct pod *pod, struct gang *named)
{
    return gang_named_by(pod, named) && str_is(named->api, GANG_API_BUILT_IN);
}

/* The group of scheduling.k8s.io that goes as a whole with the pod; NULL: the pod goes by itself.
 */
static const struct gang *whole_of(const struct gang_units *all, const struct pod *pod)
{
    struct gang named;
    return has_group(pod, &named) ? group_trees_whole(all->catalog, &all->features, &named) : NULL;
}

static int64_t priority_of(const struct gang_units *all, const struct pod *pod)
{
    struct gang named;
    const struct gang *root =
        has_group(pod, &named) ? group_trees_root(all->catalog, &all->features, &named) : NULL;
    if (root == NULL || (all->former && !root->disrupted_whole))
        return pod->priority;
    return root->has_priority ? root->priority : 0;
}

struct finding {
    struct gang_units *all;
    uint32_t *wholes; /* numbers of units that are groups */
    const struct gang **names;
    uint32_t whole_count, whole_room;
};

static void *grow(struct arena *a, const void *at, uint32_t count, uint32_t room, size_t size)
{
    void *more = arena_take(a, (size_t)room * size);
    if (count > 0)
        memcpy(more, at, count * size);
    return more;
}

static struct gang_unit *add_unit(struct gang_units *all)
{
    if (all->count == all->room) {
        all->room = all->room == 0 ? 16 : all->room * 2;
        all->at = grow(all->arena, all->at, all->count, all->room, sizeof(*all->at));
    }
    all->at[all->count] = (struct gang_unit){.pods = NULL};
    return &all->at[all->count++];
}

/* The unit of a group of which all go. */
static struct gang_unit *unit_of_whole(struct finding *f, const struct gang *group)
{
    for (uint32_t i = 0; i < f->whole_count; i++)
        if (f->names[i] == group)
            return &f->all->at[f->wholes[i]];
    if (f->whole_count == f->whole_room) {
        f->whole_room = f->whole_room == 0 ? 8 : f->whole_room * 2;
        f->wholes =
            grow(f->all->arena, f->wholes, f->whole_count, f->whole_room, sizeof(*f->wholes));
        f->names = grow(f->all->arena, f->names, f->whole_count, f->whole_room, sizeof(void *));
    }
    f->names[f->whole_count] = group;
    f->wholes[f->whole_count++] = f->all->count;
    return add_unit(f->all);
}

static void add_pod(struct finding *f, struct gang_unit *u, const struct pod *pod)
{
    struct arena *a = f->all->arena;
    int64_t started = pod->started != 0 ? pod->started : f->all->now_us;
    if (u->count == u->room) {
        u->room = u->room == 0 ? 1 : u->room * 2;
        u->pods = grow(a, u->pods, u->count, u->room, sizeof(*u->pods));
        u->nodes = grow(a, u->nodes, u->count, u->room, sizeof(*u->nodes));
    }
    if (u->count == 0 || started < u->started)
        u->started = started;
    u->nodes[u->count] = arena_copy(a, pod->node_name);
    u->pods[u->count++] = (struct victim){.uid = arena_copy(a, pod->uid),
                                          .namespace_name = arena_copy(a, pod->namespace_name),
                                          .name = arena_copy(a, pod->name),
                                          .priority = pod->priority,
                                          .started = pod->started,
                                          .deleting = pod->deleting};
}

static void look_at(void *context, const struct pod *pod)
{
    struct finding *f = context;
    const struct gang *whole = whole_of(f->all, pod);
    int64_t priority = priority_of(f->all, pod);
    struct gang named;
    if (priority >= f->all->priority)
        return;
    struct gang_unit *u = whole != NULL ? unit_of_whole(f, whole) : add_unit(f->all);
    u->priority = priority;
    u->rank = has_group(pod, &named);
    if (whole != NULL && str_is(whole->api, GANG_API_TREE))
        u->rank = 2;
    add_pod(f, u, pod);
}

bool gang_units_find(struct gang_units *all)
{
    struct finding f = {.all = all};
    all->at = NULL;
    all->count = all->room = 0;
    cache_each_lower(all->cache, all->priority, look_at, &f);
    return all->count > 0;
}

/* ---- hidden and shown ---- */

void gang_units_hide(struct gang_units *all, uint32_t unit)
{
    struct gang_unit *u = &all->at[unit];
    for (uint32_t i = 0; i < u->count; i++)
        (void)cache_hide(all->cache, u->pods[i].uid);
    u->hidden = true;
}

void gang_units_show(struct gang_units *all, uint32_t unit)
{
    struct gang_unit *u = &all->at[unit];
    for (uint32_t i = 0; i < u->count && u->hidden; i++)
        cache_show(all->cache, u->pods[i].uid);
    u->hidden = false;
}

static void add_taken(void *context, const struct pod *pod)
{
    struct node_usage *usage = context;
    for (uint32_t i = 0; i < pod->usage.count; i++)
        for (uint32_t k = 0; k < usage->count; k++)
            if (str_equal(pod->usage.at[i].name, usage->resources[k].name))
                usage->requested[k] += pod->usage.at[i].amount;
}

bool gang_units_overfills(const struct gang_units *all, uint32_t unit, struct str node,
                          const struct strs *resources)
{
    struct quantity names[UNIT_RESOURCES] = {{.amount = 0}};
    int64_t has[UNIT_RESOURCES] = {0}, taken[UNIT_RESOURCES] = {0};
    struct node_usage usage = {.resources = names, .allocatable = has, .requested = taken};
    const struct gang_unit *u = &all->at[unit];
    for (; usage.count < resources->count && usage.count < UNIT_RESOURCES; usage.count++)
        names[usage.count].name = resources->at[usage.count];
    if (!cache_has_node(all->cache, node))
        return false;
    cache_node_taken(all->cache, node, &usage);
    for (uint32_t i = 0; i < u->count; i++)
        if (str_equal(u->nodes[i], node))
            cache_visit_pod(all->cache, u->pods[i].uid, add_taken, &usage);
    for (uint32_t i = 0; i < usage.count; i++)
        if (taken[i] > has[i])
            return true;
    return false;
}

void gang_units_forget(struct gang_units *all)
{
    for (uint32_t i = 0; i < all->count; i++)
        gang_units_show(all, i);
    all->count = 0;
}

/* ---- their order ---- */

static int compare_importance(const void *one, const void *other)
{
    const struct gang_unit *l = one, *r = other;
    if (l->priority != r->priority)
        return l->priority > r->priority ? -1 : 1;
    if (l->rank != r->rank)
        return l->rank > r->rank ? -1 : 1;
    if (l->count != r->count)
        return l->count > r->count ? -1 : 1;
    if (l->started != r->started)
        return l->started < r->started ? -1 : 1;
    return str_compare(l->pods[0].name, r->pods[0].name);
}

static int compare_budgets_first(const void *one, const void *other)
{
    const struct gang_unit *l = one, *r = other;
    if ((l->broken > 0) != (r->broken > 0))
        return l->broken > 0 ? -1 : 1;
    return compare_importance(one, other);
}

struct guard {
    const struct budget *budget;
    int64_t left;
};

/* A budget without a selector, or with an empty one, protects nothing; who is on its way out is not
 * protected any more. */
static bool protects(const struct budget *b, const struct pod *pod)
{
    return str_equal(b->namespace_name, pod->namespace_name) && b->selector.present &&
           b->selector.labels.count + b->selector.expressions.count > 0 &&
           label_selector_matches(&b->selector, pod->labels.at, pod->labels.count) &&
           !strs_hold(b->disrupted, pod->name);
}

struct guards {
    struct guard *at;
    uint32_t count;
    bool breaks;
};

/* The first that allows no more ends it; those behind it are not used up. */
static void use_up(void *context, const struct pod *pod)
{
    struct guards *guards = context;
    for (uint32_t i = 0; i < guards->count && pod->labels.count > 0 && !guards->breaks; i++)
        if (protects(guards->at[i].budget, pod))
            guards->breaks = --guards->at[i].left < 0;
}

static int compare_guards(const void *one, const void *other)
{
    const struct budget *l = ((const struct guard *)one)->budget,
                        *r = ((const struct guard *)other)->budget;
    int order = str_compare(l->namespace_name, r->namespace_name);
    return order != 0 ? order : str_compare(l->name, r->name);
}

static struct guards find_guards(const struct gang_units *all)
{
    struct guards guards = {0};
    const struct budget *b;
    size_t at = 0;
    guards.at =
        arena_take(all->arena, catalog_count(all->catalog, CATALOG_budget) * sizeof(*guards.at));
    while ((b = catalog_next(all->catalog, CATALOG_budget, &at)) != NULL)
        guards.at[guards.count++] = (struct guard){b, b->allowed};
    if (guards.count > 1)
        qsort(guards.at, guards.count, sizeof(*guards.at), compare_guards);
    return guards;
}

/* In 1.36 what comes behind the first that is protected uses nothing up. */
static void look_at_guards(const struct gang_units *all, struct gang_unit *u, struct guards *guards)
{
    u->broken = 0;
    for (uint32_t k = 0; k < u->count && !(all->former && u->broken > 0); k++) {
        guards->breaks = false;
        cache_visit_pod(all->cache, u->pods[k].uid, use_up, guards);
        u->broken += guards->breaks;
    }
}

void gang_units_rank(struct gang_units *all)
{
    struct guards guards = find_guards(all);
    qsort(all->at, all->count, sizeof(*all->at), compare_importance);
    for (uint32_t i = 0; guards.count > 0 && i < all->count; i++)
        look_at_guards(all, &all->at[i], &guards);
    qsort(all->at, all->count, sizeof(*all->at), compare_budgets_first);
}

void gang_units_list_hidden(struct gang_units *all, struct preemption *p)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < all->count; i++)
        room += all->at[i].hidden ? all->at[i].count : 0;
    qsort(all->at, all->count, sizeof(*all->at), compare_importance);
    p->victims.count = 0;
    p->victims.at = arena_take(all->arena, room * sizeof(struct victim));
    p->violations = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct gang_unit *u = &all->at[i];
        if (!u->hidden)
            continue;
        p->violations += u->broken;
        for (uint32_t k = 0; k < u->count; k++)
            p->victims.at[p->victims.count++] = u->pods[k];
    }
}

/* ---- those that go already ---- */

struct going {
    const struct gang_units *all;
    bool any;
};

static void look_whether_it_goes(void *context, const struct pod *pod, bool assumed)
{
    struct going *going = context;
    (void)assumed;
    going->any |=
        pod->deleting && pod->preempted && priority_of(going->all, pod) < going->all->priority;
}

bool gang_units_go_from(const struct gang_units *all, struct str node)
{
    struct going going = {all, false};
    if (cache_has_node(all->cache, node))
        cache_each_pod(all->cache, node, look_whether_it_goes, &going);
    return going.any;
}
