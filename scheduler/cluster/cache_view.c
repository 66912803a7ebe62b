/* cache_view: the cache as plugins' hooks see it: nodes, and pods on them, to be looked at alone.
 * What must stay true: nothing of the cache changes through it. */
#include "scheduler/cluster/cache_view.h"

#include "scheduler/cluster/cache.h"

static bool node(const void *state, struct str name, struct node *out, struct arena *a)
{
    return cache_node_get(state, name, out, a);
}

static void pods(const void *state, struct str name,
                 void (*visit)(void *context, const struct pod *pod, bool assumed), void *context)
{
    cache_each_pod(state, name, visit, context);
}

struct naming {
    void (*visit)(void *context, struct str name);
    void *context;
};

static void name_node(void *context, const struct cache_held *what)
{
    const struct naming *n = context;
    n->visit(n->context, what->name);
}

static void nodes(const void *state, void (*visit)(void *context, struct str name), void *context)
{
    struct naming n = {visit, context};
    cache_each_held_node(state, name_node, &n);
}

struct cluster_view cache_view(const struct cache *c)
{
    return (struct cluster_view){.state = c, .node = node, .pods = pods, .nodes = nodes};
}
