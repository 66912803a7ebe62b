/* cache_look: the cache's answers: who is where, who is nominated where, and what there is in all.
 * The one idea: what only looks stands apart from what changes. What must stay true: nothing here
 * changes anything, and nobody is told anything. */
#include "scheduler/cluster/cache_inside.h"

void cache_describe_victim(const struct cache *c, struct victim *victim, struct arena *a)
{
    const struct cached_pod *p = find_pod(c, victim->uid);
    if (p == NULL || p->assumed || p->generation == 0 || p->conditions == 0)
        return;
    victim->condition_types = condition_sets_types(&c->conditions, p->conditions, a);
    victim->unmarked = !strs_hold(victim->condition_types, STR_LITERAL("DisruptionTarget"));
    victim->resource_version = p->kept->version;
    victim->generation = p->generation - 1;
}

static bool usable(const void *context, struct str node)
{
    return cache_has_node(context, node);
}

bool cache_has_rivals(const struct cache *c, const struct pod *pod)
{
    return nominator_has_rivals(c->nominator, pod, (struct node_filter){usable, c});
}

bool cache_nomination(const struct cache *c, struct str uid, struct str *node)
{
    return nominator_of(c->nominator, uid, node);
}

const struct pod *cache_nominee(const struct cache *c, struct str uid)
{
    return nominator_pod(c->nominator, uid);
}

const struct pod *cache_nominated_below(const struct cache *c, struct str node, int64_t priority,
                                        uint32_t *count, struct arena *a)
{
    return nominator_below(c->nominator, node, priority, a, count);
}

/* ---- to look at ---- */

uint32_t cache_nodes(const struct cache *c)
{
    return node_tree_count(c->tree);
}

uint32_t cache_pods(const struct cache *c)
{
    return (uint32_t)c->pods.count;
}

uint32_t cache_nominated(const struct cache *c)
{
    return nominator_count(c->nominator);
}

uint32_t cache_assumed(const struct cache *c)
{
    return c->assumed;
}

uint32_t cache_odd_hostnames(const struct cache *c)
{
    return c->odd_hostnames;
}

uint32_t cache_pods_with_terms(const struct cache *c)
{
    return c->with_terms;
}

int64_t cache_least_priority(const struct cache *c)
{
    return priorities_least(&c->priorities);
}

uint32_t cache_place(const struct cache *c, struct str node)
{
    const struct cached_node *n = find_node(c, node);
    return n != NULL && n->kept != NULL ? n->place : 0;
}

bool cache_has_node(const struct cache *c, struct str name)
{
    const struct cached_node *n = find_node(c, name);
    return n != NULL && n->kept != NULL;
}

bool cache_node_get(const struct cache *c, struct str name, struct node *node, struct arena *a)
{
    const struct cached_node *n = find_node(c, name);
    if (n == NULL || n->kept == NULL)
        return false;
    store_get(c->node_store, n->kept, node, a);
    return true;
}

bool cache_node_has_extended(const struct cache *c, struct str name)
{
    const struct cached_node *n = find_node(c, name);
    return n != NULL && n->kept != NULL && n->extended;
}

struct device_memo *cache_device_memo(const struct cache *c)
{
    return c->device_memo;
}

void cache_room_users(const struct cache *c, struct str namespace_name, struct str claim,
                      struct findings *out, struct arena *a)
{
    room_users_tell(c->room_users, namespace_name, claim, out, a);
}

bool cache_owner(const struct cache *c, struct str node, uint32_t *worker)
{
    const struct cached_node *n = find_node(c, node);
    return n != NULL && shares_owner(&n->share, worker);
}

void cache_visit_pod(const struct cache *c, struct str uid,
                     void (*visit)(void *context, const struct pod *pod), void *context)
{
    struct arena a = {0};
    const struct cached_pod *p = find_pod(c, uid);
    struct pod pod;
    if (p == NULL)
        return;
    get_pod(c, p, &pod, &a);
    visit(context, &pod);
    arena_free(&a);
}

void cache_each_lower(const struct cache *c, int64_t priority,
                      void (*visit)(void *context, const struct pod *pod), void *context)
{
    struct arena a = {0};
    size_t at = 0;
    const struct cached_pod *p;
    while ((p = table_next(&c->pods, &at)) != NULL) {
        struct pod pod;
        bool known = p->priority < PRIORITIES_KNOWN;
        bool lower = !known || c->priorities.priority[p->priority] < priority;
        if (p->node->kept == NULL || (!lower && !p->in_gang))
            continue;
        get_pod(c, p, &pod, &a);
        if (pod.priority < priority || p->in_gang)
            visit(context, &pod);
        arena_reset(&a);
    }
    arena_free(&a);
}

void cache_each_pod(const struct cache *c, struct str node,
                    void (*visit)(void *context, const struct pod *pod, bool assumed),
                    void *context)
{
    struct arena a = {0};
    const struct cached_node *n = find_node(c, node);
    for (const struct cached_pod *p = n != NULL ? n->first : NULL; p != NULL; p = p->behind) {
        struct pod pod;
        get_pod(c, p, &pod, &a);
        visit(context, &pod, p->assumed);
        arena_reset(&a);
    }
    arena_free(&a);
}

/* ---- to be compared ---- */

static bool is_shared(const struct cached_node *n)
{
    uint32_t worker;
    return n->kept != NULL && !n->owed && shares_owner(&n->share, &worker);
}

void cache_each_held_node(const struct cache *c,
                          void (*visit)(void *context, const struct cache_held *what),
                          void *context)
{
    size_t at = 0;
    const struct cached_node *n;
    while ((n = table_next(&c->nodes, &at)) != NULL)
        if (n->kept != NULL)
            visit(context, &(struct cache_held){.name = n->name,
                                                .version = n->kept->version,
                                                .shared = is_shared(n)});
}

void cache_each_held_pod(const struct cache *c,
                         void (*visit)(void *context, const struct cache_held *what), void *context)
{
    size_t at = 0;
    const struct cached_pod *p;
    struct buffer name = {0};
    char uid[UUID_TEXT];
    while ((p = table_next(&c->pods, &at)) != NULL) {
        buffer_reset(&name);
        buffer_print(&name, "%.*s/%.*s", STR_ARG(store_str(p->kept, TAG_pod_namespace_name)),
                     STR_ARG(store_str(p->kept, TAG_pod_name)));
        visit(context, &(struct cache_held){.name = buffer_str(&name),
                                            .uid = store_uuid(p->kept, TAG_pod_uid, uid),
                                            .node = p->node->name,
                                            .version = p->kept->version,
                                            .assumed = p->assumed,
                                            .shared = !p->hidden && is_shared(p->node)});
    }
    buffer_free(&name);
}
